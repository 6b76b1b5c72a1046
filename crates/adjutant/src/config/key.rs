//! The names of keys: `limits.depth`, and `prices.models."gpt-5.1"` where a name has a dot in it.

use serde_json::Value;

use super::{Config, edit};

/// Keys that are read only at the start.
const AT_START: [&str; 7] = [
    "server",
    "database",
    "cluster",
    "mirror",
    "mcp.progressInterval",
    "github.tokenVariable",
    "github.webhookSecretVariable",
];

/// The names that a key goes through. A name that is there may have dots in it as it is.
pub(crate) fn path(config: &Config, key: &str) -> Vec<String> {
    // A configuration is made of what JSON has, so this does not fail.
    let whole = serde_json::to_value(config).unwrap_or_default();
    let (mut path, mut node, mut rest) = (Vec::new(), Some(&whole), key);
    loop {
        let (name, after) = first(node, rest);
        path.push(name.to_owned());
        node = node.and_then(|node| step(node, name));
        match after {
            Some(after) => rest = after,
            None => return path,
        }
    }
}

/// Value at a path.
pub(crate) fn at<'a>(whole: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(whole, |node, name| step(node, name))
}

/// True for a known key.
pub(crate) fn is_known(config: &Config, path: &[String], value: &Value) -> bool {
    let mut whole = serde_json::to_value(config).unwrap_or_default();
    if at(&whole, path).is_some() {
        return true;
    }
    let sections = path.split_last().map_or(path, |(_, around)| around);
    let is_section = |end: usize| {
        at(&whole, sections.get(..end).unwrap_or_default())
            .is_none_or(|node| node.is_object() || node.is_null())
    };
    if !(0..=sections.len()).all(is_section) {
        return false;
    }
    edit::put(&mut whole, path, value.clone());
    // A value that does not fit is another error, reported with its line.
    match serde_json::from_value::<Config>(whole) {
        Ok(_) => true,
        Err(error) => !error.to_string().starts_with("unknown field"),
    }
}

/// True if a key is read only at the start.
pub(crate) fn is_read_at_start(path: &[String]) -> bool {
    let key = path.join(".");
    AT_START.iter().any(|known| within(&key, known) || within(known, &key))
}

/// True if a key is or lies in a section.
pub(crate) fn within(key: &str, section: &str) -> bool {
    key.strip_prefix(section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn step<'a>(node: &'a Value, name: &str) -> Option<&'a Value> {
    match node {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        other => other.get(name),
    }
}

/// The first name of a key, and what follows its dot.
fn first<'a>(node: Option<&Value>, key: &'a str) -> (&'a str, Option<&'a str>) {
    let cut = |name: &'a str, rest: &'a str| match rest.strip_prefix('.') {
        Some(after) => Some((name, Some(after))),
        None => rest.is_empty().then_some((name, None)),
    };
    let quoted = key.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let known = node.and_then(Value::as_object).into_iter().flatten();
    let longest = known
        .filter_map(|(name, _)| key.split_at_checked(name.len()).filter(|(head, _)| head == name))
        .filter_map(|(name, rest)| cut(name, rest))
        .max_by_key(|(name, _)| name.len());
    quoted
        .and_then(|(name, rest)| cut(name, rest))
        .or(longest)
        .or_else(|| key.split_once('.').map(|(name, rest)| (name, Some(rest))))
        .unwrap_or((key, None))
}

#[cfg(test)]
mod tests;
