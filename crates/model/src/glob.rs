//! Globs over canonical tool names: `*` stands for any run of characters, anywhere.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A pattern such as `mcp__mail__*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Glob(String);

/// A pattern that can match no tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadGlob {
    /// It holds a character that no canonical name has.
    #[error("`{0}` is not a tool pattern: letters, digits, `_`, `-` and `*` only")]
    Character(String),
    /// It names a toolset that does not exist.
    #[error("`{glob}` names the unknown toolset `{toolset}`{}", nearest.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
    Toolset {
        /// The whole pattern
        glob: String,
        /// The toolset in it
        toolset: String,
        /// The toolset that was perhaps meant
        nearest: Option<&'static str>,
    },
}

impl Glob {
    /// Takes a pattern that can match something, given the toolsets there are.
    pub fn new(pattern: &str, toolsets: &[&'static str]) -> Result<Self, BadGlob> {
        Self::check_characters(pattern)?;
        if let Some((toolset, _)) =
            pattern.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"))
            && !toolset.contains('*')
            && !toolsets.contains(&toolset)
        {
            return Err(BadGlob::Toolset {
                glob: pattern.to_owned(),
                toolset: toolset.to_owned(),
                nearest: crate::nearest::nearest(toolset, toolsets.iter().copied()),
            });
        }
        if !pattern.contains('*') && !pattern.starts_with("mcp__") {
            return Err(BadGlob::Character(pattern.chars().take(80).collect()));
        }
        Ok(Self(pattern.to_owned()))
    }

    fn check_characters(pattern: &str) -> Result<(), BadGlob> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*');
        if pattern.is_empty() || !pattern.chars().all(fits) {
            return Err(BadGlob::Character(pattern.chars().take(80).collect()));
        }
        Ok(())
    }

    /// A pattern that is known to be good because it stands in the code.
    pub(crate) fn built_in(pattern: &str) -> Self {
        Self(pattern.to_owned())
    }

    /// True if the name matches.
    pub fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(first) = parts.next() else { return false };
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        let mut parts: Vec<&str> = parts.collect();
        let Some(last) = parts.pop() else { return rest.is_empty() };
        for part in parts {
            match rest.split_once(part) {
                Some((_, after)) => rest = after,
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

/// Takes a pattern that was written down earlier. Its toolset may be gone since; then it matches nothing.
impl TryFrom<String> for Glob {
    type Error = BadGlob;

    fn try_from(pattern: String) -> Result<Self, BadGlob> {
        Self::check_characters(&pattern)?;
        Ok(Self(pattern))
    }
}

impl From<Glob> for String {
    fn from(glob: Glob) -> Self {
        glob.0
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stars_stand_anywhere() {
        let check = |pattern, name| Glob::built_in(pattern).matches(name);
        assert!(check("*", "mcp__mail__send"));
        assert!(check("mcp__mail__*", "mcp__mail__send"));
        assert!(!check("mcp__mail__*", "mcp__task__get"));
        assert!(check("mcp__*__get*", "mcp__task__get"));
        assert!(check("mcp__mail__send", "mcp__mail__send"));
        assert!(!check("mcp__mail__send", "mcp__mail__send2"));
        assert!(!check("a*a", "a"), "two ends do not share a letter");
    }

    #[test]
    fn an_unknown_toolset_is_named() {
        let error = Glob::new("mcp__mial__*", &["mail", "task"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`mcp__mial__*` names the unknown toolset `mial`; did you mean `mail`?"
        );
        assert!(Glob::new("mail; rm", &["mail"]).is_err());
    }

    fn slow(pattern: &[u8], name: &[u8]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some((b'*', rest)) => (0..=name.len()).any(|skip| slow(rest, &name[skip..])),
            Some((c, rest)) => {
                name.split_first().is_some_and(|(n, tail)| n == c && slow(rest, tail))
            }
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_slow_way(pattern in "[ab*]{0,8}", name in "[ab]{0,10}") {
            prop_assert_eq!(
                Glob::built_in(&pattern).matches(&name),
                slow(pattern.as_bytes(), name.as_bytes())
            );
        }
    }
}
