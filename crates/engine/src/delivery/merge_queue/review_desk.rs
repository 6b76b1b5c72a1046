//! Work waiting for a person's decision, with details for people.

use wire::merges::{MergeView, ReviewDesk, ReviewDeskTask, ReviewedTask, ReviewedWorker};

use super::SubmittedWork;
use super::forecast::Branch;
use super::queue::{InspectedQueue, ReviewScope, look_at};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::delivery::check_environment;
use crate::delivery::merge_queue::view::merge_view;
use crate::delivery::reviews::history;
use crate::delivery::service::Delivery;

/// Commits are counted up to here.
const MAX_COMMITS: usize = 1000;

fn review_desk_task(
    engine: &Core,
    task: ReviewedTask,
    handed: &SubmittedWork,
    branch: Option<Branch>,
) -> Result<ReviewDeskTask, ToolError> {
    let settings = engine.settings();
    let author = handed.worker.as_ref().map(|worker| worker.id);
    let missing = match &settings.check {
        Some(_) => check_environment::forecast(engine, author, handed.task.id)?,
        None => Vec::new(),
    };
    engine.store.read(|tx| {
        let worker = match &handed.worker {
            Some(worker) => {
                let (iterations, _, limits) = history(tx, &settings, worker.id)?;
                Some(ReviewedWorker {
                    id: worker.id,
                    role: worker.role.clone(),
                    state: worker.state.name(),
                    iterations,
                    max_iterations: limits.max_iterations.saturating_add(limits.more),
                })
            }
            None => None,
        };
        let above = handed.task.epic.map(|epic| tx.agent_supervising(epic)).transpose()?;
        let merge = tx.merge_of(handed.task.id)?;
        Ok(ReviewDeskTask {
            behind: branch.and_then(|branch| behind(engine, &branch)),
            worker,
            supervisor_id: above.flatten().map(|above| above.id),
            last_merge: merge.map(|merge| merge_view(tx, merge, None)).transpose()?,
            missing_variables: missing,
            task,
        })
    })
}

/// Counts the commits of the target that a branch lacks. Blocks.
fn behind(engine: &Core, branch: &Branch) -> Option<u64> {
    let repo = engine.repo(&engine.options.project).ok()?;
    let missing = repo.log(&branch.commit, &branch.target_head, MAX_COMMITS).ok()?.len();
    u64::try_from(missing).ok()
}

impl Delivery {
    /// Lists the work waiting for a person's decision, with details from git and the record.
    pub async fn review_desk(&self, scope: ReviewScope) -> Result<ReviewDesk, ToolError> {
        let waiting = self.store.read(|tx| look_at(tx, scope))?;
        self.outside(move |engine| {
            let InspectedQueue { tasks, queue, next_cursor } = waiting.look(engine)?;
            let tasks = tasks
                .into_iter()
                .map(|(task, handed, branch)| review_desk_task(engine, task, &handed, branch));
            let tasks = tasks.collect::<Result<_, ToolError>>()?;
            Ok::<_, ToolError>(ReviewDesk { tasks, queue, next_cursor })
        })
        .await
    }

    /// Lists the last merged or returned work, newest first.
    pub fn merges_over(&self, limit: u32) -> Result<Vec<MergeView>, ToolError> {
        self.store.read(|tx| {
            let over = tx.merges_over(limit)?.into_iter();
            over.map(|merge| merge_view(tx, merge, None)).collect()
        })
    }
}
