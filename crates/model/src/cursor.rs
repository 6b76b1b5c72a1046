//! Positions in numbered lists and files, as callers pass them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Unexpected, Visitor};
use serde::{Serialize, Serializer};

/// Position in a list or a file: the number of the last row that was seen, or an offset in bytes.
///
/// It is never negative and never above [`i64::MAX`], so it can be bound to a query as it is. Stepping
/// from one position to another saturates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cursor(i64);

/// A value that is no position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a cursor: it must be a whole number from 0 to {}", i64::MAX)]
pub struct InvalidCursor;

impl Cursor {
    /// Before the first row.
    pub const START: Self = Self(0);

    /// The number, at least 0.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// The same as an offset.
    pub const fn offset(self) -> u64 {
        self.0.unsigned_abs()
    }

    /// The position right behind this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The position right before this one; the start has none before it.
    pub const fn previous(self) -> Option<Self> {
        match self.0 {
            0 => None,
            number => Some(Self(number - 1)),
        }
    }
}

impl JsonSchema for Cursor {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Cursor".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0 })
    }
}

impl TryFrom<i64> for Cursor {
    type Error = InvalidCursor;

    fn try_from(number: i64) -> Result<Self, InvalidCursor> {
        if number < 0 { Err(InvalidCursor) } else { Ok(Self(number)) }
    }
}

impl FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        // `parse` would take a plus sign as well.
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(InvalidCursor);
        }
        text.parse().map(Self).map_err(|_| InvalidCursor)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de> Deserialize<'de> for Cursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CursorVisitor)
    }
}

/// Reads a number, or its digits where everything is text, as in a query string.
struct CursorVisitor;

impl Visitor<'_> for CursorVisitor {
    type Value = Cursor;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from 0 to {}", i64::MAX)
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Cursor, E> {
        Cursor::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Cursor, E> {
        let signed = i64::try_from(number);
        signed.map(Cursor).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Cursor, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_position_is_a_whole_number_that_fits() {
        for text in ["0", "7", "9223372036854775807"] {
            assert_eq!(text.parse::<Cursor>().unwrap().to_string(), text);
        }
        let huge = "9".repeat(400);
        for text in ["", "-1", "+1", " 1", "1e3", "NaN", "9223372036854775808", &huge] {
            assert_eq!(text.parse::<Cursor>(), Err(InvalidCursor), "{text}");
        }
        for number in [json!(-1), json!(i64::MIN), json!(u64::MAX), json!(1.5), json!(1e308)] {
            assert!(serde_json::from_value::<Cursor>(number.clone()).is_err(), "{number}");
        }
        assert_eq!(serde_json::from_value::<Cursor>(json!(i64::MAX)).unwrap().number(), i64::MAX);
    }

    #[test]
    fn a_step_never_leaves_the_range() {
        let last = Cursor::try_from(i64::MAX).unwrap();
        assert_eq!(last.next(), last);
        assert_eq!(last.previous().unwrap().next(), last);
        assert_eq!(Cursor::START.previous(), None);
        assert_eq!(last.offset(), 9_223_372_036_854_775_807);
    }
}
