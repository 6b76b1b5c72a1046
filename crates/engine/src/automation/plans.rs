//! Plans: documents whose steps become tasks, carried out by a coordinator with the tools.
//!
//! A plan that runs has a coordinator that has not ended. When one ends, what becomes of the plan is decided
//! ([`model::plan::CoordinatorEnd`]) in the transaction of that end: the plan is over, or the next coordinator is recorded there and
//! then. So no plan is ever without one, none has two, and a server that is killed leaves nothing to be taken up.

mod acts;
mod brief;
mod end;
pub(crate) mod view;

use model::agent::Outcome;
use model::money::Usd;
use model::task::{TaskMove, TaskStateName};
use model::{AgentId, TaskRef, Timestamp};
use store::{Agent, EventDraft, Plan, PlanStep, PlanTurn, Recipient, Task, Tx};
use wire::event::{EventData, PlanResumed};

pub use acts::{Again, PlanStart};
pub(crate) use end::ended;

use crate::call::cx::{Caller, WriteCx, find_task, fresh};
use crate::core::error::ToolError;
use crate::core::settings::{Budget, Role, Settings};
use crate::crew::run::draft::{enrol_as, find_role};
use crate::crew::run::{Draft, RunOptions};
use crate::mail::outgoing;
use crate::tasks::task_change;

/// An agent that waits for a person may wait long: a coordinator has so much time where its role does not say, in seconds.
const COORDINATOR_TIMEOUT_SECONDS: u64 = 30 * 86_400;

/// A step, and the task that it is.
#[derive(Debug, Clone)]
struct Stage {
    step: PlanStep,
    task: Task,
}

impl Stage {
    fn state(&self) -> TaskStateName {
        self.task.state.name()
    }
}

/// The steps of a plan with their tasks, in their order.
fn stages(tx: &Tx<'_>, plan: &Plan) -> Result<Vec<Stage>, ToolError> {
    let steps = tx.plan_steps(plan.number)?;
    let stage = |step: PlanStep| {
        let task = find_task(tx, &TaskRef::Id(step.task))?;
        Ok(Stage { step, task })
    };
    steps.into_iter().map(stage).collect()
}

/// Number of closed steps.
fn closed(stages: &[Stage]) -> u32 {
    let closed = stages.iter().filter(|stage| stage.state().is_closed()).count();
    u32::try_from(closed).unwrap_or(u32::MAX)
}

/// Remaining budget of a plan; `None` without a cap.
fn left(tx: &Tx<'_>, plan: &Plan, cap: Option<Usd>) -> Result<Option<Usd>, ToolError> {
    let Some(cap) = cap else { return Ok(None) };
    Ok(Some(cap - tx.plan_spent(plan.number)?))
}

/// The role that runs plans: one that may start others.
fn coordinator_role<'s>(settings: &'s Settings, name: &str) -> Result<&'s Role, ToolError> {
    let named = "`plan.role` in the configuration, or `--role`, names the role that runs plans";
    let role = find_role(settings, name).map_err(|error| error.hint(named))?;
    let may = settings.policy.get(&role.category).is_some_and(|own| !own.may_draft.is_empty());
    if !may {
        let error = format!(
            "the role `{name}` cannot run a plan: its category `{}` may not start agents",
            role.category
        );
        return Err(ToolError::conflict(error).hint(named));
    }
    Ok(role)
}

/// Successor of a coordinator, with the reason.
#[derive(Debug, Clone, Copy)]
struct Successor<'a> {
    /// Previous coordinator
    before: &'a Agent,
    /// The how manieth in a row under whom no step was closed
    tries: u32,
    /// Budget for the whole plan
    cap: Option<Usd>,
    /// Why a successor is needed
    why: &'a str,
}

/// Records the next coordinator of a plan: what the one before started and what still runs is its own now, and so are the
/// mails that the other did not read.
fn succeed(
    tx: &mut Tx<'_>,
    settings: &Settings,
    plan: &Plan,
    next: Successor<'_>,
    now: Timestamp,
) -> Result<AgentId, ToolError> {
    let id = fresh(AgentId::from_bits)?;
    coordinator_role(settings, &plan.role)?;
    let closed = closed(&stages(tx, plan)?).max(plan.closed);
    let prompt = brief::prompt(tx, settings, plan, Some(next.before))?;
    let left = left(tx, plan, next.cap)?;
    enrol_coordinator(tx, settings, plan, id, prompt, left, now)?;
    let turn = PlanTurn { coordinator: id, tries: next.tries, closed, cap: next.cap };
    tx.plan_hand_over(plan, turn, now)?;
    outgoing::hand_over_unread(tx, next.before, Recipient::Agent(id), now)?;
    move_own(tx, plan, &TaskMove::Start { claim: None }, now)?;
    let data = EventData::PlanResumed(PlanResumed {
        plan: plan.name.clone(),
        agent_id: id,
        former_agent_id: next.before.id,
        attempt: next.tries,
        reason: next.why.to_owned(),
    });
    tell(tx, plan, id, data, now)?;
    Ok(id)
}

/// Records an agent that runs a plan. Nobody is above it.
fn enrol_coordinator(
    tx: &mut Tx<'_>,
    settings: &Settings,
    plan: &Plan,
    id: AgentId,
    prompt: String,
    left: Option<Usd>,
    now: Timestamp,
) -> Result<(), ToolError> {
    let own = settings.roles.get(&plan.role).map(|role| role.budget).unwrap_or_default();
    let draft = Draft {
        role: Some(plan.role.clone()),
        kind: plan.kind.clone(),
        prompt,
        summary: Some(format!("runs the plan {}", plan.name)),
        task: Some(TaskRef::Id(plan.task)),
        budget: Budget {
            usd: left.map(Usd::dollars),
            seconds: own.seconds.or(Some(COORDINATOR_TIMEOUT_SECONDS)),
            ..Budget::default()
        },
        // The task is the plan's and moves with it, not with the agent that runs it just now.
        options: RunOptions { claims: crate::crew::run::Claims::Nothing, ..RunOptions::default() },
        ..Draft::default()
    };
    let caller = Caller { agent: None, by_operator: true };
    let mut cx = WriteCx { tx, caller: &caller, settings, now };
    enrol_as(&mut cx, &draft, id)?;
    Ok(())
}

/// Moves the plan's own task, where it can be moved so.
fn move_own(
    tx: &mut Tx<'_>,
    plan: &Plan,
    request: &TaskMove,
    now: Timestamp,
) -> Result<(), ToolError> {
    let mut task = find_task(tx, &TaskRef::Id(plan.task))?;
    match task_change::apply_through(tx, &mut task, request, (None, now)) {
        Err(error) if error.is_transient() => Err(error),
        // A person has decided about the task by hand.
        _ => Ok(()),
    }
}

fn tell(
    tx: &mut Tx<'_>,
    plan: &Plan,
    agent: AgentId,
    data: EventData,
    now: Timestamp,
) -> Result<(), ToolError> {
    tx.event_append(now, &EventDraft { agent: Some(agent), task: Some(plan.task), data })?;
    Ok(())
}

/// True if a person or agent requested the end, and not the detection of a stuck agent.
fn is_wanted(stop: &store::StopRequest) -> bool {
    matches!(stop.outcome, Outcome::Killed | Outcome::Abandoned)
        && !stop.reason.starts_with("stuck")
}
