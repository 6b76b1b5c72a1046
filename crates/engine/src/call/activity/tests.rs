//! Recording of calls and messages, and its limits.

use serde_json::json;

use super::*;

fn work(from: i64) -> Span {
    Span { from, to: None, kind: SpanKind::Work }
}

#[test]
fn a_call_is_about_its_most_telling_argument() {
    let tells = [
        (json!({ "description": "run tests", "command": "cargo test\n-q" }), "cargo test"),
        (json!({ "file_path": "src/lib.rs", "old": "a" }), "src/lib.rs"),
        (json!({ "agentId": "sp_00000000000ab12c", "waitSeconds": 5 }), "ab12c"),
        (json!({ "agentIds": ["sp_00000000000ab12c", "sp_0000000000012345"] }), "ab12c 12345"),
        (json!({ "unheard": "of", "waitSeconds": 9 }), "of"),
        (json!({ "waitSeconds": 100 }), ""),
        (json!({}), ""),
        (json!("bare"), "bare"),
    ];
    for (input, expected) in tells {
        assert_eq!(about(&input), expected, "{input}");
    }
    assert_eq!(about_text(r#"{"command":"ls"}"#), "ls");
    assert_eq!(about_text(r#"{"command":"cut of…"#), r#"{"command":"cut of…"#);
}

#[test]
fn a_line_is_short_and_has_no_secret() {
    let long = one_line(&format!("\n\n {} \nmore", "x".repeat(400)));
    assert_eq!(long.chars().count(), LINE);
    assert!(long.ends_with('…'));
    let secret = format!("curl -H 'Authorization: Bearer {}'", "a1".repeat(20));
    assert!(one_line(&secret).contains("[redacted]"));
}

#[test]
fn the_newest_word_or_call_counts() {
    let (activity, agent) = (ActivityLog::default(), AgentId::from_bits(1));
    activity.record_text(agent, "  \n", 1);
    assert_eq!(activity.of(agent), None, "nothing was said");
    activity.called(agent, "Bash", "ls".into(), work(5));
    activity.record_text(agent, "Done.\nAll of it.", 6);
    let doing = activity.of(agent).unwrap();
    assert_eq!((doing.text.as_str(), doing.tool, doing.calls.len()), ("Done.", None, 1));
}

#[test]
fn a_wait_ends_and_other_calls_stay() {
    let (activity, agent) = (ActivityLog::default(), AgentId::from_bits(1));
    let wait = Span { from: 5, to: None, kind: SpanKind::Wait };
    activity.called(agent, "await_agent", "x".into(), wait);
    activity.called(agent, "Bash", "ls".into(), work(6));
    activity.waited(agent, 9);
    activity.waited(AgentId::from_bits(2), 9);
    let calls: Vec<_> = activity.of(agent).unwrap().calls.into();
    assert_eq!(calls, [Span { to: Some(9), ..wait }, work(6)]);
}

#[test]
fn it_is_bounded() {
    let activity = ActivityLog::default();
    for at in 0..200 {
        activity.called(AgentId::from_bits(7), "Bash", "ls".into(), work(at));
    }
    let first = activity.of(AgentId::from_bits(7)).unwrap().calls.front().copied();
    assert_eq!(first, Some(work(200 - i64::try_from(CALLS).unwrap())));
    for bits in 0..10_000_u32 {
        activity.record_text(
            AgentId::from_bits(u64::from(bits) + 100),
            "x",
            i64::from(bits) + 1000,
        );
    }
    assert!(activity.map().len() <= AGENTS);
    assert!(activity.of(AgentId::from_bits(7)).is_none(), "the oldest went");
    assert!(activity.of(AgentId::from_bits(10_099)).is_some(), "the newest did not");
}
