//! `adjutant attach`: shows an agent's transcript and passes typed lines to it.

use std::time::Duration;

use model::{AgentId, AgentStateName};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::sleep;
use wire::agent_details::AgentDetails;
use wire::runs::InputOutcome;

use super::logs;
use super::run::AgentOutcome;
use crate::app::App;
use crate::cli::AttachArgs;
use crate::cli_error::CliError;
use crate::commands::progress::Progress;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{dim, odd, plain};

/// Retry delay for input to an agent that is starting.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Shows the transcript and passes typed lines on, until the agent ends.
pub(crate) async fn run(app: &App, args: &AttachArgs) -> Result<(), CliError> {
    if app.render.is_json() {
        return Err(CliError::usage("`attach` is interactive and has no `--json`")
            .hint("`adjutant logs -f --json` gives the same stream to programs"));
    }
    let mut steady = Steady::new(app).await?;
    let id = steady.agent(&args.agent).await?;
    let mut typing = Steady::new(app).await?;
    let unseen = Progress::none();
    tokio::select! {
        shown = logs::follow(&mut steady, id, &unseen) => shown?,
        failed = pass_on(app, &mut typing, id) => failed?,
    }
    let agent = steady.fetch::<AgentDetails>(&format!("/api/agents/{id}")).await?;
    Ok(app.render.aside(&AgentOutcome::of(&agent).headline())?)
}

/// Passes typed lines to the agent. Never returns after the end of the input, so that the transcript goes on.
async fn pass_on(app: &App, steady: &mut Steady<'_>, id: AgentId) -> Result<(), CliError> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        if line.trim().is_empty() {
            continue;
        }
        match offer(steady, id, &line).await {
            Ok(true) => {}
            Ok(false) => {
                let instead = format!("adjutant mail send --to {id}");
                let text = format!("it takes no input while it runs; try `{instead} …`");
                app.render.aside(&odd(text))?;
            }
            Err(cli_error) => app.render.aside(&odd(plain(cli_error.message())))?,
        }
    }
    app.render.aside(&dim("(end of input; the stream continues until the agent ends)"))?;
    std::future::pending().await
}

/// Offers a line to the agent, and returns true if the agent took it. Waits for one that is starting.
async fn offer(steady: &mut Steady<'_>, id: AgentId, line: &str) -> Result<bool, CliError> {
    let (agent, input) = (format!("/api/agents/{id}"), json!({ "line": line }));
    loop {
        // Sent once: nobody can say of a line whose answer is lost whether it was typed.
        let path = format!("{agent}/input");
        let refused = match steady.client().post::<InputOutcome>(&path, &input).await {
            Ok(outcome) => return Ok(outcome.taken),
            Err(error) => CliError::from(error),
        };
        // The next server may be there by now.
        let state = steady.fetch::<AgentDetails>(&agent).await?.agent.state;
        if !matches!(state, AgentStateName::Queued | AgentStateName::Starting) {
            return Err(refused);
        }
        sleep(RETRY_DELAY).await;
    }
}
