//! Slack, as far as it can be decided without Slack: what a message means, whom it is for, and how an answer is cut
//! and written so that it pings nobody.

mod cut;
mod text;

use crate::AgentId;

pub use cut::parts;
pub use text::{mrkdwn, plain};

/// So many characters a message out has at most.
pub const LONGEST: usize = 3000;

/// A message as Slack tells of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The channel or direct message
    pub channel: String,
    /// Slack's name of the message, which is its time
    pub ts: String,
    /// The thread it is in, where it is not the first
    pub thread: Option<String>,
    /// Who says it; nobody is Slack itself
    pub user: Option<String>,
    /// What it says, in Slack's own writing
    pub text: String,
    /// What sort of message, where it is not somebody's plain word
    pub subtype: Option<String>,
    /// The program that says it
    pub bot: Option<String>,
    /// Whether Slack tells of it because we were named
    pub mention: bool,
}

impl Said {
    /// The thread that it belongs to, or begins.
    pub fn root(&self) -> &str {
        self.thread.as_deref().unwrap_or(&self.ts)
    }

    /// Whether it stands in a direct message.
    pub fn is_direct(&self) -> bool {
        self.channel.starts_with('D')
    }
}

/// What is to be done about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heed {
    /// It is for us
    Obey,
    /// It is none of our business
    Ignore,
    /// It is for us, but from nobody whom we obey
    Stranger,
}

/// Whose a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thread {
    /// One of ours
    Ours,
    /// Somebody else's, or none
    Others,
}

/// Decides whether a message in such a thread is for us. `me` is our own user.
pub fn heed(said: &Said, me: &str, users: &[String], thread: Thread) -> Heed {
    // People also share files, and show in the channel what they say in a thread.
    let is_plain =
        matches!(said.subtype.as_deref(), None | Some("file_share" | "thread_broadcast"));
    let Some(user) = said.user.as_deref().filter(|user| *user != me) else { return Heed::Ignore };
    if !is_plain || said.bot.is_some() {
        return Heed::Ignore;
    }
    let named = said.mention || said.text.contains(&format!("<@{me}>"));
    if !(named || said.is_direct() || thread == Thread::Ours) {
        return Heed::Ignore;
    }
    if users.iter().any(|known| known == user) { Heed::Obey } else { Heed::Stranger }
}

/// A word that is a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// How it goes
    Status,
    /// End the thread's agents, or this one
    Kill(Option<AgentId>),
    /// What can be said
    Help,
}

/// The command that a message is, if it is nothing else.
pub fn word(plain: &str) -> Option<Word> {
    let lower = plain.trim().to_lowercase();
    let mut words = lower.split_whitespace();
    let (first, second, third) = (words.next()?, words.next(), words.next());
    match (first, second, third) {
        ("status", None, None) => Some(Word::Status),
        ("help", None, None) => Some(Word::Help),
        ("kill", None, None) => Some(Word::Kill(None)),
        ("kill", Some(id), None) => id.parse().ok().map(|id| Word::Kill(Some(id))),
        _ => None,
    }
}

/// A role, and what it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The role
    pub role: String,
    /// Where it works, if a rule says so
    pub cwd: Option<String>,
    /// What it is told
    pub text: String,
}

/// The role that a message names itself with its first word, `reviewer:` or `@reviewer`, and the rest.
pub fn addressed<'a>(plain: &'a str, roles: &[&str]) -> Option<(String, &'a str)> {
    let plain = plain.trim();
    let end = plain.find(char::is_whitespace).unwrap_or(plain.len());
    let (first, rest) = plain.split_at_checked(end)?;
    let name = first.trim_start_matches('@').trim_end_matches([':', ',']);
    if name.len() == first.len() {
        return None;
    }
    named(name, roles).map(|role| (role, rest.trim()))
}

/// The role that a message is, and nothing else: what is answered to the question which one.
pub fn named(plain: &str, roles: &[&str]) -> Option<String> {
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
) -> Option<Route> {
    if let Some((role, rest)) = addressed(plain, roles).filter(|(_, rest)| !rest.is_empty()) {
        return Some(Route { role, cwd: None, text: rest.to_owned() });
    }
    let text = plain.trim().to_owned();
    if let Some((role, cwd)) = rule(&text) {
        return Some(Route { role, cwd, text });
    }
    default.map(|role| Route { role: role.to_owned(), cwd: None, text })
}

/// Whether an error of Slack's passes by itself.
pub fn passes(code: &str) -> bool {
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
pub fn pause(attempts: u32) -> i64 {
    1_i64 << attempts.min(8)
}

#[cfg(test)]
mod tests;
