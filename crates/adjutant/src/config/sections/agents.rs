//! Settings of each kind of agent.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};

use crate::environment::Environment;
use crate::yaml;

/// Kind of agent, one of [`host::agent::KINDS`].
#[derive(Clone, Copy)]
pub(crate) struct Kind(&'static dyn host::agent::Kind);

/// Names of all kinds.
static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| Kind::all().map(Kind::name).collect());

/// Keys of the section: its own, and one for each kind.
static KEYS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    ["default", "asks", "environment"].into_iter().chain(Kind::all().map(Kind::name)).collect()
});

impl Kind {
    /// Every kind.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        host::agent::KINDS.iter().copied().map(Self)
    }

    /// Names of all kinds.
    pub(crate) fn names() -> &'static [&'static str] {
        &NAMES
    }

    /// The kind of that name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        host::agent::kind(name).map(Self)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        self.0.name()
    }

    /// Command that installs its program.
    pub(crate) fn install(self) -> Option<&'static str> {
        self.0.install()
    }

    /// Key of a role's file that names its program.
    pub(crate) fn role_key(self) -> Option<host::agent::RoleKey> {
        self.0.role_key()
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Kind {}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        Self::of_name(&name).ok_or_else(|| D::Error::unknown_variant(&name, Self::names()))
    }
}

/// Settings of each kind of agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agents {
    /// The kind of a role that names none
    pub(crate) default: Kind,
    /// Policy for a tool that the role does not name
    pub(crate) asks: AsksName,
    /// Variables that agents of every kind get, by name
    pub(crate) environment: Vec<String>,
    /// By the kind's name
    runners: BTreeMap<&'static str, Runner>,
}

impl Agents {
    /// Settings of a kind.
    pub(crate) fn runner(&self, kind: Kind) -> Runner {
        self.runners.get(kind.name()).cloned().unwrap_or_default()
    }
}

impl Default for Agents {
    fn default() -> Self {
        Self {
            // The first of all kinds.
            default: Kind(host::agent::KINDS[0]),
            asks: AsksName::Role,
            environment: Vec::new(),
            runners: Kind::all().map(|kind| (kind.name(), Runner::of(kind))).collect(),
        }
    }
}

impl Serialize for Agents {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(KEYS.len()))?;
        map.serialize_entry("default", &self.default)?;
        map.serialize_entry("asks", &self.asks)?;
        map.serialize_entry("environment", &self.environment)?;
        for kind in Kind::all() {
            map.serialize_entry(kind.name(), &self.runner(kind))?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Agents {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_struct("Agents", &KEYS, AgentsVisitor)
    }
}

/// Reads the section: what is not given keeps its default.
struct AgentsVisitor;

impl<'de> Visitor<'de> for AgentsVisitor {
    type Value = Agents;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the settings of each kind of agent")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Agents, A::Error> {
        let mut agents = Agents::default();
        while let Some(key) = map.next_key()? {
            match key {
                AgentsKey::Default => agents.default = map.next_value()?,
                AgentsKey::Asks => agents.asks = map.next_value()?,
                AgentsKey::Environment => {
                    agents.environment = map.next_value::<VariableNames>()?.0;
                }
                AgentsKey::Kind(kind) => {
                    let runner = map.next_value_seed(agents.runner(kind))?;
                    agents.runners.insert(kind.name(), runner);
                }
            }
        }
        Ok(agents)
    }
}

/// Key of the section.
enum AgentsKey {
    Default,
    Asks,
    Environment,
    Kind(Kind),
}

impl<'de> Deserialize<'de> for AgentsKey {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match String::deserialize(from)?.as_str() {
            "default" => Ok(Self::Default),
            "asks" => Ok(Self::Asks),
            "environment" => Ok(Self::Environment),
            name => Kind::of_name(name)
                .map(Self::Kind)
                .ok_or_else(|| D::Error::unknown_field(name, &KEYS)),
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
    /// Defaults of a kind, which its own part of the configuration file gives.
    fn of(kind: Kind) -> Self {
        static DEFAULTS: LazyLock<BTreeMap<&str, Runner>> = LazyLock::new(|| {
            let read = |kind: Kind| {
                let part = yaml::parse::<BTreeMap<String, Runner>>(
                    kind.name(),
                    kind.0.config(),
                    kind.0.config(),
                );
                part.ok().and_then(|mut part| part.remove(kind.name()))
            };
            Kind::all().filter_map(|kind| Some((kind.name(), read(kind)?))).collect()
        });
        DEFAULTS.get(kind.name()).cloned().unwrap_or_default()
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
}

impl<'de> DeserializeSeed<'de> for Runner {
    type Value = Self;

    /// Reads what is given and keeps the rest: each kind has defaults of its own.
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self, D::Error> {
        let given = GivenRunner::deserialize(from)?;
        if given.steer.is_some() && self.steer.is_none() {
            return Err(D::Error::custom("this kind of agent cannot be told to `steer`"));
        }
        Ok(given.over(self))
    }
}

/// Returns whether agents may get a variable of that name: a program with Slack's tokens speaks with the operator's voice.
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
struct VariableNames(Vec<String>);

impl<'de> Deserialize<'de> for VariableNames {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        names(from).map(Self)
    }
}

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

impl<'de> Deserialize<'de> for Runner {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(GivenRunner::deserialize(from)?.over(Self::default()))
    }
}

/// Settings of a kind, as far as they are given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct GivenRunner {
    binary: Option<String>,
    arguments: Option<Vec<String>>,
    environment: Option<Vec<String>>,
    steer: Option<bool>,
}

impl GivenRunner {
    fn over(self, defaults: Runner) -> Runner {
        Runner {
            binary: self.binary.or(defaults.binary),
            arguments: self.arguments.unwrap_or(defaults.arguments),
            environment: self.environment.unwrap_or(defaults.environment),
            steer: self.steer.or(defaults.steer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_explains_its_settings_and_no_others() {
        for kind in Kind::all() {
            let part: BTreeMap<String, Runner> =
                yaml::parse(kind.name(), kind.0.config(), kind.0.config()).unwrap();
            assert_eq!(part.keys().collect::<Vec<_>>(), [kind.name()]);
            let runner = Runner::of(kind);
            assert_eq!(part[kind.name()], runner);
            assert_eq!(kind.install().is_some(), runner.binary.is_some(), "{kind:?}");
        }
    }

    #[test]
    fn what_is_not_given_keeps_the_default_of_its_kind() {
        let agents: Agents =
            serde_json::from_str(r#"{"codex": {"binary": "/opt/codex"}, "default": "script"}"#)
                .unwrap();
        let codex = Kind::of_name("codex").unwrap();
        let given = Runner { binary: Some("/opt/codex".into()), ..Runner::of(codex) };
        assert_eq!((agents.runner(codex), agents.default.name()), (given, "script"));
        let read = |text: &str| serde_json::from_str::<Agents>(text).unwrap_err().to_string();
        let names = "`claude`, `codex`, `acp`, `command`, `script`";
        let unknown = read(r#"{"cluade": {}}"#);
        let wanted = format!(
            "unknown field `cluade`, expected one of `default`, `asks`, `environment`, {names}"
        );
        assert!(unknown.starts_with(&wanted), "{unknown}");
        let unknown = read(r#"{"default": "gemini"}"#);
        let wanted = format!("unknown variant `gemini`, expected one of {names}");
        assert!(unknown.starts_with(&wanted), "{unknown}");
        assert!(read(r#"{"claude": {"steer": true}}"#).contains("cannot be told to `steer`"));
    }
}
