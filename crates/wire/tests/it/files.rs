//! Shapes of `wire::files`.

use wire::files::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<ReservationView>();
    assert_round_trip::<Reservations>();
    assert_round_trip::<ReleasedFiles>();
    assert_round_trip::<ReservedFiles>();
    assert_round_trip::<ReservationConflict>();
}
