//! `GET /healthz/proof`: proves to the holder of a token that this server knows it, before the token is sent.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde::Deserialize;

use wire::server::ServerProof;

use crate::answer::Answer;
use crate::shared::Shared;

/// Where the proof is asked for. It needs no token: it is what comes before one.
pub(crate) const PROOF: &str = "/healthz/proof";

/// Query of a request for proof.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ProofQuery {
    /// The first hex digits of the token's hash
    pub(crate) key: String,
    /// Nonce made up by the caller for this request
    pub(crate) nonce: String,
}

pub(crate) async fn prove(
    State(shared): State<Arc<Shared>>,
    Query(query): Query<ProofQuery>,
) -> Answer<Json<ServerProof>> {
    let url = shared.app.url.clone();
    let proof = shared.app.engine.prove(&query.key, &query.nonce, &url)?;
    Ok(Json(ServerProof { url, version: shared.app.version.clone(), proof }))
}
