//! Lines sent to Claude Code, and the unanswered ones.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::{Brief, Step};

/// The lines sent in one run. Their ids are numbered, so that the same line has the same id if it
/// has to be sent again after a crash; and they differ from run to run, because a conversation that
/// is resumed remembers the old ones.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Lines {
    /// Prefix of the ids
    prefix: String,
    /// The number of the next line
    next: u64,
    /// Lines that no turn has answered yet
    open: Vec<u64>,
}

impl Lines {
    pub(super) fn new(brief: &Brief) -> Self {
        let run = format!("{} {}", brief.agent, brief.run_folder.display());
        let bits = fnv(run.as_bytes());
        // The form of a random UUID, which Claude Code asks for; its end is the number.
        let part = |shift: u32, mask: u128| bits >> shift & mask;
        let (a, b) = (part(96, 0xffff_ffff), part(64, 0xffff));
        let (c, d) = (part(32, 0xfff), part(0, 0xfff));
        let prefix = format!("{a:08x}-{b:04x}-4{c:03x}-8{d:03x}-");
        Self { prefix, next: 1, open: Vec::new() }
    }

    /// A user's line.
    pub(super) fn say(&mut self, text: &str) -> Step {
        // Only what begins with a slash is taken for one of its own commands.
        let text = if text.starts_with('/') { format!(" {text}") } else { text.to_owned() };
        let number = self.next;
        self.next += 1;
        self.open.push(number);
        let line = json!({
            "type": "user",
            "message": { "role": "user", "content": [{ "type": "text", "text": text }] },
            "uuid": format!("{}{number:012x}", self.prefix),
        });
        Step::Say(line.to_string())
    }

    /// A line that was said; whether it is one of ours. One that we know nothing of was said just
    /// before a crash.
    pub(super) fn heard(&mut self, id: &str) -> bool {
        let Some(number) = self.number(id) else { return false };
        if number >= self.next {
            self.next = number + 1;
            self.open.push(number);
        }
        true
    }

    /// A line is dealt with.
    pub(super) fn settle(&mut self, id: &str) {
        if let Some(number) = self.number(id) {
            self.next = self.next.max(number + 1);
            self.open.retain(|open| *open != number);
        }
    }

    /// Settles what a `result` says that its turn answered. Old versions do not say: there the end
    /// of a turn that nothing waits behind answers everything.
    pub(super) fn settle_turn(&mut self, result: &Value) {
        let ids = result["user_message_uuids"].as_array();
        let ids: Vec<&str> = match ids {
            Some(ids) => ids.iter().filter_map(Value::as_str).collect(),
            None => result["user_message_uuid"].as_str().into_iter().collect(),
        };
        // A turn with an origin was started by a task in the background.
        let waiting = result["queued_turn_count"].as_u64().unwrap_or_default();
        if ids.is_empty() && result["origin"].is_null() && waiting == 0 {
            self.open.clear();
        }
        for id in ids {
            self.settle(id);
        }
    }

    pub(super) fn all_answered(&self) -> bool {
        self.open.is_empty()
    }

    fn number(&self, id: &str) -> Option<u64> {
        let number = id.strip_prefix(&self.prefix).filter(|number| number.len() == 12)?;
        u64::from_str_radix(number, 16).ok()
    }
}

/// FNV-1a with 128 bits: the same on every machine and in every version.
fn fnv(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |hash: u128, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    })
}

/// The answer to a request: it may, with what it asked for.
pub(super) fn allow(request: &str, input: &Value) -> Step {
    answer(request, &json!({ "behavior": "allow", "updatedInput": input }))
}

/// The answer to a request: it may not. The model reads the message.
pub(super) fn deny(request: &str, message: &str) -> Step {
    answer(request, &json!({ "behavior": "deny", "message": message }))
}

fn answer(request: &str, answer: &Value) -> Step {
    let line = json!({
        "type": "control_response",
        "response": { "subtype": "success", "request_id": request, "response": answer },
    });
    Step::Say(line.to_string())
}

/// The answer to a request that is not understood.
pub(super) fn refuse(request: &str, error: &str) -> Step {
    let line = json!({
        "type": "control_response",
        "response": { "subtype": "error", "request_id": request, "error": error },
    });
    Step::Say(line.to_string())
}

/// The request that it stops its turn.
pub(super) fn interrupt() -> Step {
    let line = json!({
        "type": "control_request",
        "request_id": "interrupt",
        "request": { "subtype": "interrupt" },
    });
    Step::Say(line.to_string())
}
