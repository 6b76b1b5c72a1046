//! `mcp__epic__update_status`.

use model::event::EventKind;
use model::{EpicId, EpicState};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{EpicView, find_epic};
use crate::cx::WriteCx;
use crate::error::ToolError;
use crate::tool::{Tool, Write};

/// Move an epic to another state
///
/// It is completed from `IN_PROGRESS`, and stays completed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The epic
    epic_id: EpicId,
    /// Where it is to go
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
        if to == epic.state {
            return Ok(epic.into());
        }
        cx.tx.epic_advance(epic.id, to, cx.now)?;
        let data = json!({ "epicId": epic.id, "from": epic.state, "to": to });
        cx.tell(EventKind::EpicUpdated, None, data)?;
        Ok(find_epic(cx.tx, epic.id)?.into())
    }
}
