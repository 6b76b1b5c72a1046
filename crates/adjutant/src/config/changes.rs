//! Differences between two readings of configuration and roles, in the words of the files.

mod grants;

use std::collections::{BTreeMap, BTreeSet};

use engine::settings::{Role, Settings};
use host::agent::role_keys;
use serde::Serialize;
use serde_json::Value;
use wire::server::SettingsChange;

use self::grants::{Grant, names_in};
use super::{Config, hide};

/// Upper bound on the characters of one value.
const MAX_VALUE: usize = 120;
/// Name of a text that is too long to be shown.
const PROMPT: &str = "prompt";
/// Fields that a new role or category is described by, before and behind its programs.
const SUMMARY_FIELDS: [&str; 2] = ["category", "agent"];
const RIGHTS_FIELDS: [&str; 6] = ["tools", "disallowedTools", "allow", "deny", "sandbox", "mcp"];

/// Configuration and settings, as they were read together.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) config: Config,
    pub(crate) settings: Settings,
}

/// Fields of a role, a category or a configuration, each with its value.
type Fields = BTreeMap<String, Value>;

/// What differs between two readings: categories, roles, and the keys of the configuration.
pub(crate) fn between(before: &Reading, after: &Reading) -> Vec<SettingsChange> {
    let mut all = Vec::new();
    compare(&mut all, "category", &categories(&before.settings), &categories(&after.settings));
    compare(&mut all, "role", &roles(&before.settings), &roles(&after.settings));
    servers(&mut all, &before.settings, &after.settings);
    let (was, is) = (keys(&before.config), keys(&after.config));
    for (key, was, is) in differences(&was, &is) {
        let change = words("", was, is);
        all.push(SettingsChange { subject: key.to_owned(), change, widens: widens(key, was, is) });
    }
    all
}

/// Adds the MCP servers of the project that are new, gone or others. What they are is not told: it may hold secrets.
fn servers(all: &mut Vec<SettingsChange>, before: &Settings, after: &Settings) {
    let find = |settings: &Settings, name: &str| {
        settings.project_servers.iter().find(|server| server.name == name).cloned()
    };
    let known = before.project_servers.iter().chain(&after.project_servers);
    let names: BTreeSet<&String> = known.map(|server| &server.name).collect();
    for name in names {
        let (change, widens) = match (find(before, name), find(after, name)) {
            (was, is) if was == is => continue,
            (None, _) => ("is new", true),
            (_, None) => ("is gone", false),
            _ => ("is another", true),
        };
        let subject = format!("MCP server {name}");
        all.push(SettingsChange { subject, change: change.to_owned(), widens });
    }
}

/// Adds what differs between items of one sort: those that are new or gone, and the fields of the others.
fn compare(
    all: &mut Vec<SettingsChange>,
    sort: &str,
    before: &BTreeMap<String, Fields>,
    after: &BTreeMap<String, Fields>,
) {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let subject = format!("{sort} {name}");
        match (before.get(name), after.get(name)) {
            (Some(was), Some(is)) => {
                for (field, was, is) in differences(was, is) {
                    let change = words(field, was, is);
                    let widens = widens(field, was, is);
                    all.push(SettingsChange { subject: subject.clone(), change, widens });
                }
            }
            (None, Some(is)) => {
                all.push(SettingsChange { subject, change: introduction(is), widens: true });
            }
            (_, None) => {
                all.push(SettingsChange { subject, change: "is gone".into(), widens: false });
            }
        }
    }
}

/// A new role or category in a few words.
fn introduction(fields: &Fields) -> String {
    let describe = |name: &str| {
        let value = fields.get(name).filter(|value| !is_nothing(value))?;
        Some(format!("{name} {}", value_text(value)))
    };
    let programs = role_keys().into_iter().map(|(_, key)| key.name);
    let names = SUMMARY_FIELDS.into_iter().chain(programs).chain(RIGHTS_FIELDS);
    let told: Vec<String> = names.filter_map(describe).collect();
    if told.is_empty() { "is new".to_owned() } else { format!("is new: {}", told.join(", ")) }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        other => other.as_str() == Some("none"),
    }
}

/// Fields that differ, with both values.
fn differences<'a>(
    before: &'a Fields,
    after: &'a Fields,
) -> impl Iterator<Item = (&'a str, &'a Value, &'a Value)> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    names.into_iter().filter_map(|name| {
        let was = before.get(name).unwrap_or(&Value::Null);
        let is = after.get(name).unwrap_or(&Value::Null);
        (was != is).then_some((name.as_str(), was, is))
    })
}

/// How a field changed.
fn words(field: &str, was: &Value, is: &Value) -> String {
    if field == PROMPT {
        return "has another prompt".to_owned();
    }
    let label = if field.is_empty() { String::new() } else { format!("{field} ") };
    match (names_in(was), names_in(is)) {
        (Some(was), Some(is)) if !(was.is_empty() && is.is_empty()) => {
            let gained = listed("gains", is.iter().filter(|name| !was.contains(name)));
            let lost = listed("loses", was.iter().filter(|name| !is.contains(name)));
            match (gained, lost) {
                (None, None) => format!("{label}has another order"),
                (gained, lost) => {
                    let parts: Vec<String> = gained.into_iter().chain(lost).collect();
                    format!("{label}{}", parts.join(", "))
                }
            }
        }
        _ if is_nested(was) || is_nested(is) => format!("{label}has other values"),
        _ => format!("{label}{} → {}", value_text(was), value_text(is)),
    }
}

fn listed<'a>(verb: &str, names: impl Iterator<Item = &'a &'a str>) -> Option<String> {
    let names: Vec<&str> = names.copied().collect();
    (!names.is_empty()).then(|| format!("{verb} {}", cut(&names.join(", "))))
}

/// True for values that may hold addresses or secrets below.
fn is_nested(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| item.is_object() || item.is_array()),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    }
}

fn value_text(value: &Value) -> String {
    match (value, names_in(value)) {
        (_, Some(names)) => cut(&format!("[{}]", names.join(", "))),
        (Value::Null, _) => "unset".to_owned(),
        (Value::String(text), _) => cut(text),
        (other, _) => cut(&other.to_string()),
    }
}

fn cut(text: &str) -> String {
    crate::terminal::render::short(text, MAX_VALUE)
}

/// Returns whether agents may do more after a change of a field. A change of what is run counts.
fn widens(field: &str, was: &Value, is: &Value) -> bool {
    Grant::of(field).is_given_by(was, is)
}

fn roles(settings: &Settings) -> BTreeMap<String, Fields> {
    let fields = |role: &Role| fields_of(role);
    settings.roles.iter().map(|(name, role)| (name.clone(), fields(role))).collect()
}

fn categories(settings: &Settings) -> BTreeMap<String, Fields> {
    let policy = &settings.policy;
    let one = |name: &str| Some((name.to_owned(), fields_of(policy.get(name)?)));
    policy.names().filter_map(one).collect()
}

/// The keys of a configuration, but for the categories, which count as they come out.
fn keys(config: &Config) -> Fields {
    let mut leaves = config.leaves();
    for (_, value) in &mut leaves {
        hide(value);
    }
    leaves.into_iter().filter(|(key, _)| !key.starts_with("categories")).collect()
}

/// The fields of a role or a category, by the names that they have in files.
fn fields_of(item: &impl Serialize) -> Fields {
    let mut fields = Fields::new();
    // It is made of what JSON has, so this does not fail.
    add_fields(&mut fields, "", serde_json::to_value(item).unwrap_or_default());
    fields
}

fn add_fields(fields: &mut Fields, path: &str, value: Value) {
    match value {
        Value::Object(inner) => {
            for (name, value) in inner {
                let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                add_fields(fields, &path, value);
            }
        }
        leaf => {
            let name = field_name(path);
            let value = match (name.as_str(), leaf) {
                ("sandbox" | "worktree", Value::String(word)) => word.to_lowercase().into(),
                // What every role has is not told.
                ("mcp", Value::String(word)) if word == "all" => Value::Null,
                (_, leaf) => leaf,
            };
            fields.insert(name, value);
        }
    }
}

/// Name of a field in a role's file or in the configuration.
fn field_name(path: &str) -> String {
    match path {
        "rules.allow" => "allow".to_owned(),
        "rules.deny" => "deny".to_owned(),
        "kind" => "agent".to_owned(),
        "review_required" => "review.required".to_owned(),
        path => {
            let path = path.strip_prefix("other.").unwrap_or(path);
            let mut name = String::new();
            let mut is_next_upper = false;
            for c in path.chars() {
                match c {
                    '_' => is_next_upper = true,
                    c if is_next_upper => {
                        name.extend(c.to_uppercase());
                        is_next_upper = false;
                    }
                    c => name.push(c),
                }
            }
            name
        }
    }
}

#[cfg(test)]
mod tests;
