//! Numbers that lists and waits take: how many, from where, how long.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _};

/// Page size: 1 to 500.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit(u32);

impl Limit {
    const MAX: u32 = 500;

    /// The limit that was given, or the usual one.
    pub(crate) fn or(given: Option<Self>, usual: u32) -> u32 {
        given.map_or(usual, |limit| limit.0)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        u32::try_from(number)
            .ok()
            .filter(|number| (1..=Self::MAX).contains(number))
            .map(Self)
            .ok_or_else(|| D::Error::custom(format!("is {number}; it must be 1 to {}", Self::MAX)))
    }
}

impl JsonSchema for Limit {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Limit".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": Self::MAX })
    }
}

/// Wait of a call: 0 to 240 seconds. Clients give up soon after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WaitSeconds(u32);

impl WaitSeconds {
    const MAX: u32 = 240;

    pub(crate) const fn seconds(self) -> u32 {
        self.0
    }
}

impl<'de> Deserialize<'de> for WaitSeconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        u32::try_from(number).ok().filter(|number| *number <= Self::MAX).map(Self).ok_or_else(
            || {
                D::Error::custom(format!(
                    "is {number}; it must be 0 to {}. To wait longer, call again",
                    Self::MAX
                ))
            },
        )
    }
}

impl JsonSchema for WaitSeconds {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "WaitSeconds".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "maximum": Self::MAX })
    }
}
