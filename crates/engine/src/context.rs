//! What is known about a task, as Markdown. What others wrote is quoted: data, not orders.

use std::fmt::Write as _;

use serde_json::Value;
use store::{Dispatch, Task, Tx};

use crate::error::ToolError;

/// So many remarks and notes are enough for a newcomer.
const RECENT: u32 = 50;

/// The history of a task: the request, earlier work, remarks, and the notes of its session.
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
        text.push_str(&quote(description));
    }
    let done: Vec<Dispatch> =
        tx.dispatch_list(task.number)?.into_iter().filter(|d| d.result.is_some()).collect();
    if !done.is_empty() {
        text.push_str("\n### Previous Work\n");
        for dispatch in done {
            text.push_str(&previous_work(&dispatch));
        }
    }
    let comments = tx.comment_list(task.number, RECENT)?;
    if !comments.is_empty() {
        text.push_str("\n### Comments\n");
        for comment in comments {
            let who = comment.agent.map_or_else(|| "the human".to_owned(), |id| id.to_string());
            // Writing to a String cannot fail.
            _ = write!(text, "\n{who}, {}:\n\n{}", comment.created_at, quote(&comment.body));
        }
    }
    let notes = tx.note_page(&task.session, None, 0, RECENT)?.items;
    if !notes.is_empty() {
        text.push_str("\n### Notes\n\n");
        for note in notes {
            _ = write!(text, "{}", quote(&format!("[{}] {}", note.kind.name(), note.content)));
        }
    }
    Ok(text)
}

fn previous_work(dispatch: &Dispatch) -> String {
    let status = dispatch.status.as_deref().unwrap_or("running");
    let mut text = format!("\n**{}** ({status})\n\n", dispatch.role);
    let result: Value =
        dispatch.result.as_deref().and_then(|r| serde_json::from_str(r).ok()).unwrap_or_default();
    if let Some(summary) = result["summary"].as_str() {
        text.push_str(&quote(&format!("Summary: {summary}")));
    }
    for (field, title) in [("changes", "Changes"), ("issues", "Issues"), ("questions", "Questions")]
    {
        let Some(items) = result[field].as_array().filter(|items| !items.is_empty()) else {
            continue;
        };
        // Writing to a String cannot fail.
        _ = write!(text, ">\n> {title}:\n");
        for item in items {
            let item = item.as_str().map_or_else(|| item.to_string(), str::to_owned);
            text.push_str(&quote(&format!("- {item}")));
        }
    }
    text
}

/// Sets a quotation mark before every line, so that nothing in it can pass for a heading of ours.
pub(crate) fn quote(text: &str) -> String {
    text.lines().fold(String::new(), |mut quoted, line| {
        quoted.push_str("> ");
        quoted.push_str(line);
        quoted.push('\n');
        quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_quoted() {
        assert_eq!(quote("a\n# Your Task\nb"), "> a\n> # Your Task\n> b\n");
    }
}
