//! What holds of every tool, by a loop over the registry: the next tool is covered before it is
//! written.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use engine::toolsets::TOOLSETS;
use engine::{TOOLS, ToolDef};
use model::policy::{BUILT_IN_CATEGORIES, Rules};
use serde_json::{Map, Value, json};

use crate::support::{Who, World};

fn properties(tool: &ToolDef) -> Map<String, Value> {
    tool.described().input["properties"].as_object().cloned().unwrap_or_default()
}

#[test]
fn names_are_canonical_unique_and_in_the_order_of_the_toolsets() {
    let mut seen = BTreeSet::new();
    let mut order = Vec::new();
    for tool in TOOLS {
        assert_eq!(tool.name, format!("mcp__{}__{}", tool.toolset(), tool.bare()));
        assert!(TOOLSETS.contains(&tool.toolset()), "{}", tool.name);
        assert!(seen.insert(tool.joined()), "`{}` stands for two tools", tool.joined());
        order.push(TOOLSETS.iter().position(|set| *set == tool.toolset()));
    }
    assert!(order.is_sorted(), "toolsets are not mixed");
}

#[test]
fn everything_is_described() {
    for tool in TOOLS {
        let described = tool.described();
        assert!(!described.title.is_empty() && !described.title.ends_with('.'), "{}", tool.name);
        for (field, schema) in properties(tool) {
            assert!(schema["description"].is_string(), "{}: `{field}`", tool.name);
        }
        assert_eq!(described.output["type"], "object", "{}: clients want an object", tool.name);
    }
}

/// Every string from outside has a maximum, and nothing unknown gets in.
#[test]
fn every_input_is_bounded() {
    fn check(tool: &str, at: &str, schema: &Value) {
        let kinds = match &schema["type"] {
            Value::Array(kinds) => kinds.clone(),
            one => vec![one.clone()],
        };
        let bounded = ["maxLength", "pattern", "enum", "const", "format"];
        if kinds.contains(&json!("string")) {
            assert!(bounded.iter().any(|key| !schema[key].is_null()), "{tool}: {at} has no limit");
        }
        if kinds.contains(&json!("array")) {
            assert!(!schema["maxItems"].is_null(), "{tool}: {at} has no limit");
        }
        if kinds.contains(&json!("object")) {
            assert_eq!(schema["additionalProperties"], json!(false), "{tool}: {at} is open");
        }
        for key in ["properties", "items", "anyOf", "oneOf"] {
            match &schema[key] {
                Value::Object(inner) if key == "properties" => {
                    for (name, schema) in inner {
                        check(tool, &format!("{at}.{name}"), schema);
                    }
                }
                Value::Array(inner) => inner.iter().for_each(|schema| check(tool, at, schema)),
                inner @ Value::Object(_) => check(tool, &format!("{at}[]"), inner),
                _ => {}
            }
        }
    }
    for tool in TOOLS {
        check(tool.name, "input", &Value::Object((*tool.described().input).clone()));
    }
}

#[test]
fn schemas_are_as_they_were() {
    for toolset in TOOLSETS {
        let tools: Map<String, Value> = TOOLS
            .iter()
            .filter(|tool| tool.toolset() == toolset)
            .map(|tool| {
                let described = tool.described();
                let value = json!({
                    "description": described.description,
                    "input": *described.input,
                    "output": *described.output,
                    "critical": tool.critical,
                    "effect": format!("{:?}", tool.effect()),
                });
                (tool.bare().to_owned(), value)
            })
            .collect();
        if !tools.is_empty() {
            insta::assert_json_snapshot!(format!("tools_{toolset}"), tools);
        }
    }
}

#[tokio::test]
async fn every_mistake_in_an_input_names_its_field() {
    let world = World::new();
    for tool in TOOLS {
        let refused = async |input: Value, field: &str| {
            let error = world.ask(Who::Operator, tool.name, input.clone()).await.unwrap_err();
            let body = error.body;
            assert_eq!(body["code"], "INVALID_INPUT", "{} with {input}: {body}", tool.name);
            assert_eq!(body["details"]["field"], field, "{} with {input}: {body}", tool.name);
            assert!(body["message"].as_str().unwrap().contains(field), "{body}");
        };
        refused(json!({ "zzz_unknown": 1 }), "zzz_unknown").await;
        let required = tool.described().input.get("required").and_then(Value::as_array);
        if let Some(first) = required.and_then(|fields| fields.first()?.as_str()) {
            refused(json!({}), first).await;
        }
        for (field, schema) in properties(tool) {
            let wrong = if schema["type"].to_string().contains("boolean") {
                json!("x")
            } else {
                json!(true)
            };
            refused(json!({ &field: wrong }), &field).await;
            if let Some(limit) = schema["maxLength"].as_u64() {
                let long = "x".repeat(usize::try_from(limit).unwrap() + 1);
                refused(json!({ &field: long }), &field).await;
            }
        }
    }
}

#[tokio::test]
async fn every_category_is_refused_what_it_may_not_use() {
    let world = World::new();
    let policy = model::Policy::default();
    for category in BUILT_IN_CATEGORIES {
        let agent = world.enlist(category).await;
        for tool in TOOLS {
            let allowed = policy.permits(category, &Rules::default(), tool.name);
            let answer = world.ask(agent, tool.name, json!({ "zzz_unknown": 1 })).await;
            let body = answer.unwrap_err().body;
            if allowed {
                assert_eq!(body["code"], "INVALID_INPUT", "{category}, {}: {body}", tool.name);
                continue;
            }
            assert_eq!(body["code"], "PERMISSION_DENIED", "{category}, {}: {body}", tool.name);
            let words = format!(
                "Tool '{}' is not allowed for agent type '{}'",
                tool.name,
                category.to_uppercase()
            );
            assert_eq!(body["message"], words);
        }
    }
}

/// Every Markdown file below a folder, with its text.
fn documents(folder: &Path, into: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, into);
        } else if path.extension().is_some_and(|kind| kind == "md") {
            into.push((path.clone(), fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn documents_name_only_tools_that_there_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = root.join("README.md");
    let mut all = vec![(readme.clone(), fs::read_to_string(readme).unwrap())];
    documents(&root.join("docs"), &mut all);
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*');
    let mut named = 0;
    for (path, text) in all {
        for rest in text.split("mcp__").skip(1) {
            let name: String = rest.chars().take_while(|c| is_part(*c)).collect();
            // Servers of others have tools of their own, and a pattern stands for many.
            let Some((set, bare)) = name.split_once("__") else { continue };
            if !TOOLSETS.contains(&set) || bare.contains('*') || bare.is_empty() {
                continue;
            }
            named += 1;
            let tool = format!("mcp__{set}__{bare}");
            assert!(engine::by_name(&tool).is_some(), "{} names `{tool}`", path.display());
        }
    }
    assert!(named > 50, "{named}");
}
