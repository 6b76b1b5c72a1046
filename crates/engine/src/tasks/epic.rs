//! Epics in the record: found by id, and moved between states.

use model::{AgentId, EpicId, EpicState, Timestamp};
use store::{Epic, EventDraft, Tx};
use wire::event::{EpicUpdated, EventData};

use crate::core::error::ToolError;

/// The epic of that id, or an error that says how to list them.
pub(crate) fn find_epic(tx: &Tx<'_>, id: EpicId) -> Result<Epic, ToolError> {
    tx.epic_get(id)?.ok_or_else(|| {
        ToolError::not_found(format!("there is no epic `{id}`"))
            .hint("`mcp__epic__list` lists them")
    })
}

/// Moves an epic to where it was decided to go, and tells of it. One that is there already stays.
pub(crate) fn advance(
    tx: &mut Tx<'_>,
    epic: &Epic,
    to: EpicState,
    agent: Option<AgentId>,
    now: Timestamp,
) -> Result<(), ToolError> {
    if to == epic.state {
        return Ok(());
    }
    tx.epic_advance(epic.id, to, now)?;
    let data = EventData::EpicUpdated(EpicUpdated { epic_id: epic.id, from: epic.state, to });
    tx.event_append(now, &EventDraft { agent, task: None, data })?;
    Ok(())
}
