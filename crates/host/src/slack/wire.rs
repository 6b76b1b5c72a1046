//! The part of Slack's JSON that is read here. Other fields are ignored.

use model::slack::IncomingMessage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The fields by which every answer says whether the call succeeded.
#[derive(Debug, Deserialize)]
pub(super) struct Outcome {
    pub(super) ok: bool,
    /// The code of a refusal
    #[serde(default)]
    pub(super) error: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct SlackIdentity {
    pub(super) user_id: String,
    pub(super) team: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Opened {
    pub(super) url: String,
}

#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "they are Slack's")]
pub(super) struct NewMessage<'a> {
    pub(super) channel: &'a str,
    pub(super) thread_ts: &'a str,
    pub(super) text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) username: Option<&'a str>,
    pub(super) mrkdwn: bool,
    pub(super) link_names: bool,
    pub(super) unfurl_links: bool,
    pub(super) unfurl_media: bool,
    pub(super) metadata: Value,
}

#[derive(Debug, Deserialize)]
pub(super) struct Posted {
    pub(super) ts: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Page {
    pub(super) messages: Vec<Message>,
    pub(super) response_metadata: Option<PageCursor>,
}

#[derive(Debug, Deserialize)]
pub(super) struct PageCursor {
    pub(super) next_cursor: Option<String>,
}

/// A message, in a list or in an event.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) channel: Option<String>,
    #[serde(default)]
    pub(super) ts: String,
    pub(super) thread_ts: Option<String>,
    pub(super) user: Option<String>,
    #[serde(default)]
    pub(super) text: Option<String>,
    pub(super) subtype: Option<String>,
    pub(super) bot_id: Option<String>,
    pub(super) metadata: Option<Value>,
}

impl Message {
    pub(super) fn into_incoming(self, channel: &str) -> IncomingMessage {
        IncomingMessage {
            channel: self.channel.unwrap_or_else(|| channel.to_owned()),
            thread: self.thread_ts.filter(|thread| *thread != self.ts),
            ts: self.ts,
            user: self.user,
            text: self.text.unwrap_or_default(),
            subtype: self.subtype,
            bot: self.bot_id,
            mention: self.kind == "app_mention",
        }
    }

    /// Key of one of our own messages.
    pub(super) fn key(&self, mark: &str) -> Option<&str> {
        let metadata = self.metadata.as_ref()?;
        let ours = metadata["event_type"] == mark;
        metadata["event_payload"]["key"].as_str().filter(|_| ours)
    }
}

/// Envelope received over a socket.
#[derive(Debug, Deserialize)]
pub(super) struct Envelope {
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    #[serde(rename = "envelope_id")]
    pub(super) id: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) payload: Option<Value>,
}
