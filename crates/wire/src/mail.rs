//! Mail: letters and threads as people read them, and the answers of the mail tools.

use crate::paging::PageCursor;
use model::agent::{AgentStateName, AgentType};
use model::{AgentId, MailId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which letters are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LetterBox {
    /// Those for the human
    Me,
    /// Those for the human that wait for an answer
    Asks,
    /// Those for agents
    Agents,
    /// Those for the human about trouble
    Alerts,
    /// Those from the human
    Sent,
}

/// What a letter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum LetterKind {
    /// It asks something
    Question,
    /// It asks leave to use a tool
    Permission,
    /// It tells of trouble
    Alert,
    /// It only tells
    Letter,
}

impl LetterKind {
    /// Returns true if it wants an answer.
    pub const fn asks(self) -> bool {
        matches!(self, Self::Question | Self::Permission)
    }
}

/// Who wrote a letter, or gets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct PersonView {
    /// The agent; null is the human
    pub agent_id: Option<AgentId>,
    /// Its role
    pub role: Option<String>,
    /// The end of its id, by which people call it
    pub short: Option<String>,
    /// How it stands now
    pub state: Option<AgentStateName>,
    /// Whether it is the human
    pub human: bool,
}

/// A letter in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct LetterView {
    /// Its id
    pub id: MailId,
    /// The letter with which its thread began
    pub thread_id: MailId,
    /// Who wrote
    pub from: PersonView,
    /// To whom
    pub to: PersonView,
    /// What it is about
    pub subject: String,
    /// How it begins
    pub preview: String,
    /// When it was written
    pub created_at: Timestamp,
    /// When it was read
    pub read_at: Option<Timestamp>,
    /// What it is
    pub kind: LetterKind,
    /// Whether somebody waits for the human's answer
    pub needs_answer: bool,
    /// How many letters answer it
    pub replies: u64,
}

/// Some letters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Letters {
    /// The letters, newest first
    pub letters: Vec<LetterView>,
    /// Where the next page begins, if there may be one
    pub next_cursor: Option<i64>,
}

/// An answer that a letter offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct OfferView {
    /// By which it is taken, from 1
    pub number: u32,
    /// What it says
    pub text: String,
    /// What to reply to take it
    pub reply: String,
}

/// A letter with all it says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct ThreadLetter {
    /// What a list says of it
    #[serde(flatten)]
    pub letter: LetterView,
    /// What it says
    pub body: String,
    /// Whether this is only its beginning, because the thread is very long
    pub cut: bool,
    /// The answers it offers
    pub options: Vec<OfferView>,
    /// What it asks leave for
    pub request: Option<PermissionRequest>,
    /// How it was answered
    pub settled: Option<LetterAnswer>,
}

/// What an agent asks leave for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct PermissionRequest {
    /// The tool it wants to use
    pub tool: String,
    /// With what
    pub input: String,
}

/// How a question was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct LetterAnswer {
    /// By whom
    pub by: PersonView,
    /// With which letter
    pub mail_id: MailId,
    /// When
    pub at: Timestamp,
    /// Whether it was allowed, where it asked leave
    pub allowed: Option<bool>,
}

/// A task that waits for the one who asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct WaitingTask {
    /// Its number
    pub task_number: i64,
    /// What is to be done
    pub title: String,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// The letter with which it began
    pub thread_id: MailId,
    /// What it is about
    pub subject: String,
    /// The letters, oldest first
    pub letters: Vec<ThreadLetter>,
    /// How many older letters are left out
    pub left_out: usize,
    /// The agent that an answer goes to; null where there is nobody to answer
    pub with: Option<PersonView>,
    /// The letter that an answer replies to: only who received one may reply
    pub reply_to: Option<MailId>,
    /// Whether an answer reaches that agent at once, and not only when it looks
    pub wakes: bool,
    /// The tasks that wait for what that agent does
    pub waits_behind: Vec<WaitingTask>,
}

/// A letter, as the office shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MailView {
    /// Its id
    pub id: MailId,
    /// Who wrote it; null is the human
    pub from_agent_id: Option<AgentId>,
    /// What the writer is
    pub from_agent_type: AgentType,
    /// What it is about
    pub subject: String,
    /// What it says
    pub body: String,
    /// Whether it has been read
    pub is_read: bool,
    /// When it was written
    pub created_at: Timestamp,
    /// When it was read
    pub read_at: Option<Timestamp>,
}

/// That a letter is on its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SentMail {
    /// The letter
    pub mail_id: MailId,
    /// When it was written
    pub timestamp: Timestamp,
}

/// An inbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InboxAnswer {
    /// How many letters are in this answer
    pub count: usize,
    /// How many letters of the inbox are not read yet
    pub unread_count: i64,
    /// The letters
    pub mails: Vec<MailView>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PageCursor>,
}
