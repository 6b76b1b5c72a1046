//! `mcp__agent__get_epic`.

use schemars::JsonSchema;
use serde::Deserialize;
use wire::epics::EpicView;

use super::current_task;
use crate::call::cx::ReadCx;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tools::epic::epic_view;

/// Get the epic that you work in
///
/// A worker's epic is the epic of its task; supervisors and orchestrators have one of their own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {}

pub(crate) struct GetEpic;

impl Tool for GetEpic {
    const NAME: &'static str = "mcp__agent__get_epic";
    const CRITICAL: bool = true;
    type Args = Args;
    type Answer = EpicView;
}

impl Read for GetEpic {
    fn read(cx: &ReadCx<'_>, Args {}: Args) -> Result<EpicView, ToolError> {
        let agent = cx.caller.agent()?;
        let leads = matches!(agent.category.as_str(), "supervisor" | "orchestrator");
        let epic = if leads {
            agent.epic
        } else {
            match agent.task {
                Some(_) => current_task(cx, agent)?.epic,
                // One that was enlisted into an epic without a task stands in it all the same.
                None if agent.epic.is_some() => agent.epic,
                None => return Err(ToolError::wrong_state("you have no current task")),
            }
        };
        let epic = epic.ok_or_else(|| ToolError::wrong_state("you have no current epic"))?;
        let found = cx.tx.epic_get(epic)?;
        found
            .map(epic_view)
            .ok_or_else(|| ToolError::not_found(format!("there is no epic `{epic}`")))
    }
}
