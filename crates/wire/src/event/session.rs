//! Events of working together: mail, decisions, notes, sessions, reservations of files.

use model::{AgentId, LogId, MailId, NoteType, ReservationId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Payload of `mail.sent`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MailSent {
    /// The mail
    pub mail_id: MailId,
    /// Agent that receives it; null if it is for the human
    pub to_agent_id: Option<AgentId>,
    /// True if it is for the human
    pub is_for_human: bool,
    /// Its subject
    pub subject: String,
    /// Agent that ended without reading it, if it was forwarded
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forwarded_from_agent_id: Option<AgentId>,
}

/// Payload of `mail.read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MailRead {
    /// The mail
    pub mail_id: MailId,
}

/// Payload of `decision.logged`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecisionLogged {
    /// Entry of the audit log that holds the whole decision
    pub log_id: LogId,
    /// Its title
    pub title: String,
}

/// Payload of `note.added`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoteAdded {
    /// The note, as `NOT-7`
    pub note_id: String,
    /// Type of the note
    #[serde(rename = "type")]
    pub kind: NoteType,
    /// Session that it belongs to
    pub session: String,
    /// Iteration in which it was written
    pub iteration: u32,
}

/// Payload of `iteration.summarised`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IterationSummarised {
    /// The session
    pub session: String,
    /// Number of the iteration
    pub iteration: u32,
}

/// Payload of `session.completed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCompleted {
    /// The session
    pub session: String,
    /// Iteration in which it was completed
    pub iteration: u32,
}

/// Payload of `files.reserved`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FilesReserved {
    /// Reservations, one per pattern
    pub reservations: Vec<ReservedPattern>,
    /// Time at which they expire
    pub expires_at: Timestamp,
    /// Reason that the agent gave
    pub reason: Option<String>,
}

/// A reservation that was made or renewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReservedPattern {
    /// The reservation
    pub id: ReservationId,
    /// Paths that it covers
    pub pattern: String,
}

/// Payload of `files.released`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FilesReleased {
    /// Reservations that were released
    pub reservations: Vec<ReleasedReservation>,
}

/// A reservation that was released.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReleasedReservation {
    /// The reservation
    pub id: ReservationId,
    /// Paths that it covered
    pub pattern: String,
    /// Agent that held it
    pub agent_id: AgentId,
}
