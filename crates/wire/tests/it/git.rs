//! Shapes of `wire::git`.

use wire::git::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<DiffAnswer>();
    assert_round_trip::<ChangedFile>();
    assert_round_trip::<CommitLine>();
    assert_round_trip::<UncommittedChanges>();
    assert_round_trip::<RebaseAnswer>();
    assert_round_trip::<RebaseStatus>();
}
