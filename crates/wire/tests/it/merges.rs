//! Shapes of `wire::merges`.

use wire::merges::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<LineRange>();
    assert_round_trip::<ConflictView>();
    assert_round_trip::<MergeView>();
    assert_round_trip::<CheckingView>();
    assert_round_trip::<WatchedMerge>();
    assert_round_trip::<Merges>();
    assert_round_trip::<BranchOverlap>();
    assert_round_trip::<ReviewedPullRequest>();
    assert_round_trip::<ReviewedTask>();
    assert_round_trip::<ReviewQueueAnswer>();
    assert_round_trip::<ReviewedWorker>();
    assert_round_trip::<ReviewDeskTask>();
    assert_round_trip::<ReviewDesk>();
    assert_round_trip::<ApprovedTask>();
    assert_round_trip::<ApprovalStatus>();
}
