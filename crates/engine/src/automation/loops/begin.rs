//! The beginning of an iteration: its row, its agent and the words that the agent is told, in one transaction. So no iteration
//! is made twice and none is skipped, wherever the server dies.

use model::session::{LoopRequest, LoopState, Phase};
use model::{AgentId, Timestamp};
use store::{Loop, Tx};
use wire::event::{EventData, LoopIterationStarted};

use super::drive::{Step, change, end, had, paused, tell};
use super::prompt;
use crate::call::cx::{Caller, WriteCx, fresh};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::point::Point;
use crate::core::settings::{Budget, Settings};
use crate::crew::run::{Draft, draft};

/// Makes the next iteration, or finds that there is none to be made.
pub(super) async fn begin(engine: &Core, row: &Loop) -> Result<Step, ToolError> {
    let maker = engine.clone();
    let made = change(engine, row, move |tx, row, now| next(tx, &maker, row, now)).await;
    match made {
        Ok(step) => {
            engine.point(Point::LoopDrafted);
            Ok(step)
        }
        Err(error) if error.is_transient() => Err(error),
        // Nobody but a person can mend this: the role is gone, the prompt is too long.
        Err(error) => {
            let mut why = format!("its next agent cannot be created: {}", error.message);
            for hint in &error.suggestions {
                why = format!("{why}; {hint}");
            }
            change(engine, row, move |tx, row, now| paused(tx, row, why.clone(), now)).await
        }
    }
}

fn next(tx: &mut Tx<'_>, engine: &Core, row: &mut Loop, now: Timestamp) -> Result<(), ToolError> {
    match row.request {
        Some(LoopRequest::Stop) => {
            end(row, LoopState::Stopped, "you stopped it".to_owned());
            return Ok(());
        }
        Some(LoopRequest::Pause) => return paused(tx, row, "you asked for it".to_owned(), now),
        None => {}
    }
    let number = row.next;
    if row.last.is_some_and(|last| number > last) {
        end(row, LoopState::Limit, had(row.iteration));
        return Ok(());
    }
    let settings = engine.settings();
    let spent = tx.session_spent(&row.session)?;
    let left = row.order.cap.map(|cap| cap - spent);
    if left.is_some_and(|left| left <= model::money::Usd::ZERO) {
        let why = format!("it has spent {spent} of {}", row.order.cap.unwrap_or_default());
        end(row, LoopState::OverBudget, why);
        return Ok(());
    }
    let prompt = prompt::compose(tx, engine, row, number)?;
    tx.session_ensure(&row.session, now)?;
    tx.session_set_iteration(&row.session, number)?;
    let id = fresh(AgentId::from_bits)?;
    if !tx.iteration_begin(&row.session, number, id, now)? {
        let session = &row.session;
        return Err(ToolError::conflict(format!(
            "iteration {number} of session `{session}` already exists"
        )));
    }
    let request = Draft {
        role: Some(row.order.role.clone()),
        kind: row.order.kind.clone(),
        prompt: prompt.text,
        summary: Some(summary(row, number)),
        iteration: Some((row.session.clone(), number)),
        cwd: place(&settings, row),
        budget: Budget { usd: cap(&settings, row, left), ..Budget::default() },
        ..Draft::default()
    };
    let caller = Caller { agent: None, by_operator: true };
    draft::enrol_as(&mut WriteCx { tx, caller: &caller, settings: &settings, now }, &request, id)?;
    for message in &prompt.delivers {
        tx.loop_message_delivered(*message, number, now)?;
    }
    row.iteration = number;
    row.agent = Some(id);
    row.phase = Phase::Working;
    row.step = 0;
    row.recovery = None;
    let data = EventData::LoopIterationStarted(LoopIterationStarted {
        session: row.session.clone(),
        iteration: number,
        iterations: row.last,
        messages: prompt.delivers.len(),
    });
    tell(tx, Some(id), data, now)
}

fn summary(row: &Loop, number: u32) -> String {
    match number {
        0 => format!("Plan the loop {}", row.session),
        _ => format!("Iteration {number} of the loop {}", row.session),
    }
}

/// Where it works: in the loop's folder. A whole path keeps it out of worktrees, unless the role wants one.
fn place(settings: &Settings, row: &Loop) -> Option<String> {
    let role = settings.roles.get(&row.order.role);
    let cwd = row.order.cwd.clone().or_else(|| role.and_then(|role| role.cwd.clone()));
    if role.is_some_and(|role| role.worktree.is_some()) {
        return cwd;
    }
    Some(settings.project.join(cwd.unwrap_or_default()).display().to_string())
}

/// Cap of an iteration: the default, at most what is left.
fn cap(settings: &Settings, row: &Loop, left: Option<model::money::Usd>) -> Option<f64> {
    let role = settings.roles.get(&row.order.role);
    let usual = role.and_then(|role| role.budget.usd).or(settings.root_budget.usd);
    match (left.map(model::money::Usd::dollars), usual) {
        (Some(left), Some(usual)) => Some(left.min(usual)),
        (left, _) => left,
    }
}
