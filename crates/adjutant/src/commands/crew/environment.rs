//! Hands the variables of the caller's shell on: to an agent that is being started, and to the check of work that is
//! approved.

use serde_json::{Map, Value, json};
use wire::environment::{
    CheckEnvironment, CheckEnvironmentRequest, HandedOnVariables, ServerEnvironment,
};

use crate::app::{App, escaped};
use crate::cli_error::CliError;
use crate::client::{Client, ClientError};

/// Adds to a request for an agent those variables of the caller's shell that the server hands on.
pub(super) async fn hand_on(
    app: &App,
    client: &Client,
    mut request: Map<String, Value>,
) -> Result<Map<String, Value>, CliError> {
    let seen = client.get::<ServerEnvironment>("/api/environment").await?;
    request.insert("environment".to_owned(), json!(own(app, &seen.handed_on)));
    Ok(request)
}

/// Hands on to the check of a task's work what the server takes for it. An agent that approves has nothing to hand on.
pub(crate) async fn hand_on_to_check(
    app: &App,
    client: &Client,
    task: &str,
) -> Result<(), ClientError> {
    if app.env.agent_id.is_some() {
        return Ok(());
    }
    let seen = client.get::<ServerEnvironment>("/api/environment").await?;
    let environment = own(app, &seen.handed_on_to_checks);
    let request = CheckEnvironmentRequest { environment, accept_servers: false };
    let path = format!("/api/tasks/{}/environment", escaped(task));
    client.post::<CheckEnvironment>(&path, &request).await?;
    Ok(())
}

fn own(app: &App, names: &[String]) -> HandedOnVariables {
    let variable = |name: &String| Some((name.clone(), app.env.variable(name)?));
    HandedOnVariables(names.iter().filter_map(variable).collect())
}
