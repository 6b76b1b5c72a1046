//! Points in time: milliseconds since 1970 inside, RFC 3339 outside.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Serialize, Serializer};

/// A point in time with millisecond precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The point so many milliseconds after 1970 began.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970 began.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The point `seconds` later.
    #[must_use]
    pub const fn after_seconds(self, seconds: i64) -> Self {
        self.after_millis(seconds.saturating_mul(1000))
    }

    /// The point `millis` milliseconds later.
    #[must_use]
    pub const fn after_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to here; nought if `earlier` is later.
    pub const fn millis_since(self, earlier: Self) -> i64 {
        let millis = self.0.saturating_sub(earlier.0);
        if millis < 0 { 0 } else { millis }
    }

    fn civil(self) -> Option<jiff::civil::DateTime> {
        let at = jiff::Timestamp::from_millisecond(self.0).ok()?;
        Some(jiff::tz::Offset::UTC.to_datetime(at))
    }

    /// The day, as `2026-11-15`, in UTC.
    pub fn date(self) -> String {
        self.civil().map_or_else(String::new, |at| at.date().to_string())
    }

    /// The time of day, as `14:05:09`, in UTC.
    pub fn time_of_day(self) -> String {
        self.civil().map_or_else(String::new, |at| {
            format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
        })
    }

    /// Month, day, hour and minute, as a task's slug ends: `1115-1405`.
    pub fn slug_suffix(self) -> String {
        self.civil().map_or_else(String::new, |at| {
            format!("{:02}{:02}-{:02}{:02}", at.month(), at.day(), at.hour(), at.minute())
        })
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.civil() {
            Some(at) => write!(
                f,
                "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                at.year(),
                at.month(),
                at.day(),
                at.hour(),
                at.minute(),
                at.second(),
                at.millisecond()
            ),
            None => write!(f, "{} ms", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        text.parse::<jiff::Timestamp>().map(|at| Self(at.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_reads_as_rfc_3339() {
        assert_eq!(
            Timestamp::from_millis(1_763_208_309_042).to_string(),
            "2025-11-15T12:05:09.042Z"
        );
        assert_eq!(Timestamp::from_millis(1_763_208_309_042).slug_suffix(), "1115-1205");
        assert_eq!(Timestamp::from_millis(1_763_208_309_042).time_of_day(), "12:05:09");
    }

    proptest! {
        #[test]
        fn it_survives_text(millis in 0_i64..4_000_000_000_000) {
            let at = Timestamp::from_millis(millis);
            prop_assert_eq!(at.to_string().parse::<Timestamp>().unwrap(), at);
        }
    }
}
