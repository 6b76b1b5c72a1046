//! `mcp__session__iteration-summary`.

use model::Text;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::event::{EventData, IterationSummarised};
use wire::session::RecordedSummary;

use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;

/// Record a summary of the current iteration
///
/// An iteration has one summary; a later one replaces it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Summary of the work and of the next steps
    summary: Text<20_000>,
}

pub(crate) struct IterationSummary;

impl Tool for IterationSummary {
    const NAME: &'static str = "mcp__session__iteration-summary";
    type Args = Args;
    type Answer = RecordedSummary;
}

impl Write for IterationSummary {
    fn write(
        cx: &mut WriteCx<'_, '_>,
        Args { summary }: Args,
    ) -> Result<RecordedSummary, ToolError> {
        let session = cx.tx.session_ensure(cx.caller.session(), cx.now)?;
        let iteration = cx.caller.iteration_of(&session);
        cx.tx.iteration_summarise(&session.name, iteration, &summary, cx.now)?;
        let data = IterationSummarised { session: session.name, iteration };
        cx.tell(None, EventData::IterationSummarised(data))?;
        Ok(RecordedSummary { iteration, recorded: true })
    }
}
