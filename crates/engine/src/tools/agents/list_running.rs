//! `mcp__agents__list_running`.

use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::AgentPage;

use crate::call::cx::ReadCx;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::crew::run::view::Standing;
use crate::tools::paging::{Cursor, Limit};

/// List all currently running sub-agents
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// At most so many (default 200)
    limit: Option<Limit>,
    /// Go on from `next_cursor` of the page before
    cursor: Option<Cursor>,
}

/// The agents.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// Those that have not ended, oldest first
    agents: Vec<Running>,
    /// How many are in this answer
    count: usize,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Cursor>,
}

/// One agent.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Running {
    /// Its id
    spawn_id: AgentId,
    /// Its model
    model: Option<String>,
    /// When it began
    started_at: Timestamp,
    /// How long it has run
    elapsed_seconds: i64,
    /// What it is about
    task_summary: String,
}

pub(crate) struct ListRunning;

impl Tool for ListRunning {
    const NAME: &'static str = "mcp__agents__list_running";
    type Args = Args;
    type Answer = Answer;
}

impl Read for ListRunning {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<Answer, ToolError> {
        let after = args.cursor.map_or(0, Cursor::number);
        let page = cx.tx.agent_page(AgentPage::Live, after, Limit::or(args.limit, 200))?;
        let next_cursor = page.next.map(Cursor::from);
        let mut agents = Vec::new();
        for agent in page.items {
            let Some(run) = cx.tx.run_get(agent.id)? else { continue };
            let standing = Standing { agent, run: Some(run) };
            agents.push(Running {
                spawn_id: standing.agent.id,
                model: standing.model(),
                started_at: standing.started_at(),
                elapsed_seconds: standing.millis(cx.now) / 1000,
                task_summary: standing.run.map(|run| run.summary).unwrap_or_default(),
            });
        }
        Ok(Answer { count: agents.len(), agents, next_cursor })
    }
}
