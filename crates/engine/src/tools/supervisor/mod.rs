//! `supervisor`: what is handed in is approved, sent back, or done without; and an epic goes out.

pub(super) mod approve_task;
pub(super) mod create_epic_pr;
pub(super) mod force_complete_task;
pub(super) mod get_review_queue;
pub(super) mod request_changes;

use model::EpicId;
use model::task::TaskRef;
use store::{Task, Tx};

use crate::call::cx::Caller;
use crate::core::error::ToolError;

/// Refuses a task of another epic than the caller's, or of one that another agent leads.
fn leads(tx: &Tx<'_>, caller: &Caller, epic: Option<EpicId>) -> Result<(), ToolError> {
    let Some(agent) = &caller.agent else { return Ok(()) };
    if agent.epic.is_some() && agent.epic == epic {
        return Ok(());
    }
    if agent.epic.is_some() {
        return Err(ToolError::denied("that task is not in your epic; its own supervisor decides"));
    }
    let other = epic.map(|epic| tx.agent_supervising(epic)).transpose()?.flatten();
    match other.filter(|other| other.id != agent.id) {
        Some(other) => {
            let message = format!("that task is in an epic led by agent `{}`", other.id);
            Err(ToolError::denied(message)
                .hint("write to it with the tool `send` of the toolset `mail`"))
        }
        None => Ok(()),
    }
}

/// The task of that name, if the caller decides about it.
fn led_task(tx: &Tx<'_>, caller: &Caller, name: &TaskRef) -> Result<Task, ToolError> {
    let task = crate::call::cx::find_task(tx, name)?;
    leads(tx, caller, task.epic)?;
    Ok(task)
}
