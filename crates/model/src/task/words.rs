//! The three vocabularies of task states, and the board's columns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::board::Column;

/// The states by name: what is stored, and what the harness and the command line say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum TaskStateName {
    /// Nobody has it
    Pending,
    /// Assigned to an agent that has not begun
    Assigned,
    /// In progress
    InProgress,
    /// Waiting for review
    Review,
    /// Blocked
    Blocked,
    /// Done
    Completed,
    /// Tried and given up
    Failed,
    /// No longer needed
    Cancelled,
}

/// The states as the office says them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(inline)]
#[expect(missing_docs, reason = "the names are the seed's and say what they are")]
pub enum OfficeState {
    Pending,
    Assigned,
    InProgress,
    Review,
    Blocked,
    Completed,
    Failed,
}

/// The states as the session says them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[expect(missing_docs, reason = "the names are the seed's and say what they are")]
pub enum SessionStatus {
    Remaining,
    InProgress,
    Blocked,
    Completed,
    Cancelled,
}

/// One task model behind three vocabularies and a board: this table is the whole of the mapping.
pub(super) const VOCABULARY: [(TaskStateName, &str, OfficeState, SessionStatus, Column); 8] = {
    use {Column as C, OfficeState as O, SessionStatus as S, TaskStateName as T};
    [
        (T::Pending, "pending", O::Pending, S::Remaining, C::Ready),
        (T::Assigned, "assigned", O::Assigned, S::Remaining, C::Ready),
        (T::InProgress, "in_progress", O::InProgress, S::InProgress, C::InProgress),
        (T::Review, "review", O::Review, S::InProgress, C::InReview),
        (T::Blocked, "blocked", O::Blocked, S::Blocked, C::Blocked),
        (T::Completed, "completed", O::Completed, S::Completed, C::Done),
        (T::Failed, "failed", O::Failed, S::Blocked, C::Done),
        (T::Cancelled, "cancelled", O::Failed, S::Cancelled, C::Done),
    ]
};

impl TaskStateName {
    /// Every state.
    pub const ALL: [Self; 8] = {
        let mut all = [Self::Pending; 8];
        let mut at = 0;
        while at < all.len() {
            all[at] = VOCABULARY[at].0;
            at += 1;
        }
        all
    };

    /// The stored name.
    pub const fn stored(self) -> &'static str {
        VOCABULARY[self as usize].1
    }

    /// The office's name.
    pub const fn office(self) -> OfficeState {
        VOCABULARY[self as usize].2
    }

    /// The session's name.
    pub const fn session(self) -> SessionStatus {
        VOCABULARY[self as usize].3
    }

    /// The column of the board, for a task that waits for so many others. What has begun is not held up by
    /// them any more.
    pub const fn column(self, waits_for: u32) -> Column {
        let column = VOCABULARY[self as usize].4;
        if matches!(column, Column::Ready) && waits_for > 0 { Column::Blocked } else { column }
    }

    /// The state of that stored name.
    pub fn parse(stored: &str) -> Option<Self> {
        VOCABULARY.iter().find(|row| row.1 == stored).map(|row| row.0)
    }

    /// True if a task that depends on one in this state may start.
    pub const fn meets_dependency(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled)
    }

    /// True for a final state.
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl OfficeState {
    /// The states that are stored under this name: the first is the one that is meant when it is
    /// asked for.
    pub fn stored(self) -> impl Iterator<Item = TaskStateName> {
        VOCABULARY.iter().filter(move |row| row.2 == self).map(|row| row.0)
    }
}

impl SessionStatus {
    /// Every status, in the order in which lists show them.
    pub const ALL: [Self; 5] =
        [Self::Remaining, Self::InProgress, Self::Blocked, Self::Completed, Self::Cancelled];

    /// The states that are stored under this status.
    pub fn stored(self) -> impl Iterator<Item = TaskStateName> {
        VOCABULARY.iter().filter(move |row| row.3 == self).map(|row| row.0)
    }

    /// The status's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Remaining => "remaining",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
        }
    }
}
