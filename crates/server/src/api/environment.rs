//! What the server sees of the machine, for `adjutant doctor` and for programs that start agents.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::ProbeDepth;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::environment::ServerEnvironment;

use crate::answer::{Answer, Params};
use crate::shared::Shared;

/// How closely to look.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EnvironmentQuery {
    /// Also run each program to see whether it is logged in
    #[serde(default)]
    login: bool,
    /// Also make the cheapest call to each provider, which costs a little
    #[serde(default)]
    online: bool,
}

pub(crate) async fn show(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<EnvironmentQuery>,
) -> Answer<Json<ServerEnvironment>> {
    let depth = match (asked.online, asked.login) {
        (true, _) => ProbeDepth::Calls,
        (false, true) => ProbeDepth::Logins,
        (false, false) => ProbeDepth::Files,
    };
    Ok(Json(shared.app.engine.server_environment(depth).await?))
}
