//! `mcp__mail__send`.

use model::{AgentId, Line, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::mail::SentMail;

use super::deliver;
use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::mail::outgoing::MailText;

/// Send mail to another agent or to the human
///
/// Pass exactly one recipient: `toAgentId`, or `toHuman: true`. Mail to an agent that has ended is
/// forwarded to the next agent of its task, otherwise to the human.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// The agent to write to; not together with `toHuman`
    to_agent_id: Option<AgentId>,
    /// Write to the human; not together with `toAgentId`
    to_human: Option<bool>,
    /// Subject
    subject: Line<500>,
    /// Text
    body: Text<100_000>,
}

pub(crate) struct Send;

impl Tool for Send {
    const NAME: &'static str = "mcp__mail__send";
    const CRITICAL: bool = true;
    type Args = Args;
    type Answer = SentMail;
}

impl Write for Send {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<SentMail, ToolError> {
        let to = match (args.to_agent_id, args.to_human.unwrap_or(false)) {
            (Some(agent), false) => Some(agent),
            (None, true) => None,
            (None, false) => {
                return Err(ToolError::invalid(
                    "Must specify either `toAgentId` or `toHuman: true`",
                ));
            }
            (Some(_), true) => {
                return Err(ToolError::invalid("pass `toAgentId` or `toHuman`, not both"));
            }
        };
        let word = MailText { subject: args.subject.into_inner(), body: args.body.into_inner() };
        deliver(cx, to, word, None)
    }
}
