//! Subject of `adjutant review show`: the task, the branch and its changes.

use model::task::TaskStateName;
use serde_json::{Value, json};
use wire::agents::AgentDiff;
use wire::reviews::{CoderView, ReviewStory};
use wire::tasks::TaskAnswer;

use crate::cli_error::CliError;
use crate::client::Answer;
use crate::commands::delivery::changes;
use crate::commands::delivery::merge_queue::{lacking, under};
use crate::commands::reconnect::Steady;
use crate::terminal::render::{Page, bold, dim, good, line, name, odd};

/// How much of a change is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Its files and figures
    Figures,
    /// Its lines too
    Patch,
}

/// Work with its task.
#[derive(Debug)]
pub(super) struct ReviewedWork {
    task: Option<TaskAnswer>,
    diff: AgentDiff,
}

impl ReviewedWork {
    /// Reads the task and the changes of an agent.
    pub(super) async fn of(
        steady: &mut Steady<'_>,
        coder: &CoderView,
        detail: Detail,
    ) -> Result<Self, CliError> {
        let task = match &coder.task_slug {
            Some(slug) => {
                let input = json!({ "taskId": slug });
                Some(steady.call_tool::<TaskAnswer>("mcp__task__get", &input).await?.into_value())
            }
            None => None,
        };
        let path = format!("/api/agents/{}/diff", coder.coder_id);
        let mut diff = steady.fetch::<AgentDiff>(&path).await?.into_value();
        if detail == Detail::Figures {
            diff.patch.clear();
        }
        Ok(Self { task, diff })
    }

    /// The answer for programs: the reviews, the state of the task, and the work.
    pub(super) fn with_story(&self, story: &Answer<ReviewStory>) -> Result<Value, CliError> {
        let mut value = serde_json::to_value(story).map_err(std::io::Error::other)?;
        if let Value::Object(value) = &mut value {
            let state = self.task.as_ref().map(|task| task.task.stored_state);
            value.insert("taskState".to_owned(), json!(state));
            value.insert("work".to_owned(), json!(self.diff));
        }
        Ok(value)
    }

    /// The page: the task with its changes, then the reviews, then what can be decided.
    pub(super) fn text(&self, reviews: &str, missing: &[String]) -> String {
        let mut page = Page::default();
        if let Some(TaskAnswer { task, .. }) = &self.task {
            let state = match task.stored_state {
                TaskStateName::Completed => good("completed"),
                TaskStateName::Review => odd("in review"),
                state => odd(state.stored()),
            };
            page.line(format_args!("{} is {state}: {}", bold(&task.number), line(&task.title)));
            changes::add_change(&mut page, &self.diff);
            changes::add_commits(&mut page, &self.diff);
            if let Some(why) = &self.diff.why {
                page.line(format_args!("  {}", dim(line(why))));
            }
            page.line("");
        }
        page.text(reviews);
        if !self.diff.patch.is_empty() {
            page.line("");
            page.text(&self.diff.patch);
        }
        self.add_decisions(&mut page, missing);
        page.into_text()
    }

    fn add_decisions(&self, page: &mut Page, missing: &[String]) {
        let Some(TaskAnswer { task, .. }) = &self.task else { return };
        if task.stored_state != TaskStateName::Review {
            return;
        }
        let number = &task.number;
        let [yes, no] = [format!("approve {number}"), format!("request-changes {number} 'TEXT'")]
            .map(|rest| name(format!("adjutant review {rest}")));
        page.line(format_args!("\n{yes}, or {no}"));
        under(page, &lacking(missing));
    }
}
