//! Agents: lists, details, enlisting and discharging.

pub(crate) mod diff;
pub(crate) mod one;
pub(crate) mod story;
pub(crate) mod stream;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::{Code, ListScope, Principal, Recruit, ToolError};
use http::StatusCode;
use model::AgentId;

use wire::agent_details::AgentList;
use wire::enlist::{DischargeRequest, DischargedAgent, EnlistRequest, EnlistedAgent};

use super::mcp_config;
use super::paging::{ListQuery, MAX_PAGE, page_limit};
use crate::answer::{Answer, Input, Params};
use crate::shared::Shared;

pub(crate) async fn enlist(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<EnlistRequest>,
) -> Answer<(StatusCode, Json<EnlistedAgent>)> {
    let EnlistRequest { role, task, epic, cwd, parent } = asked;
    let engine = &shared.app.engine;
    let joined = engine.enlist(Recruit { role, task, epic, cwd, parent }).await?;
    let caller = engine.caller(Principal::Agent(joined.agent), None)?;
    let toolsets = mcp_config::toolsets(&caller, &engine.settings());
    // Where several servers share the home, agents may be anywhere.
    let shared_url = shared.app.shared_home.as_ref().map(|home| home.url.clone());
    let url = shared_url.unwrap_or_else(|| shared.app.url.clone());
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
    let id = match id.as_str() {
        "last" => shared.app.engine.last_enlisted()?,
        id => id_of(id)?,
    };
    let reason = asked.reason.unwrap_or_else(|| "discharged".to_owned());
    if reason.chars().count() > 2000 {
        let error = ToolError::new(Code::InvalidInput, "`reason` is longer than 2000 characters");
        return Err(error.detail("field", "reason").detail("limit", 2000).into());
    }
    let agent = shared.app.engine.discharge(id, reason).await?;
    Ok(Json(DischargedAgent { agent_id: id, state: agent.state.name() }))
}

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<ListQuery>,
) -> Answer<Json<AgentList>> {
    let limit = page_limit(asked.limit.or(Some(MAX_PAGE)))?;
    let (scope, after) = (ListScope::from(asked.all), asked.after.number());
    Ok(Json(shared.app.engine.agents(scope, after, limit).await?))
}
