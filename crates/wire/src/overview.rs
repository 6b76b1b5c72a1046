//! The frame around every page: counts, spending, and everything that needs a person.

use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The frame around every page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// Which version the server is
    pub version: String,
    /// The project's name
    pub project: String,
    /// The home
    pub home: String,
    /// What time it is
    pub now: Timestamp,
    /// Since when the server runs
    pub started_at: Timestamp,
    /// The number of the last event that this takes into account
    pub last_event: i64,
    /// Whether whoever asks may only look
    pub read_only: bool,
    /// Who runs, of how many that may
    pub running: AgentPlaces,
    /// How many agents there are
    pub agents: AgentCounts,
    /// How many tasks are not over
    pub open_tasks: i64,
    /// Letters for the human
    pub mail: LetterCounts,
    /// Work that is looked at
    pub reviews: ReviewCounts,
    /// What was spent today
    pub today: SpentToday,
    /// Whose models do not answer for a while
    pub limited: Vec<LimitedModel>,
    /// What a person is needed for, the most urgent first; at most 50
    pub needs_you: Vec<NeedView>,
    /// How many that are altogether
    pub needs_you_count: usize,
}

/// Places for agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct AgentPlaces {
    /// How many are taken; who waits for others takes none
    pub used: u64,
    /// How many there are
    pub max: u32,
    /// How many agents wait for one
    pub queued: u64,
}

/// How many agents there are, by how they stand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
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

/// Letters for the human.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct LetterCounts {
    /// Not read yet
    pub unread: i64,
    /// That somebody waits for an answer to
    pub needs_answer: usize,
}

/// Work that is looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ReviewCounts {
    /// That waits for a person
    pub for_you: usize,
    /// That a reviewer looks at
    pub open: i64,
}

/// What was spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
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
#[schemars(inline)]
pub struct LimitedModel {
    /// The model, or the kind of agent where no model is known
    pub who: String,
    /// Until when
    pub until: Timestamp,
}

/// Why a person is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum NeedKind {
    /// A letter asks something
    Question,
    /// An agent asks leave to use a tool
    Permission,
    /// Work waits to be approved, and there is no supervisor to do so
    Review,
    /// An agent has had all its reviews
    ReviewLimit,
    /// An agent has spent what it had
    Budget,
    /// Approved work could not be merged
    Merge,
    /// A letter tells of trouble
    Mail,
}

/// Something that a person is needed for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct NeedView {
    /// Why
    pub kind: NeedKind,
    /// What, in a line
    pub title: String,
    /// What goes with it, in a line
    pub detail: String,
    /// The agent it concerns
    pub agent_id: Option<AgentId>,
    /// Its role
    pub role: Option<String>,
    /// The number of the task it concerns
    pub task_number: Option<i64>,
    /// Since when
    pub since: Timestamp,
    /// How many tasks and agents wait behind it
    pub holds_up: i64,
    /// The page that settles it
    pub href: String,
}
