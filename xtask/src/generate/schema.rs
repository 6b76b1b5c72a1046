//! A JSON Schema as the rows of a table.

use serde_json::{Map, Value};

/// One field of a schema, however deep it lies.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// Where it stands: `tasks[].title`
    pub(super) path: String,
    /// What it holds
    pub(super) kind: String,
    /// Whether it may be absent
    pub(super) is_required: bool,
    /// What bounds it
    pub(super) limits: Vec<String>,
    /// What it is for, on one line
    pub(super) description: String,
}

/// Every field of an object's schema, in order, each before those inside it.
pub(super) fn fields(schema: &Map<String, Value>) -> Vec<Field> {
    let mut found = Vec::new();
    collect(schema, "", &mut found);
    found
}

fn collect(schema: &Map<String, Value>, prefix: &str, found: &mut Vec<Field>) {
    let required = schema.get("required").and_then(Value::as_array);
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, field) in properties {
        let Some(object) = field.as_object() else { continue };
        let path = format!("{prefix}{name}");
        found.push(Field {
            path: path.clone(),
            kind: kind(object),
            is_required: required.is_some_and(|names| names.contains(&Value::from(name.as_str()))),
            limits: limits(object),
            description: text(object, "description"),
        });
        inside(object, &path, found);
    }
}

/// Goes on with the fields of what a field holds.
fn inside(object: &Map<String, Value>, path: &str, found: &mut Vec<Field>) {
    collect(object, &format!("{path}."), found);
    if let Some(items) = object.get("items").and_then(Value::as_object) {
        inside(items, &format!("{path}[]"), found);
    }
    for choice in choices(object) {
        inside(choice, path, found);
    }
}

fn choices(object: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let listed = ["anyOf", "oneOf"].into_iter().filter_map(|key| object.get(key)?.as_array());
    listed.flatten().filter_map(Value::as_object)
}

fn kind(object: &Map<String, Value>) -> String {
    let mut kinds: Vec<String> = match object.get("type") {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    if object.contains_key("const") && kinds.is_empty() {
        kinds.push("constant".into());
    }
    kinds.extend(choices(object).map(kind));
    if let Some(items) = object.get("items").and_then(Value::as_object) {
        let items = kind(items);
        for kind in kinds.iter_mut().filter(|kind| *kind == "array") {
            *kind = format!("array of {items}");
        }
    }
    kinds.dedup();
    if kinds.is_empty() { "any".into() } else { kinds.join(" or ") }
}

fn limits(object: &Map<String, Value>) -> Vec<String> {
    let bound =
        |key: &str, words: &str| object.get(key).map(|value| format!("{words} {}", plain(value)));
    let mut limits: Vec<String> = [
        bound("minLength", "characters ≥"),
        bound("maxLength", "characters ≤"),
        bound("minimum", "≥"),
        bound("maximum", "≤"),
        bound("minItems", "items ≥"),
        bound("maxItems", "items ≤"),
        bound("format", "format"),
        object.get("pattern").map(|pattern| format!("matches `{}`", plain(pattern))),
        object.get("default").map(|value| format!("default `{value}`")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut names: Vec<String> = Vec::new();
    let listed = object.get("enum").and_then(Value::as_array).into_iter().flatten();
    names
        .extend(listed.filter(|value| !value.is_null()).map(|value| format!("`{}`", plain(value))));
    names.extend(object.get("const").map(|value| format!("`{}`", plain(value))));
    if !names.is_empty() {
        limits.push(format!("one of {}", names.join(", ")));
    }
    let items = object.get("items").and_then(Value::as_object);
    for inner in choices(object).chain(items).flat_map(self::limits) {
        if !limits.contains(&inner) {
            limits.push(inner);
        }
    }
    merge_choices(limits)
}

/// Joins `one of a` and `one of b`, as a choice of constants gives them.
fn merge_choices(limits: Vec<String>) -> Vec<String> {
    let (named, mut others): (Vec<_>, Vec<_>) =
        limits.into_iter().partition(|limit| limit.starts_with("one of "));
    if !named.is_empty() {
        let names: Vec<&str> =
            named.iter().map(|limit| limit.trim_start_matches("one of ")).collect();
        others.push(format!("one of {}", names.join(", ")));
    }
    others
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text(object: &Map<String, Value>, key: &str) -> String {
    let text = object.get(key).and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_fields_become_paths() {
        let schema = json!({
            "required": ["tasks"],
            "properties": {
                "cursor": { "type": ["string", "null"], "description": "Where\n to go on" },
                "state": { "anyOf": [{ "enum": ["A", "B"], "type": "string" }, { "type": "null" }] },
                "tasks": { "type": "array", "items": {
                    "type": "object", "required": ["title"],
                    "properties": { "title": { "type": "string", "maxLength": 9 } } } },
            }
        });
        let rows: Vec<String> = fields(schema.as_object().unwrap())
            .iter()
            .map(|field| {
                format!(
                    "{} | {} | {} | {} | {}",
                    field.path,
                    field.kind,
                    field.is_required,
                    field.limits.join("; "),
                    field.description
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                "cursor | string or null | false |  | Where to go on",
                "state | string or null | false | one of `A`, `B` | ",
                "tasks | array of object | true |  | ",
                "tasks[].title | string | true | characters ≤ 9 | ",
            ]
        );
    }
}
