//! Lists that a tool takes: as text has a maximum, so has a list.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _};

/// A list of `MIN` to `MAX` things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Items<T, const MIN: usize, const MAX: usize>(Vec<T>);

impl<T, const MIN: usize, const MAX: usize> Items<T, MIN, MAX> {
    /// The things, to look at.
    pub(crate) fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// The things themselves.
    pub(crate) fn into_inner(self) -> Vec<T> {
        self.0
    }
}

impl<'de, T: Deserialize<'de>, const MIN: usize, const MAX: usize> Deserialize<'de>
    for Items<T, MIN, MAX>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Vec::deserialize(deserializer)?;
        if (MIN..=MAX).contains(&items.len()) {
            Ok(Self(items))
        } else {
            Err(D::Error::custom(format!("has {} items; it must have {MIN} to {MAX}", items.len())))
        }
    }
}

impl<T: JsonSchema, const MIN: usize, const MAX: usize> JsonSchema for Items<T, MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("{MIN}to{MAX}{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<T>();
        json_schema!({ "type": "array", "items": items, "minItems": MIN, "maxItems": MAX })
    }
}
