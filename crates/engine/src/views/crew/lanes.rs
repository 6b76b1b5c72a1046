//! An agent's life as a lane on a time axis: how it stood from when to when.

use model::Timestamp;
use model::agent::AgentStateName;
use model::event::EventKind;
use serde_json::Value;
use wire::crew::{LaneSegment, LaneState};

use crate::views::activity::{Span, SpanKind};

/// A shorter wait cannot be seen on a lane, and is none.
const SHORTEST_WAIT_MS: i64 = 1000;

/// What happened to an agent.
pub(super) type Happened = (EventKind, Timestamp, Value);

/// The state that something that happened leads to.
fn state_after(kind: EventKind, data: &Value) -> Option<AgentStateName> {
    match kind {
        EventKind::AgentCreated => Some(AgentStateName::Queued),
        EventKind::AgentStarted => Some(AgentStateName::Running),
        EventKind::AgentStateChanged | EventKind::AgentFinished => {
            data["state"].as_str().and_then(AgentStateName::parse)
        }
        _ => None,
    }
}

/// How an agent stood, from what happened to it: oldest first, and only what reaches into the window.
pub(super) fn segments(life: &[Happened], waits: &[Span], since: Timestamp) -> Vec<LaneSegment> {
    let mut segments: Vec<LaneSegment> = Vec::new();
    for (kind, at, data) in life {
        let Some(state) = state_after(*kind, data) else { continue };
        if segments.last().is_some_and(|last| last.state == LaneState::In(state)) {
            continue;
        }
        if let Some(last) = segments.last_mut() {
            last.to = Some(*at);
        }
        segments.push(LaneSegment { state: LaneState::In(state), from: *at, to: None });
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
