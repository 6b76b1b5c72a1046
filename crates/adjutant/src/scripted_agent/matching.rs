//! Matches answers against a scenario's expectations. Pure.

use std::fmt;

use serde_json::Value;

/// Characters of a value shown in a message.
const SHOWN: usize = 400;

/// Where an answer is not as expected.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mismatch {
    path: String,
    expected: Value,
    found: Option<Value>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the answer" } else { &self.path };
        write!(f, "`{place}` should be {}, and ", shown(&self.expected))?;
        match &self.found {
            Some(found) => write!(f, "is {}", shown(found)),
            None => write!(f, "is not there"),
        }
    }
}

/// A value as a message shows it: not too much of it.
pub(super) fn shown(value: &Value) -> String {
    let mut text = value.to_string();
    if let Some((end, _)) = text.char_indices().nth(SHOWN) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Finds the first place where `found` lacks something of `expected`.
///
/// An object may have more fields. A list may have more items, in any order, if each expected one fits
/// some item; an empty list is only like an empty list.
pub(super) fn compare(expected: &Value, found: &Value) -> Result<(), Mismatch> {
    at("", expected, Some(found))
}

fn at(path: &str, expected: &Value, found: Option<&Value>) -> Result<(), Mismatch> {
    let fits = match (expected, found) {
        (Value::Object(fields), Some(Value::Object(_))) => {
            for (name, field) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                at(&path, field, found.and_then(|found| found.get(name)))?;
            }
            true
        }
        (Value::Array(items), Some(Value::Array(has))) if !items.is_empty() => {
            for item in items {
                if !has.iter().any(|one| at("", item, Some(one)).is_ok()) {
                    return Err(mismatch(&format!("{path}[]"), item, found));
                }
            }
            true
        }
        (Value::Number(one), Some(Value::Number(two))) => {
            one == two || one.as_f64() == two.as_f64()
        }
        (one, Some(two)) => one == two,
        (_, None) => false,
    };
    if fits { Ok(()) } else { Err(mismatch(path, expected, found)) }
}

fn mismatch(path: &str, expected: &Value, found: Option<&Value>) -> Mismatch {
    Mismatch { path: path.to_owned(), expected: expected.clone(), found: found.cloned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_part_is_enough() {
        let answer =
            json!({ "a": { "b": 1, "c": [] }, "list": [{ "n": 1 }, { "n": 2, "m": "x" }] });
        for expected in [
            json!({}),
            json!({ "a": { "b": 1.0 } }),
            json!({ "a": { "c": [] } }),
            json!({ "list": [{ "m": "x" }] }),
            json!({ "list": [{ "n": 2 }, { "n": 1 }] }),
        ] {
            assert_eq!(compare(&expected, &answer), Ok(()), "{expected}");
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        let answer = json!({ "a": { "b": 1 }, "list": [1] });
        for (expected, message) in [
            (json!({ "a": { "b": 2 } }), "`a.b` should be 2, and is 1"),
            (json!({ "x": true }), "`x` should be true, and is not there"),
            (json!({ "a": null }), "`a` should be null, and is {\"b\":1}"),
            (json!({ "list": [2] }), "`list[]` should be 2, and is [1]"),
            (json!({ "list": [] }), "`list` should be [], and is [1]"),
            (json!("x"), "`the answer` should be \"x\", and is {\"a\":{\"b\":1},\"list\":[1]}"),
        ] {
            assert_eq!(compare(&expected, &answer).unwrap_err().to_string(), message);
        }
        assert_eq!(shown(&json!("ü".repeat(1000))).chars().count(), SHOWN + 1);
    }
}
