//! Shapes of `wire::overview`.

use wire::overview::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<Overview>();
    assert_round_trip::<AgentPlaces>();
    assert_round_trip::<AgentCounts>();
    assert_round_trip::<LetterCounts>();
    assert_round_trip::<ReviewCounts>();
    assert_round_trip::<SpentToday>();
    assert_round_trip::<LimitedModel>();
    assert_round_trip::<NeedKind>();
    assert_round_trip::<NeedView>();
}
