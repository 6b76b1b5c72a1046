//! Request for a new agent.

use std::collections::BTreeMap;

use host::run::Variables;
use model::review::ReviewRequired;
use model::task::TaskRef;
use model::{AgentId, EpicId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Run;

use crate::core::durable;
use crate::core::error::ToolError;
use crate::core::settings::Budget;

/// Request for a new agent. What is absent is decided by role and settings.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// The role; a bare prompt has none
    pub role: Option<String>,
    /// The kind that runs it
    pub kind: Option<String>,
    /// Prompt
    pub prompt: String,
    /// Summary, one line
    pub summary: Option<String>,
    /// The task it is for
    pub task: Option<TaskRef>,
    /// The epic it leads; a supervisor has no task of its own
    pub epic: Option<EpicId>,
    /// The loop and the iteration whose agent it is; such an agent takes a task when it finds one
    pub iteration: Option<(String, u32)>,
    /// Where it works
    pub cwd: Option<String>,
    /// Options beside the prompt
    pub options: RunOptions,
    /// Budget
    pub budget: Budget,
    /// The agent whose conversation it goes on with
    pub resume: Option<AgentId>,
    /// Environment variables that a person hands on to it; never recorded
    pub environment: Variables,
}

/// Options of a run beside its prompt. They are stored with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RunOptions {
    /// The model
    pub model: Option<String>,
    /// Its own tools it may use
    pub tools: Option<Vec<String>>,
    /// Time limit in seconds
    pub timeout: Option<u32>,
    /// True to leave out the project context
    pub bare: bool,
    /// JSON Schema of its result
    pub schema: Option<Value>,
    /// True if the parent is notified at its end
    pub notify: bool,
    /// Action at its own cap
    pub on_cap: OnCap,
    /// Ownership of its task
    pub claims: Claims,
    /// Where the folder it works in must lie
    pub confinement: Confinement,
    /// Names of the variables that it gets from the server's environment
    pub environment: Vec<String>,
    /// Names of the variables that a person handed on to it or to the agent that it inherits from
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handed_on: Vec<String>,
    /// Fingerprints of some of them: whether a later server has the same
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub fingerprints: BTreeMap<String, String>,
    /// The agent whose handed-on variables it gets
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherits_from: Option<AgentId>,
    /// Review of its work; decided by its role and the configuration if absent
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewRequired>,
    /// Who started it
    pub started_by: StartedBy,
}

/// Origin of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartedBy {
    /// Another agent, a loop, a plan, a message, or a tool
    #[default]
    Other,
    /// A person, with `run`, `draft` or `resume`, or on the page
    Person,
}

/// Action when an agent reaches its own cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnCap {
    /// It is stopped
    #[default]
    Stop,
    /// It is warned, once
    Warn,
}

/// Where the folder that an agent works in must lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confinement {
    /// Anywhere: the operator or a role named it
    #[default]
    None,
    /// Inside the project: an agent named it
    Project,
}

/// Ownership of an agent's task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claims {
    /// Its own, if it is free
    #[default]
    Task,
    /// Its parent's
    Nothing,
}

impl RunOptions {
    /// Decodes the request that was kept with a run.
    pub(crate) fn of(run: &Run) -> Result<Self, ToolError> {
        durable::decode(&run.options, format_args!("agent `{}`", run.agent), "wish")
    }

    /// Decodes a request to show it. One that cannot be decoded shows nothing; its agent ends with an error.
    pub(crate) fn shown(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }
}
