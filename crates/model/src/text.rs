//! Text with a limit: a string that came from outside has a maximum, in its type and its schema.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Serialize, Serializer};

/// Why a string was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadText {
    /// It is longer than its type allows.
    #[error("is {length} characters long; the limit is {limit}")]
    TooLong {
        /// Length of the input, in characters
        length: usize,
        /// Maximum length, in characters
        limit: usize,
    },
    /// It is empty or nothing but blanks, and must not be.
    #[error("must not be empty")]
    Empty,
    /// It holds a character that would harm a terminal, a file or a database.
    #[error("holds the control character U+{:04X}, which is not allowed here", u32::from(*.0))]
    Control(char),
}

fn check(text: &str, limit: usize, allowed: impl Fn(char) -> bool) -> Result<(), BadText> {
    // A string of n bytes has at most n characters: most are done without counting.
    if text.len() > limit {
        let length = text.chars().count();
        if length > limit {
            return Err(BadText::TooLong { length, limit });
        }
    }
    if text.trim().is_empty() {
        return Err(BadText::Empty);
    }
    match text.chars().find(|&c| c.is_control() && !allowed(c)) {
        Some(c) => Err(BadText::Control(c)),
        None => Ok(()),
    }
}

macro_rules! limited {
    ($($(#[$doc:meta])* $name:ident, $allowed:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name<const MAX: usize>(String);

        impl<const MAX: usize> $name<MAX> {
            /// Takes the text if it keeps to the rules.
            pub fn new(text: impl Into<String>) -> Result<Self, BadText> {
                let text = text.into();
                check(&text, MAX, $allowed)?;
                Ok(Self(text))
            }

            /// The text itself.
            pub fn into_inner(self) -> String {
                self.0
            }
        }

        impl<const MAX: usize> Deref for $name<MAX> {
            type Target = str;
            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl<const MAX: usize> fmt::Display for $name<MAX> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<const MAX: usize> Serialize for $name<MAX> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de, const MAX: usize> Deserialize<'de> for $name<MAX> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(String::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        }

        impl<const MAX: usize> JsonSchema for $name<MAX> {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                format!("{}{MAX}", stringify!($name)).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "minLength": 1, "maxLength": MAX })
            }
        }
    )*};
}

limited! {
    /// One line: a title, a name, a subject. Never empty, no control character at all.
    Line, |_| false;
    /// Prose of many lines. Never empty; anything may stand in it but NUL, which no store keeps.
    Text, |c| c != '\0';
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_long_line_names_its_limit() {
        let error = Line::<3>::new("abcd").unwrap_err();
        assert_eq!(error.to_string(), "is 4 characters long; the limit is 3");
        assert!(Line::<3>::new("äöü").is_ok(), "characters count, not bytes");
    }

    #[test]
    fn control_characters_are_named() {
        let error = Line::<9>::new("a\u{1b}[2J").unwrap_err();
        assert_eq!(
            error.to_string(),
            "holds the control character U+001B, which is not allowed here"
        );
        assert!(Text::<9>::new("a\nb\u{1b}").is_ok());
        assert_eq!(Text::<9>::new("a\0b").unwrap_err(), BadText::Control('\0'));
    }

    proptest! {
        #[test]
        fn what_is_taken_keeps_to_the_limit(text in any::<String>()) {
            if let Ok(text) = Text::<8>::new(text) {
                prop_assert!((1..=8).contains(&text.chars().count()));
            }
        }
    }
}
