//! The end of a turn, for the kinds that are talked to in turns: whether the agent receives another turn, and with
//! which text, or whether its conversation is over.
//!
//! A turn that ended is *settling* while a message that was sent in the middle of it is not acknowledged: the agent
//! may hand it back. Then what it was not told becomes the next turn, unless the turn failed or the agent is being
//! stopped. The input is closed once, after the last turn.

use model::Timestamp;
use serde::{Deserialize, Serialize};

use super::outcome::Outcome;
use super::{Brief, Event, Step};
use crate::run::OutputLine;

/// Reason of an end that we asked for.
pub(super) const INTERRUPTED_REASON: &str = "it was interrupted";

/// End of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TurnEnd {
    /// With success
    Well,
    /// With an error
    Badly(String),
    /// At a bound of its own, such as a number of tokens
    Bounded(String),
    /// At the limit of the account
    Limited(String),
}

/// The messages that were sent in the middle of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SentMessages {
    /// One of them is not acknowledged: the agent may hand it back
    InFlight,
    /// Each was acknowledged or handed back
    Settled,
}

/// The step after a turn that ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AfterTurn {
    /// Wait until messages in flight are acknowledged
    Wait,
    /// Begin another turn with this text
    Begin(String),
    /// End the conversation
    Finish,
}

/// The part of a conversation's state that decides how it goes on after a turn. The names of its fields are part of
/// every stored conversation.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Settling {
    /// Messages that no turn has received
    told: Vec<String>,
    /// End of the limit that is reached
    resets: Option<Timestamp>,
    outcome: Outcome,
    /// Whether the agent is being stopped
    stopping: bool,
}

impl Settling {
    /// The state of an agent whose last words are held to the brief's schema, if there is one.
    pub(super) fn with_schema_of(brief: &Brief) -> Self {
        Self { outcome: Outcome::of(brief), ..Self::default() }
    }

    /// Keeps a message for the next turn.
    pub(super) fn queue(&mut self, text: String) {
        self.told.push(text);
    }

    /// Keeps a message that comes before all others in the next turn.
    pub(super) fn queue_first(&mut self, text: String) {
        self.told.insert(0, text);
    }

    /// Takes the messages that are kept, for a turn that can receive them now.
    pub(super) fn take_queued(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told)
    }

    /// Notes that the agent is being stopped: no further turn begins.
    pub(super) fn stop(&mut self) {
        self.stopping = true;
    }

    pub(super) const fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// Notes when the limit that is reached ends, where that is known.
    pub(super) fn limited_until(&mut self, at: Option<Timestamp>) {
        self.resets = at;
    }

    pub(super) const fn resets(&self) -> Option<Timestamp> {
        self.resets
    }

    /// Notes a line that is no part of the conversation.
    pub(super) fn heard(&mut self, line: &OutputLine) {
        self.outcome.heard(line);
    }

    /// Notes the end of a turn and its last words.
    pub(super) fn turn_ended(&mut self, end: &TurnEnd, text: &str) {
        if *end == TurnEnd::Well {
            self.outcome.turn(text);
        }
    }

    /// Decides what follows a turn with this end.
    pub(super) fn after(&mut self, end: &TurnEnd, sent: SentMessages) -> AfterTurn {
        match (sent, end) {
            (SentMessages::InFlight, _) => AfterTurn::Wait,
            (SentMessages::Settled, TurnEnd::Well) if !self.told.is_empty() && !self.stopping => {
                AfterTurn::Begin(self.take_queued().join("\n\n"))
            }
            (SentMessages::Settled, _) => AfterTurn::Finish,
        }
    }

    /// Ends the conversation: the result, then the end of the input.
    pub(super) fn finish(&mut self, end: &TurnEnd, text: &str) -> Vec<Step> {
        let limited = matches!(end, TurnEnd::Limited(_));
        let limited = limited.then_some(Step::Saw(Event::Limited { until: self.resets }));
        let done = match end {
            TurnEnd::Well => self.outcome.well(text),
            TurnEnd::Bounded(why) => self.outcome.bounded(why, text),
            TurnEnd::Badly(why) | TurnEnd::Limited(why) => self.outcome.badly(why, text),
        };
        limited.into_iter().chain([done, Step::Close]).collect()
    }

    /// The process is gone: a failure, unless the conversation was finished before.
    pub(super) fn gone(&mut self, text: &str) -> Vec<Step> {
        self.outcome.gone(text)
    }
}

#[cfg(test)]
mod tests;
