//! `epic`: groups of tasks.

pub(super) mod create;
pub(super) mod get;
pub(super) mod list;
pub(super) mod update_status;

use store::Epic;
use wire::epics::EpicView;

use crate::tasks::epic::{advance, find_epic};

/// Returns an epic as tools answer it.
pub(crate) fn epic_view(epic: Epic) -> EpicView {
    EpicView {
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
