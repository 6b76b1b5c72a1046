//! Messages in, effects out.

use model::{AgentId, MailId, Timestamp};
use ratatui::crossterm::event::KeyEvent;
use wire::agent_details::AgentDetails;
use wire::agents::AgentStream;
use wire::costs::{CostSeries, CostSummary, LineageAgent};
use wire::crew::{Crew, CrewRow};
use wire::event::EventView;
use wire::mail::{MailList, Thread};
use wire::overview::Overview;

use super::super::describe::lineage_size;
use super::stream::StreamPlace;
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
    Events(Vec<EventView>),
    /// It is time to read again what changed
    Renew,
    Overview(Box<Overview>),
    Crew(CrewPageQuery, Crew),
    Rows(Vec<CrewRow>),
    Agent(Box<AgentDetails>),
    /// More of an agent's stream: what came later
    Part(AgentId, Box<AgentStream>),
    /// Earlier part
    Earlier(AgentId, Box<AgentStream>),
    /// Nothing more comes of it, for now; or why it cannot be read
    StreamOver(AgentId, Option<String>),
    MailList(MailListQuery, MailList),
    Thread(Box<Thread>),
    Costs(Box<CostsData>),
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
    Crew(CrewPageQuery),
    Rows(Vec<AgentId>),
    Agent(AgentId),
    /// Follow an agent's stream: from a place on, else from near its end
    Follow(AgentId, Option<StreamPlace>),
    Earlier(AgentId, StreamPlace),
    MailList(MailListQuery),
    Thread(MailId),
    /// Mails that were read
    MarkRead(Vec<MailId>),
    Costs(u16, &'static str),
    Post(Post),
    Kill(AgentId),
    /// Send `Renew` in a moment
    Soon,
    Suspend,
    Quit,
}

/// Query for agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CrewPageQuery {
    pub(crate) of: CrewSelection,
    pub(crate) after: i64,
}

/// A level, those of it that ended long ago, or a flat list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CrewSelection {
    Level(Parent),
    Past(Parent),
    Flat { text: String, standing: &'static str },
}

/// Query for mails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MailListQuery {
    pub(crate) of: &'static str,
    pub(crate) text: String,
    pub(crate) after: Option<i64>,
}

/// A mail to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Post {
    /// An answer to one
    Reply { mail: MailId, body: String },
    /// A new one
    Mail { to: AgentId, body: String },
}

/// Destination of a mail, by which its draft is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Destination {
    /// The mail that it replies to
    Reply(MailId),
    /// The agent that it is for
    Agent(AgentId),
}

impl Post {
    pub(super) const fn destination(&self) -> Destination {
        match self {
            Self::Reply { mail, .. } => Destination::Reply(*mail),
            Self::Mail { to, .. } => Destination::Agent(*to),
        }
    }
}

/// Answers that the costs' view shows.
#[derive(Debug, Clone)]
pub(crate) struct CostsData {
    pub(crate) summary: CostSummary,
    pub(crate) series: CostSeries,
    pub(crate) lineage: Option<LineageAgent>,
}

impl CostsData {
    /// Maximum height of the tables.
    pub(crate) fn height(&self) -> usize {
        self.series.keys.len() + self.lineage.as_ref().map_or(0, lineage_size)
    }
}
