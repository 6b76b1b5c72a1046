//! Task context: the request, its dependencies, earlier work, comments, and the notes of its session.

use std::fmt::Write as _;

use model::{TaskRef, Timestamp};
use store::{Dispatch, Task, Tx};

use super::{CUT, clip, quote};
use crate::core::error::ToolError;
use crate::crew::result::AgentResult;

/// Number of recent comments and notes included.
const RECENT: u32 = 50;
/// Byte limit of all together…
const BUDGET: usize = 64 * 1024;
/// …and so much of the request and of each single entry.
const ENTRY: usize = 16 * 1024;

/// Byte limit for its dependencies.
const NEEDS: usize = 32 * 1024;
/// Number of a dependency's last agents searched for a result.
const LAST: u32 = 20;

/// The headings, in their order, and the index of each entry's.
const SECTIONS: [&str; 3] = ["Previous Work", "Comments", "Notes"];
const WORK: usize = 0;
const COMMENT: usize = 1;
const NOTE: usize = 2;

/// Hint on how to read the omitted entries of each section.
const WHERE: [&str; 3] = [
    "`mcp__task__get` lists who worked on it",
    "`mcp__task__get` with `commentsCursor` lists them",
    "`mcp__session__note-list` lists them",
];

/// A comment or a result on a task.
struct Entry {
    section: usize,
    at: Timestamp,
    text: String,
}

/// The history of a task: the request, what the tasks brought that it depends on, earlier work, remarks, and the notes of its session. The newest are kept where
/// there is too much.
pub(crate) fn task_context(tx: &Tx<'_>, task: &Task) -> Result<String, ToolError> {
    let mut text = format!(
        "## Task History\n\nTAS-{} `{}`, {}\n\n### Original Request\n\n{}",
        task.number,
        task.slug,
        task.state.name().stored(),
        quote(&task.title)
    );
    if let Some(description) = &task.description {
        text.push_str(">\n");
        text.push_str(&quote(&clip(description, ENTRY)));
    }
    text.push_str(&needed(tx, task)?);
    let (mut entries, earlier) = entries(tx, task)?;
    let left_out = keep_newest(&mut entries, BUDGET.saturating_sub(text.len()));
    for (section, title) in SECTIONS.iter().enumerate() {
        let mut kept = entries.iter().filter(|entry| entry.section == section).peekable();
        let (count, bytes) = left_out[section];
        let unread = earlier[section];
        if kept.peek().is_none() && count == 0 && unread == 0 {
            continue;
        }
        // Writing to a String cannot fail.
        _ = write!(text, "\n### {title}\n");
        if unread > 0 {
            let count = u64::try_from(count).unwrap_or_default() + unread;
            _ = write!(text, "\n{CUT} {count} earlier; {}\n", WHERE[section]);
        } else if count > 0 {
            _ = write!(text, "\n{CUT} {count} earlier, {bytes} bytes; {}\n", WHERE[section]);
        }
        if section == NOTE {
            text.push('\n');
        }
        text.extend(kept.map(|entry| entry.text.as_str()));
    }
    Ok(text)
}

/// Results of a task's dependencies.
fn needed(tx: &Tx<'_>, task: &Task) -> Result<String, ToolError> {
    let mut text = String::new();
    if task.needs == 0 {
        return Ok(text);
    }
    text.push_str("\n### What It Depends On\n");
    for number in tx.task_needs(task.number)? {
        let Some(need) = tx.task_find(&TaskRef::Number(number))? else { continue };
        let state = need.state.name().stored();
        let mut entry =
            format!("\nTAS-{number} `{}`, {state}\n\n{}", need.slug, quote(&need.title));
        let last = tx.dispatch_newest(number, LAST)?;
        let last = last.iter().find_map(|dispatch| Some((dispatch, dispatch.result.as_ref()?)));
        if let Some((dispatch, result)) = last {
            entry.push_str(&previous_work(dispatch, result));
        }
        if text.len() + entry.len() > NEEDS {
            _ = write!(text, "\n{CUT} `get_task_context` tells of TAS-{number} `{}`\n", need.slug);
        } else {
            text.push_str(&entry);
        }
    }
    Ok(text)
}

/// Loads the newest entries of a task, oldest first, and counts the earlier ones of each section.
fn entries(tx: &Tx<'_>, task: &Task) -> Result<(Vec<Entry>, [u64; 3]), ToolError> {
    let mut entries = Vec::new();
    for dispatch in tx.dispatch_list(task.number)? {
        if let Some(result) = &dispatch.result {
            let at = dispatch.ended_at.unwrap_or(dispatch.started_at);
            entries.push(Entry { section: WORK, at, text: previous_work(&dispatch, result) });
        }
    }
    let mut earlier = [0; 3];
    let comments = tx.comment_list(task.number, RECENT)?;
    if let Some(first) = comments.first() {
        earlier[COMMENT] = tx.comment_count_before(task.number, first.number)?;
    }
    for comment in comments {
        let who = comment.agent.map_or_else(|| "the human".to_owned(), |id| id.to_string());
        let body = quote(&clip(&comment.body, ENTRY));
        let text = format!("\n{who}, {}:\n\n{body}", comment.created_at);
        entries.push(Entry { section: COMMENT, at: comment.created_at, text });
    }
    let notes = tx.note_newest(&task.session, RECENT)?;
    if let Some(first) = notes.first() {
        earlier[NOTE] = tx.note_count_before(&task.session, first.number)?;
    }
    for note in notes {
        let text = quote(&format!("[{}] {}", note.kind.name(), clip(&note.content, ENTRY)));
        entries.push(Entry { section: NOTE, at: note.created_at, text });
    }
    entries.sort_by_key(|entry| entry.at);
    Ok((entries, earlier))
}

/// Drops the oldest entries until the rest fits; says how many of each section, and how large they were.
fn keep_newest(entries: &mut Vec<Entry>, budget: usize) -> [(usize, usize); 3] {
    let mut room = budget;
    let fitting = entries.iter().rev().take_while(|entry| {
        let fits = entry.text.len() <= room;
        room = room.saturating_sub(entry.text.len());
        fits
    });
    let too_many = entries.len() - fitting.count();
    let mut left_out = [(0, 0); 3];
    for entry in entries.drain(..too_many) {
        let (count, bytes) = &mut left_out[entry.section];
        *count += 1;
        *bytes += entry.text.len();
    }
    left_out
}

fn previous_work(dispatch: &Dispatch, result: &str) -> String {
    let status = dispatch.status.as_deref().unwrap_or("running");
    let result = AgentResult::of_work(Some(result));
    let mut message = String::new();
    if let Some(result) = result {
        // Writing to a String cannot fail.
        _ = writeln!(message, "Summary: {}", clip(&result.summary, ENTRY / 2));
        let lists = [result.changes, result.issues, result.questions];
        for (title, items) in ["Changes", "Issues", "Questions"].into_iter().zip(lists) {
            if items.is_empty() {
                continue;
            }
            _ = write!(message, "\n{title}:\n");
            for item in items {
                _ = writeln!(message, "- {item}");
            }
        }
    }
    format!("\n**{}** ({status})\n\n{}", dispatch.role, quote(&clip(&message, ENTRY)))
}
