//! `adjutant attach`: an agent's stream, and a line to type to it.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::sleep;

use super::logs;
use super::run::story_line;
use crate::app::App;
use crate::cli::AttachArgs;
use crate::cli_error::Trouble;
use crate::commands::reconnect::Steady;
use crate::terminal::progress::Progress;
use crate::terminal::render::{dim, odd, plain};

/// Retry delay for input to an agent that is starting.
const AGAIN: Duration = Duration::from_millis(100);

/// Shows the stream and passes typed lines on, until the agent ends.
pub(crate) async fn run(app: &App, args: &AttachArgs) -> Result<(), Trouble> {
    if app.render.is_json() {
        return Err(Trouble::usage("`attach` is interactive and has no `--json`")
            .hint("`adjutant logs -f --json` gives the same stream to programs"));
    }
    let mut steady = Steady::new(app).await?;
    let id = steady.agent(&args.agent).await?;
    let mut typing = Steady::new(app).await?;
    let unseen = Progress::none();
    tokio::select! {
        shown = logs::follow(&mut steady, &id, &unseen) => shown?,
        failed = pass_on(app, &mut typing, &id) => failed?,
    }
    let agent = steady.get(&format!("/api/agents/{id}")).await?;
    Ok(app.render.aside(&story_line(&agent))?)
}

/// Passes on what is typed. Where nothing more is, the stream goes on all the same.
async fn pass_on(app: &App, steady: &mut Steady<'_>, id: &str) -> Result<(), Trouble> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        if line.trim().is_empty() {
            continue;
        }
        match offer(steady, id, &line).await {
            Ok(true) => {}
            Ok(false) => {
                let instead = format!("adjutant mail send --to {id}");
                let words = format!("it takes no input while it runs; try `{instead} …`");
                app.render.aside(&odd(words))?;
            }
            Err(trouble) => app.render.aside(&odd(plain(trouble.message())))?,
        }
    }
    app.render.aside(&dim("(end of input; the stream continues until the agent ends)"))?;
    std::future::pending().await
}

/// Offers a line to the agent, and says whether it took it. One that is only starting is waited for.
async fn offer(steady: &mut Steady<'_>, id: &str, line: &str) -> Result<bool, Trouble> {
    let (agent, input) = (format!("/api/agents/{id}"), json!({ "line": line }));
    loop {
        // Sent once: nobody can say of a line whose answer is lost whether it was typed.
        let refused = match steady.client().post_json(&format!("{agent}/input"), &input).await {
            Ok(answer) => return Ok(answer["taken"] == true),
            Err(error) => Trouble::from(error),
        };
        // The next server may be there by now.
        let standing = steady.get(&agent).await?;
        if !is_starting(&standing) {
            return Err(refused);
        }
        sleep(AGAIN).await;
    }
}

fn is_starting(agent: &Value) -> bool {
    matches!(agent["state"].as_str(), Some("queued" | "starting"))
}
