//! Agents that Adjutant runs itself: how the operator starts them, reads them and types to them.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use engine::settings::{Budget, is_bare};
use engine::{Draft, Engine, OutputRequest, RunAgent, ToolError};
use http::StatusCode;
use model::money::Usd;
use model::{Cursor, Line};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use wire::runs::{AgentOutput, InputOutcome, InputRequest, RunCaps, RunRequest, StartedRun};

use super::agents::id_of;
use crate::answer::{Answer, Input, Params};
use crate::shared::Shared;

/// Nobody waits longer for output in one request.
pub(super) const MAX_WAIT_SECONDS: u64 = 60;
/// About so much output comes at once unless told otherwise.
pub(super) const BYTES: usize = 256 * 1024;
/// More does not come at once.
pub(super) const MAX_OUTPUT_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of tools named.
const MAX_TOOLS: usize = 200;
/// Poll intervals for output, first and last.
pub(super) const FIRST_POLL_INTERVAL: Duration = Duration::from_millis(5);
pub(super) const MAX_POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) async fn start(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<RunRequest>,
) -> Answer<(StatusCode, Json<StartedRun>)> {
    let engine = &shared.app.engine;
    let draft = draft_of(engine, asked)?;
    let (agent_id, role, task_slug) = engine.draft(draft).await?;
    let note = engine.in_project_note(agent_id).await?;
    Ok((StatusCode::CREATED, Json(StartedRun { agent_id, role, task_slug, note })))
}

fn draft_of(engine: &Engine, asked: RunRequest) -> Result<Draft, ToolError> {
    if asked.timeout == Some(0) {
        return Err(wrong("timeout", "must be at least 1"));
    }
    if let Some(Err(error)) = asked.budget.usd.map(Usd::check_dollars) {
        return Err(wrong("budget.usd", &format!("is wrong: {error}")));
    }
    if asked.tools.as_ref().is_some_and(|tools| tools.len() > MAX_TOOLS) {
        return Err(wrong("tools", &format!("has more than {MAX_TOOLS} items")));
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
    draft.options.model = asked.model.map(Line::into_inner);
    draft.options.tools =
        asked.tools.map(|tools| tools.into_iter().map(Line::into_inner).collect());
    draft.options.timeout = asked.timeout;
    draft.options.review = asked.review;
    let RunCaps { usd, tokens, agents, seconds } = asked.budget;
    draft.environment = asked.environment.0.into_iter().collect();
    draft.budget = Budget { usd, tokens, agents, seconds };
    if let Some(id) = asked.resume {
        go_on(engine, &engine.run_agent(id)?, &mut draft);
    }
    Ok(draft)
}

/// An agent that resumes a conversation has the same role and the same place: the conversation
/// is kept with both.
fn go_on(engine: &Engine, before: &RunAgent, draft: &mut Draft) {
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

/// Part of an agent's output.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OutputQuery {
    /// Of which attempt (default: the present one)
    attempt: Option<u32>,
    /// First file, from `next` of an earlier answer
    #[serde(default)]
    segment: u32,
    /// Position in it, from `next` of an earlier answer
    #[serde(default)]
    offset: Cursor,
    /// About how many bytes, at most 4194304 (default 262144)
    bytes: Option<usize>,
    /// Seconds to wait if there is nothing new, at most 60
    #[serde(default)]
    wait_seconds: u64,
}

pub(crate) async fn output(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    Params(asked): Params<OutputQuery>,
) -> Answer<Json<AgentOutput>> {
    if asked.wait_seconds > MAX_WAIT_SECONDS {
        let error = wrong("waitSeconds", &format!("must be at most {MAX_WAIT_SECONDS}"));
        return Err(error.detail("limit", MAX_WAIT_SECONDS).into());
    }
    let bytes = asked.bytes.unwrap_or(BYTES);
    if !(1..=MAX_OUTPUT_BYTES).contains(&bytes) {
        return Err(wrong("bytes", &format!("must be from 1 to {MAX_OUTPUT_BYTES}")).into());
    }
    let engine = &shared.app.engine;
    let agent = engine.run_agent(id_of(&id)?)?;
    let mut request = OutputRequest { attempt: asked.attempt, bytes, ..OutputRequest::default() };
    (request.from.segment, request.from.offset) = (asked.segment, asked.offset.offset());
    if asked.attempt.is_some_and(|attempt| !(1..=agent.attempt).contains(&attempt)) {
        let error = wrong("attempt", &format!("must be from 1 to {}", agent.attempt));
        return Err(error.into());
    }
    let deadline = Instant::now() + Duration::from_secs(asked.wait_seconds);
    let mut pause = FIRST_POLL_INTERVAL;
    loop {
        let page = engine.output(agent.id, request).await?;
        let over = !page.lines.is_empty() || page.complete || Instant::now() >= deadline;
        if over || shared.app.shutdown.is_cancelled() {
            return Ok(Json(page));
        }
        // What comes after another attempt began is another output.
        request.attempt = Some(page.attempt);
        tokio::select! {
            () = tokio::time::sleep_until(deadline.min(Instant::now() + pause)) => {}
            () = shared.app.shutdown.cancelled() => {}
        }
        pause = (pause * 2).min(MAX_POLL_INTERVAL);
    }
}

pub(crate) async fn input(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    Input(typed): Input<InputRequest>,
) -> Answer<Json<InputOutcome>> {
    let engine = &shared.app.engine;
    let agent = engine.run_agent(id_of(&id)?)?;
    let taken = engine.type_to(agent.id, typed.line.into_inner()).await?;
    Ok(Json(InputOutcome { taken }))
}
