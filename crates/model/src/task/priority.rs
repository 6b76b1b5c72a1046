//! Task priority.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

/// Task priority: 0 is the most urgent, 4 the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Priority(u8);

impl Priority {
    /// The priority of that number, 0 to 4.
    pub fn new(number: i64) -> Option<Self> {
        u8::try_from(number).ok().filter(|n| *n <= 4).map(Self)
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self(2)
    }
}

impl<'de> Deserialize<'de> for Priority {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        Self::new(number)
            .ok_or_else(|| D::Error::custom(format!("is {number}; a priority is 0 (first) to 4")))
    }
}

impl JsonSchema for Priority {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Priority".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "maximum": 4 })
    }
}
