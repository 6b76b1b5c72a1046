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
use model::agent::AgentState;
use model::money::Usd;
use model::{AgentId, TaskRef};
use serde_json::Value;

use wire::agent_details::{AgentList, AgentView};
use wire::enlist::{DischargeRequest, DischargedAgent, EnlistRequest, EnlistedAgent};

use super::{LONGEST_PAGE, ListQuery, mcp_config, page_limit};
use crate::answer::{Answer, Input, Params};
use crate::server::Shared;

pub(crate) async fn enlist(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<EnlistRequest>,
) -> Answer<(StatusCode, Json<EnlistedAgent>)> {
    let EnlistRequest { role, task, epic, cwd, parent } = asked;
    let engine = &shared.app.engine;
    let joined = engine.enlist(Recruit { role, task, epic, cwd, parent }).await?;
    let caller = engine.caller(Principal::Agent(joined.agent), None)?;
    let toolsets = mcp_config::toolsets(&caller, &engine.settings());
    let url = shared.app.url.clone();
    let (agent_id, token) = (joined.agent, joined.token);
    let mcp_config = mcp_config::claude(&url, &token, &toolsets);
    let codex_config = mcp_config::codex(&url, &token, &toolsets);
    Ok((
        StatusCode::CREATED,
        Json(EnlistedAgent { agent_id, token, url, mcp_config, codex_config }),
    ))
}

/// The agent that a path names by its whole id.
pub(super) fn id_of(given: &str) -> Result<AgentId, ToolError> {
    given.parse().map_err(|error| ToolError::invalid(format!("{error}")).detail("field", "id"))
}

pub(crate) async fn discharge(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    Input(asked): Input<DischargeRequest>,
) -> Answer<Json<DischargedAgent>> {
    let id = id_of(&id)?;
    let reason = asked.reason.unwrap_or_else(|| "discharged".to_owned());
    if reason.chars().count() > 2000 {
        let error = ToolError::new(Code::InvalidInput, "`reason` is longer than 2000 characters");
        return Err(error.detail("field", "reason").detail("limit", 2000).into());
    }
    let agent = shared.app.engine.discharge(id, reason).await?;
    Ok(Json(DischargedAgent { agent_id: id, state: agent.state.name() }))
}

/// Reads an agent as it stands in lists, without a reason.
fn agent_view(tx: &Tx<'_>, agent: &Agent, run: Option<&Run>) -> Result<AgentView, StoreError> {
    let task = agent.task.map(|id| tx.task_find(&TaskRef::Id(id))).transpose()?.flatten();
    Ok(AgentView {
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

/// The model that answers, else the one that was asked for.
fn model_of(run: &Run) -> Option<String> {
    run.model.clone().or_else(|| {
        let wish: Value = serde_json::from_str(&run.wish).ok()?;
        wish["model"].as_str().map(str::to_owned)
    })
}

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<ListQuery>,
) -> Answer<Json<AgentList>> {
    let which = if asked.all { AgentPage::All } else { AgentPage::Live };
    let limit = page_limit(asked.limit.or(Some(LONGEST_PAGE)))?;
    let engine = shared.app.engine.clone();
    let agents = shared.app.engine.store().scan(move |tx| {
        let page = tx.agent_page(which, asked.after.number(), limit)?;
        let view = |agent: &Agent| {
            let run = tx.run_get(agent.id)?;
            let queued = agent.state == AgentState::Queued;
            let reason = queued.then(|| engine.queue_reason(agent.id)).flatten();
            Ok(AgentView { reason, ..agent_view(tx, agent, run.as_ref())? })
        };
        let agents = page.items.iter().map(view).collect::<Result<_, StoreError>>()?;
        Ok::<_, StoreError>(AgentList { agents, next_cursor: page.next })
    });
    Ok(Json(agents.await?))
}
