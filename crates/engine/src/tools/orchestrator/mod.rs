//! `orchestrator`: looks after the supervisors of epics.

pub(super) mod check_supervisor_health;
pub(super) mod create_supervisor;
pub(super) mod list_pending_epics;
pub(super) mod list_supervisors;
pub(super) mod recover_supervisor;

use model::AgentId;

use crate::automation::office::Waiting;
use crate::core::handle::Core;

/// Presence of a waiting call of an agent on this server.
fn waiting(engine: &Core, agent: AgentId) -> Waiting {
    if engine.waits.is_waiting(agent) { Waiting::ForOthers } else { Waiting::No }
}
