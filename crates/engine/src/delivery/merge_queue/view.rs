//! Merges and conflicts, as they are shown and kept.

use host::git::Conflict;
use model::task::TaskRef;
use serde::{Deserialize, Serialize};
use store::{Merge, Tx};
use wire::merges::{ConflictView, MergeView};

use crate::core::durable;
use crate::core::error::ToolError;
use crate::delivery::git_errors::conflict_view;
use crate::delivery::reviews::FEEDBACK_FILE;

/// Conflicts listed in a mail.
const NAMED: usize = 20;

/// Conflicts as they are shown. Feedback is no part of the work, so it is in nobody's way.
pub(crate) fn conflicts_of(conflicts: &[Conflict]) -> Vec<ConflictView> {
    let theirs = conflicts.iter().filter(|conflict| conflict.path != FEEDBACK_FILE);
    theirs.map(conflict_view).collect()
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

/// Details of the reason why work was sent back or held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Details {
    /// Conflicts
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) conflicts: Vec<ConflictView>,
    /// The end of the check's output
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) check_output: Option<String>,
    /// The end of the output of the set-up before the check
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) setup_output: Option<String>,
    /// Conflicting files
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) files: Vec<String>,
    /// Variables that the check would lack
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) missing_variables: Vec<String>,
}

impl Details {
    /// Decodes what was kept of a merge.
    pub(crate) fn of(merge: &Merge) -> Result<Self, ToolError> {
        let decode = |text| durable::decode(text, format_args!("merge `{}`", merge.id), "details");
        Ok(merge.details.as_deref().map(decode).transpose()?.unwrap_or_default())
    }
}

/// A merge with its task's name, at a place in the queue.
pub(crate) fn merge_view(
    tx: &Tx<'_>,
    merge: Merge,
    position: Option<u32>,
) -> Result<MergeView, ToolError> {
    let task = tx.task_find(&TaskRef::Id(merge.task))?;
    let details = Details::of(&merge)?;
    Ok(MergeView {
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
        setup_output: details.setup_output,
        files: details.files,
        missing_variables: details.missing_variables,
        agent_id: merge.agent,
        approved_by: merge.approved_by,
        created_at: merge.created_at,
        ended_at: merge.ended_at,
    })
}
