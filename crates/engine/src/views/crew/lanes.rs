//! An agent's life as a lane on a time axis: how it stood from when to when.

use model::Timestamp;
use model::agent::AgentStateName;
use store::Event;
use wire::crew::{LaneSegment, LaneState};
use wire::event::EventData;

use crate::call::activity::{Span, SpanKind};

/// A shorter wait cannot be seen on a lane, and is none.
const SHORTEST_WAIT_MS: i64 = 1000;

/// The state of an agent after an event of its life, where the event changes it.
fn state_after(event: &Event) -> Option<AgentStateName> {
    match event.decode()? {
        EventData::AgentCreated(_) => Some(AgentStateName::Queued),
        EventData::AgentStarted(_) => Some(AgentStateName::Running),
        EventData::AgentStateChanged(change) => Some(change.state),
        EventData::AgentFinished(finished) => Some(finished.state),
        _ => None,
    }
}

/// States of an agent over time, from its events: oldest first, within the window.
pub(super) fn segments(life: &[Event], waits: &[Span], since: Timestamp) -> Vec<LaneSegment> {
    let mut segments: Vec<LaneSegment> = Vec::new();
    for event in life {
        let (Some(state), at) = (state_after(event), event.at) else { continue };
        if segments.last().is_some_and(|last| last.state == LaneState::In(state)) {
            continue;
        }
        if let Some(last) = segments.last_mut() {
            last.to = Some(at);
        }
        segments.push(LaneSegment { state: LaneState::In(state), from: at, to: None });
    }
    // What is over has no length: its lane ends where it ended.
    segments.retain(|segment| {
        let LaneState::In(state) = segment.state else { return true };
        let empty = segment.to.is_some_and(|to| to <= segment.from);
        state.outcome().is_none() && !empty && segment.to.is_none_or(|to| to > since)
    });
    segments.into_iter().flat_map(|segment| with_waits(segment, waits)).collect()
}

/// A part of running, cut where a call of its own waited for others.
fn with_waits(whole: LaneSegment, waits: &[Span]) -> Vec<LaneSegment> {
    if whole.state != LaneState::In(AgentStateName::Running) {
        return vec![whole];
    }
    let end = whole.to.map_or(i64::MAX, Timestamp::as_millis);
    let mut parts = Vec::new();
    let mut from = whole.from.as_millis();
    for wait in waits.iter().filter(|span| span.kind == SpanKind::Wait) {
        let (begins, ends) = (wait.from.max(from), wait.to.unwrap_or(end).min(end));
        if ends.saturating_sub(begins) < SHORTEST_WAIT_MS {
            continue;
        }
        if begins > from {
            parts.push(part(whole.state, from, begins));
        }
        parts.push(part(LaneState::Awaiting, begins, ends));
        from = ends;
    }
    if from < end {
        parts.push(part(whole.state, from, end));
    }
    parts
}

fn part(state: LaneState, from: i64, to: i64) -> LaneSegment {
    let to = (to != i64::MAX).then(|| Timestamp::from_millis(to));
    LaneSegment { state, from: Timestamp::from_millis(from), to }
}
