//! Settings: configuration, roles, permissions, and changes to them.

use crate::server::ReloadReport;
use crate::webhooks::WebhookView;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsView {
    /// The configuration
    pub config: ConfigView,
    /// The roles
    pub roles: Vec<RoleView>,
    /// Permissions by category
    pub categories: Vec<CategoryView>,
    /// Every tool, by toolset
    pub toolsets: Vec<ToolsetView>,
    /// Webhook endpoints
    pub webhooks: Vec<WebhookView>,
}

/// A role: its file and its effective settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoleView {
    /// Its file
    #[serde(flatten)]
    pub file: RoleFile,
    /// Effective settings; null if its file is not used
    pub comes_to: Option<EffectiveRole>,
}

/// Effective settings of a role, with defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "RoleSum")]
pub struct EffectiveRole {
    /// Its slug
    pub display_name: Option<String>,
    /// Purpose
    pub description: Option<String>,
    /// Its category
    pub category: String,
    /// The kind of agent that plays it
    pub kind: String,
    /// The model
    pub model: Option<String>,
    /// Working directory relative to the project's root
    pub cwd: Option<String>,
    /// Worktree
    pub worktree: RoleWorktree,
    /// Sandbox
    pub sandbox: RoleSandbox,
    /// Time limit in seconds
    pub timeout: Option<u32>,
    /// Allowed silence in seconds
    pub inactivity: Option<u32>,
    /// Budget
    pub budget: RoleCaps,
    /// The agent's own tools that it may use; null is all
    pub own_tools: Option<Vec<String>>,
    /// Those that it may not
    pub own_tools_denied: Vec<String>,
    /// The tools of ours that it may use, by their canonical names
    pub tools: Vec<String>,
}

/// Worktree of a role's agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RoleWorktree {
    /// None of their own
    None,
    /// A new one each
    Fresh,
    /// Their parent's
    Parent,
}

/// Sandbox of a role's agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RoleSandbox {
    /// No sandbox
    None,
    /// Bubblewrap
    Bwrap,
}

/// Agents that a category may await, kill and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CategoryReach {
    /// Only themselves
    #[serde(rename = "self")]
    Itself,
    /// Their descendants
    Descendants,
    /// Every agent
    All,
}

/// Caps on spending. Null is unlimited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CapsView")]
pub struct RoleCaps {
    /// Dollars
    pub usd: Option<f64>,
    /// Tokens, in and out
    pub tokens: Option<u64>,
    /// Agents started
    pub agents: Option<u32>,
    /// Seconds of running
    pub seconds: Option<u64>,
}

/// Permissions of a category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CategoryView {
    /// Its name
    pub name: String,
    /// The patterns that allow
    pub allow: Vec<String>,
    /// The patterns that deny, whatever allows
    pub deny: Vec<String>,
    /// Agents it may await, kill and read
    pub reach: CategoryReach,
    /// Categories it may draft
    pub may_draft: Vec<String>,
    /// Allowed silence in seconds
    pub inactivity: u32,
    /// The tools that it may use, by their canonical names
    pub allowed: Vec<String>,
    /// The tools that a pattern denies it
    pub denied: Vec<String>,
}

/// A toolset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolsetView {
    /// Its name
    pub name: String,
    /// Its tools
    pub tools: Vec<ToolView>,
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolView {
    /// Its canonical name
    pub name: String,
    /// Its name in its toolset
    pub short: String,
    /// Purpose, one line
    pub title: String,
}

/// Requested change: either `changes` or `role`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Change")]
pub struct SettingsChangeRequest {
    /// Keys of the configuration
    pub changes: Option<Vec<KeyChange>>,
    /// A role's whole text
    pub role: Option<RoleChange>,
}

/// Requested change, with the hash of the file it is based on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Save")]
pub struct SaveSettingsRequest {
    /// Keys of the configuration
    pub changes: Option<Vec<KeyChange>>,
    /// A role's whole text
    pub role: Option<RoleChange>,
    /// The file's hash as it was read; absent for a role that has no file yet
    pub was: Option<String>,
}

/// Outcome of saving.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Saved")]
pub struct SavedSettings {
    /// Change of the file, as a patch
    pub diff: String,
    /// New hash of the file
    pub hash: Option<String>,
    /// Notes
    pub notes: Vec<String>,
    /// Outcome of the reload
    pub reloaded: ReloadReport,
}

/// Contents of the configuration files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilesView {
    /// The configuration
    pub config: ConfigView,
    /// The roles' files, by name
    pub roles: Vec<RoleFile>,
}

/// The configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfigView {
    /// Path relative to the project's root
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyView {
    /// Its name, as `limits.depth`
    pub key: String,
    /// Purpose
    pub description: String,
    /// Its value in force
    pub value: Value,
    /// Its default
    pub default: Value,
    /// True if the file sets it
    pub is_set: bool,
    /// True if it takes effect only at the next start
    pub at_start: bool,
    /// The environment variable that overrides the file
    pub decided_by: Option<String>,
    /// Allowed values, if it is an enumeration
    pub choices: Vec<String>,
}

/// A role's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoleFile {
    /// Name of the role, or of the file if it cannot be read
    pub name: String,
    /// Path relative to the project's root
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

/// Problem of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileProblem {
    /// The line, counted from 1
    pub line: Option<usize>,
    /// The key that was to be changed
    pub key: Option<String>,
    /// Problem
    pub message: String,
    /// Advice
    pub hint: Option<String>,
}

/// Change of one key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyChange {
    /// Its name
    pub key: String,
    /// Its value; without one the key is removed from the file and its default applies
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// Reads a value that is present, including null.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// Change of one role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RoleChange {
    /// Its name
    pub name: String,
    /// Its file's whole text
    pub text: String,
}

/// Outcome of checking a change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Checked")]
pub struct CheckedChange {
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

/// Configuration, roles and templates of a home that several servers share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HomeFilesView {
    /// The files, by path
    pub files: Vec<HomeFileView>,
}

/// One file of a home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HomeFileView {
    /// Path inside of the home, such as `roles/coder.md`
    pub path: String,
    /// Content
    pub text: String,
}

/// Answer to new files of a home.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PushedFiles {
    /// Paths of files that were added, changed or removed
    pub changed: Vec<String>,
    /// Effect on the settings in force
    pub reloaded: ReloadReport,
}
