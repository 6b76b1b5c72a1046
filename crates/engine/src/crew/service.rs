//! The service of agents: the keepers of those that run, and the reactions of the rooms above.

use std::ops::Deref;
use std::sync::Arc;

use crate::call::service::Calls;
use crate::crew::hooks::CrewHooks;
use crate::crew::run::{Keepers, MissingVariables};

/// Handle to the crew. Cheap to clone; all clones are the same one.
#[derive(Debug, Clone)]
pub struct Crew(Arc<CrewState>);

/// State behind every clone of [`Crew`].
#[derive(Debug)]
pub struct CrewState {
    calls: Calls,
    pub(crate) keepers: Arc<Keepers>,
    /// Queued agents that lack environment variables
    pub(crate) missing: MissingVariables,
    /// Hooks of the rooms above
    pub(crate) hooks: &'static CrewHooks,
}

impl Deref for Crew {
    type Target = CrewState;

    fn deref(&self) -> &CrewState {
        &self.0
    }
}

impl Deref for CrewState {
    type Target = Calls;

    fn deref(&self) -> &Calls {
        &self.calls
    }
}

impl Crew {
    pub(crate) fn new(calls: Calls, keepers: Arc<Keepers>, hooks: &'static CrewHooks) -> Self {
        Self(Arc::new(CrewState { calls, keepers, missing: MissingVariables::default(), hooks }))
    }
}
