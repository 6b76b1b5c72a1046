//! Programs that a role names, by the key of its file.

use std::collections::BTreeMap;
use std::fmt;

use host::agent::role_keys;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};

/// Programs that a role names, each with its arguments, or a path alone. Recorded roles have each key beside their other
/// fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Programs(BTreeMap<String, Vec<String>>);

impl Programs {
    /// Words of a key; empty where the role does not have it.
    pub fn get(&self, key: &str) -> &[String] {
        self.0.get(key).map(Vec::as_slice).unwrap_or_default()
    }
}

impl FromIterator<(String, Vec<String>)> for Programs {
    fn from_iter<I: IntoIterator<Item = (String, Vec<String>)>>(programs: I) -> Self {
        Self(programs.into_iter().filter(|(_, words)| !words.is_empty()).collect())
    }
}

impl Serialize for Programs {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (_, key) in role_keys() {
            let words = self.get(key.name);
            if key.is_path {
                map.serialize_entry(key.name, &words.first())?;
            } else {
                map.serialize_entry(key.name, words)?;
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Programs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ProgramsVisitor)
    }
}

struct ProgramsVisitor;

impl<'de> Visitor<'de> for ProgramsVisitor {
    type Value = Programs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fields of a role")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Programs, A::Error> {
        let keys = role_keys();
        let mut programs = Vec::new();
        while let Some(name) = fields.next_key::<String>()? {
            match keys.iter().find(|(_, key)| key.name == name) {
                Some((_, key)) if key.is_path => {
                    let path: Option<String> = fields.next_value()?;
                    programs.push((name, path.into_iter().collect()));
                }
                Some(_) => programs.push((name, fields.next_value()?)),
                None => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(programs.into_iter().collect())
    }
}
