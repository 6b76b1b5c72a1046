//! `files`: files that an agent edits and others leave alone, for a while.

pub(super) mod list_reservations;
pub(super) mod release;
pub(super) mod reserve;

use model::event::EventKind;
use model::{AgentId, ReservationId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use store::{Agent, EventDraft, Reservation, Tx};

use crate::core::error::ToolError;

/// A reservation, as the tools show it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReservationView {
    /// Its id
    id: ReservationId,
    /// Which files
    pattern: String,
    /// Whose
    agent_id: AgentId,
    /// In which role that agent works
    role: String,
    /// What for
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Until when
    expires_at: Timestamp,
}

impl From<Reservation> for ReservationView {
    fn from(held: Reservation) -> Self {
        Self {
            id: held.id,
            pattern: held.pattern,
            agent_id: held.agent,
            role: held.role,
            reason: held.reason,
            expires_at: held.expires_at,
        }
    }
}

/// Releases whatever an agent that ends has reserved.
pub(crate) fn let_go(tx: &mut Tx<'_>, agent: &Agent, now: Timestamp) -> Result<(), ToolError> {
    let held = tx.reservations_of(agent.id)?;
    if held.is_empty() {
        return Ok(());
    }
    tx.reservations_release_all(agent.id)?;
    let event = EventDraft {
        kind: EventKind::FilesReleased,
        agent: Some(agent.id),
        task: None,
        data: released_data(&held),
    };
    tx.event_append(now, &event)?;
    Ok(())
}

/// What is told of reservations that are no more.
fn released_data(released: &[Reservation]) -> Value {
    let one = |held: &Reservation| json!({ "id": held.id, "pattern": held.pattern, "agentId": held.agent });
    json!({ "reservations": released.iter().map(one).collect::<Vec<_>>() })
}
