//! Event payloads for tests that need an event of some kind and do not care about its fields.

use std::path::Path;

use model::event::EventKind;
use wire::event::EventData;

/// The payload of a kind's golden file, with every field.
///
/// # Panics
/// Panics where the kind has no golden file that reads.
#[expect(clippy::expect_used, reason = "a test cannot go on without its payload")]
pub fn event_of(kind: EventKind) -> EventData {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/golden/events");
    let text = std::fs::read_to_string(folder.join(format!("{}.json", kind.name())))
        .expect("a golden file of the kind");
    let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    EventData::from_json(kind, &file["full"]).expect("a payload of the kind")
}
