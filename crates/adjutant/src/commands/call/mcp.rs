//! `adjutant mcp`: the bridge for clients that start their servers themselves, and the place of it in
//! their configurations.

mod client;
mod edit;
mod install;
mod record;
#[cfg(test)]
mod tests;

use engine::Code;
use engine::toolsets::TOOLSETS;
use model::nearest::nearest;
use wire::enlist::{DischargeRequest, DischargedAgent, EnlistRequest, EnlistedAgent};

use crate::app::App;
use crate::bridge::Bridge;
use crate::cli::{McpVerb, ServeArgs};
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::server_process;
use crate::server_process::connect::{self, ServerLocation, Token};

/// Changes clients' configurations.
pub(crate) fn configure(app: &App, verb: &McpVerb) -> Result<(), CliError> {
    match verb {
        McpVerb::Install(args) => install::install(app, args),
        McpVerb::Uninstall(args) => install::uninstall(app, args),
    }
}

/// Carries messages between a client and the server until the client has gone.
pub(crate) async fn run(app: &App, args: ServeArgs) -> Result<(), CliError> {
    known(&args.toolset)?;
    let at = app.place(&["--background", "needed"])?;
    let Some(role) = args.role else {
        return Ok(Bridge { at, toolsets: args.toolset }.stdio().await?);
    };
    if app.env.agent_id.is_some() {
        return Err(CliError::new(Code::PermissionDenied, "only the operator may enlist agents")
            .hint("without `--as` the tools are yours"));
    }
    as_agent(at, role, args.toolset).await
}

/// Carries messages as an agent that comes and goes with the client.
async fn as_agent(at: ServerLocation, role: String, toolsets: Vec<String>) -> Result<(), CliError> {
    let asked = server_process::asked_to_stop()?;
    let cwd = Some(at.cwd.display().to_string());
    let request = EnlistRequest { role, task: None, epic: None, cwd, parent: None };
    let enlisted: Answer<EnlistedAgent> =
        connect::connect(&at).await?.post("/api/agents", &request).await?;
    let EnlistedAgent { agent_id, token, .. } = enlisted.into_value();
    let link = ServerLocation { token: Token::Given(token), ..at.clone() };
    let carried = tokio::select! {
        carried = Bridge { at: link, toolsets }.stdio() => carried,
        () = asked => Ok(()),
    };
    let path = format!("/api/agents/{agent_id}/discharge");
    let request = DischargeRequest { reason: Some("its client has gone".to_owned()) };
    // The server may have gone meanwhile: another one must not lose an agent that nobody runs.
    let discharged: Result<Answer<DischargedAgent>, CliError> =
        async { Ok(connect::connect(&at).await?.post(&path, &request).await?) }.await;
    carried?;
    discharged.map(drop)
}

/// Checks the names of toolsets.
fn known(toolsets: &[String]) -> Result<(), CliError> {
    for toolset in toolsets {
        if !TOOLSETS.contains(&toolset.as_str()) {
            let cli_error = CliError::usage(format!("there is no toolset `{toolset}`"));
            return Err(match nearest(toolset, TOOLSETS) {
                Some(near) => cli_error.hint(format!("did you mean `{near}`?")),
                None => cli_error.hint(format!("there are {}", TOOLSETS.join(", "))),
            });
        }
    }
    Ok(())
}
