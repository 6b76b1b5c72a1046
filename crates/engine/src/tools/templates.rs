//! Templates as tools: each starts an agent with its prompt, as `spawn_claude` and `spawn_codex` do.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use model::AgentId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::call::cx::{ReadCx, WriteCx};
use crate::call::input;
use crate::call::tool::{Asking, Described, Output, ToolDef, WaitLook, schema};
use crate::core::error::ToolError;
use crate::core::settings::{Settings, Template};
use crate::core::topics::Topic;
use crate::crew::templates::{BESIDES, PROMPTS, input_schema, is_name, is_tool, render, unknown};
use crate::tools::agents::spawn::look_at_spawned;
use crate::tools::agents::spawn::{Spawn, WAIT, WaitMode};
use crate::tools::{TOOLS, by_name};

/// The toolset that templates belong to.
pub const TOOLSET: &str = "agents";

/// What every template's tool takes beside the template's own arguments, with its types.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ContextOptions {
    /// Include the project context (default true)
    include_context: Option<bool>,
    /// Return at once with the `spawn_id`
    r#async: Option<bool>,
    /// Send mail to the caller when it ends
    notify_on_complete: Option<bool>,
    /// Budget in dollars
    max_cost_usd: Option<f64>,
    /// Stop it at that cost (default), or only warn
    abort_on_budget_exceeded: Option<bool>,
}

/// Problem with a template's name, if any.
pub fn name_problem(name: &str) -> Option<String> {
    if PROMPTS.contains(&name) {
        return None;
    }
    if !is_name(name) {
        let message =
            "must begin with a lower-case letter, then up to 40 lower-case letters, digits or `_`";
        return Some(format!("the name `{name}` {message}"));
    }
    let is_taken = TOOLS.iter().any(|tool| tool.joined() == name);
    is_taken.then(|| format!("a tool `{name}` already exists"))
}

/// Every tool there is under these settings, in the order in which lists show them: the templates follow the other
/// tools of their toolset.
pub fn tools_of(settings: &Settings) -> Vec<&'static ToolDef> {
    let after = TOOLS.iter().rposition(|tool| tool.toolset() == TOOLSET).map_or(0, |at| at + 1);
    let (before, after) = TOOLS.split_at(after);
    before.iter().chain(template_tools(settings)).chain(after).collect()
}

/// The tools that these settings add to those that there always are.
pub fn template_tools(settings: &Settings) -> Vec<&'static ToolDef> {
    settings.templates.values().filter(|template| is_tool(template)).map(tool_of).collect()
}

/// The tool of the template of that name.
pub fn template_tool(settings: &Settings, name: &str) -> Option<&'static ToolDef> {
    settings.templates.get(name).filter(|template| is_tool(template)).map(tool_of)
}

/// The tool that a template is. A tool lasts as long as the program, so one is made for each template that ever was
/// and not for each time that templates are read.
fn tool_of(template: &Template) -> &'static ToolDef {
    static MADE: LazyLock<Mutex<HashMap<&'static Template, &'static ToolDef>>> =
        LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(tool) = made.get(template) {
        return tool;
    }
    let template: &'static Template = Box::leak(Box::new(template.clone()));
    let name = Box::leak(format!("mcp__{TOOLSET}__{}", template.name).into_boxed_str());
    let words = Box::leak(Box::new(described(template)));
    let asking = Box::leak(Box::new(Prepared(template)));
    let tool = Box::leak(Box::new(ToolDef::made(name, words, asking)));
    made.insert(template, tool);
    tool
}

fn described(template: &Template) -> Described {
    let defaults = host::agent::kind(&template.kind).and_then(|kind| kind.spawn_defaults());
    let title = template.description.lines().next().unwrap_or_default().to_owned();
    let description = format!(
        "{}\n\nStarts a {} sub-agent with a prepared prompt. Waits up to {WAIT} seconds; for an agent that\n\
         is still running then, the answer has its `spawn_id`, and `get_result` continues to wait.",
        template.description,
        defaults.map_or("", |defaults| defaults.title),
    );
    let mut input = input_schema(template);
    let mut besides = schema::<ContextOptions>();
    if let (Some(Value::Object(own)), Some(Value::Object(more))) =
        (input.get_mut("properties"), besides.remove("properties"))
    {
        own.extend(more);
    }
    let spawn = by_name("mcp__agents__spawn_claude").map(ToolDef::described);
    let output = spawn.map(|spawn| Arc::clone(&spawn.output)).unwrap_or_default();
    Described { title, description, input: Arc::new(input), output }
}

/// A template that is ready to be asked.
struct Prepared(&'static Template);

impl Prepared {
    /// The template's own arguments, and what stands beside them.
    fn read(&self, raw: &Value) -> Result<(Map<String, Value>, ContextOptions), ToolError> {
        let given = match raw {
            Value::Null => Map::new(),
            Value::Object(given) => given.clone(),
            _ => return Err(ToolError::invalid("the input must be a JSON object")),
        };
        let own = || self.0.arguments.iter().map(|argument| argument.name.as_str());
        let known = || own().chain(BESIDES);
        if let Some(name) = given.keys().find(|name| !known().any(|known| known == *name)) {
            return Err(unknown(name, known()));
        }
        let (besides, arguments): (Map<String, Value>, Map<String, Value>) =
            given.into_iter().partition(|(name, _)| BESIDES.contains(&name.as_str()));
        Ok((arguments, input::parse(&Value::Object(besides))?))
    }

    /// The agent that is asked for.
    fn spawn(&self, raw: &Value) -> Result<Spawn, ToolError> {
        let (arguments, besides) = self.read(raw)?;
        let template = self.0;
        let prompt = render(template, &arguments)?;
        let usual = Spawn::of(&template.kind, prompt)?;
        Ok(Spawn {
            model: template.model.clone().or(usual.model),
            tools: template.tools.clone().or(usual.tools),
            timeout: template.timeout.unwrap_or(usual.timeout),
            task_summary: Some(template.name.clone()),
            include_context: besides.include_context,
            notify_on_complete: besides.notify_on_complete,
            max_cost_usd: besides.max_cost_usd,
            abort_on_budget_exceeded: besides.abort_on_budget_exceeded,
            ..usual
        })
    }
}

impl Asking for Prepared {
    fn begin(&self, cx: &mut WriteCx<'_, '_>, raw: &Value) -> Result<Output, ToolError> {
        Output::of(&self.spawn(raw)?.start(cx)?)
    }

    fn look(&self, cx: &ReadCx<'_>, raw: &Value, ticket: &Output) -> Result<WaitLook, ToolError> {
        let agent: AgentId = ticket.read()?;
        let (_, besides) = self.read(raw)?;
        let seconds = WaitMode::unless(besides.r#async).seconds();
        WaitLook::of(look_at_spawned(cx, agent)?, seconds, vec![Topic::Agent(agent)])
    }
}

#[cfg(test)]
mod tests;
