//! Agents that Adjutant runs itself: how the operator starts them, reads them and types to them.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use engine::settings::{Budget, is_bare};
use engine::store::{Agent, Tx};
use engine::{Code, Draft, Engine, OutputPage, OutputWish, ToolError};
use http::StatusCode;
use model::money::Usd;
use model::{AgentId, Cursor, Line, TaskRef, Text, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::agents::id_of;
use crate::answer::{Answer, Input, Params};
use crate::server::Shared;

/// Nobody waits longer for output in one request.
pub(super) const LONGEST_WAIT: u64 = 60;
/// About so much output comes at once unless told otherwise.
pub(super) const BYTES: usize = 256 * 1024;
/// More does not come at once.
pub(super) const MOST_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of tools named.
const MOST_TOOLS: usize = 200;
/// Poll intervals for output, first and last.
pub(super) const SOON: Duration = Duration::from_millis(5);
pub(super) const AT_LAST: Duration = Duration::from_millis(100);

/// Request to start an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewRun {
    /// In which role; a bare prompt needs none
    role: Option<Line<100>>,
    /// Kind: `claude`, `codex`, `acp`, `command` or `script` (default: the role's)
    kind: Option<Line<50>>,
    /// Prompt
    prompt: Text<4_000_000>,
    /// For which task: id, number or slug (default: a new one)
    task: Option<TaskRef>,
    /// Where it works (default: as the role says, else the project)
    cwd: Option<Line<4096>>,
    /// The model (default: as role and configuration say)
    model: Option<Line<200>>,
    /// The agent's own tools it may use (default: as the role says)
    #[schemars(length(max = 200))]
    tools: Option<Vec<Line<200>>>,
    /// Time limit in seconds
    #[schemars(range(min = 1))]
    timeout: Option<u32>,
    /// Budget for it and its descendants
    #[serde(default)]
    budget: Caps,
    /// The agent whose conversation it goes on with; role, kind and place are that one's
    resume: Option<AgentId>,
}

/// Caps on spending. An absent cap is the role's or the configuration's.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Caps {
    /// Dollars
    usd: Option<f64>,
    /// Tokens, in and out
    tokens: Option<u64>,
    /// Agents started
    agents: Option<u32>,
    /// Seconds of running
    seconds: Option<u64>,
}

/// A started agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Started {
    /// The agent
    agent_id: AgentId,
    /// Its role
    role: String,
    /// Current task
    task_slug: String,
}

pub(crate) async fn start(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<NewRun>,
) -> Answer<(StatusCode, Json<Started>)> {
    let engine = &shared.app.engine;
    let draft = draft_of(engine, asked)?;
    let (agent_id, role, task_slug) = engine.draft(draft).await?;
    Ok((StatusCode::CREATED, Json(Started { agent_id, role, task_slug })))
}

fn draft_of(engine: &Engine, asked: NewRun) -> Result<Draft, ToolError> {
    if asked.timeout == Some(0) {
        return Err(wrong("timeout", "must be at least 1"));
    }
    if let Some(Err(error)) = asked.budget.usd.map(Usd::check_dollars) {
        return Err(wrong("budget.usd", &format!("is wrong: {error}")));
    }
    if asked.tools.as_ref().is_some_and(|tools| tools.len() > MOST_TOOLS) {
        return Err(wrong("tools", &format!("has more than {MOST_TOOLS} items")));
    }
    let mut draft = Draft {
        role: asked.role.map(Line::into_inner),
        kind: asked.kind.map(Line::into_inner),
        prompt: asked.prompt.into_inner(),
        task: asked.task,
        cwd: asked.cwd.map(Line::into_inner),
        resume: asked.resume,
        ..Draft::default()
    };
    draft.wish.model = asked.model.map(Line::into_inner);
    draft.wish.tools = asked.tools.map(|tools| tools.into_iter().map(Line::into_inner).collect());
    draft.wish.timeout = asked.timeout;
    let Caps { usd, tokens, agents, seconds } = asked.budget;
    draft.budget = Budget { usd, tokens, agents, seconds };
    if let Some(id) = asked.resume {
        go_on(engine, &ours(engine, id)?, &mut draft);
    }
    Ok(draft)
}

/// Whoever goes on with a conversation goes on as the same, and in the same place: the conversation
/// is kept with both.
fn go_on(engine: &Engine, before: &Agent, draft: &mut Draft) {
    let settings = engine.settings();
    // A role that is gone is an error of the draft: without it the agent would have more than the role allows.
    let has_role = |role: &String| settings.role_of(role).is_some() || !is_bare(role, &before.kind);
    let role = Some(before.role.clone()).filter(has_role);
    draft.role = draft.role.take().or(role);
    draft.kind = draft.kind.take().or_else(|| Some(before.kind.clone()));
    draft.cwd = draft.cwd.take().or_else(|| before.cwd.clone());
}

pub(super) fn wrong(field: &str, problem: &str) -> ToolError {
    ToolError::invalid(format!("`{field}` {problem}")).detail("field", field)
}

fn known(engine: &Engine, id: AgentId) -> Result<Agent, ToolError> {
    engine.store().read(|tx: &Tx<'_>| tx.agent_get(id))?.ok_or_else(|| {
        ToolError::new(Code::AgentNotFound, format!("there is no agent `{id}`"))
            .hint("`adjutant ps --all` lists them")
    })
}

/// An agent that Adjutant runs itself; nobody else's can be read or typed to.
pub(super) fn ours(engine: &Engine, id: AgentId) -> Result<Agent, ToolError> {
    let agent = known(engine, id)?;
    if agent.kind == "enlisted" {
        return Err(ToolError::wrong_state(format!("agent `{}` is not run by Adjutant", agent.id))
            .hint("`adjutant mail send` reaches it"));
    }
    Ok(agent)
}

/// Part of an agent's output.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WhichOutput {
    /// Of which attempt (default: the present one)
    attempt: Option<u32>,
    /// From which file on, as `next` said
    #[serde(default)]
    segment: u32,
    /// From where in it, as `next` said
    #[serde(default)]
    offset: Cursor,
    /// About how many bytes, at most 4194304 (default 262144)
    bytes: Option<usize>,
    /// Seconds to wait if there is nothing new, at most 60
    #[serde(default)]
    wait_seconds: u64,
}

/// A part of an agent's output.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The lines, oldest first
    lines: Vec<OutputLine>,
    /// Where the next part begins
    next: Place,
    /// Of which attempt
    attempt: u32,
    /// True if this attempt has no more output
    complete: bool,
}

/// A line.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OutputLine {
    /// When it came
    at: Timestamp,
    /// Stream: `out`, `err`, or `in` for input to the agent
    #[schemars(with = "String")]
    stream: engine::Stream,
    /// Text
    text: String,
    /// Number of bytes left out because it is too long
    cut: u64,
}

/// A place in an agent's output.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Place {
    /// Output segment
    segment: u32,
    /// Where in it
    offset: u64,
}

impl From<OutputPage> for Output {
    fn from(page: OutputPage) -> Self {
        let line = |line: engine::OutputLine| OutputLine {
            at: line.at,
            stream: line.stream,
            text: line.text,
            cut: line.cut,
        };
        Self {
            lines: page.lines.into_iter().map(line).collect(),
            next: Place { segment: page.next.segment, offset: page.next.offset },
            attempt: page.attempt,
            complete: page.complete,
        }
    }
}

pub(crate) async fn output(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    Params(asked): Params<WhichOutput>,
) -> Answer<Json<Output>> {
    if asked.wait_seconds > LONGEST_WAIT {
        let error = wrong("waitSeconds", &format!("must be at most {LONGEST_WAIT}"));
        return Err(error.detail("limit", LONGEST_WAIT).into());
    }
    let bytes = asked.bytes.unwrap_or(BYTES);
    if !(1..=MOST_BYTES).contains(&bytes) {
        return Err(wrong("bytes", &format!("must be from 1 to {MOST_BYTES}")).into());
    }
    let engine = &shared.app.engine;
    let agent = ours(engine, id_of(&id)?)?;
    let mut wish = OutputWish { attempt: asked.attempt, bytes, ..OutputWish::default() };
    (wish.from.segment, wish.from.offset) = (asked.segment, asked.offset.offset());
    if asked.attempt.is_some_and(|attempt| !(1..=agent.attempt).contains(&attempt)) {
        let error = wrong("attempt", &format!("must be from 1 to {}", agent.attempt));
        return Err(error.into());
    }
    let deadline = Instant::now() + Duration::from_secs(asked.wait_seconds);
    let mut pause = SOON;
    loop {
        let page = engine.output(agent.id, wish).await?;
        let over = !page.lines.is_empty() || page.complete || Instant::now() >= deadline;
        if over || shared.app.shutdown.is_cancelled() {
            return Ok(Json(page.into()));
        }
        // What comes after another attempt began is another output.
        wish.attempt = Some(page.attempt);
        tokio::select! {
            () = tokio::time::sleep_until(deadline.min(Instant::now() + pause)) => {}
            () = shared.app.shutdown.cancelled() => {}
        }
        pause = (pause * 2).min(AT_LAST);
    }
}

/// Input line for an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Typed {
    /// The line, without its end
    line: Text<100_000>,
}

/// Outcome of an input line.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Taken {
    /// True if the agent accepts input; not every kind does while it runs
    taken: bool,
}

pub(crate) async fn input(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    Input(typed): Input<Typed>,
) -> Answer<Json<Taken>> {
    let engine = &shared.app.engine;
    let agent = ours(engine, id_of(&id)?)?;
    let taken = engine.type_to(agent.id, typed.line.into_inner()).await?;
    Ok(Json(Taken { taken }))
}
