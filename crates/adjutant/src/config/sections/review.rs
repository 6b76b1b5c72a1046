//! Reviews, GitHub, the office, and the command that a branch must pass.

use std::fmt::Display;
use std::ops::RangeInclusive;

use engine::settings::{CheckSettings, GithubSettings, OfficeSettings, ReviewSettings};
use model::review::{OnApproval, ReviewRequired};
use serde::de::{Deserializer, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};

/// The review loop. Its names are the review seed's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Review {
    /// Maximum number of reviews per coder
    #[serde(deserialize_with = "rounds")]
    pub(crate) max_iterations: u32,
    /// After how many failed ones it is abandoned
    #[serde(deserialize_with = "rounds")]
    pub(crate) auto_abandon_after: u32,
    /// When a stuck one is ended
    #[serde(deserialize_with = "hours")]
    pub(crate) timeout_hours: u32,
    /// Role of the reviewer
    #[serde(deserialize_with = "role")]
    pub(crate) role: String,
    /// Review of the work that agents leave whom a person started
    pub(crate) required: ReviewRequired,
    /// What follows when a reviewer approves; absent is a pull request where GitHub can be used, else a person
    #[serde(rename = "onApproval")]
    pub(crate) on_approval: Option<OnApproval>,
    /// True if approved work is merged as one commit
    pub(crate) squash: bool,
}

impl Default for Review {
    fn default() -> Self {
        let ReviewSettings {
            max_iterations,
            auto_abandon_after,
            timeout_hours,
            role,
            required,
            on_approval,
            squash,
        } = ReviewSettings::default();
        Self {
            max_iterations,
            auto_abandon_after,
            timeout_hours,
            role,
            required,
            on_approval,
            squash,
        }
    }
}

impl From<&Review> for ReviewSettings {
    fn from(review: &Review) -> Self {
        let Review {
            max_iterations,
            auto_abandon_after,
            timeout_hours,
            role,
            required,
            on_approval,
            squash,
        } = review.clone();
        Self {
            max_iterations,
            auto_abandon_after,
            timeout_hours,
            role,
            required,
            on_approval,
            squash,
        }
    }
}

/// GitHub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Github {
    /// The base URL of the API
    #[serde(deserialize_with = "address")]
    pub(crate) api_url: String,
    /// The remote that is on GitHub
    #[serde(deserialize_with = "remote")]
    pub(crate) remote: String,
    /// Poll interval for open pull requests, in seconds; 0 is never
    #[serde(deserialize_with = "pause")]
    pub(crate) poll_seconds: u32,
    /// The variable that holds the key with which GitHub signs what it tells us
    #[serde(deserialize_with = "variable")]
    pub(crate) webhook_secret_variable: String,
    /// The variable that holds the token
    #[serde(deserialize_with = "variable")]
    pub(crate) token_variable: String,
}

impl Default for Github {
    fn default() -> Self {
        let GithubSettings { api_url, remote, poll_seconds } = GithubSettings::default();
        Self {
            api_url,
            remote,
            poll_seconds,
            webhook_secret_variable: "GITHUB_WEBHOOK_SECRET".to_owned(),
            token_variable: "GITHUB_TOKEN".to_owned(),
        }
    }
}

impl From<&Github> for GithubSettings {
    fn from(github: &Github) -> Self {
        let Github { api_url, remote, poll_seconds, .. } = github.clone();
        Self { api_url, remote, poll_seconds }
    }
}

/// The office: an orchestrator over supervisors of epics over workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Office {
    /// Role of an epic's supervisor
    #[serde(deserialize_with = "role")]
    pub(crate) supervisor_role: String,
    /// After how many minutes without a sign of life a supervisor counts as lost
    #[serde(deserialize_with = "minutes")]
    pub(crate) heartbeat_minutes: u32,
}

impl Default for Office {
    fn default() -> Self {
        let OfficeSettings { supervisor_role, heartbeat_minutes } = OfficeSettings::default();
        Self { supervisor_role, heartbeat_minutes }
    }
}

impl From<&Office> for OfficeSettings {
    fn from(office: &Office) -> Self {
        let Office { supervisor_role, heartbeat_minutes } = office.clone();
        Self { supervisor_role, heartbeat_minutes }
    }
}

/// The command that a branch must pass, in words: a program and its arguments. It is shown as a
/// shell would be told, but no shell reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check(pub(crate) Vec<String>);

impl Check {
    /// Converts to the engine's settings.
    pub(crate) fn settings(&self, timeout_s: u32) -> CheckSettings {
        CheckSettings { command: self.0.clone(), timeout_s }
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let text = shlex::try_join(self.0.iter().map(String::as_str)).map_err(S::Error::custom)?;
        to.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Check {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a command, as `make test` or `[make, test]`")]
        enum RawCommand {
            Text(String),
            Words(Vec<String>),
        }
        let words = match RawCommand::deserialize(from)? {
            RawCommand::Words(words) => words,
            // A list that was put in quotes; the program `[` stands alone.
            RawCommand::Text(text) if text.starts_with('[') && !text.starts_with("[ ") => {
                return Err(D::Error::custom(format!("`{text}` is a list; take its quotes away")));
            }
            RawCommand::Text(text) => shlex::split(&text).ok_or_else(|| {
                D::Error::custom(format!("`{text}` has a quote or a backslash without its end"))
            })?,
        };
        if words.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(D::Error::custom("names no command, as `make test`; `null` is none"));
        }
        if words.iter().any(|word| word.contains('\0')) {
            return Err(D::Error::custom("has a NUL in it, which no argument can have"));
        }
        Ok(Self(words))
    }
}

/// Timeout of the check, in seconds: up to a day.
pub(crate) fn check_timeout<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    within(from, 1..=86_400)
}

pub(super) fn rounds<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    within(from, 1..=100)
}

fn hours<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    within(from, 1..=8760)
}

fn minutes<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    within(from, 1..=1440)
}

fn pause<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    within(from, 0..=86_400)
}

pub(super) fn within<'de, D: Deserializer<'de>>(
    from: D,
    range: RangeInclusive<u32>,
) -> Result<u32, D::Error> {
    let number = u32::deserialize(from)?;
    if range.contains(&number) {
        return Ok(number);
    }
    let (least, most) = range.into_inner();
    Err(D::Error::custom(format!("{number} is not between {least} and {most}")))
}

pub(super) fn role<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    wanted(from, |name| !name.trim().is_empty(), "must name a role, as `reviewer`")
}

/// Git takes what begins with `-` for a flag.
fn remote<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let fits = |name: &str| {
        !name.is_empty()
            && !name.starts_with('-')
            && !name.contains(|c: char| c.is_whitespace() || c.is_control())
    };
    wanted(from, fits, "must name a remote, as `origin`")
}

fn address<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let fits = |text: &str| {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
            && !text.contains(|c: char| c.is_whitespace() || c.is_control())
    };
    wanted(from, fits, "must be an address, as `https://api.github.com`")
}

/// A value that looks like the secret itself is refused before it is stored.
pub(super) fn variable<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    const TOKENS: [&str; 6] = ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"];
    let fits = |name: &str| {
        !name.starts_with(|c: char| c.is_ascii_digit())
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !TOKENS.iter().any(|token| name.starts_with(token))
    };
    wanted(
        from,
        fits,
        "must be the name of a variable, as `GITHUB_TOKEN`; the secret itself has no place in a file",
    )
}

fn wanted<'de, D: Deserializer<'de>>(
    from: D,
    fits: impl Fn(&str) -> bool,
    refusal: impl Display,
) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    if fits(&text) { Ok(text) } else { Err(D::Error::custom(refusal)) }
}
