//! Summary of an agent's work at its end: its task, its branch, its changes and the next commands.

use model::task::{TaskRef, TaskStateName};
use serde_json::json;
use wire::agents::AgentDiff;
use wire::runs::StartedRun;
use wire::tasks::TaskAnswer;

use crate::cli_error::CliError;
use crate::commands::delivery::changes;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{Page, bold, dim, good, line, name, odd};

/// The work of an agent that has ended.
#[derive(Debug)]
pub(super) struct Work {
    task: Option<TaskAnswer>,
    diff: AgentDiff,
    role: String,
}

impl Work {
    /// Reads what an agent left: its task, and its changes.
    pub(super) async fn of(
        steady: &mut Steady<'_>,
        started: &StartedRun,
    ) -> Result<Self, CliError> {
        let task = match started.task_slug.as_str() {
            "" => None,
            task => {
                let input = json!({ "taskId": task });
                Some(steady.call_tool::<TaskAnswer>("mcp__task__get", &input).await?.into_value())
            }
        };
        // What an agent did counts, even where git cannot show it.
        let path = format!("/api/agents/{}/diff", started.agent_id);
        let diff = match steady.fetch::<AgentDiff>(&path).await {
            Ok(diff) => diff.into_value(),
            Err(error) => {
                AgentDiff { why: Some(error.message().to_owned()), ..AgentDiff::default() }
            }
        };
        Ok(Self { task, diff, role: started.role.clone() })
    }

    /// State of its task, as it is stored.
    pub(super) fn task_state(&self) -> Option<TaskStateName> {
        self.task.as_ref().map(|task| task.task.stored_state)
    }

    /// The branch of its own that it worked on, if that is still there.
    pub(super) fn branch(&self) -> Option<&str> {
        self.diff.branch.as_deref().filter(|_| self.diff.head.is_some())
    }

    /// True if a change that an agent's result lists is among the files that are shown.
    pub(super) fn shows(&self, change: &str) -> bool {
        self.diff.files.iter().any(|file| change.contains(&file.path))
    }

    /// Adds the task, the branch, the changes and the next commands to a page. An agent that worked in the project itself
    /// adds nothing.
    pub(super) fn add_to(&self, page: &mut Page) {
        let Some(TaskAnswer { task, .. }) = &self.task else { return };
        if self.diff.branch.is_none() {
            return;
        }
        let number = task.number.to_string();
        let state = match task.stored_state {
            TaskStateName::Completed => good("completed"),
            TaskStateName::Review => odd("in review"),
            state => odd(state.stored()),
        };
        page.line(format_args!("{} is {state}: {}", bold(&number), line(&task.title)));
        if self.diff.files.is_empty() {
            page.line("  nothing was changed");
            return;
        }
        changes::add_change(page, &self.diff);
        if let Some(url) = &task.pr_url {
            page.line(format_args!("  {}", line(url)));
        }
        let next = self.next(&task.number, task.stored_state);
        if next.is_empty() {
            return;
        }
        page.line(bold("Next"));
        let width = next.iter().map(|(command, _)| command.chars().count()).max();
        let width = width.unwrap_or_default();
        for (command, purpose) in next {
            let gap = " ".repeat(width - command.chars().count());
            page.line(format_args!("  {}{gap}  {}", name(command), dim(purpose)));
        }
    }

    /// Commands for work that nobody reviews and that is on its branch alone.
    fn merges_by_hand(&self) -> Vec<(String, String)> {
        let (Some(branch), Some(target)) = (self.branch(), self.diff.target.as_deref()) else {
            return Vec::new();
        };
        let has_pull_request = self.task.as_ref().is_some_and(|task| task.task.pr_url.is_some());
        if self.diff.merged || has_pull_request {
            return Vec::new();
        }
        let (branch, target) = (line(branch), line(target));
        vec![
            (format!("git diff {target}...{branch}"), "see the changes".to_owned()),
            (format!("git merge {branch}"), format!("merge them, with {target} checked out")),
        ]
    }

    /// Commands that go on from here, each with its purpose.
    fn next(&self, number: &TaskRef, state: TaskStateName) -> Vec<(String, String)> {
        let target = self.diff.target.as_deref().map(line);
        let into =
            target.map_or_else(|| "merge them".to_owned(), |to| format!("merge them into {to}"));
        let review = |rest: &str| format!("adjutant review {rest}");
        match state {
            TaskStateName::Review => vec![
                (review(&format!("show {number}")), "see the changes".to_owned()),
                (review(&format!("approve {number}")), into),
                (
                    review(&format!("request-changes {number} 'TEXT'")),
                    "say what to change".to_owned(),
                ),
            ],
            TaskStateName::Pending | TaskStateName::Failed => vec![(
                format!("adjutant run --role {} --task {number} 'Go on'", line(&self.role)),
                "go on from this branch".to_owned(),
            )],
            TaskStateName::Completed => self.merges_by_hand(),
            TaskStateName::Assigned
            | TaskStateName::InProgress
            | TaskStateName::Blocked
            | TaskStateName::Cancelled => Vec::new(),
        }
    }
}
