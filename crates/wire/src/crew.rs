//! The crew as people watch it: rows of the tree and of the flat lists, lanes, and roles.

use std::borrow::Cow;

use model::agent::AgentStateName;
use model::{AgentId, EpicId, MailId, Timestamp};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An agent as it is shown among others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrewRow {
    /// Its id
    pub id: AgentId,
    /// The end of its id, by which people tell it from others
    pub short: String,
    /// Its role
    pub role: String,
    /// The role's name for people
    pub display_name: Option<String>,
    /// Its category
    pub category: String,
    /// Kind of agent; `enlisted` for one that Adjutant does not run
    pub kind: String,
    /// The model that answers it, or that it was asked for
    pub model: Option<String>,
    /// Current state
    pub state: AgentStateName,
    /// Reason of its end; for a queued agent, what it waits for besides a free slot
    pub reason: Option<String>,
    /// Until when its model does not answer it
    pub limited_until: Option<Timestamp>,
    /// Current task
    pub task: Option<CrewTask>,
    /// In which epic
    pub epic: Option<CrewEpic>,
    /// Parent agent; null for the operator
    pub parent_id: Option<AgentId>,
    /// Depth below the operator
    pub depth: u32,
    /// Number of children, live or ended
    pub children: u32,
    /// Number of live descendants
    pub live_below: u32,
    /// Number of ended children
    pub ended_below: u32,
    /// Last activity; null if unknown
    pub doing: Option<CrewActivity>,
    /// Open question to a person
    pub asks: Option<CrewQuestion>,
    /// Its place in the queue, from 1
    pub queue_place: Option<u32>,
    /// The review it waits for
    pub review: Option<CrewReview>,
    /// When its first attempt began; until then, when it was recorded
    pub started_at: Timestamp,
    /// When it ended
    pub finished_at: Option<Timestamp>,
    /// Cost in dollars; null if unknown
    pub cost_usd: Option<f64>,
    /// Budget and spending of it and its descendants
    pub budget: Option<CrewBudget>,
    /// Deadline
    pub deadline_at: Option<Timestamp>,
    /// States over time; only if a window was requested
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<Vec<LaneSegment>>,
    /// When it called tools, in milliseconds since 1970, as far as is remembered; only where a window was
    /// asked for
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<i64>>,
}

/// A task in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrewTask {
    /// Its number
    pub number: i64,
    /// Its slug
    pub slug: String,
    /// Title
    pub title: String,
}

/// An epic in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrewEpic {
    /// Its id
    pub id: EpicId,
    /// Title
    pub title: String,
}

/// Last activity of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrewActivity {
    /// Its last message or call; for an ended agent, its result
    pub text: String,
    /// Tool that it called; null for a message
    pub tool: Option<String>,
}

/// Question of an agent to a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrewQuestion {
    /// The mail that asks
    pub mail_id: MailId,
    /// Subject
    pub subject: String,
    /// Since when
    pub since: Timestamp,
}

/// The review that an agent waits for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrewReview {
    /// Number of the review, from 1
    pub iteration: u32,
    /// Maximum number of reviews
    pub max: u32,
    /// Reviewing agent
    pub reviewer_id: Option<AgentId>,
}

/// Budget and spending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrewBudget {
    /// Dollars that may be; null is no cap
    pub usd: Option<f64>,
    /// Dollars that have been, by it and all below it
    pub spent_usd: f64,
}

/// State of an agent during a part of its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneState {
    /// In a state
    In(AgentStateName),
    /// It runs, and its own call waits for others
    Awaiting,
}

/// Word for [`LaneState::Awaiting`].
const AWAITING: &str = "awaiting";

impl LaneState {
    /// Returns the word that stands for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::In(state) => state.stored(),
            Self::Awaiting => AWAITING,
        }
    }
}

impl Serialize for LaneState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for LaneState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        if word == AWAITING {
            return Ok(Self::Awaiting);
        }
        let state = AgentStateName::parse(&word).map(Self::In);
        state.ok_or_else(|| D::Error::custom(format!("unknown lane state `{word}`")))
    }
}

impl JsonSchema for LaneState {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "LaneState".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let states = AgentStateName::ALL.into_iter().map(AgentStateName::stored);
        let words: Vec<&str> = states.chain([AWAITING]).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}

/// A part of an agent's life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LaneSegment {
    /// State, or `awaiting` while a call of its own waits for others
    pub state: LaneState,
    /// From when
    pub from: Timestamp,
    /// End; null while it continues
    pub to: Option<Timestamp>,
}

/// A page of the crew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Crew {
    /// The agents: a level of the tree oldest first, ended ones newest first
    pub rows: Vec<CrewRow>,
    /// Number of agents left out because they ended more than ten minutes ago, if requested
    pub past: i64,
    /// Cursor of the next page, if there is one
    pub next_cursor: Option<i64>,
}

/// Some agents of the crew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CrewRows {
    /// Those that there are, in the order in which they were asked for
    pub rows: Vec<CrewRow>,
}

/// A role that an agent can be started in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoleSummary {
    /// Its name
    pub name: String,
    /// Its slug
    pub display_name: Option<String>,
    /// Purpose
    pub description: Option<String>,
    /// Its category
    pub category: String,
    /// The kind of agent that plays it
    pub kind: String,
    /// The model that plays it; null is the kind's own choice
    pub model: Option<String>,
}

/// All roles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Roles {
    /// By name
    pub roles: Vec<RoleSummary>,
}
