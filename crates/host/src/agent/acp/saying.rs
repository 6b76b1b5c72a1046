//! Joins an agent's message chunks into whole messages.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::{Event, Step};

/// The message that it says just now, and the last whole one.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct MessageInProgress {
    id: Option<String>,
    pieces: String,
    last: String,
}

impl MessageInProgress {
    /// A piece of a message; another message may be complete before it.
    pub(super) fn piece(&mut self, update: &Value) -> Option<Step> {
        let id = update["messageId"].as_str();
        let before = if self.id.as_deref() == id { None } else { self.over() };
        self.id = id.map(str::to_owned);
        self.pieces.push_str(update["content"]["text"].as_str().unwrap_or_default());
        before
    }

    /// The message is whole.
    pub(super) fn over(&mut self) -> Option<Step> {
        self.id = None;
        let text = std::mem::take(&mut self.pieces).trim().to_owned();
        if text.is_empty() {
            return None;
        }
        self.last.clone_from(&text);
        Some(Step::Saw(Event::Text(text)))
    }

    /// The last whole message.
    pub(super) fn last(&self) -> &str {
        &self.last
    }
}
