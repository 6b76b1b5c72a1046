//! Snapshots at two sizes.

use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::json;

use super::super::model::tests::{NOW, agent, part, press, read, screen};
use super::super::model::{CostsData, Effect, MailListQuery, Message};
use super::*;

const SIZES: [(u16, u16); 2] = [(80, 24), (200, 50)];

/// The screen as text, without the colours.
fn drawn(state: &State) -> String {
    let mut terminal =
        Terminal::new(TestBackend::new(state.area.width, state.area.height)).unwrap();
    terminal.draw(|frame| draw(frame, state, Paint::Colours)).unwrap();
    let buffer = terminal.backend().buffer();
    let rows = buffer.content().chunks(usize::from(state.area.width));
    let rows = rows.map(|cells| cells.iter().map(|cell| cell.symbol()).collect::<String>());
    rows.map(|row| row.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn at(seconds: i64) -> String {
    NOW.after_seconds(seconds).to_string()
}

/// Reads a mail that offers two answers.
fn with_mail(state: &mut State) {
    let person = |short: &str| json!({ "agentId": "sp_0000000000000001", "role": "coder", "short": short, "state": "waiting_input", "human": false });
    let you = json!({ "agentId": null, "role": null, "short": null, "state": null, "human": true });
    let letter = json!({
        "id": "mail_0000000000000001", "threadId": "mail_0000000000000001", "from": person("k20wm"), "to": you,
        "subject": "Which lock may I take?", "preview": "", "createdAt": at(-540), "readAt": null,
        "kind": "question", "needsAnswer": true, "replies": 0, "cut": false,
        "body": "Postgres advisory locks are shared by the whole database.\n\n1. The hash\n2. The number",
        "options": [{ "number": 1, "text": "The hash", "reply": "1. The hash" }, { "number": 2, "text": "The number", "reply": "2. The number" }],
    });
    let mut told = letter.clone();
    told["subject"] = json!("Property tests: 412 cases, none fail");
    (told["id"], told["needsAnswer"]) = (json!("mail_0000000000000002"), json!(false));
    (told["from"], told["readAt"]) = (person("w93fd"), json!(at(-5)));
    let effects = press(state, "n");
    let Some(Effect::MailList(ask)) = effects.first() else { panic!("{effects:?}") };
    let ask = MailListQuery { ..ask.clone() };
    let list = json!({ "letters": [told, letter], "nextCursor": null });
    state.update(Message::MailList(ask, read(list)));
    state.update(Message::Thread(read(json!({
        "threadId": "mail_0000000000000001", "subject": "Which lock may I take?", "letters": [letter],
        "leftOut": 0, "with": person("k20wm"), "replyTo": "mail_0000000000000001", "wakes": true, "waitsBehind": [],
    }))));
}

fn with_costs(state: &mut State) {
    press(state, "4");
    let value = |usd: f64| json!({ "key": "coder", "usd": usd, "tokens": 1 });
    let points: Vec<serde_json::Value> = (0..12)
        .map(|n| json!({ "from": at(3600 * n), "values": [value(f64::from(u8::try_from(n).unwrap()) * 0.5)] }))
        .collect();
    let node = |short: &str, cap: f64, spent: f64| {
        json!({
            "id": "sp_0000000000000001", "short": short, "role": "lead", "taskNumber": 3, "capUsd": cap, "spentUsd": spent, "state": "running", "children": [],
        })
    };
    let mut root = node("9d2kq", 40.0, 17.69);
    root["children"] = json!([node("7f3ka", 6.0, 1.84), node("h8p0e", 3.0, 3.0)]);
    state.update(Message::Costs(Box::new(CostsData {
        summary: read(json!({
            "from": at(0), "to": at(3600 * 12), "spentUsd": 20.08, "rateUsd": 3.9,
            "tokens": { "all": 9_600_000, "read": 9_000_000, "written": 600_000, "cached": 6_800_000 },
            "doneTask": { "medianUsd": 1.31, "count": 17 }, "failed": { "usd": 4.22 },
        })),
        series: read(json!({
            "by": "role", "from": at(0), "to": at(3600 * 12), "step": 3_600_000, "points": points,
            "keys": [{ "key": "coder", "label": "coder", "usd": 10.21, "tokens": 5_000_000 }, { "key": "lead", "label": "lead", "usd": 4.02, "tokens": 900_000 }],
            "total": value(14.23),
        })),
        lineage: Some(read(root)),
    })));
}

#[test]
fn the_crew_shows_who_needs_you_and_what_everybody_does() {
    for (width, height) in SIZES {
        assert_snapshot!(format!("crew_{width}x{height}"), drawn(&screen(width, height)));
    }
}

#[test]
fn an_agent_shows_its_facts_and_its_stream() {
    for (width, height) in SIZES {
        let mut state = screen(width, height);
        press(&mut state, "j⏎");
        let id = state.agent.as_ref().unwrap().id;
        let item = |more: serde_json::Value| {
            let mut item = json!({
                "at": at(-60), "kind": "call", "id": "c1", "tool": "Bash", "text": "", "ok": null,
                "input": { "command": "cargo nextest run -p store claims" }, "part": false, "err": false, "cut": 0,
            });
            item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            item
        };
        let lines: Vec<String> = (1..=30).map(|n| format!("line {n} of what came")).collect();
        let mut said = part(1, 3);
        said.items.push(read(item(json!({}))));
        said.items
            .push(read(item(json!({ "kind": "output", "text": lines.join("\n"), "ok": true }))));
        said.items.push(read(item(
            json!({ "id": "c2", "tool": "mcp__mail__send", "input": { "subject": "Done?" } }),
        )));
        said.items.push(read(item(
            json!({ "id": "c2", "kind": "output", "text": "no such agent", "ok": false }),
        )));
        state.update(Message::Part(id, Box::new(said)));
        assert_snapshot!(format!("agent_{width}x{height}"), drawn(&state));
    }
}

#[test]
fn mail_shows_what_asks_first_and_the_letter() {
    for (width, height) in SIZES {
        let mut state = screen(width, height);
        with_mail(&mut state);
        assert_snapshot!(format!("mail_{width}x{height}"), drawn(&state));
        press(&mut state, "r⇥");
        assert_snapshot!(format!("reply_{width}x{height}"), drawn(&state));
    }
}

#[test]
fn costs_show_money_over_time_on_what_and_what_may_be_spent() {
    for (width, height) in SIZES {
        let mut state = screen(width, height);
        with_costs(&mut state);
        assert_snapshot!(format!("costs_{width}x{height}"), drawn(&state));
    }
}

#[test]
fn the_help_and_the_question_stand_over_the_view() {
    let mut state = screen(80, 24);
    press(&mut state, "?");
    assert_snapshot!("help_80x24", drawn(&state));
    press(&mut state, "qx");
    assert_snapshot!("kill_80x24", drawn(&state));
}

#[test]
fn a_server_that_is_away_is_told_of_and_what_was_known_stays() {
    let mut state = screen(80, 24);
    state.update(Message::Away);
    state.update(Message::Tick(NOW.after_seconds(4)));
    let seen = drawn(&state);
    assert!(
        seen.contains("The server is not reachable for 4s; agents keep running. As of event 48213"),
        "{seen}"
    );
    assert!(seen.contains("├ coder 7f3ka"), "{seen}");
}

#[test]
fn every_size_can_be_drawn_and_a_small_one_says_so() {
    for width in [1, 20, 59, 60, 61, 79, 119, 120, 121, 300] {
        for height in [1, 3, 14, 15, 16, 24, 60] {
            let mut state = screen(80, 24);
            let wide = agent(
                "wide1",
                json!({ "role": "漢字漢字漢字漢字漢字", "doing": { "text": "🦀".repeat(99), "tool": null } }),
            );
            state.update(Message::Rows(read(json!([wide]))));
            state.update(Message::Resize(width, height));
            for keys in ["1", "2", "r", "⎋1", "m", "⎋?", "qx", "n/abc"] {
                press(&mut state, keys);
                drawn(&state);
            }
            with_costs(&mut state);
            let seen = drawn(&state);
            assert_eq!(seen.contains("Crew"), width >= 60 && height >= 15, "{seen}");
        }
    }
}
