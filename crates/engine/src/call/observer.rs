//! Observers of calls: rooms above that react to calls of agents.

use std::fmt::Debug;

use model::AgentId;

/// A call of an agent, as its observers are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallNote {
    /// The tool
    pub(crate) tool: &'static str,
    /// With what
    pub(crate) input: String,
    /// Error
    pub(crate) error: Option<String>,
    /// True for a polling tool
    pub(crate) polls: bool,
}

/// Reacts to calls of agents. It is told after the call and must not block.
pub(crate) trait CallObserver: Debug + Send + Sync {
    /// Called after an agent's call; `note` is made only for an observer that wants it.
    fn called(&self, agent: AgentId, note: &dyn Fn() -> CallNote);
}
