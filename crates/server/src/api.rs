//! `/api`: routes for the operator's own programs beside the tools.

pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod clean;
pub(crate) mod costs;
pub(crate) mod costs_series;
pub(crate) mod costs_summary;
pub(crate) mod costs_tools;
pub(crate) mod crew;
pub(crate) mod decisions;
mod environment;
pub(crate) mod epics;
pub(crate) mod events;
pub(crate) mod github;
pub(crate) mod login;
pub(crate) mod loops;
pub(crate) mod mail;
mod mcp_config;
pub(crate) mod merge_queue;
pub(crate) mod openapi;
pub(crate) mod operations;
pub(crate) mod overview;
pub(crate) mod paging;
pub(crate) mod plans;
pub(crate) mod record;
mod redaction;
pub(crate) mod reviews;
pub(crate) mod running;
pub(crate) mod runs;
pub(crate) mod settings;
pub(crate) mod slack;
pub(crate) mod tasks;
pub(crate) mod tools;
pub(crate) mod webhooks;
pub(crate) mod worktrees;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Router, middleware};
use http::Method;

use crate::answer::json_response;
use crate::shared::Shared;
use crate::{auth, paths};

/// All routes under `/api`.
pub(crate) fn routes(shared: &Arc<Shared>) -> Router<Arc<Shared>> {
    let acts = acts()
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(shared),
            running::read_changes_for_tab,
        ))
        .route_layer(middleware::from_fn_with_state(Arc::clone(shared), with_head))
        .route_layer(middleware::from_fn(auth::operator_only));
    reads()
        .route_layer(middleware::from_fn(redaction::redact_reads))
        .route_layer(middleware::from_fn(auth::no_agents))
        .merge(acts)
        .route(paths::GITHUB, post(github::webhook))
        .route(paths::LOGIN, post(login::log_in))
        .route(paths::LOGOUT, post(login::log_out))
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

/// Has the commit read that the record of an act names, before the act's transaction.
async fn with_head(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    if request.method() != Method::GET {
        shared.app.engine.refresh_project_head().await;
    }
    next.run(request).await
}

/// Read-only routes for the operator and viewers; all responses are redacted.
fn reads() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/agents", get(agents::list))
        .route("/api/agents/{id}", get(agents::one::show))
        .route("/api/agents/{id}/output", get(runs::output))
        .route("/api/agents/{id}/stream", get(agents::stream::stream))
        .route("/api/agents/{id}/diff", get(agents::diff::diff))
        .route("/api/agents/{id}/story", get(agents::story::story))
        .route("/api/overview", get(overview::overview))
        .route("/api/crew", get(crew::list))
        .route("/api/crew/rows", get(crew::rows))
        .route("/api/roles", get(crew::roles))
        .route("/api/costs", get(costs::costs))
        .route("/api/costs/series", get(costs_series::show))
        .route("/api/costs/summary", get(costs_summary::show))
        .route("/api/costs/lineage", get(costs_summary::lineage))
        .route("/api/usage", get(costs::usage))
        .route("/api/usage/tools", get(costs_tools::tools))
        .route("/api/reviews", get(reviews::list))
        .route("/api/reviews/{id}", get(reviews::story))
        .route("/api/loops", get(loops::list))
        .route("/api/loops/{name}", get(loops::show))
        .route("/api/mail", get(mail::list))
        .route("/api/mail/threads/{id}", get(mail::thread))
        .route("/api/worktrees", get(worktrees::list))
        .route("/api/worktrees/check", get(worktrees::check))
        .route("/api/merge-queue", get(merge_queue::list))
        .route("/api/merge-queue/{id}", get(merge_queue::one))
        .route("/api/tasks/review-queue", get(merge_queue::reviewed))
        .route("/api/board", get(tasks::board))
        .route("/api/tasks", get(tasks::list))
        .route("/api/tasks/graph", get(tasks::graph))
        .route("/api/tasks/{ref}", get(tasks::show))
        .route("/api/tasks/{ref}/history", get(tasks::history))
        .route("/api/epics", get(epics::list))
        .route("/api/epics/{id}", get(epics::show))
        .route("/api/events", get(events::events))
        .route(paths::WS, get(events::ws::follow))
        .route("/api/decisions", get(decisions::decisions))
        .route("/api/settings", get(settings::show))
        .route("/api/slack", get(slack::status))
        .route("/api/slack/threads", get(slack::threads))
        .route("/api/webhooks", get(webhooks::list))
        .route("/api/webhooks/{name}/deliveries", get(webhooks::deliveries))
        .route("/api/plans", get(plans::list))
        .route("/api/plans/{name}", get(plans::show))
        .route("/api/audit", get(audit::audit))
        .route("/api/audit/verify", get(audit::verify))
        .route("/api/record", get(record::list))
        .route("/api/record/histogram", get(record::histogram))
        .route("/api/record/{number}", get(record::one))
}

/// Routes for the operator only.
fn acts() -> Router<Arc<Shared>> {
    Router::new()
        .route("/api/agents", post(agents::enlist))
        .route("/api/agents/{id}/discharge", post(agents::discharge))
        .route("/api/links", get(login::links).post(login::make_link))
        .route("/api/links/{id}/revoke", post(login::revoke_link))
        .route("/api/agents/{id}/input", post(runs::input))
        .route("/api/environment", get(environment::show))
        .route("/api/runs", post(runs::start))
        .route("/api/tasks/{ref}/environment", post(tasks::hand_on))
        .route("/api/plans", post(plans::run))
        .route("/api/plans/{name}/stop", post(plans::stop))
        .route("/api/plans/{name}/resume", post(plans::resume))
        .route("/api/reviews/{id}/abandon", post(reviews::abandon))
        .route("/api/reviews/{id}/allow-more", post(reviews::allow_more))
        .route("/api/loops", post(loops::start))
        .route("/api/loops/{name}/pause", post(loops::pause))
        .route("/api/loops/{name}/resume", post(loops::resume))
        .route("/api/loops/{name}/stop", post(loops::stop))
        .route("/api/loops/{name}/say", post(loops::say))
        .route("/api/worktrees/settle", post(worktrees::settle))
        .route("/api/worktrees/{id}/prune", post(worktrees::prune))
        .route("/api/merge-queue/{id}/retry", post(merge_queue::retry))
        .route("/api/slack/retry", post(slack::retry))
        .route("/api/webhooks/{name}/deliveries/{id}/retry", post(webhooks::retry))
        .route("/api/webhooks/{name}/retry", post(webhooks::retry_all))
        .route("/api/webhooks/{name}/test", post(webhooks::test))
        .route("/api/webhooks/{name}/enable", post(webhooks::enable))
        .route("/api/home/files", get(settings::home_files).post(settings::push_home_files))
        .route("/api/settings/check", post(settings::check))
        .route("/api/settings/save", post(settings::save))
        .route("/api/clean", post(clean::clean))
        .route("/api/snapshot", post(clean::snapshot))
        .route("/api/reload", post(running::reload))
        .route(paths::SHUTDOWN, post(running::shutdown))
}
