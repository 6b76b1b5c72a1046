//! Shapes of `wire::mail`.

use wire::mail::*;

use crate::sample::assert_round_trip;

#[test]
fn what_is_written_is_read() {
    assert_round_trip::<LetterBox>();
    assert_round_trip::<LetterKind>();
    assert_round_trip::<PersonView>();
    assert_round_trip::<LetterView>();
    assert_round_trip::<Letters>();
    assert_round_trip::<OfferView>();
    assert_round_trip::<ThreadLetter>();
    assert_round_trip::<PermissionRequest>();
    assert_round_trip::<LetterAnswer>();
    assert_round_trip::<WaitingTask>();
    assert_round_trip::<Thread>();
    assert_round_trip::<MailView>();
    assert_round_trip::<SentMail>();
    assert_round_trip::<InboxAnswer>();
}
