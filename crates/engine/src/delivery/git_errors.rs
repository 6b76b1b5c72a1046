//! Errors of git as the callers of tools see them.

use host::git::{Conflict, GitError};
use serde_json::json;
use wire::merges::{ConflictView, LineRange};

use crate::core::error::{Code, ToolError};

impl From<GitError> for ToolError {
    fn from(error: GitError) -> Self {
        let message = error.to_string();
        if error.is_transient() {
            return Self::new(Code::TransientError, message);
        }
        match error {
            GitError::Conflict(conflicts) => {
                let places: Vec<ConflictView> = conflicts.iter().map(conflict_view).collect();
                Self::conflict(message).detail("conflicts", json!(places))
            }
            GitError::Dirty(files) => Self::conflict(message).detail("files", files),
            GitError::NotARepository { .. } | GitError::NoCommits => Self::wrong_state(message),
            GitError::NoSuchRevision(_) => Self::not_found(message),
            _ => Self::new(Code::ExternalError, message),
        }
    }
}

/// A conflict as it is shown.
pub(crate) fn conflict_view(conflict: &Conflict) -> ConflictView {
    let lines = |(from, to): &(u32, u32)| LineRange { from: *from, to: *to };
    ConflictView {
        file: conflict.path.clone(),
        lines: conflict.lines.iter().map(lines).collect(),
        kind: conflict.kind.clone(),
    }
}
