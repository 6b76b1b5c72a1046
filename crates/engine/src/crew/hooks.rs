//! Hooks through which the rooms above the crew take part in an agent's life, in the same transactions.

use std::pin::Pin;

use model::Timestamp;
use model::agent::Outcome;
use store::{Agent, Run, Tx};

use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::settings::Settings;
use crate::crew::run::finish::RunProgress;

/// What becomes of an agent whose process has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AfterProcess {
    /// It is over
    Over,
    /// It is parked until it is resumed
    Parked,
    /// It goes on at once, told this
    GoesOn(String),
}

/// The end of a process that is being recorded.
#[derive(Debug)]
pub(crate) struct ProcessEnd<'a> {
    /// Whose process it was
    pub(crate) agent: &'a Agent,
    /// Final status
    pub(crate) outcome: Outcome,
    /// True if its end was wanted, and not only a limit had run out: then it waits for nothing
    pub(crate) is_stopped: bool,
    /// Progress of the process
    pub(crate) lasted: &'a RunProgress,
    /// True if its worktree has work that needs a review
    pub(crate) left_work: bool,
    /// When it is recorded
    pub(crate) now: Timestamp,
}

/// Decides what becomes of an agent whose process has ended.
type AfterProcessHook =
    fn(&mut Tx<'_>, &Settings, &ProcessEnd<'_>) -> Result<AfterProcess, ToolError>;

/// Makes the place in which an agent is to work, and returns the agent with it.
type PrepareHook = for<'a> fn(&'a Core, &'a Agent, &'a Run) -> Preparing<'a>;

/// The making of a place that is under way.
pub(crate) type Preparing<'a> = Pin<Box<dyn Future<Output = Result<Agent, ToolError>> + Send + 'a>>;

/// Hooks of the rooms above, handed to the crew when it is made.
#[derive(Debug)]
pub(crate) struct CrewHooks {
    /// Decides whether an agent is over when its process is
    pub(crate) after_process: AfterProcessHook,
    /// Makes the place in which an agent is to work
    pub(crate) prepare_place: PrepareHook,
}
