//! `adjutant guard`: git's `pre-commit` hook in an agent's worktree. It stops a commit of files that
//! another agent has reserved. A guard that cannot ask does not block work.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use engine::Code;
use host::process::{self, Launch};
use model::{PathGlob, Timestamp};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::app::{self, App};
use crate::cli_error::Trouble;
use crate::client::Client;
use crate::terminal::render::{field, line};

/// Wait for a server that may be coming back.
const COMING: Duration = Duration::from_secs(10);
/// Timeout of an answer.
const ANSWER: Duration = Duration::from_secs(60);
/// Timeout of git listing staged files.
const LIST: Duration = Duration::from_secs(60);
/// Exit code that stops a commit.
const STOP: u8 = 1;
/// More files than this are counted, not listed.
const LISTED: usize = 20;

/// Looks whether somebody else holds what is to be committed.
pub(crate) async fn run(app: &App) -> Result<(), Trouble> {
    match held(app).await {
        Ok(held) if held.is_empty() => Ok(()),
        Ok(held) => {
            app.render.trouble(&refusal(&held))?;
            Err(Trouble::said(STOP))
        }
        Err(why) => Ok(app.render.aside(&format!("adjutant: not guarded: {}", line(&why)))?),
    }
}

/// A file, and the reservation of another agent that covers it.
struct Held {
    file: String,
    by: Value,
}

async fn held(app: &App) -> Result<Vec<Held>, String> {
    let Some(agent) = &app.env.agent_id else {
        return Err("not an agent's environment (`ADJUTANT_AGENT_ID` is not set)".to_owned());
    };
    let files = staged(app)?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let told = |trouble: Trouble| trouble.message().to_owned();
    let client = timeout(COMING, app.client()).await;
    let client = client.map_err(|_| "no server answers".to_owned())?.map_err(told)?;
    let asked = timeout(ANSWER, reservations(&client)).await;
    let reservations = asked.map_err(|_| "the server is too slow".to_owned())?.map_err(told)?;
    let mut held = Vec::new();
    for by in reservations.iter().filter(|by| by["agentId"] != **agent) {
        let pattern = by["pattern"].as_str().unwrap_or_default();
        let pattern = PathGlob::new(pattern).map_err(|error| error.to_string())?;
        let covered = files.iter().filter(|file| pattern.matches(file));
        held.extend(covered.map(|file| Held { file: file.clone(), by: by.clone() }));
    }
    Ok(held)
}

/// Everything that anybody has reserved.
async fn reservations(client: &Client) -> Result<Vec<Value>, Trouble> {
    let mut all = Vec::new();
    let mut input = json!({ "limit": 500 });
    loop {
        let mut page = app::call(client, "mcp__files__list_reservations", &input, None).await?;
        if let Value::Array(found) = page["reservations"].take() {
            all.extend(found);
        }
        match page["nextCursor"].take() {
            Value::Null => return Ok(all),
            next => input = json!({ "limit": 500, "cursor": next }),
        }
    }
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
    // What a merge brings was committed by somebody before; only what is new against both is ours.
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
    let output = process::run(&launch, LIST).map_err(|error| error.to_string())?;
    if output.exit.is_success() {
        return Ok(output.stdout);
    }
    Err(format!("git failed: {}", String::from_utf8_lossy(&output.stderr)))
}

fn refusal(held: &[Held]) -> Trouble {
    let files: BTreeSet<&str> = held.iter().map(|one| one.file.as_str()).collect();
    let mut lines = vec![match files.len() {
        1 => "a file of this commit is reserved by another agent".to_owned(),
        count => format!("{count} files of this commit are reserved by other agents"),
    }];
    for Held { file, by } in held.iter().take(LISTED) {
        let reason = by["reason"].as_str();
        let reason = reason.map_or_else(String::new, |reason| format!(": {}", line(reason)));
        lines.push(format!(
            "  {}  held by {} ({}) as `{}` until {}{reason}",
            line(file),
            field(by, "agentId"),
            field(by, "role"),
            field(by, "pattern"),
            until(by),
        ));
    }
    if held.len() > LISTED {
        lines.push(format!("  and {} more", held.len() - LISTED));
    }
    let holder = held.first().map(|one| field(&one.by, "agentId")).unwrap_or_default();
    let last = held.iter().map(|one| until(&one.by)).max().unwrap_or_default();
    Trouble::new(Code::Conflict, lines.join("\n"))
        .hint("commit the rest: `git restore --staged FILE`, then `git commit`")
        .hint(format!("ask for it: `mcp__mail__send` with `toAgentId` `{holder}`"))
        .hint(format!("else wait until {last}, when the last of these ends, or is released"))
}

/// When a reservation ends, to the second.
fn until(by: &Value) -> String {
    let at = by["expiresAt"].as_str().and_then(|text| text.parse::<Timestamp>().ok());
    at.map_or_else(|| "-".to_owned(), |at| format!("{}T{}Z", at.date(), at.time_of_day()))
}
