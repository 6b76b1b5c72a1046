//! Shapes of `wire::loops`.

use wire::loops::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<LoopTaskCounts>();
    assert_round_trip::<LoopView>();
    assert_round_trip::<IterationView>();
    assert_round_trip::<LoopNoteView>();
    assert_round_trip::<LoopMessageView>();
    assert_round_trip::<LoopDetails>();
    assert_round_trip::<LoopList>();
}
