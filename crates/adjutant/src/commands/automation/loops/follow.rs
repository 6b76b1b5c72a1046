//! Follows a loop: prints each event once, in order, a line each.

use wire::event::{EventData, EventView, HookOutput, LoopIterationEnded};
use wire::loops::{LoopDetails, LoopView};

use super::path_of;
use super::show::{iteration_of, spent};
use crate::app::App;
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::commands::automation::event_log::{EventLog, Wait};
use crate::commands::reconnect::Steady;
use crate::terminal::render::{bad, bold, dim, good, line, odd, print_text, quoted, short};
use model::AgentStateName;
use model::session::{LoopState, Phase};

/// Kinds of a loop's events.
pub(super) const KINDS: &str = "loop.*";
/// A line of a terminal.
const WIDTH: usize = 80;
/// Lines of a hook's output shown.
const OUTPUT_LINES: usize = 10;

/// Prints the iteration that a loop is in, for a person who begins to look in the middle of it.
pub(super) async fn begin(app: &App, steady: &mut Steady<'_>, name: &str) -> Result<(), CliError> {
    let details = steady.fetch::<LoopDetails>(&path_of(name)).await?;
    let one = &details.about;
    if !app.render.is_json() && is_going(one) && one.agent_id.is_some() {
        let at = dim(format!("iteration {}", iteration_of(one.iteration, one.iterations)));
        print_text(&format!("{}  {at}", bold(line(&one.name))))?;
    }
    Ok(())
}

/// Prints the events of a loop until it waits or is over, and returns it as it is then.
pub(super) async fn to_the_end(
    app: &App,
    mut steady: Steady<'_>,
    name: &str,
    mut log: EventLog,
) -> Result<Answer<LoopDetails>, CliError> {
    let path = path_of(name);
    let mut details = steady.fetch::<LoopDetails>(&path).await?;
    loop {
        let is_going = is_going(&details.about);
        let wait = if is_going { Wait::ForNews } else { Wait::No };
        let events = log.next(&mut steady, wait).await?;
        for event in events.iter().filter(|_| !app.render.is_json()) {
            if let Some(text) = event_text(event, name) {
                print_text(&text)?;
            }
        }
        if !is_going && events.is_empty() {
            return Ok(details);
        }
        details = steady.fetch(&path).await?;
    }
}

/// True if more may happen without a person.
fn is_going(one: &LoopView) -> bool {
    one.state == LoopState::Running || one.phase == Phase::Closing
}

/// An event of that loop, in a line or a few.
fn event_text(event: &EventView, name: &str) -> Option<String> {
    // A payload of another version has nothing that could be printed.
    let (session, text) = match event.decode().ok()? {
        EventData::LoopStarted(begun) | EventData::LoopResumed(begun) => {
            let role = dim(format!("in the role {}", line(&begun.role)));
            let text = format!("{}  {role}", bold(line(&begun.session)));
            (begun.session, Some(text))
        }
        EventData::LoopIterationStarted(begun) => {
            let agent = event.agent_id.map(|id| id.to_string()).unwrap_or_default();
            let words = match begun.messages {
                0 => String::new(),
                1 => ", told 1 message".to_owned(),
                many => format!(", told {many} messages"),
            };
            let which = iteration_name(begun.iteration, begun.iterations);
            let text = format!("{}  {which}  {}", odd("→"), dim(format!("{agent}{words}")));
            (begun.session, Some(text))
        }
        EventData::LoopIterationEnded(ended) => {
            let text = iteration_end(&ended);
            (ended.session, Some(text))
        }
        EventData::LoopCommitted(made) => {
            let commit: String = line(&made.commit).chars().take(12).collect();
            (made.session, Some(dim(format!("   committed as {commit}"))))
        }
        EventData::LoopStepFailed(failed) => {
            let what = match failed.hook {
                Some(hook) => format!("hook {hook}"),
                None => "not committed".to_owned(),
            };
            let why = short(&failed.error, WIDTH.saturating_sub(what.len() + 6));
            (failed.session, Some(format!("{}  {what}: {why}", bad("!"))))
        }
        EventData::LoopStopping(asked) => {
            (asked.session, Some(dim(format!("   {} is wanted", asked.request))))
        }
        EventData::LoopEnded(ended) => (ended.session, hook_outputs(&ended.outputs)),
        _ => return None,
    };
    text.filter(|_| session == name)
}

/// Name of an iteration for people.
fn iteration_name(number: u32, last: Option<u32>) -> String {
    match number {
        0 => "planning".to_owned(),
        _ => format!("iteration {}", iteration_of(number, last)),
    }
}

/// End of an iteration.
fn iteration_end(ended: &LoopIterationEnded) -> String {
    let mut head = iteration_name(ended.iteration, ended.iterations);
    if let Some(task) = &ended.task {
        head = format!("{head}  {task}");
    }
    let cost = spent(ended.cost_usd).map(|cost| format!("  {}", dim(cost))).unwrap_or_default();
    let is_well = ended.state == AgentStateName::Succeeded;
    let message = if is_well { &ended.summary } else { &ended.reason };
    let (mark, message) = (if is_well { good("✓") } else { bad("✗") }, short(message, WIDTH - 3));
    let state = if is_well { String::new() } else { format!("  {}", bad(ended.state)) };
    let below = if message.is_empty() { String::new() } else { format!("\n   {message}") };
    format!("{mark}  {head}{state}{cost}{below}")
}

/// Hook output that was not passed to an agent.
fn hook_outputs(outputs: &[HookOutput]) -> Option<String> {
    let texts: Vec<String> = outputs
        .iter()
        .map(|one| {
            let lines: Vec<&str> = one.output.trim().lines().collect();
            let from = lines.len().saturating_sub(OUTPUT_LINES);
            let end = lines.get(from..).unwrap_or_default().join("\n");
            format!("{}\n{}", dim(format!("   {} said:", line(&one.hook))), quoted(&end))
        })
        .collect();
    Some(texts.join("\n")).filter(|text| !text.is_empty())
}
