//! Orders to a keeper, and its periodic checks.

use std::time::Duration;

use host::agent::PermissionVerdict as Answer;
use model::MailId;
use model::agent::{AgentState, Outcome};
use store::{Inbox, Mail, Recipient};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{Keeper, Leave};
use crate::call::observer::CallNote;
use crate::core::error::ToolError;
use crate::crew::run::ask::{self, Asking};
use crate::mail::outgoing::sender_name;

/// An open tool call is no silence, for so long.
const OPEN_CALL: Duration = Duration::from_secs(30 * 60);
/// Mails announced after a restart.
const UNREAD: u32 = 20;

/// Order to a keeper.
#[derive(Debug)]
pub(crate) enum Order {
    /// There is a request to end the agent
    Stop,
    /// A descendant has ended
    Below,
    /// There is mail for it
    Mail(MailId),
    /// A person types a line
    Type(String, oneshot::Sender<bool>),
    /// It called a tool of ours
    Called(CallNote),
}

impl Keeper {
    pub(super) async fn obey(&mut self, order: Order) -> Result<(), Leave> {
        match order {
            Order::Stop | Order::Below => self.obey_stop().await,
            Order::Mail(id) => self.mail(id).await,
            Order::Type(line, reply) => {
                // Typed once, sent once: the key only has to be new.
                let key = format!("typed:{}", host::random::bits().unwrap_or_default());
                let taken = self.tell(&key, &line).await?;
                // The client that typed may have gone.
                _ = reply.send(taken);
                Ok(())
            }
            Order::Called(note) => self.called(&note).await,
        }
    }

    /// True if a descendant that we run has not ended.
    pub(super) fn has_below(&self) -> Result<bool, Leave> {
        let below = self.engine.store.read(|tx| tx.agent_descendants(self.agent.id));
        Ok(below.map_err(ToolError::from)?.iter().any(|agent| agent.kind != "enlisted"))
    }

    /// Stops all descendants of an agent that was ended, and waits for them.
    pub(super) async fn take_along(&mut self, outcome: Outcome, reason: &str) -> Result<(), Leave> {
        let by_itself = matches!(outcome, Outcome::Succeeded | Outcome::Failed | Outcome::Lost);
        if by_itself || !self.has_below()? {
            return Ok(());
        }
        self.want_stop(outcome, reason.to_owned()).await?;
        let patience = self.patience();
        while self.has_below()? {
            tokio::select! {
                () = self.shutdown.cancelled() => return Err(Leave::Shutdown),
                order = self.orders.recv() => if order.is_none() { return Err(Leave::Shutdown) },
                () = tokio::time::sleep_until(patience) => break,
            }
        }
        Ok(())
    }

    /// When there is something to look at, if nothing happens before.
    pub(super) fn next_look(&self) -> Instant {
        let mut next = Instant::now() + Duration::from_secs(3600);
        if let Some(stopping) = &self.stopping {
            return stopping.next().unwrap_or(next);
        }
        if let Some(limit) = self.inactivity() {
            let patience = if self.warned_silent { limit + limit / 2 } else { limit };
            next = next.min(self.silent_since + patience);
        }
        if self.seen.matters() {
            next = next.min(self.written + super::SAVE_INTERVAL);
        }
        if let Some(since) = self.finished_since {
            next = next.min(since + self.grace());
        }
        next
    }

    /// Allowed silence.
    fn inactivity(&self) -> Option<Duration> {
        let settings = self.engine.settings();
        let role = settings.role_of(&self.agent.role).and_then(|role| role.inactivity);
        let category = settings.policy.get(&self.agent.category).map(|own| own.inactivity);
        let seconds = role.or(category)?;
        (seconds > 0).then(|| Duration::from_secs(u64::from(seconds)))
    }

    /// Looks at what did not happen.
    pub(super) async fn look(&mut self) -> Result<(), Leave> {
        if self.stopping.is_some() {
            return self.go_on_stopping().await;
        }
        if self.seen.matters() {
            self.report().await?;
        }
        if self.finished_since.is_some_and(|since| since.elapsed() >= self.grace()) {
            return self.dismiss().await;
        }
        let Some(limit) = self.inactivity() else { return Ok(()) };
        if self.silent_since.elapsed() < limit {
            return Ok(());
        }
        if self.is_excused()? {
            self.silent_since = Instant::now();
            return Ok(());
        }
        let seconds = self.silent_since.elapsed().as_secs();
        if !self.warned_silent {
            self.warned_silent = true;
            self.warning(&format!("it has been silent for {seconds} s"));
            self.report().await?;
            let text = "Adjutant, not your user, tells you: you have been silent for long. \
                Say what you do, or end with what you have.";
            self.tell(&format!("silent:{seconds}"), text).await?;
            return Ok(());
        }
        if self.silent_since.elapsed() >= limit + limit / 2 {
            let reason = format!("stuck: silent for {seconds} s");
            self.want_stop(Outcome::Killed, reason).await?;
        }
        Ok(())
    }

    /// True if its silence has a reason: it waits, or a tool is running.
    fn is_excused(&self) -> Result<bool, Leave> {
        if self.engine.waits.is_waiting(self.agent.id) {
            return Ok(true);
        }
        let id = self.agent.id;
        let state = self.engine.store.read(|tx| tx.agent_get(id)).map_err(ToolError::from)?;
        let waits = state.is_some_and(|agent| {
            matches!(agent.state, AgentState::WaitingReview | AgentState::WaitingInput)
        });
        let busy = self.notes.busy_since().is_some_and(|since| {
            let millis = self.engine.now().millis_since(since);
            u128::try_from(millis).is_ok_and(|millis| millis < OPEN_CALL.as_millis())
        });
        Ok(waits || busy)
    }

    /// Tells it something while it runs; false where its kind cannot be told.
    pub(super) async fn tell(&mut self, key: &str, text: &str) -> Result<bool, Leave> {
        // What was heard so far is written down first, so that a repetition begins from here.
        self.report().await?;
        let steps = self.talk.tell(text);
        let told = !steps.is_empty();
        let says = self.take(steps, self.engine.now().as_millis());
        for (index, step) in says.into_iter().enumerate() {
            self.say(&format!("{key}:{index}"), step).await;
        }
        if told {
            self.report().await?;
        }
        Ok(told)
    }

    /// Tells it of a mail by a fixed notice, and never with the body; or takes the answer that it is.
    async fn mail(&mut self, id: MailId) -> Result<(), Leave> {
        let Some(mail) = self.engine.store.read(|tx| tx.mail_get(id)).map_err(ToolError::from)?
        else {
            return Ok(());
        };
        if let Some((request, verdict)) = ask::answer(&self.engine, self.agent.id, &mail).await? {
            return self.answer(&request, verdict).await;
        }
        self.notice(&mail).await
    }

    async fn notice(&mut self, mail: &Mail) -> Result<(), Leave> {
        if !self.kind.supports().wake || mail.read_at.is_some() {
            return Ok(());
        }
        // One that may not read its mail can do nothing with the notice.
        if !self.engine.settings().permits(&self.agent, "mcp__mail__read") {
            return Ok(());
        }
        let sender = sender_name(mail);
        let text = format!(
            "[Adjutant: you have mail. This notice is not from your user.] Letter {} from {sender}. \
             Read it with the tool `read` of the MCP server `mail`, when it suits your work.",
            mail.id
        );
        self.tell(&format!("mail:{}", mail.id), &text).await?;
        Ok(())
    }

    /// Tells it of mails that came while nobody was there to tell, and of answers.
    pub(super) async fn unread(&mut self) -> Result<(), Leave> {
        let id = self.agent.id;
        let (letters, questions) = self.engine.store.read(|tx| {
            let letters = tx.mail_inbox(Recipient::Agent(id), Inbox::Unread, 0, UNREAD)?.items;
            Ok::<_, ToolError>((letters, tx.questions_of(id)?))
        })?;
        for question in questions {
            let request = ask::request_in(self.agent.attempt, &question.request);
            if let (Some(answer), Some(request)) = (question.answer, request) {
                self.answer(request, ask::verdict(&answer)).await?;
            }
        }
        for mail in letters {
            self.mail(mail.id).await?;
        }
        Ok(())
    }

    async fn answer(&mut self, request: &str, verdict: Answer) -> Result<(), Leave> {
        self.report().await?;
        let steps = self.talk.answer(request, verdict);
        let says = self.take(steps, self.engine.now().as_millis());
        for (index, step) in says.into_iter().enumerate() {
            self.say(&format!("answer:{request}:{index}"), step).await;
        }
        self.report().await?;
        ask::continued(&self.engine, self.agent.id, self.agent.attempt).await?;
        self.silent_since = Instant::now();
        Ok(())
    }

    /// It called a tool of ours: a sign of life, and perhaps one of going round in circles.
    async fn called(&mut self, note: &CallNote) -> Result<(), Leave> {
        self.silent_since = Instant::now();
        self.warned_silent = false;
        let verdict = match &note.error {
            Some(error) => self.notes.habits.failed(note.tool, error),
            None if note.polls => return Ok(()),
            None => self.notes.habits.called(note.tool, &note.input),
        };
        self.judged(verdict);
        self.settle().await
    }

    /// Does what judgements, questions and warnings have left to do.
    pub(super) async fn settle(&mut self) -> Result<(), Leave> {
        for (request, tool, input) in std::mem::take(&mut self.asked) {
            let asked = ask::ask(&self.engine, &self.agent, &request, &tool, &input).await?;
            if asked == Asking::Allowed {
                self.answer(&request, Answer::Allow).await?;
            }
        }
        for (index, text) in std::mem::take(&mut self.to_tell).into_iter().enumerate() {
            let key = format!("warn:{}:{index}", self.notes.warnings);
            self.tell(&key, &text).await?;
        }
        if let Some(reason) = self.notes.refused.clone()
            && self.stopping.is_none()
        {
            self.report().await?;
            self.want_stop(Outcome::Failed, reason).await?;
        }
        if let Some(reason) = self.stuck.take() {
            self.report().await?;
            self.want_stop(Outcome::Killed, reason).await?;
        }
        Ok(())
    }
}
