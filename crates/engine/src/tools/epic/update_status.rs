//! `mcp__epic__update_status`.

use model::{EpicId, EpicState};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::epics::EpicView;

use super::{advance, find_epic};
use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::tools::epic::epic_view;

/// Move an epic to another state
///
/// It is completed from `IN_PROGRESS`, and stays completed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The epic
    epic_id: EpicId,
    /// New state
    status: EpicState,
}

pub(crate) struct UpdateStatus;

impl Tool for UpdateStatus {
    const NAME: &'static str = "mcp__epic__update_status";
    const CRITICAL: bool = true;
    const IDEMPOTENT: bool = true;
    type Args = Args;
    type Answer = EpicView;
}

impl Write for UpdateStatus {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<EpicView, ToolError> {
        let epic = find_epic(cx.tx, args.epic_id)?;
        let to = epic.state.go(args.status).map_err(|error| {
            ToolError::conflict(error.to_string())
                .detail("from", error.from.name())
                .detail("to", error.to.name())
        })?;
        advance(cx.tx, &epic, to, cx.caller.id(), cx.now)?;
        Ok(epic_view(find_epic(cx.tx, epic.id)?))
    }
}
