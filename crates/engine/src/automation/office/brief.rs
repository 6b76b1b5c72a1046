//! Prompt of a new supervisor.

use std::fmt::Write as _;

use model::TaskRef;
use store::{Agent, Epic, Tx};

use super::tasks_of;
use crate::core::error::ToolError;
use crate::crew::context::{clip, quote};
use crate::crew::result::AgentResult;
use crate::crew::run::view::AgentSnapshot;

/// Number of tasks named; it lists the rest itself.
const TASKS: u32 = 200;
/// Byte limit per quoted text.
const PIECE: usize = 32 * 1024;

/// Instructions for every supervisor.
const HOW: &str = "\
## How to work

You do not do the tasks yourself: workers do, each in a worktree of its own on a branch of its own.

1. Look at the tasks (`task_list` with the epic's id). Make what is missing (`task_create` with the epic's id).
2. Start a worker for every task that is free and needs nothing (`draft_agent` with its `taskSlug`), and wait for them
   (`await_agent`). A worker that ends well leaves its task in REVIEW.
3. Work through the review queue (`supervisor_get_review_queue`): look at what changed (`git_get_diff` with the task's id), then
   `supervisor_approve_task`, or `supervisor_request_changes` with what is wrong and why.
4. What is approved is merged into the epic's branch, one after the other. What no longer fits is sent back; have it
   rebased (`git_rebase`, by the worker) and look again.
5. When all tasks are COMPLETED or FAILED, open the epic's pull request (`supervisor_create_epic_pr`).

Read your mail while you wait, and write down what you decide and why (`system_log_decision`).
";

/// The prompt of a supervisor: the epic, its tasks, who led it before, and how to work.
pub(crate) fn prompt(
    tx: &Tx<'_>,
    epic: &Epic,
    more: Option<&str>,
    before: Option<&Agent>,
) -> Result<String, ToolError> {
    let mut text = format!("You lead the epic {} to its end.\n\n## The epic\n\n", epic.id);
    text.push_str(&quote(&epic.title));
    if let Some(description) = &epic.description {
        text.push_str(">\n");
        text.push_str(&quote(&clip(description, PIECE)));
    }
    text.push_str("\n## Its tasks\n\n");
    let (tasks, more_tasks) = tasks_of(tx, epic.id, TASKS)?;
    if tasks.is_empty() {
        text.push_str("There are none yet: make them first.\n");
    }
    for task in &tasks {
        let number = TaskRef::Number(task.number);
        let state = serde_json::to_value(task.state.name().office()).unwrap_or_default();
        let line = format!(
            "{number} `{}` {}: {}",
            task.slug,
            state.as_str().unwrap_or_default(),
            task.title
        );
        text.push_str(&quote(&line));
    }
    if more_tasks {
        text.push_str("> and more; `task_list` lists them all\n");
    }
    if let Some(before) = before {
        _ = write!(
            text,
            "\n## Before you\n\nYou take the place of {}, which led this epic",
            before.id
        );
        text.push_str(
            " and was lost. What its crew was at is free again; what was in review still is.\n",
        );
        if let Some(AgentResult { summary, .. }) = AgentSnapshot::of(tx, before.id)?.result() {
            text.push_str("\nIts last words:\n\n");
            text.push_str(&quote(&clip(&summary, PIECE)));
        }
    }
    text.push('\n');
    text.push_str(HOW);
    if let Some(more) = more {
        _ = write!(text, "\n## Also\n\n{}\n", more.trim_end());
    }
    Ok(text)
}
