//! One loop, step by step. What comes next stands in the record; each step reads it, does one thing, and writes down in one
//! transaction what came of it and what comes then. So a server that dies goes on exactly there.

use model::agent::{AgentState, Outcome};
use model::event::EventKind;
use model::money::Usd;
use model::session::{
    LoopAction, LoopProgress, LoopRequest, LoopState, Moment, Phase, decide, failures_after,
};
use model::task::{TaskRef, TaskStateName};
use model::{AgentId, EventKinds, Timestamp};
use store::{EventDraft, EventFilter, IterationEnd, Loop, Run, Tx};
use tokio_util::sync::CancellationToken;
use wire::event::{
    EventData, FailedStep, HookOutput, LoopCommitted, LoopEnded, LoopIterationEnded, LoopPaused,
    LoopStepFailed,
};

use super::hook::{self, About, HookOutcome};
use super::prompt::{Recovery, cut};
use super::{begin, commit};
use crate::core::error::ToolError;
use crate::core::follow::{EventReaction, NextRun};
use crate::core::handle::Core;
use crate::core::point::Point;
use crate::crew::result::AgentResult;

/// Events after which a loop may go on: its own, the end of its agent, and tasks that its agent completed.
const KINDS: EventKinds = EventKinds::family("loop")
    .with(EventKinds::of(&[EventKind::AgentFinished, EventKind::TaskUpdated]));
/// Events read per step.
const EVENTS: u32 = 500;
/// Bytes of an agent's last output that are passed on.
const WORDS: usize = 4 << 10;
/// Bytes of a hook's output that are passed on and kept with a failure.
const OUTPUT: usize = 8 << 10;

/// Result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// There is more to do at once
    Again,
    /// Something must happen first
    Wait,
    /// There is nothing to do any more
    Over,
}

/// Drives a loop until it has nothing to do or the server ends.
pub(super) async fn drive(engine: Core, session: String, shutdown: CancellationToken) {
    let mut driver = Driver { engine: engine.clone(), session, shutdown: shutdown.clone() };
    engine.follow(&mut driver, &shutdown).await;
}

/// Drives one loop.
struct Driver {
    engine: Core,
    session: String,
    shutdown: CancellationToken,
}

impl EventReaction for Driver {
    fn name(&self) -> String {
        format!("the loop `{}`", self.session)
    }

    fn kinds(&self) -> EventKinds {
        KINDS
    }

    async fn react(&mut self) -> Result<NextRun, ToolError> {
        Ok(match step(&self.engine, &self.session, &self.shutdown).await? {
            Step::Again => NextRun::Now,
            Step::Wait => NextRun::News,
            Step::Over => NextRun::Never,
        })
    }
}

async fn step(
    engine: &Core,
    session: &str,
    shutdown: &CancellationToken,
) -> Result<Step, ToolError> {
    let row = engine.store.read(|tx| tx.loop_get(session))?.filter(Loop::is_live);
    let Some(row) = row else { return Ok(Step::Over) };
    // The planning has no hooks.
    let planning = row.iteration_about() == 0;
    let about = About::default();
    let moment = match row.phase {
        Phase::Working => return working(engine, &row, shutdown).await,
        Phase::Committing => return settle(engine, &row).await,
        Phase::Over => return Ok(Step::Over),
        Phase::Opening => Some(Moment::SessionStart),
        Phase::Before => Some(Moment::PreIteration).filter(|_| !planning && row.request.is_none()),
        Phase::Erring => {
            let about = About { error: failure(&row)?, ..About::default() };
            return around(engine, &row, Some(Moment::OnError), &about, shutdown).await;
        }
        Phase::After => Some(Moment::PostIteration).filter(|_| !planning),
        Phase::Closing => Some(Moment::SessionEnd),
    };
    around(engine, &row, moment, &about, shutdown).await
}

/// Failure of the last iteration, one line.
fn failure(row: &Loop) -> Result<Option<String>, ToolError> {
    Ok(Recovery::of(row)?.map(|recovery| recovery.reason))
}

/// Runs the next hook of a phase or, where there is none left, goes on to the next phase.
async fn around(
    engine: &Core,
    row: &Loop,
    moment: Option<Moment>,
    about: &About,
    shutdown: &CancellationToken,
) -> Result<Step, ToolError> {
    if let Some(moment) = moment
        && let Some(step) = hooked(engine, row, moment, about, shutdown).await?
    {
        return Ok(step);
    }
    match row.phase {
        Phase::Before => {
            engine.point(Point::LoopDecided);
            begin::begin(engine, row).await
        }
        Phase::Opening => pass(engine, row, Phase::Before).await,
        Phase::Erring => pass(engine, row, Phase::After).await,
        Phase::After => pass(engine, row, Phase::Committing).await,
        Phase::Closing => over(engine, row).await,
        Phase::Working | Phase::Committing | Phase::Over => Ok(Step::Wait),
    }
}

/// Goes on to another phase.
async fn pass(engine: &Core, row: &Loop, to: Phase) -> Result<Step, ToolError> {
    change(engine, row, move |_, row, _| {
        row.phase = to;
        row.step = 0;
        Ok(())
    })
    .await
}

/// Changes a loop that is still at the step that was read; otherwise another change was quicker.
pub(super) async fn change(
    engine: &Core,
    seen: &Loop,
    act: impl Fn(&mut Tx<'_>, &mut Loop, Timestamp) -> Result<(), ToolError> + Send + 'static,
) -> Result<Step, ToolError> {
    let (clock, seen) = (engine.clone(), seen.clone());
    let changed = engine.store.write(move |tx| {
        let now = clock.now();
        let Some(mut row) = tx.loop_get(&seen.session)? else { return Ok(()) };
        let stood =
            |row: &Loop| (row.phase, row.step, row.iteration, row.next, row.agent, row.seen);
        if stood(&row) == stood(&seen) && row.is_live() {
            act(tx, &mut row, now)?;
            tx.loop_save(&row, now)?;
        }
        Ok::<_, ToolError>(())
    });
    changed.await?;
    Ok(Step::Again)
}

/// Runs the next hook of a moment; nothing where there is none left.
async fn hooked(
    engine: &Core,
    row: &Loop,
    moment: Moment,
    about: &About,
    shutdown: &CancellationToken,
) -> Result<Option<Step>, ToolError> {
    let settings = engine.settings();
    let index = usize::try_from(row.step).unwrap_or(usize::MAX);
    let found = settings.loops.hooks.get(&moment).and_then(|hooks| hooks.get(index));
    let Some(wanted) = found.cloned() else { return Ok(None) };
    let Some(run) = row.hook_run else {
        let noted = change(engine, row, |_, row, _| {
            row.hook_runs += 1;
            row.hook_run = Some(row.hook_runs);
            Ok(())
        });
        return noted.await.map(Some);
    };
    match hook::run(engine, row, moment, &wanted, about, run, shutdown).await? {
        HookOutcome::Leaving => Ok(Some(Step::Wait)),
        HookOutcome::Waits(why) => {
            tracing::warn!(session = row.session, why, "hook not begun");
            Ok(Some(Step::Wait))
        }
        HookOutcome::ToNothing => {
            let again = change(engine, row, |_, row, _| {
                row.hook_run = None;
                Ok(())
            });
            again.await.map(Some)
        }
        HookOutcome::To(failed, output) => {
            let pipes = wanted.pipe_output || moment == Moment::OnError;
            let ended = change(engine, row, move |tx, row, now| {
                row.step += 1;
                row.hook_run = None;
                let text = cut(output.clone(), OUTPUT);
                if pipes && !text.trim().is_empty() {
                    tx.loop_message_insert(&row.session, moment.name(), &text, now)?;
                }
                if let Some(why) = &failed {
                    let data = EventData::LoopStepFailed(LoopStepFailed {
                        session: row.session.clone(),
                        iteration: row.iteration_about(),
                        what: FailedStep::Hook,
                        hook: Some(moment),
                        error: why.clone(),
                        output: Some(text),
                    });
                    tell(tx, row.agent, data, now)?;
                }
                Ok(())
            });
            ended.await.map(Some)
        }
    }
}

/// Records an event of a loop.
pub(super) fn tell(
    tx: &mut Tx<'_>,
    agent: Option<AgentId>,
    data: EventData,
    now: Timestamp,
) -> Result<(), ToolError> {
    tx.event_append(now, &EventDraft { agent, task: None, data })?;
    Ok(())
}

/// While the agent of an iteration works: hooks for the tasks that it completes, and then its end.
async fn working(
    engine: &Core,
    row: &Loop,
    shutdown: &CancellationToken,
) -> Result<Step, ToolError> {
    if let Some(step) = completed(engine, row, shutdown).await? {
        return Ok(step);
    }
    let agent = row.agent.map(|id| engine.store.read(|tx| tx.agent_get(id))).transpose()?.flatten();
    let Some(agent) = agent else {
        let message =
            format!("the agent of iteration {} is missing from the record", row.iteration);
        return Err(ToolError::internal(std::io::Error::other(message)));
    };
    let AgentState::Ended { outcome, reason, .. } = agent.state else { return Ok(Step::Wait) };
    let uncommitted = match outcome {
        Outcome::Succeeded => Vec::new(),
        _ => commit::uncommitted(engine, row).await,
    };
    let judged = change(engine, row, move |tx, row, now| {
        judge(tx, row, outcome, &reason, &uncommitted, now)
    });
    let judged = judged.await?;
    engine.point(Point::LoopJudged);
    Ok(judged)
}

/// Runs the hooks for the next task of the session that was completed; nothing where there is none.
async fn completed(
    engine: &Core,
    row: &Loop,
    shutdown: &CancellationToken,
) -> Result<Option<Step>, ToolError> {
    if !engine.settings().loops.hooks.contains_key(&Moment::OnTaskComplete) {
        return Ok(None);
    }
    let filter = EventFilter { after: row.seen, kind: Some(EventKind::TaskUpdated) };
    let events = engine.store.read(|tx| tx.event_list(&filter, EVENTS))?;
    let Some(newest) = events.last().map(|event| event.number) else { return Ok(None) };
    for event in events {
        let Some(EventData::TaskUpdated(change)) = event.decode() else { continue };
        let done = TaskStateName::Completed;
        let is_done = change.to == done && change.from != done;
        let Some(id) = event.task.filter(|_| is_done) else { continue };
        let task = engine.store.read(|tx| tx.task_find(&TaskRef::Id(id)))?;
        let Some(task) = task.filter(|task| task.session == row.session) else { continue };
        let about = About {
            task: Some(TaskRef::Number(task.number).to_string()),
            content: Some(task.title),
            error: None,
        };
        if let Some(step) = hooked(engine, row, Moment::OnTaskComplete, &about, shutdown).await? {
            return Ok(Some(step));
        }
        return looked(engine, row, event.number).await.map(Some);
    }
    looked(engine, row, newest).await.map(Some)
}

/// Notes how far completed tasks were looked for.
async fn looked(engine: &Core, row: &Loop, seen: i64) -> Result<Step, ToolError> {
    change(engine, row, move |_, row, _| {
        row.seen = seen;
        row.step = 0;
        Ok(())
    })
    .await
}

/// Writes down how an iteration ended.
fn judge(
    tx: &mut Tx<'_>,
    row: &mut Loop,
    outcome: Outcome,
    reason: &str,
    uncommitted: &[String],
    now: Timestamp,
) -> Result<(), ToolError> {
    let Some(agent) = row.agent else { return Ok(()) };
    let run = tx.run_get(agent)?;
    let spent = spent(tx, row, agent, run.as_ref())?;
    let end = IterationEnd { outcome: outcome.state(), reason: reason.to_owned(), spent };
    tx.iteration_end(&row.session, row.iteration, &end, now)?;
    let result = run.and_then(|run| run.result);
    let text = AgentResult::decode(result.as_deref(), agent)?;
    let last_words = cut(text.map(|text| text.summary).unwrap_or_default(), WORDS);
    row.recovery = if outcome == Outcome::Succeeded {
        None
    } else {
        let recovery = Recovery {
            iteration: row.iteration,
            state: outcome.state().to_string(),
            reason: reason.to_owned(),
            last_words: last_words.clone(),
            uncommitted: uncommitted.to_vec(),
        };
        Some(serde_json::to_string(&recovery).map_err(ToolError::internal)?)
    };
    let failed = !matches!(outcome, Outcome::Succeeded | Outcome::Killed);
    row.phase = if failed && row.iteration > 0 { Phase::Erring } else { Phase::After };
    row.step = 0;
    let iteration = tx.iteration_get(&row.session, row.iteration)?;
    let summary = iteration.as_ref().and_then(|it| it.summary.clone()).unwrap_or(last_words);
    let task = iteration.and_then(|it| it.task).map(TaskRef::Number);
    let data = EventData::LoopIterationEnded(LoopIterationEnded {
        session: row.session.clone(),
        iteration: row.iteration,
        state: outcome.state(),
        reason: reason.to_owned(),
        summary: cut(summary, 500),
        task,
        cost_usd: end.spent.dollars(),
        iterations: row.last,
    });
    tell(tx, Some(agent), data, now)
}

/// Cost of an iteration with all its agents. If the loop has a budget, an agent that never reported its
/// cost is charged its cap: what is not known is not free.
fn spent(tx: &Tx<'_>, row: &Loop, agent: AgentId, run: Option<&Run>) -> Result<Usd, ToolError> {
    let Some(budget) = tx.budget_get(agent)? else { return Ok(Usd::ZERO) };
    let unmetered = run.is_some_and(|run| run.started_at.is_some() && run.cost.is_none());
    let charged = budget.caps.money.filter(|_| unmetered && row.order.cap.is_some());
    Ok(charged.unwrap_or(budget.money).max(budget.money))
}

/// Commits what an iteration changed, then decides what follows.
async fn settle(engine: &Core, row: &Loop) -> Result<Step, ToolError> {
    let found = engine.store.read(|tx| tx.iteration_get(&row.session, row.iteration))?;
    let Some(iteration) = found else { return decided(engine, row, Outcome::Lost, None).await };
    let outcome = iteration.outcome.and_then(model::AgentStateName::outcome);
    let outcome = outcome.unwrap_or(Outcome::Lost);
    let wanted = row.order.commits && outcome == Outcome::Succeeded && iteration.commit.is_none();
    let made = if wanted { Some(commit::commit(engine, row, &iteration).await) } else { None };
    engine.point(Point::LoopCommitted);
    decided(engine, row, outcome, made).await
}

async fn decided(
    engine: &Core,
    row: &Loop,
    outcome: Outcome,
    made: Option<Result<Option<String>, ToolError>>,
) -> Result<Step, ToolError> {
    let made = made.map(|made| made.map_err(|error| error.message));
    change(engine, row, move |tx, row, now| {
        match &made {
            Some(Ok(Some(commit))) => {
                tx.iteration_set_commit(&row.session, row.iteration, commit)?;
                let data = EventData::LoopCommitted(LoopCommitted {
                    session: row.session.clone(),
                    iteration: row.iteration,
                    commit: commit.clone(),
                });
                tell(tx, row.agent, data, now)?;
            }
            Some(Err(why)) => {
                let data = EventData::LoopStepFailed(LoopStepFailed {
                    session: row.session.clone(),
                    iteration: row.iteration,
                    what: FailedStep::Commit,
                    hook: None,
                    error: why.clone(),
                    output: None,
                });
                tell(tx, row.agent, data, now)?;
            }
            Some(Ok(None)) | None => {}
        }
        let complete = tx.session_get(&row.session)?.is_some_and(|it| it.completed_at.is_some());
        let progress = LoopProgress {
            iteration: row.iteration,
            last: row.last,
            failures: row.failures,
            most_failures: row.most_failures,
            complete,
            request: row.request,
            spent: tx.session_spent(&row.session)?,
            budget: row.order.cap,
        };
        row.failures = failures_after(row.failures, outcome);
        row.step = 0;
        row.next = row.iteration.saturating_add(1);
        match decide(&progress, outcome) {
            LoopAction::Iterate(next) => {
                row.next = next;
                row.phase = Phase::Before;
                Ok(())
            }
            LoopAction::Pause => {
                let why = if row.request == Some(LoopRequest::Pause) {
                    "you asked for it".to_owned()
                } else {
                    format!("the agent of iteration {} was killed", row.iteration)
                };
                paused(tx, row, why, now)
            }
            LoopAction::End(state) => {
                end(row, state, why_of(&progress, state, row.failures));
                Ok(())
            }
        }
    })
    .await
}

/// That a loop has had as many iterations as it may.
pub(super) fn had(iterations: u32) -> String {
    match iterations {
        1 => "it reached its limit of 1 iteration".to_owned(),
        many => format!("it reached its limit of {many} iterations"),
    }
}

fn why_of(progress: &LoopProgress, state: LoopState, failures: u32) -> String {
    match state {
        LoopState::Completed => "the session was declared complete".to_owned(),
        LoopState::Limit => had(progress.iteration),
        LoopState::Failed => format!("{failures} iterations in a row failed"),
        LoopState::OverBudget => {
            format!("it has spent {} of {}", progress.spent, progress.budget.unwrap_or_default())
        }
        LoopState::Stopped | LoopState::Running | LoopState::Paused => "you stopped it".to_owned(),
    }
}

/// Lets a loop wait, and says why.
pub(super) fn paused(
    tx: &mut Tx<'_>,
    row: &mut Loop,
    why: String,
    now: Timestamp,
) -> Result<(), ToolError> {
    row.state = LoopState::Paused;
    row.phase = Phase::Before;
    row.step = 0;
    row.request = None;
    let data = EventData::LoopPaused(LoopPaused {
        session: row.session.clone(),
        iteration: row.iteration,
        reason: why.clone(),
    });
    row.why = Some(why);
    tell(tx, None, data, now)
}

/// Ends a loop, but for the hooks of its end.
pub(super) fn end(row: &mut Loop, state: LoopState, why: String) {
    row.state = state;
    row.phase = Phase::Closing;
    row.step = 0;
    row.hook_run = None;
    row.request = None;
    row.why = Some(why);
}

/// The hooks of its end have run: it is over.
async fn over(engine: &Core, row: &Loop) -> Result<Step, ToolError> {
    change(engine, row, |tx, row, now| {
        row.phase = Phase::Over;
        row.step = 0;
        row.ended_at = Some(now);
        // What hooks left for an agent that will not come is told here, so that nobody misses it.
        let mut left = Vec::new();
        for message in tx.loop_messages_waiting(&row.session, super::prompt::MESSAGES)? {
            if message.source != "operator" {
                tx.loop_message_delivered(message.number, row.iteration, now)?;
                left.push(HookOutput { hook: message.source, output: message.body });
            }
        }
        let spent = tx.session_spent(&row.session)?;
        let data = EventData::LoopEnded(LoopEnded {
            session: row.session.clone(),
            state: row.state,
            reason: row.why.clone(),
            iteration: row.iteration,
            cost_usd: spent.dollars(),
            outputs: left,
        });
        tell(tx, None, data, now)
    })
    .await
}
