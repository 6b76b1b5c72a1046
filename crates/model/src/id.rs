//! Every identifier, from one macro.
//!
//! An id is a prefix and 64 random bits in hex. The type makes a swapped argument impossible, the
//! prefix makes a wrong paste readable.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::{Serialize, Serializer};

/// A string that is not the id it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not {what} (expected `{prefix}` and 16 hex digits)")]
pub struct InvalidId {
    given: String,
    what: &'static str,
    prefix: &'static str,
}

fn parse(given: &str, what: &'static str, prefix: &'static str) -> Result<u64, InvalidId> {
    let digits = given.strip_prefix(prefix).filter(|digits| {
        digits.len() == 16 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    });
    digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).ok_or_else(|| InvalidId {
        given: given.chars().take(80).collect(),
        what,
        prefix,
    })
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal, $what:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u64);

        impl $name {
            /// Prefix of every id of this type.
            pub const PREFIX: &'static str = $prefix;

            /// Makes an id from random bits.
            pub const fn from_bits(bits: u64) -> Self {
                Self(bits)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{:016x}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(given: &str) -> Result<Self, InvalidId> {
                parse(given, $what, $prefix).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct FromText;
                impl Visitor<'_> for FromText {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!($what, " (a string of `", $prefix, "` and 16 hex digits)"))
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(FromText).map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "pattern": concat!("^", $prefix, "[0-9a-f]{16}$"),
                })
            }
        }
    )*};
}

ids! {
    /// One run of a role or of a bare prompt, no matter which caller started it.
    AgentId = "sp_", "an agent id";
    /// A message to a webhook.
    DeliveryId = "msg_", "a delivery id";
    /// A group of tasks.
    EpicId = "epic_", "an epic id";
    /// A job of the outbox.
    OutboxJobId = "err_", "an outbox job id";
    /// Feedback of a reviewer.
    FeedbackId = "fb_", "a feedback id";
    /// An internal failure, as reported to callers.
    IncidentId = "inc_", "an incident id";
    /// One entry of the decision log.
    LogId = "log_", "a log id";
    /// One mail.
    MailId = "mail_", "a mail id";
    /// Approved work on its way into a branch.
    MergeId = "merge_", "a merge id";
    /// Access to the web page: a link, or a tab opened by one.
    PassId = "pass_", "a link's id";
    /// Files that an agent edits and others leave alone, for a while.
    ReservationId = "res_", "a reservation id";
    /// A unit of work.
    TaskId = "task_", "a task id";
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_wrong_paste_says_what_was_expected() {
        let error = "task_0190".parse::<AgentId>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`task_0190` is not an agent id (expected `sp_` and 16 hex digits)"
        );
    }

    proptest! {
        #[test]
        fn an_id_survives_text(bits: u64) {
            let id = AgentId::from_bits(bits);
            prop_assert_eq!(id.to_string().parse::<AgentId>(), Ok(id));
            let json = serde_json::to_string(&id).unwrap();
            prop_assert_eq!(serde_json::from_str::<AgentId>(&json).unwrap(), id);
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".*") {
            prop_assert_eq!(text.parse::<MailId>().is_ok(), {
                text.strip_prefix("mail_").is_some_and(|d| d.len() == 16
                    && d.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c)))
            });
        }
    }
}
