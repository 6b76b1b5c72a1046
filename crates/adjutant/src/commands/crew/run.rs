//! `adjutant run`, `draft`, `resume`, `await` and `kill`: agents that Adjutant runs itself.

use std::path::PathBuf;
use std::time::Duration;

use engine::Code;
use futures_util::future::join_all;
use serde_json::{Map, Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep};

use super::agents::elapsed;
use super::logs;
use super::role;
use crate::app::{App, now};
use crate::cli::{AwaitArgs, BoundArgs, KillArgs, ResumeArgs, RunArgs};
use crate::cli_error::Trouble;
use crate::client::Client;
use crate::commands::call::tool::text_or_stdin;
use crate::commands::reconnect::Steady;
use crate::server_process::connect;
use crate::terminal::progress::Progress;
use crate::terminal::render::{
    Page, bad, bold, dim, field, good, is_terminal, money, name, odd, print_json, print_text,
    quoted, span, tokens,
};

/// Seconds that a request waits for an agent's end.
const WAIT_SECONDS: u64 = 60;
/// Before it is asked again whoever was answered at once waits so long: the server may be ending.
const PAUSE: Duration = Duration::from_millis(100);

/// Starts an agent and waits for its end.
pub(crate) async fn run(app: &App, args: RunArgs) -> Result<(), Trouble> {
    let wish = wish_of(app, args)?;
    let steady = Steady::new(app).await?;
    let started = start(app, steady.client(), &wish).await?;
    see(app, steady, &started).await
}

/// Starts an agent.
pub(crate) async fn draft(app: &App, args: RunArgs) -> Result<(), Trouble> {
    let wish = wish_of(app, args)?;
    let started = start(app, &app.client().await?, &wish).await?;
    Ok(app.render.answer(&started, || started_text(&started))?)
}

/// Asks the server for an agent.
async fn start(app: &App, client: &Client, wish: &Value) -> Result<Value, Trouble> {
    let started = client.post_json("/api/runs", wish).await;
    started.map_err(|error| role::explained(app, error.into(), wish["role"].as_str()))
}

/// Goes on with a conversation as a new agent.
pub(crate) async fn resume(app: &App, args: ResumeArgs) -> Result<(), Trouble> {
    as_operator(app)?;
    let mut wish = bounds_of(&args.bounds);
    wish.insert("prompt".to_owned(), text_or_stdin(args.prompt)?.into());
    let mut steady = Steady::new(app).await?;
    wish.insert("resume".to_owned(), steady.agent(&args.agent).await?.into());
    let started = steady.client().post_json("/api/runs", &Value::Object(wish)).await?;
    if args.detach {
        return Ok(app.render.answer(&started, || started_text(&started))?);
    }
    see(app, steady, &started).await
}

/// Whoever is an agent starts agents with a tool, which knows whose they are.
fn as_operator(app: &App) -> Result<(), Trouble> {
    if app.env.agent_id.is_none() {
        return Ok(());
    }
    Err(Trouble::new(Code::PermissionDenied, "only the operator starts agents in this way")
        .hint("`adjutant tool draft_agent --role ROLE --prompt TEXT` starts one in your name"))
}

/// Request to the server.
fn wish_of(app: &App, args: RunArgs) -> Result<Value, Trouble> {
    as_operator(app)?;
    let mut wish = bounds_of(&args.bounds);
    wish.insert("prompt".to_owned(), text_or_stdin(args.prompt)?.into());
    let cwd = args.cwd.map(|cwd| place(app, &cwd)).transpose()?;
    let given = [("role", args.role), ("task", args.task), ("cwd", cwd), ("kind", args.kind)];
    for (name, value) in given {
        wish.extend(value.map(|value| (name.to_owned(), value.into())));
    }
    Ok(wish.into())
}

fn bounds_of(args: &BoundArgs) -> Map<String, Value> {
    let given = [
        ("model", args.model.clone().map(Value::from)),
        ("timeout", args.timeout.map(Value::from)),
        ("budget", args.budget.map(|usd| json!({ "usd": usd }))),
    ];
    given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The folder that somebody named, as the server must hear it.
fn place(app: &App, cwd: &std::path::Path) -> Result<String, Trouble> {
    let path: PathBuf = app.env.cwd.join(cwd);
    let path = path.canonicalize().map_err(|error| {
        Trouble::usage(format!("`--cwd {}` cannot be used: {error}", cwd.display()))
    })?;
    Ok(path.display().to_string())
}

fn started_text(started: &Value) -> String {
    let [agent, role, task] = ["agentId", "role", "taskSlug"].map(|key| field(started, key));
    format!(
        "{} is started as {role}, for the task {task}.\nWait for it with {}",
        bold(&agent),
        name(format!("adjutant await {agent}"))
    )
}

/// Sees an agent that was just started to its end.
async fn see(app: &App, mut steady: Steady<'_>, started: &Value) -> Result<(), Trouble> {
    let [id, role, task] = ["agentId", "role", "taskSlug"].map(|key| field(started, key));
    // Listened for before anybody hears of the agent, so that nobody is too quick.
    let mut interrupt = signal(SignalKind::interrupt())?;
    app.render.aside(&dim(format!("{id} is started as {role}, for the task {task}")))?;
    let agent = tokio::select! {
        agent = end_of(app, &mut steady, &id) => agent?,
        _ = interrupt.recv() => {
            return Err(Trouble::interrupted(format!("stopped waiting; {id} keeps running"))
                .hint(format!("`adjutant logs -f {id}` shows what it does"))
                .hint(format!("`adjutant kill {id}` ends it")));
        }
    };
    let value = json!({
        "agentId": agent["id"], "status": agent["awaitStatus"], "state": agent["state"],
        "result": agent["result"], "costUsd": agent["costUsd"], "tokens": agent["tokens"],
        "durationMs": agent["durationMs"],
    });
    app.render.answer(&value, || story(&agent))?;
    if agent["state"] == "succeeded" { Ok(()) } else { Err(Trouble::said(1)) }
}

/// Everything about an agent once it is over. Whoever looks on sees what it does meanwhile.
async fn end_of(app: &App, steady: &mut Steady<'_>, id: &str) -> Result<Value, Trouble> {
    let progress = Progress::waiting(app, id);
    let followed = async {
        if !app.render.is_json() && is_terminal() {
            logs::follow(steady, id, &progress).await?;
        }
        until_over(steady, id, None).await
    };
    with_look(app, &progress, id, followed).await?;
    drop(progress);
    steady.get(&format!("/api/agents/{id}")).await
}

/// Refresh interval of the progress line.
const LOOK: Duration = Duration::from_secs(1);

/// Waits for something, and shows meanwhile what an agent does, to whoever sees it.
async fn with_look<T>(
    app: &App,
    progress: &Progress,
    id: &str,
    work: impl Future<Output = T>,
) -> T {
    let look = async {
        while progress.is_seen() {
            // What cannot be seen now may be seen later: the work itself tells what is wrong.
            if let Some(told) = look_at(app, id).await {
                progress.say(&told);
            }
            sleep(LOOK).await;
        }
        std::future::pending().await
    };
    tokio::select! {
        biased;
        done = work => done,
        done = look => done,
    }
}

async fn look_at(app: &App, id: &str) -> Option<String> {
    let client = connect::locate(&app.place(&[]).ok()?).ok()??;
    let crew = client.get_json(&format!("/api/crew/rows?ids={id}")).await.ok()?;
    standing(&crew["rows"][0])
}

/// State of an agent, one line.
fn standing(agent: &Value) -> Option<String> {
    let (id, state) = (agent["id"].as_str()?, agent["state"].as_str()?);
    let mut facts = vec![format!("{id} {state}"), elapsed(agent, now())];
    facts.extend(money(&agent["costUsd"]));
    facts.extend(agent["doing"]["text"].as_str().map(str::to_owned));
    Some(facts.join(", "))
}

/// Waits for an agent's end or the time limit.
async fn until_over(
    steady: &mut Steady<'_>,
    id: &str,
    deadline: Option<Instant>,
) -> Result<Value, Trouble> {
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let wait = left.map_or(WAIT_SECONDS, |left| left.as_secs().min(WAIT_SECONDS));
        let asked = Instant::now();
        let input = json!({ "agentId": id, "waitSeconds": wait });
        let answer = steady.call("mcp__harness__await_agent", &input).await?;
        let time_is_up = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if answer["status"] != "running" || time_is_up {
            return Ok(answer);
        }
        if asked.elapsed() < PAUSE {
            sleep(PAUSE.min(left.unwrap_or(PAUSE))).await;
        }
    }
}

/// The moment so many seconds from now. One that the clock cannot tell is no deadline.
fn deadline_in(seconds: u64) -> Option<Instant> {
    Instant::now().checked_add(Duration::from_secs(seconds))
}

/// Waits for agents, one after the other: that takes as long as the longest.
pub(crate) async fn wait(app: &App, args: &AwaitArgs) -> Result<(), Trouble> {
    let deadline = args.timeout.and_then(deadline_in);
    let mut steady = Steady::new(app).await?;
    let mut ids = Vec::new();
    for named in &args.agents {
        ids.push(steady.agent(named).await?);
    }
    let mut failed = false;
    for id in ids {
        let progress = Progress::waiting(app, &id);
        let over = until_over(&mut steady, &id, deadline);
        let mut answer = with_look(app, &progress, &id, over).await?;
        drop(progress);
        failed |= answer["state"] != "succeeded";
        if let Value::Object(answer) = &mut answer {
            let key = if app.render.is_json() { "agentId" } else { "id" };
            answer.insert(key.to_owned(), id.into());
        }
        if app.render.is_json() {
            print_json(&answer)?;
        } else {
            print_text(&story(&answer))?;
        }
    }
    if failed { Err(Trouble::said(1)) } else { Ok(()) }
}

/// An agent in a line: how it stands, and what that took.
pub(crate) fn story_line(agent: &Value) -> String {
    let state = field(agent, "state");
    let state = match (state.as_str(), &agent["status"]) {
        ("succeeded", _) => good(&state),
        (_, status) if status == "running" => odd(&state),
        _ => bad(&state),
    };
    let took = agent["durationMs"].as_i64().filter(|millis| *millis > 0);
    let took = took.map_or_else(String::new, |millis| format!(" in {}", span(millis)));
    let mut facts = vec![format!("{} {state}{took}", bold(field(agent, "id")))];
    facts.extend(money(&agent["costUsd"]));
    let count = |key: &str| agent["tokens"][key].as_u64().unwrap_or_default();
    let (read, written) = (count("input"), count("output"));
    if read + written > 0 {
        facts.push(format!("{} tokens in, {} out", tokens(read), tokens(written)));
    }
    facts.join(&dim(", "))
}

/// Summary of an agent's end.
fn story(agent: &Value) -> String {
    let mut page = Page::default();
    page.line(story_line(agent));
    let reason = agent["reason"].as_str().filter(|_| agent["state"] != "succeeded");
    if let Some(reason) = reason {
        page.text(&quoted(reason));
    }
    let result = &agent["result"];
    let summary = result["summary"].as_str().filter(|summary| Some(*summary) != reason);
    page.text(&quoted(summary.unwrap_or_default()));
    for (title, key) in [("Changes", "changes"), ("Issues", "issues"), ("Questions", "questions")] {
        let all = result[key].as_array().map(Vec::as_slice).unwrap_or_default();
        if !all.is_empty() {
            page.line(bold(title));
        }
        for one in all {
            page.line(format_args!(
                "  - {}",
                crate::terminal::render::line(one.as_str().unwrap_or_default())
            ));
        }
    }
    page.into_text()
}

/// Ends agents, all at once.
pub(crate) async fn kill(app: &App, args: &KillArgs) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let mut ids = Vec::new();
    for named in &args.agents {
        ids.push(steady.agent(named).await?);
    }
    let mut done = Ok(());
    for killed in kill_all(app, &ids, Progress::steps(app, "ending agents", many(&ids))).await {
        match killed {
            Ok(answer) => {
                let gone = answer["success"] == true;
                let text = field(&answer, "message");
                if app.render.is_json() {
                    print_json(&answer)?;
                } else {
                    print_text(&if gone { text } else { odd(text) })?;
                }
                if !gone {
                    done = Err(Trouble::said(5));
                }
            }
            // The others were ended all the same.
            Err(trouble) => done = Err(trouble),
        }
    }
    done
}

/// Ends agents and says of each what became of it.
pub(crate) async fn kill_all(
    app: &App,
    ids: &[String],
    progress: Progress,
) -> Vec<Result<Value, Trouble>> {
    let one = async |id: &String| {
        let killed = kill_one(app, id).await;
        progress.step();
        killed
    };
    join_all(ids.iter().map(one)).await
}

/// Number of items.
pub(crate) fn many<T>(items: &[T]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

/// Ends an agent, however long that takes.
async fn kill_one(app: &App, id: &str) -> Result<Value, Trouble> {
    let mut steady = Steady::new(app).await?;
    let look = json!({ "agentId": id, "waitSeconds": 0 });
    let mut lived = false;
    loop {
        let standing = steady.call("mcp__harness__await_agent", &look).await?;
        let [state, reason] = ["state", "reason"].map(|key| field(&standing, key));
        match (standing["status"] == "running", lived) {
            (true, _) => lived = true,
            (false, true) => {
                let message = format!("{state} {id} ({reason})");
                return Ok(json!({ "agentId": id, "success": true, "message": message }));
            }
            (false, false) => {
                let message = format!("agent {id} has already ended: {state}, {reason}");
                return Ok(json!({ "agentId": id, "success": false, "message": message }));
            }
        }
        // It waits until the agent is gone, within bounds; whether it is shows in the next look.
        steady.call("mcp__harness__kill_agent", &json!({ "agentId": id })).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_beyond_the_clock_is_none() {
        assert!(deadline_in(u64::MAX).is_none());
        assert!(deadline_in(60).is_some());
    }
}
