//! Decisions about Slack that need no network: the meaning of a message, its addressee, and how an answer is split
//! and escaped so that it notifies nobody.

mod cut;
mod text;

use crate::AgentId;

pub use cut::parts;
pub use text::{mrkdwn, plain};

/// Longest message sent to Slack, in characters.
pub const MAX_MESSAGE_CHARS: usize = 3000;

/// A message received from Slack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingMessage {
    /// The channel or direct message
    pub channel: String,
    /// Slack's id of the message: its timestamp
    pub ts: String,
    /// Timestamp of the thread's first message, for a reply
    pub thread: Option<String>,
    /// Slack user id of the author; `None` for messages by Slack itself
    pub user: Option<String>,
    /// Text in Slack's markup
    pub text: String,
    /// Slack's subtype; `None` for a plain message
    pub subtype: Option<String>,
    /// Bot id, for a message posted by a program
    pub bot: Option<String>,
    /// True if it arrived as an `app_mention`
    pub mention: bool,
}

impl IncomingMessage {
    /// Timestamp of the thread that it belongs to or starts.
    pub fn root(&self) -> &str {
        self.thread.as_deref().unwrap_or(&self.ts)
    }

    /// True for a direct message.
    pub fn is_direct(&self) -> bool {
        self.channel.starts_with('D')
    }
}

/// Reaction to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageAction {
    /// Addressed to us, by a user we obey
    Obey,
    /// Not addressed to us
    Ignore,
    /// Addressed to us, by a user who is not in `slack.users`
    Stranger,
}

/// Ownership of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadOwner {
    /// Started by or for us
    Ours,
    /// Any other thread, or none
    Others,
}

/// Decides whether to act on a message in such a thread. `me` is our own user id.
pub fn decide_action(
    message: &IncomingMessage,
    me: &str,
    users: &[String],
    thread: ThreadOwner,
) -> MessageAction {
    // People also share files, and show in the channel what they say in a thread.
    let is_plain =
        matches!(message.subtype.as_deref(), None | Some("file_share" | "thread_broadcast"));
    let Some(user) = message.user.as_deref().filter(|user| *user != me) else {
        return MessageAction::Ignore;
    };
    if !is_plain || message.bot.is_some() {
        return MessageAction::Ignore;
    }
    let is_named = message.mention || message.text.contains(&format!("<@{me}>"));
    if !(is_named || message.is_direct() || thread == ThreadOwner::Ours) {
        return MessageAction::Ignore;
    }
    if users.iter().any(|known| known == user) {
        MessageAction::Obey
    } else {
        MessageAction::Stranger
    }
}

/// A command given as a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageCommand {
    /// Report the status
    Status,
    /// Kill the thread's agents, or the named one
    Kill(Option<AgentId>),
    /// List the commands
    Help,
}

/// Parses a message that consists of a command only.
pub fn parse_command(plain: &str) -> Option<MessageCommand> {
    let lower = plain.trim().to_lowercase();
    let mut words = lower.split_whitespace();
    let (first, second, third) = (words.next()?, words.next(), words.next());
    match (first, second, third) {
        ("status", None, None) => Some(MessageCommand::Status),
        ("help", None, None) => Some(MessageCommand::Help),
        ("kill", None, None) => Some(MessageCommand::Kill(None)),
        ("kill", Some(id), None) => id.parse().ok().map(|id| MessageCommand::Kill(Some(id))),
        _ => None,
    }
}

/// The role that a message is routed to, with its prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRoute {
    /// The role
    pub role: String,
    /// Working directory, if a routing rule sets one
    pub cwd: Option<String>,
    /// Prompt for the agent
    pub text: String,
}

/// The role that a message names itself with its first word, `reviewer:` or `@reviewer`, and the rest.
pub fn split_addressee<'a>(plain: &'a str, roles: &[&str]) -> Option<(String, &'a str)> {
    let plain = plain.trim();
    let end = plain.find(char::is_whitespace).unwrap_or(plain.len());
    let (first, rest) = plain.split_at_checked(end)?;
    let name = first.trim_start_matches('@').trim_end_matches([':', ',']);
    if name.len() == first.len() {
        return None;
    }
    find_role(name, roles).map(|role| (role, rest.trim()))
}

/// The role that a message is, and nothing else: what is answered to the question which one.
pub fn find_role(plain: &str, roles: &[&str]) -> Option<String> {
    let name = plain.trim().trim_start_matches('@').trim_end_matches([':', ',', '.']);
    let is_it = |role: &&&str| role.eq_ignore_ascii_case(name);
    roles.iter().find(is_it).map(|role| (*role).to_owned())
}

/// The role that a message goes to: the one it names, else a rule's, else the default. Nothing is: ask.
///
/// `rule` gives the role and the folder of the first rule that fits.
pub fn route(
    plain: &str,
    roles: &[&str],
    rule: impl FnOnce(&str) -> Option<(String, Option<String>)>,
    default: Option<&str>,
) -> Option<MessageRoute> {
    if let Some((role, rest)) = split_addressee(plain, roles).filter(|(_, rest)| !rest.is_empty()) {
        return Some(MessageRoute { role, cwd: None, text: rest.to_owned() });
    }
    let text = plain.trim().to_owned();
    if let Some((role, cwd)) = rule(&text) {
        return Some(MessageRoute { role, cwd, text });
    }
    default.map(|role| MessageRoute { role: role.to_owned(), cwd: None, text })
}

/// True for a Slack error code that is worth a retry.
pub fn is_transient(code: &str) -> bool {
    matches!(
        code,
        "internal_error"
            | "fatal_error"
            | "service_unavailable"
            | "request_timeout"
            | "ratelimited"
            | "rate_limited"
            | "team_added_to_org"
            | "message_limit_exceeded"
    )
}

/// After how many seconds something that failed so often is tried again.
pub fn retry_delay_seconds(attempts: u32) -> i64 {
    1_i64 << attempts.min(8)
}

#[cfg(test)]
mod tests;
