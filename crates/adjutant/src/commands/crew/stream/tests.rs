//! Tests of each kind's lines.

use serde_json::json;

use super::*;

/// Lines as they are told, without colours.
fn told(lines: &[(&str, Value)]) -> Vec<String> {
    let mut teller = Teller::default();
    let mut all: Vec<String> = lines
        .iter()
        .flat_map(|(stream, text)| {
            let text = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
            teller.tell(&json!({ "stream": stream, "text": text, "cut": 0 }))
        })
        .collect();
    all.extend(teller.rest());
    all.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
}

fn out(values: &[Value]) -> Vec<String> {
    told(&values.iter().map(|value| ("out", value.clone())).collect::<Vec<_>>())
}

#[test]
fn plain_text_is_shown_as_it_is_but_cannot_command_a_terminal() {
    let lines = told(&[
        ("out", json!("\u{1b}[31mred\u{1b}[0m and\ttabs")),
        ("err", json!("\u{1b}]0;owned\u{7}a warning")),
        ("in", json!("go on")),
        ("out", json!("42")),
        ("out", json!("[1, 2]")),
        ("out", json!("{ not json")),
    ]);
    assert_eq!(lines, ["red and\ttabs", "a warning", "» go on", "42", "[1, 2]", "{ not json"]);
}

#[test]
fn json_of_an_unknown_form_is_shortened() {
    let lines = out(&[json!({ "answer": "x".repeat(1000) }), json!({ "type": "odd" })]);
    assert_eq!((lines[0].chars().count(), lines[0].ends_with('…')), (LONGEST, true));
    assert_eq!(lines[1], r#"{"type":"odd"}"#);
    let cut = json!({ "stream": "out", "text": "long", "cut": 7 });
    let cut = Teller::default().tell(&cut);
    assert!(cut[1].contains("(7 bytes of this line were left out)"), "{cut:?}");
}

#[test]
fn claude_codes_stream_can_be_read() {
    let message =
        |content: Value| json!({ "type": "assistant", "message": { "content": content } });
    let lines = told(&[
        (
            "in",
            json!({ "type": "user", "message": { "content": [{ "type": "text", "text": "Do\nit" }] } }),
        ),
        (
            "out",
            json!({ "type": "system", "subtype": "init", "model": "m",
            "mcp_servers": [{ "name": "mail", "status": "connected" }, { "name": "task", "status": "failed" }] }),
        ),
        ("out", json!({ "type": "stream_event", "event": {} })),
        (
            "out",
            message(
                json!([{ "type": "thinking", "thinking": "hm" }, { "type": "text", "text": "I look.\nNow." }]),
            ),
        ),
        (
            "out",
            message(json!([{ "type": "tool_use", "name": "Bash", "input": { "command": "ls" } }])),
        ),
        (
            "out",
            json!({ "type": "user", "message": { "content": [
            { "type": "tool_result", "content": [{ "type": "text", "text": "a\nb" }] },
            { "type": "tool_result", "is_error": true, "content": "no such file" },
        ] } }),
        ),
        (
            "out",
            json!({ "type": "control_request", "request": {
            "subtype": "can_use_tool", "tool_name": "Write", "input": {} } }),
        ),
        ("in", json!({ "type": "control_response", "response": {} })),
        ("out", json!({ "type": "system", "subtype": "api_retry", "error": "overloaded" })),
        (
            "out",
            json!({ "type": "result", "subtype": "success", "num_turns": 2, "total_cost_usd": 0.5 }),
        ),
        ("out", json!({ "type": "result", "is_error": true, "result": "Credit is used up" })),
    ]);
    assert_eq!(
        lines,
        [
            "» Do it",
            "· begins with m, without the MCP servers task",
            "hm",
            "I look.\nNow.",
            r#"→ Bash {"command":"ls"}"#,
            "← a b",
            "← no such file",
            "· asks whether it may use Write {}",
            "· its model does not answer (overloaded); it tries again",
            "· done after 2 turns, $0.5000 so far",
            "← Credit is used up",
        ]
    );
}

#[test]
fn codex_says_the_same_in_two_ways() {
    let call = json!({ "id": "1", "type": "mcp_tool_call", "server": "mail", "tool": "send",
        "arguments": { "to": "x" } });
    let answered = json!({ "id": "1", "type": "mcp_tool_call", "server": "mail", "tool": "send",
        "status": "completed", "error": null, "result": { "content": [{ "type": "text", "text": "sent" }] } });
    let shell = json!({ "type": "command_execution", "command": "make", "exit_code": 2,
        "aggregated_output": "no rule", "status": "failed" });
    let lines = out(&[
        json!({ "type": "thread.started", "thread_id": "t" }),
        json!({ "type": "item.completed", "item": { "type": "agent_message", "text": "Hello." } }),
        json!({ "type": "item.completed", "item": { "type": "reasoning", "text": "so" } }),
        json!({ "type": "item.started", "item": call }),
        json!({ "type": "item.completed", "item": answered }),
        json!({ "type": "item.completed", "item": shell }),
        json!({ "type": "item.completed", "item": { "type": "file_change", "changes": [{ "path": "a.rs" }] } }),
        json!({ "type": "turn.completed", "usage": { "input_tokens": 10, "output_tokens": 2 } }),
        json!({ "type": "turn.failed", "error": { "message": "no credit" } }),
    ]);
    let expected = [
        "Hello.",
        "so",
        r#"→ mcp__mail__send {"to":"x"}"#,
        "← sent",
        "← exit code 2: no rule",
        "→ apply_patch a.rs",
        "· turn over; 10 tokens read, 2 written",
        "← no credit",
    ];
    assert_eq!(lines, expected);
    let lines = told(&[
        (
            "in",
            json!({ "id": 1, "method": "turn/start", "params": { "input": [{ "type": "text", "text": "Go" }] } }),
        ),
        ("out", json!({ "id": 1, "result": {} })),
        (
            "out",
            json!({ "method": "item/started", "params": { "item": {
            "type": "commandExecution", "command": "ls" } } }),
        ),
        (
            "out",
            json!({ "method": "item/completed", "params": { "item": {
            "type": "commandExecution", "command": "ls", "exitCode": 0, "aggregatedOutput": "a" } } }),
        ),
        ("out", json!({ "method": "item/agentMessage/delta", "params": { "delta": "D" } })),
        (
            "out",
            json!({ "method": "item/completed", "params": { "item": { "type": "agentMessage", "text": "Done." } } }),
        ),
        ("out", json!({ "id": 2, "error": { "code": 1, "message": "no such turn" } })),
    ]);
    assert_eq!(lines, ["» Go", "→ shell ls", "← a", "Done.", "← no such turn"]);
}

#[test]
fn pieces_of_an_acp_agents_words_are_joined() {
    let update = |update: Value| json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "update": update } });
    let piece = |text: &str| {
        update(
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }),
        )
    };
    let lines = out(&[
        piece("I lo"),
        piece("ok.\nAnd"),
        piece(" see"),
        update(json!({ "sessionUpdate": "available_commands_update" })),
        update(
            json!({ "sessionUpdate": "tool_call", "title": "Read a", "rawInput": { "path": "a" } }),
        ),
        update(json!({ "sessionUpdate": "tool_call_update", "status": "in_progress" })),
        update(json!({ "sessionUpdate": "tool_call_update", "status": "failed",
            "content": [{ "type": "content", "content": { "type": "text", "text": "gone" } }] })),
        json!({ "method": "session/request_permission", "params": { "toolCall": { "title": "Write a" } } }),
        piece("The end"),
    ]);
    assert_eq!(
        lines,
        [
            "I look.",
            "And see",
            r#"→ Read a {"path":"a"}"#,
            "← gone",
            "· asks whether it may use Write a",
            "The end",
        ]
    );
}
