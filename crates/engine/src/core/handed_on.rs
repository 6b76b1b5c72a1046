//! Values of environment variables that people hand on from their shells: to agents with `adjutant run`, `draft` and
//! `resume`, and to the check of work with `adjutant review approve`.
//!
//! Invariants: the values are in memory alone, the record has the names. Each agent that has not ended has what its
//! person handed on, also what its own kind does not get: agents that it drafts may be of another kind. What the author
//! of work in review had is kept until the work is merged or sent back, because its check needs the same.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::run::Variables;
use model::{AgentId, TaskId};

use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::redact;
use crate::core::settings::{ALWAYS_HANDED_ON, Settings};

/// Upper bound on a value that is handed on; the kernel takes no longer one.
const MAX_VALUE_BYTES: usize = 128 * 1024 - 1;

/// Handed-on values.
#[derive(Debug, Default)]
pub(crate) struct HandedOn(Mutex<Values>);

#[derive(Debug, Default)]
struct Values {
    /// Of agents that have not ended
    agents: HashMap<AgentId, Arc<Variables>>,
    /// Of ended authors, by the task whose work is in review
    authors: HashMap<TaskId, Arc<Variables>>,
    /// Of people who approve a task's work
    approvers: HashMap<TaskId, Arc<Variables>>,
}

impl HandedOn {
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

    /// The values for the check of a task's work, those that count most last.
    fn for_check(&self, author: Option<AgentId>, task: TaskId) -> [Option<Arc<Variables>>; 3] {
        let all = self.values();
        let live = author.and_then(|author| all.agents.get(&author));
        [all.authors.get(&task), live, all.approvers.get(&task)].map(Option::<&_>::cloned)
    }
}

impl Core {
    /// Variables for programs that prepare an agent's place: what its person handed on without the credentials of its
    /// kind, and else what the server has.
    pub(crate) fn shared_environment(&self, agent: Option<AgentId>) -> Variables {
        let handed_on = agent.and_then(|agent| self.handed_on.of(agent));
        self.shared_with(handed_on)
    }

    /// The same for the check of a task's work. What the person handed on who approved it counts most.
    pub(crate) fn check_environment(&self, author: Option<AgentId>, task: TaskId) -> Variables {
        self.shared_with(self.handed_on.for_check(author, task).into_iter().flatten())
    }

    fn shared_with(&self, handed_on: impl IntoIterator<Item = Arc<Variables>>) -> Variables {
        let settings = self.settings();
        let known = settings.handed_on_to_checks();
        let mut variables = settings.environment.values.clone();
        for values in handed_on {
            for (name, value) in values.0.iter().filter(|(name, _)| known.contains(name)) {
                set_variable(&mut variables, name, value);
            }
        }
        Variables(variables)
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
