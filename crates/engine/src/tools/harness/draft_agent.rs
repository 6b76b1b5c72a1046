//! `mcp__harness__draft_agent`.

use model::{Line, TaskRef, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::agents::DraftedAgent;

use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::crew::run::draft::draft;
use crate::crew::run::{Draft, Drafted};

/// Start an agent in a role, without waiting for its result
///
/// Returns as soon as the agent is recorded; it runs when a slot is free. Wait for it with
/// `await_agent`, end it with `kill_agent`. Without `taskSlug` it works on your own task, or on a
/// new one if you have none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Role
    role: Line<100>,
    /// Prompt
    prompt: Text<4_000_000>,
    /// Its task: a slug, a number (`TAS-12`) or an id
    task_slug: Option<TaskRef>,
}

pub(crate) struct DraftAgent;

impl Tool for DraftAgent {
    const NAME: &'static str = "mcp__harness__draft_agent";
    const STARTS_AGENTS: bool = true;
    type Args = Args;
    type Answer = DraftedAgent;
}

impl Write for DraftAgent {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<DraftedAgent, ToolError> {
        let request = Draft {
            role: Some(args.role.into_inner()),
            prompt: args.prompt.into_inner(),
            task: args.task_slug,
            ..Draft::default()
        };
        let Drafted { id, role, task_slug } = draft(cx, &request)?;
        Ok(DraftedAgent { agent_id: id, role, task_slug })
    }
}
