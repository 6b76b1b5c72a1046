//! An agent's life: the states, what is true only in each, and how it moves from one to the next.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Where an agent stands, with what is true only there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentState {
    /// Recorded, waiting for a free place
    Queued,
    /// Being started
    Starting,
    /// At work
    Running,
    /// Asked for a review and waits for it
    WaitingReview,
    /// Asked a person and waits for the answer
    WaitingInput,
    /// Its model refuses more work for a while
    Limited {
        /// When it may go on
        until: Timestamp,
    },
    /// Over; nothing follows
    Ended {
        /// Final outcome
        outcome: Outcome,
        /// Why, in words
        reason: String,
        /// When
        at: Timestamp,
    },
}

/// Final outcome of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It did what it was asked
    Succeeded,
    /// It could not
    Failed,
    /// It was stopped
    Killed,
    /// Its time was up
    TimedOut,
    /// Its money, tokens or agents were used up
    OverBudget,
    /// Its work was given up
    Abandoned,
    /// It is gone, and nobody saw it go
    Lost,
}

/// Something that happened to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEvent {
    /// Its turn has come
    Dispatched,
    /// It was to be started and never was, or its process is gone and it is not done: it waits for
    /// its turn again
    Requeued,
    /// It runs
    Started,
    /// It asked for a review
    AskedReview,
    /// It asked a person
    AskedInput,
    /// Its model refuses requests until then
    HitLimit {
        /// When it may go on
        until: Timestamp,
    },
    /// Its wait is over
    Continued,
    /// It has ended
    Ended {
        /// Final outcome
        outcome: Outcome,
        /// Why
        reason: String,
    },
}

/// Something that cannot happen to an agent in its state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an agent that is {from} cannot receive `{event:?}`")]
pub struct IllegalEvent {
    /// State
    pub from: AgentStateName,
    /// The refused event
    pub event: AgentEvent,
}

impl AgentState {
    /// Name of the state, without its data.
    pub const fn name(&self) -> AgentStateName {
        match self {
            Self::Queued => AgentStateName::Queued,
            Self::Starting => AgentStateName::Starting,
            Self::Running => AgentStateName::Running,
            Self::WaitingReview => AgentStateName::WaitingReview,
            Self::WaitingInput => AgentStateName::WaitingInput,
            Self::Limited { .. } => AgentStateName::Limited,
            Self::Ended { outcome, .. } => outcome.state(),
        }
    }

    /// Moves on, or says why not. Every pair of state and event is named.
    pub fn apply(&self, event: AgentEvent, now: Timestamp) -> Result<Self, IllegalEvent> {
        Ok(match (self, event) {
            (Self::Queued, AgentEvent::Dispatched) => Self::Starting,
            // The next attempt after a limit or a review starts the same agent anew.
            (
                Self::Starting
                | Self::Running
                | Self::WaitingReview
                | Self::WaitingInput
                | Self::Limited { .. },
                AgentEvent::Requeued,
            ) => Self::Queued,
            (Self::Queued | Self::Starting, AgentEvent::Started)
            | (
                Self::Running | Self::WaitingReview | Self::WaitingInput | Self::Limited { .. },
                AgentEvent::Continued,
            ) => Self::Running,
            (Self::Running | Self::WaitingReview, AgentEvent::AskedReview) => Self::WaitingReview,
            (Self::Running | Self::WaitingInput, AgentEvent::AskedInput) => Self::WaitingInput,
            (
                Self::Starting
                | Self::Running
                | Self::WaitingReview
                | Self::WaitingInput
                | Self::Limited { .. },
                AgentEvent::HitLimit { until },
            ) => Self::Limited { until },
            (
                Self::Queued
                | Self::Starting
                | Self::Running
                | Self::WaitingReview
                | Self::WaitingInput
                | Self::Limited { .. },
                AgentEvent::Ended { outcome, reason },
            ) => Self::Ended { outcome, reason, at: now },
            (
                Self::Queued | Self::Starting,
                event @ (AgentEvent::AskedReview | AgentEvent::AskedInput | AgentEvent::Continued),
            )
            | (Self::Queued, event @ (AgentEvent::HitLimit { .. } | AgentEvent::Requeued))
            | (
                Self::Starting
                | Self::Running
                | Self::WaitingReview
                | Self::WaitingInput
                | Self::Limited { .. },
                event @ AgentEvent::Dispatched,
            )
            | (
                Self::Running | Self::WaitingReview | Self::WaitingInput | Self::Limited { .. },
                event @ AgentEvent::Started,
            )
            | (Self::WaitingInput | Self::Limited { .. }, event @ AgentEvent::AskedReview)
            | (Self::WaitingReview | Self::Limited { .. }, event @ AgentEvent::AskedInput)
            | (Self::Ended { .. }, event) => {
                return Err(IllegalEvent { from: self.name(), event });
            }
        })
    }
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 7] = [
        Self::Succeeded,
        Self::Failed,
        Self::Killed,
        Self::TimedOut,
        Self::OverBudget,
        Self::Abandoned,
        Self::Lost,
    ];

    /// The terminal state it makes.
    pub const fn state(self) -> AgentStateName {
        match self {
            Self::Succeeded => AgentStateName::Succeeded,
            Self::Failed => AgentStateName::Failed,
            Self::Killed => AgentStateName::Killed,
            Self::TimedOut => AgentStateName::TimedOut,
            Self::OverBudget => AgentStateName::OverBudget,
            Self::Abandoned => AgentStateName::Abandoned,
            Self::Lost => AgentStateName::Lost,
        }
    }
}

/// The states by name, as they are stored and sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[expect(missing_docs, reason = "they are described at `AgentState` and `Outcome`")]
pub enum AgentStateName {
    Queued,
    Starting,
    Running,
    WaitingReview,
    WaitingInput,
    Limited,
    Succeeded,
    Failed,
    Killed,
    TimedOut,
    OverBudget,
    Abandoned,
    Lost,
}

/// Name of a state in answers of `await_agent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[expect(missing_docs, reason = "the names are the seed's and say what they are")]
pub enum AwaitStatus {
    Running,
    Completed,
    Aborted,
    Crashed,
}

/// Name of a state in answers of the office's `get_status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(inline)]
#[expect(missing_docs, reason = "the names are the seed's and say what they are")]
pub enum OfficeStatus {
    Idle,
    Busy,
    Waiting,
    Failed,
}

/// Name of a state in the review toolset, for an agent without a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(inline)]
#[expect(missing_docs, reason = "the names are the seed's and say what they are")]
pub enum ReviewStatus {
    Started,
    WaitingReview,
    Terminated,
}

/// One life behind four vocabularies: this table is the whole of the mapping.
const VOCABULARY: [(AgentStateName, &str, AwaitStatus, OfficeStatus, ReviewStatus); 13] = {
    use AgentStateName as A;
    use AwaitStatus as W;
    use OfficeStatus as O;
    use ReviewStatus as R;
    [
        (A::Queued, "queued", W::Running, O::Idle, R::Started),
        (A::Starting, "starting", W::Running, O::Idle, R::Started),
        (A::Running, "running", W::Running, O::Busy, R::Started),
        (A::WaitingReview, "waiting_review", W::Running, O::Waiting, R::WaitingReview),
        (A::WaitingInput, "waiting_input", W::Running, O::Waiting, R::Started),
        (A::Limited, "limited", W::Running, O::Waiting, R::Started),
        (A::Succeeded, "succeeded", W::Completed, O::Idle, R::Terminated),
        (A::Failed, "failed", W::Crashed, O::Failed, R::Terminated),
        (A::Killed, "killed", W::Aborted, O::Failed, R::Terminated),
        (A::TimedOut, "timed_out", W::Aborted, O::Failed, R::Terminated),
        (A::OverBudget, "over_budget", W::Aborted, O::Failed, R::Terminated),
        (A::Abandoned, "abandoned", W::Aborted, O::Failed, R::Terminated),
        (A::Lost, "lost", W::Crashed, O::Failed, R::Terminated),
    ]
};

impl AgentStateName {
    /// Every state.
    pub const ALL: [Self; 13] = {
        let mut all = [Self::Queued; 13];
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

    /// Name in answers of `await_agent`.
    pub const fn awaited(self) -> AwaitStatus {
        VOCABULARY[self as usize].2
    }

    /// Name in the office's vocabulary.
    pub const fn office(self) -> OfficeStatus {
        VOCABULARY[self as usize].3
    }

    /// Name in the review toolset's vocabulary.
    pub const fn review(self) -> ReviewStatus {
        VOCABULARY[self as usize].4
    }

    /// The state of that stored name.
    pub fn parse(stored: &str) -> Option<Self> {
        VOCABULARY.iter().find(|row| row.1 == stored).map(|row| row.0)
    }

    /// Outcome of a final state.
    pub fn outcome(self) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|outcome| outcome.state() == self)
    }
}

impl fmt::Display for AgentStateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.stored())
    }
}

/// An agent's type, as the office says it: its category in capitals.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct AgentType(String);

impl AgentType {
    /// The type of a category.
    pub fn of_category(category: &str) -> Self {
        Self(category.to_uppercase())
    }

    /// The type of the human, who writes mail too.
    pub fn human() -> Self {
        Self("HUMAN".to_owned())
    }

    /// The type of Adjutant itself, which writes mail too.
    pub fn system() -> Self {
        Self("SYSTEM".to_owned())
    }
}

impl fmt::Display for AgentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_event() -> impl Strategy<Value = AgentEvent> {
        prop_oneof![
            Just(AgentEvent::Dispatched),
            Just(AgentEvent::Requeued),
            Just(AgentEvent::Started),
            Just(AgentEvent::AskedReview),
            Just(AgentEvent::AskedInput),
            (0..9_i64).prop_map(|at| AgentEvent::HitLimit { until: Timestamp::from_millis(at) }),
            Just(AgentEvent::Continued),
            prop::sample::select(&Outcome::ALL[..])
                .prop_map(|outcome| AgentEvent::Ended { outcome, reason: "over".into() }),
        ]
    }

    proptest! {
        #[test]
        fn an_end_is_an_end(events in prop::collection::vec(any_event(), 0..30)) {
            let mut state = AgentState::Queued;
            for (at, event) in (0..).zip(events) {
                let ended = matches!(state, AgentState::Ended { .. });
                match state.apply(event, Timestamp::from_millis(at)) {
                    Ok(next) => {
                        prop_assert!(!ended, "an ended agent moved");
                        state = next;
                    }
                    Err(error) => prop_assert_eq!(error.from, state.name()),
                }
            }
        }

        #[test]
        fn a_live_agent_can_be_ended(events in prop::collection::vec(any_event(), 0..30)) {
            let mut state = AgentState::Queued;
            let now = Timestamp::from_millis(0);
            for event in events {
                state = state.apply(event, now).unwrap_or(state);
            }
            if !matches!(state, AgentState::Ended { .. }) {
                let end = AgentEvent::Ended { outcome: Outcome::Killed, reason: String::new() };
                prop_assert!(state.apply(end, now).is_ok());
            }
        }
    }

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for row in VOCABULARY {
            assert_eq!(VOCABULARY[row.0 as usize].0, row.0);
            assert_eq!(AgentStateName::parse(row.1), Some(row.0));
            assert_eq!(serde_json::to_value(row.0).unwrap(), row.1);
        }
        assert_eq!(AgentStateName::Lost.outcome(), Some(Outcome::Lost));
        assert_eq!(AgentStateName::Limited.outcome(), None);
    }
}
