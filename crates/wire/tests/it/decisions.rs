//! Shapes of `wire::decisions`.

use wire::decisions::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<LoggedDecision>();
}
