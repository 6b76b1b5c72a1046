//! What somebody wants of a new agent.

use model::task::TaskRef;
use model::{AgentId, EpicId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Run;

use crate::core::durable;
use crate::core::error::ToolError;
use crate::core::settings::Budget;

/// A new agent, as somebody asks for it. What is absent is decided by role and settings.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// The role; a bare prompt has none
    pub role: Option<String>,
    /// The kind that runs it
    pub kind: Option<String>,
    /// What it is to do
    pub prompt: String,
    /// What it is about, in a line
    pub summary: Option<String>,
    /// The task it is for
    pub task: Option<TaskRef>,
    /// The epic it leads; whoever leads one has no task of its own
    pub epic: Option<EpicId>,
    /// The loop and the iteration whose agent it is; such an agent takes a task when it finds one
    pub iteration: Option<(String, u32)>,
    /// Where it works
    pub cwd: Option<String>,
    /// What it is asked with beside the prompt
    pub wish: Wish,
    /// What it may spend
    pub budget: Budget,
    /// The agent whose conversation it goes on with
    pub resume: Option<AgentId>,
}

/// What an agent is asked with beside its prompt. It is kept with the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Wish {
    /// The model
    pub model: Option<String>,
    /// Its own tools it may use
    pub tools: Option<Vec<String>>,
    /// How long it may run, in seconds
    pub timeout: Option<u32>,
    /// Whether the project context is left out
    pub bare: bool,
    /// What its result must look like
    pub schema: Option<Value>,
    /// Whether whoever asked for it is written to when it is over
    pub notify: bool,
    /// What happens at its own cap
    pub on_cap: OnCap,
    /// Whether its task is its own; one taken over from the parent is not
    pub claims: Claims,
    /// Where the folder it works in must lie
    pub confinement: Confinement,
    /// Names of the variables that it gets from the server's environment
    pub environment: Vec<String>,
}

/// What happens when an agent reaches its own cap.
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

/// Whose an agent's task is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Claims {
    /// Its own, if it is free
    #[default]
    Task,
    /// Its parent's
    Nothing,
}

impl Wish {
    /// Decodes the wish that was kept with a run.
    pub(crate) fn of(run: &Run) -> Result<Self, ToolError> {
        durable::decode(&run.wish, format_args!("agent `{}`", run.agent), "wish")
    }

    /// Decodes a wish to show it. One that cannot be decoded shows nothing; its agent ends with an error.
    pub(crate) fn shown(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }
}
