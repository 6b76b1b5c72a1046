//! The files of a home that people change, as a server is given them: the configuration and the roles.

use engine::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Reads and changes the files of a home. Nothing that it shows has a secret in it.
pub trait Files: Send + Sync {
    /// Contents of the configuration files.
    fn read(&self) -> Result<FilesView, ToolError>;
    /// Checks a change without writing.
    fn check(&self, change: &FileChange) -> Result<Checked, ToolError>;
    /// Makes a change, whole or not at all; `was` is the hash of the file as it was read, none where there was no file.
    fn save(&self, change: &FileChange, was: Option<&str>) -> Result<Checked, ToolError>;
}

/// Contents of the configuration files.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilesView {
    /// The configuration
    pub config: ConfigView,
    /// The roles' files, by name
    pub roles: Vec<RoleFile>,
}

/// The configuration.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigView {
    /// Where it is, from the project's root
    pub path: String,
    /// Content; secrets and addresses are masked
    pub text: String,
    /// Hash to pass when saving
    pub hash: String,
    /// Problems of the current content
    pub problems: Vec<FileProblem>,
    /// Every key, in the order in which they are documented
    pub keys: Vec<KeyView>,
}

/// A key of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    /// Its name, as `limits.depth`
    pub key: String,
    /// Purpose
    pub description: String,
    /// Its value in force
    pub value: Value,
    /// Its value where nobody says otherwise
    pub default: Value,
    /// True if the file sets it
    pub is_set: bool,
    /// True if it takes effect only at the next start
    pub at_start: bool,
    /// The variable that decides it, whatever the file says
    pub decided_by: Option<String>,
    /// Allowed values, if it is an enumeration
    pub choices: Vec<String>,
}

/// A role's file.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoleFile {
    /// The role, or the file's name where it cannot be read
    pub name: String,
    /// Where it is, from the project's root
    pub path: String,
    /// True if it is in the home; others are overridden by a file of the same name there
    pub is_own: bool,
    /// Content
    pub text: String,
    /// Hash to pass when saving
    pub hash: String,
    /// Problems that keep it from being used
    pub problems: Vec<FileProblem>,
    /// Warnings
    pub warnings: Vec<FileProblem>,
}

/// Something that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileProblem {
    /// The line, counted from 1
    pub line: Option<usize>,
    /// The key that was to be changed
    pub key: Option<String>,
    /// Issues
    pub message: String,
    /// Advice
    pub hint: Option<String>,
}

/// Requested change of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum FileChange {
    /// Keys of the configuration
    Config(Vec<KeyChange>),
    /// A role's whole text
    Role(RoleChange),
}

/// A key that is to be changed.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyChange {
    /// Its name
    pub key: String,
    /// Its value; without one the key is taken out of the file, and its default counts
    #[serde(default, deserialize_with = "given")]
    pub value: Option<Value>,
}

/// A value that is there counts, also where it is null.
fn given<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// A role that is to be changed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RoleChange {
    /// Its name
    pub name: String,
    /// Its file's whole text
    pub text: String,
}

/// Outcome of checking a change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// True if it can be saved
    pub ok: bool,
    /// Why not
    pub problems: Vec<FileProblem>,
    /// Notes: overriding variables, keys that need a restart
    pub notes: Vec<String>,
    /// Change of the file as a patch; empty if there is none
    pub diff: String,
    /// New hash of the file
    pub hash: Option<String>,
}
