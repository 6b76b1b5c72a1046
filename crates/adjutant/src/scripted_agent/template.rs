//! Substitutes `{{name.path}}` in a scenario's texts by known values.

use std::iter;

use model::nearest::nearest;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _};
use serde_json::{Map, Value};

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

/// Variables by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope(Map<String, Value>);

/// A template that cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TemplateError {
    /// It begins and does not end.
    #[error("`{text}` has a `{OPEN}` without its `{CLOSE}`")]
    Open {
        /// The whole text
        text: String,
    },
    /// Nothing has that name.
    #[error("`{OPEN}{path}{CLOSE}`: there is no `{part}`{}", hint(known))]
    Unknown {
        /// The whole name
        path: String,
        /// The part that was not found
        part: String,
        /// The names that are there
        known: Vec<String>,
    },
    /// It stands for something else than is needed.
    #[error("`{template}` is {found}, which does not fit: {why}")]
    Misfit {
        /// The template
        template: String,
        /// Value found
        found: Value,
        /// Reason
        why: String,
    },
}

fn hint(known: &[String]) -> String {
    match known {
        [] => String::new(),
        [one] => format!("; there is only `{one}`"),
        many => format!("; there are {}", many.join(", ")),
    }
}

impl Scope {
    /// Gives a value its name, and returns what had it before.
    pub(super) fn set(&mut self, name: &str, value: impl Into<Value>) -> Option<Value> {
        self.0.insert(name.to_owned(), value.into())
    }

    /// Gives a name back to what had it before.
    pub(super) fn restore(&mut self, name: &str, before: Option<Value>) {
        match before {
            Some(value) => self.set(name, value),
            None => self.0.remove(name),
        };
    }

    /// Takes over what others have added or changed since they began as a copy of `origin`.
    pub(super) fn merge(&mut self, origin: &Self, other: Self) {
        let news = other.0.into_iter().filter(|(name, value)| origin.0.get(name) != Some(value));
        self.0.extend(news);
    }

    /// A value with every template in its texts filled in. A text that is one template and nothing
    /// else becomes what it stands for, whatever its type.
    pub(super) fn value(&self, value: &Value) -> Result<Value, TemplateError> {
        Ok(match value {
            Value::String(text) => match whole(text) {
                Some(path) => self.find(path)?.clone(),
                None => self.text(text)?.into(),
            },
            Value::Array(items) => {
                items.iter().map(|item| self.value(item)).collect::<Result<_, _>>()?
            }
            Value::Object(fields) => Value::Object(
                fields
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), self.value(value)?)))
                    .collect::<Result<_, TemplateError>>()?,
            ),
            other => other.clone(),
        })
    }

    /// A text with every template in it filled in; what is no text itself is put in as JSON.
    pub(super) fn text(&self, text: &str) -> Result<String, TemplateError> {
        let (mut filled, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((before, opened)) = rest.split_once(OPEN) {
            let Some((path, after)) = opened.split_once(CLOSE) else {
                return Err(TemplateError::Open { text: text.to_owned() });
            };
            filled.push_str(before);
            match self.find(path.trim())? {
                Value::String(found) => filled.push_str(found),
                other => filled.push_str(&other.to_string()),
            }
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn find(&self, path: &str) -> Result<&Value, TemplateError> {
        let mut parts = path.split('.');
        let name = parts.next().unwrap_or_default();
        let unknown = |part: &str, names: &mut dyn Iterator<Item = &String>| {
            let names: Vec<&str> = names.map(String::as_str).collect();
            let near = nearest(part, names.iter().copied()).map(|name| vec![name.to_owned()]);
            let known = near.unwrap_or_else(|| names.iter().map(|&name| name.to_owned()).collect());
            TemplateError::Unknown { path: path.to_owned(), part: part.to_owned(), known }
        };
        let mut found = self.0.get(name).ok_or_else(|| unknown(name, &mut self.0.keys()))?;
        for part in parts {
            found = match found {
                Value::Object(fields) => {
                    fields.get(part).ok_or_else(|| unknown(part, &mut fields.keys()))?
                }
                Value::Array(items) => part
                    .parse::<usize>()
                    .ok()
                    .and_then(|at| items.get(at))
                    .ok_or_else(|| unknown(part, &mut iter::empty()))?,
                _ => return Err(unknown(part, &mut iter::empty())),
            };
        }
        Ok(found)
    }
}

/// The name, where the text is one template and nothing else.
fn whole(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix(OPEN)?.strip_suffix(CLOSE)?;
    (!inner.contains(OPEN) && !inner.contains(CLOSE)).then(|| inner.trim())
}

/// A value that stands in the file, or that a template says when its turn comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Templated<T> {
    /// It stands there
    Known(T),
    /// A template says it
    Template(String),
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Templated<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::String(text) if text.contains(OPEN) => Ok(Self::Template(text)),
            value => T::deserialize(value).map(Self::Known).map_err(D::Error::custom),
        }
    }
}

impl<T: DeserializeOwned + Copy> Templated<T> {
    /// The value, now.
    pub(super) fn get(&self, scope: &Scope) -> Result<T, TemplateError> {
        let template = match self {
            Self::Known(value) => return Ok(*value),
            Self::Template(template) => template,
        };
        let found = scope.value(&Value::from(template.as_str()))?;
        // Words of a prompt are texts, also those that look like numbers.
        let read = match &found {
            Value::String(text) => serde_json::from_str(text.trim()),
            other => T::deserialize(other),
        };
        read.map_err(|error| TemplateError::Misfit {
            template: template.clone(),
            found,
            why: error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scope() -> Scope {
        let mut scope = Scope::default();
        scope.set("first", json!({ "agentId": "sp_1", "list": [{ "n": 7 }], "none": null }));
        scope.set("args", json!(["burn", "0.5", "3"]));
        scope
    }

    #[test]
    fn a_text_that_is_one_template_keeps_the_type() {
        let given = json!({ "n": "{{first.list.0.n}}", "text": "n={{ first.list.0.n }}",
            "deep": ["{{first.list}}", 5, "{{first.none}}"], "id": " {{first.agentId}} " });
        assert_eq!(
            scope().value(&given).unwrap(),
            json!({ "n": 7, "text": "n=7", "deep": [[{ "n": 7 }], 5, null], "id": "sp_1" })
        );
        assert_eq!(
            scope().text("{{first.agentId}}{{args.0}}, {{args}}").unwrap(),
            "sp_1burn, [\"burn\",\"0.5\",\"3\"]"
        );
        assert_eq!(scope().text("} }} {").unwrap(), "} }} {");
    }

    #[test]
    fn what_is_unknown_is_named_with_what_is_near() {
        let error = |text: &str| scope().text(text).unwrap_err().to_string();
        assert_eq!(
            error("{{frist.x}}"),
            "`{{frist.x}}`: there is no `frist`; there is only `first`"
        );
        assert_eq!(error("{{x}}"), "`{{x}}`: there is no `x`; there are args, first");
        assert_eq!(
            error("{{first.agentID}}"),
            "`{{first.agentID}}`: there is no `agentID`; there is only `agentId`"
        );
        assert_eq!(error("{{args.9}}"), "`{{args.9}}`: there is no `9`");
        assert_eq!(error("{{args.0.x}}"), "`{{args.0.x}}`: there is no `x`");
        assert_eq!(error("a {{b"), "`a {{b` has a `{{` without its `}}`");
    }

    #[test]
    fn numbers_may_come_from_words() {
        let read = |text: &str| {
            serde_json::from_value::<Templated<f64>>(json!(text)).unwrap().get(&scope())
        };
        assert_eq!(read("{{args.1}}"), Ok(0.5));
        assert_eq!(
            read("{{args.0}}").unwrap_err().to_string(),
            "`{{args.0}}` is \"burn\", which does not fit: expected value at line 1 column 1"
        );
        assert!(serde_json::from_value::<Templated<f64>>(json!("five")).is_err());
        assert_eq!(serde_json::from_value::<Templated<u8>>(json!(3)).unwrap(), Templated::Known(3));
    }

    #[test]
    fn only_news_are_merged() {
        let origin = scope();
        let (mut all, mut one, mut two) = (origin.clone(), origin.clone(), origin.clone());
        one.set("first", 1);
        two.set("second", 2);
        all.merge(&origin, one);
        all.merge(&origin, two);
        assert_eq!(all.text("{{first}} {{second}}").unwrap(), "1 2");
        let before = all.set("i", 3);
        all.restore("i", before);
        assert!(all.text("{{i}}").is_err());
    }
}
