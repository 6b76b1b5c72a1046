//! What is shown of loops.

use model::money::Usd;
use model::session::{LoopState, LoopWish, Phase};
use model::task::{SessionStatus, TaskRef};
use model::{AgentId, AgentStateName, NoteType, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use store::{Iteration, Loop, LoopMessage, Note, Page, Tx};

use crate::core::engine::Engine;
use crate::core::error::ToolError;

/// So many iterations, notes and messages are shown of one loop.
const SHOWN: u32 = 100;
const NOTES: u32 = 20;

/// How many tasks of a session have each status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskCounts {
    /// Not begun
    pub remaining: i64,
    /// Being worked on
    pub in_progress: i64,
    /// Held up
    pub blocked: i64,
    /// Done
    pub completed: i64,
    /// Not wanted any more
    pub cancelled: i64,
}

/// A loop.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopView {
    /// Its name
    pub name: String,
    /// How it stands, or how it ended
    pub state: LoopState,
    /// What it does at the moment
    pub phase: Phase,
    /// What somebody wants of it
    pub wish: Option<LoopWish>,
    /// Why it waits or ended
    pub reason: Option<String>,
    /// The iteration it is in, or had last; 0 is the planning
    pub iteration: u32,
    /// The last one it may have; null is no limit
    pub iterations: Option<u32>,
    /// The agent of the iteration
    pub agent_id: Option<AgentId>,
    /// How many iterations in a row have failed
    pub failures: u32,
    /// With how many it gives up
    pub most_failures: u32,
    /// The role of its agents
    pub role: String,
    /// The kind that runs them, where somebody chose one
    pub kind: Option<String>,
    /// Where they work, where somebody chose that
    pub cwd: Option<String>,
    /// Where the specification was read
    pub spec_path: Option<String>,
    /// Whether each iteration is committed
    pub commit: bool,
    /// What it may spend in all
    pub budget_usd: Option<f64>,
    /// What its iterations have cost
    pub cost_usd: f64,
    /// Its tasks
    pub tasks: TaskCounts,
    /// How many messages of a person wait for the next agent
    pub waiting: i64,
    /// When it was begun
    pub created_at: Timestamp,
    /// When it last changed
    pub updated_at: Timestamp,
    /// When it was over
    pub ended_at: Option<Timestamp>,
}

/// An iteration.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IterationView {
    /// Its number; 0 is the planning
    pub number: u32,
    /// Its agent
    pub agent_id: Option<AgentId>,
    /// How that agent ended; null while it works
    pub state: Option<AgentStateName>,
    /// Why
    pub reason: Option<String>,
    /// What it says of itself
    pub summary: Option<String>,
    /// The task that was begun in it
    pub task: Option<TaskRef>,
    /// The commit that was made of it
    pub commit: Option<String>,
    /// What it cost
    pub cost_usd: Option<f64>,
    /// When it began
    pub started_at: Timestamp,
    /// When it was over
    pub ended_at: Option<Timestamp>,
}

/// A note.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopNoteView {
    /// Its number: `NOT-3`
    pub id: String,
    /// What kind of thing it is
    #[serde(rename = "type")]
    pub kind: NoteType,
    /// What it says
    pub content: String,
    /// In which iteration it was written
    pub iteration: u32,
}

/// Words for the next agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    /// Its number
    pub number: i64,
    /// `operator`, or the moment of the hook that said it
    pub from: String,
    /// What it says
    pub text: String,
    /// When it was left
    pub created_at: Timestamp,
    /// The iteration whose agent was told; null while it waits
    pub iteration: Option<u32>,
    /// When that was
    pub delivered_at: Option<Timestamp>,
}

/// A loop with all that happened in it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WholeLoop {
    /// The loop
    #[serde(rename = "loop")]
    pub about: LoopView,
    /// Its last iterations, newest first
    pub iterations: Vec<IterationView>,
    /// Its last notes, oldest of them first
    pub notes: Vec<LoopNoteView>,
    /// The last words for its agents, oldest of them first
    pub messages: Vec<MessageView>,
    /// What its agents are told beside the specification
    pub extra: Option<String>,
    /// The specification
    pub spec: String,
}

/// A page of loops.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopsView {
    /// The loops, newest first
    pub loops: Vec<LoopView>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<i64>,
}

impl LoopView {
    fn of(tx: &Tx<'_>, row: Loop) -> Result<Self, ToolError> {
        let mut tasks = TaskCounts::default();
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
        Ok(Self {
            name: row.session,
            state: row.state,
            phase: row.phase,
            wish: row.wish,
            reason: row.why,
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
}

impl IterationView {
    fn of(it: Iteration) -> Self {
        Self {
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
}

impl LoopNoteView {
    fn of(note: Note) -> Self {
        let Note { number, kind, content, iteration, .. } = note;
        Self { id: format!("NOT-{number}"), kind, content, iteration }
    }
}

impl MessageView {
    pub(super) fn of(message: LoopMessage) -> Self {
        let LoopMessage { number, source, body, created_at, iteration, delivered_at } = message;
        Self { number, from: source, text: body, created_at, iteration, delivered_at }
    }
}

/// A loop as it is shown.
pub(super) async fn of(engine: &Engine, row: Loop) -> Result<LoopView, ToolError> {
    engine.store.scan(move |tx| LoopView::of(tx, row)).await
}

impl Engine {
    /// Lists loops, newest first.
    pub async fn loops(&self, before: Option<i64>, limit: u32) -> Result<LoopsView, ToolError> {
        self.store
            .scan(move |tx| {
                let Page { items, next } = tx.loop_page(before.unwrap_or(i64::MAX), limit)?;
                let loops = items.into_iter().map(|row| LoopView::of(tx, row));
                Ok(LoopsView { loops: loops.collect::<Result<_, ToolError>>()?, next_cursor: next })
            })
            .await
    }

    /// A loop with all that happened in it.
    pub async fn loop_whole(&self, name: &str) -> Result<WholeLoop, ToolError> {
        let row = self.find_loop(name)?;
        self.store
            .scan(move |tx| {
                let session = row.session.clone();
                let iterations = tx.iterations_newest(&session, SHOWN)?;
                let notes = tx.note_newest(&session, NOTES)?;
                let messages = tx.loop_messages_newest(&session, SHOWN)?;
                Ok(WholeLoop {
                    extra: row.order.extra.clone(),
                    spec: row.order.spec.clone(),
                    about: LoopView::of(tx, row)?,
                    iterations: iterations.into_iter().map(IterationView::of).collect(),
                    notes: notes.into_iter().map(LoopNoteView::of).collect(),
                    messages: messages.into_iter().map(MessageView::of).collect(),
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
