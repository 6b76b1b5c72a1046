//! Values of environment variables that people hand on from their shells with `adjutant run`, `draft` and `resume`.
//!
//! Invariants: the values are in memory alone, the record has the names. Each agent that has not ended has what its
//! person handed on, also what its own kind does not get: agents that it drafts may be of another kind.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::run::Variables;
use model::AgentId;

use crate::core::handle::Core;
use crate::core::redact;
use crate::core::settings::ALWAYS_HANDED_ON;

/// Handed-on values, by agent.
#[derive(Debug, Default)]
pub(crate) struct HandedOn(Mutex<HashMap<AgentId, Arc<Variables>>>);

impl HandedOn {
    fn map(&self) -> MutexGuard<'_, HashMap<AgentId, Arc<Variables>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what was handed on to an agent, and its secrets out of every text from now on.
    pub(crate) fn keep(&self, agent: AgentId, values: Variables) {
        redact::learn_variables(&values.0);
        self.map().insert(agent, Arc::new(values));
    }

    /// Hands the values of an agent on to another, unless that has its own.
    pub(crate) fn inherit(&self, agent: AgentId, source: AgentId) {
        let mut map = self.map();
        if let Some(values) = map.get(&source).cloned() {
            map.entry(agent).or_insert(values);
        }
    }

    /// The values that were handed on to an agent.
    pub(crate) fn of(&self, agent: AgentId) -> Option<Arc<Variables>> {
        self.map().get(&agent).cloned()
    }

    /// Forgets an agent that has ended.
    pub(crate) fn forget(&self, agent: AgentId) {
        self.map().remove(&agent);
    }
}

impl Core {
    /// Variables for programs that prepare an agent's place: what its person handed on without the credentials of its
    /// kind, and else what the server has.
    pub(crate) fn shared_environment(&self, agent: Option<AgentId>) -> Vec<(String, String)> {
        let shared = &self.settings().environment;
        let is_shared = |name: &String| {
            ALWAYS_HANDED_ON.contains(&name.as_str()) || shared.names.contains(name)
        };
        let handed_on = agent.and_then(|agent| self.handed_on.of(agent)).unwrap_or_default();
        let mut variables = shared.values.clone();
        for (name, value) in handed_on.0.iter().filter(|(name, _)| is_shared(name)) {
            set_variable(&mut variables, name, value);
        }
        variables
    }
}

/// Sets a variable of an environment.
pub(crate) fn set_variable(environment: &mut Vec<(String, String)>, name: &str, value: &str) {
    environment.retain(|(known, _)| known != name);
    environment.push((name.to_owned(), value.to_owned()));
}
