//! Reviews: what waits for whom, the whole story of one, and what a person decides about them.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::store::{ReviewPage, Tx};
use engine::{ToolError, Whose};
use model::{AgentId, Cursor, TaskRef, Text};
use serde_json::Value;
use wire::reviews::{ReviewStory, Reviews};

use wire::reviews::{AbandonRequest, AbandonedWork, AllowReviewsRequest, AllowedReviews};

use super::agents::find;
use super::{ListQuery, page_limit};
use crate::answer::{Answer, Input, Params};
use crate::server::Shared;

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<ListQuery>,
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

pub(crate) async fn abandon(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<AbandonRequest>,
) -> Answer<Json<AbandonedWork>> {
    let agent_id = agent_of(&shared, name).await?;
    let reason =
        asked.reason.map_or_else(|| "abandoned by the operator".to_owned(), Text::into_inner);
    let done = shared.app.engine.review_abandon(agent_id, &reason).await?;
    let branch = done["branch"].as_str().map(str::to_owned);
    Ok(Json(AbandonedWork { agent_id, reason, branch }))
}

pub(crate) async fn allow_more(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<AllowReviewsRequest>,
) -> Answer<Json<AllowedReviews>> {
    let agent_id = agent_of(&shared, name).await?;
    let now = shared.app.engine.review_allow_more(agent_id, asked.more.unwrap_or(1)).await?;
    let count = |key: &str| now.get(key).and_then(Value::as_u64).unwrap_or_default();
    Ok(Json(AllowedReviews {
        agent_id,
        iterations: count("iterations"),
        max_iterations: count("maxIterations"),
        left: count("left"),
    }))
}
