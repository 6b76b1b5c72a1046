//! Handles keys.

use model::AgentId;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use wire::overview::NeedKind;

use super::super::describe::{agent_name, is_over, mail_height, person_name};
use super::super::keys::{self, Act};
use super::super::layout;
use super::editor::Editor;
use super::stream::Length;
use super::tree::{Fold, Shown};
use super::{
    AgentState, BOXES, COST_GROUPS, COST_SPANS, Effect, Follow, Link, Modal, Phase, Post,
    STANDINGS, State, View, Writing,
};

/// Where nothing can be done without the server.
const AWAY: &str = "The server is not reachable; nothing was done.";

impl State {
    pub(super) fn pressed(&mut self, key: KeyEvent) -> Vec<Effect> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && key.code == KeyCode::Char('c') {
            return vec![Effect::Quit];
        }
        if control && key.code == KeyCode::Char('z') {
            return vec![Effect::Suspend];
        }
        match self.modal.take() {
            None => match keys::act(self.view, key) {
                Some(act) => self.act(act),
                None => Vec::new(),
            },
            // Whatever is pressed, the help goes.
            Some(Modal::Help) => Vec::new(),
            Some(Modal::Kill { id, name, .. }) => self.kill(key, id, &name),
            Some(Modal::Write(writing)) => self.write(key, writing),
            Some(Modal::Filter(editor)) => self.filter(key, editor),
        }
    }

    pub(super) fn pasted(&mut self, text: &str) -> Vec<Effect> {
        match &mut self.modal {
            Some(Modal::Write(writing)) if writing.phase != Phase::Sending => {
                writing.editor.insert(text);
                Vec::new()
            }
            Some(Modal::Filter(editor)) => {
                editor.insert(&text.replace('\n', " "));
                let filter = editor.text();
                self.set_filter(&filter)
            }
            _ => Vec::new(),
        }
    }

    fn act(&mut self, act: Act) -> Vec<Effect> {
        match act {
            Act::Up => self.step(|at, _, _| at.saturating_sub(1)),
            Act::Down => self.step(|at, _, _| at + 1),
            Act::PageUp => self.step(|at, page, _| at.saturating_sub(page)),
            Act::PageDown => self.step(|at, page, _| at + page),
            Act::First => self.step(|_, _, _| 0),
            Act::Last => self.step(|_, _, last| last),
            Act::Fold => self.fold(),
            Act::Unfold => self.unfold(),
            Act::Open => self.open(),
            Act::Back => self.back(),
            Act::Show(view) => self.show(view),
            Act::NextView => self.show(self.view.beside(1)),
            Act::PreviousView => self.show(self.view.beside(View::ALL.len() - 1)),
            Act::Filter => {
                let filter = self.present_filter();
                self.modal = Some(Modal::Filter(Editor::new(&filter)));
                Vec::new()
            }
            Act::Need => self.next_need(),
            Act::Standing => {
                self.crew.standing = (self.crew.standing + 1) % STANDINGS.len();
                self.refilter_crew()
            }
            Act::Kill => self.ask_kill(),
            Act::Write => self.begin_mail(),
            Act::Reply => self.begin_reply(),
            Act::Follow => {
                if let Some(agent) = &mut self.agent {
                    agent.follow = Follow::Following;
                }
                self.lay_out();
                Vec::new()
            }
            Act::Length => self.toggle_length(),
            Act::Box => {
                self.mail.of = (self.mail.of + 1) % BOXES.len();
                (self.mail.letters, self.mail.loaded) = (Vec::new(), false);
                (self.mail.thread, self.mail.reading) = (None, None);
                vec![self.ask_for_mail()]
            }
            Act::Span => {
                self.costs.span = (self.costs.span + 1) % COST_SPANS.len();
                vec![self.ask_costs()]
            }
            Act::By => {
                self.costs.by = (self.costs.by + 1) % COST_GROUPS.len();
                vec![self.ask_costs()]
            }
            Act::Help => {
                self.modal = Some(Modal::Help);
                Vec::new()
            }
            Act::Suspend => vec![Effect::Suspend],
            Act::Quit => vec![Effect::Quit],
        }
    }

    /// Moves what is selected, or what is seen: from a place, a page and the last place to the next.
    fn step(&mut self, to: impl Fn(usize, usize, usize) -> usize) -> Vec<Effect> {
        let page = self.page().max(1);
        match self.view {
            View::Crew => {
                let last = self.crew.lines.len().saturating_sub(1);
                self.crew.selected = to(self.crew.selected, page, last).min(last);
                self.lay_out();
                self.ask_missing()
            }
            View::Agent => self.scroll_stream(page, to),
            View::Mail => {
                if let Some(at) = self.mail.reading {
                    let last = self.thread_height().saturating_sub(page);
                    self.mail.reading = Some(to(at, page, last).min(last));
                    return Vec::new();
                }
                let last = self.mail.letters.len().saturating_sub(1);
                self.mail.selected = to(self.mail.selected, page, last).min(last);
                self.lay_out();
                self.more_mail(last)
            }
            View::Costs => {
                let last = self.costs.costs.as_ref().map_or(0, |costs| costs.height());
                self.costs.top = to(self.costs.top, page, last).min(last);
                Vec::new()
            }
        }
    }

    fn scroll_stream(
        &mut self,
        page: usize,
        to: impl Fn(usize, usize, usize) -> usize,
    ) -> Vec<Effect> {
        let Some(agent) = &mut self.agent else { return Vec::new() };
        let last = agent.stream.lines().len().saturating_sub(page);
        let wanted = to(agent.top, page, last);
        // Moving beyond the end follows new output.
        agent.follow =
            if wanted >= last && wanted >= agent.top { Follow::Following } else { Follow::Staying };
        let at_start = agent.top == 0 && wanted == 0;
        agent.top = wanted.min(last);
        let earlier = agent.stream.earlier().filter(|_| at_start);
        let id = agent.id;
        earlier.map(|place| Effect::Earlier(id, place)).into_iter().collect()
    }

    /// Lines of the open thread.
    fn thread_height(&self) -> usize {
        let room = layout::thread_width(self.frame().body);
        let Some(thread) = &self.mail.thread else { return 0 };
        thread.letters.iter().map(|letter| mail_height(letter, room)).sum()
    }

    /// Asks for the thread, and for more mails where the end is near.
    fn more_mail(&mut self, last: usize) -> Vec<Effect> {
        let mut effects = self.ask_thread();
        if let Some(next) = self.mail.next.filter(|_| self.mail.selected == last)
            && let Effect::MailList(ask) = self.ask_for_mail()
        {
            self.mail.next = None;
            effects.push(Effect::MailList(super::MailListQuery { after: Some(next), ..ask }));
        }
        effects
    }

    fn fold(&mut self) -> Vec<Effect> {
        let Some(line) = self.crew.lines.get(self.crew.selected).cloned() else {
            return Vec::new();
        };
        if line.fold == Fold::Open {
            self.crew.tree.set_open(&line.shown, Fold::Closed);
            return self.relist();
        }
        let depth = line.rails.len();
        let above = self.crew.lines.iter().take(self.crew.selected);
        if let Some(at) = above.clone().rposition(|line| line.rails.len() < depth) {
            self.crew.selected = at;
            self.lay_out();
        }
        Vec::new()
    }

    fn unfold(&mut self) -> Vec<Effect> {
        let Some(line) = self.crew.lines.get(self.crew.selected).cloned() else {
            return Vec::new();
        };
        if line.fold != Fold::Closed {
            return Vec::new();
        }
        self.crew.tree.set_open(&line.shown, Fold::Open);
        self.relist()
    }

    fn open(&mut self) -> Vec<Effect> {
        if self.view == View::Mail {
            self.mail.reading.get_or_insert(0);
            return self.mark_read();
        }
        let Some(line) = self.crew.lines.get(self.crew.selected).cloned() else {
            return Vec::new();
        };
        match &line.shown {
            Shown::Agent(id) => self.open_agent(*id),
            shown @ Shown::Past(..) => {
                let fold = if line.fold == Fold::Open { Fold::Closed } else { Fold::Open };
                self.crew.tree.set_open(shown, fold);
                self.relist()
            }
            Shown::More(..) | Shown::Loading(_) => Vec::new(),
        }
    }

    fn open_agent(&mut self, id: AgentId) -> Vec<Effect> {
        self.view = View::Agent;
        if self.agent.as_ref().is_some_and(|agent| agent.id == id) {
            self.lay_out();
            return Vec::new();
        }
        self.agent = Some(AgentState::new(id));
        self.lay_out();
        vec![Effect::Rows(vec![id]), Effect::Agent(id), Effect::Follow(id, None)]
    }

    fn back(&mut self) -> Vec<Effect> {
        if !self.present_filter().is_empty() {
            return self.set_filter("");
        }
        match self.view {
            View::Crew if self.crew.standing > 0 => {
                self.crew.standing = 0;
                self.refilter_crew()
            }
            View::Mail if self.mail.reading.is_some() => {
                self.mail.reading = None;
                Vec::new()
            }
            _ => self.show(View::Crew),
        }
    }

    fn show(&mut self, view: View) -> Vec<Effect> {
        self.view = view;
        if view == View::Agent && self.agent.is_none() {
            let chosen = self.crew.chosen().map(|row| row.id);
            if let Some(id) = chosen {
                return self.open_agent(id);
            }
        }
        self.lay_out();
        self.ask_view().into_iter().collect()
    }

    fn present_filter(&self) -> String {
        match self.view {
            View::Crew => self.crew.filter.clone(),
            View::Agent => {
                self.agent.as_ref().map(|agent| agent.filter.clone()).unwrap_or_default()
            }
            View::Mail => self.mail.filter.clone(),
            View::Costs => String::new(),
        }
    }

    fn filter(&mut self, key: KeyEvent, mut editor: Editor) -> Vec<Effect> {
        match key.code {
            KeyCode::Enter => Vec::new(),
            KeyCode::Esc => self.set_filter(""),
            _ => {
                let changed = editor.key(key);
                let text = editor.text();
                self.modal = Some(Modal::Filter(editor));
                if changed && text != self.present_filter() {
                    self.set_filter(&text)
                } else {
                    Vec::new()
                }
            }
        }
    }

    fn set_filter(&mut self, text: &str) -> Vec<Effect> {
        // The server looks for no longer words.
        let text: String = text.chars().take(200).collect();
        match self.view {
            View::Crew => {
                self.crew.filter = text;
                self.refilter_crew()
            }
            View::Agent => {
                let stream = layout::agent(self.frame().body).1;
                if let Some(agent) = &mut self.agent {
                    agent.filter = text;
                    agent.set_length(agent.stream.length(), layout::stream_width(stream));
                    agent.settle(usize::from(stream.height));
                }
                Vec::new()
            }
            View::Mail => {
                self.mail.filter = text;
                (self.mail.selected, self.mail.top) = (0, 0);
                vec![self.ask_for_mail()]
            }
            View::Costs => Vec::new(),
        }
    }

    fn refilter_crew(&mut self) -> Vec<Effect> {
        (self.crew.selected, self.crew.top) = (0, 0);
        let mut effects = self.ask_crew();
        if !self.crew.is_flat() {
            self.crew.tree.unflatten();
            effects.extend(self.relist());
        }
        effects
    }

    /// Goes to what needs a person, one after the other.
    fn next_need(&mut self) -> Vec<Effect> {
        let needs =
            self.overview.as_ref().map(|overview| overview.needs_you.clone()).unwrap_or_default();
        let Some(need) = needs.get(self.need % needs.len().max(1)) else {
            self.say("Nothing needs you.");
            return Vec::new();
        };
        self.need += 1;
        let mail = need.href.strip_prefix("/mail/").and_then(|id| id.parse().ok());
        if let Some(mail) = mail {
            (self.view, self.mail.of, self.mail.reading) = (View::Mail, 0, Some(0));
            self.mail.filter.clear();
            self.mail.wanted = Some(mail);
            return vec![self.ask_for_mail(), Effect::Thread(mail)];
        }
        if let Some(number) = need.task_number.filter(|_| need.kind == NeedKind::Review) {
            self.say(format!("Decide with `adjutant review show TAS-{number}`"));
        }
        match need.agent_id {
            Some(id) => self.open_agent(id),
            None => Vec::new(),
        }
    }

    fn ask_kill(&mut self) -> Vec<Effect> {
        let Some(row) = self.about() else { return Vec::new() };
        let (id, name, below) = (row.id, agent_name(row), row.live_below);
        if is_over(row) && below == 0 {
            self.say(format!("{name} has ended already."));
        } else {
            self.modal = Some(Modal::Kill { id, name, below });
        }
        Vec::new()
    }

    fn kill(&mut self, key: KeyEvent, id: AgentId, name: &str) -> Vec<Effect> {
        if key.code != KeyCode::Char('y') {
            self.say("No agent was killed.");
            return Vec::new();
        }
        if self.link != Link::Live {
            self.say(AWAY);
            return Vec::new();
        }
        self.say(format!("Killing {name}…"));
        vec![Effect::Kill(id)]
    }

    fn begin_mail(&mut self) -> Vec<Effect> {
        let with = match self.view {
            View::Mail => self.mail.thread.as_ref().and_then(|thread| thread.with.as_ref()),
            _ => None,
        };
        let to = with.and_then(|who| Some((who.agent_id?, person_name(who))));
        let to = to.or_else(|| self.about().map(|row| (row.id, agent_name(row))));
        let Some((id, name)) = to else {
            self.say("Select an agent to write to.");
            return Vec::new();
        };
        let post = Post::Mail { to: id, body: String::new() };
        self.begin(post, format!("To {name}. Its first line is the subject."), Vec::new());
        Vec::new()
    }

    fn begin_reply(&mut self) -> Vec<Effect> {
        let Some(thread) = &self.mail.thread else { return Vec::new() };
        let name = thread.with.as_ref().map(person_name).unwrap_or_default();
        let Some(mail) = thread.reply_to else {
            self.say("You cannot reply to this mail; m writes a new one.");
            return Vec::new();
        };
        let when = if thread.wakes { "hears it at once" } else { "reads it when it next looks" };
        let offers = thread.letters.iter().rev().find(|one| one.letter.needs_answer);
        let offers =
            offers.map(|letter| letter.options.iter().map(|one| one.reply.clone()).collect());
        let post = Post::Reply { mail, body: String::new() };
        self.begin(post, format!("Reply to {name}, who {when}"), offers.unwrap_or_default());
        Vec::new()
    }

    fn begin(&mut self, post: Post, to: String, offers: Vec<String>) {
        let draft = self.drafts.get(&post.destination()).cloned().unwrap_or_default();
        let editor = Editor::new(&draft);
        self.modal = Some(Modal::Write(Box::new(Writing {
            to,
            post,
            editor,
            offers,
            phase: Phase::Writing,
        })));
    }

    fn write(&mut self, key: KeyEvent, mut writing: Box<Writing>) -> Vec<Effect> {
        let mut effects = Vec::new();
        let newline = key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT);
        let ctrl_j =
            key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('j');
        match key.code {
            // A mail that is under way cannot be changed, and what becomes of it is told at the foot.
            KeyCode::Esc => {
                self.drafts.insert(writing.post.destination(), writing.editor.text());
                if !writing.editor.is_blank() {
                    self.say("Your draft is kept until you quit.");
                }
                return effects;
            }
            _ if writing.phase == Phase::Sending => {}
            _ if ctrl_j => writing.editor.insert("\n"),
            KeyCode::Enter if newline => writing.editor.insert("\n"),
            KeyCode::Enter => effects.extend(self.send(&mut writing)),
            KeyCode::Tab => {
                let at = writing.offers.iter().position(|offer| *offer == writing.editor.text());
                let next = at.map_or(0, |at| (at + 1) % writing.offers.len());
                if let Some(offer) = writing.offers.get(next) {
                    writing.editor = Editor::new(offer);
                }
            }
            _ => {
                if writing.editor.key(key) {
                    writing.phase = Phase::Writing;
                }
            }
        }
        self.modal = Some(Modal::Write(writing));
        effects
    }

    fn send(&self, writing: &mut Writing) -> Option<Effect> {
        if writing.editor.is_blank() {
            writing.phase = Phase::Failed("There is nothing to send yet.".to_owned());
            return None;
        }
        if self.link != Link::Live {
            writing.phase =
                Phase::Failed("The server is not reachable; your draft is kept.".to_owned());
            return None;
        }
        let text = writing.editor.text();
        writing.phase = Phase::Sending;
        Some(Effect::Post(match &writing.post {
            Post::Reply { mail, .. } => Post::Reply { mail: *mail, body: text },
            Post::Mail { to, .. } => Post::Mail { to: *to, body: text },
        }))
    }

    fn toggle_length(&mut self) -> Vec<Effect> {
        let stream = layout::agent(self.frame().body).1;
        if let Some(agent) = &mut self.agent {
            let other =
                if agent.stream.length() == Length::Short { Length::Whole } else { Length::Short };
            agent.set_length(other, layout::stream_width(stream));
            agent.settle(usize::from(stream.height));
        }
        Vec::new()
    }
}
