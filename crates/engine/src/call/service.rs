//! The service of calls: known tokens, rates, and the last activity of each agent.

use std::ops::Deref;
use std::sync::Arc;

use model::AgentId;

use crate::call::activity::ActivityLog;
use crate::call::identity::Tokens;
use crate::call::observer::CallObserver;
use crate::call::rate::Rates;
use crate::call::tool::ToolDef;
use crate::call::web_access::Guesses;
use crate::core::handle::Core;
use crate::core::settings::Settings;

/// Lists every tool there is under some settings. The room of the tools hands it in.
pub(crate) type ListTools = fn(&Settings) -> Vec<&'static ToolDef>;

/// Handle to the way of a call. Cheap to clone; all clones are the same one.
#[derive(Debug, Clone)]
pub struct Calls(Arc<CallsState>);

/// State behind every clone of [`Calls`].
#[derive(Debug)]
pub struct CallsState {
    core: Core,
    pub(crate) tokens: Tokens,
    pub(crate) rates: Rates,
    pub(crate) guesses: Guesses,
    pub(crate) activity: ActivityLog,
    /// Lists every tool there is under some settings
    tools_of: ListTools,
    /// Told of every call that an agent made
    pub(crate) observers: Vec<Arc<dyn CallObserver>>,
}

impl Deref for Calls {
    type Target = CallsState;

    fn deref(&self) -> &CallsState {
        &self.0
    }
}

impl Deref for CallsState {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.core
    }
}

impl Calls {
    pub(crate) fn new(
        core: Core,
        tools_of: ListTools,
        observers: Vec<Arc<dyn CallObserver>>,
    ) -> Self {
        Self(Arc::new(CallsState {
            core,
            tokens: Tokens::default(),
            rates: Rates::default(),
            guesses: Guesses::default(),
            activity: ActivityLog::default(),
            tools_of,
            observers,
        }))
    }

    /// Every tool there is under these settings, in the order in which lists show them.
    pub(crate) fn tools_of(&self, settings: &Settings) -> Vec<&'static ToolDef> {
        (self.tools_of)(settings)
    }

    /// Drops what is remembered in memory of an agent whose token is void.
    pub(crate) fn forget_agent(&self, agent: AgentId) {
        self.tokens.forget(agent);
        self.rates.forget(agent);
        self.heads.forget(agent);
    }
}
