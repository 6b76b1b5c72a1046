//! State of the screen: views, selection, input. A message
//! goes in; the next state, and what is to be done outside, come out. It knows no clock and no server.

pub(crate) mod editor;
mod heard;
mod message;
mod pressed;
pub(crate) mod stream;
pub(crate) mod tree;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeSet, HashMap};

use model::{AgentId, MailId, Timestamp};
use ratatui::layout::Rect;
use wire::agent_details::AgentDetails;
use wire::crew::CrewRow;
use wire::mail::{MailEntry, Thread};
use wire::overview::Overview;

use super::layout;
use editor::Editor;
pub(crate) use message::{
    CostsData, CrewPageQuery, CrewSelection, Destination, Effect, MailListQuery, Message, Post,
};
use stream::{Length, Stream};
use tree::{Line, Pages, Shown, Tree};

/// A view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    Crew,
    Agent,
    Mail,
    Costs,
}

impl View {
    /// All, in their order.
    pub(crate) const ALL: [Self; 4] = [Self::Crew, Self::Agent, Self::Mail, Self::Costs];

    /// Name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Crew => "Crew",
            Self::Agent => "Agent",
            Self::Mail => "Mail",
            Self::Costs => "Costs",
        }
    }

    fn beside(self, step: usize) -> Self {
        let at = Self::ALL.iter().position(|view| *view == self).unwrap_or(0) + step;
        Self::ALL.get(at % Self::ALL.len()).copied().unwrap_or(self)
    }
}

/// Filters of the flat list; `all` is the tree.
pub(crate) const STANDINGS: [&str; 5] = ["all", "running", "waiting", "queued", "ended"];
/// Mailboxes: to the human, between agents, from the human.
pub(crate) const BOXES: [(&str, &str); 3] =
    [("me", "to you"), ("agents", "between agents"), ("sent", "from you")];
/// Over which time costs are shown, in days; nought is since midnight.
pub(crate) const COST_SPANS: [(u16, &str); 3] =
    [(0, "today (UTC)"), (7, "7 days"), (30, "30 days")];
/// By what costs are cut.
pub(crate) const COST_GROUPS: [&str; 4] = ["role", "model", "task", "lineage"];

/// State of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Connecting,
    Live,
    /// Since when it is gone
    Away(Timestamp),
}

/// Dialog above the view.
#[derive(Debug, Clone)]
pub(crate) enum Modal {
    Help,
    /// Confirmation of a kill: agent and number of live descendants
    Kill {
        id: AgentId,
        name: String,
        below: u32,
    },
    Write(Box<Writing>),
    Filter(Editor),
}

/// A mail that is being written.
#[derive(Debug, Clone)]
pub(crate) struct Writing {
    /// To whom, in words
    pub(crate) to: String,
    /// Where it goes; its body is the editor's
    pub(crate) post: Post,
    pub(crate) editor: Editor,
    /// Answers that the mail offers
    pub(crate) offers: Vec<String>,
    pub(crate) phase: Phase,
}

/// Phase of writing a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Phase {
    Writing,
    Sending,
    Failed(String),
}

/// A word at the foot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) text: String,
    pub(crate) at: Timestamp,
}

/// The crew's view.
#[derive(Debug, Clone, Default)]
pub(crate) struct CrewState {
    pub(crate) tree: Tree,
    pub(crate) lines: Vec<Line>,
    pub(crate) selected: usize,
    pub(crate) top: usize,
    pub(crate) filter: String,
    pub(crate) standing: usize,
    asked: Vec<CrewSelection>,
}

impl CrewState {
    /// True if the flat list is shown.
    pub(crate) fn is_flat(&self) -> bool {
        self.standing > 0 || !self.filter.is_empty()
    }

    /// The agent that is selected.
    pub(crate) fn chosen(&self) -> Option<&CrewRow> {
        match &self.lines.get(self.selected)?.shown {
            Shown::Agent(id) => self.tree.row(*id),
            _ => None,
        }
    }
}

/// One agent's view.
#[derive(Debug, Clone)]
pub(crate) struct AgentState {
    pub(crate) id: AgentId,
    pub(crate) details: Option<AgentDetails>,
    pub(crate) stream: Stream,
    pub(crate) top: usize,
    pub(crate) follow: Follow,
    pub(crate) reading: Reading,
    pub(crate) filter: String,
}

/// Whether the view follows the end of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follow {
    Following,
    Staying,
}

/// Progress of loading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    Loading,
    Open,
    Over,
    /// It cannot be read, and why
    Failed(String),
}

/// The mail's view.
#[derive(Debug, Clone, Default)]
pub(crate) struct MailState {
    pub(crate) letters: Vec<MailEntry>,
    pub(crate) loaded: bool,
    next: Option<i64>,
    pub(crate) selected: usize,
    pub(crate) top: usize,
    pub(crate) of: usize,
    pub(crate) filter: String,
    pub(crate) thread: Option<Thread>,
    /// Scroll position; `None` while the list has the focus
    pub(crate) reading: Option<usize>,
    /// A mail to be selected when it comes
    wanted: Option<MailId>,
}

/// The costs' view.
#[derive(Debug, Clone, Default)]
pub(crate) struct CostsState {
    pub(crate) costs: Option<CostsData>,
    pub(crate) span: usize,
    pub(crate) by: usize,
    pub(crate) top: usize,
}

/// Changes that were not reloaded.
#[derive(Debug, Clone, Default)]
struct Stale {
    rows: BTreeSet<AgentId>,
    parts: BTreeSet<ViewData>,
    /// True if a `Renew` is pending
    waiting: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ViewData {
    Overview,
    Mail,
    Agent,
    Costs,
}

/// Everything.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) view: View,
    pub(crate) area: Rect,
    pub(crate) now: Timestamp,
    pub(crate) link: Link,
    pub(crate) last_event: i64,
    pub(crate) overview: Option<Overview>,
    pub(crate) crew: CrewState,
    pub(crate) agent: Option<AgentState>,
    pub(crate) mail: MailState,
    pub(crate) costs: CostsState,
    pub(crate) modal: Option<Modal>,
    pub(crate) note: Option<Note>,
    /// Last request visited by `n`
    need: usize,
    /// Unsent drafts, by destination
    drafts: HashMap<Destination, String>,
    stale: Stale,
    ticks: u64,
}

impl State {
    /// Nothing is known yet.
    pub(crate) fn new(area: Rect, now: Timestamp) -> Self {
        Self {
            view: View::Crew,
            area,
            now,
            link: Link::Connecting,
            last_event: 0,
            overview: None,
            crew: CrewState::default(),
            agent: None,
            mail: MailState::default(),
            costs: CostsState::default(),
            modal: None,
            note: None,
            need: 0,
            drafts: HashMap::new(),
            stale: Stale::default(),
            ticks: 0,
        }
    }

    /// Requests at the start and after a reconnect.
    pub(crate) fn everything(&mut self) -> Vec<Effect> {
        let mut effects = vec![Effect::Overview];
        self.crew.asked.clear();
        effects.extend(self.ask_crew());
        if let Some(agent) = &mut self.agent {
            effects.push(Effect::Rows(vec![agent.id]));
            effects.push(Effect::Agent(agent.id));
            agent.reading = Reading::Loading;
            effects.push(Effect::Follow(agent.id, agent.stream.next()));
        }
        effects.extend(self.ask_view());
        effects
    }

    /// True if times advance, so that the screen changes by itself.
    pub(crate) fn is_running(&self) -> bool {
        self.crew.tree.any_live() || matches!(self.link, Link::Away(_)) || self.note.is_some()
    }

    /// Takes a message.
    pub(crate) fn update(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Key(key) => self.pressed(key),
            Message::Paste(text) => self.pasted(&text),
            Message::Resize(width, height) => {
                self.area = Rect::new(0, 0, width, height);
                self.lay_out();
                Vec::new()
            }
            Message::Tick(now) => self.tick(now),
            other => self.heard(other),
        }
    }

    /// The frame of the screen.
    pub(crate) fn frame(&self) -> layout::Frame {
        layout::frame(self.area, u16::from(matches!(self.link, Link::Away(_))))
    }

    /// Visible lines of the list.
    fn page(&self) -> usize {
        let body = self.frame().body;
        usize::from(match self.view {
            View::Crew => layout::crew(body, self.needs()).list.height,
            View::Agent => layout::agent(body).1.height,
            View::Mail if self.mail.reading.is_some() => {
                layout::mail(body).1.height.saturating_sub(2)
            }
            View::Mail => layout::mail(body).0.height.saturating_sub(1),
            View::Costs => body.height,
        })
    }

    /// Number of requests to a person.
    pub(crate) fn needs(&self) -> usize {
        self.overview.as_ref().map_or(0, |overview| overview.needs_you.len())
    }

    /// Puts everything where it belongs on a screen of this size.
    fn lay_out(&mut self) {
        let body = self.frame().body;
        let stream = layout::agent(body).1;
        if let Some(agent) = &mut self.agent {
            let length = agent.stream.length();
            agent.stream.lay_out(layout::stream_width(stream), length, &agent.filter);
            agent.settle(usize::from(stream.height));
        }
        let page = usize::from(layout::crew(body, self.needs()).list.height);
        let crew = &mut self.crew;
        crew.selected = crew.selected.min(crew.lines.len().saturating_sub(1));
        crew.top =
            in_sight(crew.top, crew.selected, page).min(crew.lines.len().saturating_sub(page));
        let page = usize::from(layout::mail(body).0.height.saturating_sub(1));
        let mail = &mut self.mail;
        mail.selected = mail.selected.min(mail.letters.len().saturating_sub(1));
        mail.top = in_sight(mail.top, mail.selected, page);
    }

    /// The tree changed: its lines are made anew, and what is selected stays so.
    fn relist(&mut self) -> Vec<Effect> {
        let before = self.crew.lines.get(self.crew.selected).map(|line| line.shown.clone());
        self.crew.lines = self.crew.tree.lines();
        let found = self.crew.lines.iter().position(|line| Some(&line.shown) == before.as_ref());
        self.crew.selected = found.unwrap_or(self.crew.selected);
        self.lay_out();
        self.ask_missing()
    }

    /// Asks for what is unfolded, and seen, and not there.
    fn ask_missing(&mut self) -> Vec<Effect> {
        let (top, page) = (self.crew.top, self.page().max(1));
        let seen: Vec<Shown> =
            self.crew.lines.iter().skip(top).take(page).map(|line| line.shown.clone()).collect();
        let mut effects = Vec::new();
        for shown in seen {
            let (of, after) = match shown {
                Shown::Loading(parent) => (CrewSelection::Level(Some(parent)), 0),
                Shown::More(parent, pages) => {
                    let after = self.crew.tree.next(parent, pages).unwrap_or(0);
                    match pages {
                        Pages::Past => (CrewSelection::Past(parent), after),
                        Pages::Now if self.crew.is_flat() => (self.flat(), after),
                        Pages::Now => (CrewSelection::Level(parent), after),
                    }
                }
                Shown::Agent(_) | Shown::Past(..) => continue,
            };
            if !self.crew.asked.contains(&of) {
                self.crew.asked.push(of.clone());
                effects.push(Effect::Crew(CrewPageQuery { of, after }));
            }
        }
        effects
    }

    fn flat(&self) -> CrewSelection {
        let standing = STANDINGS.get(self.crew.standing).copied().unwrap_or("all");
        CrewSelection::Flat { text: self.crew.filter.clone(), standing }
    }

    /// Asks for the list of the crew, or for every level of the tree that is known.
    fn ask_crew(&mut self) -> Vec<Effect> {
        let asks: Vec<CrewSelection> = if self.crew.is_flat() {
            vec![self.flat()]
        } else {
            let known = self.crew.tree.loaded().into_iter().flatten().take(40).map(Some);
            [None].into_iter().chain(known).map(CrewSelection::Level).collect()
        };
        self.crew.asked.clone_from(&asks);
        asks.into_iter().map(|of| Effect::Crew(CrewPageQuery { of, after: 0 })).collect()
    }

    fn ask_for_mail(&self) -> Effect {
        let of = BOXES.get(self.mail.of).map_or("me", |(of, _)| of);
        Effect::MailList(MailListQuery { of, text: self.mail.filter.clone(), after: None })
    }

    fn ask_costs(&self) -> Effect {
        let (days, _) = COST_SPANS.get(self.costs.span).copied().unwrap_or_default();
        Effect::Costs(days, COST_GROUPS.get(self.costs.by).copied().unwrap_or("role"))
    }

    /// Asks for what a view shows beside the crew.
    fn ask_view(&self) -> Option<Effect> {
        match self.view {
            View::Mail => Some(self.ask_for_mail()),
            View::Costs => Some(self.ask_costs()),
            View::Crew | View::Agent => None,
        }
    }

    /// Says a word at the foot.
    fn say(&mut self, text: impl Into<String>) {
        self.note = Some(Note { text: text.into(), at: self.now });
    }

    /// The agent that keys are about.
    fn about(&self) -> Option<&CrewRow> {
        match self.view {
            View::Crew => self.crew.chosen(),
            View::Agent => self.agent.as_ref().and_then(|agent| self.crew.tree.row(agent.id)),
            View::Mail | View::Costs => None,
        }
    }
}

impl AgentState {
    fn new(id: AgentId) -> Self {
        Self {
            id,
            details: None,
            stream: Stream::default(),
            top: 0,
            follow: Follow::Following,
            reading: Reading::Loading,
            filter: String::new(),
        }
    }

    /// Keeps the place in the stream, or goes to its end.
    fn settle(&mut self, page: usize) {
        let last = self.stream.lines().len().saturating_sub(page);
        if self.follow == Follow::Following || self.top > last {
            self.top = last;
        }
    }

    fn set_length(&mut self, length: Length, width: usize) {
        self.stream.lay_out(width, length, &self.filter);
    }
}

/// Where a list begins, so that what is selected is seen.
fn in_sight(top: usize, selected: usize, page: usize) -> usize {
    if selected < top {
        selected
    } else if page > 0 && selected >= top + page {
        selected + 1 - page
    } else {
        top
    }
}
