//! Lines that programs print about themselves.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn a_result_is_found_at_the_end_of_a_text() {
    let result = json!({ "status": "success", "summary": "done" });
    let line = result.to_string();
    for text in [
        line.clone(),
        format!("I am done.\n{line}\n"),
        format!("I am done.\n\n```json\n{result:#}\n```\n"),
        format!("```\ncode\n```\nand\n```\n{line}\n```"),
        format!("It is over:\n{result:#}"),
    ] {
        assert_eq!(result_in(&text), Some(result.clone()), "{text}");
    }
    for text in [
        "",
        "done",
        "{}",
        "{\"other\": 1}",
        "```\n```",
        "{\"summary\": 1}",
        "{\"status\": \"success\"} and so on",
    ] {
        assert_eq!(result_in(text), None, "{text}");
    }
}

#[test]
fn a_result_says_itself_whether_it_is_one_of_failure() {
    for (status, failed) in [
        ("success", false),
        ("partial", false),
        ("failed", true),
        ("blocked", true),
        ("odd", false),
    ] {
        let verdict = verdict(&json!({ "status": status, "summary": "because" }));
        let expected = if failed {
            EndReportStatus::Failure("because".to_owned())
        } else {
            EndReportStatus::Success
        };
        assert_eq!(verdict, expected, "{status}");
    }
    assert_eq!(
        verdict(&json!({ "status": "failed" })),
        EndReportStatus::Failure("failed".to_owned())
    );
}

#[test]
fn a_report_tells_what_it_understands() {
    let mut cost = Usd::from_dollars(1.0);
    let report = json!({
        "model": "local-7b",
        "usage": { "input_tokens": 10, "output_tokens": 2, "cache_read_tokens": 3, "cost_usd": 0.5},
        "limited": { "until": "2026-11-15T18:00:00Z" },
        "tool": { "id": "1", "name": "grep", "input": { "pattern": "x" } },
        "later": true,
    });
    let usage = Usage { input: 10, output: 2, cache_read: 3, cache_write: 0 };
    let input = "{\"pattern\":\"x\"}".to_owned();
    assert_eq!(
        events(&report, &mut cost),
        [
            Event::Model("local-7b".to_owned()),
            Event::Usage(usage),
            Event::Cost(Usd::from_dollars(1.5)),
            Event::Limited { until: Some("2026-11-15T18:00:00Z".parse().unwrap()) },
            Event::ToolBegan { id: "1".to_owned(), name: "grep".to_owned(), input },
        ]
    );
}

#[test]
fn nobody_earns_money_by_working() {
    let mut cost = Usd::ZERO;
    assert_eq!(events(&json!({ "usage": { "cost_usd": -5 } }), &mut cost), []);
    assert_eq!(cost, Usd::ZERO);
}

#[test]
fn a_tool_is_told_in_one_line_or_in_two() {
    let mut cost = Usd::ZERO;
    let mut told = |tool: Value| events(&json!({ "tool": tool }), &mut cost);
    let began =
        |input: &str| Event::ToolBegan { id: "1".into(), name: "x".into(), input: input.into() };
    let ended =
        |error: Option<&str>| Event::ToolEnded { id: "1".into(), error: error.map(str::to_owned) };
    assert_eq!(told(json!({ "id": "1", "name": "x" })), [began("{}")]);
    assert_eq!(
        told(json!({ "id": "1", "name": "x", "done": true, "error": "no" })),
        [ended(Some("no"))]
    );
    assert_eq!(
        told(json!({ "id": "1", "name": "x", "input": {}, "done": true })),
        [began("{}"), ended(None)]
    );
    assert_eq!(told(json!({ "name": "x" })), []);
    assert_eq!(told(json!("x")), []);
}

proptest! {
    #[test]
    fn no_text_can_break_it(text: String, more: String) {
        result_in(&text);
        result_in(&format!("{text}\n{{{more}"));
        result_in(&format!("{text}```{more}```"));
    }
}
