//! Values of environment variables that people hand on from their shells: to agents with `adjutant run`, `draft` and
//! `resume`, and to the check of work with `adjutant review approve`.
//!
//! Invariants: the values are in memory alone; the record has the names, and fingerprints of paths. Each agent that has not ended has what its
//! person handed on, also what its own kind does not get: agents that it drafts may be of another kind. What the author
//! of work in review had is kept until the work is merged or sent back, because its check needs the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hmac::{Hmac, KeyInit as _, Mac as _};
use host::run::Variables;
use model::{AgentId, TaskId};
use sha2::Sha256;

use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::redact;
use crate::core::settings::{ALWAYS_HANDED_ON, Settings};

/// Upper bound on a value that is handed on; the kernel takes no longer one.
const MAX_VALUE_BYTES: usize = 128 * 1024 - 1;

/// Handed-on values.
#[derive(Debug, Default)]
pub(crate) struct HandedOnValues(Mutex<Values>);

#[derive(Debug, Default)]
struct Values {
    /// Of agents that have not ended
    agents: HashMap<AgentId, Arc<Variables>>,
    /// Of ended authors, by the task whose work is in review
    authors: HashMap<TaskId, Arc<Variables>>,
    /// Of people who approve a task's work
    approvers: HashMap<TaskId, Arc<Variables>>,
}

impl HandedOnValues {
    fn values(&self) -> MutexGuard<'_, Values> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what was handed on to an agent, and its secrets out of every text from now on.
    pub(crate) fn keep(&self, agent: AgentId, values: Variables) {
        redact::learn_variables(&values.0);
        self.values().agents.insert(agent, Arc::new(values));
    }

    /// Hands the values of an agent on to another, unless that has its own.
    pub(crate) fn inherit(&self, agent: AgentId, source: AgentId) {
        let agents = &mut self.values().agents;
        if let Some(values) = agents.get(&source).cloned() {
            agents.entry(agent).or_insert(values);
        }
    }

    /// The values that were handed on to an agent.
    pub(crate) fn of(&self, agent: AgentId) -> Option<Arc<Variables>> {
        self.values().agents.get(&agent).cloned()
    }

    /// Forgets an agent that has ended. Its values stay for the check of its work, if that is in review.
    pub(crate) fn end(&self, agent: AgentId, in_review: Option<TaskId>) {
        let mut all = self.values();
        if let (Some(values), Some(task)) = (all.agents.remove(&agent), in_review) {
            all.authors.insert(task, values);
        }
    }

    /// Keeps what a person handed on for the check of a task's work.
    pub(crate) fn keep_for_check(&self, task: TaskId, values: Variables) {
        redact::learn_variables(&values.0);
        self.values().approvers.insert(task, Arc::new(values));
    }

    /// Returns whether values are kept for the check of a task's work.
    pub(crate) fn has_for_check(&self, task: TaskId) -> bool {
        let all = self.values();
        all.authors.contains_key(&task) || all.approvers.contains_key(&task)
    }

    /// Forgets what was kept for the check of a task's work.
    pub(crate) fn end_check(&self, task: TaskId) {
        let mut all = self.values();
        all.authors.remove(&task);
        all.approvers.remove(&task);
    }

    /// Adds values that an agent's supervisor still had to those that are kept for the agent.
    pub(crate) fn complete(&self, agent: AgentId, values: &Variables) {
        redact::learn_variables(&values.0);
        let mut all = self.values();
        let kept = all.agents.entry(agent).or_default();
        let is_new = |(name, _): &&(String, String)| variable(&kept.0, name).is_none();
        let new: Vec<_> = values.0.iter().filter(is_new).cloned().collect();
        Arc::make_mut(kept).0.extend(new);
    }

    /// The values for the check of a task's work.
    pub(crate) fn for_check(&self, author: Option<AgentId>, task: TaskId) -> CheckValues {
        let all = self.values();
        let live = author.and_then(|author| all.agents.get(&author));
        let authors = live.or_else(|| all.authors.get(&task)).cloned().unwrap_or_default();
        let approvers = all.approvers.get(&task).cloned().unwrap_or_default();
        CheckValues { authors, approvers }
    }
}

/// Values that are kept for the check of a task's work.
#[derive(Debug, Clone, Default)]
pub(crate) struct CheckValues {
    /// Of the person who started the author
    pub(crate) authors: Arc<Variables>,
    /// Of the person who approves, which count more
    pub(crate) approvers: Arc<Variables>,
}

/// Variables whose values have a fingerprint in the record, so that a later server knows whether its own are the same. They
/// are paths and no secrets.
const FINGERPRINTED: [&str; 2] = ["PATH", "VIRTUAL_ENV"];

/// Returns whether values of that name have a fingerprint.
pub(crate) fn has_fingerprint(name: &str) -> bool {
    FINGERPRINTED.contains(&name)
}

impl Core {
    /// Variables for programs that prepare an agent's place: what its person handed on without the credentials of its
    /// kind, and else what the server has.
    pub(crate) fn shared_environment(&self, agent: Option<AgentId>) -> Variables {
        let handed_on = agent.and_then(|agent| self.handed_on.of(agent)).unwrap_or_default();
        let settings = self.settings();
        let known = settings.handed_on_to_checks();
        let mut variables = settings.environment.values.clone();
        for (name, value) in handed_on.0.iter().filter(|(name, _)| known.contains(name)) {
            set_variable(&mut variables, name, value);
        }
        Variables(variables)
    }

    /// The server's own value of a variable that is handed on.
    pub(crate) fn own_variable(&self, name: &str) -> Option<String> {
        let settings = self.settings();
        let shared = variable(&settings.environment.values, name);
        let agents = || variable(&self.options.agent_environment, name);
        let found = shared.or_else(agents).map(str::to_owned);
        found.or_else(|| {
            let mut operators = self.options.operator_environment.iter();
            let found =
                operators.find(|(known, _)| known == name && ALWAYS_HANDED_ON.contains(&name));
            found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
        })
    }

    /// Fingerprint of the value of a variable that has one. It is keyed, so that nobody without the operator's token can
    /// compare it with a guess.
    pub(crate) fn fingerprint(&self, name: &str, value: &str) -> Option<String> {
        if !has_fingerprint(name) {
            return None;
        }
        let value = if name == "PATH" { absolute_folders(value) } else { value.to_owned() };
        let key = self.options.operator_hash.as_bytes();
        let mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
        let bytes = mac.chain_update(format!("handed on {name}={value}")).finalize().into_bytes();
        let mut shown = String::new();
        for byte in bytes.iter().take(16) {
            write!(shown, "{byte:02x}").ok()?;
        }
        Some(shown)
    }

    /// Fingerprints of those values that have one, by name.
    pub(crate) fn fingerprints(&self, values: &Variables) -> BTreeMap<String, String> {
        let values = values.0.iter();
        values
            .filter_map(|(name, value)| Some((name.clone(), self.fingerprint(name, value)?)))
            .collect()
    }
}

impl Settings {
    /// Names of the variables that are handed on from a person's shell to the check of work that the person approves:
    /// those that agents of every kind get.
    pub(crate) fn handed_on_to_checks(&self) -> BTreeSet<String> {
        let always = ALWAYS_HANDED_ON.map(str::to_owned).into_iter();
        always.chain(self.environment.names.iter().cloned()).collect()
    }
}

/// Checks the variables that a person hands on: their names and their size.
pub(crate) fn accept(known: &BTreeSet<String>, given: Variables) -> Result<Variables, ToolError> {
    let mut accepted = Vec::new();
    for (name, value) in given.0 {
        let refused = |problem: String| {
            ToolError::invalid(format!("`environment.{name}` {problem}"))
                .detail("field", format!("environment.{name}"))
        };
        if !known.contains(&name) {
            let hint = format!("add `{name}` to `agents.environment` and run `adjutant reload`");
            return Err(refused("is not handed on".to_owned()).hint(hint));
        }
        if value.len() > MAX_VALUE_BYTES {
            return Err(refused(format!(
                "is {} bytes; the limit is {MAX_VALUE_BYTES}",
                value.len()
            )));
        }
        if value.contains('\0') {
            return Err(refused("has a NUL byte in it".to_owned()));
        }
        let value = if name == "PATH" { absolute_folders(&value) } else { value };
        if !value.is_empty() {
            accepted.push((name, value));
        }
    }
    Ok(Variables(accepted))
}

/// The folders of a `PATH` that mean the same wherever an agent works: in its worktree, a relative one would be its
/// own to fill.
fn absolute_folders(path: &str) -> String {
    path.split(':').filter(|folder| folder.starts_with('/')).collect::<Vec<_>>().join(":")
}

/// The value of a variable of an environment.
pub(crate) fn variable<'a>(environment: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = environment.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

/// Sets a variable of an environment.
pub(crate) fn set_variable(environment: &mut Vec<(String, String)>, name: &str, value: &str) {
    environment.retain(|(known, _)| known != name);
    environment.push((name.to_owned(), value.to_owned()));
}
