//! Tests of keys and answers, without a screen or server.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Value, json};

use super::*;
use crate::commands::top::describe::sanitized;
use crate::commands::top::model::stream::StreamPlace;
use model::event::EventKind;
use wire::agents::{AgentStream, OutputPlace};
use wire::event::EventView;

/// A point in time on which nothing depends.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_794_787_200_000);

fn at(seconds: i64) -> String {
    NOW.after_seconds(seconds).to_string()
}

/// An agent as the server tells of it, with more if need be.
pub(crate) fn agent(id: &str, more: Value) -> Value {
    let bits = id.bytes().fold(0, |bits: u64, byte| (bits << 8) | u64::from(byte));
    let mut row = json!({
        "id": AgentId::from_bits(bits), "short": id, "role": "coder", "kind": "claude",
        "category": "worker", "depth": 0, "endedBelow": 0,
        "model": "opus", "state": "running", "reason": null, "limitedUntil": null, "task": null,
        "parentId": null, "children": 0, "liveBelow": 0, "doing": null, "asks": null,
        "queuePlace": null, "review": null, "startedAt": at(-90), "finishedAt": null,
        "costUsd": 0.25, "budget": null, "deadlineAt": null,
    });
    if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
        row.extend(more);
    }
    row
}

/// Parses an answer as the feed does.
pub(crate) fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(sanitized(value)).unwrap()
}

/// The frame around a crew, with one question.
pub(crate) fn overview() -> Overview {
    read(json!({
        "project": "tidewater", "lastEvent": 48_213, "running": { "used": 3, "max": 8, "queued": 1 },
        "version": "0.1.0", "home": "/home", "now": at(0), "startedAt": at(-900), "readOnly": false,
        "agents": { "all": 9, "running": 2, "waiting": 1, "queued": 1, "ended": 4 }, "openTasks": 3,
        "mail": { "unread": 1, "needsAnswer": 1 }, "reviews": { "forYou": 0, "open": 0 },
        "today": { "usd": 20.08, "limitUsd": 60.0, "tokens": 9_600_000 },
        "limited": [{ "who": "sonnet", "until": at(600) }],
        "needsYou": [{
            "kind": "question", "title": "Which lock may I take?", "detail": "coder k20wm, TAS-124",
            "agentId": "sp_0000000000000001", "taskNumber": 124, "since": at(-540), "holdsUp": 2,
            "href": "/mail/mail_0000000000000001",
        }],
        "needsYouCount": 4,
    }))
}

/// A lead with three below it, one of whom asks, and those of before.
pub(crate) fn crew(state: &mut State) {
    let lead = agent(
        "9d2kq",
        json!({
            "role": "lead", "children": 3, "liveBelow": 2, "task": { "number": 3, "slug": "leases", "title": "Leases" },
            "budget": { "usd": 40.0, "spentUsd": 17.69 },
            "doing": { "text": "7f3ka, 1 m 42 s", "tool": "mcp__harness__await_agent" },
        }),
    );
    let root = lead["id"].clone();
    let below = [
        agent(
            "7f3ka",
            json!({
                "parentId": root, "task": { "number": 118, "slug": "fence", "title": "Fence stale claims on lease expiry" },
                "doing": { "text": "cargo nextest run -p store", "tool": "Bash" },
                "deadlineAt": at(300),
            }),
        ),
        agent(
            "k20wm",
            json!({
                "parentId": root, "state": "waiting_input", "asks": { "mailId": "mail_0000000000000001", "subject": "Which lock may I take?", "since": at(-540) },
                "task": { "number": 124, "slug": "locks", "title": "Advisory locks" },
            }),
        ),
        agent(
            "w93fd",
            json!({
                "parentId": root, "role": "tester", "state": "succeeded", "finishedAt": at(-30),
                "doing": { "text": "412 cases, 0 failures", "tool": null },
            }),
        ),
    ];
    let ask =
        |parent: Option<AgentId>| CrewPageQuery { of: CrewSelection::Level(parent), after: 0 };
    let list = json!({ "rows": [lead], "past": 39, "nextCursor": null });
    let effects = state.update(Message::Crew(ask(None), read(list)));
    let parent = Some(read(root));
    assert_eq!(effects, [Effect::Crew(ask(parent))], "what is unfolded is asked for");
    let list = json!({ "rows": below, "past": 0, "nextCursor": null });
    assert_eq!(state.update(Message::Crew(ask(parent), read(list))), []);
}

/// A screen of that size, with a crew on it.
pub(crate) fn screen(width: u16, height: u16) -> State {
    let mut state = State::new(Rect::new(0, 0, width, height), NOW);
    state.everything();
    state.update(Message::Live);
    state.update(Message::Overview(Box::new(overview())));
    crew(&mut state);
    state
}

pub(crate) fn press(state: &mut State, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for c in keys.chars() {
        let code = match c {
            '⏎' => KeyCode::Enter,
            '⎋' => KeyCode::Esc,
            '⇥' => KeyCode::Tab,
            '⇞' => KeyCode::PageUp,
            c => KeyCode::Char(c),
        };
        effects = state.update(Message::Key(KeyEvent::new(code, KeyModifiers::NONE)));
    }
    effects
}

/// A part of a stream with so many words, from a number on.
pub(crate) fn part(from: u32, many: u32) -> AgentStream {
    let item = |n: u32| {
        json!({
            "at": at(i64::from(n) - 90), "kind": "message", "id": null, "tool": null, "text": format!("word {n}"),
            "input": null, "ok": null, "durationMs": null, "commit": null, "part": false, "err": false, "cut": 0,
        })
    };
    let items: Vec<Value> = (from..from + many).map(item).collect();
    read(json!({
        "items": items, "from": { "segment": 0, "offset": 5 }, "next": { "segment": 0, "offset": 9 },
        "attempt": 1, "complete": false,
    }))
}

fn selected(state: &State) -> String {
    state.crew.chosen().map(|row| row.short.clone()).unwrap_or_default()
}

#[test]
fn what_is_selected_stays_so_when_others_come() {
    let mut state = screen(80, 24);
    press(&mut state, "jj");
    assert_eq!(selected(&state), "k20wm");
    let parent = state.crew.chosen().and_then(|row| row.parent_id);
    let new = agent("z5u1g", json!({ "parentId": parent, "state": "queued", "queuePlace": 2 }));
    state.update(Message::Rows(read(json!([new]))));
    assert_eq!(state.crew.lines.len(), 6, "{:?}", state.crew.lines);
    assert_eq!(selected(&state), "k20wm");
    press(&mut state, "hh");
    assert_eq!(state.crew.lines.len(), 2, "the lead is folded");
    assert_eq!(selected(&state), "9d2kq");
    press(&mut state, "l");
    assert_eq!(state.crew.lines.len(), 6);
}

#[test]
fn those_of_before_are_asked_for_when_they_are_unfolded_and_no_sooner() {
    let mut state = screen(80, 24);
    let effects = press(&mut state, "G⏎");
    assert_eq!(effects, [Effect::Crew(CrewPageQuery { of: CrewSelection::Past(None), after: 0 })]);
    let page = json!({ "rows": [agent("old01", json!({ "finishedAt": at(-9000), "state": "lost" }))], "past": 0, "nextCursor": 7 });
    let of = CrewSelection::Past(None);
    let effects =
        state.update(Message::Crew(CrewPageQuery { of: of.clone(), after: 0 }, read(page)));
    assert_eq!(
        effects,
        [Effect::Crew(CrewPageQuery { of, after: 7 })],
        "the next page, since its place is seen"
    );
}

#[test]
fn a_kill_is_done_only_after_y() {
    let mut state = screen(80, 24);
    assert_eq!(press(&mut state, "x"), []);
    assert!(matches!(&state.modal, Some(Modal::Kill { below: 2, .. })), "{:?}", state.modal);
    assert_eq!(press(&mut state, "n"), []);
    assert!(state.modal.is_none());
    let id = state.crew.chosen().map(|row| row.id).unwrap();
    assert_eq!(press(&mut state, "xy"), [Effect::Kill(id)]);
    // One that has ended cannot be, and nobody while the server is away.
    assert_eq!(press(&mut state, "jjjxy"), []);
    state.update(Message::Away);
    assert_eq!(press(&mut state, "gxy"), []);
}

#[test]
fn a_stream_stays_put_while_more_comes_and_follows_again() {
    let mut state = screen(80, 24);
    let effects = press(&mut state, "j⏎");
    let id = state.agent.as_ref().unwrap().id;
    assert_eq!(effects.last(), Some(&Effect::Follow(id, None)));
    state.update(Message::Part(id, Box::new(part(1, 50))));
    assert_eq!(state.agent.as_ref().unwrap().top, 50 - 16, "the end is seen");
    press(&mut state, "⇞");
    let top = state.agent.as_ref().unwrap().top;
    state.update(Message::Part(id, Box::new(part(51, 10))));
    assert_eq!(state.agent.as_ref().unwrap().top, top);
    // What is earlier comes in front, and what is seen stays.
    let effects = press(&mut state, "gk");
    let place = StreamPlace { attempt: 1, place: OutputPlace { segment: 0, offset: 5 } };
    assert_eq!(effects, [Effect::Earlier(id, place)]);
    state.update(Message::Earlier(id, Box::new(part(0, 3))));
    assert_eq!(state.agent.as_ref().unwrap().top, 3);
    press(&mut state, "f");
    assert_eq!(state.agent.as_ref().unwrap().top, 63 - 16);
}

#[test]
fn a_late_answer_to_another_filter_changes_nothing() {
    let mut state = screen(80, 24);
    let effects = press(&mut state, "/ab");
    let flat = |text: &str| CrewPageQuery {
        of: CrewSelection::Flat { text: text.into(), standing: "all" },
        after: 0,
    };
    assert_eq!(effects, [Effect::Crew(flat("ab"))]);
    let list = |id| read(json!({ "rows": [agent(id, json!({}))], "past": 0, "nextCursor": null }));
    state.update(Message::Crew(flat("ab"), list("abcde")));
    state.update(Message::Crew(flat("a"), list("axxxx")));
    assert_eq!(selected(&state), "abcde");
    press(&mut state, "⎋");
    assert!(!state.crew.is_flat());
    assert_eq!(state.crew.lines.len(), 5, "the tree is there again");
}

#[test]
fn what_was_written_is_kept_until_it_is_sent() {
    let mut state = screen(80, 24);
    press(&mut state, "mStop⎋");
    assert!(state.modal.is_none());
    let effects = press(&mut state, "m now⏎");
    let id = state.crew.chosen().map(|row| row.id).unwrap();
    assert_eq!(effects, [Effect::Post(Post::Mail { to: id, body: "Stop now".into() })]);
    // While it is sent nothing is typed; where that fails, nothing is lost.
    press(&mut state, "x");
    state.update(Message::Posted(Err("no place".into())));
    let Some(Modal::Write(writing)) = &state.modal else { panic!("{:?}", state.modal) };
    assert_eq!(
        (&writing.phase, writing.editor.text()),
        (&Phase::Failed("no place".into()), "Stop now".into())
    );
    state.update(Message::Posted(Ok("Sent.".into())));
    assert!(state.modal.is_none());
    press(&mut state, "m");
    let Some(Modal::Write(writing)) = &state.modal else { panic!("{:?}", state.modal) };
    assert!(writing.editor.is_blank(), "what was sent is not kept");
    assert_eq!(press(&mut state, "⏎"), [], "nothing is no letter");
}

#[test]
fn what_happens_is_asked_for_together_and_only_what_is_shown() {
    let mut state = screen(80, 24);
    let id = state.crew.chosen().map(|row| row.id).unwrap();
    let event = |number, kind| EventView {
        number,
        kind,
        at: NOW,
        agent_id: Some(id),
        task_id: None,
        data: Value::Null,
    };
    let events =
        vec![event(48_214, EventKind::AgentStateChanged), event(48_215, EventKind::MailSent)];
    assert_eq!(state.update(Message::Events(events.clone())), [Effect::Soon]);
    assert_eq!(state.update(Message::Events(events)), [], "one is on its way");
    assert_eq!(state.update(Message::Renew), [Effect::Rows(vec![id]), Effect::Overview]);
    assert_eq!(state.last_event, 48_215);
}

#[test]
fn a_screen_on_which_nobody_works_does_not_run() {
    let mut state = State::new(Rect::new(0, 0, 80, 24), NOW);
    assert!(!state.is_running());
    assert_eq!(state.update(Message::Tick(NOW.after_seconds(1))), []);
    crew(&mut state);
    assert!(state.is_running());
    state.update(Message::Live);
    let seen = state.update(Message::Tick(NOW.after_seconds(2)));
    assert!(
        matches!(seen.as_slice(), [Effect::Rows(ids)] if ids.len() == 3),
        "who lives and is seen: {seen:?}"
    );
}

#[test]
fn live_agents_come_first_and_new_ones_join_them() {
    let over = |more: Value| {
        let mut row = json!({ "state": "succeeded", "finishedAt": at(-10) });
        if let (Value::Object(row), Value::Object(more)) = (&mut row, more) {
            row.extend(more);
        }
        row
    };
    let rows = [
        agent("old", over(json!({}))),
        agent("one", json!({})),
        agent("kept", over(json!({ "liveBelow": 1, "children": 1 }))),
    ];
    let mut tree = Tree::default();
    tree.level(None, 0, read(json!({ "rows": rows, "past": 0, "nextCursor": null })));
    tree.patch(vec![read(agent("new", json!({})))]);
    let shown = |tree: &Tree| {
        let lines = tree.lines();
        let ids = lines.iter().filter_map(|line| match line.shown {
            Shown::Agent(id) => tree.row(id).map(|row| row.short.clone()),
            _ => None,
        });
        ids.collect::<Vec<_>>()
    };
    assert_eq!(shown(&tree), ["one", "kept", "new", "old"]);
    // What ends while it is looked at stays where it is.
    tree.patch(vec![read(agent("one", over(json!({}))))]);
    assert_eq!(shown(&tree), ["one", "kept", "new", "old"]);
}
