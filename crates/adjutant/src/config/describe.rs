//! Comments of the configuration file that `adjutant init` writes.

use std::sync::LazyLock;

use crate::config::Kind;
use crate::init;

/// Keys that are one of a few words.
const CHOICES: [(&str, &[&str]); 4] = [
    ("server.logLevel", &["off", "error", "warn", "info", "debug", "trace"]),
    ("agents.asks", &["role", "person"]),
    ("review.required", &["never", "person", "agent"]),
    ("review.onApproval", &["person", "merge", "pull_request"]),
];

/// A key, as the file explains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Described {
    /// Its name, as `limits.depth`
    pub(crate) key: String,
    /// Purpose
    pub(crate) words: String,
}

impl Described {
    /// The words that it may be, if they are a few.
    pub(crate) fn choices(&self) -> &'static [&'static str] {
        if self.key == "agents.default" {
            return Kind::names();
        }
        let found = CHOICES.iter().find(|(key, _)| *key == self.key);
        found.map(|(_, choices)| *choices).unwrap_or_default()
    }
}

/// Every key that has a value, in the order of the file. What stands in a map that people fill is one key.
pub(crate) fn keys() -> &'static [Described] {
    static KEYS: LazyLock<Vec<Described>> = LazyLock::new(|| read(init::CONFIG));
    &KEYS
}

/// Reads the keys with the comments above them: maps by indentation, and what they hold.
fn read(text: &str) -> Vec<Described> {
    let mut keys: Vec<Described> = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    let mut path: Vec<(usize, String)> = Vec::new();
    for line in text.lines() {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        if bare.is_empty() {
            comment.clear();
        } else if let Some(words) = bare.strip_prefix('#') {
            comment.push(words.trim());
        } else if let Some((name, value)) = bare.split_once(':').filter(|_| !bare.starts_with("- "))
        {
            path.retain(|(depth, _)| *depth < indent);
            path.push((indent, name.to_owned()));
            let key = path.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(".");
            let words = comment.join(" ");
            // A section's own words are for its keys' readers; a key without any is explained by them.
            if value.trim().is_empty() {
                keys.retain(|known| !key.starts_with(&format!("{}.", known.key)));
            }
            keys.push(Described { key, words });
            comment.clear();
        }
    }
    let all = keys.clone();
    let is_section = |key: &str| all.iter().any(|other| other.key.starts_with(&format!("{key}.")));
    keys.retain(|known| !is_section(&known.key));
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, key};

    #[test]
    fn every_key_of_the_configuration_is_described_and_every_description_is_a_key() {
        let config = Config::default();
        let whole = serde_json::to_value(&config).unwrap();
        for described in keys() {
            let path = key::path(&config, &described.key);
            assert!(key::at(&whole, &path).is_some(), "`{}` is no key", described.key);
        }
        for (leaf, _) in config.leaves() {
            let known = keys().iter().any(|described| key::within(&leaf, &described.key));
            assert!(known, "`{leaf}` is not described");
        }
    }

    #[test]
    fn the_words_are_the_comments() {
        let of = |key: &str| keys().iter().find(|known| known.key == key).unwrap();
        assert_eq!(of("models.default").words, "Model if no other setting names one.");
        assert!(of("agents.asks").words.starts_with("Decision when an agent requests a tool"));
        assert_eq!(of("agents.asks").choices(), ["role", "person"]);
        assert!(of("limits.depth").choices().is_empty());
    }
}
