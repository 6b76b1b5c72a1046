//! What waits for a person's word, with what that person wants to know beside what agents are told.

use model::AgentId;
use model::agent::AgentStateName;
use schemars::JsonSchema;
use serde::Serialize;

use super::Handed;
use super::forecast::Branch;
use super::progress::CheckingView;
use super::queue::{Looked, ReviewScope, ReviewedTask, look_at};
use super::view::MergeView;
use crate::core::engine::Engine;
use crate::core::error::ToolError;
use crate::delivery::reviews::history;
use crate::tools::Cursor;

/// Commits are counted up to here.
const MOST_COMMITS: usize = 1000;

/// What waits to be approved, and what was approved and waits to be merged.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeskView {
    /// The tasks in `REVIEW`, oldest first
    tasks: Vec<DeskTask>,
    /// Approved work that is not merged yet, in order
    queue: Vec<MergeView>,
    /// Where the next page of tasks begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Cursor>,
}

/// A task in review, and what git and the record say of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct DeskTask {
    // Only ever written, so that flattening cannot swallow a field.
    #[serde(flatten)]
    task: ReviewedTask,
    /// How many commits its target has and its branch lacks, counted up to 1000; null where that cannot be said
    behind: Option<u64>,
    /// Who did it
    worker: Option<WorkerView>,
    /// The supervisor of its epic, who approves it or sends it back; null where a person does
    supervisor_id: Option<AgentId>,
    /// What became of it when it was approved before; null where it never was
    last_merge: Option<MergeView>,
}

/// Who did a task, and how often others looked at it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct WorkerView {
    /// The agent
    id: AgentId,
    /// Its role
    role: String,
    /// How it stands
    state: AgentStateName,
    /// How often its work was looked at
    iterations: u32,
    /// How often it may be
    max_iterations: u32,
}

/// A merge that is watched.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatchedMerge {
    /// The merge
    #[serde(flatten)]
    pub merge: MergeView,
    /// The check that runs; absent while none does
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checking: Option<CheckingView>,
}

impl DeskTask {
    fn of(
        engine: &Engine,
        (task, handed, branch): (ReviewedTask, Handed, Option<Branch>),
    ) -> Result<Self, ToolError> {
        let settings = engine.settings();
        engine.store.read(|tx| {
            let worker = match &handed.worker {
                Some(worker) => {
                    let (iterations, _, limits) = history(tx, &settings, worker.id)?;
                    Some(WorkerView {
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
            Ok(Self {
                behind: branch.and_then(|branch| behind(engine, &branch)),
                worker,
                supervisor_id: above.flatten().map(|above| above.id),
                last_merge: merge.map(|merge| MergeView::of(tx, merge, None)).transpose()?,
                task,
            })
        })
    }
}

/// How many commits a branch lacks that its target has. Blocks.
fn behind(engine: &Engine, branch: &Branch) -> Option<u64> {
    let repo = engine.repo(&engine.options.project).ok()?;
    let missing = repo.log(&branch.commit, &branch.target_head, MOST_COMMITS).ok()?.len();
    u64::try_from(missing).ok()
}

impl Engine {
    /// What waits for a person's word, with what git and the record say of it.
    pub async fn review_desk(&self, scope: ReviewScope) -> Result<DeskView, ToolError> {
        let waiting = self.store.read(|tx| look_at(tx, scope))?;
        self.outside(move |engine| {
            let Looked { tasks, queue, next_cursor } = waiting.look(engine)?;
            let tasks = tasks.into_iter().map(|task| DeskTask::of(engine, task));
            let tasks = tasks.collect::<Result<_, ToolError>>()?;
            Ok::<_, ToolError>(DeskView { tasks, queue, next_cursor })
        })
        .await
    }

    /// What was merged or sent back last, newest first.
    pub fn merges_over(&self, limit: u32) -> Result<Vec<MergeView>, ToolError> {
        self.store.read(|tx| {
            let over = tx.merges_over(limit)?.into_iter();
            over.map(|merge| MergeView::of(tx, merge, None)).collect()
        })
    }
}
