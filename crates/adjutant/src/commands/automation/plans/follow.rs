//! Follows a plan: prints the events of its steps, each once and in order.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::path_of;
use super::show::{progress, question};
use crate::app::{App, query};
use crate::cli_error::Trouble;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{Page, bad, bold, dim, field, good, odd, print_text, short};

/// Seconds that one request waits for news.
const WAIT_SECONDS: u64 = 60;
/// Page size.
const PAGE: u64 = 500;
/// Before it is asked again whoever was answered at once waits so long: the server may be ending.
const PAUSE: Duration = Duration::from_millis(100);
/// Kinds of events of a plan.
const KINDS: &str = "plan.*,task.updated,mail.sent";
/// Characters of a text shown on a line.
const LINE: usize = 72;

/// Tells how a plan goes until it ends, and gives it as it is then.
pub(super) async fn to_the_end(
    app: &App,
    mut steady: Steady<'_>,
    mut plan: Value,
) -> Result<Value, Trouble> {
    let mut told = Told::of(&plan);
    let mut news = told.beginning(&plan);
    let mut last = plan["last"].as_i64().unwrap_or_default();
    loop {
        if !app.render.is_json() && !news.is_empty() {
            print_text(&news)?;
        }
        if plan["state"] != "running" {
            return Ok(plan);
        }
        let (events, seen) = happened(&mut steady, last).await?;
        last = seen;
        plan = steady.get(&path_of(&field(&plan, "name"))).await?;
        news = told.news(&plan, &events);
    }
}

/// Waits until a plan is over, and gives it as it is then.
pub(super) async fn until_over(steady: &mut Steady<'_>, mut plan: Value) -> Result<Value, Trouble> {
    let mut last = plan["last"].as_i64().unwrap_or_default();
    while plan["state"] == "running" {
        last = happened(steady, last).await?.1;
        plan = steady.get(&path_of(&field(&plan, "name"))).await?;
    }
    Ok(plan)
}

/// Events after a number, and the last number searched.
async fn happened(steady: &mut Steady<'_>, after: i64) -> Result<(Vec<Value>, i64), Trouble> {
    let asked = Instant::now();
    let path = query(
        "/api/events",
        [
            ("after", Some(after.to_string())),
            ("limit", Some(PAGE.to_string())),
            ("kind", Some(KINDS.to_owned())),
            ("waitSeconds", Some(WAIT_SECONDS.to_string())),
        ],
    );
    let mut answer = steady.get(&path).await?;
    let events = match answer["events"].take() {
        Value::Array(events) => events,
        _ => Vec::new(),
    };
    if let Some(left) = PAUSE.checked_sub(asked.elapsed()).filter(|_| events.is_empty()) {
        sleep(left).await;
    }
    Ok((events, answer["last"].as_i64().unwrap_or(after)))
}

/// Facts already printed.
#[derive(Debug, Default)]
struct Told {
    /// The numbers of the steps that were closed
    closed: HashSet<String>,
    letters: HashSet<String>,
}

fn steps(plan: &Value) -> &[Value] {
    plan["steps"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Everything that the human was asked.
fn asked(plan: &Value) -> &[Value] {
    plan["asked"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn is_closed(state: &str) -> bool {
    matches!(state, "completed" | "failed" | "cancelled")
}

impl Told {
    /// Facts that were settled from the start.
    fn of(plan: &Value) -> Self {
        let closed = steps(plan).iter().filter(|step| is_closed(&field(step, "state")));
        let closed = closed.map(|step| field(step, "number")).collect();
        Self { closed, ..Self::default() }
    }

    /// Where a plan stands when somebody begins to look.
    fn beginning(&mut self, plan: &Value) -> String {
        let mut page = Page::default();
        let facts = format!("{}, {} done", field(plan, "title"), progress(plan));
        page.line(format_args!("{}  {}", bold(field(plan, "name")), dim(facts)));
        let led = plan["coordinators"].as_array().and_then(|led| led.last());
        if let Some(last) = led.filter(|_| plan["state"] == "running") {
            let (id, role) = (field(last, "agentId"), field(plan, "role"));
            page.line(dim(format!("led by {id} ({role})")));
        }
        for step in steps(plan).iter().filter(|step| step["state"] == "in_progress") {
            let (number, title) = (field(step, "number"), short(&field(step, "title"), LINE - 20));
            page.line(format_args!("{}  step {number} is at work: {title}", odd("→")));
        }
        for asked in asked(plan) {
            if asked["answeredAt"].is_null() {
                continue;
            }
            self.letters.insert(field(asked, "mailId"));
            let (who, subject) =
                (field(asked, "agentId"), short(&field(asked, "subject"), LINE - 30));
            page.line(dim(format!("?  {who} asked you, and you answered: {subject}")));
        }
        for open in plan["questions"].as_array().into_iter().flatten() {
            self.question(&mut page, open);
        }
        page.into_text()
    }

    /// News about a plan.
    fn news(&mut self, plan: &Value, events: &[Value]) -> String {
        let mut page = Page::default();
        for event in events {
            let data = &event["data"];
            match event["kind"].as_str().unwrap_or_default() {
                "task.updated" => {
                    let slug = &data["slug"];
                    if let Some(step) = steps(plan).iter().find(|step| step["taskSlug"] == *slug) {
                        self.step(&mut page, (plan, step), data);
                    }
                }
                "plan.resumed" if data["plan"] == plan["name"] => {
                    let (gone, why) = (field(data, "formerAgentId"), field(data, "reason"));
                    page.line(format_args!(
                        "{}  {gone} ended: {}",
                        odd("!"),
                        short(&why, LINE - 30)
                    ));
                    let (id, role) = (field(data, "agentId"), field(plan, "role"));
                    page.line(dim(format!("led by {id} ({role}) now")));
                }
                // Also one that was answered since: whoever follows sees every question.
                "mail.sent" => {
                    let is_it = |asked: &&Value| asked["mailId"] == data["mailId"];
                    if let Some(asked) = asked(plan).iter().find(is_it) {
                        self.question(&mut page, asked);
                    }
                }
                _ => {}
            }
        }
        page.into_text()
    }

    /// A question to the human, once.
    fn question(&mut self, page: &mut Page, asked: &Value) {
        if self.letters.insert(field(asked, "mailId")) {
            let who = field(asked, "agentId");
            page.line(format_args!("{}  {who} asks you", odd("?")));
            page.text(&question(asked));
        }
    }

    /// A step that began, ended, or is free again.
    fn step(&mut self, page: &mut Page, (plan, step): (&Value, &Value), data: &Value) {
        let (number, title) = (field(step, "number"), short(&field(step, "title"), LINE - 30));
        let (from, to) = (field(data, "from"), field(data, "to"));
        if from == to {
            return;
        }
        let (mark, how) = match to.as_str() {
            "in_progress" => (odd("→"), "begins"),
            "completed" => (good("✓"), "is done"),
            "failed" => (bad("✗"), "failed"),
            "cancelled" => (dim("-"), "is dropped"),
            "blocked" => (bad("!"), "is blocked"),
            "pending" => (odd("←"), "is open again"),
            _ => return,
        };
        let mut facts = Vec::new();
        if is_closed(&to) {
            self.closed.insert(number.clone());
            facts.push(format!("{} of {}", self.closed.len(), field(plan, "total")));
        } else {
            self.closed.remove(&number);
        }
        if to == "in_progress" {
            facts.extend(data["assignedAgentId"].as_str().map(str::to_owned));
        }
        let facts =
            if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
        page.line(format_args!("{mark}  step {number} {how}: {title}{}", dim(facts)));
        let said = data["reason"].as_str().or_else(|| step["result"].as_str());
        if let Some(said) = said.filter(|_| is_closed(&to)) {
            page.line(format_args!("   {}", dim(short(said, LINE))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plan(questions: &Value, asked: &Value) -> Value {
        json!({ "name": "door", "title": "Door", "state": "running", "total": 2, "closed": 0,
            "steps": [{ "number": 1, "title": "Choose", "taskSlug": "choose", "state": "pending" }],
            "coordinators": [], "questions": questions, "asked": asked })
    }

    fn letter(id: &str, answered: Option<&str>) -> Value {
        json!({ "mailId": id, "agentId": "sp_1", "subject": format!("Which, {id}?"), "answeredAt": answered })
    }

    #[test]
    fn a_question_that_was_answered_before_anybody_looked_is_told_in_its_place() {
        let none = json!([]);
        let mut told = Told::default();
        told.beginning(&plan(&none, &none));
        let both = json!([letter("mail_1", Some("now")), letter("mail_2", None)]);
        let now = plan(&json!([letter("mail_2", None)]), &both);
        let sent = |id: &str| json!({ "kind": "mail.sent", "data": { "mailId": id } });
        let began = json!({ "kind": "task.updated",
            "data": { "slug": "choose", "from": "pending", "to": "in_progress" } });
        let events = [sent("mail_1"), began, sent("mail_2"), sent("mail_1"), sent("mail_9")];
        let news = told.news(&now, &events);
        let places = ["Which, mail_1?", "step 1 begins", "Which, mail_2?"].map(|said| {
            assert_eq!(news.matches(said).count(), 1, "{news}");
            news.find(said)
        });
        assert!(places.is_sorted(), "{news}");
    }

    #[test]
    fn whoever_begins_to_follow_is_told_what_was_answered_before() {
        let both = json!([letter("mail_1", Some("now")), letter("mail_2", None)]);
        let now = plan(&json!([letter("mail_2", None)]), &both);
        let mut told = Told::default();
        let shown = told.beginning(&now);
        assert!(shown.contains("and you answered: Which, mail_1?"), "{shown}");
        assert!(shown.contains("adjutant mail reply mail_2"), "{shown}");
        let sent = |id: &str| json!({ "kind": "mail.sent", "data": { "mailId": id } });
        assert_eq!(told.news(&now, &[sent("mail_1"), sent("mail_2")]), "", "each is told once");
    }
}
