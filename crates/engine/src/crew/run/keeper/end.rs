//! Judges how an agent ended: from its output, its process and requests to stop.

use host::run::{EndCause, ExitRecord, RunStatus};
use model::agent::{AgentEvent, AgentState, Outcome};
use model::review::ReviewRequired;
use model::{AgentId, Timestamp};
use store::{Agent, Run};
use tokio::sync::Semaphore;

use super::{Keeper, Leave};
use crate::call::identity::hash_token;
use crate::core::error::ToolError;
use crate::core::machine::directory_of;
use crate::crew::hooks::{AfterProcess, ProcessEnd};
use crate::crew::result::{self, AgentResult};
use crate::crew::run::finish::{self, Ending, Figures, RunProgress};
use crate::crew::run::last_message::last_message;
use crate::crew::run::launch::LaunchError;
use crate::crew::run::notes::{Account, Limit, Verdict};
use crate::crew::run::options::RunOptions;
use crate::crew::run::reconcile;
use crate::crew::run::required_review::{left_work, required_review};
use crate::crew::run::terminal;
use crate::crew::service::Crew;
use crate::crew::transition;

/// Default duration of a usage limit.
const LIMIT_MILLIS: i64 = 15 * 60 * 1000;

/// Limits concurrent git queries: hundreds of agents may end at once, each with several runs of git.
static ASKING_GIT: Semaphore = Semaphore::const_new(4);

/// Ends an agent that could not be started.
pub(super) async fn never_started(
    engine: &Crew,
    agent: &Agent,
    error: &LaunchError,
) -> Result<(), Leave> {
    let mut reason = format!("it could not be started: {error}");
    if let Some(cause) = std::error::Error::source(error) {
        reason = format!("{reason}: {cause}");
    }
    let id = agent.id;
    let run = engine.store.read(|tx| tx.run_get(id)).map_err(ToolError::from)?;
    let mut outcome = Outcome::Failed;
    // It was stopped while its worktree was prepared.
    if let Some(stop) = run.and_then(|run| run.stop) {
        (outcome, reason) = (stop.outcome, stop.reason);
    }
    let result = result::read_result(None, &reason, None);
    let account = Figures::Nothing;
    let ending = Ending { outcome, reason, result, account, left_work: false };
    close(engine, agent.id, agent.attempt, ending, RunProgress::default()).await
}

/// Records an end, unless it is another attempt's. Who waits for a review is not over when its process
/// is, and who ended without having heard what the review said goes on with it.
async fn close(
    engine: &Crew,
    id: AgentId,
    attempt: u32,
    ending: Ending,
    lasted: RunProgress,
) -> Result<(), Leave> {
    let (ran_ms, after_process) = (lasted.ran_ms, engine.hooks.after_process);
    let (settings, clock) = (engine.settings(), engine.clone());
    // Its process is gone, and with it the token: nobody knows the one in its place.
    let nobodys = hash_token(&host::random::secret("adjag_").map_err(ToolError::internal)?);
    engine
        .store
        .write(move |tx| {
            // Hundreds may end at once and wait here for each other: each ends when its turn has come.
            let now = clock.now();
            let Some(agent) = tx.agent_get(id)?.filter(|agent| agent.attempt == attempt) else {
                return Ok(());
            };
            // A request to end it that came in the last moment is the reason, unless it was done. One that waits for a
            // review, or whose work needs one, was not, where its end was wanted and no limit had run out.
            let mut ending = ending.clone();
            let stop = tx.run_get(id)?.and_then(|run| run.stop);
            let is_stopped = stop
                .as_ref()
                .is_some_and(|stop| matches!(stop.outcome, Outcome::Killed | Outcome::Abandoned));
            let needs_review = agent.state == AgentState::WaitingReview || ending.left_work;
            let is_done = ending.outcome == Outcome::Succeeded && !(is_stopped && needs_review);
            if let Some(stop) = stop.filter(|_| !is_done) {
                ending.outcome = stop.outcome;
                ending.reason = stop.reason;
            }
            let (outcome, left_work) = (ending.outcome, ending.left_work);
            let end =
                ProcessEnd { agent: &agent, outcome, is_stopped, lasted: &lasted, left_work, now };
            match after_process(tx, &settings, &end)? {
                AfterProcess::Over => {}
                AfterProcess::Parked => {
                    tx.agent_begin(id, attempt, &nobodys, now)?;
                    tx.run_pause(id, ran_ms)?;
                    // Its result, unless it goes on.
                    tx.run_finish(id, &finish::recorded_result(&ending.result)?)?;
                    tx.run_park(id, now)?;
                    return Ok(());
                }
                AfterProcess::GoesOn(word) => {
                    tx.agent_begin(id, attempt, &nobodys, now)?;
                    tx.run_pause(id, ran_ms)?;
                    tx.run_next_prompt(id, &word)?;
                    return reconcile::requeue(tx, &settings, id, now);
                }
            }
            finish::finish(tx, &settings, &agent, &ending, now)
        })
        .await?;
    engine.forget_agent(id);
    Ok(())
}

impl Keeper {
    /// Judges and records the end.
    pub(super) async fn end(mut self, standing: RunStatus) -> Result<(), Leave> {
        let told = self.notes.done.is_some();
        let steps = self.talk.end();
        let folder = self.folder.clone();
        let redacted = tokio::task::spawn_blocking(move || folder.redact_given()).await;
        if !matches!(redacted, Ok(Ok(()))) {
            tracing::warn!(id = %self.agent.id, ?redacted, "failed to redact the run folder");
        }
        let at = self.engine.now();
        self.take(steps, at.as_millis());
        if let RunStatus::Ended(exit) = &standing
            && !told
        {
            self.miss_result(exit);
        }
        if let RunStatus::Ended(exit) = &standing
            && exit.dropped_bytes > 0
        {
            let (dropped, bytes) = (exit.dropped_bytes, exit.bytes);
            self.warning(&format!("{dropped} of the {bytes} bytes of its output were dropped"));
        }
        // How far it was read matters to nobody any more; who comes after a crash reads the rest again.
        if self.seen.matters() {
            self.report().await?;
        }
        if standing == RunStatus::Gone {
            let folder = self.folder.clone();
            let swept = tokio::task::spawn_blocking(move || folder.sweep()).await;
            tracing::warn!(id = %self.agent.id, ?swept, "supervisor of agent died");
        }
        let run =
            self.engine.store.read(|tx| tx.run_get(self.agent.id)).map_err(ToolError::from)?;
        let run = run.unwrap_or_else(|| self.run.clone());
        let done = self.notes.done.clone();
        let has_succeeded = matches!(done, Some(Account { verdict: Verdict::Success, .. }));
        if let (Some(limit), RunStatus::Ended(exit)) = (self.notes.limited, &standing)
            && (run.stop.is_none() && (exit.ended == EndCause::Exited || self.notes.finished))
            && !(has_succeeded && (exit.code == Some(0) || self.notes.finished))
        {
            let until = self.limited_until(limit, at);
            if self.seen.matters() {
                self.report().await?;
            }
            let ran_ms = exit.ended_at.millis_since(exit.started_at).max(1);
            return self.limited(ran_ms, until).await;
        }
        let mut result = self.result().await;
        let account = done.as_ref().map(|done| (done, self.notes.finished));
        let (outcome, reason) = judge(&standing, &run, &self.options, account, &self.notes.errors);
        let (outcome, reason) = match (outcome, self.notes.refused.clone()) {
            // It gave up by itself, in words that do not say what to do.
            (Outcome::Failed, Some(refused)) => (outcome, refused),
            (outcome, _) => (outcome, reason),
        };
        let (outcome, reason) = match outcome {
            Outcome::Succeeded if !result.problems.is_empty() => (
                Outcome::Failed,
                format!("its result does not match the schema: {}", result.problems.join("; ")),
            ),
            outcome => (outcome, reason),
        };
        self.add_words(&mut result, outcome, &reason).await;
        self.take_along(outcome, &reason).await?;
        terminal::close(&self.engine, &self.agent).await;
        let lasted = match &standing {
            RunStatus::Ended(exit) => RunProgress {
                ran_ms: exit.ended_at.millis_since(exit.started_at).max(1),
                until: Some(exit.ended_at),
                head: self.head().await?,
            },
            RunStatus::NotBegun | RunStatus::Running | RunStatus::Gone => {
                RunProgress { ran_ms: 1, ..RunProgress::default() }
            }
        };
        let lost = matches!(done, Some(Account { verdict: Verdict::Lost(_), .. }));
        let account = if lost { Figures::Lost } else { Figures::Whole };
        let left_work = outcome == Outcome::Succeeded && self.left_work().await?;
        let ending = Ending { outcome, reason, result, account, left_work };
        close(&self.engine, self.agent.id, self.agent.attempt, ending, lasted).await
    }

    /// The commit that is checked out where a reviewed agent works.
    async fn head(&self) -> Result<Option<String>, Leave> {
        let reviews = self.engine.store.read(|tx| tx.reviews_of(self.agent.id));
        if reviews.map_err(ToolError::from)?.is_empty() {
            return Ok(None);
        }
        let place = directory_of(&self.engine, &self.agent);
        let head = tokio::task::spawn_blocking(move || host::git::head(&place));
        Ok(head.await.unwrap_or_default())
    }

    /// True if its worktree has work that needs a review.
    async fn left_work(&self) -> Result<bool, Leave> {
        let settings = self.engine.settings();
        let worktree = self.engine.store.read(|tx| {
            let Some(agent) = tx.agent_get(self.agent.id)? else { return Ok(None) };
            if required_review(tx, &settings, &agent)? == ReviewRequired::Never {
                return Ok(None);
            }
            Ok::<_, ToolError>(tx.worktree_of(agent.id)?)
        })?;
        let Some(worktree) = worktree else { return Ok(false) };
        // Nobody closes it, so that there is always a turn.
        let _turn = ASKING_GIT.acquire().await;
        let looked =
            self.engine.outside(move |core| Ok::<_, ToolError>(left_work(core, &worktree)));
        Ok(looked.await?)
    }

    /// Notes that its result was lost, where output never reached the disk and there is none in the rest. What it
    /// printed before must not pass for a success.
    fn miss_result(&mut self, exit: &ExitRecord) {
        let given = self.notes.done.as_ref().is_some_and(|done| done.value.is_some());
        if exit.unwritten_bytes == 0 || given {
            return;
        }
        let reason = format!(
            "{} of the {} bytes of its output could not be written to the disk, and there is no result \
             in the rest; make room on the disk and start it again",
            exit.unwritten_bytes, exit.bytes
        );
        let text = self.notes.done.take().map(|done| done.text).unwrap_or_default();
        self.notes.done = Some(Account { verdict: Verdict::Lost(reason), text, value: None });
    }

    /// End of a usage limit: as the agent reported it, at most as long as the configuration lets it wait.
    fn limited_until(&mut self, limit: Limit, now: Timestamp) -> Timestamp {
        let hours = self.engine.settings().limits.max_limited_hours;
        let most = now.after_millis(i64::from(hours) * 3_600_000);
        let announced = limit.until.map(Timestamp::from_millis);
        if announced.is_some_and(|announced| announced > most) {
            self.warning(&format!(
                "its model's usage limit was reported to last beyond the {hours} hours of \
                 `limits.maxLimitedHours`; it goes on at {most}"
            ));
        }
        announced.unwrap_or_else(|| now.after_millis(LIMIT_MILLIS)).min(most)
    }

    /// Result of the agent: its own report, completed from git.
    async fn result(&self) -> AgentResult {
        let done = self.notes.done.clone().map(host::agent::EndReport::from);
        let mut result =
            result::read_result(done.as_ref(), &self.notes.errors, self.options.schema.as_ref());
        if result.changes.is_empty() {
            let (place, base) = (directory_of(&self.engine, &self.agent), self.notes.base.clone());
            let limit = self.engine.settings().limits.tool_timeout_ms;
            let limit = std::time::Duration::from_millis(limit);
            let began = self.run.started_at.unwrap_or(self.agent.created_at);
            let git = self.engine.git();
            // Nobody closes it, so that there is always a turn.
            let _turn = ASKING_GIT.acquire().await;
            let changes = tokio::task::spawn_blocking(move || {
                git.since(began).changes_since(&place, base.as_deref(), limit)
            });
            match changes.await {
                Ok(Ok(changes)) => result.complete(changes),
                Ok(Err(error)) => tracing::debug!(%error, "failed to read changes from git"),
                Err(error) => tracing::debug!(%error, "failed to read changes from git"),
            }
        }
        result
    }

    /// Adds its agent's last messages to a result, if the agent did not succeed or ended without a summary.
    async fn add_words(&self, result: &mut AgentResult, outcome: Outcome, reason: &str) {
        if outcome != Outcome::Succeeded || result.summary.is_empty() {
            result.last_messages = self.last_words(result, reason).await;
        }
        if result.summary.is_empty() {
            reason.clone_into(&mut result.summary);
        }
    }

    /// What an agent said last itself that did not succeed, or that ended without a word: the summary of its result, or else its last messages.
    async fn last_words(&self, result: &AgentResult, reason: &str) -> String {
        // Then all that it says is that.
        if self.notes.refused.is_some() {
            return String::new();
        }
        let done = self.notes.done.as_ref();
        let why = done.and_then(|done| match &done.verdict {
            Verdict::Failure(why) | Verdict::Aborted(why) | Verdict::Lost(why) => Some(why.clone()),
            Verdict::Success => None,
        });
        let reason = reason.to_owned();
        let is_about_end = move |text: &str| text == reason || Some(text) == why.as_deref();
        let has_words = done.is_some_and(|done| !done.text.trim().is_empty());
        if has_words && !result.summary.is_empty() && !is_about_end(&result.summary) {
            return result.summary.clone();
        }
        let (kind, folder) = (self.kind.name(), self.folder.clone());
        let read = tokio::task::spawn_blocking(move || last_message(kind, &folder, is_about_end));
        match read.await {
            Ok(Ok(announced)) => announced,
            error => {
                tracing::debug!(id = %self.agent.id, ?error, "last words of agent not read");
                String::new()
            }
        }
    }

    /// Its model does not answer it for a while: the same agent goes on later.
    async fn limited(self, ran_ms: i64, until: Timestamp) -> Result<(), Leave> {
        terminal::close(&self.engine, &self.agent).await;
        let (id, attempt, now) = (self.agent.id, self.agent.attempt, self.engine.now());
        // Its process is gone, and with it the token: nobody knows the one in its place.
        let nobodys = host::random::secret("adjag_").map_err(ToolError::internal)?;
        self.engine
            .store
            .write(move |tx| {
                let of_attempt = tx.agent_get(id)?.filter(|agent| agent.attempt == attempt);
                let live = of_attempt.filter(|agent| agent.ended_at().is_none());
                let Some(mut agent) = live else { return Ok(()) };
                transition::advance(tx, &mut agent, AgentEvent::HitLimit { until }, now)?;
                tx.agent_begin(id, attempt, &hash_token(&nobodys), now)?;
                tx.run_pause(id, ran_ms)?;
                Ok::<_, ToolError>(())
            })
            .await?;
        self.engine.tokens.forget(id);
        Ok(())
    }
}

/// Outcome with its reason.
fn judge(
    standing: &RunStatus,
    run: &Run,
    options: &RunOptions,
    account: Option<(&Account, bool)>,
    errors: &str,
) -> (Outcome, String) {
    if let Some(stop) = &run.stop {
        return (stop.outcome, stop.reason.clone());
    }
    let exit = match standing {
        RunStatus::Ended(exit) => exit,
        RunStatus::NotBegun | RunStatus::Running | RunStatus::Gone => {
            // It had given its result.
            if let Some((done, true)) = account {
                return of_account(done);
            }
            return (Outcome::Lost, "its supervisor died and took it along".to_owned());
        }
    };
    let done = account.map(|(done, _)| done);
    match (exit.ended, account) {
        // It had given its result, and only its process did not exit.
        (EndCause::TimedOut | EndCause::Stopped | EndCause::LeaseLost, Some((done, true))) => {
            of_account(done)
        }
        (EndCause::TimedOut, _) => timed_out(run, options.timeout, exit),
        (EndCause::NotStarted, _) => {
            let why = exit.why.as_deref().unwrap_or("it could not be started");
            (Outcome::Failed, why.to_owned())
        }
        (EndCause::Stopped, _) => {
            let why = exit.why.as_deref().unwrap_or("it was stopped");
            (Outcome::Killed, why.to_owned())
        }
        (EndCause::LeaseLost, _) => (Outcome::Lost, lease_lost(exit)),
        (EndCause::Exited, _) => by_itself(exit, done, errors),
    }
}

/// Judges an end by the agent's own account alone.
fn of_account(done: &Account) -> (Outcome, String) {
    match &done.verdict {
        Verdict::Success => (Outcome::Succeeded, "done".to_owned()),
        Verdict::Failure(why) | Verdict::Lost(why) => (Outcome::Failed, why.clone()),
        Verdict::Aborted(why) => (Outcome::OverBudget, why.clone()),
    }
}

fn timed_out(run: &Run, timeout: Option<u32>, exit: &ExitRecord) -> (Outcome, String) {
    let deadline = run.deadline_at.is_some_and(|deadline| exit.ended_at >= deadline);
    match (deadline, timeout) {
        (true, _) => (Outcome::OverBudget, "its budget of time is used up".to_owned()),
        (false, Some(seconds)) => (Outcome::TimedOut, format!("it ran for more than {seconds} s")),
        (false, None) => (Outcome::TimedOut, "its time was up".to_owned()),
    }
}

/// Reason of an agent that its supervisor ended because its machine had lost touch with the server.
fn lease_lost(exit: &ExitRecord) -> String {
    let ended = "its machine could not reach the server before its lease ended, so its supervisor \
                 ended it";
    match &exit.why {
        Some(why) => format!("{ended}: {why}"),
        None => ended.to_owned(),
    }
}

fn by_itself(exit: &ExitRecord, done: Option<&Account>, errors: &str) -> (Outcome, String) {
    let code = match (exit.code, exit.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".to_owned(),
    };
    let last = errors.trim_end().lines().next_back().unwrap_or_default();
    let ended = if last.is_empty() { code } else { format!("{code}; its last words: {last}") };
    match done {
        Some(Account { verdict: Verdict::Success, .. }) if exit.code != Some(0) => {
            (Outcome::Failed, format!("it ended with {ended}"))
        }
        Some(done) => of_account(done),
        None => (Outcome::Failed, format!("it ended without a result: {ended}")),
    }
}

#[cfg(test)]
mod tests {
    use host::run::Position;
    use store::{ReadPosition, Tokens};

    use super::*;

    fn run() -> Run {
        Run {
            agent: AgentId::from_bits(1),
            prompt: String::new(),
            summary: String::new(),
            options: "{}".to_owned(),
            resumed_from: None,
            model: None,
            conversation: None,
            read: ReadPosition::default(),
            stop: None,
            started_at: None,
            deadline_at: None,
            ran_ms: 0,
            result: None,
            cost: None,
            tokens: Tokens::default(),
            parked_at: None,
            next_prompt: None,
            machine: None,
        }
    }

    fn lease_lost(why: Option<&str>) -> RunStatus {
        let at = Timestamp::from_millis(0);
        RunStatus::Ended(ExitRecord {
            ended: EndCause::LeaseLost,
            why: why.map(str::to_owned),
            code: None,
            signal: Some(9),
            started_at: at,
            ended_at: at,
            left_behind: 0,
            lines: 0,
            bytes: 0,
            dropped_lines: 0,
            dropped_bytes: 0,
            unwritten_bytes: 0,
            last: Position::default(),
        })
    }

    #[test]
    fn an_agent_whose_lease_ran_out_is_lost_and_says_why() {
        let judged = |standing: &RunStatus, account| {
            judge(standing, &run(), &RunOptions::default(), account, "")
        };
        let (outcome, reason) = judged(&lease_lost(None), None);
        assert_eq!(outcome, Outcome::Lost);
        assert!(reason.contains("could not reach the server before its lease ended"), "{reason}");
        let late = "noticed 4.0 s after its lease had ended";
        let (outcome, reason) = judged(&lease_lost(Some(late)), None);
        assert_eq!(outcome, Outcome::Lost);
        assert!(reason.ends_with(late), "{reason}");
        let done = Account { verdict: Verdict::Success, text: String::new(), value: None };
        let (outcome, _) = judged(&lease_lost(None), Some((&done, true)));
        assert_eq!(outcome, Outcome::Succeeded, "it had said all it had to say");
        let (outcome, _) = judged(&lease_lost(None), Some((&done, false)));
        assert_eq!(outcome, Outcome::Lost);
    }
}
