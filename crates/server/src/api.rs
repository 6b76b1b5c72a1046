//! `/api`: what the operator's own programs ask for beside the tools.

pub(crate) mod agents;
pub(crate) mod costs;
pub(crate) mod decisions;
pub(crate) mod github;
mod mcp_config;
pub(crate) mod merge_queue;
pub(crate) mod record;
pub(crate) mod reviews;
pub(crate) mod running;
pub(crate) mod runs;
pub(crate) mod tools;
pub(crate) mod worktrees;

use std::sync::Arc;

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Router, middleware};
use engine::ToolError;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::answer::json_response;
use crate::server::Shared;
use crate::{auth, openapi};

/// A page has so many items unless told otherwise.
const PAGE: u32 = 100;
/// A page never has more.
const LONGEST_PAGE: u32 = 1000;

/// All routes under `/api`.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/agents", get(agents::list).post(agents::enlist))
        .route("/api/agents/{id}", get(agents::one::show))
        .route("/api/agents/{id}/discharge", post(agents::discharge))
        .route("/api/agents/{id}/output", get(runs::output))
        .route("/api/agents/{id}/input", post(runs::input))
        .route("/api/runs", post(runs::start))
        .route("/api/costs", get(costs::costs))
        .route("/api/usage", get(costs::usage))
        .route("/api/reviews", get(reviews::list))
        .route("/api/reviews/{id}", get(reviews::story))
        .route("/api/reviews/{id}/abandon", post(reviews::abandon))
        .route("/api/reviews/{id}/allow-more", post(reviews::allow_more))
        .route("/api/worktrees", get(worktrees::list))
        .route("/api/worktrees/check", get(worktrees::check))
        .route("/api/worktrees/{id}/prune", post(worktrees::prune))
        .route("/api/merge-queue", get(merge_queue::list))
        .route("/api/merge-queue/{id}", get(merge_queue::one))
        .route("/api/merge-queue/{id}/retry", post(merge_queue::retry))
        .route("/api/tasks/review-queue", get(merge_queue::reviewed))
        .route("/api/events", get(record::events))
        .route("/api/decisions", get(decisions::decisions))
        .route("/api/audit", get(record::audit))
        .route("/api/audit/verify", get(record::verify))
        .route("/api/reload", post(running::reload))
        .route("/api/shutdown", post(running::shutdown))
        .route_layer(middleware::from_fn(auth::operator_only))
        .route(auth::GITHUB, post(github::webhook))
        .route("/api/status", get(running::status))
        .route("/api/tools", get(tools::list))
        .route(
            "/api/openapi.json",
            get(async |State(shared): State<Arc<Shared>>| {
                let document = openapi::document_for(&shared.app.engine.settings());
                json_response(http::StatusCode::OK, document)
            }),
        )
}

/// Which part of a list is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Listing {
    /// Those that are over or gone, too
    #[serde(default)]
    all: bool,
    /// Only those after this cursor
    #[serde(default)]
    after: i64,
    /// How many, at most 1000
    limit: Option<u32>,
}

/// How many items a page may have.
fn page_limit(asked: Option<u32>) -> Result<u32, ToolError> {
    match asked {
        None => Ok(PAGE),
        Some(limit @ 1..=LONGEST_PAGE) => Ok(limit),
        Some(_) => Err(ToolError::invalid(format!("`limit` must be from 1 to {LONGEST_PAGE}"))
            .detail("field", "limit")),
    }
}
