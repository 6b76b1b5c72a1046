//! `mcp__epic__create`.

use model::{EpicId, Line, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use store::NewEpic;
use wire::epics::EpicView;
use wire::event::{EpicCreated, EventData};

use super::find_epic;
use crate::call::cx::{WriteCx, fresh};
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::tools::epic::epic_view;

/// Create an epic
///
/// Tasks join it by `epicId` when they are created.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Title
    title: Line<300>,
    /// Description
    description: Option<Text<100_000>>,
    /// Its issue in Linear; no two epics share one
    linear_issue_id: Option<Line<200>>,
    /// URL of that issue
    linear_issue_url: Option<Line<2000>>,
}

pub(crate) struct Create;

impl Tool for Create {
    const NAME: &'static str = "mcp__epic__create";
    type Args = Args;
    type Answer = EpicView;
}

impl Write for Create {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<EpicView, ToolError> {
        if let Some(issue) = &args.linear_issue_id
            && let Some(other) = cx.tx.epic_by_linear(issue)?
        {
            return Err(ToolError::conflict(format!(
                "the issue `{issue}` already has an epic: `{}`",
                other.id
            ))
            .detail("epicId", other.id.to_string()));
        }
        let new = NewEpic {
            id: fresh(EpicId::from_bits)?,
            title: args.title.into_inner(),
            description: args.description.map(Text::into_inner),
            linear_issue_id: args.linear_issue_id.map(Line::into_inner),
            linear_issue_url: args.linear_issue_url.map(Line::into_inner),
        };
        cx.tx.epic_insert(&new, cx.now)?;
        let data = EventData::EpicCreated(EpicCreated {
            epic_id: new.id,
            title: new.title,
            linear_issue_id: new.linear_issue_id,
        });
        cx.tell(None, data)?;
        Ok(epic_view(find_epic(cx.tx, new.id)?))
    }
}
