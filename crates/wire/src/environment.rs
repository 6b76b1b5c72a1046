//! What the server sees of the machine: programs of agents, variables by name, logins.

use std::collections::BTreeMap;
use std::fmt;

use model::TaskId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Variables that are handed on to an agent. Its `Debug` output has the names alone.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct HandedOnVariables(pub BTreeMap<String, String>);

impl fmt::Debug for HandedOnVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Variables for the check of a task's work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckEnvironmentRequest {
    /// Names and values; `handedOnToChecks` of `GET /api/environment` lists the names
    pub environment: HandedOnVariables,
    /// True if the server's own environment will do in place of values that were handed on before and are gone
    #[serde(default)]
    pub accept_servers: bool,
}

/// Variables that the server keeps in memory for the check of a task's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckEnvironment {
    /// The task
    pub task_id: TaskId,
    /// Names of the variables; empty if the task is not in review
    pub names: Vec<String>,
}

/// What the server sees of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerEnvironment {
    /// Names of the variables that `POST /api/runs` takes in `environment`
    pub handed_on: Vec<String>,
    /// Names of the variables that `POST /api/tasks/{ref}/environment` takes
    #[serde(default)]
    pub handed_on_to_checks: Vec<String>,
    /// Kinds of agents that run a program of their own; one more for each program of a role whose login cannot be asked
    pub kinds: Vec<KindStatus>,
}

/// What the server sees of one kind of agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KindStatus {
    /// The kind
    pub kind: String,
    /// Its program, as the configuration names it
    pub program: String,
    /// Where the server finds the program; null if it is not on its PATH
    pub path: Option<String>,
    /// How to install the program
    pub install: String,
    /// Names of the variables that its agents get from the server's environment
    pub variables: Vec<String>,
    /// Whether it is logged in; null if that was not asked for, cannot be asked or the program is not there
    pub login: Option<LoginStatus>,
    /// Reason why it cannot be asked whether it is logged in; null if it can
    #[serde(default)]
    pub login_unknown: Option<String>,
    /// Outcome of a call to its provider; null if none was asked for
    pub call: Option<LoginStatus>,
}

/// Outcome of a look at a login, or of a call with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginStatus {
    /// True if it works
    pub ok: bool,
    /// Output of the program
    pub message: String,
    /// What to do if it does not work
    pub advice: Option<String>,
}
