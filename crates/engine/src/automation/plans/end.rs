//! Continues or ends a plan when its coordinator ends, in the transaction of that end.

use model::Timestamp;
use model::agent::AgentState;
use model::plan::{CoordinatorEnd, CoordinatorEndCause, PlanAction};
use model::task::{TaskMove, TaskStateName};
use model::{AgentId, PlanState};
use store::{Agent, Plan, Recipient, StopRequest, Tx};
use wire::event::{EventData, PlanEnded};

use super::{Stage, Successor, closed, is_wanted, left, move_own, stages, succeed, tell};
use crate::core::error::ToolError;
use crate::core::settings::Settings;
use crate::crew::run::stop::stop_tree;
use crate::crew::run::view::AgentSnapshot;
use crate::mail::outgoing::{self, OutgoingMail};

/// Number of failed or open steps that are named.
const NAMED: usize = 5;

/// Handles the end of an agent that coordinates a plan.
pub(crate) fn ended(
    tx: &mut Tx<'_>,
    settings: &Settings,
    agent: &Agent,
    now: Timestamp,
) -> Result<(), ToolError> {
    let plan = tx.plan_of_coordinator(agent.id)?;
    let plan = plan.filter(|plan| plan.coordinator == agent.id && plan.state == PlanState::Running);
    let (Some(plan), AgentState::Ended { outcome, reason, .. }) = (plan, &agent.state) else {
        return Ok(());
    };
    let stages = stages(tx, &plan)?;
    let stop = tx.run_get(agent.id)?.and_then(|run| run.stop);
    let by = if stop.as_ref().is_some_and(is_wanted) {
        CoordinatorEndCause::Request
    } else {
        CoordinatorEndCause::Itself
    };
    let is_open = |stage: &&Stage| !stage.state().is_closed();
    let has_failed = |stage: &&Stage| stage.state() == TaskStateName::Failed;
    let tries = if closed(&stages) > plan.closed { 0 } else { plan.tries };
    let turn = CoordinatorEnd {
        outcome: *outcome,
        by,
        open: stages.iter().filter(is_open).count(),
        failed: stages.iter().filter(has_failed).count(),
        tries,
        most: settings.plan.attempts,
    };
    let open = names(stages.iter().filter(is_open));
    let failed = names(stages.iter().filter(has_failed));
    match turn.next() {
        PlanAction::Over(PlanState::Completed) => {
            over(tx, settings, &plan, agent.id, PlanState::Completed, "all steps are done", now)
        }
        PlanAction::Over(PlanState::Failed) if turn.open == 0 => {
            let why = format!("{failed} failed");
            over(tx, settings, &plan, agent.id, PlanState::Failed, &why, now)
        }
        PlanAction::Over(PlanState::Failed) => {
            let why = format!(
                "{} coordinators in a row made no progress, the last: {reason}; {open} still open",
                plan.tries
            );
            over(tx, settings, &plan, agent.id, PlanState::Failed, &why, now)
        }
        PlanAction::Over(PlanState::OverBudget) => {
            let why = spent_all(tx, &plan)?.unwrap_or_else(|| reason.clone());
            over(tx, settings, &plan, agent.id, PlanState::OverBudget, &why, now)
        }
        PlanAction::Over(state) => over(tx, settings, &plan, agent.id, state, reason, now),
        PlanAction::Another => {
            let why = match turn.open {
                _ if *outcome != model::agent::Outcome::Succeeded => reason.clone(),
                _ => format!("it ended with {open} open"),
            };
            another(tx, settings, &plan, agent, tries + 1, &why, now)
        }
    }
}

/// Queues a successor for a plan's coordinator, if there is money and a role left.
fn another(
    tx: &mut Tx<'_>,
    settings: &Settings,
    plan: &Plan,
    before: &Agent,
    tries: u32,
    why: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    if let Some(why) = spent_all(tx, plan)? {
        return over(tx, settings, plan, before.id, PlanState::OverBudget, &why, now);
    }
    let next = Successor { before, tries, cap: plan.cap, why };
    match succeed(tx, settings, plan, next, now) {
        Ok(_) => Ok(()),
        Err(error) if error.is_transient() => Err(error),
        // An end cannot be refused. Who could mend it is told.
        Err(error) => {
            let why = format!("{why}; and no successor could be started: {}", error.message);
            over(tx, settings, plan, before.id, PlanState::Failed, &why, now)
        }
    }
}

/// Says so where a plan has spent all that it may.
fn spent_all(tx: &Tx<'_>, plan: &Plan) -> Result<Option<String>, ToolError> {
    let is_spent = left(tx, plan, plan.cap)?.is_some_and(|left| left.nanos() <= 0);
    Ok(is_spent.then(|| format!("its budget of {} is used up", plan.cap.unwrap_or_default())))
}

/// Ends a plan. Whatever still runs for one that was not completed ends with it.
fn over(
    tx: &mut Tx<'_>,
    settings: &Settings,
    plan: &Plan,
    coordinator: AgentId,
    state: PlanState,
    why: &str,
    now: Timestamp,
) -> Result<(), ToolError> {
    tx.plan_end(plan.number, state, why, now)?;
    let request = match state {
        PlanState::Completed => TaskMove::Complete,
        PlanState::Failed => TaskMove::Fail { reason: Some(why.to_owned()) },
        PlanState::Running | PlanState::Stopped | PlanState::OverBudget => TaskMove::Release,
    };
    move_own(tx, plan, &request, now)?;
    let result = AgentSnapshot::of(tx, coordinator)?.result();
    let data = EventData::PlanEnded(PlanEnded {
        plan: plan.name.clone(),
        state,
        reason: why.to_owned(),
        summary: result.map(|result| result.summary.chars().take(500).collect()),
    });
    tell(tx, plan, coordinator, data, now)?;
    if state != PlanState::Completed {
        let reason = format!("the plan {} has ended: {why}", plan.name);
        let stop = StopRequest { outcome: model::agent::Outcome::Killed, reason };
        stop_tree(tx, settings, coordinator, &stop, now)?;
    }
    match state {
        PlanState::Failed | PlanState::OverBudget => write(tx, plan, coordinator, why, state, now),
        PlanState::Running | PlanState::Completed | PlanState::Stopped => Ok(()),
    }
}

/// Writes to the human that a plan goes no further without them.
fn write(
    tx: &mut Tx<'_>,
    plan: &Plan,
    coordinator: AgentId,
    why: &str,
    state: PlanState,
    now: Timestamp,
) -> Result<(), ToolError> {
    let agent = crate::call::cx::find_agent(tx, coordinator)?;
    let how = match state {
        PlanState::OverBudget => format!("adjutant plan resume {} --budget USD", plan.name),
        _ => format!("adjutant plan resume {}", plan.name),
    };
    let body = format!(
        "The plan `{}` ({}) goes no further: {why}.\n\n`adjutant plan status {}` shows where it stands, \
         `{how}` continues it.",
        plan.name, plan.title, plan.name
    );
    let subject = format!("Plan Stopped: {}", plan.name);
    outgoing::send(tx, OutgoingMail::about(&agent, Recipient::Human, subject, body), now)?;
    Ok(())
}

/// Steps by their numbers: `step 3`, `steps 1, 2 and more`.
fn names<'a>(stages: impl Iterator<Item = &'a Stage>) -> String {
    let numbers: Vec<String> = stages.map(|stage| stage.step.number.to_string()).collect();
    let word = if numbers.len() == 1 { "step" } else { "steps" };
    let more = if numbers.len() > NAMED { " and more" } else { "" };
    let numbers: Vec<String> = numbers.into_iter().take(NAMED).collect();
    format!("{word} {}{more}", numbers.join(", "))
}
