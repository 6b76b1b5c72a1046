//! `mcp__agents__get_result`.

use model::AgentId;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::agents::SpawnedAgent;

use crate::call::cx::ReadCx;
use crate::call::paging::WaitSeconds;
use crate::call::tool::{Look, Tool, Wait};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::crew::run::view::within_reach;
use crate::tools::agents::spawn::look_at_spawned;

/// Get the result of a previously spawned agent by ID
///
/// With `waitSeconds` it waits for an agent that is still running.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The spawn ID returned from `spawn_claude` or `spawn_codex`
    spawn_id: AgentId,
    /// Seconds to wait (default 0)
    #[serde(rename = "waitSeconds")]
    wait_seconds: Option<WaitSeconds>,
}

pub(crate) struct GetResult;

impl Tool for GetResult {
    const NAME: &'static str = "mcp__agents__get_result";
    type Args = Args;
    type Answer = SpawnedAgent;
}

impl Wait for GetResult {
    fn wait_seconds(args: &Args) -> u32 {
        args.wait_seconds.map_or(0, WaitSeconds::seconds)
    }

    fn topics(_: &ReadCx<'_>, args: &Args) -> Vec<Topic> {
        vec![Topic::Agent(args.spawn_id)]
    }

    fn look(cx: &ReadCx<'_>, args: &Args) -> Result<Look<SpawnedAgent>, ToolError> {
        within_reach(cx.tx, cx.settings, cx.caller, args.spawn_id)?;
        look_at_spawned(cx, args.spawn_id)
    }
}
