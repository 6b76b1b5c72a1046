//! Reviews: how often work may be looked at, what becomes of a review, and how the review's seed calls
//! it all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::{AgentStateName, ReviewStatus};
use crate::words::words;

words! {
    /// How a review stands, or how it ended.
    ReviewState {
        /// Its reviewer is at work
        Open = "open",
        /// Its reviewer told the coder what it thinks
        Feedback = "feedback",
        /// Its reviewer opened a pull request
        Approved = "approved",
        /// Its reviewer ended without a word
        Silent = "silent",
        /// It took too long
        TimedOut = "timed_out",
        /// It could not be begun, or its coder ended
        Undone = "undone",
    }

    /// What a reviewer thinks.
    FeedbackType {
        /// It must be done again
        NeedsWork = "needs_work",
        /// It could be better
        Suggestions = "suggestions",
        /// Something is not clear
        Clarification = "clarification",
    }

    /// How much it matters.
    FeedbackPriority {
        /// When there is time
        Low = "low",
        /// As usual
        Medium = "medium",
        /// Before anything else
        High = "high",
        /// It must not go out like this
        Critical = "critical",
    }

    /// How a pull request stands.
    PullState {
        /// It waits
        Open = "open",
        /// It is in
        Merged = "merged",
        /// It was refused or given up
        Closed = "closed",
    }

    /// How approved work stands on its way into a branch.
    MergeState {
        /// It waits for its turn
        Queued = "queued",
        /// It is being tried
        Merging = "merging",
        /// It is in
        Merged = "merged",
        /// It does not fit, and whoever did it must look at it again
        SentBack = "sent_back",
        /// It cannot go on until a person has done something
        Held = "held",
    }

    /// Whether a worktree is there.
    WorktreeState {
        /// It is to be made
        Wanted = "wanted",
        /// It is there
        There = "there",
        /// It is gone; its branch is not
        Gone = "gone",
    }

    /// What is to be done outside.
    ErrandKind {
        /// Makes ready what a reviewer looks at
        Review = "review",
        /// Brings what a reviewer wrote to the coder
        Feedback = "feedback",
        /// Opens a pull request
        Pull = "pull",
        /// Opens issues
        Issues = "issues",
        /// Merges approved work
        Merge = "merge",
        /// Puts an agent's work on top of what others did
        Rebase = "rebase",
        /// Looks after a worktree whose agent has ended
        Tidy = "tidy",
    }

    /// How an agent stands, in the words of the review's seed. What became of its pull request wins.
    InstanceStatus {
        /// At work
        Started = "STARTED",
        /// Waits for a review
        WaitingReview = "WAITING_REVIEW",
        /// Its pull request waits
        PrCreated = "PR_CREATED",
        /// Its pull request is in
        PrMerged = "PR_MERGED",
        /// Its pull request was closed
        PrClosed = "PR_CLOSED",
        /// Over
        Terminated = "TERMINATED",
    }
}

impl InstanceStatus {
    /// How an agent stands, given its state and its pull request.
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
    /// Whether it is over.
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Open)
    }

    /// Whether it counts as a failed one, given what the reviewer thinks.
    pub const fn is_failed(self, feedback: Option<FeedbackType>) -> bool {
        match self {
            Self::Silent | Self::TimedOut => true,
            Self::Feedback => matches!(feedback, Some(FeedbackType::NeedsWork)),
            Self::Open | Self::Approved | Self::Undone => false,
        }
    }
}

/// How often work may be reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewLimits {
    /// So often
    pub max_iterations: u32,
    /// So often more, because a person said so
    pub more: u32,
    /// After so many failures the coder is abandoned
    pub abandon_after: u32,
}

impl ReviewLimits {
    /// The number of the next review, or the limit that stands in its way.
    pub const fn next(self, iterations: u32) -> Result<u32, u32> {
        let limit = self.max_iterations.saturating_add(self.more);
        if iterations >= limit { Err(limit) } else { Ok(iterations + 1) }
    }

    /// Whether so many failures are the end of it.
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
        for kind in ErrandKind::ALL {
            assert_eq!(ErrandKind::parse(kind.name()), Some(*kind));
        }
    }
}
