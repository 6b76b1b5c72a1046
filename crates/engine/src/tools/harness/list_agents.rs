//! `mcp__harness__list_agents`.

use model::TaskRef;
use schemars::JsonSchema;
use serde::Deserialize;
use store::{Agent, AgentPage};
use wire::agents::{AgentLine, AgentLines};
use wire::paging::PageCursor;

use crate::call::cx::ReadCx;
use crate::call::paging::Limit;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;

/// List the agents that have not ended
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Maximum number of entries (default 200)
    limit: Option<Limit>,
    /// `nextCursor` of the previous page
    cursor: Option<PageCursor>,
}

pub(crate) struct ListAgents;

impl Tool for ListAgents {
    const NAME: &'static str = "mcp__harness__list_agents";
    type Args = Args;
    type Answer = AgentLines;
}

impl Read for ListAgents {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<AgentLines, ToolError> {
        let after = args.cursor.map_or(0, PageCursor::number);
        let page = cx.tx.agent_page(AgentPage::Live, after, Limit::or(args.limit, 200))?;
        let next_cursor = page.next.map(PageCursor::from);
        let line = |agent: Agent| {
            let task = match agent.task {
                Some(id) => cx.tx.task_find(&TaskRef::Id(id))?,
                None => None,
            };
            Ok(AgentLine {
                id: agent.id,
                state: agent.state.name(),
                role: agent.role,
                task_slug: task.map(|task| task.slug),
                started_at: agent.created_at,
            })
        };
        let agents = page.items.into_iter().map(line).collect::<Result<_, ToolError>>()?;
        Ok(AgentLines { agents, next_cursor })
    }
}
