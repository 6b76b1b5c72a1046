//! The Responses of `OpenAI`, as Codex speaks it.

use serde_json::{Value, json};

use super::conversation::{ConversationState, EncodedTurn, FilledTurn, OfferedTool};

pub(super) fn hear(body: &Value) -> ConversationState {
    let mut heard = ConversationState::default();
    hear_tools(&mut heard, &body["tools"], None);
    let mut speaking = false;
    for item in list(&body["input"]) {
        let kind = item["type"].as_str().unwrap_or("message");
        // What the model said in one turn comes back as several items in a row.
        let own = match kind {
            "message" => item["role"] == "assistant",
            "reasoning" => true,
            other => other.ends_with("_call"),
        };
        heard.turns += usize::from(own && !speaking);
        speaking = own;
        if kind == "additional_tools" {
            hear_tools(&mut heard, &item["tools"], None);
        } else if kind.ends_with("_output") {
            heard.results.push(plain(&item["output"]));
        } else if kind == "message" && item["role"] == "user" {
            heard.user.push(plain(&item["content"]));
        }
    }
    heard
}

/// Tools stand in a flat list or below a name that they share.
fn hear_tools(heard: &mut ConversationState, tools: &Value, namespace: Option<&str>) {
    for tool in list(tools) {
        if tool["type"] == "namespace" {
            hear_tools(heard, &tool["tools"], tool["name"].as_str());
        } else {
            let name = tool["name"].as_str().or(tool["type"].as_str());
            heard.tools.push(OfferedTool {
                name: name.unwrap_or_default().to_owned(),
                namespace: namespace.map(str::to_owned),
                free_form: tool["type"] == "custom",
            });
        }
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The text of a content, which is a string or a list of parts.
fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}

pub(super) fn speak(speech: &FilledTurn) -> EncodedTurn {
    let mut whole = json!({
        "id": format!("resp_{:012}", speech.id),
        "object": "response",
        "model": speech.model,
        "status": "in_progress",
        "output": [],
    });
    let mut events = vec![("response.created", json!({ "response": whole }))];
    let items = items(speech);
    for (index, (item, delta)) in items.iter().enumerate() {
        let added = json!({ "output_index": index, "item": beginning(item) });
        events.push(("response.output_item.added", added));
        if let Some((name, text)) = delta {
            let delta = json!({
                "output_index": index,
                "item_id": item["id"],
                "content_index": 0,
                "summary_index": 0,
                "delta": text,
            });
            events.push((name, delta));
        }
        let done = json!({ "output_index": index, "item": item });
        events.push(("response.output_item.done", done));
    }
    let usage = speech.usage;
    let input = usage.input + usage.cached;
    whole["status"] = "completed".into();
    whole["output"] = items.into_iter().map(|(item, _)| item).collect();
    whole["usage"] = json!({
        "input_tokens": input,
        "input_tokens_details": { "cached_tokens": usage.cached },
        "output_tokens": usage.output,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": input + usage.output,
    });
    events.push(("response.completed", json!({ "response": whole })));
    for (number, (name, event)) in events.iter_mut().enumerate() {
        event["type"] = (*name).into();
        event["sequence_number"] = number.into();
    }
    EncodedTurn { events, whole }
}

/// An item as it is announced, before its content.
fn beginning(item: &Value) -> Value {
    let mut item = item.clone();
    for (field, empty) in [
        ("content", json!([])),
        ("summary", json!([])),
        ("arguments", json!("")),
        ("input", json!("")),
    ] {
        if let Some(value) = item.get_mut(field) {
            *value = empty;
        }
    }
    item
}

/// What a turn is made of, each part with the event that carries its text.
fn items(speech: &FilledTurn) -> Vec<(Value, Option<(&'static str, &str)>)> {
    let mut items = Vec::new();
    if let Some(text) = &speech.thinking {
        let item = json!({
            "type": "reasoning",
            "id": format!("rs_{:012}", speech.id),
            "summary": [{ "type": "summary_text", "text": text }],
            "encrypted_content": null,
        });
        items.push((item, Some(("response.reasoning_summary_text.delta", text.as_str()))));
    }
    if let Some(text) = &speech.text {
        let item = json!({
            "type": "message",
            "id": format!("msg_{:012}", speech.id),
            "role": "assistant",
            "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        });
        items.push((item, Some(("response.output_text.delta", text.as_str()))));
    }
    for (index, (tool, input)) in speech.calls.iter().enumerate() {
        items.push((call(speech.id, index, tool, input), None));
    }
    items
}

fn call(turn: u64, index: usize, tool: &OfferedTool, input: &Value) -> Value {
    let mut call = json!({
        "type": if tool.free_form { "custom_tool_call" } else { "function_call" },
        "id": format!("fc_{turn:012}_{index}"),
        "call_id": format!("call_{turn:012}_{index}"),
        "name": tool.name,
        "status": "completed",
    });
    if tool.free_form {
        call["input"] = input.as_str().unwrap_or_default().into();
    } else {
        call["arguments"] = input.to_string().into();
    }
    // The functions of the client itself are called without their namespace.
    if let Some(space) = tool.namespace.as_deref().filter(|space| *space != "functions") {
        call["namespace"] = space.into();
    }
    call
}
