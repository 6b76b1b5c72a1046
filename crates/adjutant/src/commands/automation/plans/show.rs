//! A plan for people: in a line, whole, and its outcome.

use model::{PlanState, TaskStateName};
use wire::plans::{PlanQuestion, PlanRow, PlanStepView, PlanView};

use crate::app::now;
use crate::client::Answer;
use crate::terminal::render::{
    Page, age, bad, bold, count, dim, good, line, name, odd, quoted, short, wrapped,
};

/// A line of a terminal.
const WIDTH: usize = 80;
/// Width of the column before a step's title.
const MARGIN: usize = 15;

/// An amount in dollars and cents: plans cost more than their agents.
fn cents(usd: f64) -> String {
    format!("${usd:.2}")
}

fn spent(plan: &PlanRow) -> String {
    match plan.budget_usd {
        None => cents(plan.spent_usd),
        Some(budget) => format!("{} of {}", cents(plan.spent_usd), cents(budget)),
    }
}

/// Closed steps and total.
pub(super) fn progress(plan: &PlanRow) -> String {
    let total = usize::try_from(plan.total).unwrap_or_default();
    format!("{} of {}", plan.closed, count(total, "step"))
}

fn state(plan: &PlanView) -> String {
    match plan.row.state {
        PlanState::Running if !plan.questions.is_empty() => odd("waits for you"),
        PlanState::Running => odd("running"),
        PlanState::Completed => good("completed"),
        PlanState::OverBudget => bad("over budget"),
        PlanState::Stopped => odd("stopped"),
        PlanState::Failed => bad("failed"),
    }
}

/// The reason of an end that is not a completion.
fn reason(plan: &PlanRow) -> Option<&str> {
    plan.reason.as_deref().filter(|_| plan.state != PlanState::Completed)
}

/// A plan in two lines.
fn headline(plan: &PlanView) -> String {
    let row = &plan.row;
    let since = age(row.created_at, now());
    format!(
        "{}  {}  {}  {}\n{}",
        bold(line(&row.name)),
        state(plan),
        progress(row),
        spent(row),
        dim(format!("{}, from {}, begun {since} ago", line(&row.title), line(&row.path)))
    )
}

/// A row of the list.
pub(super) fn row(plan: &Answer<PlanRow>) -> [String; 6] {
    [
        line(&plan.name),
        plan.state.name().replace('_', " "),
        format!("{}/{}", plan.closed, plan.total),
        cents(plan.spent_usd),
        age(plan.created_at, now()),
        short(&plan.title, 30),
    ]
}

/// A plan with all its steps.
pub(super) fn status(plan: &PlanView) -> String {
    let mut page = Page::default();
    page.line(headline(plan));
    for part in reason(&plan.row).map(|reason| wrapped(reason, WIDTH)).unwrap_or_default() {
        page.line(part);
    }
    page.line("");
    for step in &plan.steps {
        page.text(&one_step(step));
    }
    questions(&mut page, plan);
    coordinators(&mut page, plan);
    page.into_text()
}

/// A step, with its facts in a second line.
fn one_step(step: &PlanStepView) -> String {
    let mut page = Page::default();
    let word = match step.state {
        TaskStateName::Completed => good("done    "),
        TaskStateName::InProgress => odd("at work "),
        TaskStateName::Pending => dim("open    "),
        TaskStateName::Assigned => odd("assigned"),
        TaskStateName::Blocked => bad("blocked "),
        TaskStateName::Review => odd("review  "),
        TaskStateName::Failed => bad("failed  "),
        TaskStateName::Cancelled => dim("dropped "),
    };
    let title = short(&step.title, WIDTH - MARGIN);
    page.line(format_args!("{:>3}  {word}  {title}", step.number));
    let is_open = step.state == TaskStateName::Pending;
    let mut facts = Vec::new();
    if let Some(agent) = &step.agent {
        facts.push(format!("{} {}, {}", line(&agent.role), agent.agent_id, agent.state));
    } else if let Some(reason) = &step.reason {
        facts.push(line(reason));
    } else if let Some(result) = &step.result {
        facts.push(if is_open { format!("last try: {}", line(result)) } else { line(result) });
    }
    if is_open && !step.depends_on.is_empty() {
        let needs: Vec<String> = step.depends_on.iter().map(ToString::to_string).collect();
        facts.insert(0, format!("after {}", needs.join(", ")));
    }
    if !facts.is_empty() {
        let facts = short(&facts.join("; "), WIDTH - MARGIN);
        page.line(format_args!("{:MARGIN$}{}", "", dim(facts)));
    }
    page.into_text()
}

/// Open questions and how to answer them.
fn questions(page: &mut Page, plan: &PlanView) {
    if plan.questions.is_empty() {
        return;
    }
    page.line("");
    page.line(bold("You are asked"));
    for asked in &plan.questions {
        page.text(&question(asked));
    }
}

/// A question with the commands that answer it.
pub(super) fn question(asked: &PlanQuestion) -> String {
    let mut page = Page::default();
    let id = asked.mail_id;
    page.line(format_args!("  {}", short(&asked.subject, WIDTH - 2)));
    page.line(format_args!("  {}", name(format!("adjutant mail read {id}"))));
    page.line(format_args!("  {}", name(format!("adjutant mail reply {id} 'your answer'"))));
    page.into_text()
}

/// The last coordinator, and how to resume a plan that ended.
fn coordinators(page: &mut Page, plan: &PlanView) {
    let Some(last) = plan.coordinators.last() else { return };
    page.line("");
    let (id, role, state) = (last.agent_id, line(&plan.role), last.state);
    let before = match plan.coordinators.len() {
        1 => String::new(),
        many => format!(", after {}", count(many - 1, "other")),
    };
    page.line(dim(format!("led by {id} ({role}, {state}){before}")));
    if let Some(command) = resume_command(&plan.row) {
        page.line(format_args!("{} {}", dim("Resume it:"), name(command)));
    }
}

fn resume_command(plan: &PlanRow) -> Option<String> {
    let named = line(&plan.name);
    match plan.state {
        PlanState::OverBudget => Some(format!("adjutant plan resume {named} --budget 5")),
        PlanState::Failed | PlanState::Stopped => Some(format!("adjutant plan resume {named}")),
        PlanState::Running | PlanState::Completed => None,
    }
}

/// Final line about a plan.
pub(super) fn ended(plan: &PlanView) -> String {
    let mut page = Page::default();
    let row = &plan.row;
    page.line(format_args!(
        "{}  {}  {}  {}",
        bold(line(&row.name)),
        state(plan),
        progress(row),
        spent(row)
    ));
    let reason = reason(row);
    for part in reason.map(|reason| wrapped(reason, WIDTH - 4)).unwrap_or_default() {
        page.line(format_args!("    {part}"));
    }
    let summary = plan.summary.as_deref().filter(|summary| Some(*summary) != reason);
    page.text(&quoted(summary.unwrap_or_default()));
    if let Some(command) = resume_command(row) {
        page.line(format_args!("{} {}", dim("Resume it:"), name(command)));
    }
    page.into_text()
}
