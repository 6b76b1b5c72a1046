//! A thread: a mail, its answers, their answers, and the context that a reader needs to answer.

use host::agent::{PermissionVerdict, kind};
use model::{AgentId, MailId};
use store::{Agent, Mail, Recipient, Tx};
use wire::mail::{
    MailAnswer, MailEntry, MailKind, PermissionRequest, Thread, ThreadMail, WaitingTask,
};

use super::{Reading, by_system, kind_of, preview};
use crate::call::cx::task_of;
use crate::core::error::ToolError;
use crate::crew::run::ask;
use crate::mail::asking;
use crate::views::service::Views;

/// Newest mails of a thread shown.
const MAX_SHOWN: usize = 200;
/// Mails searched.
const MAX_SEARCHED: usize = 2000;
/// Bytes of mails shown whole; older ones are cut.
const WHOLE: usize = 2 * 1024 * 1024;
/// Characters shown of a cut mail.
const BEGINNING: usize = 1000;
/// Waiting tasks listed per asking agent.
const BEHIND: u32 = 20;

/// The places of a thread's mails, oldest first.
fn places(tx: &Tx<'_>, root: MailId) -> Result<Vec<(i64, MailId)>, ToolError> {
    let Some(first) = tx.mail_get(root)? else { return Ok(Vec::new()) };
    let mut found = vec![(first.number, root)];
    let mut at = 0;
    while let Some((_, id)) = found.get(at).copied() {
        let room = MAX_SEARCHED.saturating_sub(found.len());
        let room = u32::try_from(room).unwrap_or_default();
        found.extend(tx.mail_answered_by(id, room)?);
        at += 1;
    }
    found.sort_unstable();
    Ok(found)
}

/// Tool input in a permission mail, which has a fixed form.
fn input_of(body: &str) -> String {
    let rest = body.split_once(" with:\n\n").map_or(body, |(_, rest)| rest);
    rest.rsplit_once("\n\nReply `allow`").map_or(rest, |(input, _)| input).to_owned()
}

impl Reading<'_> {
    fn whole(&mut self, mail: Mail, room: &mut usize) -> Result<ThreadMail, ToolError> {
        let question = self.tx.question_by_mail(mail.id)?;
        let tool = question.as_ref().map(|question| question.tool.clone());
        let pattern = question.as_ref().and_then(|question| question.pattern.as_deref());
        let kind = kind_of(tool.as_ref(), &mail.subject, &mail.body);
        let from = self.person(mail.from)?;
        let (from, kind) = if mail.is_system { by_system(from, kind) } else { (from, kind) };
        let answer = match mail.to {
            Recipient::Human => self.tx.mail_settled_by(mail.id)?,
            Recipient::Agent(_) => None,
        };
        let live = match mail.from {
            Some(from) if kind.asks() && mail.to == Recipient::Human => self.is_live(from)?,
            _ => false,
        };
        let options = match kind {
            MailKind::Permission => asking::leave(pattern),
            MailKind::Question => asking::offers(&mail.body),
            MailKind::Alert | MailKind::Letter => Vec::new(),
        };
        let request = tool.map(|tool| PermissionRequest { tool, input: input_of(&mail.body) });
        let settled = match &answer {
            Some(answer) => Some(MailAnswer {
                by: self.person(answer.from)?,
                mail_id: answer.id,
                at: answer.created_at,
                // The first answer counts, as it does for the agent.
                allowed: (kind == MailKind::Permission)
                    .then(|| ask::verdict(&answer.body) == PermissionVerdict::Allow),
            }),
            None => None,
        };
        let most = u32::try_from(MAX_SEARCHED).unwrap_or(u32::MAX);
        let replies = self.tx.mail_answered_by(mail.id, most)?.len();
        let letter = MailEntry {
            id: mail.id,
            thread_id: self.root(mail.id)?,
            from,
            to: self.person(mail.to.agent())?,
            preview: preview(&mail.body),
            subject: mail.subject,
            created_at: mail.created_at,
            read_at: mail.read_at,
            kind,
            needs_answer: live && answer.is_none(),
            replies: u64::try_from(replies).unwrap_or(u64::MAX),
        };
        let cut = mail.body.len() > *room;
        *room = room.saturating_sub(mail.body.len());
        let body = if cut { mail.body.chars().take(BEGINNING).collect() } else { mail.body };
        Ok(ThreadMail { letter, body, cut, options, request, settled })
    }
}

/// The tasks that wait for an agent's.
fn behind(tx: &Tx<'_>, agent: &Agent) -> Result<Vec<WaitingTask>, ToolError> {
    let Some(task) = task_of(tx, agent.task)? else { return Ok(Vec::new()) };
    let tasks = tx.tasks_behind(task.number, BEHIND)?.into_iter();
    let show = |(task_number, title)| WaitingTask { task_number, title };
    Ok(tasks.map(show).collect())
}

impl Views {
    /// The thread that a mail belongs to.
    pub async fn thread(&self, id: MailId) -> Result<Thread, ToolError> {
        let engine = self.clone();
        self.store.scan(move |tx| thread(&engine, tx, id)).await
    }

    /// True if mail reaches an agent at once: its kind can be woken, or it waits for its
    /// inbox at this moment.
    fn wakes(&self, tx: &Tx<'_>, agent: &Agent) -> Result<bool, ToolError> {
        let is_told = kind(&agent.kind).is_some_and(|kind| kind.supports().wake);
        // Who has children may wait for one of them instead.
        let looks = self.waits.is_waiting(agent.id) && tx.agent_children_count(agent.id)? == 0;
        Ok(agent.ended_at().is_none() && (is_told || looks))
    }
}

fn thread(engine: &Views, tx: &Tx<'_>, id: MailId) -> Result<Thread, ToolError> {
    if tx.mail_get(id)?.is_none() {
        return Err(ToolError::not_found(format!("there is no mail `{id}`"))
            .hint("`GET /api/mail` lists mail"));
    }
    let mut reading = Reading::new(tx);
    let root = reading.root(id)?;
    let places = places(tx, root)?;
    let left_out = places.len().saturating_sub(MAX_SHOWN);
    let (mut letters, mut room) = (Vec::new(), WHOLE);
    // From the newest: it is what is read first, and it is always whole.
    for (_, id) in places.into_iter().skip(left_out).rev() {
        let Some(mail) = tx.mail_get(id)? else { continue };
        room = if letters.is_empty() { room.max(mail.body.len()) } else { room };
        letters.push(reading.whole(mail, &mut room)?);
    }
    letters.reverse();
    // What is open is answered first, however many mails came after it.
    let received =
        |letter: &&ThreadMail| letter.letter.to.human && letter.letter.from.agent_id.is_some();
    let open = letters.iter().find(|letter| letter.letter.needs_answer);
    let answerable = open.or_else(|| letters.iter().rev().find(received));
    let (reply_to, writer) = answerable
        .map_or((None, None), |found| (Some(found.letter.id), found.letter.from.agent_id));
    // Where nobody wrote to the human, it is still good to know whom they are with.
    let wrote = || letters.iter().rev().find_map(|letter| letter.letter.from.agent_id);
    let other = || wrote().or_else(|| letters.iter().rev().find_map(|one| one.letter.to.agent_id));
    let with: Option<AgentId> = writer.or_else(other);
    let agent = with.map(|id| tx.agent_get(id)).transpose()?.flatten();
    let permission = open.is_some_and(|open| open.letter.kind == MailKind::Permission);
    Ok(Thread {
        thread_id: root,
        subject: letters.first().map(|first| first.letter.subject.clone()).unwrap_or_default(),
        left_out,
        with: with.map(|with| reading.person(Some(with))).transpose()?,
        reply_to,
        wakes: match &agent {
            Some(agent) if permission => agent.ended_at().is_none(),
            Some(agent) => engine.wakes(tx, agent)?,
            None => false,
        },
        waits_behind: agent.as_ref().map_or(Ok(Vec::new()), |agent| behind(tx, agent))?,
        letters,
    })
}
