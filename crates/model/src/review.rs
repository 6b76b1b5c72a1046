//! Reviews: limits, states and outcomes, and their names in the review
//! toolset.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{AgentStateName, ReviewStatus};
use crate::words::words;

words! {
    /// State of a review.
    ReviewState {
        /// The reviewer is at work
        Open = "open",
        /// The reviewer sent feedback
        Feedback = "feedback",
        /// The reviewer approved the work, or opened a pull request
        Approved = "approved",
        /// The reviewer ended without feedback
        Silent = "silent",
        /// It ran into the time limit
        TimedOut = "timed_out",
        /// It could not start, or its coder ended
        Undone = "undone",
    }

    /// Verdict of a reviewer.
    FeedbackType {
        /// The work must be changed
        NeedsWork = "needs_work",
        /// The work could be improved
        Suggestions = "suggestions",
        /// The reviewer has a question
        Clarification = "clarification",
        /// The work is good as it is
        Approved = "approved",
    }

    /// Review that an agent's work needs before its task is completed.
    ReviewRequired {
        /// None: its end completes the task
        Never = "never",
        /// A person approves it
        Person = "person",
        /// A reviewer looks at it first
        Agent = "agent",
    }

    /// What follows when a reviewer approves work.
    OnApproval {
        /// A person decides
        Person = "person",
        /// The work is merged
        Merge = "merge",
        /// A pull request is opened
        PullRequest = "pull_request",
    }

    /// Urgency of feedback.
    FeedbackPriority {
        /// Optional
        Low = "low",
        /// Normal
        Medium = "medium",
        /// Urgent
        High = "high",
        /// Must be fixed before a release
        Critical = "critical",
    }

    /// State of a pull request.
    PullState {
        /// Open
        Open = "open",
        /// Merged
        Merged = "merged",
        /// Closed without a merge
        Closed = "closed",
    }

    /// State of approved work in the merge queue.
    MergeState {
        /// Waiting for its turn
        Queued = "queued",
        /// Being merged and checked
        Merging = "merging",
        /// Merged
        Merged = "merged",
        /// Sent back to its author because of a conflict or a failed check
        SentBack = "sent_back",
        /// Held until a person acts
        Held = "held",
    }

    /// State of a worktree.
    WorktreeState {
        /// To be created
        Wanted = "wanted",
        /// Present
        There = "there",
        /// Removed; its branch remains
        Gone = "gone",
    }

    /// Kind of an outbox job.
    OutboxJobKind {
        /// Prepares the worktree of a reviewer
        Review = "review",
        /// Merges a reviewer's feedback into the coder's branch
        Feedback = "feedback",
        /// Opens a pull request
        Pull = "pull",
        /// Opens issues
        Issues = "issues",
        /// Merges approved work
        Merge = "merge",
        /// Rebases an agent's branch
        Rebase = "rebase",
        /// Commits an agent's uncommitted work
        Commit = "commit",
        /// Removes or keeps the worktree of an ended agent
        Tidy = "tidy",
    }

    /// Status of an agent in the review toolset's vocabulary. The state of its pull request wins.
    InstanceStatus {
        /// Working
        Started = "STARTED",
        /// Waiting for a review
        WaitingReview = "WAITING_REVIEW",
        /// Its pull request is open
        PrCreated = "PR_CREATED",
        /// Its pull request is merged
        PrMerged = "PR_MERGED",
        /// Its pull request is closed
        PrClosed = "PR_CLOSED",
        /// Ended
        Terminated = "TERMINATED",
    }
}

impl InstanceStatus {
    /// Status for an agent's state and its pull request.
    pub const fn of(state: AgentStateName, pull: Option<PullState>) -> Self {
        match (pull, state.review()) {
            (Some(PullState::Open), _) => Self::PrCreated,
            (Some(PullState::Merged), _) => Self::PrMerged,
            (Some(PullState::Closed), _) => Self::PrClosed,
            (None, ReviewStatus::Started) => Self::Started,
            (None, ReviewStatus::WaitingReview) => Self::WaitingReview,
            (None, ReviewStatus::Terminated) => Self::Terminated,
        }
    }
}

impl ReviewState {
    /// True for a final state.
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Open)
    }

    /// True if it counts as a failed review, given the reviewer's verdict.
    pub const fn is_failed(self, feedback: Option<FeedbackType>) -> bool {
        match self {
            Self::Silent | Self::TimedOut => true,
            Self::Feedback => matches!(feedback, Some(FeedbackType::NeedsWork)),
            Self::Open | Self::Approved | Self::Undone => false,
        }
    }
}

/// Limits on the number of reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewLimits {
    /// Reviews allowed by the configuration
    pub max_iterations: u32,
    /// Further reviews that a person allowed
    pub more: u32,
    /// Failed reviews after which the coder is abandoned
    pub abandon_after: u32,
}

impl ReviewLimits {
    /// Number of the next review, or the limit that has been reached.
    pub const fn next(self, iterations: u32) -> Result<u32, u32> {
        let limit = self.max_iterations.saturating_add(self.more);
        if iterations >= limit { Err(limit) } else { Ok(iterations + 1) }
    }

    /// True if this many failures abandon the coder.
    pub const fn abandons(self, failures: u32) -> bool {
        failures >= self.abandon_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ReviewLimits = ReviewLimits { max_iterations: 3, more: 0, abandon_after: 5 };

    #[test]
    fn the_limit_is_soft_and_the_end_is_hard() {
        assert_eq!(LIMITS.next(0), Ok(1));
        assert_eq!(LIMITS.next(2), Ok(3));
        assert_eq!(LIMITS.next(3), Err(3));
        assert_eq!(ReviewLimits { more: 2, ..LIMITS }.next(4), Ok(5));
        assert_eq!(ReviewLimits { more: 2, ..LIMITS }.next(5), Err(5));
        assert!(!LIMITS.abandons(4) && LIMITS.abandons(5) && LIMITS.abandons(6));
    }

    #[test]
    fn what_became_of_a_pull_request_wins() {
        use AgentStateName as A;
        assert_eq!(InstanceStatus::of(A::Running, None), InstanceStatus::Started);
        assert_eq!(InstanceStatus::of(A::WaitingReview, None), InstanceStatus::WaitingReview);
        assert_eq!(InstanceStatus::of(A::Lost, None), InstanceStatus::Terminated);
        for state in [A::Running, A::WaitingReview, A::Succeeded] {
            let of = |pull| InstanceStatus::of(state, Some(pull));
            assert_eq!(of(PullState::Open), InstanceStatus::PrCreated);
            assert_eq!(of(PullState::Merged), InstanceStatus::PrMerged);
            assert_eq!(of(PullState::Closed), InstanceStatus::PrClosed);
        }
    }

    #[test]
    fn silence_and_needed_work_are_failures_and_advice_is_not() {
        assert!(ReviewState::Silent.is_failed(None) && ReviewState::TimedOut.is_failed(None));
        assert!(ReviewState::Feedback.is_failed(Some(FeedbackType::NeedsWork)));
        assert!(!ReviewState::Feedback.is_failed(Some(FeedbackType::Suggestions)));
        assert!(!ReviewState::Approved.is_failed(None) && !ReviewState::Undone.is_failed(None));
    }

    #[test]
    fn every_word_survives_parsing() {
        for state in ReviewState::ALL {
            assert_eq!(ReviewState::parse(state.name()), Some(*state));
        }
        for kind in OutboxJobKind::ALL {
            assert_eq!(OutboxJobKind::parse(kind.name()), Some(*kind));
        }
    }
}
