//! Reactions of the rooms to an agent's end.

use std::fmt;

use model::Timestamp;
use store::{Agent, Tx};

use crate::core::error::ToolError;
use crate::core::settings::Settings;

/// Reacts to the end of an agent, in the transaction of that end.
pub(crate) type EndReaction =
    fn(&mut Tx<'_>, &Settings, &Agent, Timestamp) -> Result<(), ToolError>;

/// Reactions to an agent's end, in their order. No configuration names them: the engine hands them in, and they travel
/// with the settings because whatever can end an agent has those.
#[derive(Clone, Copy, Default)]
pub struct EndReactions(&'static [EndReaction]);

impl EndReactions {
    pub(crate) const fn new(reactions: &'static [EndReaction]) -> Self {
        Self(reactions)
    }

    /// Runs all of them.
    pub(crate) fn run(
        self,
        tx: &mut Tx<'_>,
        settings: &Settings,
        agent: &Agent,
        now: Timestamp,
    ) -> Result<(), ToolError> {
        self.0.iter().try_for_each(|react| react(tx, settings, agent, now))
    }
}

impl fmt::Debug for EndReactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EndReactions").field(&self.0.len()).finish()
    }
}
