//! Merges and conflicts, as they are shown and kept.

use host::git::Conflict;
use model::review::MergeState;
use model::task::TaskRef;
use model::{AgentId, MergeId, TaskId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Merge, Tx};

use crate::core::durable;
use crate::core::error::ToolError;
use crate::delivery::reviews::FEEDBACK_FILE;

/// So many conflicts are written out in a letter.
const NAMED: usize = 20;

/// Lines of a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct LineRange {
    /// The first
    pub from: u32,
    /// The last
    pub to: u32,
}

/// A file that two sides changed in ways that do not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ConflictView {
    /// The file
    pub file: String,
    /// The lines of the merged text that are in conflict
    pub lines: Vec<LineRange>,
    /// `content`, `add/add`, `modify/delete`, `binary` and the like
    pub kind: String,
}

impl ConflictView {
    /// A conflict as it is shown.
    pub(crate) fn of(conflict: &Conflict) -> Self {
        let lines = |(from, to): &(u32, u32)| LineRange { from: *from, to: *to };
        Self {
            file: conflict.path.clone(),
            lines: conflict.lines.iter().map(lines).collect(),
            kind: conflict.kind.clone(),
        }
    }
}

/// Conflicts as they are shown. Feedback is no part of the work, so it is in nobody's way.
pub(crate) fn conflicts_of(conflicts: &[Conflict]) -> Vec<ConflictView> {
    let theirs = conflicts.iter().filter(|conflict| conflict.path != FEEDBACK_FILE);
    theirs.map(ConflictView::of).collect()
}

/// Conflicts in words, one a line.
pub(crate) fn places(conflicts: &[ConflictView]) -> String {
    let tell = |conflict: &ConflictView| {
        let lines = conflict.lines.iter().map(|range| format!("{}-{}", range.from, range.to));
        let lines: Vec<String> = lines.collect();
        let lines =
            if lines.is_empty() { String::new() } else { format!(", lines {}", lines.join(", ")) };
        format!("- `{}` ({}{lines})", conflict.file, conflict.kind)
    };
    let mut told: Vec<String> = conflicts.iter().take(NAMED).map(tell).collect();
    if conflicts.len() > NAMED {
        told.push(format!("- and {} more", conflicts.len() - NAMED));
    }
    told.join("\n")
}

/// What goes with the reason why work was sent back or is held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Details {
    /// What does not fit
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) conflicts: Vec<ConflictView>,
    /// The end of what the check said
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) check_output: Option<String>,
    /// Files that are in the way
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<String>,
}

impl Details {
    /// Decodes what was kept of a merge.
    pub(crate) fn of(merge: &Merge) -> Result<Self, ToolError> {
        let decode = |text| durable::decode(text, format_args!("merge `{}`", merge.id), "details");
        Ok(merge.details.as_deref().map(decode).transpose()?.unwrap_or_default())
    }
}

/// Approved work on its way into a branch.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct MergeView {
    /// Its id
    pub id: MergeId,
    /// The task
    pub task_id: TaskId,
    /// Its name for people
    pub slug: String,
    /// Its number: `TAS-12`
    pub number: TaskRef,
    /// What was to be done
    pub title: String,
    /// The branch it is on
    pub branch: String,
    /// The branch it goes into
    pub target: String,
    /// The commit that was approved
    pub commit: String,
    /// The commit it was merged as
    pub merged_commit: Option<String>,
    /// How it stands
    pub state: MergeState,
    /// Its place among those that wait for the same branch, from 1; null where it does not wait
    pub position: Option<u32>,
    /// Why it was sent back or is held
    pub reason: Option<String>,
    /// What does not fit
    pub conflicts: Vec<ConflictView>,
    /// The end of what the check said, where it was not passed
    pub check_output: Option<String>,
    /// Files that are in the way
    pub files: Vec<String>,
    /// Who did the work
    pub agent_id: Option<AgentId>,
    /// Who approved it; null is the human
    pub approved_by: Option<AgentId>,
    /// When it was approved
    pub created_at: Timestamp,
    /// When it was over
    pub ended_at: Option<Timestamp>,
}

impl MergeView {
    /// A merge with its task's name, at a place in the queue.
    pub(crate) fn of(tx: &Tx<'_>, merge: Merge, position: Option<u32>) -> Result<Self, ToolError> {
        let task = tx.task_find(&TaskRef::Id(merge.task))?;
        let details = Details::of(&merge)?;
        Ok(Self {
            id: merge.id,
            task_id: merge.task,
            slug: task.as_ref().map(|task| task.slug.clone()).unwrap_or_default(),
            number: TaskRef::Number(task.as_ref().map_or(0, |task| task.number)),
            title: task.map(|task| task.title).unwrap_or_default(),
            branch: merge.branch,
            target: merge.target,
            commit: merge.commit,
            merged_commit: merge.merged,
            state: merge.state,
            position,
            reason: merge.reason,
            conflicts: details.conflicts,
            check_output: details.check_output,
            files: details.files,
            agent_id: merge.agent,
            approved_by: merge.approved_by,
            created_at: merge.created_at,
            ended_at: merge.ended_at,
        })
    }
}
