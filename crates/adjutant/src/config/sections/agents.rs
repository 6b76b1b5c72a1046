//! Settings of each kind of agent.

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use crate::environment::Environment;

/// Kind of agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Anything that speaks the Agent Client Protocol
    Acp,
    /// Any command
    Command,
    /// The built-in agent without a model
    Script,
}

impl Kind {
    /// Its name.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Acp => "acp",
            Self::Command => "command",
            Self::Script => "script",
        }
    }
}

/// Settings of each kind of agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Agents {
    /// The kind of a role that names none
    pub(crate) default: Kind,
    /// Policy for a tool that the role does not name
    pub(crate) asks: AsksName,
    /// Variables that agents of every kind get, by name
    #[serde(deserialize_with = "names")]
    pub(crate) environment: Vec<String>,
    /// Claude Code
    #[serde(deserialize_with = "claude")]
    pub(crate) claude: Runner,
    /// Codex
    #[serde(deserialize_with = "codex")]
    pub(crate) codex: Runner,
    /// Agents of the Agent Client Protocol
    #[serde(deserialize_with = "other")]
    pub(crate) acp: Runner,
    /// Any command
    #[serde(deserialize_with = "other")]
    pub(crate) command: Runner,
    /// The built-in agent
    #[serde(deserialize_with = "other")]
    pub(crate) script: Runner,
}

impl Default for Agents {
    fn default() -> Self {
        Self {
            default: Kind::Claude,
            asks: AsksName::Role,
            environment: Vec::new(),
            claude: Runner::claude(),
            codex: Runner::codex(),
            acp: Runner::default(),
            command: Runner::default(),
            script: Runner::default(),
        }
    }
}

/// Policy for a tool that the role does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AsksName {
    /// The role: what it does not name is refused, and one that names nothing may everything
    Role,
    /// A person, by mail
    Person,
}

impl From<AsksName> for engine::settings::Asks {
    fn from(name: AsksName) -> Self {
        match name {
            AsksName::Role => Self::Role,
            AsksName::Person => Self::Person,
        }
    }
}

/// Settings of one kind of agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Runner {
    /// The program; none where the role names it
    pub(crate) binary: Option<String>,
    /// Arguments that come before all others
    pub(crate) arguments: Vec<String>,
    /// Variables handed on from our own environment, and `NAME=value` for those set here
    pub(crate) environment: Vec<String>,
    /// True to run it as a steerable agent; only Codex has a choice
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) steer: Option<bool>,
}

impl Runner {
    fn claude() -> Self {
        Self::named(
            "claude",
            &[
                "ANTHROPIC_API_KEY",
                "ANTHROPIC_AUTH_TOKEN",
                "ANTHROPIC_BASE_URL",
                "CLAUDE_CODE_OAUTH_TOKEN",
                "CLAUDE_CONFIG_DIR",
            ],
        )
    }

    fn codex() -> Self {
        let environment = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME"];
        Self { steer: Some(true), ..Self::named("codex", &environment) }
    }

    fn named(binary: &str, environment: &[&str]) -> Self {
        Self {
            binary: Some(binary.to_owned()),
            arguments: Vec::new(),
            environment: environment.iter().map(|&name| name.to_owned()).collect(),
            steer: None,
        }
    }

    /// Converts to the engine's settings: names of variables become their values. Agents of every kind get the shared
    /// ones, too.
    pub(crate) fn settings(
        &self,
        env: &Environment,
        shared: &[String],
    ) -> engine::settings::Runner {
        let is_inherited = |entry: &str| !entry.contains('=') && is_handed_on(entry);
        let given = |entry: &&String| {
            let name = entry.split('=').next().unwrap_or_default();
            self.environment.iter().any(|own| own.split('=').next() == Some(name))
        };
        let entries = || shared.iter().filter(|entry| !given(entry)).chain(&self.environment);
        let variable = |entry: &String| match entry.split_once('=') {
            Some((name, value)) => Some((name.to_owned(), value.to_owned())),
            None if is_inherited(entry) => env.variable(entry).map(|value| (entry.clone(), value)),
            None => None,
        };
        engine::settings::Runner {
            launch: host::agent::Runner {
                binary: self.binary.clone(),
                arguments: self.arguments.clone(),
                steer: self.steer.unwrap_or(false),
            },
            environment: entries().filter_map(variable).collect(),
            inherits: entries().filter(|entry| is_inherited(entry)).cloned().collect(),
        }
    }

    /// Reads what is given and keeps the rest: each kind has defaults of its own.
    fn read<'de, D: Deserializer<'de>>(self, from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        struct Given {
            binary: Option<String>,
            arguments: Option<Vec<String>>,
            environment: Option<Vec<String>>,
            steer: Option<bool>,
        }
        let given = Given::deserialize(from)?;
        if given.steer.is_some() && self.steer.is_none() {
            return Err(D::Error::custom("`steer` is for codex alone"));
        }
        Ok(Self {
            binary: given.binary.or(self.binary),
            arguments: given.arguments.unwrap_or(self.arguments),
            environment: given.environment.unwrap_or(self.environment),
            steer: given.steer.or(self.steer),
        })
    }
}

/// Returns whether agents may get a variable of that name: whoever has Slack's tokens speaks with the operator's voice.
fn is_handed_on(name: &str) -> bool {
    !name.starts_with("SLACK_")
}

/// The variables that agents of every kind get, as the engine has them.
pub(crate) fn shared_environment(
    names: &[String],
    env: &Environment,
) -> engine::settings::SharedEnvironment {
    let value = |name: &String| env.variable(name).map(|value| (name.clone(), value));
    engine::settings::SharedEnvironment {
        names: names.to_vec(),
        values: names.iter().filter_map(value).collect(),
    }
}

/// Names of variables that may be handed on.
fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(from)?;
    for name in &names {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let starts_well = !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty();
        if !starts_well || !name.chars().all(is_plain) {
            return Err(D::Error::custom(format!("`{name}` is not the name of a variable")));
        }
        if !is_handed_on(name) || name.starts_with("ADJUTANT_") {
            return Err(D::Error::custom(format!("`{name}` is never handed on to agents")));
        }
    }
    Ok(names)
}

fn claude<'de, D: Deserializer<'de>>(from: D) -> Result<Runner, D::Error> {
    Runner::claude().read(from)
}

fn codex<'de, D: Deserializer<'de>>(from: D) -> Result<Runner, D::Error> {
    Runner::codex().read(from)
}

fn other<'de, D: Deserializer<'de>>(from: D) -> Result<Runner, D::Error> {
    Runner::default().read(from)
}
