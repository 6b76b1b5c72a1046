//! The Agent Client Protocol: recorded talks, and what did not happen while they were recorded.

mod permission;
mod servers;

use model::money::Usd;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Acp, usage};
use crate::agent::replay::{self, brief, hear, out, recording, said, seen, spent};
use crate::agent::{
    Brief, Conversation, EndReport, EndReportStatus, Event, Kind, Step, TOKEN, Usage,
};
use crate::run::OutputLine;

#[test]
fn recorded_talks_are_understood_and_answered_in_the_same_words() {
    replay::check("acp");
}

#[test]
fn the_role_says_what_is_run_or_else_the_configuration() {
    let mut brief = brief();
    let error = Acp.plan(&brief).unwrap_err().to_string();
    assert!(error.contains("acp: [claude-agent-acp]"), "{error}");
    brief.runner.binary = Some("gemini".to_owned());
    brief.runner.arguments = vec!["--acp".to_owned()];
    let plan = Acp.plan(&brief).unwrap();
    assert_eq!((plan.program.as_str(), plan.arguments), ("gemini", vec!["--acp".to_owned()]));
    brief.command = vec!["opencode".to_owned(), "acp".to_owned()];
    let plan = Acp.plan(&brief).unwrap();
    assert_eq!((plan.program.as_str(), plan.arguments), ("opencode", vec!["acp".to_owned()]));
}

#[test]
fn tokens_and_money_are_told_as_the_agent_counts_them() {
    let total = Usage { input: 3_700, output: 160, cache_read: 1_000, cache_write: 0 };
    let steps = recording("acp", "claude-agent-acp-0.99.1-policy-deny").play(|_| {});
    assert_eq!(spent(&steps), total);
    let cost = Event::Cost(Usd::from_dollars(0.0182));
    assert!(seen(&steps).contains(&&cost), "{steps:?}");
    let steps = recording("acp", "codex-acp-2.6.0-ask-allow").play(|_| {});
    assert_eq!(spent(&steps), Usage { input: 300, output: 60, ..Usage::default() });
}

fn hello(can: &Value, meta: &Value) -> Value {
    let result = json!({ "protocolVersion": 1, "agentCapabilities": can, "_meta": meta });
    json!({ "id": 1, "result": result })
}

fn opened() -> Value {
    json!({ "id": 2, "result": { "sessionId": "s" } })
}

/// A talk that works on its prompt, which is request 3.
fn working(brief: &Brief) -> Box<dyn Conversation> {
    let mut talk = Acp.conversation(brief);
    talk.begin();
    let can = json!({ "mcpCapabilities": { "http": true }, "loadSession": true });
    let steps = hear(talk.as_mut(), &[hello(&can, &Value::Null), opened()]);
    assert_eq!(said(&steps).last().unwrap()["method"], "session/prompt");
    talk
}

fn update(update: &Value) -> Value {
    json!({ "method": "session/update", "params": { "sessionId": "s", "update": update } })
}

fn chunk(text: &str) -> Value {
    let content = json!({ "type": "text", "text": text });
    update(&json!({ "sessionUpdate": "agent_message_chunk", "content": content }))
}

fn stopped(id: u64, reason: &str) -> Value {
    json!({ "id": id, "result": { "stopReason": reason } })
}

fn done(steps: &[Step]) -> Option<&EndReport> {
    seen(steps).into_iter().find_map(|event| match event {
        Event::Done(done) => Some(done),
        _ => None,
    })
}

#[test]
fn the_token_is_whispered() {
    let mut talk = Acp.conversation(&brief());
    talk.begin();
    let can = json!({ "mcpCapabilities": { "http": true } });
    let steps = hear(talk.as_mut(), &[hello(&can, &Value::Null)]);
    let [Step::Whisper(line)] = &steps[..] else { panic!("{steps:?}") };
    assert!(line.contains(&format!("Bearer {TOKEN}")));
}

#[test]
fn an_agent_without_http_gets_no_toolsets_and_says_so() {
    let mut talk = Acp.conversation(&brief());
    talk.begin();
    let steps = hear(talk.as_mut(), &[hello(&json!({}), &Value::Null)]);
    assert!(matches!(seen(&steps)[..], [Event::Warning(_)]));
    assert_eq!(said(&steps)[0]["params"]["mcpServers"], json!([]));
}

#[test]
fn what_cannot_be_begun_is_over() {
    let load = Brief { resume: Some("old".to_owned()), ..brief() };
    let refusal = json!({ "id": 2, "error": { "code": -32000, "message": "log in first" } });
    let can = json!({ "mcpCapabilities": { "http": true } });
    let new_version = json!({ "id": 1, "result": { "protocolVersion": 2 } });
    let table = [
        (&load, vec![hello(&can, &Value::Null)], "it cannot take up a conversation"),
        (&brief(), vec![hello(&can, &Value::Null), refusal], "log in first"),
        (&brief(), vec![new_version], "it speaks version 2 of the protocol, and not 1"),
    ];
    for (brief, lines, why) in table {
        let mut talk = Acp.conversation(brief);
        talk.begin();
        let steps = hear(talk.as_mut(), &lines);
        assert_eq!(done(&steps).unwrap().verdict, EndReportStatus::Failure(why.to_owned()));
        assert_eq!(steps.last(), Some(&Step::Close));
    }
}

#[test]
fn a_stop_has_its_meaning() {
    let table = [
        ("end_turn", "Success"),
        ("max_tokens", "Aborted"),
        ("max_turn_requests", "Aborted"),
        ("refusal", "Failure"),
        ("cancelled", "Failure"),
        ("tired", "Failure"),
    ];
    for (reason, verdict) in table {
        let steps = hear(working(&brief()).as_mut(), &[chunk("Bye."), stopped(3, reason)]);
        let done = done(&steps).unwrap();
        assert!(format!("{:?}", done.verdict).starts_with(verdict), "{reason}: {done:?}");
        assert_eq!(done.text, "Bye.");
        assert_eq!(steps.last(), Some(&Step::Close));
    }
}

#[test]
fn an_agent_that_cannot_be_steered_is_told_with_the_next_prompt() {
    let mut talk = working(&brief());
    assert_eq!(talk.tell("Mail!"), []);
    let steps = hear(talk.as_mut(), &[stopped(3, "end_turn")]);
    let [prompt] = &said(&steps)[..] else { panic!("{steps:?}") };
    assert_eq!(prompt["method"], "session/prompt");
    assert_eq!(prompt["params"]["prompt"][0]["text"], "Mail!");
    assert_eq!(done(&steps), None);
    let steps = hear(talk.as_mut(), &[stopped(4, "end_turn")]);
    assert!(done(&steps).is_some());
}

#[test]
fn what_came_too_late_for_a_turn_is_the_next_prompt() {
    let mut talk = Acp.conversation(&brief());
    talk.begin();
    let steering = json!({ "steering": { "supported": true } });
    hear(talk.as_mut(), &[hello(&json!({}), &steering), opened()]);
    let steer = said(&talk.tell("Mail!"));
    assert_eq!(steer[0]["method"], "_session/steering");
    assert_eq!(hear(talk.as_mut(), &[stopped(3, "end_turn")]), []);
    let outcome = json!({ "id": 4, "result": { "outcome": "promptRequired" } });
    let steps = hear(talk.as_mut(), &[outcome]);
    assert_eq!(said(&steps)[0]["method"], "session/prompt");
    assert_eq!(said(&steps)[0]["params"]["prompt"][0]["text"], "Mail!");
}

#[test]
fn a_message_is_told_whole() {
    let tool = update(&json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "look",
        "status": "in_progress" }));
    let steps = hear(
        working(&brief()).as_mut(),
        &[
            chunk(""),
            chunk("I will "),
            chunk("look."),
            tool,
            chunk("Seen."),
            stopped(3, "end_turn"),
        ],
    );
    let texts: Vec<_> = seen(&steps)
        .into_iter()
        .filter_map(|event| match event {
            Event::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["I will look.", "Seen."]);
    // A tool that never ended is over with the prompt.
    assert!(seen(&steps).iter().any(|event| matches!(event, Event::ToolEnded { .. })));
}

#[test]
fn files_and_terminals_are_not_ours_to_give() {
    for method in ["fs/read_text_file", "fs/write_text_file", "terminal/create", "nonsense"] {
        let request = json!({ "id": 5, "method": method, "params": {} });
        let steps = hear(working(&brief()).as_mut(), &[request]);
        assert_eq!(said(&steps)[0]["error"]["code"], -32601, "{method}");
    }
}

#[test]
fn a_model_is_chosen_where_it_is_offered() {
    let option = json!({ "id": "m", "category": "model", "currentValue": "small", "options": [
        { "group": "g", "options": [{ "value": "large", "name": "Large" }] },
        { "value": "small", "name": "Small" },
    ] });
    let models = json!({ "currentModelId": "small", "availableModels": [
        { "modelId": "small" }, { "modelId": "large" }] });
    let table = [
        (json!({ "configOptions": [option] }), "large", Some("session/set_config_option")),
        (json!({ "models": models }), "large", Some("session/set_model")),
        (json!({ "models": models }), "small", Some("session/prompt")),
        (json!({}), "large", None),
    ];
    for (mut offer, model, expected) in table {
        let mut talk = Acp.conversation(&Brief { model: Some(model.to_owned()), ..brief() });
        talk.begin();
        offer["sessionId"] = json!("s");
        let lines = [hello(&json!({}), &Value::Null), json!({ "id": 2, "result": offer })];
        let steps = hear(talk.as_mut(), &lines);
        let method = said(&steps).last().unwrap()["method"].clone();
        assert_eq!(method, expected.unwrap_or("session/prompt"), "{model}");
        let warnings = seen(&steps)
            .into_iter()
            .filter(|event| matches!(event, Event::Warning(text) if text.contains("model")));
        assert_eq!(warnings.count(), usize::from(expected.is_none()));
    }
}

#[test]
fn a_setting_that_fails_does_not_stop_it() {
    let mut talk = Acp.conversation(&brief());
    talk.begin();
    let modes = json!({ "availableModes": [{ "id": "workspace-write" }], "currentModeId": "x" });
    let opened = json!({ "id": 2, "result": { "sessionId": "s", "modes": modes } });
    let steps = hear(talk.as_mut(), &[hello(&json!({}), &Value::Null), opened]);
    assert_eq!(said(&steps).last().unwrap()["method"], "session/set_mode");
    let fault = json!({ "id": 3, "error": { "code": -32603, "message": "Internal error" } });
    let steps = hear(talk.as_mut(), &[fault]);
    assert!(matches!(seen(&steps)[..], [Event::Warning(_)]));
    assert_eq!(said(&steps)[0]["method"], "session/prompt");
}

#[test]
fn a_count_of_tokens_is_read_in_each_way_of_writing_it() {
    let table = [
        (
            json!({ "inputTokens": 10, "outputTokens": 5, "cachedReadTokens": 4,
            "cachedWriteTokens": 2, "totalTokens": 21 }),
            (10, 5, 4, 2),
        ),
        // The cached ones are part of the input.
        (
            json!({ "inputTokens": 10, "outputTokens": 5, "cachedReadTokens": 4,
            "totalTokens": 15 }),
            (6, 5, 4, 0),
        ),
        // Thoughts are not part of the output.
        (
            json!({ "inputTokens": 10, "outputTokens": 5, "thoughtTokens": 3,
            "totalTokens": 18 }),
            (10, 8, 0, 0),
        ),
        // They are.
        (
            json!({ "inputTokens": 10, "outputTokens": 5, "thoughtTokens": 3,
            "totalTokens": 15 }),
            (10, 5, 0, 0),
        ),
        (json!({ "input_tokens": 10, "output_tokens": 5 }), (10, 5, 0, 0)),
        (json!("many"), (0, 0, 0, 0)),
    ];
    for (count, (input, output, cache_read, cache_write)) in table {
        let tokens = usage::tokens(&count);
        let read = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write);
        assert_eq!(read, (input, output, cache_read, cache_write), "{count}");
    }
}

#[test]
fn what_pieces_told_of_tokens_is_not_told_again() {
    let piece = |used: u64| {
        let mut piece = chunk("x");
        piece["params"]["update"]["_meta"] =
            json!({ "usage": { "inputTokens": used, "outputTokens": 1 } });
        piece
    };
    let usage = json!({ "inputTokens": 30, "outputTokens": 2, "totalTokens": 32 });
    let result = json!({ "id": 3, "result": { "stopReason": "end_turn", "usage": usage } });
    let steps = hear(working(&brief()).as_mut(), &[piece(10), piece(15), result]);
    assert_eq!(spent(&steps), Usage { input: 30, output: 2, ..Usage::default() });
    // An agent that reports nothing else has told all of it.
    let steps = hear(working(&brief()).as_mut(), &[piece(10), piece(15), stopped(3, "end_turn")]);
    assert_eq!(spent(&steps), Usage { input: 25, output: 2, ..Usage::default() });
}

#[test]
fn a_limit_of_claudes_says_how_long() {
    let limit = json!({ "status": "rejected", "resetsAt": 1_795_000_000 });
    let meta = json!({ "_claude/rateLimit": limit });
    let fault = json!({ "id": 3, "error": { "code": -32603, "message": "Internal error",
        "data": { "message": "5-hour limit" } } });
    let steps = hear(
        working(&brief()).as_mut(),
        &[update(&json!({ "sessionUpdate": "usage_update", "_meta": meta })), fault],
    );
    let until = Some(model::Timestamp::from_millis(1_795_000_000_000));
    assert_eq!(seen(&steps)[0], &Event::Limited { until });
    assert_eq!(done(&steps).unwrap().verdict, EndReportStatus::Failure("5-hour limit".to_owned()));
}

#[test]
fn a_limit_is_told_in_the_adapters_own_ways() {
    for data in
        [json!({ "errorKind": "rate_limit" }), json!({ "codexErrorInfo": "usageLimitExceeded" })]
    {
        let error = json!({ "code": -32603, "message": "Internal error", "data": data });
        let steps = hear(working(&brief()).as_mut(), &[json!({ "id": 3, "error": error })]);
        assert_eq!(seen(&steps)[0], &Event::Limited { until: None }, "{data}");
    }
}

#[test]
fn sessions_of_others_are_not_heard() {
    let mut other = chunk("x");
    other["params"]["sessionId"] = json!("other");
    assert_eq!(hear(working(&brief()).as_mut(), &[other]), []);
}

#[test]
fn a_result_that_is_too_long_ends_its_tool() {
    let mut talk = working(&brief());
    let tool = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "status": "in_progress" });
    hear(talk.as_mut(), &[update(&tool)]);
    let head = r#"{"method":"session/update","params":{"update":{"toolCallId":"c","rawOutput":"x"#;
    let steps = talk.line(&OutputLine { cut: 5_000_000, ..out(head) });
    assert_eq!(steps, [Step::Saw(Event::ToolEnded { id: "c".to_owned(), error: None })]);
}

proptest! {
    #[test]
    fn no_line_makes_it_panic(line in "\\PC*") {
        let mut talk = working(&brief());
        talk.line(&out(&line));
        talk.line(&out(&update(&json!({ "sessionUpdate": line })).to_string()));
        talk.line(&out(&json!({ "id": line, "method": line }).to_string()));
        talk.line(&out(&json!({ "id": 3, "result": line }).to_string()));
    }

    /// A line that was cut or that came out of turn.
    #[test]
    fn no_part_of_a_talk_makes_it_panic(at: usize, cut: usize, skip: usize) {
        for name in ["claude-agent-acp-0.99.1-ask-allow", "codex-acp-2.6.0-load"] {
            let steps = recording("acp", name).play_spoilt(at, cut, skip);
            prop_assert!(steps.len() < 200);
        }
    }
}
