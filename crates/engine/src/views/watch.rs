//! One agent, for a person who watches it: what it says as it says it, what it changed, and its story.

mod diff;
mod story;
mod stream;

pub use stream::{Beginning, StreamRequest};

/// Where a text can be cut so that it is no longer than this.
fn boundary(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0)
}
