//! The outbox: the queue of jobs with effects outside the record.
//!
//! *Remember, then do; doing can be repeated.* A job is a row before anything is done. `jobs` runs those that are open,
//! one after the other in a lane.

pub(crate) mod params;

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use model::review::OutboxJobKind;
use model::{AgentId, OutboxJobId, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use store::{EventDraft, NewOutboxJob, OutboxJob, Tx};
use tokio::sync::Notify;
use wire::event::{ErrandCreated, EventData};

use crate::call::cx::fresh;
use crate::call::observer::{CallNote, CallObserver};
use crate::core::durable;
use crate::core::error::ToolError;

/// A job to enqueue.
#[derive(Debug, Clone)]
pub(crate) struct NewJob<'a, W> {
    /// Title
    pub(crate) kind: OutboxJobKind,
    /// Jobs of one lane run one after the other
    pub(crate) lane: String,
    /// Agent concerned
    pub(crate) agent: Option<AgentId>,
    /// Requesting agent
    pub(crate) caller: Option<AgentId>,
    /// Parameters
    pub(crate) params: &'a W,
}

/// The lane of everything that touches an agent's worktree.
pub(crate) fn lane_of(agent: AgentId) -> String {
    format!("agent:{agent}")
}

/// The lane in which work is merged into a branch.
pub(crate) fn lane_to(target: &str) -> String {
    format!("merge:{target}")
}

/// Remembers what is to be done, and tells the runner.
pub(crate) fn send<W: Serialize>(
    tx: &mut Tx<'_>,
    sending: NewJob<'_, W>,
    now: Timestamp,
) -> Result<OutboxJobId, ToolError> {
    let id = fresh(OutboxJobId::from_bits)?;
    send_as(tx, id, sending, now)?;
    Ok(id)
}

/// The same, under an id that was given out already.
pub(crate) fn send_as<W: Serialize>(
    tx: &mut Tx<'_>,
    id: OutboxJobId,
    sending: NewJob<'_, W>,
    now: Timestamp,
) -> Result<(), ToolError> {
    let NewJob { kind, lane, agent, caller, params } = sending;
    let params = serde_json::to_string(params).map_err(ToolError::internal)?;
    tx.outbox_job_insert(&NewOutboxJob { id, kind, lane, agent, caller, parameters: params }, now)?;
    let data = EventData::ErrandCreated(ErrandCreated { errand_id: id, kind });
    tx.event_append(now, &EventDraft { agent, task: None, data })?;
    Ok(())
}

/// Has the worktree of an agent that has ended looked after.
pub(crate) fn send_tidy(
    tx: &mut Tx<'_>,
    agent: AgentId,
    now: Timestamp,
) -> Result<OutboxJobId, ToolError> {
    let (kind, lane) = (OutboxJobKind::Tidy, lane_of(agent));
    let sending = NewJob { kind, lane, agent: Some(agent), caller: None, params: &json!({}) };
    send(tx, sending, now)
}

/// Outcome of an outbox job: none yet, an answer, or its error.
pub(crate) fn outcome<A: DeserializeOwned>(
    tx: &Tx<'_>,
    id: OutboxJobId,
) -> Result<Option<A>, ToolError> {
    let job = tx.outbox_job_get(id)?;
    let job = job.ok_or_else(|| ToolError::not_found(format!("there is no outbox job `{id}`")))?;
    if let Some(error) = &job.error {
        return Err(durable::decode_error(error, row_of(&job))?);
    }
    let decode = |text| durable::decode(text, row_of(&job), "answer");
    job.answer.as_deref().map(decode).transpose()
}

/// Decodes the parameters of an outbox job.
pub(crate) fn decode_params<W: DeserializeOwned>(job: &OutboxJob) -> Result<W, ToolError> {
    durable::decode(&job.parameters, row_of(job), "parameters")
}

/// Decodes the notes of an outbox job.
pub(crate) fn decode_notes<N: DeserializeOwned>(job: &OutboxJob) -> Result<Option<N>, ToolError> {
    let decode = |text| durable::decode(text, row_of(job), "notes");
    job.notes.as_deref().map(decode).transpose()
}

fn row_of(job: &OutboxJob) -> String {
    format!("outbox job `{}`", job.id)
}

/// Shared state of the outbox.
#[derive(Debug, Default)]
pub(crate) struct OutboxState {
    /// Those whose outbox jobs wait for them to be heard of
    waiting: Mutex<HashSet<AgentId>>,
    /// Those of them that were heard of
    heard: Mutex<HashSet<AgentId>>,
    bell: Notify,
}

impl OutboxState {
    /// Has the runner look again.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    /// Waits until it is rung.
    pub(super) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// Says whose outbox jobs wait, and takes those that were heard of.
    pub(super) fn turn(&self, waiting: HashSet<AgentId>) -> HashSet<AgentId> {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = waiting;
        std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CallObserver for OutboxState {
    /// Tries again what waits for an agent to be heard of.
    fn called(&self, agent: AgentId, _: &dyn Fn() -> CallNote) {
        if self.waiting.lock().unwrap_or_else(PoisonError::into_inner).contains(&agent) {
            self.heard.lock().unwrap_or_else(PoisonError::into_inner).insert(agent);
            self.bell.notify_one();
        }
    }
}
