//! Lanes: what an agent's life looks like from when to when.

use model::Timestamp;
use model::agent::AgentStateName::{self, Queued, Running, Starting, WaitingInput, WaitingReview};
use model::event::EventKind;
use serde_json::json;
use store::Event;
use testkit::event_of;
use wire::crew::{LaneSegment, LaneState};
use wire::event::{AgentStateChanged, EventData};

use super::lanes::segments;
use crate::call::activity::{Span, SpanKind};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn happened(seconds: i64, data: &EventData) -> Event {
    let (kind, at, data) = (data.kind(), at(seconds), data.to_json());
    Event { number: seconds, kind, at, agent: None, task: None, data }
}

fn of_kind(seconds: i64, kind: EventKind) -> Event {
    happened(seconds, &event_of(kind))
}

fn moved(seconds: i64, state: AgentStateName) -> Event {
    happened(seconds, &EventData::AgentStateChanged(AgentStateChanged::to(state)))
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
        of_kind(0, EventKind::AgentCreated),
        moved(10, Starting),
        of_kind(11, EventKind::AgentStarted),
        of_kind(12, EventKind::AgentWarned),
        moved(20, WaitingInput),
        moved(30, Running),
        of_kind(40, EventKind::AgentFinished),
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
    let life = [of_kind(5, EventKind::AgentCreated), of_kind(5, EventKind::AgentStarted)];
    assert_eq!(segments(&life, &[], at(0)), [part(LaneState::In(Running), 5, None)]);
}

#[test]
fn waiting_for_others_is_cut_out_of_running() {
    let life = [of_kind(0, EventKind::AgentStarted), moved(100, WaitingReview)];
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
    let open = [of_kind(0, EventKind::AgentStarted)];
    let still = segments(&open, &[wait(7, None)], at(0));
    assert_eq!(still, [part(running, 0, Some(7)), part(LaneState::Awaiting, 7, None)]);
    let told = serde_json::to_value(&still).unwrap();
    assert_eq!((&told[0]["state"], &told[1]["state"]), (&json!("running"), &json!("awaiting")));
}
