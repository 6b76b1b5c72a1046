//! What this Slack remembers.

use std::collections::{BTreeMap, HashMap, VecDeque};

use host::clock::Clock;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::BOT;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The channel
    pub channel: String,
    /// Slack's name of it
    pub ts: String,
    /// The thread, where it is not the first
    pub thread: Option<String>,
    /// Who said it
    pub user: String,
    /// What
    pub text: String,
    /// In whose name the bot said it
    pub username: Option<String>,
    /// What the bot put beside it
    pub metadata: Value,
}

/// How a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Refused with this word
    Refuse(&'static str),
    /// Refused for so many seconds
    RateLimit(u32),
    /// Done, and the connection breaks before the answer
    TakeAndBreak,
    /// Done, and never answered
    TakeAndHang,
    /// Not done, and the connection breaks
    Break,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlackCall {
    /// The method
    pub method: String,
    /// What was sent with it
    pub input: Value,
}

/// What goes over a socket.
#[derive(Debug)]
pub(super) enum SocketCommand {
    /// There is something to tell
    Look,
    /// A new connection is asked for, or this one just breaks
    Leave(Option<String>),
}

#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) id: String,
    pub(super) payload: Value,
    pub(super) acknowledged: bool,
    pub(super) sent: u32,
    /// The connection over which it was sent last
    pub(super) over: usize,
}

#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) messages: Vec<Message>,
    pub(super) reactions: BTreeMap<String, Vec<String>>,
    pub(super) marked: Vec<(String, String)>,
    pub(super) envelopes: Vec<Envelope>,
    pub(super) asked: Vec<SlackCall>,
    pub(super) sockets: HashMap<usize, UnboundedSender<SocketCommand>>,
    pub(super) opened: usize,
    pub(super) drop_after_sending: bool,
    pub(super) drop_after_hearing: bool,
    faults: HashMap<String, VecDeque<Fault>>,
    refused: HashMap<String, &'static str>,
    last: i64,
}

impl Record {
    /// The next time, as Slack writes it; no two are the same.
    fn stamp(&mut self) -> String {
        let now = Clock::System.now().as_millis() * 1000;
        self.last = now.max(self.last + 1);
        format!("{}.{:06}", self.last / 1_000_000, self.last % 1_000_000)
    }

    pub(super) fn say(
        &mut self,
        channel: &str,
        thread: Option<&str>,
        user: &str,
        text: &str,
    ) -> String {
        let ts = self.stamp();
        self.messages.push(Message {
            channel: channel.to_owned(),
            ts: ts.clone(),
            thread: thread.map(str::to_owned),
            user: user.to_owned(),
            text: text.to_owned(),
            username: None,
            metadata: Value::Null,
        });
        ts
    }

    /// Puts events of a message into envelopes: a mention is two.
    pub(super) fn tell(&mut self, channel: &str, ts: &str) {
        let found = self.messages.iter().find(|one| one.channel == channel && one.ts == ts);
        let Some(message) = found.cloned() else { return };
        let mut event = shown(&message);
        event["type"] = "message".into();
        event["channel"] = channel.into();
        let direct = channel.starts_with('D');
        event["channel_type"] = if direct { "im" } else { "channel" }.into();
        let mut events = vec![event.clone()];
        if !direct && message.text.contains(&format!("<@{BOT}>")) {
            event["type"] = "app_mention".into();
            events.push(event);
        }
        for event in events {
            self.envelope(&event);
        }
    }

    pub(super) fn tell_odd(&mut self, channel: &str, subtype: &str, text: &str) {
        let ts = self.stamp();
        let event = json!({
            "type": "message", "subtype": subtype, "channel": channel, "channel_type": "im",
            "ts": ts, "user": "U1", "text": text, "hidden": true,
            "message": { "type": "message", "user": "U1", "text": text, "ts": ts },
        });
        self.envelope(&event);
    }

    fn envelope(&mut self, event: &Value) {
        let number = self.envelopes.len();
        let payload = json!({
            "type": "event_callback", "team_id": "T1", "api_app_id": "A1", "event": event,
            "event_id": format!("Ev{number}"), "event_time": self.last / 1_000_000,
            "authorizations": [{ "team_id": "T1", "user_id": BOT, "is_bot": true }],
        });
        let id = format!("envelope-{number}");
        self.envelopes.push(Envelope { id, payload, acknowledged: false, sent: 0, over: 0 });
        for socket in self.sockets.values() {
            // Anyone who is gone hears it over the next one.
            drop(socket.send(SocketCommand::Look));
        }
    }

    pub(super) fn disconnect(&mut self, reason: Option<&str>) {
        for (_, socket) in self.sockets.drain() {
            drop(socket.send(SocketCommand::Leave(reason.map(str::to_owned))));
        }
    }

    pub(super) fn fail(&mut self, method: &str, fault: Fault) {
        self.faults.entry(method.to_owned()).or_default().push_back(fault);
    }

    pub(super) fn refuse(&mut self, method: &str, code: Option<&'static str>) {
        match code {
            Some(code) => self.refused.insert(method.to_owned(), code),
            None => self.refused.remove(method),
        };
    }

    pub(super) fn fault(&mut self, method: &str) -> Option<Fault> {
        let next = self.faults.get_mut(method).and_then(VecDeque::pop_front);
        next.or_else(|| self.refused.get(method).map(|code| Fault::Refuse(code)))
    }

    /// Does what a method does.
    pub(super) fn perform(&mut self, method: &str, input: &Value) -> Result<Value, &'static str> {
        match method {
            "auth.test" => Ok(json!({
                "url": "https://crew.example/", "team": "Crew", "user": "adjutant",
                "team_id": "T1", "user_id": BOT, "bot_id": "B1",
            })),
            "chat.postMessage" => self.post(input),
            "reactions.add" | "reactions.remove" => self.react(method, input),
            "conversations.history" | "conversations.replies" => self.list(method, input),
            _ => Err("unknown_method"),
        }
    }

    fn post(&mut self, input: &Value) -> Result<Value, &'static str> {
        let text = |key: &str| input[key].as_str().map(str::to_owned);
        let (channel, thread) = (text("channel").ok_or("channel_not_found")?, text("thread_ts"));
        let said = text("text").filter(|text| !text.is_empty()).ok_or("no_text")?;
        if said.chars().count() > 4000 {
            return Err("msg_too_long");
        }
        if !self.messages.iter().any(|one| one.channel == channel) {
            return Err("channel_not_found");
        }
        let ts = self.say(&channel, thread.as_deref(), BOT, &said);
        if let Some(message) = self.messages.last_mut() {
            message.username = text("username");
            message.metadata = input["metadata"].clone();
        }
        // Slack tells the bot of its own messages too.
        self.tell(&channel, &ts);
        let message = self.messages.last().map(shown);
        Ok(json!({ "channel": channel, "ts": ts, "message": message }))
    }

    fn react(&mut self, method: &str, input: &Value) -> Result<Value, &'static str> {
        let text = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
        let (channel, ts, name) = (text("channel"), text("timestamp"), text("name"));
        if !self.messages.iter().any(|one| one.channel == channel && one.ts == ts) {
            return Err("message_not_found");
        }
        if name.is_empty() || name.contains(':') {
            return Err("invalid_name");
        }
        let names = self.reactions.entry(ts.clone()).or_default();
        let has = names.contains(&name);
        match method {
            "reactions.add" if has => Err("already_reacted"),
            "reactions.add" => {
                names.push(name.clone());
                self.marked.push((ts, name));
                Ok(json!({}))
            }
            _ if has => {
                names.retain(|one| *one != name);
                Ok(json!({}))
            }
            _ => Err("no_reaction"),
        }
    }

    fn list(&self, method: &str, input: &Value) -> Result<Value, &'static str> {
        let text = |key: &str| input[key].as_str().unwrap_or_default();
        let (channel, thread, oldest) = (text("channel"), text("ts"), text("oldest"));
        let replies = method == "conversations.replies";
        let all = self.messages.iter().filter(|one| one.channel == channel);
        let mut all: Vec<&Message> = all
            .filter(|one| {
                let fits = if replies {
                    one.ts == thread || one.thread.as_deref() == Some(thread)
                } else {
                    one.thread.is_none()
                };
                // The first message of a thread is in every answer, as Slack has it.
                fits && (one.ts.as_str() > oldest || (replies && one.ts == thread))
            })
            .collect();
        if replies && !self.messages.iter().any(|one| one.channel == channel && one.ts == thread) {
            return Err("thread_not_found");
        }
        if !replies {
            all.reverse();
        }
        let limit: usize = text("limit").parse().map_err(|_| "invalid_limit")?;
        let from: usize = text("cursor").parse().unwrap_or(0);
        let with = text("include_all_metadata") == "true";
        let page = all.iter().skip(from).take(limit).map(|message| {
            let mut shown = shown(message);
            if !with && let Some(fields) = shown.as_object_mut() {
                fields.remove("metadata");
            }
            shown
        });
        let messages: Vec<Value> = page.collect();
        let more = from + messages.len() < all.len();
        let next = if more { (from + messages.len()).to_string() } else { String::new() };
        Ok(json!({
            "messages": messages, "has_more": more, "response_metadata": { "next_cursor": next },
        }))
    }
}

/// A message as Slack shows it.
fn shown(message: &Message) -> Value {
    let mut shown = json!({
        "type": "message", "ts": message.ts, "user": message.user, "text": message.text, "team": "T1",
    });
    if let Some(thread) = &message.thread {
        shown["thread_ts"] = thread.as_str().into();
    }
    if message.user == BOT {
        shown["bot_id"] = "B1".into();
        shown["metadata"] = message.metadata.clone();
    }
    shown
}
