//! Shapes of `wire::epics`.

use wire::epics::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<ColumnCounts>();
    assert_round_trip::<EpicRow>();
    assert_round_trip::<Epics>();
    assert_round_trip::<EpicView>();
    assert_round_trip::<EpicAnswer>();
    assert_round_trip::<EpicTaskCounts>();
    assert_round_trip::<EpicsAnswer>();
    assert_round_trip::<EpicPullRequest>();
    assert_round_trip::<EpicPullRequestStatus>();
}
