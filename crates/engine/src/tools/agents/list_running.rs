//! `mcp__agents__list_running`.

use schemars::JsonSchema;
use serde::Deserialize;
use store::AgentPage;
use wire::agents::{RunningAgent, RunningAgents};
use wire::paging::PageCursor;

use crate::call::cx::ReadCx;
use crate::call::paging::Limit;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::crew::run::view::AgentSnapshot;

/// List all currently running sub-agents
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Maximum number of entries (default 200)
    limit: Option<Limit>,
    /// `next_cursor` of the previous page
    cursor: Option<PageCursor>,
}

pub(crate) struct ListRunning;

impl Tool for ListRunning {
    const NAME: &'static str = "mcp__agents__list_running";
    type Args = Args;
    type Answer = RunningAgents;
}

impl Read for ListRunning {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<RunningAgents, ToolError> {
        let after = args.cursor.map_or(0, PageCursor::number);
        let page = cx.tx.agent_page(AgentPage::Live, after, Limit::or(args.limit, 200))?;
        let next_cursor = page.next.map(PageCursor::from);
        let mut agents = Vec::new();
        for agent in page.items {
            let Some(run) = cx.tx.run_get(agent.id)? else { continue };
            let snapshot = AgentSnapshot::new(agent, Some(run))?;
            agents.push(RunningAgent {
                spawn_id: snapshot.agent.id,
                model: snapshot.model(),
                started_at: snapshot.started_at(),
                elapsed_seconds: snapshot.millis(cx.now) / 1000,
                task_summary: snapshot.run.map(|run| run.summary).unwrap_or_default(),
            });
        }
        Ok(RunningAgents { count: agents.len(), agents, next_cursor })
    }
}
