//! The `OpenAPI` document: everything except MCP.
//!
//! Paths and schemas come from the operations that [`operations`] lists; the tools are added from the registry.

use std::sync::LazyLock;

use engine::settings::Settings;
use serde_json::{Map, Value, json};
use wire::operation::{describe, event_data};

use crate::api::operations::operations;

/// The subjects of the operations, with their descriptions.
const TAGS: [(&str, &str); 13] = [
    ("tools", "Tools of agents"),
    ("agents", "Agents; for the operator"),
    ("reviews", "Reviews and merges; for the operator"),
    ("tasks", "Tasks; for the operator"),
    ("plans", "Plans that are run step by step; for the operator"),
    ("loops", "Loops; for the operator"),
    ("mail", "Mail; for the operator"),
    ("record", "Events and recorded calls; for the operator"),
    ("page", "Links and sessions of the page"),
    ("settings", "The configuration and the roles; for the operator"),
    ("slack", "People who give orders in Slack; for the operator"),
    ("webhooks", "Endpoints that receive events; for the operator"),
    ("server", "The server itself"),
];

/// The `OpenAPI` document with the tools that there always are, as JSON.
pub fn document() -> String {
    document_for(&Settings::default())
}

/// The `OpenAPI` document with every tool there is under these settings, as JSON.
pub(crate) fn document_for(settings: &Settings) -> String {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(without_tools);
    with_tools(DOCUMENT.clone(), settings).to_string()
}

fn without_tools() -> Value {
    let described = describe(&operations());
    let mut schemas = described.components();
    // The stream of events is no JSON, so that no operation names what is in it.
    schemas.insert("EventData".to_owned(), event_data().to_value());
    let tag = |(name, description)| json!({ "name": name, "description": description });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Adjutant",
            "description": "A crew of coding agents, for programs that steer it.",
            "license": { "name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE") },
            "version": env!("CARGO_PKG_VERSION"),
        },
        "paths": described.paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{ "token": [] }],
        "tags": TAGS.map(tag),
    })
}

/// Adds the inputs of tools, each of which goes into `Execute`, and their answers, by name.
fn with_tools(mut document: Value, settings: &Settings) -> Value {
    let mut inputs = Map::new();
    let (mut calls, mut answers) = (Vec::new(), Map::new());
    for tool in engine::tools_of(settings) {
        let (name, described) = (tool.name, tool.described());
        let mut input = Value::Object((*described.input).clone());
        input["description"] = described.description.as_str().into();
        inputs.insert(name.to_owned(), input);
        answers.insert(name.to_owned(), Value::Object((*described.output).clone()));
        calls.push(json!({
            "type": "object",
            "properties": {
                "agentId": { "type": "string" },
                "toolName": { "const": name },
                "input": { "$ref": format!("#/components/schemas/{name}") },
            },
            "required": ["toolName"],
        }));
    }
    let schemas = &mut document["components"]["schemas"];
    schemas["Execute"]["oneOf"] = calls.into();
    let names: Vec<&String> = answers.keys().collect();
    schemas["ToolAnswers"] = json!({
        "description": "The answer of each tool, by its canonical name.",
        "type": "object",
        "required": names,
        "properties": answers,
    });
    if let Some(schemas) = schemas.as_object_mut() {
        schemas.extend(inputs);
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_is_the_same_in_both_directions() {
        let described = describe(&operations());
        for (name, request) in &described.requests {
            if let Some(answer) = described.answers.get(name) {
                assert_eq!(request, answer, "{name}");
            }
        }
    }

    #[test]
    fn no_two_types_have_one_name() {
        // A second type of a name is given a number by schemars.
        let components = describe(&operations()).components();
        for name in components.keys() {
            let first = name.trim_end_matches(|c: char| c.is_ascii_digit());
            assert!(first == name || !components.contains_key(first), "{name}");
        }
    }

    #[test]
    fn every_body_and_answer_is_a_component() {
        let document: Value = serde_json::from_str(&document()).unwrap();
        let mut seen = 0;
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let foreign = operation["requestBody"]["description"].is_string();
                let body = Some(&operation["requestBody"]).filter(|_| !foreign);
                let answers = operation["responses"].as_object().unwrap().values();
                for content in answers.chain(body) {
                    let content = &content["content"]["application/json"];
                    if content.is_null() {
                        continue;
                    }
                    let place = content["schema"]["$ref"].as_str();
                    let place = place.unwrap_or_else(|| panic!("{method} {path}: {content}"));
                    let pointer = place.strip_prefix('#').unwrap();
                    assert!(document.pointer(pointer).is_some(), "{method} {path}: {place}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 150, "{seen}");
    }
}
