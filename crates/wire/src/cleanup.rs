//! Cleaning: what to remove, what was removed, and copies of the record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Request to clean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "CleanBody")]
pub struct CleanupRequest {
    /// Only what ended this long ago, as `30d` (the default) or `12h`
    pub older_than: Option<String>,
    /// Count only, and remove nothing
    #[serde(default)]
    pub dry_run: bool,
    /// Only these parts: runs, output, branches, deliveries, answers, events, audit
    pub only: Option<Vec<String>>,
}

/// Result of a cleaning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Cleaned")]
pub struct CleanReport {
    /// True if it was only counted
    pub dry_run: bool,
    /// Result for each part
    pub parts: Vec<CleanedPart>,
}

/// Result for one part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "CleanedView")]
pub struct CleanedPart {
    /// Part that was cleaned
    pub part: CleanPart,
    /// Number of folders, files, branches or rows removed, or to be removed
    pub removed: u64,
    /// Bytes of their files; 0 for rows and branches
    pub bytes: u64,
    /// Archives that were written
    pub archives: Vec<String>,
    /// Why something old stays
    pub kept: Vec<String>,
}

/// A copy of the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Snapshot")]
pub struct SnapshotFile {
    /// Path of the file; the caller owns it, and it is removed after an hour
    pub file: String,
}

/// Parts of the state that can be cleaned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CleanPart {
    /// Run folders of ended agents, merges and loops
    Runs,
    /// Raw output in the run folders of agents that have ended
    Output,
    /// Agents' branches and rescue branches that another branch, remote branch or tag has
    Branches,
    /// Delivered messages of webhooks
    Deliveries,
    /// Answers that are remembered for calls with a key
    Answers,
    /// Events that no cursor, live agent or open task needs
    Events,
    /// Rows of the audit chain, which move into an archive
    Audit,
}

impl CleanPart {
    /// Every part, in the order in which they are cleaned.
    pub const ALL: [Self; 7] = [
        Self::Runs,
        Self::Output,
        Self::Branches,
        Self::Deliveries,
        Self::Answers,
        Self::Events,
        Self::Audit,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Output => "output",
            Self::Branches => "branches",
            Self::Deliveries => "deliveries",
            Self::Answers => "answers",
            Self::Events => "events",
            Self::Audit => "audit",
        }
    }

    /// The part of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }
}

impl CleanedPart {
    /// The result for a part of which nothing was removed yet.
    pub const fn new(part: CleanPart) -> Self {
        Self { part, removed: 0, bytes: 0, archives: Vec::new(), kept: Vec::new() }
    }
}
