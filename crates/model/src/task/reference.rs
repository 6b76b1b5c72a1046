//! References to tasks in input: id, slug or number.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::id::TaskId;
use crate::slug::is_slug;

/// A reference to a task: its id, slug or number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TaskRef {
    /// `task_…`
    Id(TaskId),
    /// `TAS-12`
    Number(i64),
    /// Its slug
    Slug(String),
}

/// A string that cannot name a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not name a task (expected `task_…`, `TAS-12` or a slug)")]
pub struct InvalidTaskRef(String);

impl FromStr for TaskRef {
    type Err = InvalidTaskRef;

    fn from_str(text: &str) -> Result<Self, InvalidTaskRef> {
        let invalid = || InvalidTaskRef(text.chars().take(80).collect());
        if text.starts_with(TaskId::PREFIX) {
            return text.parse().map(Self::Id).map_err(|_| invalid());
        }
        if let Some((prefix, digits)) = text.split_once('-')
            && prefix.eq_ignore_ascii_case("tas")
            && !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
        {
            return digits.parse().map(Self::Number).map_err(|_| invalid());
        }
        if is_slug(text) { Ok(Self::Slug(text.to_owned())) } else { Err(invalid()) }
    }
}

impl fmt::Display for TaskRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Number(number) => write!(f, "TAS-{number}"),
            Self::Slug(slug) => f.write_str(slug),
        }
    }
}

impl Serialize for TaskRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TaskRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for TaskRef {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "TaskRef".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "maxLength": 80 })
    }
}
