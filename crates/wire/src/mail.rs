//! Mail: mails and threads as people read them, and the answers of the mail tools.

use crate::paging::PageCursor;
use model::agent::{AgentStateName, AgentType};
use model::{AgentId, MailId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Mailbox to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LetterBox")]
pub enum MailFolder {
    /// Those for the human
    Me,
    /// Those for the human that wait for an answer
    Asks,
    /// Those for agents
    Agents,
    /// Those for the human about failures
    Alerts,
    /// Those from the human
    Sent,
}

/// Kind of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LetterKind")]
pub enum MailKind {
    /// It asks something
    Question,
    /// It asks leave to use a tool
    Permission,
    /// It reports a failure
    Alert,
    /// It only tells
    Letter,
}

impl MailKind {
    /// Returns true if it wants an answer.
    pub const fn asks(self) -> bool {
        matches!(self, Self::Question | Self::Permission)
    }
}

/// Sender or recipient of a mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PersonView {
    /// The agent; null is the human
    pub agent_id: Option<AgentId>,
    /// Its role
    pub role: Option<String>,
    /// The end of its id, by which people call it
    pub short: Option<String>,
    /// Current state
    pub state: Option<AgentStateName>,
    /// True for the human
    pub human: bool,
    /// True if Adjutant itself wrote the mail; the agent is then the one that it is about
    #[serde(default)]
    pub system: bool,
}

/// A mail in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LetterView")]
pub struct MailEntry {
    /// Its id
    pub id: MailId,
    /// The mail with which its thread began
    pub thread_id: MailId,
    /// Sender
    pub from: PersonView,
    /// Recipient
    pub to: PersonView,
    /// Subject
    pub subject: String,
    /// First words
    pub preview: String,
    /// When it was written
    pub created_at: Timestamp,
    /// When it was read
    pub read_at: Option<Timestamp>,
    /// Type
    pub kind: MailKind,
    /// True if an answer of the human is awaited
    pub needs_answer: bool,
    /// Number of replies
    pub replies: u64,
}

/// Some mails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Letters")]
pub struct MailList {
    /// The mails, newest first
    pub letters: Vec<MailEntry>,
    /// Where the next page begins, if there may be one
    pub next_cursor: Option<i64>,
}

/// An answer that a mail offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OfferView {
    /// Number by which it is chosen, from 1
    pub number: u32,
    /// Text
    pub text: String,
    /// Reply that chooses it
    pub reply: String,
}

/// A mail with its body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ThreadLetter")]
pub struct ThreadMail {
    /// Entry as in lists
    #[serde(flatten)]
    pub letter: MailEntry,
    /// Decoded body
    pub body: String,
    /// True if only its beginning is included, because the thread is very long
    pub cut: bool,
    /// The answers it offers
    pub options: Vec<OfferView>,
    /// Permission it requests
    pub request: Option<PermissionRequest>,
    /// Answer
    pub settled: Option<MailAnswer>,
}

/// Permission request of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    /// The tool it wants to use
    pub tool: String,
    /// Content
    pub input: String,
}

/// Answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LetterAnswer")]
pub struct MailAnswer {
    /// Author
    pub by: PersonView,
    /// With which mail
    pub mail_id: MailId,
    /// When
    pub at: Timestamp,
    /// True if the requested permission was given
    pub allowed: Option<bool>,
}

/// A task that waits for the agent that asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingTask {
    /// Its number
    pub task_number: i64,
    /// Title
    pub title: String,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// The mail with which it began
    pub thread_id: MailId,
    /// Subject
    pub subject: String,
    /// The mails, oldest first
    pub letters: Vec<ThreadMail>,
    /// Number of older mails left out
    pub left_out: usize,
    /// Agent that an answer goes to; null if there is none
    pub with: Option<PersonView>,
    /// Mail to reply to: only its recipient may reply
    pub reply_to: Option<MailId>,
    /// True if an answer wakes that agent at once
    pub wakes: bool,
    /// Tasks that depend on that agent's work
    pub waits_behind: Vec<WaitingTask>,
}

/// A mail, as the office shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MailView {
    /// Its id
    pub id: MailId,
    /// Author; null for the human
    pub from_agent_id: Option<AgentId>,
    /// Type of the sender
    pub from_agent_type: AgentType,
    /// Subject
    pub subject: String,
    /// Decoded body
    pub body: String,
    /// True if it has been read
    pub is_read: bool,
    /// When it was written
    pub created_at: Timestamp,
    /// When it was read
    pub read_at: Option<Timestamp>,
}

/// That a mail is on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SentMail {
    /// The mail
    pub mail_id: MailId,
    /// When it was written
    pub timestamp: Timestamp,
    /// Agent that received it; null is the human
    #[serde(default)]
    pub to_agent_id: Option<AgentId>,
    /// Where it went, if the agent that it was for has ended
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// An inbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxAnswer {
    /// Number of mails in this answer
    pub count: usize,
    /// Number of unread mails in the inbox
    pub unread_count: i64,
    /// The mails
    pub mails: Vec<MailView>,
    /// Cursor after the last of them, on the last page after all mail: with it and `waitSeconds` a call waits for mail
    /// that comes later
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_cursor: Option<PageCursor>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}
