//! The kinds of events. An event is a state change with a number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal $(, formerly $former:literal)?;)*) => {
        /// Kind of an event. Kinds are added; one that is renamed keeps its former name as an alias.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
        #[schemars(inline)]
        pub enum EventKind {
            $($(#[$doc])* #[serde(rename = $text $(, alias = $former)?)] $name,)*
        }

        impl EventKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The kind's name, as it is stored and sent.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Names that earlier versions stored and sent for the kind.
            pub const fn former_names(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($former)?],)* }
            }

            /// Looks a kind up by its name, or by one it had before.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.names().any(|own| own == name))
            }
        }
    };
}

kinds! {
    /// An agent was recorded
    AgentCreated = "agent.created";
    /// An agent's process runs, or an agent was enlisted
    AgentStarted = "agent.started";
    /// An agent moved from one state to another
    AgentStateChanged = "agent.state_changed";
    /// An agent was asked to stop
    AgentStopping = "agent.stopping";
    /// An agent was warned, of its budget or of repeating itself
    AgentWarned = "agent.warned";
    /// An agent asked the human for permission
    AgentAsked = "agent.asked";
    /// An agent ended
    AgentFinished = "agent.finished";
    /// An epic was created
    EpicCreated = "epic.created";
    /// An epic changed
    EpicUpdated = "epic.updated";
    /// A supervisor is being replaced
    SupervisorRecovering = "supervisor.recovering";
    /// The successor of a supervisor was drafted
    SupervisorRecovered = "supervisor.recovered";
    /// A task was created
    TaskCreated = "task.created";
    /// A task was assigned to an agent
    TaskAssigned = "task.assigned";
    /// A task changed
    TaskUpdated = "task.updated";
    /// A comment was added to a task
    TaskCommented = "task.commented";
    /// Mail was sent or forwarded
    MailSent = "mail.sent";
    /// Mail was read
    MailRead = "mail.read";
    /// A decision was logged
    DecisionLogged = "decision.logged";
    /// A note was added to a session
    NoteAdded = "note.added";
    /// An iteration was given its summary
    IterationSummarised = "iteration.summarised";
    /// A session was declared complete
    SessionCompleted = "session.completed";
    /// A loop was started, or started again
    LoopStarted = "loop.started";
    /// An iteration of a loop began
    LoopIterationStarted = "loop.iteration_started";
    /// An iteration of a loop ended
    LoopIterationEnded = "loop.iteration_ended";
    /// The changes of an iteration were committed
    LoopCommitted = "loop.committed";
    /// The operator left a message for a loop's next agent
    LoopMessage = "loop.message";
    /// A hook or a commit of a loop failed; the loop goes on
    LoopStepFailed = "loop.step_failed", formerly "loop.trouble";
    /// A loop was asked to pause or to stop
    LoopStopping = "loop.stopping";
    /// A loop paused
    LoopPaused = "loop.paused";
    /// A paused loop goes on
    LoopResumed = "loop.resumed";
    /// A loop ended
    LoopEnded = "loop.ended";
    /// A coder asked for a review
    ReviewRequested = "review.requested";
    /// A reviewer gave feedback
    ReviewFeedback = "review.feedback";
    /// A review ended
    ReviewEnded = "review.ended";
    /// A pull request was opened
    PullOpened = "pull.opened";
    /// A pull request was merged, closed or reopened
    PullChanged = "pull.changed";
    /// An issue was opened on GitHub
    IssuesCreated = "issues.created";
    /// Approved work entered the merge queue
    MergeQueued = "merge.queued";
    /// Approved work was merged, sent back or held
    MergeChanged = "merge.changed";
    /// A worktree was created, rescued or removed
    WorktreeChanged = "worktree.changed";
    /// A job was put into the outbox
    ErrandCreated = "errand.created";
    /// A job of the outbox was done, or failed for good
    ErrandEnded = "errand.ended";
    /// An agent reserved files, or renewed its reservations
    FilesReserved = "files.reserved";
    /// Reservations were released before they expired
    FilesReleased = "files.released";
    /// A plan was started
    PlanStarted = "plan.started";
    /// Another coordinator took over a plan
    PlanResumed = "plan.resumed";
    /// A plan ended
    PlanEnded = "plan.ended";
    /// Configuration and roles were read again
    ConfigReloaded = "config.reloaded";
    /// A message to a webhook was given up, the first since all were delivered
    WebhookDead = "webhook.dead";
    /// A webhook was disabled
    WebhookDisabled = "webhook.disabled";
}

impl EventKind {
    /// Every name under which the kind is on record: its own first, then those it had before.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name()).chain(self.former_names().iter().copied())
    }

    /// Resolves a filter: one kind by its name or former name, or with `agent.*` a whole family. Empty where the
    /// filter names nothing.
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
    fn a_renamed_kind_is_found_by_its_former_name() {
        let kind = EventKind::LoopStepFailed;
        assert_eq!(kind.name(), "loop.step_failed");
        assert_eq!(EventKind::parse("loop.trouble"), Some(kind));
        assert_eq!(EventKind::named("loop.trouble"), [kind]);
        assert_eq!(serde_json::from_str::<EventKind>("\"loop.trouble\"").unwrap(), kind);
        assert_eq!(serde_json::to_string(&kind).unwrap(), "\"loop.step_failed\"");
    }

    #[test]
    fn former_names_belong_to_one_kind() {
        for kind in EventKind::ALL {
            for name in kind.former_names() {
                let all =
                    EventKind::ALL.iter().filter(|other| other.names().any(|own| own == *name));
                assert_eq!(all.copied().collect::<Vec<_>>(), [*kind], "{name}");
            }
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
