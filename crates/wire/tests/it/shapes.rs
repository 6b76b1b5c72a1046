//! Compatibility of the shapes of `/api` and of the tools.
//!
//! `golden/shapes/<Name>.json` holds each component of `docs/reference/openapi.json` without its descriptions, and the
//! input and the answer of each tool as `<tool>.json` and `<tool>_answer.json`. A new shape or field is allowed; a
//! changed or removed one must be named in CHANGELOG.md first, as `Shape.field` or `Shape`.
//! `UPDATE_SHAPES=1 cargo nextest run -p wire shapes` writes the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

type Shapes = BTreeMap<String, Value>;

const UPDATE: &str = "run `UPDATE_SHAPES=1 cargo nextest run -p wire shapes` and commit the files";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/shapes")
}

/// Removes annotations. A field may be called `title`, but its schema is not a string.
fn without_annotations(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for name in ["description", "title"] {
                if fields.get(name).is_some_and(Value::is_string) {
                    fields.remove(name);
                }
            }
            fields.values_mut().for_each(without_annotations);
        }
        Value::Array(items) => items.iter_mut().for_each(without_annotations),
        _ => {}
    }
}

/// The shapes as they are now.
fn current() -> Shapes {
    let text = fs::read_to_string(repository().join("docs/reference/openapi.json")).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    let Value::Object(all) = document["components"]["schemas"].take() else { panic!("no schemas") };
    let mut shapes: Shapes = all.into_iter().collect();
    let mut answers = shapes.remove("ToolAnswers").unwrap();
    let Value::Object(answers) = answers["properties"].take() else { panic!("no answers") };
    shapes.extend(answers.into_iter().map(|(tool, answer)| (format!("{tool}_answer"), answer)));
    if let Some(execute) = shapes.get_mut("Execute").and_then(Value::as_object_mut) {
        // One entry for each tool.
        execute.remove("oneOf");
    }
    shapes.values_mut().for_each(without_annotations);
    shapes
}

fn recorded() -> Shapes {
    let read = |entry: fs::DirEntry| {
        let name = entry.path().file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(entry.path()).unwrap();
        (name, serde_json::from_str(&text).unwrap())
    };
    fs::read_dir(golden()).unwrap().map(|entry| read(entry.unwrap())).collect()
}

/// The changelog's section of what is not released yet.
fn unreleased(changelog: &str) -> &str {
    let (_, section) =
        changelog.split_once("## [Unreleased]").expect("CHANGELOG.md has an Unreleased section");
    section.split("\n## ").next().unwrap_or(section)
}

/// True if everything that was allowed or given before still is: equal, or an enumeration with more words.
fn is_kept(old: &Value, new: &Value) -> bool {
    if old == new {
        return true;
    }
    ["enum", "oneOf"].into_iter().any(|key| {
        let (Some(was), Some(is)) = (old[key].as_array(), new[key].as_array()) else {
            return false;
        };
        let rest = |schema: &Value| {
            let mut rest = schema.as_object().cloned().unwrap_or_default();
            rest.remove(key);
            rest
        };
        was.iter().all(|word| is.contains(word)) && rest(old) == rest(new)
    })
}

fn is_required(shape: &Value, field: &str) -> bool {
    shape["required"].as_array().is_some_and(|names| names.iter().any(|name| name == field))
}

/// What a program that knows the old shapes could trip over, as `Shape.field` or `Shape`.
fn breaking(old: &Shapes, new: &Shapes) -> Vec<String> {
    let mut found = Vec::new();
    for (name, was) in old {
        match new.get(name) {
            Some(is) => compare(name, was, is, &mut found),
            None => found.push(name.clone()),
        }
    }
    found
}

/// Compares a schema and those in it: its fields, its elements and its variants.
fn compare(path: &str, was: &Value, is: &Value, found: &mut Vec<String>) {
    let none = Map::new();
    let before = was["properties"].as_object().unwrap_or(&none);
    let after = is["properties"].as_object().unwrap_or(&none);
    for (field, schema) in before {
        let path = format!("{path}.{field}");
        match after.get(field) {
            Some(now) if is_required(was, field) == is_required(is, field) => {
                compare(&path, schema, now, found);
            }
            Some(_) | None => found.push(path),
        }
    }
    // Requests refuse what they do not know: a new field that they need breaks their callers.
    let is_request = is["additionalProperties"] == json!(false);
    let needed = after
        .keys()
        .filter(|field| is_request && !before.contains_key(*field) && is_required(is, field));
    found.extend(needed.map(|field| format!("{path}.{field}")));
    let mut compared = vec!["properties", "required"];
    if was["items"].is_object() && is["items"].is_object() {
        compared.push("items");
        compare(path, &was["items"], &is["items"], found);
    }
    if let (Some(before), Some(after)) = (was["anyOf"].as_array(), is["anyOf"].as_array())
        && before.len() == after.len()
    {
        compared.push("anyOf");
        for (was, is) in before.iter().zip(after) {
            compare(path, was, is, found);
        }
    }
    let frame = |shape: &Value| {
        let mut frame = shape.clone();
        if let Some(frame) = frame.as_object_mut() {
            frame.retain(|key, _| !compared.contains(&key.as_str()));
        }
        frame
    };
    if !is_kept(&frame(was), &frame(is)) {
        found.push(path.to_owned());
    }
}

/// Those of the changes that the changelog does not name.
fn unnamed(changes: Vec<String>, changelog: &str) -> Vec<String> {
    let section = unreleased(changelog);
    let is_named = |change: &String| {
        let shape = change.split('.').next().unwrap_or(change);
        section.contains(&format!("`{change}`")) || section.contains(&format!("`{shape}`"))
    };
    changes.into_iter().filter(|change| !is_named(change)).collect()
}

fn write(shapes: &Shapes) {
    fs::create_dir_all(golden()).unwrap();
    for entry in fs::read_dir(golden()).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    for (name, schema) in shapes {
        let text = serde_json::to_string_pretty(schema).unwrap();
        fs::write(golden().join(format!("{name}.json")), text + "\n").unwrap();
    }
}

#[test]
fn shapes_change_only_with_the_changelog() {
    let (old, new) = (recorded(), current());
    let changelog = fs::read_to_string(repository().join("CHANGELOG.md")).unwrap();
    let unnamed = unnamed(breaking(&old, &new), &changelog);
    assert!(
        unnamed.is_empty(),
        "programs depend on these; name each in backquotes under Unreleased in CHANGELOG.md, or keep it: {unnamed:?}"
    );
    if std::env::var_os("UPDATE_SHAPES").is_some() {
        write(&new);
    } else {
        let differing: Vec<&String> =
            new.keys().filter(|name| old.get(*name) != new.get(*name)).collect();
        assert!(differing.is_empty() && old.len() == new.len(), "{UPDATE}: {differing:?}");
    }
}

fn sample(fields: &Value, required: &[&str]) -> Shapes {
    let shape = json!({ "type": "object", "properties": fields, "required": required });
    Shapes::from([("Pet".to_owned(), shape)])
}

#[test]
fn added_fields_shapes_and_words_break_nothing() {
    let old = sample(&json!({ "kind": { "enum": ["cat"] } }), &["kind"]);
    let mut new = sample(&json!({ "kind": { "enum": ["cat", "dog"] }, "age": {} }), &["kind"]);
    new.insert("Owner".to_owned(), json!({}));
    assert!(breaking(&old, &new).is_empty());
}

#[test]
fn changed_and_removed_fields_and_shapes_are_found() {
    let old = sample(&json!({ "age": { "type": "integer" }, "name": {} }), &["name"]);
    let changed = sample(&json!({ "age": { "type": "string" }, "name": {} }), &["name"]);
    assert_eq!(breaking(&old, &changed), ["Pet.age"]);
    let optional = sample(&json!({ "age": { "type": "integer" }, "name": {} }), &[]);
    assert_eq!(breaking(&old, &optional), ["Pet.name"]);
    let removed = sample(&json!({ "name": {} }), &["name"]);
    assert_eq!(breaking(&old, &removed), ["Pet.age"]);
    assert_eq!(breaking(&old, &Shapes::new()), ["Pet"]);
    let old = sample(&json!({ "kind": { "enum": ["cat", "dog"] } }), &[]);
    let fewer = sample(&json!({ "kind": { "enum": ["cat"] } }), &[]);
    assert_eq!(breaking(&old, &fewer), ["Pet.kind"]);
}

#[test]
fn a_change_inside_a_field_is_found_with_its_path() {
    let shape = |inner: Value| {
        let element =
            json!({ "anyOf": [{ "type": "object", "properties": inner }, { "type": "null" }] });
        sample(&json!({ "toys": { "type": "array", "items": element } }), &[])
    };
    let old = shape(json!({ "name": { "type": "string" } }));
    let more = shape(json!({ "name": { "type": "string" }, "size": {} }));
    assert_eq!(breaking(&old, &more), [""; 0]);
    assert_eq!(breaking(&old, &shape(json!({}))), ["Pet.toys.name"]);
    assert_eq!(breaking(&old, &shape(json!({ "name": {} }))), ["Pet.toys.name"]);
}

#[test]
fn the_answer_of_every_tool_is_a_shape() {
    let (shapes, mut tools) = (current(), 0);
    for name in shapes.keys().filter(|name| name.starts_with("mcp__")) {
        let Some(tool) = name.strip_suffix("_answer") else { continue };
        tools += 1;
        assert!(shapes.contains_key(tool), "{tool}");
        assert_eq!(shapes[name]["type"], "object", "{name}");
    }
    assert_eq!(shapes.keys().filter(|name| name.starts_with("mcp__")).count(), 2 * tools);
    let mut changed = shapes.clone();
    let sent = changed.get_mut("mcp__mail__send_answer").unwrap();
    assert!(sent["properties"].as_object_mut().unwrap().remove("mailId").is_some(), "{sent}");
    assert_eq!(breaking(&shapes, &changed), ["mcp__mail__send_answer.mailId"]);
}

#[test]
fn a_request_that_needs_a_new_field_is_found() {
    let request = |fields: Value, required: &[&str]| {
        let mut shapes = sample(&fields, required);
        shapes.get_mut("Pet").unwrap()["additionalProperties"] = json!(false);
        shapes
    };
    let old = request(json!({}), &[]);
    assert!(breaking(&old, &request(json!({ "name": {} }), &[])).is_empty());
    assert_eq!(breaking(&old, &request(json!({ "name": {} }), &["name"])), ["Pet.name"]);
}

#[test]
fn only_the_unreleased_section_names_a_change() {
    let changes = || vec!["Pet.age".to_owned()];
    let log = "# Changelog\n\n## [Unreleased]\n\n- `Pet.age` is text.\n\n## [0.1.0]\n";
    assert!(unnamed(changes(), log).is_empty());
    assert!(unnamed(changes(), &log.replace("`Pet.age`", "`Pet`")).is_empty());
    let old = "# Changelog\n\n## [Unreleased]\n\n## [0.1.0]\n\n- `Pet.age` is text.\n";
    assert_eq!(unnamed(changes(), old), ["Pet.age"]);
}
