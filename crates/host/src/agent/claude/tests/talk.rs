//! Cases without a recording.

use std::path::PathBuf;

use model::Timestamp;
use model::money::Usd;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::super::{
    Asks, Brief, EndReportStatus, Event, Kind as _, PermissionVerdict, Step, Usage,
};
use super::super::Claude;
use super::super::permission::{Permission, Ruling};
use super::{brief, cost, done, events, line, out, said, usage};
use crate::run::{OutputLine, Stream};

#[test]
fn what_begins_with_a_slash_is_no_command() {
    let mut talk = Claude.conversation(&Brief { prompt: "/compact".to_owned(), ..brief() });
    assert_eq!(said(&talk.begin())["message"]["content"][0]["text"], " /compact");
}

#[test]
fn runs_have_ids_of_their_own() {
    let said = |folder: &str| {
        let run_folder = PathBuf::from(folder);
        Claude.conversation(&Brief { run_folder, ..brief() }).begin()
    };
    assert_eq!(said("/srv/runs/7"), said("/srv/runs/7"));
    assert_ne!(said("/srv/runs/7"), said("/srv/runs/8"));
}

#[test]
fn a_line_said_just_before_a_crash_is_waited_for() {
    let mut before = Claude.conversation(&brief());
    let first = said(&before.begin())["uuid"].clone();
    let lost = before.snapshot();
    let letter = said(&before.tell("A letter came."));
    let second = letter["uuid"].clone();
    let letter = line(Stream::In, &letter.to_string());

    // What the server knows is older than what was said.
    let mut after = Claude.restore(&lost).unwrap();
    assert_eq!(after.line(&letter), []);
    let ended =
        |ids: Value| json!({ "type": "result", "subtype": "success", "user_message_uuids": ids });
    assert!(!after.line(&out(&ended(json!([first])))).contains(&Step::Close));
    assert!(after.line(&out(&ended(json!([second])))).contains(&Step::Close));

    // Where the answer stands before the line in the record, there is nothing to wait for.
    let mut after = Claude.restore(&lost).unwrap();
    assert!(after.line(&out(&ended(json!([first, second])))).contains(&Step::Close));
    assert_eq!(after.line(&letter), []);
    assert_eq!(after.tell("Too late."), []);
}

#[test]
fn a_line_that_it_had_before_is_dealt_with_at_once() {
    let mut talk = Claude.conversation(&brief());
    talk.begin();
    let letter = said(&talk.tell("A letter came."))["uuid"].clone();
    let first = letter.as_str().unwrap().replace("000002", "000001");
    let ended = json!({ "type": "result", "subtype": "success", "user_message_uuids": [first] });
    assert!(!talk.line(&out(&ended)).contains(&Step::Close));
    let state = |state: &str| {
        out(&json!({ "type": "command_lifecycle", "command_uuid": letter, "state": state }))
    };
    assert_eq!(talk.line(&state("queued")), []);
    assert_eq!(talk.line(&state("completed")), [Step::Close]);
}

#[test]
fn nothing_is_said_once_its_input_is_closed() {
    let mut talk = Claude.conversation(&brief());
    talk.begin();
    assert!(
        talk.line(&out(&json!({ "type": "result", "subtype": "success" }))).contains(&Step::Close)
    );
    assert_eq!(talk.tell("Too late."), []);
    assert_eq!(talk.interrupt(), []);
    assert_eq!(talk.answer("r1", PermissionVerdict::Allow), []);
}

#[test]
fn an_interrupt_ends_it_whatever_waits() {
    let mut talk = Claude.conversation(&brief());
    talk.begin();
    talk.tell("A letter came.");
    assert!(matches!(talk.interrupt().as_slice(), [Step::Say(_)]));
    assert_eq!(talk.interrupt(), []);
    assert_eq!(talk.tell("Another letter."), []);
    let ended = json!({ "type": "result", "subtype": "error_during_execution",
        "terminal_reason": "aborted_tools", "queued_turn_count": 1 });
    let steps = talk.line(&out(&ended));
    assert_eq!(done(&steps).unwrap().verdict, EndReportStatus::Aborted("interrupted".to_owned()));
    assert_eq!(steps.last(), Some(&Step::Close));
}

#[test]
fn what_it_asks_for_is_answered_or_refused() {
    let mut talk = Claude.conversation(&Brief { asks: Asks::Person, ..brief() });
    talk.begin();
    let hook = json!({ "type": "control_request", "request_id": "r1",
        "request": { "subtype": "hook_callback" } });
    let error = "`hook_callback` is not known here";
    assert_eq!(
        said(&talk.line(&out(&hook))),
        json!({ "type": "control_response",
            "response": { "subtype": "error", "request_id": "r1", "error": error } })
    );

    let ask = |id: &str| {
        json!({ "type": "control_request", "request_id": id,
        "request": { "subtype": "can_use_tool", "tool_name": "Write",
            "input": { "content": "x".repeat(5_000) } } })
    };
    let steps = talk.line(&out(&ask("r2")));
    let [Step::Saw(Event::Asked { request, tool, input })] = &*steps else { panic!("{steps:?}") };
    assert_eq!((&**request, &**tool, input.chars().count()), ("r2", "Write", 2_000));
    // It is given all that it asked for, not what was shown of it.
    let said = said(&talk.answer("r2", PermissionVerdict::Allow));
    assert_eq!(said["response"]["response"]["updatedInput"], ask("r2")["request"]["input"]);
    assert_eq!(talk.answer("r2", PermissionVerdict::Allow), []);

    // One that was withdrawn, and one that was answered before a crash.
    talk.line(&out(&ask("r3")));
    talk.line(&out(&json!({ "type": "control_cancel_request", "request_id": "r3" })));
    assert_eq!(talk.answer("r3", PermissionVerdict::Allow), []);
    talk.line(&out(&ask("r4")));
    talk.line(&line(Stream::In, r#"{"type":"control_response","response":{"request_id":"r4"}}"#));
    assert_eq!(talk.answer("r4", PermissionVerdict::Allow), []);
}

#[test]
fn tools_are_allowed_by_their_whole_names() {
    let tools = |tools: &[&str]| Some(tools.iter().map(|&tool| tool.to_owned()).collect());
    let some = || tools(&["Read", "Bash(git *)"]);
    let no = |tool: &str| {
        Ruling::Deny(format!(
            "You were not given this use of `{tool}`. You have: Read, Bash(git *). Go on without it."
        ))
    };
    for (given, asks, tool, ruling) in [
        (None, Asks::Deny, "Bash", Ruling::Allow),
        (None, Asks::Person, "Bash", Ruling::Ask),
        (some(), Asks::Person, "Read", Ruling::Allow),
        (some(), Asks::Person, "Write", Ruling::Ask),
        (some(), Asks::Person, "Bash", Ruling::Ask),
        (some(), Asks::Deny, "Bash", no("Bash")),
        (some(), Asks::Allow, "Bash", Ruling::Allow),
        (some(), Asks::Allow, "WebFetch", no("WebFetch")),
        (some(), Asks::Allow, "Workflow", no("Workflow")),
        (tools(&["Task"]), Asks::Deny, "Task", Ruling::Allow),
        (some(), Asks::Deny, "mcp__mail__send", Ruling::Allow),
        (some(), Asks::Deny, "mcp__mailbox__send", no("mcp__mailbox__send")),
        (tools(&["mcp__github__*"]), Asks::Deny, "mcp__github__get", Ruling::Allow),
        (tools(&["mcp__github"]), Asks::Deny, "mcp__github__get", Ruling::Allow),
        (None, Asks::Deny, "mcp__github__get", Ruling::Allow),
    ] {
        let disallowed_tools = vec!["WebFetch".to_owned()];
        let brief = Brief { tools: given, asks, disallowed_tools, ..brief() };
        assert_eq!(Permission::new(&brief).rule(tool), ruling, "{tool} with {asks:?}");
    }
}

#[test]
fn limits_are_told_in_many_ways() {
    let until = |text: &str| Some(Some(text.parse::<Timestamp>().unwrap()));
    let info = |info: Value| json!({ "type": "rate_limit_event", "rate_limit_info": info });
    let result = |text: &str| json!({ "type": "result", "subtype": "success", "is_error": true, "result": text });
    for (message, limit) in [
        (
            info(json!({ "status": "rejected", "resetsAt": 1_795_000_000 })),
            until("2026-11-18T11:06:40Z"),
        ),
        (info(json!({ "status": "rejected" })), Some(None)),
        (info(json!({ "status": "rejected", "isUsingOverage": true })), None),
        (info(json!({ "status": "allowed_warning", "resetsAt": 1_795_000_000 })), None),
        (result("Claude AI usage limit reached|1795000000"), until("2026-11-18T11:06:40Z")),
        (
            result("You will regain access on 2026-12-01 at 00:00 UTC."),
            until("2026-12-01T00:00:00Z"),
        ),
        (result("Credit balance is too low"), None),
        (json!({ "type": "result", "subtype": "success", "result": "A limit reached|1" }), None),
    ] {
        let mut talk = Claude.conversation(&brief());
        let steps = talk.line(&out(&message));
        let limits: Vec<_> = events(&steps)
            .filter_map(|event| match event {
                Event::Limited { until } => Some(*until),
                _ => None,
            })
            .collect();
        assert_eq!(limits, limit.into_iter().collect::<Vec<_>>(), "{message}");
    }
}

#[test]
fn older_versions_are_counted_as_far_as_they_tell() {
    let said = json!({ "type": "assistant", "message": { "id": "m1", "content": [],
        "usage": { "input_tokens": 100, "output_tokens": 1 } } });
    let result = |tokens: u64, dollars: f64| {
        json!({ "type": "result", "subtype": "success", "total_cost_usd": dollars,
        "modelUsage": { "a": { "inputTokens": tokens, "outputTokens": 20 },
            "b": { "inputTokens": 5 } } })
    };
    let run = |brief: &Brief| {
        let mut talk = Claude.conversation(brief);
        [out(&said), out(&result(100, 0.5)), out(&result(150, 0.75))]
            .iter()
            .flat_map(|line| talk.line(line))
            .collect::<Vec<_>>()
    };
    let steps = run(&brief());
    assert_eq!(usage(&steps), Usage { input: 155, output: 20, ..Usage::default() });
    assert_eq!(cost(&steps), Some(Usd::from_dollars(0.75)));
    // What the first turn of a resumed talk cost cannot be known, so nothing is said of money.
    let steps = run(&Brief { resume: Some("s1".to_owned()), ..brief() });
    assert_eq!(usage(&steps), Usage { input: 150, output: 1, ..Usage::default() });
    assert_eq!(cost(&steps), None);
}

#[test]
fn an_end_without_a_result_is_a_failure() {
    let mut talk = Claude.conversation(&brief());
    talk.begin();
    talk.line(&line(Stream::Err, "error: unknown option '--verbose'"));
    let why = "error: unknown option '--verbose'".to_owned();
    assert_eq!(done(&talk.end()).unwrap().verdict, EndReportStatus::Failure(why));
    let mut talk = Claude.conversation(&brief());
    talk.line(&out(&json!({ "type": "result", "subtype": "success" })));
    assert_eq!(talk.end(), []);
}

#[test]
fn a_line_too_long_to_be_kept_ends_what_it_ends() {
    let broken = |text: &str| OutputLine { cut: 9, ..line(Stream::Out, text) };
    let mut talk = Claude.conversation(&brief());
    talk.begin();
    let text = concat!(
        r#"{"type":"user","message":{"content":[{"tool_use_id":"t1","type":"tool_result","#,
        r#""content":"\"tool_use_id\":\"no\" and so on"#
    );
    let ended = Event::ToolEnded { id: "t1".to_owned(), error: None };
    assert_eq!(talk.line(&broken(text)), [Step::Saw(ended)]);
    assert_eq!(talk.line(&broken(r#"{"type":"assistant","message":{"#)), []);
    let steps =
        talk.line(&broken(r#"{"duration_api_ms":1,"total_cost_usd":0.1,"permission_denials":[{"#));
    assert_eq!(done(&steps).unwrap().verdict, EndReportStatus::Success);
    assert_eq!(steps.last(), Some(&Step::Close));
}

#[test]
fn its_own_bounds_are_no_failures() {
    for (result, verdict) in [
        (json!({ "subtype": "success" }), EndReportStatus::Success),
        (
            json!({ "subtype": "success", "result": r#"{"status":"blocked","summary":"no key"}"# }),
            EndReportStatus::Failure("no key".to_owned()),
        ),
        (
            json!({ "subtype": "error_max_budget_usd", "errors": ["Reached maximum budget"] }),
            EndReportStatus::Aborted("Reached maximum budget".to_owned()),
        ),
        (
            json!({ "subtype": "error_max_turns" }),
            EndReportStatus::Aborted("error_max_turns".to_owned()),
        ),
        (
            json!({ "subtype": "error_during_execution" }),
            EndReportStatus::Failure("error_during_execution".to_owned()),
        ),
        (
            json!({ "subtype": "error_max_structured_output_retries" }),
            EndReportStatus::Failure("error_max_structured_output_retries".to_owned()),
        ),
    ] {
        let mut result = result;
        result["type"] = json!("result");
        let steps = Claude.conversation(&brief()).line(&out(&result));
        assert_eq!(done(&steps).unwrap().verdict, verdict, "{result}");
    }
}

/// JSON that resembles what comes, with anything in any place.
fn likely() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let words = [
        "type",
        "subtype",
        "system",
        "init",
        "assistant",
        "user",
        "result",
        "stream_event",
        "event",
        "message",
        "content",
        "usage",
        "id",
        "uuid",
        "request",
        "request_id",
        "control_request",
        "can_use_tool",
        "input",
        "tool_use",
        "tool_result",
        "tool_use_id",
        "modelUsage",
        "tasks",
        "rate_limit_event",
        "rate_limit_info",
        "resetsAt",
        "total_cost_usd",
        "user_message_uuids",
    ];
    let word = proptest::sample::select(words.to_vec());
    let leaf = prop_oneof![leaf, word.clone().prop_map(Value::from)];
    leaf.prop_recursive(4, 64, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::hash_map(word.clone().prop_map(str::to_owned), inner, 0..8)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_line_can_break_it(
        lines in proptest::collection::vec((any::<String>(), likely(), 0..4_u8), 0..12),
    ) {
        let mut talk = Claude.conversation(&brief());
        talk.begin();
        for (garbage, value, way) in lines {
            let line = match way {
                0 => line(Stream::Out, &garbage),
                1 => line(Stream::In, &value.to_string()),
                2 => OutputLine { cut: 1, ..line(Stream::Out, &value.to_string()) },
                _ => out(&value),
            };
            let mut again = Claude.restore(&talk.snapshot()).unwrap();
            prop_assert_eq!(talk.line(&line), again.line(&line));
            prop_assert_eq!(talk.snapshot(), again.snapshot());
        }
    }
}
