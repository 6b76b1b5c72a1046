//! Overrides from the environment and flags. The variables follow from
//! the configuration itself: `limits.maxPromptBytes` is `ADJUTANT_LIMITS_MAX_PROMPT_BYTES`.

use std::collections::BTreeMap;

use model::nearest::nearest;
use serde_json::Value;

use super::key::within;
use super::{Config, Flag};
use crate::environment::Environment;
use crate::yaml::{self, Problem};

/// Lays the environment and then the flags over a configuration.
pub(crate) fn apply(
    config: &Config,
    env: &Environment,
    flags: &[Flag<'_>],
) -> Result<(Config, Vec<String>), Box<Problem>> {
    let mut over = Overlay::new(config);
    let (described, warnings) = described(config, env);
    for VariableValue { variable, path, value } in described {
        over.set(&variable, &path, &value)?;
    }
    for (path, value) in flags {
        over.set(path, path, value)?;
    }
    Ok((over.config, warnings))
}

/// The variable that decides a key, or a part of it, whatever the file says.
pub(crate) fn decider(config: &Config, env: &Environment, key: &str) -> Option<String> {
    let (described, _) = described(config, env);
    described
        .into_iter()
        .rfind(|described| within(&described.path, key) || within(key, &described.path))
        .map(|described| described.variable)
}

/// Value of a variable.
struct VariableValue {
    variable: String,
    path: String,
    value: String,
}

/// Values of the variables in order of precedence, and the ones without effect.
fn described(config: &Config, env: &Environment) -> (Vec<VariableValue>, Vec<String>) {
    // The database's path is relative to the home in the file, but a variable that other
    // programs share is relative to where it was given.
    let database = env
        .mcp_database_path
        .as_ref()
        .map(|path| env.cwd.join(path).to_string_lossy().into_owned());
    let shared = [
        ("MCP_SERVER_PORT", "server.port", env.mcp_server_port.clone()),
        ("MCP_DATABASE_PATH", "database", database),
        ("MCP_LOG_LEVEL", "server.logLevel", env.mcp_log_level.as_deref().map(str::to_lowercase)),
        ("MCP_TOOL_TIMEOUT", "mcp.toolTimeout", env.mcp_tool_timeout.clone()),
    ];
    let described = |variable: &str, path: &str, value: String| VariableValue {
        variable: variable.to_owned(),
        path: path.to_owned(),
        value,
    };
    let mut all: Vec<VariableValue> = shared
        .into_iter()
        .filter_map(|(variable, path, value)| Some(described(variable, path, value?)))
        .collect();
    let known: BTreeMap<String, String> =
        leaves(config).into_iter().map(|(path, _)| (variable(&path), path)).collect();
    let mut warnings = Vec::new();
    for (name, value) in &env.settings {
        match known.get(name) {
            Some(path) => all.push(described(name, path, value.clone())),
            None => warnings.push(match nearest(name, known.keys().map(String::as_str)) {
                Some(near) => format!("`{name}` sets nothing; did you mean `{near}`?"),
                None => format!("`{name}` sets nothing"),
            }),
        }
    }
    (all, warnings)
}

/// Every key that holds a value, with its value now.
pub(crate) fn leaves(config: &Config) -> Vec<(String, Value)> {
    fn walk(path: &str, value: Value, into: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (key, value) in fields {
                    let path = if path.is_empty() { key } else { format!("{path}.{key}") };
                    walk(&path, value, into);
                }
            }
            leaf => into.push((path.to_owned(), leaf)),
        }
    }
    let mut all = Vec::new();
    // A configuration is made of what JSON has, so this does not fail.
    walk("", serde_json::to_value(config).unwrap_or_default(), &mut all);
    all
}

/// The variable that sets a key.
pub(crate) fn variable(path: &str) -> String {
    path.chars().fold("ADJUTANT_".to_owned(), |mut name, c| {
        if c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
        name
    })
}

/// A configuration that is being changed, and what it looks like as plain values.
struct Overlay {
    config: Config,
    plain: Value,
}

impl Overlay {
    fn new(config: &Config) -> Self {
        Self { config: config.clone(), plain: serde_json::to_value(config).unwrap_or_default() }
    }

    /// Sets one key. `said_by` is who gets the blame.
    fn set(&mut self, said_by: &str, path: &str, text: &str) -> Result<(), Box<Problem>> {
        let pointer = format!("/{}", path.replace('.', "/"));
        let mut why = format!("`{path}` is not a key of the configuration");
        let mut help = None;
        let Some(old) = self.plain.pointer(&pointer).cloned() else {
            return Err(Problem::of(said_by, why));
        };
        for value in readings(&old, text) {
            let mut plain = self.plain.clone();
            if let Some(slot) = plain.pointer_mut(&pointer) {
                *slot = value;
            }
            match serde_json::from_value::<Config>(plain.clone()) {
                Ok(config) => {
                    *self = Self { config, plain };
                    return Ok(());
                }
                Err(error) => {
                    let described = explained(&plain);
                    let (described, advice) =
                        described.unwrap_or_else(|| (error.to_string(), None));
                    why = format!("`{text}` does not fit `{path}`: {described}");
                    help = advice;
                }
            }
        }
        Err(Problem::of(said_by, why).with_help(help))
    }
}

/// Why these values are no configuration, in the words that a file would get.
fn explained(plain: &Value) -> Option<(String, Option<String>)> {
    let text = plain.to_string();
    let problem = yaml::parse::<Config>("", &text, &text).err()?;
    Some((problem.message, problem.help))
}

/// Readings of a text, the likeliest first, given the current value.
fn readings(old: &Value, text: &str) -> Vec<Value> {
    let string = || Value::String(text.to_owned());
    let parsed = || yaml::parse::<Value>("", text, text).unwrap_or_else(|_| string());
    let list = || {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        Value::Array(items.map(|item| Value::String(item.to_owned())).collect())
    };
    match old {
        Value::String(_) => vec![string(), parsed()],
        Value::Array(_) if text.trim_start().starts_with('[') => vec![parsed()],
        Value::Array(_) => vec![list()],
        Value::Null => vec![parsed(), string(), list()],
        Value::Number(_) | Value::Bool(_) | Value::Object(_) => vec![parsed()],
    }
}
