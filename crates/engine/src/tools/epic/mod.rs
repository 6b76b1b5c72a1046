//! `epic`: groups of tasks.

pub(super) mod create;
pub(super) mod get;
pub(super) mod list;
pub(super) mod update_status;

use model::event::EventKind;
use model::{AgentId, EpicId, EpicState, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use store::{Epic, EventDraft, Tx};

use crate::core::error::ToolError;

/// An epic, as the office shows it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EpicView {
    /// Its id
    id: EpicId,
    /// Its issue in Linear
    linear_issue_id: Option<String>,
    /// Where that issue can be seen
    linear_issue_url: Option<String>,
    /// What it is called
    title: String,
    /// What it is about
    description: Option<String>,
    /// Where it stands
    state: EpicState,
    /// When it was made
    created_at: Timestamp,
    /// When it last changed
    updated_at: Timestamp,
    /// When it was done
    completed_at: Option<Timestamp>,
}

impl From<Epic> for EpicView {
    fn from(epic: Epic) -> Self {
        Self {
            id: epic.id,
            linear_issue_id: epic.linear_issue_id,
            linear_issue_url: epic.linear_issue_url,
            title: epic.title,
            description: epic.description,
            state: epic.state,
            created_at: epic.created_at,
            updated_at: epic.updated_at,
            completed_at: epic.completed_at,
        }
    }
}

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
    (agent, now): (Option<AgentId>, Timestamp),
) -> Result<(), ToolError> {
    if to == epic.state {
        return Ok(());
    }
    tx.epic_advance(epic.id, to, now)?;
    let data = json!({ "epicId": epic.id, "from": epic.state, "to": to });
    let kind = EventKind::EpicUpdated;
    tx.event_append(now, &EventDraft { kind, agent, task: None, data })?;
    Ok(())
}
