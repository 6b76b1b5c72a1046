//! `mcp__harness__kill_agent`.

use model::AgentId;
use model::agent::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::StopRequest;
use wire::agents::KilledAgent;

use crate::call::cx::{ReadCx, WriteCx};
use crate::call::tool::{Ask, Look, Tool};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::crew::run::stop::stop_tree;
use crate::crew::run::view::{AgentSnapshot, within_reach};

/// Longest wait for an agent and its descendants to end, in seconds.
const KILL_TIMEOUT_SECONDS: u32 = 60;

/// End an agent and everything it started
///
/// Returns when the agent has ended. It is asked to end first, then ended by force. Agents that it
/// started end too.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The agent
    agent_id: AgentId,
}

/// Result of the stop request.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Ticket {
    agent: AgentId,
    lived: bool,
}

pub(crate) struct KillAgent;

impl Tool for KillAgent {
    const NAME: &'static str = "mcp__harness__kill_agent";
    const DESTRUCTIVE: bool = true;
    const IDEMPOTENT: bool = true;
    type Args = Args;
    type Answer = KilledAgent;
}

impl Ask for KillAgent {
    type Ticket = Ticket;

    fn begin(cx: &mut WriteCx<'_, '_>, args: &Args) -> Result<Ticket, ToolError> {
        let standing = within_reach(cx.tx, cx.settings, cx.caller, args.agent_id)?;
        if standing.is_over() {
            return Ok(Ticket { agent: args.agent_id, lived: false });
        }
        let who = cx.caller.id().map_or_else(|| "the operator".to_owned(), |id| id.to_string());
        let stop = StopRequest { outcome: Outcome::Killed, reason: format!("killed by {who}") };
        stop_tree(cx.tx, cx.settings, args.agent_id, &stop, cx.now)?;
        Ok(Ticket { agent: args.agent_id, lived: true })
    }

    fn wait_seconds(_: &Args) -> u32 {
        KILL_TIMEOUT_SECONDS
    }

    fn topics(ticket: &Ticket) -> Vec<Topic> {
        vec![Topic::Agent(ticket.agent)]
    }

    fn look(cx: &ReadCx<'_>, _: &Args, ticket: &Ticket) -> Result<Look<KilledAgent>, ToolError> {
        let standing = AgentSnapshot::of(cx.tx, ticket.agent)?;
        let (id, state) = (ticket.agent, standing.state());
        let reason = standing.reason().unwrap_or_default();
        Ok(match (ticket.lived, standing.is_over()) {
            (false, _) => Look::Settled(KilledAgent {
                success: false,
                message: format!("agent {id} has already ended: {state}, {reason}"),
            }),
            (true, true) => Look::Settled(KilledAgent {
                success: true,
                message: format!("{state} {id} ({reason})"),
            }),
            (true, false) => Look::NotYet(KilledAgent {
                success: false,
                message: format!("agent {id} is still ending; call again"),
            }),
        })
    }
}
