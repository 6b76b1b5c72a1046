//! The frame around every page: counts, spending, and everything that needs a person.

use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The frame around every page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// Version of the server
    pub version: String,
    /// The project's name
    pub project: String,
    /// The home
    pub home: String,
    /// Current time
    pub now: Timestamp,
    /// Since when the server runs
    pub started_at: Timestamp,
    /// The number of the last event that this takes into account
    pub last_event: i64,
    /// True for a read-only session
    pub read_only: bool,
    /// Running agents and the limit
    pub running: AgentPlaces,
    /// Number of agents
    pub agents: AgentCounts,
    /// Number of open tasks
    pub open_tasks: i64,
    /// Mails for the human
    pub mail: MailCounts,
    /// Work in review
    pub reviews: ReviewCounts,
    /// Spending today
    pub today: SpentToday,
    /// Models at their rate limit
    pub limited: Vec<LimitedModel>,
    /// Requests to a person, the most urgent first; at most 50
    pub needs_you: Vec<NeedView>,
    /// Total number of requests to a person
    pub needs_you_count: usize,
}

/// Places for agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentPlaces {
    /// Places in use; an agent that waits for others takes none
    pub used: u64,
    /// Number of places
    pub max: u32,
    /// Number of queued agents
    pub queued: u64,
}

/// Number of agents by state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentCounts {
    /// All there ever were
    pub all: u64,
    /// At work, or about to be
    pub running: u64,
    /// Waiting for a review, a person or their model
    pub waiting: u64,
    /// Waiting for a place
    pub queued: u64,
    /// Over
    pub ended: u64,
}

/// Mails for the human.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LetterCounts")]
pub struct MailCounts {
    /// Not read yet
    pub unread: i64,
    /// Questions that wait for an answer
    pub needs_answer: usize,
}

/// Work in review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewCounts {
    /// That waits for a person
    pub for_you: usize,
    /// That a reviewer looks at
    pub open: i64,
}

/// Spending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpentToday {
    /// Dollars
    pub usd: f64,
    /// Dollars that may be spent; null is no limit
    pub limit_usd: Option<f64>,
    /// Tokens, in and out
    pub tokens: u64,
}

/// A model that does not answer for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LimitedModel {
    /// The model, or the kind of agent where no model is known
    pub who: String,
    /// Until when
    pub until: Timestamp,
}

/// Why a person is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NeedKind {
    /// A mail asks something
    Question,
    /// An agent asks leave to use a tool
    Permission,
    /// Work waits to be approved, and there is no supervisor to do so
    Review,
    /// An agent is at its review limit
    ReviewLimit,
    /// An agent has spent its budget
    Budget,
    /// Approved work could not be merged
    Merge,
    /// A mail reports a failure
    Mail,
}

/// Something that a person is needed for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NeedView {
    /// Why
    pub kind: NeedKind,
    /// Title, one line
    pub title: String,
    /// Details, one line
    pub detail: String,
    /// The agent it concerns
    pub agent_id: Option<AgentId>,
    /// Its role
    pub role: Option<String>,
    /// The number of the task it concerns
    pub task_number: Option<i64>,
    /// Since when
    pub since: Timestamp,
    /// Number of tasks and agents that wait for it
    pub holds_up: i64,
    /// The page that settles it
    pub href: String,
}
