//! Settings of the worktrees that agents, reviewers and the merge queue work in.

use std::path::PathBuf;

/// Worktree settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeSettings {
    /// The categories whose agents get one of their own, where their role does not decide
    pub fresh: Vec<String>,
    /// True if commits to files reserved by others are refused
    pub guard: bool,
    /// True if submodules are checked out
    pub submodules: bool,
    /// Folder in which the worktrees of this home lie; `worktrees` in the home if absent
    pub folder: Option<PathBuf>,
    /// Command that runs in each new worktree before its agent
    pub setup: Option<SetupSettings>,
    /// Patterns of ignored files that are copied into each
    pub copy: Vec<String>,
    /// Patterns of ignored files that are linked into each
    pub link: Vec<String>,
}

/// The command that makes a new worktree ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupSettings {
    /// The program and its arguments
    pub command: Vec<String>,
    /// Time limit in seconds
    pub timeout_s: u32,
}

impl SetupSettings {
    /// Default timeout of a set-up, in seconds.
    pub const TIMEOUT_S: u32 = 900;
}

impl Default for WorktreeSettings {
    fn default() -> Self {
        Self {
            fresh: vec!["coding".to_owned(), "worker".to_owned()],
            guard: false,
            submodules: true,
            folder: None,
            setup: None,
            copy: Vec::new(),
            link: Vec::new(),
        }
    }
}
