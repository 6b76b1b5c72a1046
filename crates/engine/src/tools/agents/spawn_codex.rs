//! `mcp__agents__spawn_codex`.

use model::Line;
use schemars::JsonSchema;
use serde::Deserialize;

use super::spawn::{Prompt, SchemaText, Spawn, SpawnArgs, SpawnOne, Tools, WaitMode, names};
use crate::core::error::ToolError;

/// Spawn a Codex agent for code execution tasks
///
/// Best for running tests, builds, and scripts. Waits up to 240 seconds; for an agent that is still
/// running then, the answer has its `spawn_id`, and `get_result` continues to wait.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The task for Codex to perform
    prompt: Prompt,
    /// Model to use (default: Codex's own)
    model: Option<Line<200>>,
    /// Tools available; recorded only, because Codex decides itself
    tools: Option<Tools>,
    /// Timeout in seconds, from 30 to 1800 (default 120)
    #[schemars(range(min = 30, max = 1800))]
    timeout: Option<u32>,
    /// Short description for logging
    task_summary: Option<Line<500>>,
    /// Include the project context (default true)
    include_context: Option<bool>,
    /// Path to a JSON schema for structured output, or the schema itself
    structured_output: Option<SchemaText>,
    /// Return at once with the `spawn_id`
    r#async: Option<bool>,
    /// Send mail to the caller when it ends
    notify_on_complete: Option<bool>,
    /// Budget in dollars
    max_cost_usd: Option<f64>,
    /// Stop it at that cost (default), or only warn
    abort_on_budget_exceeded: Option<bool>,
    /// Directory to run in, inside the project (default: its root)
    working_directory: Option<Line<4096>>,
}

impl SpawnArgs for Args {
    const NAME: &'static str = "mcp__agents__spawn_codex";

    fn spawn(&self) -> Result<Spawn, ToolError> {
        let usual = Spawn::of("codex", self.prompt.clone().into_inner())?;
        Ok(Spawn {
            model: self.model.clone().map(Line::into_inner),
            tools: names(self.tools.clone()),
            timeout: self.timeout.unwrap_or(usual.timeout),
            task_summary: self.task_summary.clone().map(Line::into_inner),
            include_context: self.include_context,
            structured_output: self.structured_output.clone().map(SchemaText::into_inner),
            notify_on_complete: self.notify_on_complete,
            max_cost_usd: self.max_cost_usd,
            abort_on_budget_exceeded: self.abort_on_budget_exceeded,
            working_directory: self.working_directory.clone().map(Line::into_inner),
            ..usual
        })
    }

    fn patience(&self) -> WaitMode {
        WaitMode::unless(self.r#async)
    }

    fn working_directory(&self) -> Option<&str> {
        self.working_directory.as_deref()
    }
}

pub(crate) type SpawnCodex = SpawnOne<Args>;
