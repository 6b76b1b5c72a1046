//! Shapes of `wire::supervisors`.

use wire::supervisors::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<HealthStatus>();
    assert_round_trip::<SupervisorHealth>();
    assert_round_trip::<CreatedSupervisor>();
    assert_round_trip::<PendingEpics>();
    assert_round_trip::<PendingEpic>();
    assert_round_trip::<Supervisors>();
    assert_round_trip::<SupervisorRow>();
    assert_round_trip::<RecoveredSupervisor>();
    assert_round_trip::<RecoveryStatus>();
}
