//! `mcp__epic__get`.

use model::EpicId;
use schemars::JsonSchema;
use serde::Deserialize;
use store::Tx;
use wire::epics::{EpicAnswer, EpicTaskCounts};

use super::find_epic;
use crate::call::cx::ReadCx;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tools::epic::epic_view;

/// Get an epic, and how many of its tasks are in each state
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The epic
    epic_id: EpicId,
}

/// Counts the tasks of an epic by state.
pub(crate) fn epic_task_counts(tx: &Tx<'_>, epic: EpicId) -> Result<EpicTaskCounts, ToolError> {
    let mut counts = EpicTaskCounts::default();
    for (state, tasks) in tx.task_counts(epic)? {
        *counts.of(state.office()) += tasks;
    }
    Ok(counts)
}

pub(crate) struct Get;

impl Tool for Get {
    const NAME: &'static str = "mcp__epic__get";
    type Args = Args;
    type Answer = EpicAnswer;
}

impl Read for Get {
    fn read(cx: &ReadCx<'_>, Args { epic_id }: Args) -> Result<EpicAnswer, ToolError> {
        let epic = find_epic(cx.tx, epic_id)?;
        let task_counts = epic_task_counts(cx.tx, epic_id)?;
        Ok(EpicAnswer { epic: epic_view(epic), task_counts })
    }
}
