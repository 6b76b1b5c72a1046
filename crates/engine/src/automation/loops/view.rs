//! Views of loops.

use model::money::Usd;
use model::session::Phase;
use model::task::{SessionStatus, TaskRef};
use store::{Iteration, Loop, LoopMessage, Note, Page, Tx};
use wire::loops::{
    IterationView, LoopDetails, LoopList, LoopMessageView, LoopNoteView, LoopTaskCounts, LoopView,
};

use super::hook;
use crate::automation::service::Automation;
use crate::core::error::ToolError;
use crate::core::handle::Core;

/// Iterations, notes and messages shown per loop.
const MAX_SHOWN: u32 = 100;
const NOTES: u32 = 20;

/// Reads a loop with its tasks, its spending and its waiting messages.
fn loop_view(engine: &Core, tx: &Tx<'_>, row: Loop) -> Result<LoopView, ToolError> {
    let waits = hook::waits_for(engine, &row)?;
    let mut tasks = LoopTaskCounts::default();
    for (state, many) in tx.session_tasks(&row.session)? {
        *match state.session() {
            SessionStatus::Remaining => &mut tasks.remaining,
            SessionStatus::InProgress => &mut tasks.in_progress,
            SessionStatus::Blocked => &mut tasks.blocked,
            SessionStatus::Completed => &mut tasks.completed,
            SessionStatus::Cancelled => &mut tasks.cancelled,
        } += many;
    }
    // What the agent that works now has spent is not written down with its iteration yet.
    let under_way = match (row.phase, row.agent) {
        (Phase::Working, Some(agent)) => tx.budget_get(agent)?.map(|budget| budget.money),
        _ => None,
    };
    let spent = tx.session_spent(&row.session)? + under_way.unwrap_or_default();
    let waiting = tx.loop_messages_waiting_count(&row.session)?;
    Ok(LoopView {
        name: row.session,
        state: row.state,
        phase: row.phase,
        request: row.request,
        reason: waits.or(row.why),
        iteration: row.iteration,
        iterations: row.last,
        agent_id: row.agent,
        failures: row.failures,
        most_failures: row.most_failures,
        role: row.order.role,
        kind: row.order.kind,
        cwd: row.order.cwd,
        spec_path: row.order.spec_path,
        commit: row.order.commits,
        budget_usd: row.order.cap.map(Usd::dollars),
        cost_usd: spent.dollars(),
        tasks,
        waiting,
        created_at: row.created_at,
        updated_at: row.updated_at,
        ended_at: row.ended_at,
    })
}

fn iteration_view(it: Iteration) -> IterationView {
    IterationView {
        number: it.number,
        agent_id: it.agent,
        state: it.outcome,
        reason: it.reason,
        summary: it.summary,
        task: it.task.map(TaskRef::Number),
        commit: it.commit,
        cost_usd: it.spent.map(Usd::dollars),
        started_at: it.started_at,
        ended_at: it.ended_at,
    }
}

fn loop_note_view(note: Note) -> LoopNoteView {
    let Note { number, kind, content, iteration, .. } = note;
    LoopNoteView { id: format!("NOT-{number}"), kind, content, iteration }
}

pub(super) fn loop_message_view(message: LoopMessage) -> LoopMessageView {
    let LoopMessage { number, source, body, created_at, iteration, delivered_at } = message;
    LoopMessageView { number, from: source, text: body, created_at, iteration, delivered_at }
}

/// A loop as it is shown.
pub(super) async fn of(engine: &Core, row: Loop) -> Result<LoopView, ToolError> {
    let core = engine.clone();
    engine.store.scan(move |tx| loop_view(&core, tx, row)).await
}

impl Automation {
    /// Lists loops, newest first.
    pub async fn loops(&self, before: Option<i64>, limit: u32) -> Result<LoopList, ToolError> {
        let core = Core::clone(self);
        self.store
            .scan(move |tx| {
                let Page { items, next } = tx.loop_page(before.unwrap_or(i64::MAX), limit)?;
                let loops = items.into_iter().map(|row| loop_view(&core, tx, row));
                Ok(LoopList { loops: loops.collect::<Result<_, ToolError>>()?, next_cursor: next })
            })
            .await
    }

    /// A loop with all that happened in it.
    pub async fn loop_whole(&self, name: &str) -> Result<LoopDetails, ToolError> {
        let row = self.find_loop(name)?;
        let core = Core::clone(self);
        self.store
            .scan(move |tx| {
                let session = row.session.clone();
                let iterations = tx.iterations_newest(&session, MAX_SHOWN)?;
                let notes = tx.note_newest(&session, NOTES)?;
                let messages = tx.loop_messages_newest(&session, MAX_SHOWN)?;
                Ok(LoopDetails {
                    extra: row.order.extra.clone(),
                    spec: row.order.spec.clone(),
                    about: loop_view(&core, tx, row)?,
                    iterations: iterations.into_iter().map(iteration_view).collect(),
                    notes: notes.into_iter().map(loop_note_view).collect(),
                    messages: messages.into_iter().map(loop_message_view).collect(),
                })
            })
            .await
    }

    /// The loops that have something to do, by name.
    pub fn loops_live(&self) -> Result<Vec<String>, ToolError> {
        let live = self.store.read(|tx| tx.loops_live())?;
        Ok(live.into_iter().map(|row| row.session).collect())
    }
}
