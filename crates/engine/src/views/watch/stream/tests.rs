//! Lines as steps, and what is cut.

use model::Timestamp;
use serde_json::json;

use super::*;

fn line(at: i64, text: &str) -> OutputLine {
    OutputLine {
        at: Timestamp::from_millis(at),
        stream: Stream::Out,
        text: text.to_owned(),
        cut: 0,
    }
}

#[test]
fn lines_of_a_program_are_one_step_until_something_else_comes() {
    let mut complaint = line(3, "three");
    complaint.stream = Stream::Err;
    let tool = r#"{"adjutant":{"tool":{"id":"1","name":"grep","input":{}}}}"#;
    let lines = [line(1, "one"), line(2, "two"), complaint, line(4, tool), line(5, "five")];
    let items = steps("command", &lines, &BTreeSet::new());
    let shown: Vec<_> = items
        .iter()
        .map(|item| (item.at.as_millis(), item.kind, item.text.as_str(), item.err))
        .collect();
    let wanted = [
        (1, StepKind::Output, "one\ntwo\n", false),
        (3, StepKind::Output, "three\n", true),
        (4, StepKind::Call, "", false),
        (5, StepKind::Output, "five\n", false),
    ];
    assert_eq!(shown, wanted);
}

#[test]
fn pieces_of_a_message_are_joined_and_two_messages_are_two() {
    let piece = |at: i64, id: &str, text: &str| {
        let update = json!({ "sessionUpdate": "agent_message_chunk", "messageId": id,
            "content": { "type": "text", "text": text } });
        let message = json!({ "method": "session/update", "params": { "update": update } });
        line(at, &message.to_string())
    };
    let items = steps(
        "acp",
        &[piece(1, "a", "I lo"), piece(2, "a", "ok."), piece(3, "b", "And?")],
        &BTreeSet::new(),
    );
    let shown: Vec<_> = items.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(shown, ["I look.", "And?"]);
}

#[test]
fn long_texts_are_cut_and_say_so_and_secrets_are_not_told() {
    let long = "ü".repeat(TEXT);
    let said = json!({ "type": "user", "message": { "content": [
        { "type": "tool_result", "tool_use_id": "t", "content": long }] } });
    let call = json!({ "type": "assistant", "message": { "content": [
        { "type": "tool_use", "id": "t", "name": "Write", "input": {
            "content": "x".repeat(STRING + 5), "token": "adjag_0123456789abcdef0123456789" } }] } });
    let mut items = steps(
        "claude",
        &[line(1, &call.to_string()), line(2, &said.to_string())],
        &BTreeSet::new(),
    );
    items.iter_mut().for_each(shorten_item);
    let input = items[0].input.as_ref().unwrap();
    assert!(input["content"].as_str().unwrap().ends_with("x… (5 bytes more)"));
    assert_eq!(input["token"], "adjag_[redacted]");
    assert_eq!((items[1].text.len(), items[1].cut), (TEXT, TEXT as u64));
    let secret =
        steps("command", &[line(1, "TOKEN=adjag_0123456789abcdef0123456789")], &BTreeSet::new());
    assert_eq!(secret[0].text, "TOKEN=adjag_[redacted]\n");
}
