//! How the server shows what it keeps: GitHub's own examples, with other facts in them.

use anyhow::Result;
use model::Timestamp;
use model::review::PullState;
use serde_json::{Value, json};

use super::description::Description;
use super::record::{Issue, IssueOrPull, Pull, Repository};

/// GitHub's examples.
#[derive(Debug)]
pub(super) struct Examples {
    repository: Value,
    pull: Value,
    listed_pull: Value,
    issue: Value,
}

/// How much is shown: a list says less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    Whole,
    Listed,
}

impl Examples {
    pub(super) fn of(description: &Description) -> Result<Self> {
        let repo = "/repos/{owner}/{repo}";
        Ok(Self {
            repository: description.example(repo, "get", "200")?,
            pull: description.example(&format!("{repo}/pulls/{{pull_number}}"), "get", "200")?,
            listed_pull: description.example(&format!("{repo}/pulls"), "get", "200")?,
            issue: description.example(&format!("{repo}/issues"), "post", "201")?,
        })
    }

    pub(super) fn repository(&self, repository: &Repository) -> Value {
        let mut shown = filled(&self.repository, &repository.full_name, 0);
        let (owner, name) = repository.full_name.split_once('/').unwrap_or_default();
        // The example is a fork of a fork, and its parents are not as they are described.
        for gone in ["source", "parent", "template_repository", "organization", "temp_clone_token"]
        {
            if let Some(fields) = shown.as_object_mut() {
                fields.remove(gone);
            }
        }
        shown["owner"]["login"] = json!(owner);
        put(
            &mut shown,
            json!({
                "name": name,
                "full_name": repository.full_name,
                "default_branch": repository.default_branch,
                "language": null,
            }),
        );
        shown
    }

    pub(super) fn pull(&self, pull: &Pull, detail: Detail) -> Value {
        let example = if detail == Detail::Whole { &self.pull } else { &self.listed_pull };
        let mut shown = filled(example, &pull.repository, pull.number);
        let owner = pull.repository.split('/').next().unwrap_or_default();
        for (side, branch) in [("head", &pull.head), ("base", &pull.base)] {
            shown[side]["ref"] = json!(branch);
            shown[side]["label"] = json!(format!("{owner}:{branch}"));
        }
        let changed = moment(pull.changed_at);
        let closed = (pull.state != PullState::Open).then_some(&changed);
        let merged = (pull.state == PullState::Merged).then_some(&changed);
        put(
            &mut shown,
            json!({
                "number": pull.number,
                "id": pull.number,
                "state": if closed.is_some() { "closed" } else { "open" },
                "title": pull.title,
                "body": pull.body,
                "created_at": moment(pull.created_at),
                "updated_at": changed,
                "closed_at": closed,
                "merged_at": merged,
                "locked": false,
                "active_lock_reason": null,
                "milestone": null,
                "assignee": null,
                "assignees": [],
                "labels": [],
                "requested_reviewers": [],
                "requested_teams": [],
            }),
        );
        if detail == Detail::Whole {
            let by = if merged.is_some() { shown["user"].clone() } else { Value::Null };
            put(&mut shown, json!({ "merged": merged.is_some(), "merged_by": by }));
        }
        shown
    }

    pub(super) fn issue(&self, issue: &Issue) -> Value {
        let label = |(name, id): (&String, u64)| {
            let mut label = self.issue["labels"][0].clone();
            put(&mut label, json!({ "id": id, "name": name, "default": false }));
            label
        };
        let labels: Vec<Value> = issue.labels.iter().zip(1..).map(label).collect();
        let mut shown = self.thing(&issue.repository, issue.number, issue.created_at);
        put(
            &mut shown,
            json!({
                "title": issue.title,
                "body": issue.body,
                "labels": labels,
                "updated_at": moment(issue.changed_at),
            }),
        );
        if let Some(fields) = shown.as_object_mut() {
            fields.remove("pull_request");
        }
        shown
    }

    /// A pull request as a list of issues has it.
    fn pull_as_issue(&self, pull: &Pull) -> Value {
        let mut shown = self.thing(&pull.repository, pull.number, pull.created_at);
        let is_open = pull.state == PullState::Open;
        put(
            &mut shown,
            json!({
                "title": pull.title,
                "body": pull.body,
                "labels": [],
                "state": if is_open { "open" } else { "closed" },
                "updated_at": moment(pull.changed_at),
            }),
        );
        shown
    }

    pub(super) fn as_issue(&self, thing: &IssueOrPull) -> Value {
        match thing {
            IssueOrPull::Pull(pull) => self.pull_as_issue(pull),
            IssueOrPull::Issue(issue) => self.issue(issue),
        }
    }

    fn thing(&self, repository: &str, number: u64, created_at: Timestamp) -> Value {
        let mut shown = filled(&self.issue, repository, number);
        put(
            &mut shown,
            json!({
                "id": number,
                "number": number,
                "state": "open",
                "state_reason": null,
                "created_at": moment(created_at),
                "updated_at": moment(created_at),
                "closed_at": null,
                "closed_by": null,
                "locked": false,
                "active_lock_reason": null,
                "milestone": null,
                "assignee": null,
                "assignees": [],
            }),
        );
        shown
    }

    /// The person who did it.
    pub(super) fn somebody(&self) -> Value {
        self.pull["user"].clone()
    }
}

/// An example whose addresses are those of another repository and number.
fn filled(example: &Value, repository: &str, number: u64) -> Value {
    match example {
        Value::String(text) => {
            let text = text.replace("octocat/Hello-World", repository);
            text.replace("/1347", &format!("/{number}")).into()
        }
        Value::Array(items) => items.iter().map(|item| filled(item, repository, number)).collect(),
        Value::Object(fields) => {
            let fill = |(name, value): (&String, &Value)| {
                (name.clone(), filled(value, repository, number))
            };
            fields.iter().map(fill).collect()
        }
        _ => example.clone(),
    }
}

/// Puts fields in the place of others.
fn put(shown: &mut Value, fields: Value) {
    if let (Value::Object(shown), Value::Object(fields)) = (shown, fields) {
        shown.extend(fields);
    }
}

/// A time as GitHub writes it.
pub(super) fn moment(at: Timestamp) -> String {
    format!("{}T{}Z", at.date(), at.time_of_day())
}
