//! Reviews: what waits for whom, the whole story of one, and what a person decides about them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::store::{ReviewPage, Tx};
use engine::{ToolError, Whose};
use model::{AgentId, Cursor, TaskRef, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::reviews::{ReviewStory, Reviews};

use super::agents::find;
use super::{Listing, page_limit};
use crate::answer::{Answer, Input, Params};
use crate::server::Shared;

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<Listing>,
) -> Answer<Json<Reviews>> {
    let which = if asked.all { ReviewPage::All } else { ReviewPage::Open };
    let limit = page_limit(asked.limit)?;
    let engine = &shared.app.engine;
    let page = engine.reviews(which, asked.after.number(), limit).await?;
    let limited = if asked.after == Cursor::START {
        engine.coders_at_their_limit().await?
    } else {
        Vec::new()
    };
    Ok(Json(Reviews { limited, reviews: page.items, next_cursor: page.next }))
}

/// The agent or the task that a name means. What could be both is an agent.
fn whose(tx: &Tx<'_>, name: &str) -> Result<Whose, ToolError> {
    let found = find::find(tx, name);
    if let Ok(task) = name.parse::<TaskRef>()
        && found.is_err()
        && tx.task_find(&task)?.is_some()
    {
        return Ok(Whose::Task(task));
    }
    let error = match found {
        Ok(agent) => return Ok(Whose::Agent(agent.id)),
        Err(error) => error,
    };
    let is_id = name.starts_with(AgentId::PREFIX) || name == find::LAST;
    match name.parse::<TaskRef>() {
        // The engine names the nearest one.
        Ok(task) if !is_id => Ok(Whose::Task(task)),
        _ => Err(error),
    }
}

pub(crate) async fn story(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<ReviewStory>> {
    let engine = &shared.app.engine;
    let whose = engine.store().scan(move |tx: &Tx<'_>| whose(tx, &name)).await?;
    Ok(Json(engine.review_story(whose).await?))
}

/// The agent that a path names.
pub(super) async fn agent_of(shared: &Shared, name: String) -> Result<AgentId, ToolError> {
    let store = shared.app.engine.store();
    store.scan(move |tx: &Tx<'_>| Ok(find::find(tx, &name)?.id)).await
}

/// Why work is given up.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Abandon {
    /// In words
    reason: Option<Text<2000>>,
}

/// An abandoned agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Abandoned {
    /// The agent
    agent_id: AgentId,
    /// Why
    reason: String,
    /// The branch with what it committed; null where it had no worktree
    branch: Option<String>,
}

pub(crate) async fn abandon(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<Abandon>,
) -> Answer<Json<Abandoned>> {
    let agent_id = agent_of(&shared, name).await?;
    let reason =
        asked.reason.map_or_else(|| "abandoned by the operator".to_owned(), Text::into_inner);
    let done = shared.app.engine.review_abandon(agent_id, &reason).await?;
    let branch = done["branch"].as_str().map(str::to_owned);
    Ok(Json(Abandoned { agent_id, reason, branch }))
}

/// Request for further reviews.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AllowMore {
    /// From 1 to 100; one where absent
    #[schemars(range(min = 1, max = 100))]
    more: Option<u32>,
}

/// Reviews allowed to an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Allowed {
    /// The agent
    agent_id: AgentId,
    /// Number of reviews so far
    iterations: u64,
    /// Maximum number of reviews
    max_iterations: u64,
    /// Remaining reviews
    left: u64,
}

pub(crate) async fn allow_more(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<AllowMore>,
) -> Answer<Json<Allowed>> {
    let agent_id = agent_of(&shared, name).await?;
    let now = shared.app.engine.review_allow_more(agent_id, asked.more.unwrap_or(1)).await?;
    let count = |key: &str| now.get(key).and_then(Value::as_u64).unwrap_or_default();
    Ok(Json(Allowed {
        agent_id,
        iterations: count("iterations"),
        max_iterations: count("maxIterations"),
        left: count("left"),
    }))
}
