//! Shapes of `wire::reviews`.

use wire::reviews::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<ReviewTask>();
    assert_round_trip::<FeedbackView>();
    assert_round_trip::<PullRequestView>();
    assert_round_trip::<ReviewView>();
    assert_round_trip::<CoderView>();
    assert_round_trip::<ReviewStory>();
    assert_round_trip::<Reviews>();
    assert_round_trip::<ActionStatus>();
    assert_round_trip::<CreatedIssues>();
    assert_round_trip::<CreatedIssue>();
    assert_round_trip::<CreatedPullRequest>();
    assert_round_trip::<RequestedReview>();
    assert_round_trip::<SentFeedback>();
    assert_round_trip::<CleanupStatus>();
}
