//! Reviews: lists, histories, and decisions of a person.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use engine::ListScope;
use model::Text;
use serde_json::Value;
use wire::reviews::{
    AbandonRequest, AbandonedWork, AllowReviewsRequest, AllowedReviews, ReviewStory, Reviews,
};

use super::paging::{ListQuery, page_limit};
use crate::answer::{Answer, Input, Params};
use crate::shared::Shared;

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<ListQuery>,
) -> Answer<Json<Reviews>> {
    let scope = ListScope::from(asked.all);
    let limit = page_limit(asked.limit)?;
    Ok(Json(shared.app.engine.reviews(scope, asked.after.number(), limit).await?))
}

pub(crate) async fn story(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
) -> Answer<Json<ReviewStory>> {
    let engine = &shared.app.engine;
    let subject = engine.review_subject(name).await?;
    Ok(Json(engine.review_story(subject).await?))
}

pub(crate) async fn abandon(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    Input(asked): Input<AbandonRequest>,
) -> Answer<Json<AbandonedWork>> {
    let agent_id = shared.app.engine.agent_named(name).await?;
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
    let agent_id = shared.app.engine.agent_named(name).await?;
    let now = shared.app.engine.review_allow_more(agent_id, asked.more.unwrap_or(1)).await?;
    let count = |key: &str| now.get(key).and_then(Value::as_u64).unwrap_or_default();
    Ok(Json(AllowedReviews {
        agent_id,
        iterations: count("iterations"),
        max_iterations: count("maxIterations"),
        left: count("left"),
    }))
}
