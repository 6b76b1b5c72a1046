//! `mcp__session__iteration-summary`.

use model::Text;
use model::event::EventKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;

/// Record a summary of the current iteration
///
/// An iteration has one summary: the last one given counts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// What was done, and what comes next
    summary: Text<20_000>,
}

/// That it is recorded.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// The iteration
    iteration: u32,
    /// Always true
    recorded: bool,
}

pub(crate) struct IterationSummary;

impl Tool for IterationSummary {
    const NAME: &'static str = "mcp__session__iteration-summary";
    type Args = Args;
    type Answer = Answer;
}

impl Write for IterationSummary {
    fn write(cx: &mut WriteCx<'_, '_>, Args { summary }: Args) -> Result<Answer, ToolError> {
        let session = cx.tx.session_ensure(cx.caller.session(), cx.now)?;
        let iteration = cx.caller.iteration_of(&session);
        cx.tx.iteration_summarise(&session.name, iteration, &summary, cx.now)?;
        let data = json!({ "session": session.name, "iteration": iteration });
        cx.tell(EventKind::IterationSummarised, None, data)?;
        Ok(Answer { iteration, recorded: true })
    }
}
