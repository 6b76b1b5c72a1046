//! A loop, in words.

use serde_json::Value;

use crate::app::now;
use crate::commands::delivery::merge_queue::under;
use crate::terminal::render::{
    Page, ago, bad, bold, count, dim, field, good, line, money, name, odd, short, table,
};

/// A line of a terminal.
const WIDTH: usize = 80;
/// Iterations shown.
const TOLD: usize = 10;

/// The loops that there are.
pub(super) fn listed(loops: &[Value]) -> String {
    if loops.is_empty() {
        return format!("No loops.\nStart one with {}", name("adjutant loop NAME --spec FILE"));
    }
    let rows = loops.iter().map(|one| {
        [
            field(one, "name"),
            field(one, "state"),
            iteration_of(one),
            tasks(&one["tasks"]).replace(" tasks", ""),
            spent(one).unwrap_or_else(|| "-".to_owned()),
            ago(&one["updatedAt"], now()),
        ]
    });
    table(["NAME", "STATE", "ITERATION", "TASKS", "COST", "CHANGED"], rows)
}

/// Iteration and total.
pub(super) fn iteration_of(one: &Value) -> String {
    let number = field(one, "iteration");
    match one["iterations"].as_u64() {
        Some(last) => format!("{number} of {last}"),
        None => number,
    }
}

/// Cost, if any.
fn spent(one: &Value) -> Option<String> {
    money(&one["costUsd"]).filter(|_| one["costUsd"].as_f64() > Some(0.0))
}

fn tasks(counts: &Value) -> String {
    let of = |key: &str| counts[key].as_u64().unwrap_or_default();
    let wanted = ["remaining", "inProgress", "blocked", "completed"].map(of).iter().sum::<u64>();
    format!("{} of {wanted} tasks done", of("completed"))
}

pub(super) fn state(one: &Value) -> String {
    let state = field(one, "state").replace('_', " ");
    match one["state"].as_str() {
        Some("running") => name(state),
        Some("completed" | "limit") => good(state),
        Some("paused") => odd(state),
        _ => bad(state),
    }
}

/// Where a loop stands.
pub(super) fn status(whole: &Value) -> String {
    let (one, mut page) = (&whole["loop"], Page::default());
    page.line(format_args!("{}  {}", bold(field(one, "name")), state(one)));
    under(&mut page, one["reason"].as_str().unwrap_or_default());
    if let Some(wish) = one["wish"].as_str() {
        page.line(format_args!("  {}", odd(format!("{wish} is wanted"))));
    }
    let mut facts = vec![format!("iteration {}", iteration_of(one))];
    let counts = &one["tasks"];
    for (key, word) in [
        ("inProgress", "in progress"),
        ("remaining", "remaining"),
        ("blocked", "blocked"),
        ("completed", "completed"),
        ("cancelled", "cancelled"),
    ] {
        let many = counts[key].as_u64().unwrap_or_default();
        if many > 0 {
            facts.push(format!("{many} {word}"));
        }
    }
    match (spent(one), money(&one["budgetUsd"])) {
        (cost, Some(cap)) => facts.push(format!("{} of {cap}", cost.unwrap_or("nothing".into()))),
        (cost, None) => facts.extend(cost),
    }
    page.line(format_args!("  {}", dim(facts.join(", "))));
    if one["state"] == "running" && one["phase"] == "working" {
        let agent = field(one, "agentId");
        let see = name(format!("adjutant logs -f {agent}"));
        page.line(format_args!("  {} {see}", dim("See its agent with")));
    }
    let iterations = whole["iterations"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !iterations.is_empty() {
        page.line(format_args!("\n{}", bold("Iterations")));
    }
    for it in iterations.iter().take(TOLD) {
        page.line(iteration(it));
    }
    parts(&mut page, whole);
    page.into_text()
}

/// Notes and messages.
fn parts(page: &mut Page, whole: &Value) {
    let list = |key: &str| whole[key].as_array().map(Vec::as_slice).unwrap_or_default();
    if !list("notes").is_empty() {
        page.line(format_args!("\n{}", bold("Notes")));
    }
    for note in list("notes") {
        let head = format!("  [{}] #{} ", field(note, "type"), field(note, "iteration"));
        let text = short(&field(note, "content"), WIDTH.saturating_sub(head.len()));
        page.line(format_args!("{}{text}", dim(head)));
    }
    let said: Vec<&Value> =
        list("messages").iter().filter(|message| message["from"] == "operator").collect();
    if !said.is_empty() {
        page.line(format_args!("\n{}", bold("Messages")));
    }
    for message in said {
        let to = match message["iteration"].as_u64() {
            Some(number) => dim(format!("  told to #{number} ")),
            None => odd("  waits "),
        };
        page.line(format_args!("{to}{}", short(&field(message, "text"), WIDTH - 16)));
    }
}

/// An iteration on a line.
pub(super) fn iteration(it: &Value) -> String {
    let number = format!("#{}", field(it, "number"));
    let task = it["task"].as_str().map(|task| format!(" {}", line(task))).unwrap_or_default();
    let (mark, text) = match it["state"].as_str() {
        None => (name("works"), String::new()),
        Some("succeeded") => (good("done"), field(it, "summary")),
        Some(state) => (bad(line(&state.replace('_', " "))), field(it, "reason")),
    };
    let text = if text == "-" { String::new() } else { text };
    let used = number.len() + task.len() + 16;
    format!("  {number}{task}  {mark}  {}", short(&text, WIDTH.saturating_sub(used)))
        .trim_end()
        .to_owned()
}

/// Final line about a loop.
pub(super) fn ended(one: &Value) -> String {
    let mut page = Page::default();
    let (named, done) = (field(one, "name"), one["iteration"].as_u64().unwrap_or_default());
    let done = count(usize::try_from(done).unwrap_or(usize::MAX), "iteration");
    let mut facts = vec![done, tasks(&one["tasks"])];
    facts.extend(spent(one));
    let facts = facts.join(", ");
    page.line(format_args!("{}  {}  {}", bold(&named), state(one), dim(facts)));
    under(&mut page, one["reason"].as_str().unwrap_or_default());
    match one["state"].as_str() {
        Some("paused") => {
            let how = name(format!("adjutant loop resume {named}"));
            page.line(format_args!("  {} {how}", dim("Resume it with")));
        }
        Some("completed") => {}
        _ => {
            let how = name(format!("adjutant loop {named} --iterations 5"));
            page.line(format_args!("  {} {how}", dim("Run more iterations with")));
        }
    }
    page.into_text()
}
