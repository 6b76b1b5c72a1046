//! `mcp__harness__draft_agent`.

use model::{AgentId, Line, TaskRef, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::crew::run::draft::draft;
use crate::crew::run::{Draft, Drafted};

/// Start an agent in a role, and go on without waiting for it
///
/// Answers as soon as the agent is recorded; it runs when a place is free. Wait for it with
/// `await_agent`, end it with `kill_agent`. Without `taskSlug` it works on your own task, or on a new one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The role it plays
    role: Line<100>,
    /// What it is to do
    prompt: Text<4_000_000>,
    /// The task it is for: a slug, a number (`TAS-12`) or an id
    task_slug: Option<TaskRef>,
}

/// An agent that was started.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// The agent, for `await_agent` and `kill_agent`
    agent_id: AgentId,
    /// Its role
    role: String,
    /// What it works on
    task_slug: String,
}

pub(crate) struct DraftAgent;

impl Tool for DraftAgent {
    const NAME: &'static str = "mcp__harness__draft_agent";
    const STARTS_AGENTS: bool = true;
    type Args = Args;
    type Answer = Answer;
}

impl Write for DraftAgent {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<Answer, ToolError> {
        let wish = Draft {
            role: Some(args.role.into_inner()),
            prompt: args.prompt.into_inner(),
            task: args.task_slug,
            ..Draft::default()
        };
        let Drafted { id, role, task_slug } = draft(cx, &wish)?;
        Ok(Answer { agent_id: id, role, task_slug })
    }
}
