//! Samples of a shape, made from its schema.

use std::fmt::Debug;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Fields that a sample has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fill {
    /// All of them, with values
    Everything,
    /// Only those that are required, with null where that is allowed
    Required,
}

/// Asserts that what the schema allows is read, and is written as it was read.
pub(crate) fn assert_round_trip<T>()
where
    T: Serialize + DeserializeOwned + JsonSchema + PartialEq + Debug,
{
    let name = std::any::type_name::<T>();
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema = settings.for_serialize().into_generator().into_root_schema_for::<T>();
    for fill in [Fill::Everything, Fill::Required] {
        let sample = sample(schema.as_value(), fill);
        let read: T = serde_json::from_value(sample.clone())
            .unwrap_or_else(|error| panic!("{name} does not read its sample: {error}\n{sample:#}"));
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(written, sample, "{name} is written otherwise than it was read");
        assert_eq!(serde_json::from_value::<T>(written).unwrap(), read, "{name}");
    }
}

fn sample(schema: &Value, fill: Fill) -> Value {
    if let Some(fixed) = schema.get("const") {
        return fixed.clone();
    }
    if let Some(words) = schema["enum"].as_array() {
        return choose(words, fill, Value::is_null).clone();
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(branches) = schema[key].as_array() {
            let is_null = |branch: &Value| branch["type"] == "null";
            return sample(choose(branches, fill, is_null), fill);
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => choose(kinds, fill, |kind| kind == "null"),
        kind => kind,
    };
    match kind.as_str() {
        Some("null") => Value::Null,
        Some("boolean") => json!(fill == Fill::Everything),
        Some("integer") => json!(1),
        Some("number") => json!(0.5),
        Some("string") => text(schema),
        Some("array") if fill == Fill::Required => json!([]),
        Some("array") => json!([sample(&schema["items"], fill)]),
        Some("object") => object(schema, fill),
        // Any value at all.
        _ => json!({ "any": ["value", 1] }),
    }
}

/// The null among several if fields are to be empty, else the first that is not.
fn choose(all: &[Value], fill: Fill, is_null: impl Fn(&Value) -> bool) -> &Value {
    let wanted = |one: &&Value| is_null(one) == (fill == Fill::Required);
    all.iter().find(wanted).or_else(|| all.first()).expect("a choice has branches")
}

fn text(schema: &Value) -> Value {
    if schema["format"] == "date-time" {
        return json!("2026-11-18T08:00:00.042Z");
    }
    match schema["pattern"].as_str() {
        Some(pattern) => {
            let prefix = pattern.trim_start_matches('^').split('[').next().unwrap_or_default();
            json!(format!("{prefix}0123456789abcdef"))
        }
        // The only bounded texts of answers are cursors and names of tasks.
        None => match schema["maxLength"].as_u64() {
            Some(24) => json!("c12"),
            Some(80) => json!("TAS-12"),
            _ => json!("text"),
        },
    }
}

fn object(schema: &Value, fill: Fill) -> Value {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema["properties"].as_object().into_iter().flatten();
    let wanted =
        fields.filter(|(name, _)| fill == Fill::Everything || required.contains(&name.as_str()));
    let fields = wanted.map(|(name, field)| (name.clone(), sample(field, fill)));
    Value::Object(fields.collect::<Map<_, _>>())
}
