//! Tool errors: a closed list of codes, with advice.

use std::error::Error;
use std::fmt::{self, Write as _};

use model::{AgentId, IncidentId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::StoreError;

use crate::core::record_file::RecordError;

/// Error code, decided once. Interfaces map codes, never single errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are the specification's and say what they are")]
pub enum Code {
    InvalidInput,
    Unauthenticated,
    PermissionDenied,
    DepthLimitExceeded,
    ChildLimitExceeded,
    BudgetExceeded,
    ReviewLimitExceeded,
    ToolNotFound,
    AgentNotFound,
    ResourceNotFound,
    InvalidAgentState,
    Conflict,
    RateLimited,
    TransientError,
    ExternalError,
    NoOwner,
    InternalError,
}

impl Code {
    /// Every code, with its name, exit status and HTTP status.
    pub const ALL: [(Self, &'static str, u8, u16); 17] = [
        (Self::InvalidInput, "INVALID_INPUT", 2, 422),
        (Self::Unauthenticated, "UNAUTHENTICATED", 3, 401),
        (Self::PermissionDenied, "PERMISSION_DENIED", 3, 403),
        (Self::DepthLimitExceeded, "DEPTH_LIMIT_EXCEEDED", 3, 403),
        (Self::ChildLimitExceeded, "CHILD_LIMIT_EXCEEDED", 3, 403),
        (Self::BudgetExceeded, "BUDGET_EXCEEDED", 3, 403),
        (Self::ReviewLimitExceeded, "REVIEW_LIMIT_EXCEEDED", 3, 403),
        (Self::ToolNotFound, "TOOL_NOT_FOUND", 4, 404),
        (Self::AgentNotFound, "AGENT_NOT_FOUND", 4, 404),
        (Self::ResourceNotFound, "RESOURCE_NOT_FOUND", 4, 404),
        (Self::InvalidAgentState, "INVALID_AGENT_STATE", 5, 409),
        (Self::Conflict, "CONFLICT", 5, 409),
        (Self::RateLimited, "RATE_LIMITED", 1, 429),
        (Self::TransientError, "TRANSIENT_ERROR", 1, 503),
        (Self::ExternalError, "EXTERNAL_ERROR", 1, 503),
        (Self::NoOwner, "NO_OWNER", 6, 503),
        (Self::InternalError, "INTERNAL_ERROR", 70, 500),
    ];

    /// The code's name.
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Exit code of the command line.
    pub const fn exit(self) -> u8 {
        Self::ALL[self as usize].2
    }

    /// HTTP status.
    pub const fn http(self) -> u16 {
        Self::ALL[self as usize].3
    }

    /// The code of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }
}

/// Why a tool did not do what it was asked.
#[derive(Debug)]
pub struct ToolError {
    /// Error code
    pub code: Code,
    /// Message for the caller
    pub message: String,
    /// Suggested next steps
    pub suggestions: Vec<String>,
    /// Facts that a program may want
    pub details: Map<String, Value>,
    /// Why, for the log and the record; never for the caller
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl ToolError {
    /// A failure with that code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            suggestions: Vec::new(),
            details: Map::new(),
            source: None,
        }
    }

    /// The input does not fit.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidInput, message)
    }

    /// There is no such thing.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Code::ResourceNotFound, message)
    }

    /// It does not fit with what is there.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(Code::Conflict, message)
    }

    /// The caller may not.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(Code::PermissionDenied, message)
    }

    /// The caller is not in the state for it.
    pub fn wrong_state(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidAgentState, message)
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(mut self, advice: impl Into<String>) -> Self {
        self.suggestions.push(advice.into());
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Something is wrong inside. The caller learns a number under which the log tells more.
    pub fn internal(source: impl Error + Send + Sync + 'static) -> Self {
        let incident = IncidentId::from_bits(host::random::bits().unwrap_or_default());
        let message = format!("internal error in Adjutant; see the server's log for {incident}");
        let error = Self {
            source: Some(Box::new(source)),
            ..Self::new(Code::InternalError, message).detail("incident", incident.to_string())
        };
        tracing::error!(%incident, causes = error.causes(), "call failed with an internal error");
        error
    }

    /// Returns whether a task that was waited for panicked.
    pub(crate) fn is_panic(&self) -> bool {
        let source = self.source.as_deref();
        let join = source.and_then(|source| source.downcast_ref::<tokio::task::JoinError>());
        join.is_some_and(tokio::task::JoinError::is_panic)
    }

    /// True if a retry may succeed.
    pub const fn is_transient(&self) -> bool {
        matches!(self.code, Code::TransientError)
    }

    /// True if a retry in this process may succeed: once its store is closed, only another server can do better.
    pub(crate) fn may_pass(&self) -> bool {
        let cause = self.source.as_ref().and_then(|source| source.downcast_ref::<StoreError>());
        self.is_transient() && !matches!(cause, Some(StoreError::Stopped))
    }

    /// The chain of causes, for the log and the record.
    pub fn causes(&self) -> String {
        let mut text = String::new();
        let mut next: Option<&(dyn Error + 'static)> =
            self.source.as_deref().map(|source| source as &(dyn Error + 'static));
        while let Some(cause) = next {
            let separator = if text.is_empty() { "" } else { ": " };
            // Writing to a String cannot fail.
            _ = write!(text, "{separator}{cause}");
            next = cause.source();
        }
        text
    }

    /// The body that the caller of a tool reads, with what the tool's seed adds to it.
    pub fn body(&self, tool: &str, agent: Option<AgentId>) -> Value {
        let mut body = Map::new();
        body.insert("code".into(), self.code.name().into());
        body.insert("message".into(), self.message.clone().into());
        body.insert("toolName".into(), tool.into());
        if let Some(agent) = agent {
            body.insert("agentId".into(), agent.to_string().into());
        }
        if !self.suggestions.is_empty() {
            body.insert("suggestions".into(), json!(self.suggestions));
        }
        if !self.details.is_empty() {
            body.insert("details".into(), Value::Object(self.details.clone()));
        }
        match crate::core::names::toolset_of(tool) {
            "agents" => {
                body.insert("success".into(), false.into());
                body.insert("error".into(), self.message.clone().into());
            }
            "harness" => {
                body.insert("error".into(), self.message.clone().into());
            }
            // Its seed has every field at the top.
            "review" => {
                body.insert("error".into(), self.code.name().into());
                body.insert("tool_name".into(), crate::core::names::bare_of(tool).into());
                if let Some(agent) = agent {
                    body.insert("instance_id".into(), agent.to_string().into());
                }
                for (name, value) in &self.details {
                    body.entry(name.clone()).or_insert_with(|| value.clone());
                }
            }
            _ => {}
        }
        Value::Object(body)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

impl From<RecordError> for ToolError {
    fn from(RecordError(error): RecordError) -> Self {
        error.into()
    }
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        if error.is_transient() {
            return Self {
                source: Some(Box::new(error)),
                ..Self::new(Code::TransientError, "the store is busy; try again")
            };
        }
        match error {
            StoreError::Full(_) | StoreError::Replaced { .. } => Self {
                message: error.to_string(),
                source: Some(Box::new(error)),
                ..Self::new(Code::ExternalError, "")
            },
            // Its writer has ended: what it did not answer it may still have written.
            StoreError::Stopped => Self {
                source: Some(Box::new(error)),
                ..Self::new(Code::TransientError, "the server is stopping")
            }
            .hint("send the request again with the same `Idempotency-Key`: it takes effect once")
            .detail("outcome", "unknown"),
            // Whether the write is in the log nobody here can know any more.
            StoreError::Fenced { .. } => Self {
                source: Some(Box::new(error)),
                ..Self::new(
                    Code::NoOwner,
                    "another server has taken the home; the outcome of this call is unknown",
                )
            }
            .hint("send the request again with the same `Idempotency-Key`: it takes effect once")
            .hint("without a key, look whether it took effect before you send it again")
            .detail("outcome", "unknown"),
            StoreError::NotKept { .. } => Self {
                source: Some(Box::new(error)),
                ..Self::new(
                    Code::NoOwner,
                    "the home has this call on record, and this server could not keep it; another one goes on",
                )
            }
            .hint("send the request again with the same `Idempotency-Key`: it takes effect once")
            .hint("without a key, look at its effect instead of sending it again")
            .detail("outcome", "unknown"),
            other => Self::internal(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (code, name, _, _) in Code::ALL {
            assert_eq!(code.name(), name);
            assert_eq!(Code::parse(name), Some(code));
            assert_eq!(serde_json::to_value(code).unwrap(), name);
        }
    }

    #[test]
    fn a_write_that_another_owner_fenced_off_has_an_unknown_outcome_and_no_owner() {
        let error = ToolError::from(StoreError::Fenced { home: "hm_1".to_owned(), epoch: 3 });
        assert_eq!(error.code, Code::NoOwner);
        let body = error.body("mcp__mail__send", None).to_string();
        assert!(body.contains("unknown") && body.contains("Idempotency-Key"), "{body}");
    }

    #[test]
    fn what_is_wrong_inside_stays_inside() {
        let error = ToolError::internal(std::io::Error::other("secret place"));
        assert!(!error.body("mcp__mail__send", None).to_string().contains("secret place"));
        assert_eq!(error.causes(), "secret place");
    }
}
