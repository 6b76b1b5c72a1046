//! Agents: who there is, and those whom somebody else runs.

pub(crate) mod diff;
pub(super) mod find;
pub(crate) mod one;
pub(crate) mod story;
pub(crate) mod stream;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::store::{Agent, AgentPage, Run, StoreError, Tx};
use engine::{Code, Principal, Recruit, ToolError};
use http::StatusCode;
use model::agent::{AgentState, AgentStateName};
use model::money::Usd;
use model::{AgentId, EpicId, TaskRef, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{LONGEST_PAGE, Listing, mcp_config, page_limit};
use crate::answer::{Answer, Input, Params};
use crate::server::Shared;

/// Request to enlist an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Enlist {
    /// In which role
    role: String,
    /// For which task: id, number or slug
    task: Option<TaskRef>,
    /// In which epic
    epic: Option<EpicId>,
    /// Working where
    cwd: Option<String>,
    /// Under which agent; nobody is the operator
    parent: Option<AgentId>,
}

/// An enlisted agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Enlisted {
    /// The agent
    agent_id: AgentId,
    /// Its token; it is not shown again
    token: String,
    /// Where the server is
    url: String,
    /// Ready to paste, in Claude Code's form
    #[schemars(with = "serde_json::Map<String, Value>")]
    mcp_config: Value,
    /// The same in Codex's form, for `config.toml`
    codex_config: String,
}

pub(crate) async fn enlist(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<Enlist>,
) -> Answer<(StatusCode, Json<Enlisted>)> {
    let Enlist { role, task, epic, cwd, parent } = asked;
    let engine = &shared.app.engine;
    let joined = engine.enlist(Recruit { role, task, epic, cwd, parent }).await?;
    let caller = engine.caller(Principal::Agent(joined.agent), None)?;
    let toolsets = mcp_config::toolsets(&caller, &engine.settings());
    let url = shared.app.url.clone();
    let (agent_id, token) = (joined.agent, joined.token);
    let mcp_config = mcp_config::claude(&url, &token, &toolsets);
    let codex_config = mcp_config::codex(&url, &token, &toolsets);
    Ok((StatusCode::CREATED, Json(Enlisted { agent_id, token, url, mcp_config, codex_config })))
}

/// The agent that a path names by its whole id.
pub(super) fn id_of(given: &str) -> Result<AgentId, ToolError> {
    given.parse().map_err(|error| ToolError::invalid(format!("{error}")).detail("field", "id"))
}

/// Why an agent is let go.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Discharge {
    /// In words
    reason: Option<String>,
}

/// A discharged agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Discharged {
    /// The agent
    agent_id: AgentId,
    /// Where it stands now
    state: AgentStateName,
}

pub(crate) async fn discharge(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    Input(asked): Input<Discharge>,
) -> Answer<Json<Discharged>> {
    let id = id_of(&id)?;
    let reason = asked.reason.unwrap_or_else(|| "discharged".to_owned());
    if reason.chars().count() > 2000 {
        let error = ToolError::new(Code::InvalidInput, "`reason` is longer than 2000 characters");
        return Err(error.detail("field", "reason").detail("limit", 2000).into());
    }
    let agent = shared.app.engine.discharge(id, reason).await?;
    Ok(Json(Discharged { agent_id: id, state: agent.state.name() }))
}

/// A page of agents.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Agents {
    /// The agents, oldest first
    agents: Vec<AgentView>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<i64>,
}

/// An agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentView {
    id: AgentId,
    role: String,
    category: String,
    /// Kind of agent; `enlisted` for one that Adjutant does not run
    kind: String,
    state: AgentStateName,
    /// Reason why a queued agent does not start, other than a free place
    reason: Option<String>,
    /// Summary, one line; null for an enlisted agent
    summary: Option<String>,
    /// The model that answers it, or that it was asked for
    model: Option<String>,
    /// The slug of its task
    task_slug: Option<String>,
    /// Parent agent; null for the operator
    parent_id: Option<AgentId>,
    /// Depth below the operator
    depth: u32,
    /// When its first attempt began; until then, when it was recorded
    started_at: Timestamp,
    finished_at: Option<Timestamp>,
    /// Cost in dollars; null if unknown
    cost_usd: Option<f64>,
}

impl AgentView {
    fn read(tx: &Tx<'_>, agent: &Agent, run: Option<&Run>) -> Result<Self, StoreError> {
        let task = agent.task.map(|id| tx.task_find(&TaskRef::Id(id))).transpose()?.flatten();
        Ok(Self {
            state: agent.state.name(),
            reason: None,
            finished_at: agent.ended_at(),
            id: agent.id,
            role: agent.role.clone(),
            category: agent.category.clone(),
            kind: agent.kind.clone(),
            summary: run.map(|run| run.summary.clone()),
            model: run.and_then(model_of),
            task_slug: task.map(|task| task.slug),
            parent_id: agent.parent,
            depth: agent.depth,
            started_at: run.and_then(|run| run.started_at).unwrap_or(agent.created_at),
            cost_usd: run.and_then(|run| run.cost).map(Usd::dollars),
        })
    }
}

/// The model that answers, else the one that was asked for.
fn model_of(run: &Run) -> Option<String> {
    run.model.clone().or_else(|| {
        let wish: Value = serde_json::from_str(&run.wish).ok()?;
        wish["model"].as_str().map(str::to_owned)
    })
}

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<Listing>,
) -> Answer<Json<Agents>> {
    let which = if asked.all { AgentPage::All } else { AgentPage::Live };
    let limit = page_limit(asked.limit.or(Some(LONGEST_PAGE)))?;
    let engine = shared.app.engine.clone();
    let agents = shared.app.engine.store().scan(move |tx| {
        let page = tx.agent_page(which, asked.after.number(), limit)?;
        let view = |agent: &Agent| {
            let run = tx.run_get(agent.id)?;
            let queued = agent.state == AgentState::Queued;
            let reason = queued.then(|| engine.queue_reason(agent.id)).flatten();
            Ok(AgentView { reason, ..AgentView::read(tx, agent, run.as_ref())? })
        };
        let agents = page.items.iter().map(view).collect::<Result<_, StoreError>>()?;
        Ok::<_, StoreError>(Agents { agents, next_cursor: page.next })
    });
    Ok(Json(agents.await?))
}
