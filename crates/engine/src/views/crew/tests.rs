//! Lanes: what an agent's life looks like from when to when.

use model::Timestamp;
use model::agent::AgentStateName::{Queued, Running, Starting, WaitingInput};
use model::event::EventKind;
use serde_json::{Value, json};
use wire::crew::{LaneSegment, LaneState};

use super::lanes::segments;
use crate::views::activity::{Span, SpanKind};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn moved(seconds: i64, state: &str) -> (EventKind, Timestamp, Value) {
    (EventKind::AgentStateChanged, at(seconds), json!({ "state": state }))
}

fn part(state: LaneState, from: i64, to: Option<i64>) -> LaneSegment {
    LaneSegment { state, from: at(from), to: to.map(at) }
}

fn wait(from: i64, to: Option<i64>) -> Span {
    Span { from: from * 1000, to: to.map(|to| to * 1000), kind: SpanKind::Wait }
}

#[test]
fn a_life_is_told_state_by_state() {
    let life = [
        (EventKind::AgentCreated, at(0), json!({})),
        moved(10, "starting"),
        (EventKind::AgentStarted, at(11), json!({})),
        (EventKind::AgentWarned, at(12), json!({ "reason": "x" })),
        moved(20, "waiting_input"),
        moved(30, "running"),
        (EventKind::AgentFinished, at(40), json!({ "state": "succeeded" })),
    ];
    let whole = [
        part(LaneState::In(Queued), 0, Some(10)),
        part(LaneState::In(Starting), 10, Some(11)),
        part(LaneState::In(Running), 11, Some(20)),
        part(LaneState::In(WaitingInput), 20, Some(30)),
        part(LaneState::In(Running), 30, Some(40)),
    ];
    assert_eq!(segments(&life, &[], at(0)), whole);
    assert_eq!(segments(&life, &[], at(25)), whole[3..], "only what reaches into the window");
    assert_eq!(segments(&life, &[], at(50)), []);
}

#[test]
fn what_goes_on_has_no_end_and_what_took_no_time_is_left_out() {
    let life =
        [(EventKind::AgentCreated, at(5), json!({})), (EventKind::AgentStarted, at(5), json!({}))];
    assert_eq!(segments(&life, &[], at(0)), [part(LaneState::In(Running), 5, None)]);
}

#[test]
fn waiting_for_others_is_cut_out_of_running() {
    let life = [(EventKind::AgentStarted, at(0), json!({})), moved(100, "waiting_review")];
    let waits = [wait(10, Some(20)), wait(30, Some(30)), wait(90, None)];
    let running = LaneState::In(Running);
    assert_eq!(
        segments(&life, &waits, at(0))[..4],
        [
            part(running, 0, Some(10)),
            part(LaneState::Awaiting, 10, Some(20)),
            part(running, 20, Some(90)),
            part(LaneState::Awaiting, 90, Some(100)),
        ],
        "a wait ends with the running that it is a part of, and one of no length is none"
    );
    let open = [(EventKind::AgentStarted, at(0), json!({}))];
    let still = segments(&open, &[wait(7, None)], at(0));
    assert_eq!(still, [part(running, 0, Some(7)), part(LaneState::Awaiting, 7, None)]);
    let told = serde_json::to_value(&still).unwrap();
    assert_eq!((&told[0]["state"], &told[1]["state"]), (&json!("running"), &json!("awaiting")));
}
