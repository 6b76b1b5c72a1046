//! The chain of calls: lists and verification.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::VerifyFrom;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::audit::{AuditCalls, ChainVerificationView};
use wire::record::AuditQuery;

use super::paging::page_limit;
use crate::answer::{Answer, Params};
use crate::shared::Shared;

pub(crate) async fn audit(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<AuditQuery>,
) -> Answer<Json<AuditCalls>> {
    let limit = page_limit(asked.limit)?;
    Ok(Json(shared.app.engine.chain_calls(asked, limit).await?))
}

/// Options for verifying the chain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct VerifyQuery {
    /// From the first row on (the default); `false` goes on from where this server found it good last,
    /// and follows at most 50,000 rows
    full: Option<bool>,
}

pub(crate) async fn verify(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<VerifyQuery>,
) -> Answer<Json<ChainVerificationView>> {
    let full = asked.full.unwrap_or(true);
    let from = if full { VerifyFrom::First } else { VerifyFrom::LastGood };
    Ok(Json(shared.app.engine.verify_chain(from).await?))
}
