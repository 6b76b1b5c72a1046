//! A task: its states and moves. The names of the states are in `words.rs`, references to tasks in
//! `reference.rs`.

mod priority;
mod reference;
mod words;

use std::collections::VecDeque;

pub use self::priority::Priority;
pub use self::reference::{InvalidTaskRef, TaskRef};
pub use self::words::{OfficeState, SessionStatus, TaskStateName};
use crate::id::AgentId;

/// The current holder of a task. Claims are fenced: of two claims the one with the greater number is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The agent that holds it
    pub holder: AgentId,
    /// Attempt number of that agent
    pub attempt: u32,
    /// Grows with every claim of the task
    pub number: i64,
}

/// State of a task, with the data of that state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    /// Not assigned
    Pending,
    /// Assigned to an agent that has not started
    Assigned {
        /// The assigned agent
        to: AgentId,
    },
    /// In progress
    InProgress {
        /// The holder; `None` if a person moved it by hand
        claim: Option<Claim>,
    },
    /// Done, waiting for a review
    Review {
        /// The agent that did the work
        claim: Option<Claim>,
    },
    /// Blocked
    Blocked {
        /// The agent that worked on it
        claim: Option<Claim>,
        /// Reason
        reason: Option<String>,
    },
    /// Done
    Completed,
    /// Failed
    Failed {
        /// Why
        reason: Option<String>,
    },
    /// Cancelled
    Cancelled {
        /// Why
        reason: Option<String>,
    },
}

/// A requested transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskMove {
    /// Assign it to an agent
    Assign {
        /// The agent
        to: AgentId,
    },
    /// Start or resume work
    Start {
        /// The new holder
        claim: Option<Claim>,
    },
    /// Submit it for review
    Submit,
    /// Mark it as blocked
    Block {
        /// Reason
        reason: Option<String>,
    },
    /// Mark it as completed
    Complete,
    /// Mark it as failed
    Fail {
        /// Why
        reason: Option<String>,
    },
    /// Cancel it
    Cancel {
        /// Why
        reason: Option<String>,
    },
    /// Return it to the pool
    Release,
}

/// Membership in an epic; a task in an epic needs a review before it is completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpicMembership {
    /// Not in an epic
    Alone,
    /// In an epic
    InEpic,
}

/// A move that a task cannot make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a task that is {} cannot become {}{}", from.stored(), to.stored(), self.advice())]
pub struct IllegalMove {
    /// Current state
    pub from: TaskStateName,
    /// Refused target state
    pub to: TaskStateName,
    /// Membership in an epic
    pub membership: EpicMembership,
}

impl IllegalMove {
    /// The state to move to first, where there is one. It is always a legal move, in the office too.
    pub const fn first_step(self) -> Option<TaskStateName> {
        use TaskStateName as T;
        match (self.from, self.to, self.membership) {
            (T::InProgress, T::Completed, EpicMembership::InEpic) => Some(T::Review),
            (T::Completed | T::InProgress, _, _)
            | (T::Blocked | T::Review | T::Failed, T::Assigned | T::Pending, _)
            | (T::Cancelled, T::Pending, _) => None,
            (T::Cancelled, _, _) => Some(T::Pending),
            (T::Pending | T::Assigned | T::Blocked | T::Review | T::Failed, _, _) => {
                Some(T::InProgress)
            }
        }
    }

    /// Advice for a refused move.
    fn advice(self) -> String {
        use TaskStateName as T;
        let why = match (self.from, self.to, self.membership) {
            (T::Completed, _, _) => "completed is final",
            (T::InProgress | T::Blocked | T::Review, T::Assigned | T::Pending, _) => {
                "an agent has begun it; it is released when that agent ends"
            }
            (T::Failed, T::Assigned | T::Pending, _) => {
                "an agent retries a failed task by moving it to in_progress"
            }
            (_, T::Completed, EpicMembership::InEpic) => {
                return ": it belongs to an epic and is completed through review".to_owned();
            }
            (T::Pending | T::Assigned, T::Review | T::Completed, _) => "no agent has begun it",
            _ => "",
        };
        match (why, self.first_step()) {
            ("", None) => String::new(),
            ("", Some(first)) => format!(": move it to {} first", first.stored()),
            (why, None) => format!(": {why}"),
            (why, Some(first)) => format!(": {why}; move it to {} first", first.stored()),
        }
    }
}

impl TaskState {
    /// Name of the state, without its data.
    pub const fn name(&self) -> TaskStateName {
        match self {
            Self::Pending => TaskStateName::Pending,
            Self::Assigned { .. } => TaskStateName::Assigned,
            Self::InProgress { .. } => TaskStateName::InProgress,
            Self::Review { .. } => TaskStateName::Review,
            Self::Blocked { .. } => TaskStateName::Blocked,
            Self::Completed => TaskStateName::Completed,
            Self::Failed { .. } => TaskStateName::Failed,
            Self::Cancelled { .. } => TaskStateName::Cancelled,
        }
    }

    /// The claim on it, if it is claimed.
    pub const fn claim(&self) -> Option<Claim> {
        match self {
            Self::InProgress { claim } | Self::Review { claim } | Self::Blocked { claim, .. } => {
                *claim
            }
            Self::Pending
            | Self::Assigned { .. }
            | Self::Completed
            | Self::Failed { .. }
            | Self::Cancelled { .. } => None,
        }
    }

    /// Reason of its state, if one was given.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Blocked { reason, .. } | Self::Failed { reason } | Self::Cancelled { reason } => {
                reason.as_deref()
            }
            Self::Pending
            | Self::Assigned { .. }
            | Self::InProgress { .. }
            | Self::Review { .. }
            | Self::Completed => None,
        }
    }

    /// Moves on, or says why not. Every pair of state and move is named.
    #[expect(clippy::too_many_lines, reason = "it is a table, and a table is read as one")]
    pub fn apply(
        &self,
        task_move: TaskMove,
        membership: EpicMembership,
    ) -> Result<Self, IllegalMove> {
        let claim = self.claim();
        let to = task_move.target();
        Ok(match (self, task_move) {
            (Self::Pending | Self::Assigned { .. }, TaskMove::Assign { to }) => {
                Self::Assigned { to }
            }
            (
                Self::Pending
                | Self::Assigned { .. }
                | Self::Review { .. }
                | Self::Blocked { .. }
                | Self::Failed { .. }
                | Self::InProgress { .. },
                TaskMove::Start { claim: new },
            ) => Self::InProgress { claim: new.or(claim) },
            (Self::InProgress { .. } | Self::Review { .. }, TaskMove::Submit) => {
                Self::Review { claim }
            }
            (
                Self::InProgress { .. } | Self::Review { .. } | Self::Blocked { .. },
                TaskMove::Block { reason },
            ) => Self::Blocked { claim, reason },
            (Self::Review { .. } | Self::Completed, TaskMove::Complete) => Self::Completed,
            (Self::InProgress { .. }, TaskMove::Complete)
                if membership == EpicMembership::Alone =>
            {
                Self::Completed
            }
            (
                Self::InProgress { .. } | Self::Blocked { .. } | Self::Failed { .. },
                TaskMove::Fail { reason },
            ) => Self::Failed { reason },
            (
                Self::Pending
                | Self::Assigned { .. }
                | Self::InProgress { .. }
                | Self::Blocked { .. }
                | Self::Cancelled { .. },
                TaskMove::Cancel { reason },
            ) => Self::Cancelled { reason },
            (
                Self::Pending
                | Self::Assigned { .. }
                | Self::InProgress { .. }
                | Self::Blocked { .. }
                | Self::Cancelled { .. },
                TaskMove::Release,
            ) => Self::Pending,
            (
                Self::InProgress { .. }
                | Self::Review { .. }
                | Self::Blocked { .. }
                | Self::Completed
                | Self::Failed { .. }
                | Self::Cancelled { .. },
                TaskMove::Assign { .. },
            )
            | (Self::Completed | Self::Cancelled { .. }, TaskMove::Start { .. })
            | (
                Self::Pending
                | Self::Assigned { .. }
                | Self::Blocked { .. }
                | Self::Completed
                | Self::Failed { .. }
                | Self::Cancelled { .. },
                TaskMove::Submit,
            )
            | (
                Self::Pending
                | Self::Assigned { .. }
                | Self::Completed
                | Self::Failed { .. }
                | Self::Cancelled { .. },
                TaskMove::Block { .. },
            )
            | (
                Self::Pending
                | Self::Assigned { .. }
                | Self::InProgress { .. }
                | Self::Blocked { .. }
                | Self::Failed { .. }
                | Self::Cancelled { .. },
                TaskMove::Complete,
            )
            | (
                Self::Pending
                | Self::Assigned { .. }
                | Self::Review { .. }
                | Self::Completed
                | Self::Cancelled { .. },
                TaskMove::Fail { .. },
            )
            | (
                Self::Review { .. } | Self::Completed | Self::Failed { .. },
                TaskMove::Cancel { .. } | TaskMove::Release,
            ) => return Err(IllegalMove { from: self.name(), to, membership }),
        })
    }

    /// Moves to the request's target through as many steps as it takes, as the session's tools may.
    pub fn apply_through(
        &self,
        task_move: &TaskMove,
        membership: EpicMembership,
    ) -> Result<Self, IllegalMove> {
        // Breadth first over the other moves, so that the shortest way is found and the last step
        // is the request itself. A review is nobody's step to skip.
        let mut open = VecDeque::from([self.clone()]);
        let mut seen = vec![self.name()];
        while let Some(state) = open.pop_front() {
            if let Ok(there) = state.apply(task_move.clone(), membership) {
                return Ok(there);
            }
            let steps = [
                TaskMove::Start { claim: task_move.claim() },
                TaskMove::Block { reason: None },
                TaskMove::Release,
            ];
            for step in steps {
                if let Ok(next) = state.apply(step, membership)
                    && !seen.contains(&next.name())
                {
                    seen.push(next.name());
                    open.push_back(next);
                }
            }
        }
        Err(IllegalMove { from: self.name(), to: task_move.target(), membership })
    }
}

impl TaskMove {
    /// Where the move leads.
    pub const fn target(&self) -> TaskStateName {
        match self {
            Self::Assign { .. } => TaskStateName::Assigned,
            Self::Start { .. } => TaskStateName::InProgress,
            Self::Submit => TaskStateName::Review,
            Self::Block { .. } => TaskStateName::Blocked,
            Self::Complete => TaskStateName::Completed,
            Self::Fail { .. } => TaskStateName::Failed,
            Self::Cancel { .. } => TaskStateName::Cancelled,
            Self::Release => TaskStateName::Pending,
        }
    }

    const fn claim(&self) -> Option<Claim> {
        match self {
            Self::Start { claim } => *claim,
            Self::Assign { .. }
            | Self::Submit
            | Self::Block { .. }
            | Self::Complete
            | Self::Fail { .. }
            | Self::Cancel { .. }
            | Self::Release => None,
        }
    }
}

#[cfg(test)]
mod tests;
