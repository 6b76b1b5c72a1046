//! Mails as people read them: in lists, newest first, and in threads.

mod thread;

use std::collections::HashMap;

use model::{AgentId, MailId};
use store::{Agent, MailLine, Mailbox, Recipient, Tx};
use wire::mail::{MailEntry, MailFolder, MailKind, MailList, PersonView};

use crate::core::error::ToolError;
use crate::core::names::short;
use crate::mail::asking;
use crate::views::service::Views;

/// Mails read at once.
const READ_BATCH: u32 = 200;
/// Mails searched per page; a page may be short while its cursor goes on.
const MAX_SEARCHED: usize = 2000;
/// Characters of a mail shown in a list.
const PREVIEW: usize = 160;
/// Longest reply chain followed.
const MAX_THREAD_DEPTH: usize = 1000;

/// Query for mails.
#[derive(Debug, Clone)]
pub struct MailListRequest {
    /// Of which box; none is of all
    pub of: Option<MailFolder>,
    /// Only those to or from this agent
    pub agent: Option<AgentId>,
    /// Only those that say this
    pub text: Option<String>,
    /// Only those before this cursor
    pub before: Option<i64>,
    /// At most so many
    pub limit: u32,
}

/// Kind of a mail, from its text and the record.
fn kind_of(permission: Option<&String>, subject: &str, body: &str) -> MailKind {
    if permission.is_some() {
        MailKind::Permission
    } else if asking::is_alert(subject) {
        MailKind::Alert
    } else if asking::is_question(subject, body) {
        MailKind::Question
    } else {
        MailKind::Letter
    }
}

/// Adjutant itself as a sender: neither the human nor the agent that it writes about. It asks nothing.
fn by_system(about: PersonView, kind: MailKind) -> (PersonView, MailKind) {
    let kind = if kind == MailKind::Question { MailKind::Letter } else { kind };
    (PersonView { human: false, system: true, ..about }, kind)
}

/// Data shared by all mails of an answer.
struct Reading<'a> {
    tx: &'a Tx<'a>,
    agents: HashMap<AgentId, Option<Agent>>,
    roots: HashMap<MailId, MailId>,
}

impl<'a> Reading<'a> {
    fn new(tx: &'a Tx<'a>) -> Self {
        Self { tx, agents: HashMap::new(), roots: HashMap::new() }
    }

    fn agent(&mut self, id: AgentId) -> Result<Option<&Agent>, ToolError> {
        if !self.agents.contains_key(&id) {
            let found = self.tx.agent_get(id)?;
            self.agents.insert(id, found);
        }
        Ok(self.agents.get(&id).and_then(Option::as_ref))
    }

    fn person(&mut self, who: Option<AgentId>) -> Result<PersonView, ToolError> {
        let Some(id) = who else {
            let (role, short, state) = (None, None, None);
            return Ok(PersonView {
                agent_id: None,
                role,
                short,
                state,
                human: true,
                system: false,
            });
        };
        let agent = self.agent(id)?;
        Ok(PersonView {
            agent_id: Some(id),
            role: agent.map(|agent| agent.role.clone()),
            short: Some(short(id)),
            state: agent.map(|agent| agent.state.name()),
            human: false,
            system: false,
        })
    }

    fn is_live(&mut self, id: AgentId) -> Result<bool, ToolError> {
        Ok(self.agent(id)?.is_some_and(|agent| agent.ended_at().is_none()))
    }

    /// The mail with which a thread began. A mail can only answer one that was there before it.
    fn root(&mut self, id: MailId) -> Result<MailId, ToolError> {
        let (mut way, mut at) = (Vec::new(), id);
        let root = loop {
            if let Some(known) = self.roots.get(&at) {
                break *known;
            }
            way.push(at);
            match self.tx.mail_answers(at)? {
                Some(before) if way.len() < MAX_THREAD_DEPTH => at = before,
                _ => break at,
            }
        };
        self.roots.extend(way.into_iter().map(|step| (step, root)));
        Ok(root)
    }

    fn letter(&mut self, line: MailLine) -> Result<MailEntry, ToolError> {
        let text = both_ends(&line);
        let kind = kind_of(line.permission.as_ref(), &line.subject, &text);
        let from = self.person(line.from)?;
        let (from, kind) = if line.is_system { by_system(from, kind) } else { (from, kind) };
        let waits = kind.asks() && line.to == Recipient::Human && !line.answered;
        let needs_answer = match line.from {
            Some(from) if waits => self.is_live(from)?,
            _ => false,
        };
        Ok(MailEntry {
            id: line.id,
            thread_id: self.root(line.id)?,
            from,
            to: self.person(line.to.agent())?,
            preview: preview(&line.head),
            subject: line.subject,
            created_at: line.created_at,
            read_at: line.read_at,
            kind,
            needs_answer,
            replies: line.replies,
        })
    }
}

/// Beginning and end of a mail, as stored for lists.
fn both_ends(line: &MailLine) -> String {
    format!("{}\n{}", line.head, line.tail)
}

/// Preview of a mail: one line, without Markdown.
fn preview(body: &str) -> String {
    let words = body.split_whitespace().map(|word| word.replace("**", "").replace('`', ""));
    let words = words.filter(|word| !word.trim_matches(['#', '>', '*', '-']).is_empty());
    let words: Vec<String> = words.take(PREVIEW).collect();
    words.join(" ").chars().take(PREVIEW).collect()
}

impl MailListRequest {
    /// Where to look for them.
    fn place(&self) -> Mailbox {
        match (self.agent, self.of) {
            (Some(agent), _) => Mailbox::Of(agent),
            (None, Some(MailFolder::Me | MailFolder::Alerts | MailFolder::Asks)) => Mailbox::Human,
            (None, Some(MailFolder::Agents | MailFolder::Sent) | None) => Mailbox::All,
        }
    }

    fn wants(&self, line: &MailLine, text: Option<&str>) -> bool {
        let boxed = match self.of {
            None => true,
            Some(MailFolder::Me | MailFolder::Asks) => line.to == Recipient::Human,
            Some(MailFolder::Agents) => line.to != Recipient::Human,
            Some(MailFolder::Alerts) => {
                line.to == Recipient::Human && asking::is_alert(&line.subject)
            }
            Some(MailFolder::Sent) => line.from.is_none() && !line.is_system,
        };
        let about = self
            .agent
            .is_none_or(|agent| line.from == Some(agent) || line.to == Recipient::Agent(agent));
        let says = |text: &str| {
            line.subject.to_lowercase().contains(text)
                || both_ends(line).to_lowercase().contains(text)
        };
        boxed && about && text.is_none_or(says)
    }
}

impl Views {
    /// Mails, newest first. Of a long one only the two ends are searched.
    pub async fn letters(&self, request: MailListRequest) -> Result<MailList, ToolError> {
        self.store
            .scan(move |tx| {
                let mut reading = Reading::new(tx);
                let text = request.text.as_ref().map(|text| text.to_lowercase());
                if request.of == Some(MailFolder::Asks) {
                    return asks(&mut reading, &request, text.as_deref());
                }
                let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
                let (mut letters, mut looked, mut before) = (Vec::new(), 0, request.before);
                loop {
                    let from = before.unwrap_or(i64::MAX);
                    let page = tx.mail_newest(request.place(), from, READ_BATCH)?;
                    for line in page.items {
                        (looked, before) = (looked + 1, Some(line.number));
                        if request.wants(&line, text.as_deref()) {
                            letters.push(reading.letter(line)?);
                        }
                        if letters.len() == limit {
                            break;
                        }
                    }
                    let full = letters.len() == limit;
                    if page.next.is_none() && !full {
                        return Ok(MailList { letters, next_cursor: None });
                    }
                    if full || looked >= MAX_SEARCHED {
                        return Ok(MailList { letters, next_cursor: before });
                    }
                }
            })
            .await
    }
}

/// The mails that wait for the human's answer; they are few, and come whole.
fn asks(
    reading: &mut Reading<'_>,
    request: &MailListRequest,
    text: Option<&str>,
) -> Result<MailList, ToolError> {
    let mut letters = Vec::new();
    for line in reading.tx.mail_unanswered()? {
        if request.wants(&line, text) {
            letters.push(reading.letter(line)?);
        }
    }
    letters.retain(|letter| letter.needs_answer);
    letters.truncate(usize::try_from(request.limit).unwrap_or(usize::MAX));
    Ok(MailList { letters, next_cursor: None })
}
