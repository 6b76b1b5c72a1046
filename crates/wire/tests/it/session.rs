//! Shapes of `wire::session`.

use wire::session::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<SessionTask>();
    assert_round_trip::<RecordedSummary>();
    assert_round_trip::<AddedNotes>();
    assert_round_trip::<AddedNote>();
    assert_round_trip::<SessionNotes>();
    assert_round_trip::<SessionNote>();
    assert_round_trip::<CompletedSession>();
    assert_round_trip::<AddedTasks>();
    assert_round_trip::<SessionTasks>();
    assert_round_trip::<NextTask>();
    assert_round_trip::<NextTaskItem>();
}
