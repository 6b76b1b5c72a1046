//! `mcp__system__log_decision`.

use model::{Line, LogId, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::decisions::LoggedDecision;
use wire::event::{DecisionLogged, EventData};

use crate::call::cx::{WriteCx, fresh};
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;

/// Log a decision or another event worth remembering
///
/// It is stored in the record of calls; people list decisions with `adjutant decisions`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Decision, one line
    title: Line<500>,
    /// Reason and consequences
    #[expect(dead_code, reason = "the record keeps the whole input")]
    body: Text<100_000>,
}

pub(crate) struct LogDecision;

impl Tool for LogDecision {
    const NAME: &'static str = "mcp__system__log_decision";
    type Args = Args;
    type Answer = LoggedDecision;
}

impl Write for LogDecision {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<LoggedDecision, ToolError> {
        // The audit row of this very call is the entry: it holds title, body and this id.
        let log_id = fresh(LogId::from_bits)?;
        let task = cx.caller.agent.as_ref().and_then(|agent| agent.task);
        let data = DecisionLogged { log_id, title: args.title.into_inner() };
        cx.tell(task, EventData::DecisionLogged(data))?;
        Ok(LoggedDecision { log_id, timestamp: cx.now })
    }
}
