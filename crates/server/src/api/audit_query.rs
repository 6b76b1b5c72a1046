//! Search of the record over HTTP.

use engine::store::{
    AuditCallerFilter, AuditOutcomeFilter, AuditSearch, AuditSearchOrder, AuditTask, Tx,
};
use engine::{Code, ToolError};
use model::{AgentId, Cursor, TaskRef, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;

/// Rows searched per answer.
pub(super) const SCAN: i64 = 20 * 1024;
/// Maximum length of a search text.
const LONGEST: usize = 200;

/// Filter for listing calls.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AuditQuery {
    /// Only those after this number
    #[serde(default)]
    pub(super) after: Cursor,
    /// Only those before this number
    pub(super) before: Option<Cursor>,
    /// Page size, at most 1000
    pub(super) limit: Option<u32>,
    /// `asc`, the oldest first, or `desc`. Where people look the newest come first, else the oldest
    pub(super) order: Option<String>,
    /// Only this agent's
    pub(super) agent_id: Option<AgentId>,
    /// Only those of this agent, role or part of an id; `operator` is the operator
    pub(super) agent: Option<String>,
    /// Only of this tool, by its canonical name; `*` stands for anything
    pub(super) tool: Option<String>,
    /// Only those with all these words in tool, input, output or caller
    pub(super) q: Option<String>,
    /// Only those that ended so: `done`, `failed` or `denied`
    pub(super) outcome: Option<String>,
    /// Only from this time on
    pub(super) since: Option<Timestamp>,
    /// Only before this time
    pub(super) until: Option<Timestamp>,
    /// Only with this task: its id, `TAS-12` or its slug
    pub(super) task_id: Option<String>,
    /// Only with this commit checked out: the beginning of its hash
    pub(super) commit: Option<String>,
}

/// The codes of calls that were refused: the caller may not.
pub(super) fn refusals() -> Vec<&'static str> {
    let refused = Code::PermissionDenied.exit();
    Code::ALL.iter().filter(|row| row.2 == refused).map(|row| row.1).collect()
}

fn bad(field: &str, why: &str) -> ToolError {
    ToolError::invalid(format!("`{field}` {why}")).detail("field", field)
}

fn bounded<'a>(field: &str, text: &'a str) -> Result<&'a str, ToolError> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > LONGEST {
        return Err(bad(field, &format!("must have from 1 to {LONGEST} characters")));
    }
    Ok(text)
}

impl AuditQuery {
    /// In which order.
    pub(super) fn order(&self, usual: AuditSearchOrder) -> Result<AuditSearchOrder, ToolError> {
        match self.order.as_deref() {
            None => Ok(usual),
            Some("asc") => Ok(AuditSearchOrder::Oldest),
            Some("desc") => Ok(AuditSearchOrder::Newest),
            Some(_) => Err(bad("order", "must be `asc` or `desc`")),
        }
    }

    /// Makes a search of it, or says what is wrong with it.
    pub(super) fn search(&self, tx: &Tx<'_>) -> Result<AuditSearch, ToolError> {
        if let (Some(since), Some(until)) = (self.since, self.until)
            && since >= until
        {
            return Err(bad("until", "must be after `since`"));
        }
        Ok(AuditSearch {
            by: match self.agent_id {
                Some(id) => Some(AuditCallerFilter::Agent(id)),
                None => self.agent.as_deref().map(by).transpose()?,
            },
            tool: self.tool.as_deref().map(tool).transpose()?,
            end: self.outcome.as_deref().map(end).transpose()?,
            words: self.q.as_deref().map_or_else(|| Ok(Vec::new()), words)?,
            since: self.since,
            until: self.until,
            task: self.task_id.as_deref().map(|name| task(tx, name)).transpose()?,
            commit: self.commit.as_deref().map(commit).transpose()?,
            after: self.after.number(),
            before: self.before.map(Cursor::number),
        })
    }
}

/// Parses a caller: an id, `operator`, a role, or a part of an id.
fn by(text: &str) -> Result<AuditCallerFilter, ToolError> {
    let text = bounded("agent", text)?;
    Ok(match text.parse() {
        Ok(id) => AuditCallerFilter::Agent(id),
        Err(_) if text == "operator" => AuditCallerFilter::Operator,
        Err(_) => AuditCallerFilter::Like(text.to_owned()),
    })
}

fn tool(text: &str) -> Result<String, ToolError> {
    let text = bounded("tool", text)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*' | '.');
    if !text.chars().all(fits) {
        return Err(bad("tool", "is no tool: letters, digits, `_`, `-` and `*` only"));
    }
    Ok(text.to_owned())
}

fn end(text: &str) -> Result<AuditOutcomeFilter, ToolError> {
    match text {
        "done" => Ok(AuditOutcomeFilter::Good),
        "failed" => Ok(AuditOutcomeFilter::Without(refusals())),
        "denied" => Ok(AuditOutcomeFilter::With(refusals())),
        _ => Err(bad("outcome", "must be `done`, `failed` or `denied`")),
    }
}

/// Words, and what stands between quotes as one.
fn words(text: &str) -> Result<Vec<String>, ToolError> {
    let text = bounded("q", text)?.to_lowercase();
    let mut found: Vec<String> = Vec::new();
    for (n, part) in text.split('"').enumerate() {
        if n % 2 == 1 {
            found.push(part.to_owned());
        } else {
            found.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    found.retain(|word| !word.is_empty());
    Ok(found)
}

fn task(tx: &Tx<'_>, name: &str) -> Result<AuditTask, ToolError> {
    let name: TaskRef =
        bounded("taskId", name)?.parse().map_err(|error: model::task::InvalidTaskRef| {
            ToolError::invalid(error.to_string()).detail("field", "taskId")
        })?;
    let found = tx.task_find(&name)?;
    let task = found.ok_or_else(|| ToolError::not_found(format!("there is no task `{name}`")))?;
    Ok(AuditTask { id: task.id, number: task.number, slug: task.slug })
}

fn commit(text: &str) -> Result<String, ToolError> {
    let text = text.trim().to_ascii_lowercase();
    let hex = text.bytes().all(|b| b.is_ascii_hexdigit());
    if !hex || !(4..=64).contains(&text.len()) {
        return Err(bad("commit", "must be 4 or more hex digits, as git shows them"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_what_the_caller_may_not() {
        let refusals = refusals();
        assert!(refusals.contains(&"PERMISSION_DENIED") && refusals.contains(&"BUDGET_EXCEEDED"));
        assert!(!refusals.contains(&"CONFLICT") && !refusals.contains(&"INVALID_INPUT"));
    }

    #[test]
    fn words_are_split_and_quotes_keep_them_together() {
        assert_eq!(words(r#"Pull "Typed job ids" x"#).unwrap(), ["pull", "typed job ids", "x"]);
        assert!(words(" ").is_err());
    }
}
