//! What can be told: the kinds of events. An event is a state change with a number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What happened. Kinds are added, never changed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[schemars(inline)]
        pub enum EventKind {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
        }

        impl EventKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The kind's name, as it is stored and sent.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The kind of that name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.name() == name)
            }
        }
    };
}

kinds! {
    /// An agent is there
    AgentCreated = "agent.created",
    /// An agent runs
    AgentStarted = "agent.started",
    /// An agent moved from one state to another
    AgentStateChanged = "agent.state_changed",
    /// Somebody or something wants an agent to end
    AgentStopping = "agent.stopping",
    /// An agent was warned, of its budget or of going round in circles
    AgentWarned = "agent.warned",
    /// An agent asked a person whether it may do something
    AgentAsked = "agent.asked",
    /// An agent is over
    AgentFinished = "agent.finished",
    /// An epic is there
    EpicCreated = "epic.created",
    /// An epic changed
    EpicUpdated = "epic.updated",
    /// Another supervisor is to take the place of one that is lost
    SupervisorRecovering = "supervisor.recovering",
    /// Another supervisor has taken its place
    SupervisorRecovered = "supervisor.recovered",
    /// A task is there
    TaskCreated = "task.created",
    /// A task was given to an agent
    TaskAssigned = "task.assigned",
    /// A task changed
    TaskUpdated = "task.updated",
    /// Somebody remarked on a task
    TaskCommented = "task.commented",
    /// A letter was written
    MailSent = "mail.sent",
    /// A letter was read
    MailRead = "mail.read",
    /// A decision was written down
    DecisionLogged = "decision.logged",
    /// A note was written for the next ones
    NoteAdded = "note.added",
    /// An iteration was summed up
    IterationSummarised = "iteration.summarised",
    /// A session is done
    SessionCompleted = "session.completed",
    /// A loop was begun, or was given more to do
    LoopStarted = "loop.started",
    /// An iteration of a loop began
    LoopIterationStarted = "loop.iteration_started",
    /// An iteration of a loop is over
    LoopIterationEnded = "loop.iteration_ended",
    /// What an iteration changed was committed
    LoopCommitted = "loop.committed",
    /// Somebody left word for a loop's next agent
    LoopMessage = "loop.message",
    /// A hook or a commit of a loop failed; the loop goes on
    LoopTrouble = "loop.trouble",
    /// Somebody wants a loop to wait or to end
    LoopStopping = "loop.stopping",
    /// A loop waits until somebody lets it go on
    LoopPaused = "loop.paused",
    /// A loop that waited goes on
    LoopResumed = "loop.resumed",
    /// A loop is over
    LoopEnded = "loop.ended",
    /// A coder asked for a review
    ReviewRequested = "review.requested",
    /// A reviewer told a coder what it thinks
    ReviewFeedback = "review.feedback",
    /// A review is over
    ReviewEnded = "review.ended",
    /// A pull request was opened
    PullOpened = "pull.opened",
    /// A pull request was merged, closed or opened again
    PullChanged = "pull.changed",
    /// Issues were opened
    IssuesCreated = "issues.created",
    /// Approved work waits to be merged
    MergeQueued = "merge.queued",
    /// Approved work was merged, sent back or held
    MergeChanged = "merge.changed",
    /// A worktree is there, or is gone
    WorktreeChanged = "worktree.changed",
    /// Something is to be done outside
    ErrandCreated = "errand.created",
    /// Something was done outside, or could not be
    ErrandEnded = "errand.ended",
    /// An agent reserved files, or renewed that
    FilesReserved = "files.reserved",
    /// Files are free again, before their time
    FilesReleased = "files.released",
    /// A plan was begun
    PlanStarted = "plan.started",
    /// Somebody else goes on with a plan
    PlanResumed = "plan.resumed",
    /// A plan is over
    PlanEnded = "plan.ended",
    /// Configuration and roles were read again
    ConfigReloaded = "config.reloaded",
    /// A message to a webhook was given up, the first after all were taken
    WebhookDead = "webhook.dead",
    /// Nothing is sent to a webhook any more
    WebhookDisabled = "webhook.disabled",
}

impl EventKind {
    /// The kinds that somebody names: one by its name, or with `agent.*` a whole family. None is a name
    /// that names nothing.
    pub fn named(name: &str) -> Vec<Self> {
        match name.strip_suffix(".*") {
            Some(family) => {
                let is_of =
                    |kind: &&Self| kind.name().split_once('.').is_some_and(|n| n.0 == family);
                Self::ALL.iter().filter(is_of).copied().collect()
            }
            None => Self::parse(name).into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_parsing_and_are_dotted() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::parse(kind.name()), Some(*kind));
            assert!(kind.name().split_once('.').is_some());
        }
    }

    #[test]
    fn a_family_is_named_by_its_beginning() {
        assert_eq!(EventKind::named("mail.sent"), [EventKind::MailSent]);
        assert_eq!(EventKind::named("mail.*"), [EventKind::MailSent, EventKind::MailRead]);
        for wrong in ["mail", "mail.s*", "*", ".*", "mai.*", "", "mail.sent.*"] {
            assert_eq!(EventKind::named(wrong), [], "{wrong}");
        }
    }
}
