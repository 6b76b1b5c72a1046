//! The Messages of Anthropic, as Claude Code speaks it.

use serde_json::{Value, json};

use super::conversation::{ConversationState, EncodedTurn, FilledTurn, OfferedTool};

pub(super) fn hear(body: &Value) -> ConversationState {
    let mut heard = ConversationState::default();
    for tool in list(&body["tools"]) {
        let name = tool["name"].as_str().unwrap_or_default().to_owned();
        heard.tools.push(OfferedTool { name, ..OfferedTool::default() });
    }
    for message in list(&body["messages"]) {
        let content = &message["content"];
        if message["role"] == "assistant" {
            heard.turns += 1;
        } else if let Some(text) = content.as_str() {
            heard.user.push(text.to_owned());
        } else {
            hear_blocks(&mut heard, content);
        }
    }
    heard
}

fn hear_blocks(heard: &mut ConversationState, content: &Value) {
    for block in list(content) {
        if block["type"] == "tool_result" {
            heard.results.push(plain(&block["content"]));
        } else if let Some(text) = block["text"].as_str() {
            heard.user.push(text.to_owned());
        }
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The text of a content, which is a string or a list of blocks.
fn plain(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

pub(super) fn speak(speech: &FilledTurn) -> EncodedTurn {
    let usage = json!({
        "input_tokens": speech.usage.input,
        "output_tokens": speech.usage.output,
        "cache_read_input_tokens": speech.usage.cached,
        "cache_creation_input_tokens": 0,
    });
    let message = json!({
        "id": format!("msg_{:012}", speech.id),
        "type": "message",
        "role": "assistant",
        "model": speech.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage,
    });
    let mut events =
        vec![("message_start", json!({ "type": "message_start", "message": message }))];
    let blocks = blocks(speech);
    let mut whole = message;
    for (index, block) in blocks.into_iter().enumerate() {
        let start = ("content_block_start", json!({ "content_block": block.start }));
        let deltas = block.deltas.into_iter();
        let deltas = deltas.map(|delta| ("content_block_delta", json!({ "delta": delta })));
        let stop = ("content_block_stop", json!({}));
        for (name, mut event) in std::iter::once(start).chain(deltas).chain([stop]) {
            event["type"] = name.into();
            event["index"] = index.into();
            events.push((name, event));
        }
        if let Some(content) = whole["content"].as_array_mut() {
            content.push(block.whole);
        }
    }
    let reason = if speech.calls.is_empty() { "end_turn" } else { "tool_use" };
    whole["stop_reason"] = reason.into();
    let delta = json!({ "stop_reason": reason, "stop_sequence": null });
    let ending = json!({ "type": "message_delta", "delta": delta, "usage": usage });
    events.push(("message_delta", ending));
    events.push(("message_stop", json!({ "type": "message_stop" })));
    EncodedTurn { events, whole }
}

/// A part of a message: how it begins, what is added, and what it is in the end.
struct Block {
    start: Value,
    deltas: Vec<Value>,
    whole: Value,
}

fn blocks(speech: &FilledTurn) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(text) = &speech.thinking {
        let signature = json!({ "type": "signature_delta", "signature": "c2lnbmVk" });
        blocks.push(Block {
            start: json!({ "type": "thinking", "thinking": "", "signature": "" }),
            deltas: vec![json!({ "type": "thinking_delta", "thinking": text }), signature],
            whole: json!({ "type": "thinking", "thinking": text, "signature": "c2lnbmVk" }),
        });
    }
    if let Some(text) = &speech.text {
        blocks.push(Block {
            start: json!({ "type": "text", "text": "" }),
            deltas: vec![json!({ "type": "text_delta", "text": text })],
            whole: json!({ "type": "text", "text": text }),
        });
    }
    for (index, (tool, input)) in speech.calls.iter().enumerate() {
        let id = format!("toolu_{:012}_{index}", speech.id);
        let delta = json!({ "type": "input_json_delta", "partial_json": input.to_string() });
        blocks.push(Block {
            start: json!({ "type": "tool_use", "id": id, "name": tool.name, "input": {} }),
            deltas: vec![delta],
            whole: json!({ "type": "tool_use", "id": id, "name": tool.name, "input": input }),
        });
    }
    blocks
}
