//! Loops: a session in which one agent after the other works on the same specification. What a loop does when an
//! iteration is over is decided here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::Outcome;
use crate::money::Usd;
use crate::words::words;

/// No name of a session is longer.
pub const MAX_NAME_BYTES: usize = 64;

/// Session of an agent outside any loop.
pub const DEFAULT_SESSION: &str = "default";

/// Subcommands of `adjutant loop`, which cannot be loop names.
pub const RESERVED_NAMES: [&str; 10] = [
    "list",
    "status",
    "pause",
    "resume",
    "stop",
    "say",
    "follow",
    "template",
    "help",
    DEFAULT_SESSION,
];

/// Why a name cannot be a loop's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// It has the wrong form
    #[error(
        "a loop's name has up to {MAX_NAME_BYTES} letters, digits, `-`, `_` and `.`, and begins with a letter or a digit"
    )]
    Form,
    /// It means something else
    #[error("`{0}` is reserved and cannot be the name of a loop")]
    Reserved(String),
}

/// Checks a loop's name. Names appear in URLs, on command lines and in paths.
pub fn check_name(name: &str) -> Result<(), BadName> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins || name.len() > MAX_NAME_BYTES || !name.chars().all(fits) {
        return Err(BadName::Form);
    }
    if RESERVED_NAMES.contains(&name) {
        return Err(BadName::Reserved(name.to_owned()));
    }
    Ok(())
}

words! {
    /// State of a loop.
    LoopState {
        /// Running
        Running = "running",
        /// It waits until it is resumed
        Paused = "paused",
        /// An agent declared the session complete
        Completed = "completed",
        /// It had as many iterations as it was given
        Limit = "limit",
        /// Too many iterations in a row failed
        Failed = "failed",
        /// It was stopped
        Stopped = "stopped",
        /// Its budget is used up
        OverBudget = "over_budget",
    }

    /// Current phase of a loop. Each is recorded before it starts.
    Phase {
        /// Running the start hooks
        Opening = "opening",
        /// It runs the hooks before an iteration, then makes the iteration's agent
        Before = "before",
        /// The iteration's agent works
        Working = "working",
        /// The iteration failed, and it runs the hooks for that
        Erring = "erring",
        /// It runs the hooks after an iteration
        After = "after",
        /// It commits what the iteration changed, then decides what follows
        Committing = "committing",
        /// It runs the hooks of its end
        Closing = "closing",
        /// It does nothing
        Over = "over",
    }

    /// When a hook runs.
    Moment {
        /// When the loop begins
        SessionStart = "session_start",
        /// Before each iteration but the planning
        PreIteration = "pre_iteration",
        /// After each iteration but the planning
        PostIteration = "post_iteration",
        /// When the loop ends
        SessionEnd = "session_end",
        /// When a task of the session is completed
        OnTaskComplete = "on_task_complete",
        /// When an iteration failed
        OnError = "on_error",
    }

    /// Pending request to a running loop.
    LoopRequest {
        /// Pause after the current iteration
        Pause = "pause",
        /// It is to end
        Stop = "stop",
    }
}

impl LoopState {
    /// True for a final state. A loop that has ended can be started again with more iterations.
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Running | Self::Paused)
    }
}

/// Where a loop stands when one of its iterations is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopProgress {
    /// The iteration that is over
    pub iteration: u32,
    /// The last iteration it may have; none is no limit
    pub last: Option<u32>,
    /// Failed iterations in a row before this one
    pub failures: u32,
    /// Failed iterations in a row after which it gives up
    pub most_failures: u32,
    /// True if the session was declared complete
    pub complete: bool,
    /// Pending request of a person
    pub request: Option<LoopRequest>,
    /// Amount spent
    pub spent: Usd,
    /// Budget
    pub budget: Option<Usd>,
}

/// Next step of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopAction {
    /// Another iteration
    Iterate(u32),
    /// It waits
    Pause,
    /// It is over
    End(LoopState),
}

/// Failed iterations in a row after one with this outcome. A killed agent does not count as failed: a person
/// asked for its end.
pub const fn failures_after(before: u32, outcome: Outcome) -> u32 {
    match outcome {
        Outcome::Succeeded => 0,
        Outcome::Killed => before,
        Outcome::Failed
        | Outcome::TimedOut
        | Outcome::OverBudget
        | Outcome::Abandoned
        | Outcome::Lost => before.saturating_add(1),
    }
}

/// Decides what follows an iteration that ended like this.
pub fn decide(standing: &LoopProgress, outcome: Outcome) -> LoopAction {
    let failures = failures_after(standing.failures, outcome);
    if standing.request == Some(LoopRequest::Stop) {
        return LoopAction::End(LoopState::Stopped);
    }
    if standing.complete {
        return LoopAction::End(LoopState::Completed);
    }
    if standing.budget.is_some_and(|budget| standing.spent >= budget) {
        return LoopAction::End(LoopState::OverBudget);
    }
    if failures >= standing.most_failures.max(1) {
        return LoopAction::End(LoopState::Failed);
    }
    // Who kills an agent wants it to stop, and would not like to see the next one.
    if outcome == Outcome::Killed || standing.request == Some(LoopRequest::Pause) {
        return LoopAction::Pause;
    }
    match standing.last {
        Some(last) if standing.iteration >= last => LoopAction::End(LoopState::Limit),
        _ => LoopAction::Iterate(standing.iteration.saturating_add(1)),
    }
}

#[cfg(test)]
mod tests;
