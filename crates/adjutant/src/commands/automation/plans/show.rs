//! A plan for people: in a line, whole, and what came of it.

use serde_json::Value;

use crate::app::now;
use crate::terminal::render::{
    Page, ago, bad, bold, count, dim, field, good, line, name, odd, quoted, short, wrapped,
};

/// A line of a terminal.
const WIDTH: usize = 80;
/// Width of the column before a step's title.
const MARGIN: usize = 15;

/// An amount for people who look at whole plans.
fn dollars(usd: &Value) -> String {
    format!("${:.2}", usd.as_f64().unwrap_or_default())
}

fn spent(plan: &Value) -> String {
    match &plan["budgetUsd"] {
        Value::Null => dollars(&plan["spentUsd"]),
        budget => format!("{} of {}", dollars(&plan["spentUsd"]), dollars(budget)),
    }
}

/// Closed steps and total.
pub(super) fn progress(plan: &Value) -> String {
    let total = usize::try_from(plan["total"].as_u64().unwrap_or_default()).unwrap_or_default();
    format!("{} of {}", field(plan, "closed"), count(total, "step"))
}

fn state(plan: &Value) -> String {
    let asks = plan["questions"].as_array().is_some_and(|asked| !asked.is_empty());
    match plan["state"].as_str().unwrap_or_default() {
        "running" if asks => odd("waits for you"),
        "running" => odd("running"),
        "completed" => good("completed"),
        "over_budget" => bad("over budget"),
        "stopped" => odd("stopped"),
        other => bad(line(other)),
    }
}

/// A plan in two lines.
fn headline(plan: &Value) -> String {
    let since = ago(&plan["createdAt"], now());
    format!(
        "{}  {}  {}  {}\n{}",
        bold(field(plan, "name")),
        state(plan),
        progress(plan),
        spent(plan),
        dim(format!("{}, from {}, begun {since} ago", field(plan, "title"), field(plan, "path")))
    )
}

/// A row of the list.
pub(super) fn row(plan: &Value) -> [String; 6] {
    [
        field(plan, "name"),
        field(plan, "state").replace('_', " "),
        format!("{}/{}", field(plan, "closed"), field(plan, "total")),
        dollars(&plan["spentUsd"]),
        ago(&plan["createdAt"], now()),
        short(&field(plan, "title"), 30),
    ]
}

/// Where a plan stands, whole.
pub(super) fn status(plan: &Value) -> String {
    let mut page = Page::default();
    page.line(headline(plan));
    if let Some(reason) = plan["reason"].as_str().filter(|_| plan["state"] != "completed") {
        for part in wrapped(reason, WIDTH) {
            page.line(part);
        }
    }
    page.line("");
    for step in plan["steps"].as_array().into_iter().flatten() {
        page.text(&one_step(step));
    }
    questions(&mut page, plan);
    led(&mut page, plan);
    page.into_text()
}

/// A step, and in a second line what is to be known of it.
fn one_step(step: &Value) -> String {
    let mut page = Page::default();
    let word = match step["state"].as_str().unwrap_or_default() {
        "completed" => good("done    "),
        "in_progress" => odd("at work "),
        "pending" => dim("open    "),
        "assigned" => odd("assigned"),
        "blocked" => bad("blocked "),
        "review" => odd("review  "),
        "failed" => bad("failed  "),
        _ => dim("dropped "),
    };
    let title = short(&field(step, "title"), WIDTH - MARGIN);
    page.line(format_args!("{:>3}  {word}  {title}", field(step, "number")));
    let mut facts = Vec::new();
    if let Some(agent) = step["agent"].as_object() {
        let text = |key: &str| line(agent.get(key).and_then(Value::as_str).unwrap_or_default());
        facts.push(format!("{} {}, {}", text("role"), text("agentId"), text("state")));
    } else if let Some(reason) = step["reason"].as_str() {
        facts.push(line(reason));
    } else if let Some(result) = step["result"].as_str() {
        let is_open = step["state"] == "pending";
        facts.push(if is_open { format!("last try: {}", line(result)) } else { line(result) });
    }
    let needs: Vec<String> =
        step["dependsOn"].as_array().into_iter().flatten().map(ToString::to_string).collect();
    if step["state"] == "pending" && !needs.is_empty() {
        facts.insert(0, format!("after {}", needs.join(", ")));
    }
    if !facts.is_empty() {
        let facts = short(&facts.join("; "), WIDTH - MARGIN);
        page.line(format_args!("{:MARGIN$}{}", "", dim(facts)));
    }
    page.into_text()
}

/// Open questions and how to answer them.
fn questions(page: &mut Page, plan: &Value) {
    let asked = plan["questions"].as_array().map(Vec::as_slice).unwrap_or_default();
    if asked.is_empty() {
        return;
    }
    page.line("");
    page.line(bold("You are asked"));
    for one in asked {
        page.text(&question(one));
    }
}

/// A question, and what to type.
pub(super) fn question(asked: &Value) -> String {
    let mut page = Page::default();
    let id = field(asked, "mailId");
    page.line(format_args!("  {}", short(&field(asked, "subject"), WIDTH - 2)));
    page.line(format_args!("  {}", name(format!("adjutant mail read {id}"))));
    page.line(format_args!("  {}", name(format!("adjutant mail reply {id} 'your answer'"))));
    page.into_text()
}

/// Coordinator, or how to resume without one.
fn led(page: &mut Page, plan: &Value) {
    let led = plan["coordinators"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(last) = led.last() else { return };
    page.line("");
    let (id, role, state) = (field(last, "agentId"), field(plan, "role"), field(last, "state"));
    let before = match led.len() {
        1 => String::new(),
        many => format!(", after {}", count(many - 1, "other")),
    };
    page.line(dim(format!("led by {id} ({role}, {state}){before}")));
    if let Some(how) = how_to_go_on(plan) {
        page.line(format_args!("{} {}", dim("Resume it:"), name(how)));
    }
}

fn how_to_go_on(plan: &Value) -> Option<String> {
    let named = field(plan, "name");
    match plan["state"].as_str()? {
        "over_budget" => Some(format!("adjutant plan resume {named} --budget 5")),
        "failed" | "stopped" => Some(format!("adjutant plan resume {named}")),
        _ => None,
    }
}

/// Final line about a plan.
pub(super) fn ended(plan: &Value) -> String {
    let mut page = Page::default();
    page.line(format_args!(
        "{}  {}  {}  {}",
        bold(field(plan, "name")),
        state(plan),
        progress(plan),
        spent(plan)
    ));
    let reason = plan["reason"].as_str().filter(|_| plan["state"] != "completed");
    for part in reason.map(|reason| wrapped(reason, WIDTH - 4)).unwrap_or_default() {
        page.line(format_args!("    {part}"));
    }
    let summary = plan["summary"].as_str().filter(|summary| Some(*summary) != reason);
    page.text(&quoted(summary.unwrap_or_default()));
    if let Some(how) = how_to_go_on(plan) {
        page.line(format_args!("{} {}", dim("Resume it:"), name(how)));
    }
    page.into_text()
}
