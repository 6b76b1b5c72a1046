//! Shapes of `wire::worktrees`.

use wire::worktrees::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<WorktreeView>();
    assert_round_trip::<WorktreeGit>();
    assert_round_trip::<PrunedWorktree>();
    assert_round_trip::<Worktrees>();
    assert_round_trip::<Disagreement>();
    assert_round_trip::<Agreement>();
}
