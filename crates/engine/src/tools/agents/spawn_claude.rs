//! `mcp__agents__spawn_claude`.

use model::Line;
use schemars::JsonSchema;
use serde::Deserialize;

use super::spawn::{
    ClaudeModel, Prompt, SchemaText, Spawn, SpawnArgs, SpawnOne, Tools, WaitMode, names,
};
use crate::core::error::ToolError;

/// Spawn a Claude sub-agent to perform a task
///
/// Context from PRD.md, PLAN.md, and CLAUDE.md is automatically injected. Use this for code
/// analysis, research, or complex tasks requiring reasoning. Waits up to 240 seconds; for an agent
/// that is still running then, the answer has its `spawn_id`, and `get_result` continues to wait.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// The task for the sub-agent to perform
    prompt: Prompt,
    /// Model to use: haiku is fast and cheap, sonnet balanced, opus best (default sonnet)
    model: Option<ClaudeModel>,
    /// Tools available to the sub-agent (default Bash, Read, Glob, Grep)
    tools: Option<Tools>,
    /// Timeout in seconds, from 30 to 1800 (default 300)
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
}

impl SpawnArgs for Args {
    const NAME: &'static str = "mcp__agents__spawn_claude";

    fn spawn(&self) -> Result<Spawn, ToolError> {
        let usual = Spawn::of("claude", self.prompt.clone().into_inner())?;
        Ok(Spawn {
            model: self.model.map(|model| model.name().to_owned()).or(usual.model),
            tools: names(self.tools.clone()).or(usual.tools),
            timeout: self.timeout.unwrap_or(usual.timeout),
            task_summary: self.task_summary.clone().map(Line::into_inner),
            include_context: self.include_context,
            structured_output: self.structured_output.clone().map(SchemaText::into_inner),
            notify_on_complete: self.notify_on_complete,
            max_cost_usd: self.max_cost_usd,
            abort_on_budget_exceeded: self.abort_on_budget_exceeded,
            ..usual
        })
    }

    fn patience(&self) -> WaitMode {
        WaitMode::unless(self.r#async)
    }
}

pub(crate) type SpawnClaude = SpawnOne<Args>;
