//! What a change of a field can give agents.

use host::agent::role_keys;
use serde_json::Value;

/// Names of the answers to who looks at work, from the strictest on.
const REVIEWS: &[&str] = &["person", "agent", "never"];
/// Names of what follows an approval by an agent, from the strictest on.
const APPROVALS: &[&str] = &["person", "pull_request", "merge"];

/// Fields that say what runs, and where, beside the programs of roles.
const RUNS: &[&str] = &["category", "agent", "cwd", "worktree", "mcp", "mcp.names", "check"];
/// Keys that say who reviews, leads or is spoken to.
const LEADS: &[&str] = &[
    "review.role",
    "office.supervisorRole",
    "loop.role",
    "plan.role",
    "routing.default",
    "routing.rules",
];
/// Keys that say who gets a secret, and which.
const SECRETS: &[&str] = &[
    "github.apiUrl",
    "github.remote",
    "github.tokenVariable",
    "github.webhookSecretVariable",
    "slack.apiUrl",
    "slack.botTokenVariable",
    "slack.appTokenVariable",
];

/// Keys that say where the record is, and who can write it.
const RECORD: &[&str] = &["database", "cluster.home", "cluster.url"];

/// The changes of a field by which agents may do more than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grant {
    /// None
    Nothing,
    /// Any: what runs, who decides or where secrets go is another
    AnyChange,
    /// A list gains a name
    Gain,
    /// A list gains a name, or is taken away
    GainOrNoList,
    /// A list loses a name
    Loss,
    /// A number grows, or is taken away
    Larger,
    /// A number grows, or becomes 0, which is no limit
    LargerOrZero,
    /// A number becomes smaller
    Smaller,
    /// A switch is turned on
    On,
    /// A word comes later in this list than before
    Later(&'static [&'static str]),
}

impl Grant {
    /// The grant of a field of a role, a category or the configuration.
    pub(super) fn of(field: &str) -> Self {
        match field {
            "allow" | "mayDraft" | "slack.users" => Self::Gain,
            "tools" => Self::GainOrNoList,
            "deny" | "disallowedTools" => Self::Loss,
            "sandbox" => Self::Later(&["bwrap", "none"]),
            "reach" => Self::Later(&["self", "descendants", "all"]),
            "review.required" => Self::Later(REVIEWS),
            "review.onApproval" => Self::Later(APPROVALS),
            "loop.commit" => Self::On,
            "limits.callsPerMinute" => Self::LargerOrZero,
            _ if [RUNS, LEADS, SECRETS, RECORD].iter().any(|keys| keys.contains(&field)) => {
                Self::AnyChange
            }
            _ if role_keys().iter().any(|(_, key)| key.name == field) => Self::AnyChange,
            _ => Self::of_section(field),
        }
    }

    /// The grant of the fields of a whole section.
    fn of_section(field: &str) -> Self {
        let sections = [
            (Self::AnyChange, ["agents.", "worktrees.", "loop.hooks."].as_slice()),
            (Self::Larger, &["budget.", "limits."]),
            // What costs less leaves more of a budget.
            (Self::Smaller, &["prices.models."]),
        ];
        let is_of = |prefixes: &[&str]| prefixes.iter().any(|prefix| field.starts_with(prefix));
        let found = sections.into_iter().find(|(_, prefixes)| is_of(prefixes));
        found.map_or(Self::Nothing, |(grant, _)| grant)
    }

    /// Returns whether a change from one value to another gives agents more.
    pub(super) fn is_given_by(self, was: &Value, is: &Value) -> bool {
        match self {
            Self::Nothing => false,
            Self::AnyChange => true,
            Self::Gain => has_more(was, is),
            Self::GainOrNoList => is.is_null() || has_more(was, is),
            Self::Loss => has_more(is, was),
            Self::Larger => is_larger(was, is),
            Self::LargerOrZero => {
                is.as_f64() == Some(0.0) || was.as_f64() != Some(0.0) && is_larger(was, is)
            }
            Self::Smaller => {
                matches!((was.as_f64(), is.as_f64()), (Some(was), Some(is)) if is < was)
            }
            Self::On => is.as_bool() == Some(true),
            Self::Later(words) => is_later(words, was, is),
        }
    }
}

/// The names of a list that has nothing else.
pub(super) fn names_in(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

fn has_more(less: &Value, more: &Value) -> bool {
    match (names_in(less), names_in(more)) {
        (Some(less), Some(more)) => more.iter().any(|name| !less.contains(name)),
        _ => false,
    }
}

/// Compares limits; without one there is no end.
fn is_larger(was: &Value, is: &Value) -> bool {
    match (was.as_f64(), is.as_f64()) {
        (Some(was), Some(is)) => is > was,
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// Compares places in a list. An absent value is decided elsewhere and counts as the worst.
fn is_later(words: &[&str], was: &Value, is: &Value) -> bool {
    let place = |value: &Value| words.iter().position(|word| value.as_str() == Some(word));
    let last = words.len().saturating_sub(1);
    place(is).unwrap_or(last) > place(was).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::config::Config;

    /// Keys of the configuration by which agents may not do more, whatever they are. The categories in
    /// `mcp.fullAccessCategories` count where their rules come out.
    const NOTHING: [&str; 42] = [
        "checkTimeout",
        "cluster.allowLoss",
        "cluster.lease",
        "context.files",
        "context.size",
        "github.pollSeconds",
        "loop.failures",
        "loop.iterations",
        "loop.template",
        "mcp.fullAccessCategories",
        "mcp.progressInterval",
        "mcp.streamTimeout",
        "mcp.toolTimeout",
        "mirror",
        "models.default",
        "models.overrides",
        "office.heartbeatMinutes",
        "plan.attempts",
        "prices.asOf",
        "retention.answers",
        "retention.audit",
        "retention.branches",
        "retention.deliveries",
        "retention.events",
        "retention.output",
        "retention.runs",
        "review.auto_abandon_after",
        "review.max_iterations",
        "review.squash",
        "review.timeout_hours",
        "server.allowedHosts",
        "server.host",
        "server.idleSeconds",
        "server.logLevel",
        "server.maxConnections",
        "server.port",
        "slack.debounceMs",
        "slack.reactions.failure",
        "slack.reactions.received",
        "slack.reactions.success",
        "slack.reactions.working",
        "webhooks",
    ];

    #[test]
    fn every_key_is_marked_or_is_known_to_give_agents_nothing() {
        let keys = Config::default().leaves().into_iter().map(|(key, _)| key);
        let is_ours = |key: &String| !key.starts_with("categories.");
        let unmarked: BTreeSet<String> =
            keys.filter(is_ours).filter(|key| Grant::of(key) == Grant::Nothing).collect();
        assert_eq!(unmarked.into_iter().collect::<Vec<_>>(), NOTHING);
    }

    #[test]
    fn each_step_away_from_a_person_is_marked_and_no_step_towards_one() {
        let gives = |field, was, is| Grant::of(field).is_given_by(&was, &is);
        for (field, words) in [("review.required", REVIEWS), ("review.onApproval", APPROVALS)] {
            for (place, word) in words.iter().enumerate() {
                for other in &words[place + 1..] {
                    assert!(gives(field, json!(word), json!(other)), "{field}: {word} → {other}");
                    assert!(!gives(field, json!(other), json!(word)), "{field}: {other} → {word}");
                    assert!(gives(field, json!(null), json!(other)), "{field}: {other}");
                }
            }
            let (first, last) = (words.first(), words.last());
            assert!(!gives(field, json!(null), json!(first)), "{field}");
            assert!(!gives(field, json!(last), json!(null)), "{field}");
            assert!(gives(field, json!(first), json!(null)), "{field} is then decided elsewhere");
        }
    }

    #[test]
    fn limits_are_marked_where_they_allow_more() {
        let gives = |field, was, is| Grant::of(field).is_given_by(&was, &is);
        let more = [
            ("limits.running", json!(8), json!(9)),
            ("limits.callsPerMinute", json!(8), json!(9)),
            ("limits.callsPerMinute", json!(8), json!(0)),
            ("budget.default.usd", json!(10), json!(null)),
            ("prices.models.gpt-5.input", json!(1.25), json!(0)),
            ("loop.commit", json!(false), json!(true)),
        ];
        for (field, less, more) in more {
            assert!(gives(field, less.clone(), more.clone()), "{field}");
            assert!(!gives(field, more, less), "{field}");
        }
    }
}
