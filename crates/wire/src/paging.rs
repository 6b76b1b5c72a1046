//! Positions in lists that are read page by page.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Serialize, Serializer};

/// Position in a list, as tools exchange it: text that means nothing to its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageCursor(model::Cursor);

impl PageCursor {
    /// Returns the number of the last row of the page before.
    pub const fn number(self) -> i64 {
        self.0.number()
    }
}

impl From<i64> for PageCursor {
    fn from(number: i64) -> Self {
        // Rows have numbers from 1 on.
        Self(model::Cursor::try_from(number).unwrap_or_default())
    }
}

impl fmt::Display for PageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}", self.0)
    }
}

impl Serialize for PageCursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PageCursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.strip_prefix('c')
            .and_then(|number| number.parse().ok())
            .map(Self)
            .ok_or_else(|| D::Error::custom("is not a cursor: pass `nextCursor` as it came"))
    }
}

impl JsonSchema for PageCursor {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Cursor".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": 24 })
    }
}
