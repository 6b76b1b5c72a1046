//! Permissions, and the names of tools.

use serde_json::{Value, json};

use super::{done, stopped, update, working};
use crate::agent::replay::{brief, hear, said, seen};
use crate::agent::{Asks, Brief, EndReportStatus, Event, PermissionVerdict};

fn option(id: &str, kind: &str) -> Value {
    json!({ "optionId": id, "name": id, "kind": kind })
}

fn question(call: &Value, options: &[Value]) -> Value {
    let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
    json!({ "id": "q", "method": "session/request_permission", "params": params })
}

fn usual() -> [Value; 4] {
    [
        option("always", "allow_always"),
        option("once", "allow_once"),
        option("never", "reject_always"),
        option("not-now", "reject_once"),
    ]
}

/// Policy's answer for a tool of that name.
fn outcome(brief: &Brief, name: &str, options: &[Value]) -> Value {
    let call = json!({ "toolCallId": "c", "name": name, "rawInput": { "a": 1 } });
    let steps = hear(working(brief).as_mut(), &[question(&call, options)]);
    said(&steps).pop().unwrap()["result"]["outcome"].clone()
}

fn selected(option: &str) -> Value {
    json!({ "outcome": "selected", "optionId": option })
}

#[test]
fn it_may_what_it_was_given_and_else_what_the_policy_says() {
    let listed = Brief {
        tools: Some(vec!["Write".to_owned()]),
        disallowed_tools: vec!["mcp__h__kill".to_owned(), "Bash".to_owned()],
        asks: Asks::Deny,
        ..brief()
    };
    let open = Brief { asks: Asks::Allow, ..listed.clone() };
    let table = [
        (&listed, "mcp__h__echo", "once"),
        (&listed, "mcp__h__kill", "not-now"),
        (&listed, "mcp__other__echo", "not-now"),
        (&listed, "Write", "once"),
        (&listed, "Read", "not-now"),
        (&open, "Read", "once"),
        (&open, "Bash", "not-now"),
    ];
    for (brief, tool, option) in table {
        assert_eq!(outcome(brief, tool, &usual()), selected(option), "{tool}");
    }
}

#[test]
fn permission_is_given_once_or_not_at_all() {
    let always = [option("always", "allow_always"), option("never", "reject_always")];
    assert_eq!(outcome(&brief(), "mcp__h__echo", &always), selected("never"));
    assert_eq!(outcome(&brief(), "mcp__h__echo", &[]), json!({ "outcome": "cancelled" }));
}

#[test]
fn an_agent_that_breaks_off_when_it_is_refused_goes_on_without() {
    let mut talk = working(&brief());
    let call = json!({ "toolCallId": "c", "name": "Bash", "rawInput": { "a": 1 } });
    hear(talk.as_mut(), &[question(&call, &usual())]);
    let steps = hear(talk.as_mut(), &[stopped(3, "cancelled")]);
    let [prompt] = &said(&steps)[..] else { panic!("{steps:?}") };
    assert!(prompt["params"]["prompt"][0]["text"].as_str().unwrap().contains("`Bash`"));
    // Once more, and nothing was refused: then it is over.
    assert!(done(&hear(talk.as_mut(), &[stopped(4, "cancelled")])).is_some());
}

#[test]
fn a_question_may_come_before_its_tool() {
    let brief = Brief { asks: Asks::Person, ..brief() };
    let mut talk = working(&brief);
    let call = json!({ "toolCallId": "c", "title": "rm x", "kind": "execute",
        "rawInput": { "command": "rm x" } });
    let steps = hear(talk.as_mut(), &[question(&call, &usual())]);
    let input = || r#"{"command":"rm x"}"#.to_owned();
    let began = Event::ToolBegan { id: "c".to_owned(), name: "execute".to_owned(), input: input() };
    let asked =
        Event::Asked { request: "\"q\"".to_owned(), tool: "execute".to_owned(), input: input() };
    assert_eq!(seen(&steps), [&began, &asked]);
    // The tool itself is then no news, and after its end neither.
    let mut announced = call;
    announced["sessionUpdate"] = json!("tool_call");
    assert_eq!(hear(talk.as_mut(), &[update(&announced)]), []);
    let steps = talk.answer("\"q\"", PermissionVerdict::Deny("no".to_owned()));
    assert_eq!(said(&steps)[0]["result"]["outcome"], selected("not-now"));
    let ended = update(&json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c",
        "status": "failed", "rawOutput": "refused" }));
    let error = Some("refused".to_owned());
    let steps = hear(talk.as_mut(), &[ended.clone(), ended]);
    assert_eq!(seen(&steps), [&Event::ToolEnded { id: "c".to_owned(), error }]);
}

#[test]
fn a_command_that_is_called_like_a_tool_of_ours_is_not_one() {
    let call = |kind: &str| json!({ "toolCallId": "c", "title": "h_echo", "kind": kind, "rawInput": { "a": 1 } });
    let answer = |kind: &str| {
        let steps = hear(working(&brief()).as_mut(), &[question(&call(kind), &usual())]);
        said(&steps).pop().unwrap()["result"]["outcome"].clone()
    };
    assert_eq!(answer("execute"), selected("not-now"));
    assert_eq!(answer("other"), selected("once"));
}

#[test]
fn names_are_found_where_agents_hide_them() {
    let given = json!({ "server": "h", "tool": "echo", "arguments": { "a": 1 } });
    let table = [
        (json!({ "_meta": { "claudeCode": { "toolName": "Bash" } }, "title": "ls" }), "Bash"),
        (json!({ "name": "Write", "title": "Write x", "kind": "edit" }), "Write"),
        (
            json!({ "_meta": { "is_mcp_tool_call": true }, "title": "mcp.h.echo",
                "kind": "execute", "rawInput": given }),
            "mcp__h__echo",
        ),
        (json!({ "title": "echo (h MCP Server)", "kind": "other" }), "mcp__h__echo"),
        (json!({ "title": "h_echo" }), "mcp__h__echo"),
        (json!({ "title": "ls -l", "kind": "execute" }), "execute"),
        (json!({ "title": "Look around" }), "Look around"),
        (json!({}), "tool"),
    ];
    for (mut call, expected) in table {
        call["toolCallId"] = json!("c");
        call["status"] = json!("in_progress");
        call["sessionUpdate"] = json!("tool_call");
        let steps = hear(working(&brief()).as_mut(), &[update(&call)]);
        let [Event::ToolBegan { name, .. }] = seen(&steps)[..] else { panic!("{steps:?}") };
        assert_eq!(name, expected, "{call}");
    }
}

#[test]
fn calling_off_answers_every_question() {
    let mut talk = working(&Brief { asks: Asks::Person, ..brief() });
    hear(talk.as_mut(), &[question(&json!({ "toolCallId": "c", "name": "Bash" }), &usual())]);
    let steps = said(&talk.interrupt());
    assert_eq!(steps[0]["method"], "session/cancel");
    assert_eq!(steps[1]["result"]["outcome"], json!({ "outcome": "cancelled" }));
    let steps = hear(talk.as_mut(), &[stopped(3, "cancelled")]);
    let why = "it was interrupted".to_owned();
    assert_eq!(done(&steps).unwrap().verdict, EndReportStatus::Failure(why));
}
