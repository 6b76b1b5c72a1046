//! `adjutant demo`: runs a crew in a temporary folder and reports its progress.
//!
//! A scripted lead drafts scripted workers, each a process and an MCP client of its own, under a server of
//! their own. One has its work reviewed and merged, one fails and is drafted again, one spends too much and is
//! stopped, and in the middle of it the server is killed and comes back. What is told comes from the server's events, and at the end
//! everything is checked: what is not as it should be ends the demo with 1.

mod check;
mod stage;
mod story;
mod teller;

use std::time::Duration;

use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, timeout_at};
use wire::runs::StartedRun;

use self::check::Check;
use self::stage::Stage;
use self::story::{DemoAgent, Story};
use self::teller::Teller;
use crate::app::App;
use crate::cli::DemoArgs;
use crate::cli_error::CliError;
use crate::server_process;
use crate::terminal::render::{bad, count, good, name, span};

/// Time limit for the crew, which needs a few seconds; then the demonstration is checked as it is.
const CREW_TIMEOUT: Duration = Duration::from_secs(120);

/// Plays the demo, and leaves nothing behind but what was to be kept.
pub(crate) async fn run(app: &App, args: &DemoArgs) -> Result<(), CliError> {
    let asked = server_process::asked_to_stop()?;
    let mut hung_up = signal(SignalKind::hangup())?;
    let mut teller = Teller::new(app);
    let mut stage = Stage::build(app)?;
    let played = tokio::select! {
        played = Box::pin(play(&mut stage, &mut teller)) => played,
        () = asked => Err(CliError::reported(130)),
        _ = hung_up.recv() => Err(CliError::reported(129)),
    };
    let kept = args.keep.then(|| stage.folder().to_owned());
    let commands = stage.commands();
    // The end of everybody is a part of the check, and comes in any case.
    let left = stage.clear(args).await;
    let (crew, mut checks) = played.inspect_err(|_| {
        if let Some(folder) = &kept {
            // A reader that has gone does not need it.
            drop(app.render.aside(&format!("Kept in {}", folder.display())));
        }
    })?;
    checks.push(left?);
    let failed = checks.iter().filter(|check| !check.holds).count();
    let millis = teller.millis();
    let value = json!({
        "ok": failed == 0, "story": teller.told(), "crew": crew, "checks": checks,
        "folder": kept, "durationMs": millis,
    });
    let verdict = match failed {
        0 => good("All is as it should be."),
        some => bad(format!("Not so: {some} of {}.", count(checks.len(), "check"))),
    };
    let took = span(i64::try_from(millis).unwrap_or(i64::MAX));
    let kept = kept.map_or_else(String::new, |folder| {
        format!("\n\nKept in {}; look with\n  {}", folder.display(), name(commands))
    });
    teller.part("The check")?;
    for check in &checks {
        teller.line(&check.text())?;
    }
    teller.end(&value, &format!("{verdict} It took {took}.{kept}"))?;
    if failed == 0 { Ok(()) } else { Err(CliError::reported(1)) }
}

/// The story itself: the crew as it ended, and whether all is as it should be.
async fn play(
    stage: &mut Stage,
    teller: &mut Teller<'_>,
) -> Result<(Vec<DemoAgent>, Vec<Check>), CliError> {
    let deadline = Instant::now() + CREW_TIMEOUT;
    teller.part("A crew")?;
    let url = stage.up().await?;
    teller.say("adjutant", &format!("serves a new repository at {url}"))?;
    let request = json!({ "role": "lead", "prompt": "lead" });
    stage.client()?.post::<StartedRun>("/api/runs", &request).await?;
    let mut story = Story::default();
    let mut back_at = None;
    while !story.is_over() {
        let Ok(page) = timeout_at(deadline, story.next(&stage.client()?)).await else {
            teller.say("adjutant", "has waited long enough")?;
            break;
        };
        for event in page? {
            story.hear(&event, teller)?;
        }
        if let (Some(runner), None) = (story.ready_for_the_worst(), &back_at) {
            teller.part("The server is killed")?;
            back_at = Some(stage.outage(&runner, teller).await?);
            teller.part("And all goes on")?;
            stage.answer().await?;
        }
    }
    let client = stage.client()?;
    let crew = story.crew(&client).await?;
    teller.part("The crew")?;
    teller.table(&crew)?;
    let mut checks = check::record(&client, &story, &crew).await?;
    let what = "the server was killed and came back at its old port".to_owned();
    checks.insert(0, Check { what, holds: back_at == Some(url) });
    checks.push(check::commits(&stage.history()?));
    checks.push(check::agreement(&client, deadline).await?);
    Ok((crew, checks))
}
