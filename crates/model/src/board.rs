//! The board: the columns in which people see tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::task::TaskStateName;

/// A column of the board. Which state stands in which column is in the table of [`crate::task`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Column {
    /// Held up, or it waits for another task
    Blocked,
    /// Free to be started
    Ready,
    /// In progress
    InProgress,
    /// Waiting for review
    InReview,
    /// Nothing more is to be done: completed, failed or cancelled
    Done,
}

impl Column {
    /// Every column, from left to right.
    pub const ALL: [Self; 5] =
        [Self::Blocked, Self::Ready, Self::InProgress, Self::InReview, Self::Done];

    /// The column's name, as it is sent.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Ready => "ready",
            Self::InProgress => "inProgress",
            Self::InReview => "inReview",
            Self::Done => "done",
        }
    }

    /// The column as people read it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Ready => "ready",
            Self::InProgress => "in progress",
            Self::InReview => "in review",
            Self::Done => "done",
        }
    }

    /// The column of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    /// The states that stand in this column whatever they wait for.
    pub fn stored(self) -> impl Iterator<Item = TaskStateName> {
        TaskStateName::ALL.into_iter().filter(move |state| state.column(0) == self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_its_column_and_only_what_is_ready_can_be_held_up_by_others() {
        for state in TaskStateName::ALL {
            let free = state.column(0);
            assert!(free.stored().any(|stored| stored == state), "{state:?}");
            let waiting = state.column(2);
            let expected = if free == Column::Ready { Column::Blocked } else { free };
            assert_eq!(waiting, expected, "{state:?}");
        }
        let done: Vec<_> = Column::Done.stored().collect();
        assert_eq!(
            done,
            [TaskStateName::Completed, TaskStateName::Failed, TaskStateName::Cancelled]
        );
    }

    #[test]
    fn names_survive_parsing_and_are_those_of_the_wire() {
        for column in Column::ALL {
            assert_eq!(Column::parse(column.name()), Some(column));
            assert_eq!(serde_json::to_value(column).unwrap(), column.name());
        }
        assert_eq!(Column::parse("Done"), None);
    }
}
