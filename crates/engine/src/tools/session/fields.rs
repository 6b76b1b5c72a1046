//! Fields as the session's clients send them: empty ones that say nothing, several in one.

use std::borrow::Cow;
use std::fmt;

use model::task::TaskRef;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;

/// A field in which the empty string says nothing, as if it were absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OrEmpty<T>(Option<T>);

impl<T> OrEmpty<T> {
    /// Value of a field that is not empty.
    pub(super) fn given(field: Option<Self>) -> Option<T> {
        field.and_then(|field| field.0)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for OrEmpty<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if value.as_str().is_some_and(str::is_empty) {
            return Ok(Self(None));
        }
        T::deserialize(value).map(|value| Self(Some(value))).map_err(D::Error::custom)
    }
}

impl<T: JsonSchema> JsonSchema for OrEmpty<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("{}OrEmpty", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let schema = generator.subschema_for::<T>();
        json_schema!({ "anyOf": [schema, { "const": "" }] })
    }
}

/// Tasks: one, several with commas, or a list. The empty string is none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct DependsOn(pub(super) Vec<TaskRef>);

impl DependsOn {
    const MAX_ITEMS: usize = 100;
    const MAX_CHARS: usize = 8100;

    fn add<E: Error>(&mut self, text: &str) -> Result<(), E> {
        let length = text.chars().count();
        if length > Self::MAX_CHARS {
            return Err(E::custom(format!(
                "is {length} characters long; the limit is {}",
                Self::MAX_CHARS
            )));
        }
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            self.0.push(name.parse().map_err(E::custom)?);
        }
        if self.0.len() > Self::MAX_ITEMS {
            return Err(E::custom(format!("has more than {} items", Self::MAX_ITEMS)));
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for DependsOn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = DependsOn;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a task, several with commas, or a list of tasks")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<DependsOn, E> {
                let mut tasks = DependsOn::default();
                tasks.add(text)?;
                Ok(tasks)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<DependsOn, A::Error> {
                let mut tasks = DependsOn::default();
                while let Some(text) = list.next_element::<Cow<'de, str>>()? {
                    tasks.add(&text)?;
                }
                Ok(tasks)
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

impl JsonSchema for DependsOn {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "DependsOn".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = generator.subschema_for::<TaskRef>();
        json_schema!({ "anyOf": [
            { "type": "string", "maxLength": Self::MAX_CHARS },
            { "type": "array", "items": item, "maxItems": Self::MAX_ITEMS },
        ] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::task::SessionStatus;
    use serde_json::json;

    #[test]
    fn one_several_and_a_list_are_the_same() {
        let read = |value| serde_json::from_value::<DependsOn>(value).map(|tasks| tasks.0);
        let three = vec![TaskRef::Number(1), TaskRef::Number(2), TaskRef::Slug("fix-it".into())];
        assert_eq!(read(json!("TAS-1, tas-2,fix-it")).unwrap(), three);
        assert_eq!(read(json!(["TAS-1", "TAS-2", "fix-it"])).unwrap(), three);
        assert_eq!(read(json!("TAS-1")).unwrap(), three[..1]);
        assert_eq!(read(json!("")).unwrap(), []);
        assert_eq!(read(json!([])).unwrap(), []);
        assert!(read(json!("No Such Thing!")).is_err());
        assert!(read(json!(7)).is_err());
        assert!(read(json!("TAS-1,".repeat(101))).is_err());
        assert!(read(json!(" ".repeat(9000))).is_err());
    }

    #[test]
    fn the_empty_string_says_nothing() {
        let read = |value| serde_json::from_value::<OrEmpty<SessionStatus>>(value);
        assert_eq!(read(json!("")).unwrap(), OrEmpty(None));
        assert_eq!(read(json!("blocked")).unwrap(), OrEmpty(Some(SessionStatus::Blocked)));
        assert!(read(json!("nonsense")).is_err());
        assert!(read(json!(0)).is_err());
    }
}
