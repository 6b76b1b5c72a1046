//! Event payloads: one struct per kind, and [`EventData`] over all of them.
//!
//! The record keeps an event's kind and its payload apart: the kind by its name, the payload as JSON. What was written
//! once must read for ever. A field may be added, as an `Option` that is absent in older rows; a field that is renamed,
//! removed or given another type is a new shape, which the golden files in `tests/golden/events` reject.

mod agent;
mod automation;
mod delivery;
mod server;
mod session;
mod task;

use model::event::EventKind;
use model::{AgentId, TaskId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use agent::{
    AgentAsked, AgentCreated, AgentDraft, AgentFinished, AgentStarted, AgentStateChanged,
    AgentStopping, AgentWarned, RunTotals, SupervisorRecovered, SupervisorRecovering, TokenTotals,
};
pub use automation::{
    FailedStep, HookOutput, LoopBegun, LoopCommitted, LoopEnded, LoopIterationEnded,
    LoopIterationStarted, LoopMessage, LoopPaused, LoopStepFailed, LoopStopping, PlanEnded,
    PlanResumed, PlanStarted,
};
pub use delivery::{
    ErrandCreated, ErrandEnded, ErrandStatus, IssuesCreated, MergeChanged, MergeQueued,
    PullChanged, PullOpened, ReviewEnded, ReviewFeedback, ReviewRequested, WorktreeChanged,
};
pub use server::{ConfigReloaded, WebhookDead, WebhookDisabled};
pub use session::{
    DecisionLogged, FilesReleased, FilesReserved, IterationSummarised, MailRead, MailSent,
    NoteAdded, ReleasedReservation, ReservedPattern, SessionCompleted,
};
pub use task::{EpicCreated, EpicUpdated, TaskChange, TaskCommented, TaskCreated};

macro_rules! events {
    ($($(#[$doc:meta])* $kind:ident($data:ident) = $name:literal,)*) => {
        /// The payload of an event, by its kind.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind", content = "data")]
        pub enum EventData {
            $($(#[$doc])* #[serde(rename = $name)] $kind($data),)*
        }

        impl EventData {
            /// The kind that the payload belongs to.
            pub const fn kind(&self) -> EventKind {
                match self { $(Self::$kind(_) => EventKind::$kind,)* }
            }

            /// The payload as it is stored and sent, without its kind.
            pub fn to_json(&self) -> Value {
                match self { $(Self::$kind(data) => json_of(data),)* }
            }

            /// Reads the payload of a kind. Unknown fields are ignored.
            ///
            /// # Errors
            /// Fails where a required field is missing or a field has another type.
            pub fn from_json(kind: EventKind, data: &Value) -> Result<Self, serde_json::Error> {
                match kind { $(EventKind::$kind => $data::deserialize(data).map(Self::$kind),)* }
            }
        }
    };
}

events! {
    /// An agent was recorded. One that Adjutant runs is queued; one that was enlisted runs already
    AgentCreated(AgentCreated) = "agent.created",
    /// An agent's process runs, or an agent was enlisted
    AgentStarted(AgentStarted) = "agent.started",
    /// An agent moved from one state to another, other than by starting or ending
    AgentStateChanged(AgentStateChanged) = "agent.state_changed",
    /// A running agent was asked to stop; `agent.finished` follows
    AgentStopping(AgentStopping) = "agent.stopping",
    /// An agent was warned, of its budget or of repeating itself, or Adjutant failed while serving it
    AgentWarned(AgentWarned) = "agent.warned",
    /// An agent asked the human for permission to use a tool
    AgentAsked(AgentAsked) = "agent.asked",
    /// An agent ended
    AgentFinished(AgentFinished) = "agent.finished",
    /// An epic was created
    EpicCreated(EpicCreated) = "epic.created",
    /// An epic moved from one state to another
    EpicUpdated(EpicUpdated) = "epic.updated",
    /// A supervisor is being replaced; its crew ends with it
    SupervisorRecovering(SupervisorRecovering) = "supervisor.recovering",
    /// The successor of a supervisor was drafted
    SupervisorRecovered(SupervisorRecovered) = "supervisor.recovered",
    /// A task was created
    TaskCreated(TaskCreated) = "task.created",
    /// A task was assigned to an agent
    TaskAssigned(TaskChange) = "task.assigned",
    /// A task moved to another state, or its priority or dependencies changed
    TaskUpdated(TaskChange) = "task.updated",
    /// A comment was added to a task
    TaskCommented(TaskCommented) = "task.commented",
    /// Mail was sent, or forwarded from an agent that ended without reading it
    MailSent(MailSent) = "mail.sent",
    /// Mail was read by its recipient
    MailRead(MailRead) = "mail.read",
    /// A decision was logged
    DecisionLogged(DecisionLogged) = "decision.logged",
    /// A note was added to a session
    NoteAdded(NoteAdded) = "note.added",
    /// An iteration of a session was given its summary
    IterationSummarised(IterationSummarised) = "iteration.summarised",
    /// A session was declared complete
    SessionCompleted(SessionCompleted) = "session.completed",
    /// A loop was started, or an ended one was started again
    LoopStarted(LoopBegun) = "loop.started",
    /// An iteration of a loop began; its agent is drafted
    LoopIterationStarted(LoopIterationStarted) = "loop.iteration_started",
    /// The agent of an iteration ended
    LoopIterationEnded(LoopIterationEnded) = "loop.iteration_ended",
    /// The changes of an iteration were committed
    LoopCommitted(LoopCommitted) = "loop.committed",
    /// The operator left a message for a loop's next agent
    LoopMessage(LoopMessage) = "loop.message",
    /// A hook or a commit of a loop failed; the loop continues
    LoopStepFailed(LoopStepFailed) = "loop.step_failed",
    /// The operator asked a loop to pause or to stop
    LoopStopping(LoopStopping) = "loop.stopping",
    /// A loop paused
    LoopPaused(LoopPaused) = "loop.paused",
    /// A paused loop continued
    LoopResumed(LoopBegun) = "loop.resumed",
    /// A loop ended
    LoopEnded(LoopEnded) = "loop.ended",
    /// A coder's work went to a reviewer
    ReviewRequested(ReviewRequested) = "review.requested",
    /// A reviewer gave feedback, or its commit was merged into the coder's branch later
    ReviewFeedback(ReviewFeedback) = "review.feedback",
    /// A review ended
    ReviewEnded(ReviewEnded) = "review.ended",
    /// A pull request was opened
    PullOpened(PullOpened) = "pull.opened",
    /// A pull request was merged, closed or reopened
    PullChanged(PullChanged) = "pull.changed",
    /// An issue was opened on GitHub
    IssuesCreated(IssuesCreated) = "issues.created",
    /// Approved work entered the merge queue
    MergeQueued(MergeQueued) = "merge.queued",
    /// Work in the merge queue moved to another state: merged, sent back or held
    MergeChanged(MergeChanged) = "merge.changed",
    /// A worktree was created, rescued or removed
    WorktreeChanged(WorktreeChanged) = "worktree.changed",
    /// A job was put into the outbox
    ErrandCreated(ErrandCreated) = "errand.created",
    /// A job of the outbox was done, or failed for good
    ErrandEnded(ErrandEnded) = "errand.ended",
    /// An agent reserved files, or renewed its reservations
    FilesReserved(FilesReserved) = "files.reserved",
    /// Reservations were released before they expired
    FilesReleased(FilesReleased) = "files.released",
    /// A plan was started
    PlanStarted(PlanStarted) = "plan.started",
    /// Another coordinator took over a plan
    PlanResumed(PlanResumed) = "plan.resumed",
    /// A plan ended
    PlanEnded(PlanEnded) = "plan.ended",
    /// Configuration and roles were read again
    ConfigReloaded(ConfigReloaded) = "config.reloaded",
    /// A message to a webhook failed, the first since all were delivered
    WebhookDead(WebhookDead) = "webhook.dead",
    /// A webhook was disabled: nothing is sent to it until it is enabled again
    WebhookDisabled(WebhookDisabled) = "webhook.disabled",
}

/// A struct with named fields always has a JSON form, so that there is no error to pass on.
fn json_of<T: Serialize>(data: &T) -> Value {
    serde_json::to_value(data).unwrap_or_default()
}

/// An event as the API sends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventView {
    /// Place in the sequence of all events
    pub number: i64,
    /// Kind of the event
    pub kind: EventKind,
    /// Time of the change
    pub at: Timestamp,
    /// Agent that the event is about or that caused it
    pub agent_id: Option<AgentId>,
    /// Task that the event is about
    pub task_id: Option<TaskId>,
    /// Payload of the kind, exactly as it was recorded
    pub data: Value,
}

impl EventView {
    /// The typed payload.
    ///
    /// # Errors
    /// Fails where the payload is not one of its kind.
    pub fn decode(&self) -> Result<EventData, serde_json::Error> {
        EventData::from_json(self.kind, &self.data)
    }
}

/// A page of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Events")]
pub struct EventPage {
    /// The events, oldest first
    pub events: Vec<EventView>,
    /// Cursor: everything up to here was considered
    pub last: i64,
}

/// State of the sequence at the start of a stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Head")]
pub struct StreamHead {
    /// The number of the last event there is
    pub last: i64,
    /// Events after this number follow
    pub after: i64,
    /// Since when this server runs: another value is another server
    pub started: Timestamp,
}
