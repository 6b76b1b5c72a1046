//! Handover of environment values to a supervisor through its standard input.
//!
//! An environment holds provider keys and the agent's token. Its values pass through a pipe; `spec.json`
//! keeps the names. Earlier versions wrote values too: [`forget_values`] removes them.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::read_small;
use super::{Spec, cgroup, write_json};
use crate::files::{self, FileError, at};

/// Upper bound on a handover; the kernel allows an environment no more than a few megabytes.
const MAX_HANDOVER_BYTES: u64 = 64 * 1024 * 1024;

/// Prefix of the variables that hand secrets of MCP servers on.
pub(crate) const SLOT_PREFIX: &str = "MCP_SERVER_VALUE_";
/// The variable of the agent's token.
const TOKEN_VARIABLE: &str = "ADJUTANT_TOKEN";

/// Names and values of an environment. Its `Debug` output has the names alone.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Variables(pub Vec<(String, String)>);

impl FromIterator<(String, String)> for Variables {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// Secrets that the server hands to a supervisor.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handover {
    /// The agent's whole environment
    pub environment: Variables,
    /// By which the supervisor recognises the server among those who connect
    #[serde(default)]
    pub control_key: Option<String>,
    /// Control group of the server, in which the supervisor makes one for the agent
    #[serde(default)]
    pub cgroup: Option<PathBuf>,
}

impl fmt::Debug for Handover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handover").field("environment", &self.environment).finish_non_exhaustive()
    }
}

impl Handover {
    /// The handover of a run that nobody asks anything of.
    pub fn new(environment: &[(String, String)]) -> Self {
        Self {
            environment: Variables(environment.to_vec()),
            control_key: None,
            cgroup: cgroup::own().map(Path::to_owned),
        }
    }

    /// Reads a handover to its end. A server that died while it wrote leaves one that is not whole, which
    /// is an error: nothing may be started with half an environment. `None` is a server of an earlier
    /// version, which hands nothing over.
    pub(crate) fn read(from: impl io::Read) -> io::Result<Option<Self>> {
        let mut bytes = Vec::new();
        from.take(MAX_HANDOVER_BYTES).read_to_end(&mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(&bytes)?))
    }

    /// The value of a variable.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let found = self.environment.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The values of those of the variables that there are.
    pub(crate) fn values_of(&self, names: &[Cow<'_, str>]) -> Variables {
        let is_asked = |name: &String| names.iter().any(|asked| asked == name);
        let all = self.environment.0.iter();
        Variables(all.filter(|(name, _)| is_asked(name)).cloned().collect())
    }

    /// A line with the agent's token, and with values of MCP servers as parts of JSON strings, in place of their names.
    /// What is put in is not looked at again.
    pub(crate) fn fill(&self, line: &str) -> String {
        let mut filled = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("${") {
            filled.push_str(before);
            let name = after.split_once('}').map(|(name, _)| name);
            let value =
                name.filter(|name| *name == TOKEN_VARIABLE || name.starts_with(SLOT_PREFIX));
            let value = value.and_then(|name| Some((name, self.value(name)?)));
            if let Some((name, value)) = value {
                let text = Value::from(value).to_string();
                filled.push_str(text.get(1..text.len() - 1).unwrap_or_default());
                rest = after.get(name.len() + 1..).unwrap_or_default();
            } else {
                filled.push_str("${");
                rest = after;
            }
        }
        filled + rest
    }

    /// Returns whether a client knows the server's key.
    pub(crate) fn is_key(&self, key: &str) -> bool {
        let Some(own) = &self.control_key else { return false };
        // Every byte is looked at, so that the time taken tells nothing.
        let differ = own.bytes().zip(key.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b));
        differ == 0 && own.len() == key.len()
    }
}

/// Returns whether a `spec.json` has values of the environment in it, as earlier versions wrote them.
pub(crate) fn has_values(spec: &Spec) -> bool {
    spec.environment.iter().any(|(_, value)| !value.is_empty())
}

/// Rewrites the `spec.json` of a run that an older version left, without the values. Says whether there
/// were any. A file that cannot be understood is removed: nobody can run it, and it may hold secrets.
pub(super) fn forget_values(folder: &Path) -> Result<bool, FileError> {
    let path = folder.join("spec.json");
    // A write that a crash cut short.
    files::remove(&folder.join("spec.json.new"))?;
    let Some(text) = read_small(&path)? else { return Ok(false) };
    match serde_json::from_str::<Spec>(&text) {
        Ok(spec) if has_values(&spec) => {
            write_json(&path, &spec)?;
            Ok(true)
        }
        Ok(_) => Ok(false),
        Err(_) => {
            std::fs::remove_file(&path).map_err(at("remove", &path))?;
            Ok(true)
        }
    }
}

pub(super) mod names {
    //! An environment on disk: its names. Pairs are what earlier versions wrote.

    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use super::Value;

    pub(in crate::run) fn serialize<S: Serializer>(
        environment: &[(String, String)],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        environment.iter().map(|(name, _)| name).collect::<Vec<_>>().serialize(to)
    }

    pub(in crate::run) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<(String, String)>, D::Error> {
        let pair = |entry: Value| match entry {
            Value::String(name) => Ok((name, String::new())),
            pair => serde_json::from_value(pair).map_err(D::Error::custom),
        };
        Vec::<Value>::deserialize(from)?.into_iter().map(pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given() -> Handover {
        let environment = Variables(vec![("KEY".to_owned(), "s3cret".to_owned())]);
        Handover { environment, control_key: Some("k3y".to_owned()), cgroup: None }
    }

    #[test]
    fn a_handover_that_was_cut_short_is_an_error() {
        let whole = serde_json::to_vec(&given()).unwrap();
        assert_eq!(Handover::read(whole.as_slice()).unwrap(), Some(given()));
        for end in 1..whole.len() {
            assert!(Handover::read(&whole[..end]).is_err(), "{end}");
        }
        assert_eq!(Handover::read(&[][..]).unwrap(), None);
    }

    #[test]
    fn a_line_gets_the_token_and_values_of_servers_and_nothing_else() {
        let variables = [
            ("ADJUTANT_TOKEN", "adjag_1"),
            ("MCP_SERVER_VALUE_1", "a\"${ADJUTANT_TOKEN}\n"),
            ("KEY", "k"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let handover = Handover { environment: Variables(variables.into()), ..Handover::default() };
        let line = r#"{"a":"Bearer ${ADJUTANT_TOKEN}","b":"${MCP_SERVER_VALUE_1}","c":"${KEY}${MCP_SERVER_VALUE_2}${"}"#;
        let filled = handover.fill(line);
        let value: Value = serde_json::from_str(&filled).unwrap();
        assert_eq!(value["a"], "Bearer adjag_1");
        assert_eq!(value["b"], "a\"${ADJUTANT_TOKEN}\n");
        assert_eq!(value["c"], "${KEY}${MCP_SERVER_VALUE_2}${");
    }

    #[test]
    fn secrets_are_not_in_debug_output() {
        let shown = format!("{:?}", given());
        assert!(shown.contains("KEY"), "{shown}");
        assert!(!shown.contains("s3cret") && !shown.contains("k3y"), "{shown}");
    }
}
