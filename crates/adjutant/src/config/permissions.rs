//! From the configured categories to the policy.

use std::collections::BTreeMap;

use model::nearest::nearest;
use model::policy::{BUILT_IN_CATEGORIES, Category, Rules};
use model::{Policy, Reach};
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::sections::{Categories, CategoryConfig, Pattern};
use crate::yaml::{self, Problem};

/// Categories that only they themselves may start.
const LEADERS: [&str; 2] = ["supervisor", "orchestrator"];

/// The key of those who may also start agents.
const FULL_ACCESS: &str = "mcp.fullAccessCategories";

/// Why the categories make no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PolicyError {
    /// A category names another that does not exist.
    #[error("`categories.{category}.mayDraft` names the unknown category `{name}`{}", hint(nearest.as_deref()))]
    UnknownDraft {
        /// Category of the list
        category: String,
        /// Unknown name
        name: String,
        /// Nearest known name
        nearest: Option<String>,
    },
    /// A category would start one above it.
    #[error(
        "only supervisor and orchestrator may start `{name}`, and `categories.{category}.mayDraft` names it"
    )]
    LeaderDraft {
        /// Category of the list
        category: String,
        /// Unknown name
        name: String,
    },
    /// A list of categories names one that does not exist.
    #[error("`{key}` names the unknown category `{name}`{}", hint(nearest.as_deref()))]
    Unknown {
        /// Name of the list
        key: &'static str,
        /// Unknown name
        name: String,
        /// Nearest known name
        nearest: Option<String>,
    },
}

impl PolicyError {
    /// The key whose value it is about.
    pub(super) fn key(&self) -> String {
        match self {
            Self::UnknownDraft { category, .. } | Self::LeaderDraft { category, .. } => {
                format!("categories.{category}.mayDraft")
            }
            Self::Unknown { key, .. } => (*key).to_owned(),
        }
    }

    /// The categories there are, where none is near what was written.
    pub(super) fn known(&self, categories: &Categories) -> Option<String> {
        match self {
            Self::UnknownDraft { nearest: None, .. } | Self::Unknown { nearest: None, .. } => {
                let names: Vec<&str> = categories.0.keys().map(String::as_str).collect();
                Some(format!("known here: {}", names.join(", ")))
            }
            _ => None,
        }
    }
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// Builds the policy.
pub(super) fn policy(
    categories: &Categories,
    full_access: &[String],
) -> Result<Policy, PolicyError> {
    let mut policy = Policy::default();
    for (name, given) in &categories.0 {
        policy.set(name.clone(), category(name, given, categories)?);
    }
    known(full_access, FULL_ACCESS, categories)?;
    policy.grant_crew(full_access.iter().map(String::as_str));
    Ok(policy)
}

/// Checks a list of categories, whose key says which one it is.
pub(super) fn known(
    names: &[String],
    key: &'static str,
    categories: &Categories,
) -> Result<(), PolicyError> {
    match names.iter().find(|&name| !categories.0.contains_key(name)) {
        None => Ok(()),
        Some(name) => Err(PolicyError::Unknown {
            key,
            name: name.clone(),
            nearest: nearest(name, categories.0.keys().map(String::as_str)).map(str::to_owned),
        }),
    }
}

fn category(name: &str, given: &CategoryConfig, all: &Categories) -> Result<Category, PolicyError> {
    let base = Policy::base(name);
    let globs = |list: &Option<Vec<Pattern>>, base| match list {
        Some(patterns) => patterns.iter().map(|Pattern(glob)| glob.clone()).collect(),
        None => base,
    };
    let may_draft = match &given.may_draft {
        None if base.may_draft.is_empty() => Vec::new(),
        // Who may start the built-in categories may start those of this home as well.
        None => {
            let own = all.0.keys().filter(|name| !BUILT_IN_CATEGORIES.contains(&name.as_str()));
            base.may_draft.into_iter().chain(own.cloned()).collect()
        }
        Some(names) => {
            for target in names {
                may_name(name, target, all)?;
            }
            names.clone()
        }
    };
    Ok(Category {
        rules: Rules {
            allow: globs(&given.allow, base.rules.allow),
            deny: globs(&given.deny, base.rules.deny),
        },
        reach: given.reach.map_or(base.reach, Reach::from),
        may_draft,
        inactivity: given.inactivity.unwrap_or(base.inactivity),
    })
}

fn may_name(category: &str, target: &str, all: &Categories) -> Result<(), PolicyError> {
    if !all.0.contains_key(target) {
        return Err(PolicyError::UnknownDraft {
            category: category.to_owned(),
            name: target.to_owned(),
            nearest: nearest(target, all.0.keys().map(String::as_str)).map(str::to_owned),
        });
    }
    if LEADERS.contains(&target) && !LEADERS.contains(&category) {
        return Err(PolicyError::LeaderDraft {
            category: category.to_owned(),
            name: target.to_owned(),
        });
    }
    Ok(())
}

/// Finds the line of what the policy refused.
pub(super) fn locate(name: &str, text: &str, error: &PolicyError) -> Box<Problem> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Places {
        categories: BTreeMap<String, DraftPlaces>,
        mcp: AccessPlaces,
        worktrees: FreshPlaces,
    }
    #[derive(Deserialize, Default)]
    #[serde(default, rename_all = "camelCase")]
    struct DraftPlaces {
        may_draft: Option<Vec<Spanned<String>>>,
    }
    #[derive(Deserialize, Default)]
    #[serde(default, rename_all = "camelCase")]
    struct AccessPlaces {
        full_access_categories: Vec<Spanned<String>>,
    }
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct FreshPlaces {
        fresh: Vec<Spanned<String>>,
    }
    // It parsed once, so it parses again; if it does not, the message alone is still right.
    let places: Places = yaml::parse(name, text, text).unwrap_or_default();
    let (list, wanted) = match error {
        PolicyError::UnknownDraft { category, name, .. }
        | PolicyError::LeaderDraft { category, name } => {
            let list = places.categories.get(category).and_then(|place| place.may_draft.clone());
            (list.unwrap_or_default(), name)
        }
        PolicyError::Unknown { key: FULL_ACCESS, name, .. } => {
            (places.mcp.full_access_categories, name)
        }
        PolicyError::Unknown { name, .. } => (places.worktrees.fresh, name),
    };
    match list.iter().find(|entry| entry.value == *wanted) {
        Some(entry) => Problem::at(name, text, entry.referenced, error.to_string()),
        None => Problem::of(name, error.to_string()),
    }
}
