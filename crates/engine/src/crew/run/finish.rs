//! The end of an agent, in one transaction: its state, its result, its task and its waiters.

use model::Timestamp;
use model::agent::{AgentEvent, AwaitStatus, Outcome};
use model::money::Usd;
use model::review::ReviewRequired;
use model::task::{TaskMove, TaskStateName};
use store::{Agent, Run, Spend, StopRequest, Tokens, Tx};
use wire::event::{AgentFinished, EventData, RunTotals, TokenTotals};

use super::options::RunOptions;
use super::required_review::required_review;
use super::reserve;
use crate::call::cx::find_agent;
use crate::core::error::ToolError;
use crate::core::redact::redact;
use crate::core::settings::Settings;
use crate::crew::result::{self, AgentResult};
use crate::crew::transition;
use crate::mail::outgoing::{self, OutgoingMail};
use crate::tasks::task_change;

/// A task that so many agents could not do is failed.
const ATTEMPTS: u32 = 5;

/// End of an agent.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    /// Outcome
    pub(crate) outcome: Outcome,
    /// Why, in words
    pub(crate) reason: String,
    /// Result
    pub(crate) result: AgentResult,
    /// Completeness of its own figures
    pub(crate) account: Figures,
    /// True if its worktree has work that its target lacks
    pub(crate) left_work: bool,
}

/// Progress of a process at its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunProgress {
    /// Run time in milliseconds
    pub(crate) ran_ms: i64,
    /// When it was gone, where that is known
    pub(crate) until: Option<Timestamp>,
    /// The commit that was checked out where it worked when it had ended
    pub(crate) head: Option<String>,
}

/// Completeness of the usage that an agent reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figures {
    /// As far as is known
    Whole,
    /// Output was lost, and figures may have been in it
    Lost,
    /// Its process was never started
    Nothing,
}

impl Ending {
    /// The end of an agent whose process has ended before: with the result it had then, if all went well.
    pub(crate) fn of_parked(stop: &StopRequest, run: &Run) -> Result<Self, ToolError> {
        let before = run.result.as_deref().filter(|_| stop.outcome == Outcome::Succeeded);
        let before = AgentResult::decode(before, run.agent)?;
        let ending = Self::of(stop);
        Ok(Self { result: before.unwrap_or(ending.result), ..ending })
    }

    /// The end of an agent that was stopped before it started.
    pub(crate) fn of(stop: &StopRequest) -> Self {
        Self {
            outcome: stop.outcome,
            reason: stop.reason.clone(),
            result: result::read_result(None, &stop.reason, None),
            account: Figures::Whole,
            left_work: false,
        }
    }
}

/// A result as it is recorded.
pub(crate) fn recorded_result(result: &AgentResult) -> Result<String, ToolError> {
    Ok(redact(serde_json::to_string(result).map_err(ToolError::internal)?))
}

/// Ends an agent. One that has ended already stays as it is.
pub(crate) fn finish(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    ending: &Ending,
    now: Timestamp,
) -> Result<(), ToolError> {
    // Read again: what was settled for another since may have ended it.
    let mut ended = find_agent(tx, agent.id)?;
    if ended.ended_at().is_some() {
        return Ok(());
    }
    let end = AgentEvent::Ended { outcome: ending.outcome, reason: ending.reason.clone() };
    transition::advance_with(tx, &mut ended, end, now, |tx, ended| {
        let result = recorded_result(&ending.result)?;
        tx.run_finish(ended.id, &result)?;
        let status = match ended.state.name().awaited() {
            AwaitStatus::Running => "running",
            AwaitStatus::Completed => "completed",
            AwaitStatus::Aborted => "aborted",
            AwaitStatus::Crashed => "crashed",
        };
        tx.dispatch_end(ended.id, status, Some(&result), now)?;
        tx.mcp_session_delete_of(&ended.id.to_string())?;
        settle_tasks(tx, settings, ended, ending, now)?;
        charge_unmetered(tx, settings, ended, ending.account, now)?;
        let run = tx.run_get(ended.id)?;
        Ok(EventData::AgentFinished(finished_data(ended, run.as_ref(), ending, now)))
    })?;
    let run = tx.run_get(ended.id)?;
    // Where that cannot be read, a mail too many is better than none.
    if run.is_some_and(|run| RunOptions::of(&run).map_or(true, |options| options.notify)) {
        notify(tx, &ended, ending, now)?;
    }
    followed(tx, settings, &ended, now)
}

/// Consequences of an agent's end for others.
pub(crate) fn followed(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    now: Timestamp,
) -> Result<(), ToolError> {
    settings.end_reactions.run(tx, settings, agent, now)?;
    // Last, so that mail is forwarded with its exact text.
    Ok(tx.exact_forget_agent(agent.id)?)
}

fn finished_data(
    agent: &Agent,
    run: Option<&Run>,
    ending: &Ending,
    now: Timestamp,
) -> AgentFinished {
    let started = run.and_then(|run| run.started_at).unwrap_or(agent.created_at);
    let tokens = run.map(|run| run.tokens).unwrap_or_default();
    let totals = RunTotals {
        role: agent.role.clone(),
        summary: redact(ending.result.summary.chars().take(500).collect()),
        cost_usd: run.and_then(|run| run.cost).map(Usd::dollars),
        tokens: TokenTotals { input: tokens.read(), output: tokens.output },
        duration_ms: now.millis_since(started),
    };
    let (state, reason) = (agent.state.name(), ending.reason.clone());
    AgentFinished { state, reason, totals: Some(totals) }
}

/// Only the holder of a task's claim moves it by ending. What was given to it and not begun is free
/// again.
fn settle_tasks(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    ending: &Ending,
    now: Timestamp,
) -> Result<(), ToolError> {
    let by = (Some(agent.id), now);
    let needs_review = needs_review(tx, settings, agent, ending)?;
    // In a loop a task is done when its agent says so: one that ends may have done a part of it.
    let says_so = agent.iteration.is_some() && agent.parent.is_none();
    let well = ending.outcome == Outcome::Succeeded;
    for mut task in tx.tasks_claimed_by(agent.id)? {
        let done = well && agent.task == Some(task.id) && !says_so;
        match task.state.name() {
            // What is in review waits for a person, not for the agent that did it.
            TaskStateName::Review | TaskStateName::Completed => {}
            TaskStateName::InProgress if done && (task.epic.is_some() || needs_review) => {
                task_change::apply(tx, &mut task, TaskMove::Submit, by)?;
            }
            TaskStateName::InProgress if done => {
                task_change::apply(tx, &mut task, TaskMove::Complete, by)?;
            }
            _ => {
                if !(done || well && says_so) {
                    task.attempts += 1;
                }
                if task.attempts >= ATTEMPTS {
                    let reason =
                        format!("{} agents could not do it: {}", task.attempts, ending.reason);
                    let fail = TaskMove::Fail { reason: Some(reason) };
                    task_change::apply_through(tx, &mut task, &fail, by)?;
                } else {
                    task_change::apply(tx, &mut task, TaskMove::Release, by)?;
                }
            }
        }
    }
    for mut task in tx.tasks_assigned_to(agent.id)? {
        task_change::apply(tx, &mut task, TaskMove::Release, by)?;
    }
    Ok(())
}

/// True if a person or a reviewer decides about what the agent left. What was reviewed before is work that was left.
fn needs_review(
    tx: &Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    ending: &Ending,
) -> Result<bool, ToolError> {
    if ending.outcome != Outcome::Succeeded {
        return Ok(false);
    }
    let is_parked = tx.run_get(agent.id)?.is_some_and(|run| run.parked_at.is_some());
    let left = ending.left_work || is_parked || !tx.reviews_of(agent.id)?.is_empty();
    Ok(left && required_review(tx, settings, agent)? != ReviewRequired::Never)
}

/// An agent that never said what it used is charged its cap, or what it reserved of a cap above it: what is not
/// known is not free. One whose figures were lost is charged the rest of it.
pub(crate) fn charge_unmetered(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    figures: Figures,
    now: Timestamp,
) -> Result<(), ToolError> {
    let Some(budget) = tx.budget_get(agent.id)? else { return Ok(()) };
    let run = tx.run_get(agent.id)?;
    // The person who runs an enlisted agent knows what it used; nobody tells us.
    let started = run.as_ref().map_or(agent.kind == "enlisted", |run| run.started_at.is_some());
    let never_ran = figures == Figures::Nothing && run.as_ref().is_none_or(|run| run.ran_ms == 0);
    if !started || never_ran {
        return Ok(());
    }
    let (cost, used) = run.map_or((None, Tokens::default()), |run| (run.cost, run.tokens));
    let (money, tokens) = reserve::price_of_silence(&budget);
    // What it and those below it reported was charged when it was reported.
    let money = (money - budget.money).max(Usd::ZERO);
    let tokens = tokens.saturating_sub(budget.tokens);
    let spend = match figures {
        Figures::Lost => Spend { money, tokens, agents: 0 },
        Figures::Whole | Figures::Nothing => Spend {
            money: if cost.is_none() { money } else { Usd::ZERO },
            tokens: if used == Tokens::default() { tokens } else { 0 },
            agents: 0,
        },
    };
    if figures == Figures::Lost {
        // So that views and sums show it as used up.
        tx.budget_charge(agent.id, spend)?;
    }
    if spend == Spend::default() {
        return Ok(());
    }
    super::report::charge_above(tx, settings, agent, spend, now)
}

/// Writes to the agent's requester: its nearest live ancestor, else the human.
fn notify(
    tx: &mut Tx<'_>,
    agent: &Agent,
    ending: &Ending,
    now: Timestamp,
) -> Result<(), ToolError> {
    let to = outgoing::above(tx, agent)?;
    let subject = format!("Agent {} ({}) is over: {}", agent.id, agent.role, agent.state.name());
    let body = format!(
        "{}\n\n{}",
        ending.reason,
        ending.result.summary.chars().take(10_000).collect::<String>()
    );
    outgoing::send(tx, OutgoingMail::about(agent, to, subject, body), now)?;
    Ok(())
}
