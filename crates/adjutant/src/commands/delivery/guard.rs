//! `adjutant guard`: git's `pre-commit` hook in an agent's worktree. It stops a commit of files that
//! another agent has reserved. A guard that cannot ask does not block work.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use engine::Code;
use host::process::{self, Launch};
use model::{AgentId, PathGlob, Timestamp};
use serde_json::json;
use tokio::time::timeout;
use wire::files::{ReservationView, Reservations};

use crate::app::{App, call_tool};
use crate::cli_error::CliError;
use crate::client::{Answer, Client, all_rows};
use crate::terminal::render::line;

/// Time limit for a server that is starting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for reading the reservations.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit for git to list the staged files.
const GIT_TIMEOUT: Duration = Duration::from_secs(60);
/// Exit code that stops a commit.
const COMMIT_REFUSED: u8 = 1;
/// Page size.
const PAGE: usize = 500;
/// More files than this are counted, not listed.
const MAX_LISTED: usize = 20;

/// Refuses the commit of files that another agent has reserved.
pub(crate) async fn run(app: &App) -> Result<(), CliError> {
    match held(app).await {
        Ok(held) if held.is_empty() => Ok(()),
        Ok(held) => {
            app.render.print_error(&refusal(&held))?;
            Err(CliError::reported(COMMIT_REFUSED))
        }
        Err(why) => Ok(app.render.aside(&format!("adjutant: not guarded: {}", line(&why)))?),
    }
}

/// A file, and the reservation of another agent that covers it.
struct HeldFile {
    file: String,
    by: ReservationView,
}

async fn held(app: &App) -> Result<Vec<HeldFile>, String> {
    let Some(agent) = &app.env.agent_id else {
        return Err("not an agent's environment (`ADJUTANT_AGENT_ID` is not set)".to_owned());
    };
    let files = staged(app)?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let message = |cli_error: CliError| cli_error.message().to_owned();
    let client = timeout(CONNECT_TIMEOUT, app.client()).await;
    let client = client.map_err(|_| "no server answers".to_owned())?.map_err(message)?;
    let answer = timeout(ANSWER_TIMEOUT, reservations(&client)).await;
    let reservations = answer.map_err(|_| "the server is too slow".to_owned())?.map_err(message)?;
    let own: Option<AgentId> = agent.parse().ok();
    let mut held = Vec::new();
    for by in reservations.into_iter().map(Answer::into_value) {
        if Some(by.agent_id) == own {
            continue;
        }
        let pattern = PathGlob::new(&by.pattern).map_err(|error| error.to_string())?;
        let covered = files.iter().filter(|file| pattern.matches(file));
        held.extend(covered.map(|file| HeldFile { file: file.clone(), by: by.clone() }));
    }
    Ok(held)
}

/// Reads the reservations of all agents.
async fn reservations(client: &Client) -> Result<Vec<Answer<ReservationView>>, CliError> {
    all_rows(async |cursor| {
        let input = match cursor {
            Some(cursor) => json!({ "limit": PAGE, "cursor": cursor }),
            None => json!({ "limit": PAGE }),
        };
        call_tool::<Reservations>(client, "mcp__files__list_reservations", &input).await
    })
    .await
}

/// The files that the commit would change, from the top of the worktree.
fn staged(app: &App) -> Result<BTreeSet<String>, String> {
    let changed = |against: &[&str]| {
        let list = ["diff", "--cached", "--name-only", "--no-renames", "--no-relative", "-z"];
        git(app, &[&list[..], against].concat()).map(|output| {
            let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
        })
    };
    let files: BTreeSet<String> = changed(&[])?;
    // A merge brings files that were committed before; only what is new against both sides is this commit's.
    match git(app, &["rev-parse", "-q", "--verify", "MERGE_HEAD"]) {
        Ok(_) => {
            let theirs: BTreeSet<String> = changed(&["MERGE_HEAD"])?;
            Ok(files.intersection(&theirs).cloned().collect())
        }
        Err(_) => Ok(files),
    }
}

/// Asks git in the surroundings that it has given us: the index may be one of its own for this commit.
fn git(app: &App, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let path = app.env.path.as_ref().map(|path| path.to_string_lossy()).unwrap_or_default();
    let program = host::program::find("git", &path, &app.env.cwd);
    let launch = Launch {
        program: program.unwrap_or_else(|| PathBuf::from("git")),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: app.env.vars.clone(),
        directory: app.env.cwd.clone(),
    };
    let output = process::run(&launch, GIT_TIMEOUT).map_err(|error| error.to_string())?;
    if output.exit.is_success() {
        return Ok(output.stdout);
    }
    Err(format!("git failed: {}", String::from_utf8_lossy(&output.stderr)))
}

fn refusal(held: &[HeldFile]) -> CliError {
    let files: BTreeSet<&str> = held.iter().map(|one| one.file.as_str()).collect();
    let mut lines = vec![match files.len() {
        1 => "a file of this commit is reserved by another agent".to_owned(),
        count => format!("{count} files of this commit are reserved by other agents"),
    }];
    for HeldFile { file, by } in held.iter().take(MAX_LISTED) {
        let reason = by.reason.as_deref();
        let reason = reason.map_or_else(String::new, |reason| format!(": {}", line(reason)));
        lines.push(format!(
            "  {}  held by {} ({}) as `{}` until {}{reason}",
            line(file),
            by.agent_id,
            line(&by.role),
            line(&by.pattern),
            to_the_second(by.expires_at),
        ));
    }
    if held.len() > MAX_LISTED {
        lines.push(format!("  and {} more", held.len() - MAX_LISTED));
    }
    let holder = held.first().map(|one| one.by.agent_id.to_string()).unwrap_or_default();
    let last = held.iter().map(|one| one.by.expires_at).max();
    let last = last.map(to_the_second).unwrap_or_default();
    CliError::new(Code::Conflict, lines.join("\n"))
        .hint("commit the rest: `git restore --staged FILE`, then `git commit`")
        .hint(format!("ask for it: `mcp__mail__send` with `toAgentId` `{holder}`"))
        .hint(format!("else wait until {last}, when the last of these ends, or is released"))
}

/// A time without its fraction of a second.
fn to_the_second(at: Timestamp) -> String {
    format!("{}T{}Z", at.date(), at.time_of_day())
}
