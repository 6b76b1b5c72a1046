//! Variables for the check of work in review, and those that nobody has any more.
//!
//! Values that a person hands on are in memory alone. After a restart each value comes from where it still is: the
//! supervisor of the author, if the author has not ended, or this server's own environment. A path of this server is
//! used only where the record knows by its fingerprint that it is the same. What is missing holds the merge, unless the person said that
//! the server's own environment will do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use host::run::Variables;
use model::task::TaskRef;
use model::{AgentId, TaskId};
use serde::{Deserialize, Serialize};
use store::Tx;

use crate::core::durable;
use crate::core::error::ToolError;
use crate::core::handed_on::{CheckValues, has_fingerprint, set_variable, variable};
use crate::core::handle::Core;
use crate::crew::run::{RunOptions, values_of};

/// Variables of the approving person for the check, as they are recorded: names and fingerprints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct ApproverEnvironment {
    /// Names of the variables that were handed on, with the fingerprints of those that have one
    pub(crate) names: BTreeMap<String, Option<String>>,
    /// True if the server's own environment will do in place of values that are gone
    pub(crate) accepts_servers: bool,
}

impl ApproverEnvironment {
    /// Records the names and fingerprints of values.
    pub(crate) fn of(engine: &Core, values: &Variables) -> Self {
        let named =
            |(name, value): &(String, String)| (name.clone(), engine.fingerprint(name, value));
        Self { names: values.0.iter().map(named).collect(), accepts_servers: false }
    }

    fn read(tx: &Tx<'_>, task: TaskId) -> Result<Self, ToolError> {
        let text = tx.check_environment_get(task)?;
        let decode = |text: String| {
            durable::decode(&text, format_args!("task `{task}`"), "environment of its check")
        };
        Ok(text.map(decode).transpose()?.unwrap_or_default())
    }
}

/// The variables of a check.
#[derive(Debug, Clone, Default)]
pub(crate) struct CheckVariables {
    /// Those that it gets beside the server's own environment
    pub(crate) shared: Variables,
    /// Names of those that it would lack, or have with another value
    pub(crate) missing: Vec<String>,
}

/// Finds the variables for the check of a task's work.
pub(crate) async fn find(
    engine: &Core,
    author: Option<AgentId>,
    task: TaskId,
) -> Result<CheckVariables, ToolError> {
    let mut needs = Needs::read(engine, author, task)?;
    let gone: Vec<String> = needs.gone().cloned().collect();
    if !gone.is_empty() {
        let Variables(found) = values_of(engine, author, &gone).await?;
        Arc::make_mut(&mut needs.kept.authors).0.extend(found);
    }
    Ok(needs.settle(engine))
}

/// The same without asking the supervisor of an author that has not ended: none of its variables is missing.
pub(crate) fn forecast(
    engine: &Core,
    author: Option<AgentId>,
    task: TaskId,
) -> Result<Vec<String>, ToolError> {
    let needs = Needs::read(engine, author, task)?;
    let author = author.map(|id| engine.store.read(|tx| tx.agent_get(id))).transpose()?.flatten();
    if author.is_some_and(|author| author.ended_at().is_none()) {
        return Ok(Vec::new());
    }
    Ok(needs.settle(engine).missing)
}

/// Variables that a check needs, and the values that are still known.
#[derive(Debug)]
struct Needs {
    /// Names that are handed on to checks
    known: BTreeSet<String>,
    /// Of the author, with fingerprints
    authors: BTreeMap<String, Option<String>>,
    approver: ApproverEnvironment,
    kept: CheckValues,
}

impl Needs {
    fn read(engine: &Core, author: Option<AgentId>, task: TaskId) -> Result<Self, ToolError> {
        let settings = engine.settings();
        let (run, approver) = engine.store.read(|tx| {
            let run = author.map(|author| tx.run_get(author)).transpose()?.flatten();
            Ok::<_, ToolError>((run, ApproverEnvironment::read(tx, task)?))
        })?;
        let options = run.as_ref().map(RunOptions::of).transpose()?.unwrap_or_default();
        let RunOptions { environment, handed_on, fingerprints, .. } = options;
        let named = environment.iter().filter(|name| settings.environment.names.contains(name));
        let authors = named.chain(&handed_on);
        let authors = authors.map(|name| (name.clone(), fingerprints.get(name).cloned())).collect();
        let kept = engine.handed_on.for_check(author, task);
        Ok(Self { known: settings.handed_on_to_checks(), authors, approver, kept })
    }

    /// Names of the author's variables of which no value is kept.
    fn gone(&self) -> impl Iterator<Item = &String> {
        let is_kept = |name: &str| {
            variable(&self.kept.authors.0, name)
                .or(variable(&self.kept.approvers.0, name))
                .is_some()
        };
        self.authors.keys().filter(move |name| self.known.contains(*name) && !is_kept(name))
    }

    fn settle(&self, engine: &Core) -> CheckVariables {
        let mut found = CheckVariables {
            shared: Variables(engine.settings().environment.values.clone()),
            missing: Vec::new(),
        };
        for name in &self.known {
            match self.value(engine, name) {
                Ok(Some(value)) => set_variable(&mut found.shared.0, name, &value),
                Ok(None) => {}
                Err(Missing) => found.missing.push(name.clone()),
            }
        }
        found
    }

    /// The value of a variable; nothing where the server's own will do, or none.
    fn value(&self, engine: &Core, name: &str) -> Result<Option<String>, Missing> {
        let kept = |values: &Variables| variable(&values.0, name).map(str::to_owned);
        if let Some(value) = kept(&self.kept.approvers) {
            return Ok(Some(value));
        }
        let authors = kept(&self.kept.authors);
        let approvers = self.approver.names.get(name);
        if approvers.is_none() && authors.is_some() {
            return Ok(authors);
        }
        let Some(wanted) = approvers.or_else(|| self.authors.get(name)) else { return Ok(None) };
        let is_same = |value: &String| {
            !has_fingerprint(name) || wanted.is_some() && engine.fingerprint(name, value) == *wanted
        };
        let own = engine.own_variable(name);
        let found = authors.into_iter().chain(own).find(is_same);
        // Where it leads is no matter of what is checked.
        let is_needed = name != "SSH_AUTH_SOCK" && !self.approver.accepts_servers;
        if found.is_none() && is_needed { Err(Missing) } else { Ok(found) }
    }
}

/// Nobody has the value any more.
struct Missing;

/// Why a check is not run without variables, and what to do.
pub(crate) fn why_missing(engine: &Core, task: &TaskRef, merge: &str, names: &[String]) -> String {
    let listed = |names: &[&String]| {
        let named: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        named.join(" and ")
    };
    let (replaced, absent): (Vec<&String>, Vec<&String>) =
        names.iter().partition(|name| engine.own_variable(name).is_some());
    let mut ways = Vec::new();
    if !replaced.is_empty() {
        ways.push(format!(
            "with the server's {} in place of those of the shell",
            listed(&replaced)
        ));
    }
    if !absent.is_empty() {
        ways.push(format!("without {}, which the author of the work had", listed(&absent)));
    }
    let configured = engine.settings().environment.names.clone();
    let removable: Vec<&String> =
        absent.into_iter().filter(|name| configured.contains(name)).collect();
    let otherwise = if removable.is_empty() {
        String::new()
    } else {
        format!(", or take {} out of `agents.environment`", listed(&removable))
    };
    format!(
        "the check would run {}: the server that had them has ended; in a shell that has them, put it back into the \
         queue with `adjutant merge-queue retry {merge}`, or approve it again with `adjutant review approve {task}`\
         {otherwise}",
        ways.join(", and ")
    )
}
