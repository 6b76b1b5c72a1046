//! Permissions by category.

use std::collections::BTreeMap;

use engine::toolsets::TOOLSETS;
use model::glob::Glob;
use model::policy::BUILT_IN_CATEGORIES;
use model::{Policy, Reach};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

/// A pattern over tools that can match something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern(pub(crate) Glob);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Glob::new(&String::deserialize(from)?, &TOOLSETS).map(Self).map_err(D::Error::custom)
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

/// Agents that a category may await, kill and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReachName {
    /// Only itself
    #[serde(rename = "self")]
    Itself,
    /// Those it started, and those they started
    Descendants,
    /// Everybody
    All,
}

impl From<ReachName> for Reach {
    fn from(name: ReachName) -> Self {
        match name {
            ReachName::Itself => Self::Itself,
            ReachName::Descendants => Self::Descendants,
            ReachName::All => Self::All,
        }
    }
}

impl From<Reach> for ReachName {
    fn from(reach: Reach) -> Self {
        match reach {
            Reach::Itself => Self::Itself,
            Reach::Descendants => Self::Descendants,
            Reach::All => Self::All,
        }
    }
}

/// Permissions of a category. An absent key has the built-in or a worker's value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CategoryConfig {
    /// Allowed tools
    pub(crate) allow: Option<Vec<Pattern>>,
    /// Denied tools
    pub(crate) deny: Option<Vec<Pattern>>,
    /// Agents it may await, kill and read
    pub(crate) reach: Option<ReachName>,
    /// Categories it may draft
    pub(crate) may_draft: Option<Vec<String>>,
    /// Allowed silence in seconds
    pub(crate) inactivity: Option<u32>,
}

/// The categories by name. The built-in ones are always there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Categories(pub(crate) BTreeMap<String, CategoryConfig>);

impl Default for Categories {
    fn default() -> Self {
        let built_in = |name: &str| {
            let base = Policy::base(name);
            CategoryConfig {
                reach: Some(base.reach.into()),
                inactivity: Some(base.inactivity),
                ..CategoryConfig::default()
            }
        };
        Self(BUILT_IN_CATEGORIES.iter().map(|&name| (name.to_owned(), built_in(name))).collect())
    }
}

impl<'de> Deserialize<'de> for Categories {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut all = Self::default();
        for (name, given) in BTreeMap::<String, CategoryConfig>::deserialize(from)? {
            let known = all.0.entry(name).or_default();
            known.allow = given.allow.or(known.allow.take());
            known.deny = given.deny.or(known.deny.take());
            known.reach = given.reach.or(known.reach);
            known.may_draft = given.may_draft.or(known.may_draft.take());
            known.inactivity = given.inactivity.or(known.inactivity);
        }
        Ok(all)
    }
}
