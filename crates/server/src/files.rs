//! The files of a home that people change, as a server is given them: the configuration and the roles.

use engine::ToolError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Reads and changes the files of a home. Nothing that it shows has a secret in it.
pub trait Files: Send + Sync {
    /// What the files say.
    fn read(&self) -> Result<FilesView, ToolError>;
    /// What a change would come to. Nothing is written.
    fn check(&self, change: &FileChange) -> Result<Checked, ToolError>;
    /// Makes a change, whole or not at all; `was` is the hash of the file as it was read, none where there was no file.
    fn save(&self, change: &FileChange, was: Option<&str>) -> Result<Checked, ToolError>;
}

/// What the files say.
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
    /// What stands in it; secrets and addresses are cut short
    pub text: String,
    /// What it is known by when it is saved
    pub hash: String,
    /// What is wrong with it as it stands
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
    /// What it is for
    pub description: String,
    /// Its value in force
    pub value: Value,
    /// Its value where nobody says otherwise
    pub default: Value,
    /// Whether the file says it
    pub is_set: bool,
    /// Whether it is read only when the server starts
    pub at_start: bool,
    /// The variable that decides it, whatever the file says
    pub decided_by: Option<String>,
    /// What it may be, where that is one of a few words
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
    /// Whether it is in the home; what others have is changed by a file of the same name there
    pub is_own: bool,
    /// What stands in it
    pub text: String,
    /// What it is known by when it is saved
    pub hash: String,
    /// What is wrong with it, so that it is not used
    pub problems: Vec<FileProblem>,
    /// What is odd about it
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
    /// What is wrong
    pub message: String,
    /// What to do
    pub hint: Option<String>,
}

/// What is to be changed.
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

/// What a change comes to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// Whether it can be saved
    pub ok: bool,
    /// Why not
    pub problems: Vec<FileProblem>,
    /// What to know of it: variables that win, keys that need a new start
    pub notes: Vec<String>,
    /// What would change in the file, as a patch; empty where nothing would
    pub diff: String,
    /// What the file is known by now
    pub hash: Option<String>,
}
