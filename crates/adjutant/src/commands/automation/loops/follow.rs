//! Follows a loop: prints each event once, in order, a line each.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::path_of;
use super::show::iteration_of;
use crate::app::{App, query};
use crate::cli_error::Trouble;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{
    bad, bold, dim, field, good, line, money, odd, print_text, quoted, short,
};

/// Seconds that one request waits for news.
const WAIT_SECONDS: u64 = 60;
/// Page size.
const PAGE: u64 = 500;
/// Before it is asked again whoever was answered at once waits so long: the server may be ending.
const PAUSE: Duration = Duration::from_millis(100);
/// A line of a terminal.
const WIDTH: usize = 80;
/// Lines of a hook's output shown.
const OUTPUT_LINES: usize = 10;

/// Says in which iteration a loop is, to whoever comes in the middle of it.
pub(super) async fn begin(app: &App, steady: &mut Steady<'_>, named: &str) -> Result<(), Trouble> {
    let whole = steady.get(&path_of(named)).await?;
    let one = &whole["loop"];
    if !app.render.is_json() && is_going(one) && one["agentId"].is_string() {
        let at = dim(format!("iteration {}", iteration_of(one)));
        print_text(&format!("{}  {at}", bold(field(one, "name"))))?;
    }
    Ok(())
}

/// Tells how a loop goes until it waits or is over, and gives it as it is then.
pub(super) async fn to_the_end(
    app: &App,
    mut steady: Steady<'_>,
    (named, mut last): (&str, i64),
) -> Result<Value, Trouble> {
    let path = path_of(named);
    let mut whole = steady.get(&path).await?;
    loop {
        let going = is_going(&whole["loop"]);
        let (events, seen) = happened(&mut steady, (last, going)).await?;
        last = seen;
        for event in events.iter().filter(|event| event["data"]["session"] == named) {
            if let Some(told) = told(event).filter(|_| !app.render.is_json()) {
                print_text(&told)?;
            }
        }
        if !going && events.is_empty() {
            return Ok(whole);
        }
        whole = steady.get(&path).await?;
    }
}

/// True if it goes on.
fn is_going(one: &Value) -> bool {
    one["state"] == "running" || one["phase"] == "closing"
}

/// Events after a number, and the last number searched; waits if more may come.
async fn happened(
    steady: &mut Steady<'_>,
    (after, wait): (i64, bool),
) -> Result<(Vec<Value>, i64), Trouble> {
    let asked = Instant::now();
    let path = query(
        "/api/events",
        [
            ("after", Some(after.to_string())),
            ("limit", Some(PAGE.to_string())),
            ("kind", Some("loop.*".to_owned())),
            ("waitSeconds", wait.then(|| WAIT_SECONDS.to_string())),
        ],
    );
    let mut answer = steady.get(&path).await?;
    let events = match answer["events"].take() {
        Value::Array(events) => events,
        _ => Vec::new(),
    };
    if let Some(left) = PAUSE.checked_sub(asked.elapsed()).filter(|_| wait && events.is_empty()) {
        sleep(left).await;
    }
    Ok((events, answer["last"].as_i64().unwrap_or(after)))
}

/// An event, in a line or a few.
fn told(event: &Value) -> Option<String> {
    let data = &event["data"];
    let number = data["iteration"].as_u64().unwrap_or_default();
    let which = match number {
        0 => "planning".to_owned(),
        _ => format!("iteration {}", iteration_of(data)),
    };
    let text = |key: &str| data[key].as_str().map(line).unwrap_or_default();
    Some(match event["kind"].as_str()? {
        "loop.started" | "loop.resumed" => {
            let role = text("role");
            format!("{}  {}", bold(text("session")), dim(format!("in the role {role}")))
        }
        "loop.iteration_started" => {
            let agent = event["agentId"].as_str().map(line).unwrap_or_default();
            let words = match data["messages"].as_u64().unwrap_or_default() {
                0 => String::new(),
                1 => ", told 1 message".to_owned(),
                many => format!(", told {many} messages"),
            };
            format!("{}  {which}  {}", odd("→"), dim(format!("{agent}{words}")))
        }
        "loop.iteration_ended" => over(data, &which),
        "loop.committed" => {
            let commit: String = text("commit").chars().take(12).collect();
            dim(format!("   committed as {commit}"))
        }
        "loop.step_failed" | "loop.trouble" => {
            let what = match data["hook"].as_str() {
                Some(hook) => format!("hook {}", line(hook)),
                None => "not committed".to_owned(),
            };
            let why = short(&text("error"), WIDTH.saturating_sub(what.len() + 6));
            format!("{}  {what}: {why}", bad("!"))
        }
        "loop.stopping" => dim(format!("   {} is wanted", text("wish"))),
        "loop.ended" => return outputs(data),
        _ => return None,
    })
}

/// End of an iteration.
fn over(data: &Value, which: &str) -> String {
    let text = |key: &str| data[key].as_str().map(line).unwrap_or_default();
    let mut head = which.to_owned();
    if data["task"].is_string() {
        head = format!("{head}  {}", text("task"));
    }
    let cost = money(&data["costUsd"]).filter(|_| data["costUsd"].as_f64() > Some(0.0));
    let cost = cost.map(|cost| format!("  {}", dim(cost))).unwrap_or_default();
    let well = data["state"] == "succeeded";
    let said = if well { text("summary") } else { text("reason") };
    let (mark, said) = (if well { good("✓") } else { bad("✗") }, short(&said, WIDTH - 3));
    let state = if well { String::new() } else { format!("  {}", bad(text("state"))) };
    let below = if said.is_empty() { String::new() } else { format!("\n   {said}") };
    format!("{mark}  {head}{state}{cost}{below}")
}

/// Hook output that was not passed to an agent.
fn outputs(data: &Value) -> Option<String> {
    let outputs = data["outputs"].as_array()?;
    let told: Vec<String> = outputs
        .iter()
        .map(|one| {
            let text = one["output"].as_str().unwrap_or_default();
            let lines: Vec<&str> = text.trim().lines().collect();
            let from = lines.len().saturating_sub(OUTPUT_LINES);
            let end = lines.get(from..).unwrap_or_default().join("\n");
            format!("{}\n{}", dim(format!("   {} said:", field(one, "hook"))), quoted(&end))
        })
        .collect();
    Some(told.join("\n")).filter(|told| !told.is_empty())
}
