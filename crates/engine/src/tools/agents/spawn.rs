//! Shared by the tools that start an agent from a bare prompt.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::path::Path;

use model::agent::AgentStateName;
use model::money::Usd;
use model::{AgentId, Line, Text};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wire::agents::SpawnedAgent;

use crate::call::cx::{ReadCx, WriteCx};
use crate::call::tool::{Ask, LoadFiles, Look, Tool};
use crate::core::error::ToolError;
use crate::core::settings::Budget;
use crate::core::topics::Topic;
use crate::crew::result;
use crate::crew::run::draft::draft;
use crate::crew::run::view::AgentSnapshot;
use crate::crew::run::{Draft, OnCap, RunOptions};
use crate::tools::items::Items;

/// Longest wait of a call for its agent, in seconds.
pub(crate) const WAIT: u32 = 240;
/// Allowed time limits of an agent, in seconds.
const TIMEOUT: std::ops::RangeInclusive<u32> = 30..=1800;

/// A Claude model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum ClaudeModel {
    /// Fast and cheap
    Haiku,
    /// Balanced
    Sonnet,
    /// Best
    Opus,
}

impl ClaudeModel {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Haiku => "haiku",
            Self::Sonnet => "sonnet",
            Self::Opus => "opus",
        }
    }
}

/// Request to start an agent, common to all spawn tools.
#[derive(Debug, Default)]
pub(crate) struct Spawn {
    pub(crate) kind: &'static str,
    pub(crate) prompt: String,
    pub(crate) model: Option<String>,
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) timeout: u32,
    pub(crate) task_summary: Option<String>,
    pub(crate) include_context: Option<bool>,
    pub(crate) structured_output: Option<String>,
    pub(crate) notify_on_complete: Option<bool>,
    pub(crate) max_cost_usd: Option<f64>,
    pub(crate) abort_on_budget_exceeded: Option<bool>,
    pub(crate) working_directory: Option<String>,
}

impl Spawn {
    /// Request with the defaults of a kind.
    pub(crate) fn of(kind: &str, prompt: String) -> Result<Self, ToolError> {
        let known = host::agent::kind(kind);
        let (kind, defaults) =
            known
                .and_then(|kind| Some((kind.name(), kind.spawn_defaults()?)))
                .ok_or_else(|| ToolError::invalid(format!("`{kind}` agents cannot be spawned")))?;
        Ok(Self {
            kind,
            prompt,
            model: defaults.model.map(str::to_owned),
            tools: defaults.tools.map(|tools| tools.iter().copied().map(str::to_owned).collect()),
            timeout: defaults.timeout,
            ..Self::default()
        })
    }

    /// Records the agent.
    pub(crate) fn start(self, cx: &mut WriteCx<'_, '_>) -> Result<AgentId, ToolError> {
        if !TIMEOUT.contains(&self.timeout) {
            return Err(ToolError::invalid(format!(
                "`timeout` is {}; it must be from {} to {} seconds",
                self.timeout,
                TIMEOUT.start(),
                TIMEOUT.end()
            )));
        }
        if let Some(Err(error)) = self.max_cost_usd.map(Usd::check_dollars) {
            return Err(ToolError::invalid(format!("`max_cost_usd`: {error}"))
                .detail("field", "max_cost_usd"));
        }
        let schema =
            self.structured_output.map(|given| result::parse_schema(&given)).transpose()?;
        let on_cap = match self.abort_on_budget_exceeded {
            Some(false) => OnCap::Warn,
            _ => OnCap::Stop,
        };
        let options = RunOptions {
            model: self.model,
            tools: self.tools,
            timeout: Some(self.timeout),
            bare: self.include_context == Some(false),
            schema,
            notify: self.notify_on_complete == Some(true),
            on_cap,
            ..RunOptions::default()
        };
        let asked = Draft {
            kind: Some(self.kind.to_owned()),
            prompt: self.prompt,
            summary: self.task_summary,
            cwd: self.working_directory,
            budget: Budget { usd: self.max_cost_usd, ..Budget::default() },
            options,
            ..Draft::default()
        };
        Ok(draft(cx, &asked)?.id)
    }
}

/// A JSON Schema, or the path of a file with one. Callers give at most 100 000 characters; what a file says, which is
/// put in the place of its path, may be as long as such a file.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub(crate) struct SchemaText(Text<262_144>);

impl SchemaText {
    pub(crate) fn into_inner(self) -> String {
        self.0.into_inner()
    }
}

impl JsonSchema for SchemaText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Text::<100_000>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Text::<100_000>::json_schema(generator)
    }
}

/// A prompt.
pub(crate) type Prompt = Text<4_000_000>;
/// Names of tools.
pub(crate) type Tools = Items<Line<200>, 0, 200>;

/// The names as they are.
pub(crate) fn names(tools: Option<Tools>) -> Option<Vec<String>> {
    tools.map(|tools| tools.into_inner().into_iter().map(Line::into_inner).collect())
}

/// Arguments of a tool that starts one agent from a bare prompt.
pub(crate) trait SpawnArgs: DeserializeOwned + JsonSchema + 'static {
    /// The tool's canonical name.
    const NAME: &'static str;
    /// Converts the arguments to a request.
    fn spawn(&self) -> Result<Spawn, ToolError>;
    /// Longest wait of the caller.
    fn patience(&self) -> WaitMode;
    /// The folder that the agent is to work in.
    fn working_directory(&self) -> Option<&str> {
        None
    }
}

/// A caller's wait for its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitMode {
    /// Not at all
    None,
    /// As long as a call may
    Full,
}

impl WaitMode {
    /// Interprets `async`.
    pub(crate) fn unless(r#async: Option<bool>) -> Self {
        if r#async == Some(true) { Self::None } else { Self::Full }
    }

    pub(crate) const fn seconds(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Full => WAIT,
        }
    }
}

/// A tool that starts one agent from a bare prompt, and waits for it.
pub(crate) struct SpawnOne<A>(PhantomData<fn() -> A>);

impl<A: SpawnArgs> Tool for SpawnOne<A> {
    const NAME: &'static str = A::NAME;
    const STARTS_AGENTS: bool = true;
    const LOAD_FILES: Option<LoadFiles> = Some(result::load_schema_file);
    type Args = A;
    type Answer = SpawnedAgent;
}

impl<A: SpawnArgs> Ask for SpawnOne<A> {
    type Ticket = AgentId;
    const INSPECTS: bool = true;

    fn inspect(folders: &[&Path], args: &A) -> Result<(), ToolError> {
        let Some(given) = args.working_directory() else { return Ok(()) };
        match host::inside::folder(folders, Path::new(given)) {
            Ok(_) => Ok(()),
            Err(error) => {
                Err(ToolError::invalid(format!("`working_directory`: `{given}`: {error}"))
                    .detail("field", "working_directory")
                    .hint("pass a folder inside the project, relative to its root"))
            }
        }
    }

    fn begin(cx: &mut WriteCx<'_, '_>, args: &A) -> Result<AgentId, ToolError> {
        args.spawn()?.start(cx)
    }

    fn wait_seconds(args: &A) -> u32 {
        args.patience().seconds()
    }

    fn topics(ticket: &AgentId) -> Vec<Topic> {
        vec![Topic::Agent(*ticket)]
    }

    fn look(cx: &ReadCx<'_>, _: &A, ticket: &AgentId) -> Result<Look<SpawnedAgent>, ToolError> {
        look_at_spawned(cx, *ticket)
    }
}

/// Current status of an agent.
pub(crate) fn spawned_agent(cx: &ReadCx<'_>, snapshot: &AgentSnapshot) -> SpawnedAgent {
    let over = snapshot.is_over();
    let success = snapshot.state() == AgentStateName::Succeeded;
    let result = snapshot.result();
    let tenths = f64::from(i32::try_from(snapshot.millis(cx.now) / 100).unwrap_or(i32::MAX));
    SpawnedAgent {
        spawn_id: snapshot.agent.id,
        status: snapshot.status(),
        state: snapshot.state(),
        success: over.then_some(success),
        structured_output: result.as_ref().and_then(|result| result.structured.clone()),
        result: result
            .filter(|_| over)
            .map(|result| if result.text.is_empty() { result.summary } else { result.text }),
        error: snapshot.reason().filter(|_| over && !success),
        duration_seconds: tenths / 10.0,
        cost_usd: snapshot.cost().map(Usd::dollars),
        model: snapshot.model(),
        tokens: snapshot.tokens(),
        task_summary: snapshot.run.as_ref().map(|run| run.summary.clone()).unwrap_or_default(),
    }
}

/// Looks at an agent that a call waits for.
pub(crate) fn look_at_spawned(
    cx: &ReadCx<'_>,
    id: AgentId,
) -> Result<Look<SpawnedAgent>, ToolError> {
    let snapshot = AgentSnapshot::of(cx.tx, id)?;
    let answer = spawned_agent(cx, &snapshot);
    Ok(if snapshot.is_over() { Look::Settled(answer) } else { Look::NotYet(answer) })
}
