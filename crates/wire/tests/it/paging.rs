//! Shapes of `wire::paging`.

use wire::paging::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<PageCursor>();
}
