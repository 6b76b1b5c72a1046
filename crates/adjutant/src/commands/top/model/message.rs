//! Messages in, effects out.

use model::Timestamp;
use ratatui::crossterm::event::KeyEvent;

use super::super::shapes::{
    Costs, Crew, Event, Letters, Overview, Part, Place, Row, Thread, Whole,
};
use super::tree::Parent;

/// An incoming message.
#[derive(Debug, Clone)]
pub(crate) enum Message {
    Key(KeyEvent),
    Paste(String),
    Resize(u16, u16),
    Tick(Timestamp),
    /// The server is gone, for whatever reason
    Away,
    /// It is there, and its events are followed
    Live,
    Events(Vec<Event>),
    /// It is time to read again what changed
    Renew,
    Overview(Box<Overview>),
    Crew(CrewAsk, Crew),
    Rows(Vec<Row>),
    Whole(Box<Whole>),
    /// More of an agent's stream: what came later
    Part(String, Box<Part>),
    /// Earlier part
    Earlier(String, Box<Part>),
    /// Nothing more comes of it, for now; or why it cannot be read
    StreamOver(String, Option<String>),
    Letters(LettersAsk, Letters),
    Thread(Box<Thread>),
    Costs(Box<Costs>),
    /// Something could not be read
    Failed(String),
    /// Outcome of sending a mail
    Posted(Result<String, String>),
    /// Outcome of a kill
    Killed(Result<String, String>),
}

/// An effect to perform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    Overview,
    Crew(CrewAsk),
    Rows(Vec<String>),
    Whole(String),
    /// Follow an agent's stream: from a place on, else from near its end
    Follow(String, Option<(u32, Place)>),
    Earlier(String, u32, Place),
    Letters(LettersAsk),
    Thread(String),
    /// Letters that were read
    MarkRead(Vec<String>),
    Costs(u16, &'static str),
    Post(Post),
    Kill(String),
    /// Send `Renew` in a moment
    Soon,
    Suspend,
    Quit,
}

/// Query for agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CrewAsk {
    pub(crate) of: CrewOf,
    pub(crate) after: i64,
}

/// A level, those of it that ended long ago, or a flat list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CrewOf {
    Level(Parent),
    Past(Parent),
    Flat { text: String, standing: &'static str },
}

/// Query for mails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LettersAsk {
    pub(crate) of: &'static str,
    pub(crate) text: String,
    pub(crate) after: Option<i64>,
}

/// A letter to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Post {
    /// An answer to one
    Reply { mail: String, body: String },
    /// A new one
    Mail { to: String, body: String },
}

impl Post {
    /// Key of the effect.
    pub(super) fn key(&self) -> &str {
        match self {
            Self::Reply { mail, .. } => mail,
            Self::Mail { to, .. } => to,
        }
    }
}
