//! Hands the variables of the caller's shell on to an agent that is being started.

use serde_json::{Map, Value, json};
use wire::environment::{HandedOnVariables, ServerEnvironment};

use crate::app::App;
use crate::cli_error::Trouble;
use crate::client::Client;

/// Adds to a request for an agent those variables of the caller's shell that the server hands on.
pub(super) async fn hand_on(
    app: &App,
    client: &Client,
    mut request: Map<String, Value>,
) -> Result<Map<String, Value>, Trouble> {
    let seen = client.get::<ServerEnvironment>("/api/environment").await?;
    let variable = |name: &String| Some((name.clone(), app.env.variable(name)?));
    let variables = HandedOnVariables(seen.handed_on.iter().filter_map(variable).collect());
    request.insert("environment".to_owned(), json!(variables));
    Ok(request)
}
