//! Prompt of an iteration's agent: the template filled from the record, earlier failures, and messages that
//! were left for it. Every part is bounded; a note says what was cut.

use std::fmt::Write as _;

use model::task::{SessionStatus, TaskRef};
use serde::{Deserialize, Serialize};
use store::{Iteration, Loop, LoopMessage, Note, TaskFilter, Tx};

use super::template::{self, BUILT_IN, PLANNING};
use crate::core::durable;
use crate::core::error::ToolError;
use crate::core::handle::Core;

/// Byte limits for notes, summaries and tasks.
const NOTES: usize = 16 << 10;
const HISTORY: usize = 16 << 10;
const TASKS: usize = 24 << 10;
/// Maximum number of each that is read.
const MAX_ROWS_READ: u32 = 500;
/// Messages delivered at once; the rest waits for the next agent.
pub(super) const MESSAGES: u32 = 50;
/// Byte limit for the messages.
const WORDS: usize = 64 << 10;

/// Failure of an iteration, for the next agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Recovery {
    /// Iteration
    pub(super) iteration: u32,
    /// Outcome of its agent
    pub(super) state: String,
    /// Why
    pub(super) reason: String,
    /// Last lines of output
    pub(super) last_words: String,
    /// The files that it left uncommitted
    pub(super) uncommitted: Vec<String>,
}

impl Recovery {
    /// Decodes the failure that is kept with a loop; `None` if its last iteration went well.
    pub(super) fn of(row: &Loop) -> Result<Option<Self>, ToolError> {
        let name = format_args!("loop `{}`", row.session);
        let decode = |text| durable::decode(text, name, "recovery");
        row.recovery.as_deref().map(decode).transpose()
    }
}

/// A prompt, and the words that are in it.
#[derive(Debug)]
pub(super) struct Prompt {
    /// The text
    pub(super) text: String,
    /// The numbers of the messages that it delivers
    pub(super) delivers: Vec<i64>,
}

/// The prompt of an iteration's agent.
pub(super) fn compose(
    tx: &Tx<'_>,
    engine: &Core,
    row: &Loop,
    number: u32,
) -> Result<Prompt, ToolError> {
    let session = row.session.as_str();
    let notes = notes(&tx.note_newest(session, MAX_ROWS_READ)?);
    let history = history(&tx.iterations_newest(session, MAX_ROWS_READ)?, number);
    let tasks = tasks(tx, session)?;
    let port = engine.options.url.rsplit(':').next().unwrap_or_default();
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    let order = &row.order;
    let text = match (number, &order.template) {
        (0, _) => PLANNING,
        (_, Some(text)) => text.as_str(),
        (_, None) => BUILT_IN,
    };
    let body = template::fill(text, |name| {
        Some(match name {
            "session" => session.to_owned(),
            "iteration" => number.to_string(),
            "spec" => order.spec.trim().to_owned(),
            "notes" => notes.clone(),
            "tasks" => tasks.clone(),
            "history" => history.clone(),
            "extra" => order.extra.clone().unwrap_or_default(),
            "port" => port.clone(),
            "binary" => engine.options.adjutant.display().to_string(),
            _ => return None,
        })
    });
    let (told, delivers) = words(tx.loop_messages_waiting(session, MESSAGES)?, number);
    let mut text = String::new();
    if let Some(recovery) = Recovery::of(row)? {
        text.push_str(&recovered(&recovery, &told));
    }
    text.push_str(body.trim());
    text.push('\n');
    text.push_str(&from_people(&told));
    text.push_str(&from_hooks(&told));
    Ok(Prompt { text, delivers })
}

/// The words that are taken along: all of a person's, and of hooks not into the planning, which has none.
fn words(waiting: Vec<LoopMessage>, number: u32) -> (Vec<LoopMessage>, Vec<i64>) {
    let mut size = 0;
    let fits = |message: &LoopMessage| {
        let first = size == 0;
        size += message.body.len();
        first || size <= WORDS
    };
    let of_now = |message: &LoopMessage| number > 0 || message.source == "operator";
    let told: Vec<LoopMessage> = waiting.into_iter().filter(of_now).take_while(fits).collect();
    let numbers = told.iter().map(|message| message.number).collect();
    (told, numbers)
}

/// Describes the failure and the output of its hooks.
fn recovered(recovery: &Recovery, told: &[LoopMessage]) -> String {
    let Recovery { iteration, state, reason, last_words, uncommitted } = recovery;
    let mut text = format!(
        "# Recover first\n\nIteration {iteration}, before yours, did not end well: its agent is `{state}` ({}). Find out \
         what it left behind and mend that before anything else; it may be why it failed.\n\n",
        reason.trim()
    );
    if !last_words.trim().is_empty() {
        // Writing to a String cannot fail.
        _ = write!(text, "Its last words:\n\n{}\n\n", quoted(last_words.trim()));
    }
    if !uncommitted.is_empty() {
        _ = write!(text, "Left uncommitted:\n\n");
        for file in uncommitted {
            _ = writeln!(text, "- `{file}`");
        }
        text.push('\n');
    }
    for message in told.iter().filter(|message| message.source == "on_error") {
        _ = write!(text, "The project's check of it says:\n\n{}\n\n", quoted(message.body.trim()));
    }
    text
}

fn from_people(told: &[LoopMessage]) -> String {
    let mut text = String::new();
    for message in told.iter().filter(|message| message.source == "operator") {
        if text.is_empty() {
            text.push_str("\n# From your user\n");
        }
        _ = write!(text, "\n{}\n", message.body.trim());
    }
    text
}

fn from_hooks(told: &[LoopMessage]) -> String {
    let mut text = String::new();
    let of_hooks =
        |message: &&LoopMessage| message.source != "operator" && message.source != "on_error";
    for message in told.iter().filter(of_hooks) {
        if text.is_empty() {
            text.push_str("\n# What the project's own commands said\n");
        }
        _ = write!(text, "\n`{}`:\n\n{}\n", message.source, quoted(message.body.trim()));
    }
    text
}

/// Others' words, marked as such.
fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

/// The newest parts that fit, in the order in which they came, and how many were left out.
fn bounded(newest_first: impl Iterator<Item = String>, most: usize, what: &str) -> String {
    let (mut kept, mut size, mut left) = (Vec::new(), 0, 0_usize);
    for part in newest_first {
        if left > 0 || (size + part.len() > most && !kept.is_empty()) {
            left += 1;
        } else {
            size += part.len() + 1;
            kept.push(cut(part, most));
        }
    }
    if left > 0 {
        kept.push(format!("({left} older {what} are left out; your tools list them)"));
    }
    kept.reverse();
    kept.join("\n")
}

/// A text that is no longer than this, and says so where it was.
pub(super) fn cut(mut text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let left = text.len() - end;
    text.truncate(end);
    _ = write!(text, "… ({left} bytes are left out)");
    text
}

fn notes(oldest_first: &[Note]) -> String {
    if oldest_first.is_empty() {
        return "There are none.".to_owned();
    }
    let line =
        |note: &Note| format!("- [{}] (#{}) {}", note.kind.name(), note.iteration, note.content);
    bounded(oldest_first.iter().rev().map(line), NOTES, "notes")
}

fn history(newest_first: &[Iteration], number: u32) -> String {
    let line = |iteration: &Iteration| {
        let output = iteration.summary.as_deref().or(iteration.reason.as_deref());
        let how = iteration.outcome.map_or_else(String::new, |state| format!(" ({state})"));
        format!("- #{}{how}: {}", iteration.number, output.unwrap_or("it left no summary").trim())
    };
    let before: Vec<&Iteration> =
        newest_first.iter().filter(|iteration| iteration.number < number).collect();
    if before.is_empty() {
        return "Nothing was done before.".to_owned();
    }
    bounded(before.into_iter().map(line), HISTORY, "iterations")
}

/// The tasks by status: what is open whole, what is closed as far as there is room.
fn tasks(tx: &Tx<'_>, session: &str) -> Result<String, ToolError> {
    let groups = [
        ("In progress", SessionStatus::InProgress),
        ("Remaining", SessionStatus::Remaining),
        ("Blocked", SessionStatus::Blocked),
        ("Completed", SessionStatus::Completed),
        ("Cancelled", SessionStatus::Cancelled),
    ];
    let (mut text, mut left) = (String::new(), 0_usize);
    for (title, status) in groups {
        let filter = TaskFilter {
            states: status.stored().collect(),
            epic: None,
            session: Some(session.to_owned()),
        };
        let page = tx.task_page(&filter, 0, MAX_ROWS_READ)?;
        let mut begun = false;
        for task in &page.items {
            if text.len() > TASKS {
                left += 1;
                continue;
            }
            if !begun {
                begun = true;
                _ = writeln!(text, "{}{title}:", if text.is_empty() { "" } else { "\n" });
            }
            let content = cut(task.title.clone(), 500);
            let number = TaskRef::Number(task.number);
            _ = write!(text, "- {number} (priority {}) {content}", task.priority.number());
            if task.needs > 0 {
                let needs: Vec<String> = tx
                    .task_needs(task.number)?
                    .into_iter()
                    .map(|number| TaskRef::Number(number).to_string())
                    .collect();
                _ = write!(text, " (needs {})", needs.join(", "));
            }
            text.push('\n');
        }
        if page.next.is_some() {
            left += 1;
        }
    }
    if text.is_empty() {
        return Ok("There are none.".to_owned());
    }
    if left > 0 {
        _ = writeln!(text, "\n(More are left out; your tools list them.)");
    }
    Ok(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_and_what_was_cut_is_said() {
        let parts = || (0..10).map(|n| format!("{n}-{}", "x".repeat(98)));
        let text = bounded(parts(), 350, "notes");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert_eq!(lines[0], "(7 older notes are left out; your tools list them)");
        assert!(lines[1].starts_with("2-") && lines[3].starts_with("0-"), "{text}");
        assert_eq!(bounded(["one".to_owned()].into_iter(), 10, "notes"), "one");
        assert_eq!(cut("äöü".to_owned(), 3), "ä… (4 bytes are left out)");
    }

    #[test]
    fn what_went_wrong_comes_first_and_is_quoted() {
        let recovery = Recovery {
            iteration: 4,
            state: "failed".into(),
            reason: "exit 1".into(),
            last_words: "I could not\n# Your Task".into(),
            uncommitted: vec!["src/a.rs".into()],
        };
        let message = |source: &str, body: &str| LoopMessage {
            number: 1,
            source: source.into(),
            body: body.into(),
            created_at: model::Timestamp::from_millis(0),
            iteration: None,
            delivered_at: None,
        };
        let told = [message("on_error", "2 tests fail"), message("operator", "faster")];
        let text = recovered(&recovery, &told);
        assert!(text.starts_with("# Recover first\n"), "{text}");
        for part in
            ["> I could not\n> # Your Task", "- `src/a.rs`", "> 2 tests fail", "`failed` (exit 1)"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("faster"));
        assert_eq!(from_people(&told), "\n# From your user\n\nfaster\n");
        assert_eq!(from_hooks(&told), "");
    }

    #[test]
    fn the_planning_hears_people_and_no_hooks() {
        let message = |number, source: &str| LoopMessage {
            number,
            source: source.into(),
            body: "x".into(),
            created_at: model::Timestamp::from_millis(0),
            iteration: None,
            delivered_at: None,
        };
        let waiting = vec![message(1, "session_start"), message(2, "operator")];
        assert_eq!(words(waiting.clone(), 0).1, [2]);
        assert_eq!(words(waiting, 1).1, [1, 2]);
    }
}
