//! `docs/reference/events.md`: every kind of event with its fields, from the schemas of `wire::event`.

use std::fmt::{self, Write as _};

use model::event::EventKind;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use wire::event::{EventData, EventView};

use super::schema::{self, Field};

const HEAD: &str = "\
# Events

<!-- Written by `cargo xtask generate`. Change the structs in `crates/wire/src/event` instead. -->

An event says that something changed. Events are numbered in the order in which the changes were
committed. `adjutant events --json`, `GET /api/events` and its streams give each as:

";

const AFTER_ENVELOPE: &str = "\
`data` depends on the kind, and is described below. A [webhook](../how-to/webhooks.md) receives the
same object as `details`. A field that is not always there is left out where it does not apply.
Kinds and fields may be added at any time, so ignore those that you do not know; a field that is
there keeps its name and its type.

`adjutant events --kind`, `GET /api/events?kind=` and `kinds` of a webhook take these names, or a
whole family as `agent.*`.

";

/// The page.
pub(super) fn page() -> String {
    let mut page = String::from(HEAD);
    // Writing to a String cannot fail.
    _ = table(&mut page, &schema_of::<EventView>());
    page.push_str(AFTER_ENVELOPE);
    let schema = schema_of::<EventData>();
    let mut family = "";
    for kind in EventKind::ALL {
        let (own, _) = kind.name().split_once('.').unwrap_or_default();
        if own != family {
            family = own;
            _ = write!(page, "## {family}\n\n");
        }
        _ = section(&mut page, *kind, &schema);
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// The schema of a shape as it is sent.
fn schema_of<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| settings.inline_subschemas = true);
    match settings.into_generator().into_root_schema_for::<T>().to_value() {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

fn section(page: &mut String, kind: EventKind, all: &Map<String, Value>) -> fmt::Result {
    let variants = all.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let found = variants.into_iter().find(|one| one["properties"]["kind"]["const"] == kind.name());
    let Some(variant) = found else { return Ok(()) };
    let sent = variant["description"].as_str().unwrap_or_default();
    write!(page, "### {}\n\n{sent}.\n\n", kind.name())?;
    for former in kind.former_names() {
        write!(
            page,
            "Earlier versions called it `{former}`. That name still selects it, and recorded events show\n\
             the new one.\n\n"
        )?;
    }
    match variant["properties"]["data"].as_object() {
        Some(data) => table(page, data),
        None => Ok(()),
    }
}

fn table(page: &mut String, schema: &Map<String, Value>) -> fmt::Result {
    page.push_str("| field | type | always there | |\n|---|---|---|---|\n");
    for Field { path, kind, is_required, limits, description } in schema::fields(schema) {
        let always = if is_required { "yes" } else { "" };
        let values = limits.iter().filter(|limit| limit.starts_with("one of "));
        let description: Vec<&str> =
            std::iter::once(description.as_str()).chain(values.map(String::as_str)).collect();
        let description = description.join("; ").replace('|', "\\|");
        writeln!(page, "| `{path}` | {kind} | {always} | {description} |")?;
    }
    page.push('\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_section_with_its_fields() {
        let page = page();
        for kind in EventKind::ALL {
            let heading = format!("### {}\n\n", kind.name());
            let (_, section) = page.split_once(&heading).unwrap();
            let section = section.split("\n### ").next().unwrap();
            assert!(section.lines().any(|line| line.starts_with("| `")), "{section}");
        }
    }

    #[test]
    fn fields_are_described_with_their_values() {
        let page = page();
        let row = "| `tokens.input` | integer | yes | Tokens read, those from a cache included |";
        assert!(page.contains(row), "{page}");
        assert!(page.contains("one of `hook`, `commit`"), "{page}");
        assert!(page.contains("Earlier versions called it `loop.trouble`"), "{page}");
    }
}
