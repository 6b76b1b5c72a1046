//! Reviews that nobody asked for: of work that needs a reviewer when its author ends.

use model::AgentId;
use model::Timestamp;
use model::agent::AgentEvent;
use model::review::{OutboxJobKind, ReviewRequired, ReviewState};
use store::{Agent, Tx};

use super::history;
use crate::call::cx::{fresh, task_of};
use crate::core::error::ToolError;
use crate::core::settings::Settings;
use crate::crew::run::draft::find_role;
use crate::crew::run::required_review::required_review;
use crate::crew::transition;
use crate::delivery::outbox::params::ReviewJob;
use crate::delivery::outbox::{self, NewJob, lane_of};
use crate::tasks::task_change;

/// Has a reviewer look at what an agent left whose process has ended with `head` checked out, and has the agent wait for
/// it. False where its work needs no reviewer, was approved as it is, or can have no more reviews: then a person decides.
pub(crate) fn ask_at_end(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    head: Option<&str>,
    now: Timestamp,
) -> Result<bool, ToolError> {
    if required_review(tx, settings, agent)? != ReviewRequired::Agent {
        return Ok(false);
    }
    let last = tx.reviews_of(agent.id)?.pop();
    let approved = last.filter(|last| last.state == ReviewState::Approved);
    if approved.is_some_and(|approved| head == Some(approved.commit.as_str())) {
        return Ok(false);
    }
    if transition::next_state(agent, AgentEvent::AskedReview, now).is_err() {
        let why = format!("it was {} when its process ended", agent.state.name());
        note_no_reviewer(tx, agent, &why, now)?;
        return Ok(false);
    }
    let (iterations, _, limits) = history(tx, settings, agent.id)?;
    if let Err(limit) = limits.next(iterations) {
        let why = format!("it has had {limit} reviews, which is the limit");
        note_no_reviewer(tx, agent, &why, now)?;
        return Ok(false);
    }
    if let Err(error) = find_role(settings, &settings.review.role) {
        note_no_reviewer(tx, agent, &error.message, now)?;
        return Ok(false);
    }
    let request = ReviewJob {
        coder: agent.id,
        reviewer: fresh(AgentId::from_bits)?,
        message: None,
        instructions: None,
        at_end: true,
    };
    let sending = NewJob {
        kind: OutboxJobKind::Review,
        lane: lane_of(agent.id),
        agent: Some(agent.id),
        caller: Some(agent.id),
        params: &request,
    };
    outbox::send(tx, sending, now)?;
    transition::advance(tx, &mut agent.clone(), AgentEvent::AskedReview, now)?;
    Ok(true)
}

/// Notes on an agent's task why no reviewer looks at its work, so that the person who does knows.
pub(crate) fn note_no_reviewer(
    tx: &mut Tx<'_>,
    agent: &Agent,
    why: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    let Some(task) = task_of(tx, agent.task)? else { return Ok(()) };
    let text = format!("The review of {} ended without a verdict: {why}", agent.id);
    task_change::remark(tx, &task, &text, (Some(agent.id), now))?;
    Ok(())
}
