//! Shapes of event payloads, held against golden files and against rows that an earlier version wrote.
//!
//! `golden/events/<kind>.json` holds a payload with every field as `full` and, where fields may be absent or null, one
//! without them as `minimal`. A payload must read and be written again exactly. `golden/recorded-events.jsonl` holds
//! rows as they stand in databases; it is only ever added to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use model::event::EventKind;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use wire::event::{EventData, EventView};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The golden payloads of a kind, by name.
fn payloads(kind: EventKind) -> Map<String, Value> {
    let path = golden().join(format!("events/{}.json", kind.name()));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("every kind has a golden file, {}: {error}", path.display())
    });
    serde_json::from_str(&text).unwrap()
}

/// The schema of a kind's payload as it is written.
fn schema(kind: EventKind) -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<EventData>().to_value();
    let of_kind = |one: &&Value| one["properties"]["kind"]["const"] == kind.name();
    let variants = schema["oneOf"].as_array().unwrap();
    variants.iter().find(of_kind).unwrap()["properties"]["data"].clone()
}

/// Every field of a schema, as `tokens.input` or `reservations[].id`, and whether it may be absent or null.
fn fields(schema: &Value, prefix: &str, found: &mut Vec<(String, bool)>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}{name}");
        let is_required = schema["required"]
            .as_array()
            .is_some_and(|names| names.contains(&name.as_str().into()));
        let null = Value::from("null");
        let is_nullable = field["type"].as_array().is_some_and(|types| types.contains(&null))
            || field["anyOf"]
                .as_array()
                .is_some_and(|any| any.iter().any(|one| one["type"] == null));
        fields(field, &format!("{path}."), found);
        fields(&field["items"], &format!("{path}[]."), found);
        found.push((path, !is_required || is_nullable));
    }
}

/// Every field of a payload that is not null, named as those of its schema.
fn filled(value: &Value, prefix: &str, found: &mut BTreeSet<String>) {
    for (name, field) in value.as_object().into_iter().flatten() {
        let path = format!("{prefix}{name}");
        filled(field, &format!("{path}."), found);
        for item in field.as_array().into_iter().flatten() {
            filled(item, &format!("{path}[]."), found);
        }
        if !field.is_null() {
            found.insert(path);
        }
    }
}

#[test]
fn every_kind_is_written_exactly_as_its_golden_file_says() {
    for kind in EventKind::ALL {
        for (name, payload) in payloads(*kind) {
            let shape = format!("the {name} payload of `{}`", kind.name());
            let read = EventData::from_json(*kind, &payload).unwrap_or_else(|error| {
                panic!(
                    "{shape} does not read any more: {error}. Programs depend on it: if the change is meant, \
                     name `{}` in CHANGELOG.md and change its golden file",
                    kind.name()
                )
            });
            assert_eq!(read.kind(), *kind);
            let written = read.to_json();
            for (field, value) in payload.as_object().unwrap() {
                assert_eq!(
                    written.get(field),
                    Some(value),
                    "{shape} lost or changed `{field}`. Programs depend on it: if the change is meant, name `{}` in \
                     CHANGELOG.md and change its golden file",
                    kind.name()
                );
            }
            assert_eq!(written, payload, "{shape} has new fields: add them to its golden file");
        }
    }
}

#[test]
fn golden_files_show_every_field() {
    for kind in EventKind::ALL {
        let payloads = payloads(*kind);
        let (mut all, mut shown) = (Vec::new(), BTreeSet::new());
        fields(&schema(*kind), "", &mut all);
        filled(&payloads["full"], "", &mut shown);
        let missing: Vec<&String> =
            all.iter().map(|(path, _)| path).filter(|path| !shown.contains(*path)).collect();
        assert!(missing.is_empty(), "the full payload of `{}` lacks {missing:?}", kind.name());
        let is_optional = all.iter().any(|(_, is_optional)| *is_optional);
        assert_eq!(
            payloads.contains_key("minimal"),
            is_optional,
            "a minimal payload of `{}` stands in its file where, and only where, fields may be absent or null",
            kind.name()
        );
    }
}

#[test]
fn no_golden_file_is_left_of_a_kind_that_is_gone() {
    let files = std::fs::read_dir(golden().join("events")).unwrap();
    let names: BTreeSet<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let kinds = EventKind::ALL.iter().map(|kind| format!("{}.json", kind.name()));
    assert_eq!(names, kinds.collect());
}

/// Rows of an earlier version: the name of the kind as it is stored, and the payload.
fn recorded() -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(golden().join("recorded-events.jsonl")).unwrap();
    let row = |line: &str| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        (row["kind"].as_str().unwrap().to_owned(), row["data"].take())
    };
    text.lines().map(row).collect()
}

#[test]
fn recorded_rows_of_every_kind_read_and_lose_nothing() {
    let mut seen = BTreeSet::new();
    for (name, data) in recorded() {
        let kind = EventKind::parse(&name).unwrap_or_else(|| panic!("`{name}` is not known"));
        let read = EventData::from_json(kind, &data);
        let read = read.unwrap_or_else(|error| panic!("{name} {data}: {error}"));
        assert_eq!(read.to_json(), data, "{name}");
        seen.insert(kind.name());
    }
    assert_eq!(seen, EventKind::ALL.iter().map(|kind| kind.name()).collect());
}

#[test]
fn fields_of_a_later_version_are_passed_over() {
    for (name, data) in recorded() {
        let kind = EventKind::parse(&name).unwrap();
        let mut newer = data.clone();
        newer["fieldOfALaterVersion"] = Value::from("x");
        assert_eq!(EventData::from_json(kind, &newer).unwrap().to_json(), data, "{name}");
    }
}

#[test]
fn names_in_the_schema_are_those_of_the_kinds() {
    for kind in EventKind::ALL {
        let data = EventData::from_json(*kind, &payloads(*kind)["full"]).unwrap();
        assert_eq!(serde_json::to_value(data).unwrap()["kind"], kind.name());
    }
}

#[test]
fn a_payload_that_is_not_of_its_kind_is_an_error() {
    let view = serde_json::json!({
        "number": 1, "kind": "mail.read", "at": "2026-11-18T08:00:00.000Z", "agentId": null, "taskId": null,
        "data": { "mailId": 7 },
    });
    let view: EventView = serde_json::from_value(view).unwrap();
    assert!(view.decode().is_err());
}
