//! Slack: status, threads and failed messages. They contain no token.

use model::{AgentId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of retried messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SaidAgain")]
pub struct RetriedSlackMessages {
    /// Number of messages and reactions
    pub retried: u64,
}

/// Status of Slack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Slack")]
pub struct SlackStatus {
    /// True if it is enabled
    pub on: bool,
    /// Missing settings, if it is disabled
    pub missing: Vec<String>,
    /// Start of the connection; null if there is none
    pub connected_at: Option<Timestamp>,
    /// Problem with the connection
    pub problem: Option<String>,
    /// The workspace
    pub team: Option<String>,
    /// Our own user there
    pub user_id: Option<String>,
    /// When Slack last sent an event, since the server started
    pub last_event_at: Option<Timestamp>,
    /// Users who may give orders
    pub users: Vec<String>,
    /// Number of threads with activity in the last two weeks
    pub threads: i64,
    /// Number of messages waiting to be sent
    pub waiting: i64,
    /// Number of failed messages
    pub failed: i64,
    /// Latest failed messages, newest first
    pub failures: Vec<SlackFailureView>,
}

/// A message that Slack rejected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlackFailureView {
    /// The channel
    pub channel: String,
    /// Timestamp of the message that the thread begins with
    pub thread: String,
    /// Action: `post` or `reaction`
    pub kind: String,
    /// Beginning of the message, or the reaction
    pub text: String,
    /// Slack's error
    pub error: String,
    /// When it was created
    pub created_at: Timestamp,
}

/// A thread in Slack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlackThreadView {
    /// The channel
    pub channel: String,
    /// Timestamp of the message that it begins with
    pub thread: String,
    /// Slack user who started it
    pub user: String,
    /// Its role; null until it is chosen
    pub role: Option<String>,
    /// Its task
    pub task_slug: Option<String>,
    /// The agent that works on it, or did last
    pub agent_id: Option<AgentId>,
    /// Its state
    pub state: Option<String>,
    /// When something last happened in it
    pub changed_at: Timestamp,
}

/// A page of threads in Slack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlackThreads {
    /// The threads, newest first
    pub threads: Vec<SlackThreadView>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}
