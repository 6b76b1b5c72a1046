//! `mcp__orchestrator__create_supervisor`.

use model::{EpicId, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::supervisors::CreatedSupervisor;

use crate::automation::office::{brief, open_epic, set_going, supervisor_role};
use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::crew::run::draft::draft;
use crate::crew::run::{Draft, Drafted};
use crate::tasks::epic::find_epic;

/// Start a supervisor for an epic
///
/// Its prompt has the epic, its tasks and instructions. An epic has one supervisor at a time; a
/// planned epic moves to in progress. Returns as soon as the supervisor is recorded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The epic
    epic_id: EpicId,
    /// Text added to the prompt
    prompt: Option<Text<100_000>>,
}

pub(crate) struct CreateSupervisor;

impl Tool for CreateSupervisor {
    const NAME: &'static str = "mcp__orchestrator__create_supervisor";
    const STARTS_AGENTS: bool = true;
    type Args = Args;
    type Answer = CreatedSupervisor;
}

impl Write for CreateSupervisor {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<CreatedSupervisor, ToolError> {
        let epic = open_epic(cx.tx, args.epic_id)?;
        let role = supervisor_role(cx.settings)?.name.clone();
        let more = args.prompt.map(Text::into_inner);
        let request = Draft {
            role: Some(role),
            prompt: brief::prompt(cx.tx, &epic, more.as_deref(), None)?,
            summary: Some(format!("leads {}", epic.title)),
            epic: Some(epic.id),
            ..Draft::default()
        };
        let Drafted { id, role, .. } = draft(cx, &request)?;
        set_going(cx.tx, &epic, cx.caller.id(), cx.now)?;
        let epic_state = find_epic(cx.tx, epic.id)?.state;
        Ok(CreatedSupervisor { agent_id: id, role, epic_id: epic.id, epic_state })
    }
}
