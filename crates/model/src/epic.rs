//! An epic: a group of tasks, and its state.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where an epic stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(inline)]
pub enum EpicState {
    /// Being thought out
    Planning,
    /// In progress
    InProgress,
    /// Blocked
    Blocked,
    /// Done
    Completed,
    /// Given up
    Cancelled,
}

/// A move that an epic cannot make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an epic in {} cannot become {}", from.name(), to.name())]
pub struct IllegalEpicMove {
    /// State
    pub from: EpicState,
    /// Where it was to go
    pub to: EpicState,
}

impl EpicState {
    /// Every state.
    pub const ALL: [Self; 5] =
        [Self::Planning, Self::InProgress, Self::Blocked, Self::Completed, Self::Cancelled];

    /// The state's name, as it is stored and sent.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planning => "PLANNING",
            Self::InProgress => "IN_PROGRESS",
            Self::Blocked => "BLOCKED",
            Self::Completed => "COMPLETED",
            Self::Cancelled => "CANCELLED",
        }
    }

    /// The state of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Moves on, or says why not. To stay where one is is no move and no error.
    pub fn go(self, to: Self) -> Result<Self, IllegalEpicMove> {
        use EpicState::{Blocked, Cancelled, Completed, InProgress, Planning};
        match (self, to) {
            (Planning | Blocked, Planning | InProgress | Blocked | Cancelled)
            | (InProgress, InProgress | Blocked | Completed | Cancelled | Planning)
            | (Completed, Completed)
            | (Cancelled, Cancelled | Planning) => Ok(to),
            (Planning | Blocked | Cancelled, Completed)
            | (Completed, Planning | InProgress | Blocked | Cancelled)
            | (Cancelled, InProgress | Blocked) => Err(IllegalEpicMove { from: self, to }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_completed_epic_stays_completed() {
        for to in EpicState::ALL {
            assert_eq!(EpicState::Completed.go(to).is_ok(), to == EpicState::Completed);
        }
    }

    #[test]
    fn names_survive_parsing() {
        for state in EpicState::ALL {
            assert_eq!(EpicState::parse(state.name()), Some(state));
        }
    }
}
