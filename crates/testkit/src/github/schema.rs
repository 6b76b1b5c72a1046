//! From a schema as OpenAPI 3.0 has it to one as JSON Schema has it.

use serde_json::{Map, Value, json};

/// The same schema: `nullable` becomes the type `null`, and examples are left out.
pub(super) fn convert(schema: &Value) -> Value {
    let Value::Object(from) = schema else { return schema.clone() };
    if let Some(reference) = from.get("$ref") {
        // What stands beside a reference does not count in OpenAPI 3.0.
        return json!({ "$ref": reference });
    }
    let mut to = Map::new();
    for (keyword, value) in from {
        let value = match (keyword.as_str(), value) {
            ("nullable" | "example" | "examples" | "description" | "title", _) => continue,
            ("properties" | "patternProperties", Value::Object(fields)) => {
                fields.iter().map(|(name, field)| (name.clone(), convert(field))).collect()
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(parts)) => {
                parts.iter().map(convert).collect()
            }
            ("items" | "additionalProperties" | "not", _) => convert(value),
            _ => value.clone(),
        };
        to.insert(keyword.clone(), value);
    }
    if from.get("nullable") == Some(&Value::Bool(true)) { nullable(to) } else { Value::Object(to) }
}

fn nullable(mut schema: Map<String, Value>) -> Value {
    let Some(Value::String(kind)) = schema.get("type").cloned() else {
        return json!({ "anyOf": [schema, { "type": "null" }] });
    };
    schema.insert("type".to_owned(), json!([kind, "null"]));
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
    }
    Value::Object(schema)
}

/// A body's schema that knows no field but those it names: GitHub takes no notice of others, so a slip would go unseen.
pub(super) fn strict(mut schema: Value) -> Value {
    if let Value::Object(fields) = &mut schema
        && fields.contains_key("properties")
    {
        fields.entry("additionalProperties").or_insert(Value::Bool(false));
    }
    schema
}

/// A value from a path or a query, as the schema's type has it.
pub(super) fn typed(text: &str, schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("integer") => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
        Some("boolean") => text.parse::<bool>().map_or_else(|_| text.into(), Value::from),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_null_may_be_null_in_every_way_of_saying_so() {
        let may_be_null = |schema: Value| {
            let validator = jsonschema::validator_for(&convert(&schema)).unwrap();
            assert!(!validator.is_valid(&json!(7)), "{schema}");
            validator.is_valid(&Value::Null)
        };
        assert!(may_be_null(json!({ "type": "string", "nullable": true })));
        assert!(may_be_null(json!({ "type": "string", "nullable": true, "enum": ["a"] })));
        assert!(may_be_null(json!({ "nullable": true, "allOf": [{ "type": "string" }] })));
        assert!(!may_be_null(json!({ "type": "string", "nullable": false })));
        assert!(!may_be_null(json!({ "type": "string" })));
    }

    #[test]
    fn a_field_may_be_called_like_a_keyword() {
        let schema =
            json!({ "type": "object", "properties": { "nullable": { "type": "string" } } });
        let validator = jsonschema::validator_for(&convert(&schema)).unwrap();
        assert!(!validator.is_valid(&json!({ "nullable": 7 })));
    }
}
