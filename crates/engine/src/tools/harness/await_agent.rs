//! `mcp__harness__await_agent`.

use model::AgentId;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::agents::{AgentResultView, AwaitedAgent};

use crate::call::cx::ReadCx;
use crate::call::paging::WaitSeconds;
use crate::call::tool::{Look, Tool, Wait};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::crew::run::view::{AgentSnapshot, within_reach};

/// Default wait, in seconds.
const WAIT: u32 = 100;

/// Wait until an agent ends, and get its result
///
/// Returns `status: "running"` when the wait times out: call again to continue waiting. The result
/// of an ended agent can be requested at any time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The agent
    agent_id: AgentId,
    /// Seconds to wait (default 100); 0 asks without waiting
    wait_seconds: Option<WaitSeconds>,
}

impl From<&AgentSnapshot> for AwaitedAgent {
    fn from(standing: &AgentSnapshot) -> Self {
        Self {
            status: standing.status(),
            state: standing.state(),
            reason: standing.reason(),
            result: standing.result().map(AgentResultView::from),
        }
    }
}

pub(crate) struct AwaitAgent;

impl Tool for AwaitAgent {
    const NAME: &'static str = "mcp__harness__await_agent";
    type Args = Args;
    type Answer = AwaitedAgent;
}

impl Wait for AwaitAgent {
    fn wait_seconds(args: &Args) -> u32 {
        args.wait_seconds.map_or(WAIT, WaitSeconds::seconds)
    }

    fn topics(_: &ReadCx<'_>, args: &Args) -> Vec<Topic> {
        vec![Topic::Agent(args.agent_id)]
    }

    fn look(cx: &ReadCx<'_>, args: &Args) -> Result<Look<AwaitedAgent>, ToolError> {
        if let Some(own) = &cx.caller.agent {
            let above = cx.tx.agent_ancestors(own)?;
            if own.id == args.agent_id || above.iter().any(|above| above.id == args.agent_id) {
                return Err(ToolError::invalid(
                    "you cannot wait for yourself or for an agent that waits for you: neither would ever end",
                ));
            }
        }
        let standing = within_reach(cx.tx, cx.settings, cx.caller, args.agent_id)?;
        let answer = AwaitedAgent::from(&standing);
        Ok(if standing.is_over() { Look::Settled(answer) } else { Look::NotYet(answer) })
    }
}
