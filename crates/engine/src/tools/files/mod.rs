//! `files`: files that an agent edits and others leave alone, for a while.

pub(super) mod list_reservations;
pub(super) mod release;
pub(super) mod reserve;

use store::Reservation;
use wire::files::ReservationView;

/// Returns a reservation as tools answer it.
fn reservation_view(held: Reservation) -> ReservationView {
    ReservationView {
        id: held.id,
        pattern: held.pattern,
        agent_id: held.agent,
        role: held.role,
        reason: held.reason,
        expires_at: held.expires_at,
    }
}
