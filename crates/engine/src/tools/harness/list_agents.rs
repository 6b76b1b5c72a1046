//! `mcp__harness__list_agents`.

use model::agent::AgentStateName;
use model::{AgentId, TaskRef, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Agent, AgentPage};

use crate::call::cx::ReadCx;
use crate::call::tool::{Read, Tool};
use crate::core::error::ToolError;
use crate::tools::paging::{Cursor, Limit};

/// List the agents that have not ended
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// At most so many (default 200)
    limit: Option<Limit>,
    /// Go on from `nextCursor` of the page before
    cursor: Option<Cursor>,
}

/// The crew.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    /// The agents, oldest first
    agents: Vec<AgentLine>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Cursor>,
}

/// One agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentLine {
    /// Its id
    id: AgentId,
    /// Its role
    role: String,
    /// What it works on
    task_slug: Option<String>,
    /// When it began
    started_at: Timestamp,
    /// Where it stands
    state: AgentStateName,
}

pub(crate) struct ListAgents;

impl Tool for ListAgents {
    const NAME: &'static str = "mcp__harness__list_agents";
    type Args = Args;
    type Answer = Answer;
}

impl Read for ListAgents {
    fn read(cx: &ReadCx<'_>, args: Args) -> Result<Answer, ToolError> {
        let after = args.cursor.map_or(0, Cursor::number);
        let page = cx.tx.agent_page(AgentPage::Live, after, Limit::or(args.limit, 200))?;
        let next_cursor = page.next.map(Cursor::from);
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
        Ok(Answer { agents, next_cursor })
    }
}
