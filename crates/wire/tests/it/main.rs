//! Tests of the shapes that cross a boundary.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod events;
mod shapes;
