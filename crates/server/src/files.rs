//! The files of a home that people change, as a server is given them: the configuration and the roles.

use engine::ToolError;
use wire::settings::{CheckedChange, FilesView, HomeFilesView, KeyChange, RoleChange};

/// Reads and changes the files of a home. Nothing that it shows has a secret in it.
pub trait Files: Send + Sync {
    /// Contents of the configuration files.
    fn read(&self) -> Result<FilesView, ToolError>;
    /// Checks a change without writing.
    fn check(&self, change: &FileChange) -> Result<CheckedChange, ToolError>;
    /// Makes a change, whole or not at all; `was` is the hash of the file as it was read, none where there was no file.
    fn save(&self, change: &FileChange, was: Option<&str>) -> Result<CheckedChange, ToolError>;
    /// All files of a home that several servers share.
    fn home_files(&self) -> Result<HomeFilesView, ToolError>;
    /// Replaces all files of a home that several servers share, and returns the paths that differ. They are checked
    /// before.
    fn replace_home_files(&self, files: HomeFilesView) -> Result<Vec<String>, ToolError>;
}

/// Requested change of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum FileChange {
    /// Keys of the configuration
    Config(Vec<KeyChange>),
    /// A role's whole text
    Role(RoleChange),
}
