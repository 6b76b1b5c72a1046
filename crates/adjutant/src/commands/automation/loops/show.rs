//! A loop as text for people.

use model::AgentStateName;
use model::session::{LoopState, Phase};
use wire::loops::{IterationView, LoopDetails, LoopTaskCounts, LoopView};

use crate::app::now;
use crate::client::Answer;
use crate::commands::delivery::merge_queue::under;
use crate::terminal::render::{
    Page, age, bad, bold, count, dim, dollars, good, line, name, odd, short, table,
};

/// A line of a terminal.
const WIDTH: usize = 80;
/// Iterations shown.
const MAX_ITERATIONS: usize = 10;
/// Sender of a person's messages.
const OPERATOR: &str = "operator";

/// All loops, a row each.
pub(super) fn listed(loops: &[Answer<LoopView>]) -> String {
    if loops.is_empty() {
        return format!("No loops.\nStart one with {}", name("adjutant loop NAME --spec FILE"));
    }
    let rows = loops.iter().map(|one| {
        [
            line(&one.name),
            one.state.to_string(),
            iteration_of(one.iteration, one.iterations),
            tasks(&one.tasks).replace(" tasks", ""),
            spent(one.cost_usd).unwrap_or_else(|| "-".to_owned()),
            age(one.updated_at, now()),
        ]
    });
    table(["NAME", "STATE", "ITERATION", "TASKS", "COST", "CHANGED"], rows)
}

/// Number of an iteration, with the last one where there is a limit.
pub(super) fn iteration_of(number: u32, last: Option<u32>) -> String {
    match last {
        Some(last) => format!("{number} of {last}"),
        None => number.to_string(),
    }
}

/// Cost, if any.
pub(super) fn spent(usd: f64) -> Option<String> {
    (usd > 0.0).then(|| dollars(usd))
}

fn tasks(counts: &LoopTaskCounts) -> String {
    let wanted = counts.remaining + counts.in_progress + counts.blocked + counts.completed;
    format!("{} of {wanted} tasks done", counts.completed)
}

fn state_text(state: LoopState) -> String {
    let text = state.name().replace('_', " ");
    match state {
        LoopState::Running => name(text),
        LoopState::Completed | LoopState::Limit => good(text),
        LoopState::Paused => odd(text),
        LoopState::Failed | LoopState::Stopped | LoopState::OverBudget => bad(text),
    }
}

/// A loop with its iterations, notes and messages.
pub(super) fn status(details: &LoopDetails) -> String {
    let (one, mut page) = (&details.about, Page::default());
    page.line(format_args!("{}  {}", bold(line(&one.name)), state_text(one.state)));
    under(&mut page, one.reason.as_deref().unwrap_or_default());
    if let Some(request) = one.request {
        page.line(format_args!("  {}", odd(format!("{request} is wanted"))));
    }
    page.line(format_args!("  {}", dim(facts(one).join(", "))));
    if let Some(agent) = one.agent_id.filter(|_| is_working(one)) {
        let see = name(format!("adjutant logs -f {agent}"));
        page.line(format_args!("  {} {see}", dim("See its agent with")));
    }
    if !details.iterations.is_empty() {
        page.line(format_args!("\n{}", bold("Iterations")));
    }
    for iteration in details.iterations.iter().take(MAX_ITERATIONS) {
        page.line(iteration_line(iteration));
    }
    notes_and_messages(&mut page, details);
    page.into_text()
}

fn is_working(one: &LoopView) -> bool {
    one.state == LoopState::Running && one.phase == Phase::Working
}

/// Iteration, tasks by status, and money.
fn facts(one: &LoopView) -> Vec<String> {
    let counts = &one.tasks;
    let by_status = [
        (counts.in_progress, "in progress"),
        (counts.remaining, "remaining"),
        (counts.blocked, "blocked"),
        (counts.completed, "completed"),
        (counts.cancelled, "cancelled"),
    ];
    let mut facts = vec![format!("iteration {}", iteration_of(one.iteration, one.iterations))];
    let some = by_status.into_iter().filter(|(many, _)| *many > 0);
    facts.extend(some.map(|(many, word)| format!("{many} {word}")));
    match (spent(one.cost_usd), one.budget_usd) {
        (cost, Some(cap)) => {
            let cost = cost.unwrap_or_else(|| "nothing".to_owned());
            facts.push(format!("{cost} of {}", dollars(cap)));
        }
        (cost, None) => facts.extend(cost),
    }
    facts
}

fn notes_and_messages(page: &mut Page, details: &LoopDetails) {
    if !details.notes.is_empty() {
        page.line(format_args!("\n{}", bold("Notes")));
    }
    for note in &details.notes {
        let head = format!("  [{}] #{} ", note.kind.name(), note.iteration);
        let text = short(&note.content, WIDTH.saturating_sub(head.len()));
        page.line(format_args!("{}{text}", dim(head)));
    }
    let mut output = details.messages.iter().filter(|message| message.from == OPERATOR).peekable();
    if output.peek().is_some() {
        page.line(format_args!("\n{}", bold("Messages")));
    }
    for message in output {
        let to = match message.iteration {
            Some(number) => dim(format!("  told to #{number} ")),
            None => odd("  waits "),
        };
        page.line(format_args!("{to}{}", short(&message.text, WIDTH - 16)));
    }
}

/// An iteration on a line.
fn iteration_line(iteration: &IterationView) -> String {
    let number = format!("#{}", iteration.number);
    let task = iteration.task.as_ref().map(|task| format!(" {task}")).unwrap_or_default();
    let (mark, text) = match iteration.state {
        None => (name("works"), None),
        Some(AgentStateName::Succeeded) => (good("done"), iteration.summary.as_deref()),
        Some(state) => (bad(state.stored().replace('_', " ")), iteration.reason.as_deref()),
    };
    let used = number.len() + task.len() + 16;
    let text = short(text.unwrap_or_default(), WIDTH.saturating_sub(used));
    format!("  {number}{task}  {mark}  {text}").trim_end().to_owned()
}

/// Final line about a loop.
pub(super) fn ended(one: &LoopView) -> String {
    let mut page = Page::default();
    let named = line(&one.name);
    let done = count(usize::try_from(one.iteration).unwrap_or(usize::MAX), "iteration");
    let mut facts = vec![done, tasks(&one.tasks)];
    facts.extend(spent(one.cost_usd));
    let facts = facts.join(", ");
    page.line(format_args!("{}  {}  {}", bold(&named), state_text(one.state), dim(facts)));
    under(&mut page, one.reason.as_deref().unwrap_or_default());
    match one.state {
        LoopState::Paused => {
            let how = name(format!("adjutant loop resume {named}"));
            page.line(format_args!("  {} {how}", dim("Resume it with")));
        }
        LoopState::Completed => {}
        _ => {
            let how = name(format!("adjutant loop {named} --iterations 5"));
            page.line(format_args!("  {} {how}", dim("Run more iterations with")));
        }
    }
    page.into_text()
}
