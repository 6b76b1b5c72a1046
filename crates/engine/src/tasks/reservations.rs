//! Files that an agent has reserved, at its end.

use model::Timestamp;
use store::{Agent, EventDraft, Reservation, Tx};
use wire::event::{EventData, FilesReleased, ReleasedReservation};

use crate::core::error::ToolError;
use crate::core::settings::Settings;

/// Releases whatever an agent that ends has reserved.
pub(crate) fn let_go(
    tx: &mut Tx<'_>,
    _: &Settings,
    agent: &Agent,
    now: Timestamp,
) -> Result<(), ToolError> {
    let held = tx.reservations_of(agent.id)?;
    if held.is_empty() {
        return Ok(());
    }
    tx.reservations_release_all(agent.id)?;
    let event = EventDraft { agent: Some(agent.id), task: None, data: released_event(held) };
    tx.event_append(now, &event)?;
    Ok(())
}

/// The event that reservations were released.
pub(crate) fn released_event(released: Vec<Reservation>) -> EventData {
    let one = |held: Reservation| ReleasedReservation {
        id: held.id,
        pattern: held.pattern,
        agent_id: held.agent,
    };
    let reservations = released.into_iter().map(one).collect();
    EventData::FilesReleased(FilesReleased { reservations })
}
