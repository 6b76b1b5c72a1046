//! Shapes of `wire::plans`.

use wire::plans::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<PlanRow>();
    assert_round_trip::<PlanView>();
    assert_round_trip::<CoordinatorView>();
    assert_round_trip::<PlanStepView>();
    assert_round_trip::<PlanWorker>();
    assert_round_trip::<PlanQuestion>();
    assert_round_trip::<Plans>();
}
