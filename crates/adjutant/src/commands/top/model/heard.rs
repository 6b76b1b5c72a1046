//! Handles the server's answers and ticks.

use model::event::EventKind;
use model::{AgentId, MailId, Timestamp};
use wire::agents::AgentStream;
use wire::crew::Crew;
use wire::event::EventView;
use wire::mail::{MailList, Thread};
use wire::overview::Overview;

use super::super::describe::is_over;
use super::super::layout;
use super::{
    CrewPageQuery, CrewSelection, Effect, Link, MailListQuery, Message, Modal, Phase, Reading,
    State, View, ViewData,
};

/// A word at the foot stays so long.
const NOTE_MS: i64 = 6000;
/// Refresh interval of current activity, which has no events, in seconds.
const REFRESH_TICKS: u64 = 2;
/// Refresh interval of money and places.
const COUNT_TICKS: u64 = 5;
/// The server gives no more rows at once.
const ROWS: usize = 200;

impl State {
    /// A second has passed.
    pub(super) fn tick(&mut self, now: Timestamp) -> Vec<Effect> {
        self.now = now;
        self.ticks += 1;
        if self.note.as_ref().is_some_and(|note| now.millis_since(note.at) > NOTE_MS) {
            self.note = None;
        }
        let mut effects = Vec::new();
        if self.link != Link::Live || !self.crew.tree.any_live() {
            return effects;
        }
        if self.ticks.is_multiple_of(REFRESH_TICKS) {
            let ids = self.watched();
            if !ids.is_empty() {
                effects.push(Effect::Rows(ids));
            }
        }
        if self.ticks.is_multiple_of(COUNT_TICKS) {
            effects.push(Effect::Overview);
            if self.view == View::Costs {
                effects.push(self.ask_costs());
            }
        }
        effects
    }

    /// The live agents that are seen.
    fn watched(&self) -> Vec<AgentId> {
        let live = |id: &AgentId| self.crew.tree.row(*id).is_none_or(|row| !is_over(row));
        match self.view {
            View::Crew => {
                let seen = self.crew.lines.iter().skip(self.crew.top).take(self.page().min(ROWS));
                let ids = seen.filter_map(|line| match &line.shown {
                    super::Shown::Agent(id) => Some(*id),
                    _ => None,
                });
                ids.filter(live).collect()
            }
            View::Agent => self.agent.iter().map(|agent| agent.id).filter(live).collect(),
            View::Mail | View::Costs => Vec::new(),
        }
    }

    /// Takes what came from the server.
    pub(super) fn heard(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Away => {
                if !matches!(self.link, Link::Away(_)) {
                    self.link = Link::Away(self.now);
                    self.lay_out();
                }
                Vec::new()
            }
            Message::Live => self.live(),
            Message::Events(events) => self.happened(&events),
            Message::Renew => self.renew(),
            Message::Overview(overview) => self.overview(*overview),
            Message::Crew(ask, list) => self.crew_came(ask, list),
            Message::Rows(rows) => {
                self.crew.tree.patch(rows);
                self.relist()
            }
            Message::Agent(details) => {
                let id = details.agent.id;
                if let Some(agent) = self.agent.as_mut().filter(|agent| agent.id == id) {
                    agent.details = Some(*details);
                }
                Vec::new()
            }
            Message::Part(id, part) => self.part(id, &part),
            Message::Earlier(id, part) => self.earlier(id, &part),
            Message::StreamOver(id, why) => {
                if let Some(agent) = self.agent.as_mut().filter(|agent| agent.id == id) {
                    agent.reading = why.map_or(Reading::Over, Reading::Failed);
                }
                Vec::new()
            }
            Message::MailList(ask, list) => self.letters(&ask, list),
            Message::Thread(thread) => self.thread(*thread),
            Message::Costs(costs) => {
                self.costs.costs = Some(*costs);
                Vec::new()
            }
            Message::Failed(why) => {
                self.say(why);
                Vec::new()
            }
            Message::Posted(outcome) => self.posted(outcome),
            Message::Killed(outcome) => {
                self.say(outcome.unwrap_or_else(|why| why));
                Vec::new()
            }
            Message::Key(_) | Message::Paste(_) | Message::Resize(..) | Message::Tick(_) => {
                Vec::new()
            }
        }
    }

    fn live(&mut self) -> Vec<Effect> {
        let was_away = matches!(self.link, Link::Away(_));
        self.link = Link::Live;
        self.lay_out();
        if !was_away {
            return Vec::new();
        }
        self.say("The server is back; everything was read again.");
        self.everything()
    }

    fn happened(&mut self, events: &[EventView]) -> Vec<Effect> {
        for event in events {
            self.last_event = self.last_event.max(event.number);
            if let Some(agent) = event.agent_id
                && (event.kind == EventKind::AgentCreated || self.crew.tree.row(agent).is_some())
            {
                self.stale.rows.insert(agent);
                self.stale.rows.extend(self.crew.tree.above(agent));
            }
            let opened = self.agent.as_ref().map(|agent| agent.id);
            let is_opened = opened.is_some() && opened == event.agent_id;
            if is_opened && is_about_agent(event.kind) {
                self.stale.parts.insert(ViewData::Agent);
            }
            match event.kind {
                EventKind::MailSent | EventKind::MailRead => {
                    self.stale.parts.insert(ViewData::Mail);
                }
                EventKind::AgentFinished => {
                    self.stale.parts.insert(ViewData::Costs);
                }
                _ => {}
            }
            self.stale.parts.insert(ViewData::Overview);
        }
        if std::mem::replace(&mut self.stale.waiting, true) {
            Vec::new()
        } else {
            vec![Effect::Soon]
        }
    }

    /// Reads again what changed, as far as it is shown.
    fn renew(&mut self) -> Vec<Effect> {
        let stale = std::mem::take(&mut self.stale);
        let mut effects = Vec::new();
        let rows: Vec<AgentId> = stale.rows.into_iter().collect();
        effects.extend(rows.chunks(ROWS).map(|ids| Effect::Rows(ids.to_vec())));
        for part in stale.parts {
            match part {
                ViewData::Overview => effects.push(Effect::Overview),
                ViewData::Mail if self.view == View::Mail => effects.push(self.ask_for_mail()),
                ViewData::Costs if self.view == View::Costs => effects.push(self.ask_costs()),
                ViewData::Agent => effects.extend(self.renew_agent()),
                ViewData::Mail | ViewData::Costs => {}
            }
        }
        effects
    }

    fn renew_agent(&mut self) -> Vec<Effect> {
        let Some(agent) = &mut self.agent else { return Vec::new() };
        let mut effects = vec![Effect::Agent(agent.id)];
        // Another attempt may have begun, or the first.
        if matches!(agent.reading, Reading::Over) {
            agent.reading = Reading::Open;
            effects.push(Effect::Follow(agent.id, agent.stream.next()));
        }
        effects
    }

    fn overview(&mut self, overview: Overview) -> Vec<Effect> {
        self.last_event = self.last_event.max(overview.last_event);
        self.overview = Some(overview);
        self.lay_out();
        Vec::new()
    }

    fn crew_came(&mut self, ask: CrewPageQuery, list: Crew) -> Vec<Effect> {
        self.crew.asked.retain(|of| *of != ask.of);
        match ask.of {
            // What was asked for under another filter is late.
            of @ CrewSelection::Flat { .. } if of != self.flat() || !self.crew.is_flat() => {
                return Vec::new();
            }
            CrewSelection::Flat { .. } => self.crew.tree.flat(ask.after, list),
            CrewSelection::Level(parent) => self.crew.tree.level(parent, ask.after, list),
            CrewSelection::Past(parent) => self.crew.tree.past(parent, ask.after, list),
        }
        self.relist()
    }

    fn part(&mut self, id: AgentId, part: &AgentStream) -> Vec<Effect> {
        let stream = layout::agent(self.frame().body).1;
        let Some(agent) = self.agent.as_mut().filter(|agent| agent.id == id) else {
            return Vec::new();
        };
        agent.reading = Reading::Open;
        let length = agent.stream.length();
        agent.stream.lay_out(layout::stream_width(stream), length, &agent.filter);
        let gone = agent.stream.append(part);
        agent.top = agent.top.saturating_sub(gone);
        agent.settle(usize::from(stream.height));
        Vec::new()
    }

    fn earlier(&mut self, id: AgentId, part: &AgentStream) -> Vec<Effect> {
        if let Some(agent) = self.agent.as_mut().filter(|agent| agent.id == id) {
            agent.top += agent.stream.prepend(part);
        }
        Vec::new()
    }

    fn letters(&mut self, ask: &MailListQuery, list: MailList) -> Vec<Effect> {
        if self.ask_for_mail() != Effect::MailList(MailListQuery { after: None, ..ask.clone() }) {
            return Vec::new();
        }
        let mail = &mut self.mail;
        let chosen = mail.letters.get(mail.selected).map(|letter| letter.id);
        let chosen = mail.wanted.or(chosen);
        if ask.after.is_none() {
            mail.letters = list.letters;
            // What needs an answer stands first; else the newest.
            mail.letters.sort_by_key(|letter| !letter.needs_answer);
        } else {
            mail.letters.extend(list.letters);
        }
        mail.next = list.next_cursor;
        mail.loaded = true;
        let found = mail.letters.iter().position(|letter| Some(letter.id) == chosen);
        if found.is_some() {
            mail.wanted = None;
        }
        mail.selected = found.unwrap_or(0);
        self.lay_out();
        self.ask_thread()
    }

    /// Asks for the thread of the mail that is selected.
    pub(super) fn ask_thread(&mut self) -> Vec<Effect> {
        let chosen = self.mail.letters.get(self.mail.selected).map(|letter| letter.id);
        self.mail.wanted.or(chosen).map(Effect::Thread).into_iter().collect()
    }

    fn thread(&mut self, thread: Thread) -> Vec<Effect> {
        let same = self.mail.thread.as_ref().is_some_and(|old| old.thread_id == thread.thread_id);
        let chosen = self.mail.letters.get(self.mail.selected);
        let meant = chosen.is_none_or(|letter| letter.thread_id == thread.thread_id);
        if !meant && self.mail.wanted.is_none() {
            return Vec::new();
        }
        if !same && self.mail.reading.is_some() {
            self.mail.reading = Some(0);
        }
        self.mail.thread = Some(thread);
        if self.mail.reading.is_some() { self.mark_read() } else { Vec::new() }
    }

    /// Says of the mails to the human that they were read.
    pub(super) fn mark_read(&mut self) -> Vec<Effect> {
        let Some(thread) = &self.mail.thread else { return Vec::new() };
        let letters = thread.letters.iter().map(|one| &one.letter);
        let unread = letters.filter(|letter| letter.to.human && letter.read_at.is_none());
        let ids: Vec<MailId> = unread.map(|letter| letter.id).collect();
        if ids.is_empty() { Vec::new() } else { vec![Effect::MarkRead(ids)] }
    }

    fn posted(&mut self, outcome: Result<String, String>) -> Vec<Effect> {
        let Some(Modal::Write(writing)) = &mut self.modal else {
            self.say(outcome.unwrap_or_else(|why| why));
            return Vec::new();
        };
        match outcome {
            Ok(text) => {
                self.drafts.remove(&writing.post.destination());
                self.modal = None;
                self.say(text);
                let mut effects = self.mark_read();
                effects.push(self.ask_for_mail());
                effects
            }
            Err(why) => {
                writing.phase = Phase::Failed(why);
                Vec::new()
            }
        }
    }
}

/// True for the events of an agent's own life.
const fn is_about_agent(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::AgentCreated
            | EventKind::AgentStarted
            | EventKind::AgentStateChanged
            | EventKind::AgentStopping
            | EventKind::AgentWarned
            | EventKind::AgentAsked
            | EventKind::AgentFinished
    )
}
