//! `mcp__agents__spawn_parallel`.

use std::path::Path;

use model::AgentId;
use model::money::Usd;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use wire::agents::{SpawnAggregate, SpawnedAgent, SpawnedAgents, TokensView};

use super::spawn::{SpawnArgs as _, WaitMode};
use super::spawn_claude;
use crate::call::cx::{ReadCx, WriteCx};
use crate::call::tool::{Ask, LoadFiles, Look, Tool};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::crew::result;
use crate::crew::run::view::AgentSnapshot;
use crate::tools::agents::spawn::spawned_agent;
use crate::tools::items::Items;

/// Maximum agents per call.
const MAX_AGENTS: usize = 16;

/// Spawn several Claude sub-agents at once, and wait for all of them
///
/// Each has the parameters of `spawn_claude`. Waits up to 240 seconds; agents that are still
/// running then have the status `running`, and `get_result` continues to wait. Either all are
/// started or none.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The agents, at most 16
    agents: Items<spawn_claude::Args, 1, MAX_AGENTS>,
    /// Also return the sum of their answers, costs and tokens
    aggregate_results: Option<bool>,
    /// Return at once with the ids
    r#async: Option<bool>,
}

pub(crate) struct SpawnParallel;

impl Tool for SpawnParallel {
    const NAME: &'static str = "mcp__agents__spawn_parallel";
    const STARTS_AGENTS: bool = true;
    const LOAD_FILES: Option<LoadFiles> = Some(load_schema_files);
    type Args = Args;
    type Answer = SpawnedAgents;
}

impl Ask for SpawnParallel {
    type Ticket = Vec<AgentId>;

    fn begin(cx: &mut WriteCx<'_, '_>, args: &Args) -> Result<Vec<AgentId>, ToolError> {
        args.agents.as_slice().iter().map(|agent| agent.spawn()?.start(cx)).collect()
    }

    fn wait_seconds(args: &Args) -> u32 {
        WaitMode::unless(args.r#async).seconds()
    }

    fn topics(ticket: &Vec<AgentId>) -> Vec<Topic> {
        ticket.iter().map(|agent| Topic::Agent(*agent)).collect()
    }

    fn look(
        cx: &ReadCx<'_>,
        args: &Args,
        ticket: &Vec<AgentId>,
    ) -> Result<Look<SpawnedAgents>, ToolError> {
        let snapshots = ticket
            .iter()
            .map(|agent| AgentSnapshot::of(cx.tx, *agent))
            .collect::<Result<Vec<_>, _>>()?;
        let over = snapshots.iter().all(AgentSnapshot::is_over);
        let agents: Vec<SpawnedAgent> =
            snapshots.iter().map(|one| spawned_agent(cx, one)).collect();
        let aggregate =
            (args.aggregate_results == Some(true)).then(|| aggregate(&agents, &snapshots));
        let answer = SpawnedAgents { count: agents.len(), agents, aggregate };
        Ok(if over { Look::Settled(answer) } else { Look::NotYet(answer) })
    }
}

/// Puts the schemas of all agents in the place of their files.
fn load_schema_files(project: &Path, input: &mut Value) -> Result<(), ToolError> {
    let agents = input.get_mut("agents").and_then(Value::as_array_mut);
    let mut agents = agents.into_iter().flatten().take(MAX_AGENTS);
    agents.try_for_each(|agent| result::load_schema_file(project, agent))
}

fn aggregate(agents: &[SpawnedAgent], snapshots: &[AgentSnapshot]) -> SpawnAggregate {
    let count = |wanted: Option<bool>| agents.iter().filter(|one| one.success == wanted).count();
    let (succeeded, failed, running) = (count(Some(true)), count(Some(false)), count(None));
    let parts: Vec<String> = agents
        .iter()
        .map(|one| {
            let text = one.result.as_deref().or(one.error.as_deref()).unwrap_or("(still running)");
            format!("## {} ({})\n\n{text}", one.task_summary, one.spawn_id)
        })
        .collect();
    let tokens = agents.iter().fold(TokensView::default(), |sum, one| TokensView {
        input: sum.input + one.tokens.input,
        output: sum.output + one.tokens.output,
    });
    SpawnAggregate {
        success: (running == 0).then_some(failed == 0),
        succeeded,
        failed,
        running,
        cost_usd: snapshots.iter().filter_map(AgentSnapshot::cost).sum::<Usd>().dollars(),
        tokens,
        result: parts.join("\n\n"),
    }
}
