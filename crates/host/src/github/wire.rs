//! JSON shapes of GitHub's API, as far as they are used.

use model::Timestamp;
use model::review::PullState;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
pub(super) struct Repository {
    pub(super) default_branch: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Pull {
    number: u64,
    html_url: String,
    state: String,
    title: String,
    /// Lists have only the time of the merge.
    #[serde(default)]
    merged_at: Option<IgnoredAny>,
    head: Branch,
    base: Branch,
}

#[derive(Debug, Deserialize)]
struct Branch {
    #[serde(rename = "ref")]
    name: String,
}

impl From<Pull> for super::Pull {
    fn from(pull: Pull) -> Self {
        let state = match (pull.state.as_str(), pull.merged_at) {
            (_, Some(_)) => PullState::Merged,
            ("open", None) => PullState::Open,
            (_, None) => PullState::Closed,
        };
        Self {
            number: pull.number,
            url: pull.html_url,
            state,
            head: pull.head.name,
            base: pull.base.name,
            title: pull.title,
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct NewIssue<'a> {
    pub(super) title: &'a str,
    pub(super) body: String,
    pub(super) labels: &'a [String],
}

#[derive(Debug, Deserialize)]
pub(super) struct Issue {
    number: u64,
    html_url: String,
    title: String,
    #[serde(default)]
    body: Option<String>,
    pub(super) created_at: Timestamp,
    /// Only a pull request has it.
    #[serde(default)]
    pub(super) pull_request: Option<IgnoredAny>,
}

impl Issue {
    pub(super) fn says(&self, words: &str) -> bool {
        self.body.as_ref().is_some_and(|body| body.contains(words))
    }
}

impl From<Issue> for super::Issue {
    fn from(Issue { number, html_url, title, .. }: Issue) -> Self {
        Self { number, url: html_url, title }
    }
}

/// Why something was refused.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Refusal {
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) errors: Vec<serde_json::Value>,
}

/// Webhook payload about a pull request.
#[derive(Debug, Deserialize)]
pub(super) struct PullHook {
    pub(super) action: String,
    pub(super) number: u64,
    pub(super) pull_request: Merged,
    pub(super) repository: NamedRepository,
}

#[derive(Debug, Deserialize)]
pub(super) struct Merged {
    #[serde(default)]
    pub(super) merged: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub(super) struct NamedRepository {
    pub(super) name: String,
    pub(super) owner: Owner,
}

#[derive(Debug, Deserialize)]
pub(super) struct Owner {
    pub(super) login: String,
}
