//! Shapes of `wire::crew`.

use wire::crew::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<CrewRow>();
    assert_round_trip::<CrewTask>();
    assert_round_trip::<CrewEpic>();
    assert_round_trip::<CrewActivity>();
    assert_round_trip::<CrewQuestion>();
    assert_round_trip::<CrewReview>();
    assert_round_trip::<CrewBudget>();
    assert_round_trip::<LaneState>();
    assert_round_trip::<LaneSegment>();
    assert_round_trip::<Crew>();
    assert_round_trip::<CrewRows>();
    assert_round_trip::<RoleSummary>();
    assert_round_trip::<Roles>();
}
