//! `mcp__epic__get`.

use model::EpicId;
use model::task::OfficeState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::Tx;

use super::{EpicView, find_epic};
use crate::call::cx::ReadCx;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;

/// Get an epic, and how many of its tasks are in each state
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The epic
    epic_id: EpicId,
}

/// An epic and how far it is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    // Only ever written, so that flattening cannot swallow a field.
    #[serde(flatten)]
    epic: EpicView,
    /// How many of its tasks are in each state
    task_counts: TaskCounts,
}

/// Tasks by state; cancelled ones count as failed.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) struct TaskCounts {
    pending: i64,
    assigned: i64,
    in_progress: i64,
    review: i64,
    blocked: i64,
    completed: i64,
    failed: i64,
}

impl TaskCounts {
    /// How many tasks of an epic are in each state.
    pub(crate) fn in_epic(tx: &Tx<'_>, epic: EpicId) -> Result<Self, ToolError> {
        let mut counts = Self::default();
        for (state, tasks) in tx.task_counts(epic)? {
            *counts.of(state.office()) += tasks;
        }
        Ok(counts)
    }

    const fn of(&mut self, state: OfficeState) -> &mut i64 {
        match state {
            OfficeState::Pending => &mut self.pending,
            OfficeState::Assigned => &mut self.assigned,
            OfficeState::InProgress => &mut self.in_progress,
            OfficeState::Review => &mut self.review,
            OfficeState::Blocked => &mut self.blocked,
            OfficeState::Completed => &mut self.completed,
            OfficeState::Failed => &mut self.failed,
        }
    }
}

pub(crate) struct Get;

impl Tool for Get {
    const NAME: &'static str = "mcp__epic__get";
    type Args = Args;
    type Answer = Answer;
}

impl Read for Get {
    fn read(cx: &ReadCx<'_>, Args { epic_id }: Args) -> Result<Answer, ToolError> {
        let epic = find_epic(cx.tx, epic_id)?;
        let task_counts = TaskCounts::in_epic(cx.tx, epic_id)?;
        Ok(Answer { epic: epic.into(), task_counts })
    }
}
