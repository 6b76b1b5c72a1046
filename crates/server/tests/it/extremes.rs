//! Extreme values for every parameter of every route and every number of every tool: the caller gets an
//! answer, never a failure inside, and the server goes on.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use axum::body::Body;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use crate::world::{OPERATOR, World, request, whole};

/// Query values; `HUGE` stands for four hundred digits.
const IN_QUERIES: [&str; 16] = [
    "9223372036854775807",
    "9223372036854775806",
    "-9223372036854775808",
    "18446744073709551615",
    "4294967295",
    "-1",
    "0",
    "%2B1",
    "1e308",
    "NaN",
    "inf",
    "HUGE",
    "",
    "9999-12-30T22:00:00Z",
    "-009999-01-02T01:59:59Z",
    "1970-01-01T00:00:00Z",
];

/// JSON texts; `NaN` is none, and a body with it is refused.
const IN_BODIES: [&str; 15] = [
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "4294967295",
    "-1",
    "0",
    "-0.0",
    "0.5",
    "1e308",
    "-1e308",
    "1e999",
    "NaN",
    "HUGE",
    "\"\"",
    "\"9223372036854775807\"",
];

fn text_of(value: &str) -> String {
    value.replace("HUGE", &"9".repeat(400))
}

/// A record with a row of most things, and what stands for names in paths and fields.
struct Filled {
    world: World,
    names: BTreeMap<&'static str, String>,
}

impl Filled {
    async fn new() -> Self {
        let world = World::new();
        let member = world.enlist("worker").await;
        let body = json!({ "role": "worker", "kind": "codex", "prompt": "Mend the parser" });
        let (_, run) = world.ask(Method::POST, "/api/runs", OPERATOR, Some(body)).await;
        let run_id = run["agentId"].as_str().unwrap().to_owned();
        let folder = world.project().join(".adjutant/runs").join(&run_id).join("1");
        fs::create_dir_all(&folder).unwrap();
        let line = json!({ "at": 1, "s": "out", "l": "{}" });
        fs::write(folder.join("output.jsonl"), format!("{line}\n")).unwrap();
        let done = async |tool: &str, input: Value| {
            let (status, mut answer) = world.execute(OPERATOR, tool, input).await;
            assert_eq!(status, StatusCode::OK, "{tool}: {answer}");
            answer["data"].take()
        };
        let task = done("mcp__task__create", json!({ "title": "One" })).await;
        done("mcp__epic__create", json!({ "title": "Two" })).await;
        let mail = json!({ "toAgentId": member.id, "subject": "Three", "body": "Four" });
        done("mcp__mail__send", mail).await;
        done("mcp__system__log_decision", json!({ "title": "Five", "body": "Six" })).await;
        let task = task.to_string();
        let task = task.split('"').find(|part| part.starts_with("task_")).unwrap().to_owned();
        let names =
            BTreeMap::from([("agent", run_id), ("task", task), ("member", member.id.to_string())]);
        Self { world, names }
    }

    /// Something that exists, where there is such a thing, for the name of a field or of a path's part.
    fn name(&self, field: &str, path: &str) -> String {
        let field = field.to_lowercase();
        let key = if field.contains("task") || field == "ref" || path.contains("/tasks/") {
            "task"
        } else if field.contains("to") && field.len() <= 8 {
            "member"
        } else {
            "agent"
        };
        self.names[key].clone()
    }

    /// Checks an answer, and returns it.
    async fn answer(&self, method: Method, path: &str, token: &str, body: String) -> (u16, Value) {
        let sent = request(method.clone(), path, Some(token), Body::from(body.clone()));
        let (status, _, value) = whole(self.world.send(sent).await).await;
        let shown: String = body.chars().take(300).collect();
        assert!(!status.is_server_error(), "{method} {path} {shown}: {status} {value}");
        (status.as_u16(), value)
    }

    /// A small input that fits a schema: what is required, and a wait of nought where there is one.
    fn sample(&self, document: &Value, schema: &Value, name: &str) -> Value {
        let schema = resolved(document, schema);
        if let Some(choice) = schema.get("const").or_else(|| schema["enum"].get(0)) {
            return choice.clone();
        }
        for key in ["oneOf", "anyOf", "allOf"] {
            if let Some(first) = schema[key].get(0) {
                return self.sample(document, first, name);
            }
        }
        match type_of(schema) {
            "object" => {
                let mut object = Map::new();
                for field in schema["required"].as_array().into_iter().flatten() {
                    let field = field.as_str().unwrap();
                    let value = self.sample(document, &schema["properties"][field], field);
                    object.insert(field.to_owned(), value);
                }
                // Nothing waits: that is not a number's fault.
                for (field, value) in [("waitSeconds", json!(0)), ("async", json!(true))] {
                    if schema["properties"].get(field).is_some() {
                        object.insert(field.to_owned(), value);
                    }
                }
                Value::Object(object)
            }
            "array" => json!([self.sample(document, &schema["items"], name)]),
            "integer" | "number" => schema.get("minimum").cloned().unwrap_or(1.into()),
            "boolean" => false.into(),
            _ if name.to_lowercase().ends_with("id") || name == "to" => self.name(name, "").into(),
            _ => "words".into(),
        }
    }
}

fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(place) => document.pointer(place.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

fn type_of(schema: &Value) -> &str {
    match &schema["type"] {
        Value::Array(all) => all.iter().filter_map(Value::as_str).find(|one| *one != "null"),
        one => one.as_str(),
    }
    .unwrap_or_default()
}

/// Where the numbers of a schema are, as JSON pointers; `0` is the first item of a list.
fn numbers(document: &Value, schema: &Value, at: &str, found: &mut Vec<String>) {
    let schema = resolved(document, schema);
    for key in ["oneOf", "anyOf", "allOf"] {
        for one in schema[key].as_array().into_iter().flatten() {
            numbers(document, one, at, found);
        }
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        numbers(document, field, &format!("{at}/{name}"), found);
    }
    if schema["items"].is_object() {
        numbers(document, &schema["items"], &format!("{at}/0"), found);
    }
    if matches!(type_of(schema), "integer" | "number") && !found.iter().any(|one| one == at) {
        found.push(at.to_owned());
    }
}

/// Puts a value at a place, and makes what is missing on the way there.
fn put(
    filled: &Filled,
    document: &Value,
    schema: &Value,
    into: &mut Value,
    at: &str,
    value: &Value,
) {
    let schema = resolved(document, schema);
    let Some((name, rest)) = at.trim_start_matches('/').split_once('/').or_else(|| {
        let name = at.trim_start_matches('/');
        (!name.is_empty()).then_some((name, ""))
    }) else {
        *into = value.clone();
        return;
    };
    let alternatives = ["oneOf", "anyOf", "allOf"];
    let mut options = alternatives.iter().filter_map(|key| schema[*key].as_array()).flatten();
    let has = |schema: &&Value| {
        let schema = resolved(document, schema);
        schema["properties"].get(name).is_some() || (name == "0" && schema["items"].is_object())
    };
    let schema = if has(&schema) { schema } else { options.find(has).unwrap() };
    let schema = resolved(document, schema);
    if name == "0" {
        if !into.is_array() {
            *into = json!([filled.sample(document, &schema["items"], "")]);
        }
        put(filled, document, &schema["items"], &mut into[0], rest, value);
        return;
    }
    if !into.is_object() {
        *into = filled.sample(document, schema, "");
    }
    let field = &schema["properties"][name];
    if into.get(name).is_none() {
        into[name] = filled.sample(document, field, name);
    }
    put(filled, document, field, &mut into[name], rest, value);
}

fn document() -> Value {
    serde_json::from_str(&server::openapi_document()).unwrap()
}

/// Returns whether a whole number of a list or a limit can be this. What cannot be is refused by its name.
fn is_count(value: &str) -> bool {
    // A plus sign is taken by some.
    value == "%2B1" || value.parse::<i64>().is_ok_and(|number| number >= 0)
}

#[tokio::test]
async fn no_parameter_of_any_route_fails_inside() {
    let filled = Filled::new().await;
    let visitor = filled.world.visitor().await;
    let document = document();
    let mut sent = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        let parameters = operations["get"]["parameters"].as_array().cloned().unwrap_or_default();
        for parameter in &parameters {
            let (name, place) =
                (parameter["name"].as_str().unwrap(), parameter["in"].as_str().unwrap());
            for value in IN_QUERIES {
                let value = text_of(value);
                let mut url = path.clone();
                let mut query = String::new();
                for other in &parameters {
                    let other_name = other["name"].as_str().unwrap();
                    let hole = format!("{{{other_name}}}");
                    let filler = if other_name == name {
                        value.clone()
                    } else {
                        filled.name(other_name, path)
                    };
                    let needed = other["required"] == true && place == "query";
                    if other["in"] == "path" {
                        url = url.replace(&hole, if filler.is_empty() { "%20" } else { &filler });
                    } else if other_name == name || (needed && other["in"] == "query") {
                        write!(query, "&{other_name}={filler}").unwrap();
                    }
                }
                let query = query.replacen('&', "?", 1);
                let url = format!("{url}{query}");
                for token in [OPERATOR, &visitor] {
                    let (status, body) =
                        filled.answer(Method::GET, &url, token, String::new()).await;
                    sent += 1;
                    let whole_number =
                        place == "query" && type_of(&parameter["schema"]) == "integer";
                    if whole_number && !is_count(&value) && status != 403 {
                        assert_eq!(status, 422, "{url}: {body}");
                        assert_eq!(body["code"], "INVALID_INPUT", "{url}: {body}");
                        assert_eq!(body["details"]["field"], name, "{url}: {body}");
                    }
                }
            }
        }
    }
    assert!(sent > 2000, "the document has lost its parameters: {sent}");
    let status = filled.world.get("/api/status").await;
    assert_eq!(status["version"], "0.1.0", "it goes on: {status}");
}

#[tokio::test]
async fn no_number_of_any_body_fails_inside() {
    let filled = Filled::new().await;
    let document = document();
    let mut sent = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        let content = &operations["post"]["requestBody"]["content"]["application/json"]["schema"];
        if path == "/mcp/execute" || content.is_null() {
            continue;
        }
        let mut places = Vec::new();
        numbers(&document, content, "", &mut places);
        let url = path.replace("{id}", &filled.name("id", path)).replace("{name}", "words");
        for at in places {
            for value in IN_BODIES {
                let mut body = filled.sample(&document, content, "");
                put(&filled, &document, content, &mut body, &at, &json!("@"));
                let body = body.to_string().replace("\"@\"", &text_of(value));
                filled.answer(Method::POST, &url, OPERATOR, body).await;
                sent += 1;
            }
        }
    }
    assert!(sent > 100, "the document has lost its bodies: {sent}");
}

#[tokio::test]
async fn no_number_of_any_tool_fails_inside() {
    let filled = Filled::new().await;
    let document = document();
    let mut sent = 0;
    for tool in engine::TOOLS {
        let schema = &document["components"]["schemas"][tool.name];
        let mut places = Vec::new();
        numbers(&document, schema, "", &mut places);
        for at in places {
            for value in IN_BODIES {
                let mut input = filled.sample(&document, schema, "");
                put(&filled, &document, schema, &mut input, &at, &json!("@"));
                let body = json!({ "toolName": tool.name, "input": input }).to_string();
                let body = body.replace("\"@\"", &text_of(value));
                let (_, answer) = filled.answer(Method::POST, "/mcp/execute", OPERATOR, body).await;
                assert!(answer["success"].is_boolean(), "{}{at} = {value}: {answer}", tool.name);
                sent += 1;
            }
        }
    }
    assert!(sent > 200, "the tools have lost their numbers: {sent}");
    let verdict = filled.world.store.read(|tx| tx.audit_verify()).unwrap();
    assert_eq!(verdict.broken, None);
}

#[tokio::test]
async fn a_stream_of_events_begins_nowhere_but_in_the_sequence() {
    let filled = Filled::new().await;
    for (after, expected) in [
        ("-9223372036854775808", 422),
        ("-1", 422),
        ("1e308", 422),
        ("", 422),
        ("18446744073709551615", 422),
        ("9223372036854775807", 200),
        ("0", 200),
    ] {
        for form in ["stream=sse", "limit=1"] {
            let path = format!("/api/events?{form}&after={after}");
            let sent = request(Method::GET, &path, Some(OPERATOR), Body::empty());
            let response = filled.world.send(sent).await;
            assert_eq!(response.status().as_u16(), expected, "{path}");
        }
        let mut sent =
            request(Method::GET, "/api/events?stream=sse", Some(OPERATOR), Body::empty());
        sent.headers_mut().insert("last-event-id", after.parse().unwrap());
        let response = filled.world.send(sent).await;
        assert_eq!(response.status().as_u16(), expected, "Last-Event-ID: {after}");
    }
}
