//! What can be asked for, done as GitHub does it.

use hyper::StatusCode;
use model::Timestamp;
use model::review::PullState;
use serde_json::{Value, json};

use super::super::description::RequestedOperation;
use super::super::record::{Branch, Issue, IssueOrPull, Pull, Record};
use super::super::show::Detail;
use super::Shared;
use super::reply::Reply;

/// GitHub's limits.
const MAX_TITLE_CHARS: usize = 256;
const MAX_BODY_CHARS: usize = 65_536;

impl Shared {
    pub(super) fn operate(&self, asked: &RequestedOperation, body: &Value) -> Reply {
        let missing = || Reply::error(StatusCode::NOT_FOUND, "Not Found");
        let part = |name: &str| asked.path.get(name).map_or("", String::as_str);
        let mut record = self.record();
        let Some(repository) = record.repository(part("owner"), part("repo")).cloned() else {
            return missing();
        };
        let name = &repository.full_name;
        match (asked.method.as_str(), asked.template.rsplit('/').next().unwrap_or_default()) {
            ("get", "{repo}") => Reply::json(StatusCode::OK, self.examples.repository(&repository)),
            ("get", "pulls") => {
                self.list(asked, pulls(&record, name, asked), |thing| match thing {
                    IssueOrPull::Pull(pull) => self.examples.pull(pull, Detail::Listed),
                    IssueOrPull::Issue(_) => Value::Null,
                })
            }
            ("get", "issues") => {
                self.list(asked, issues(&record, name, asked), |one| self.examples.as_issue(one))
            }
            ("get", "{pull_number}") => {
                let is_it = |pull: &&Pull| {
                    pull.repository == *name && pull.number.to_string() == part("pull_number")
                };
                record.pulls().find(is_it).map_or_else(missing, |pull| {
                    Reply::json(StatusCode::OK, self.examples.pull(pull, Detail::Whole))
                })
            }
            ("post", "pulls") => {
                let refused = refuse_pull(&record, &repository, body);
                refused.unwrap_or_else(|| self.create_pull(&mut record, name, body))
            }
            ("post", "issues") => self.create_issue(&mut record, name, body),
            _ => missing(),
        }
    }

    fn create_pull(&self, record: &mut Record, repository: &str, body: &Value) -> Reply {
        let now = self.clock.now();
        let pull = Pull {
            repository: repository.to_owned(),
            number: record.next_number(),
            title: text(body, "title"),
            body: text(body, "body"),
            head: branch_of(&text(body, "head")).to_owned(),
            base: text(body, "base"),
            state: PullState::Open,
            created_at: now,
            changed_at: now,
        };
        let shown = self.examples.pull(&pull, Detail::Whole);
        record.add_pull(pull);
        created(shown)
    }

    fn create_issue(&self, record: &mut Record, repository: &str, body: &Value) -> Reply {
        let problems = text_problems("Issue", body);
        if !problems.is_empty() {
            return Reply::invalid(&problems);
        }
        let now = self.clock.now();
        let labels = body["labels"].as_array().into_iter().flatten();
        let name =
            |label: &Value| label.as_str().or_else(|| label["name"].as_str()).map(str::to_owned);
        let issue = Issue {
            repository: repository.to_owned(),
            number: record.next_number(),
            title: text(body, "title"),
            body: text(body, "body"),
            labels: labels.filter_map(name).collect(),
            created_at: now,
            changed_at: now,
        };
        let shown = self.examples.issue(&issue);
        record.add_issue(issue);
        created(shown)
    }

    /// One page of a list, with links to the others.
    fn list(
        &self,
        asked: &RequestedOperation,
        things: Vec<&IssueOrPull>,
        show: impl Fn(&IssueOrPull) -> Value,
    ) -> Reply {
        let number = |name: &str| asked.in_query(name).and_then(|text| text.parse::<usize>().ok());
        let size = number("per_page").unwrap_or(30).clamp(1, 100);
        let page = number("page").unwrap_or(1).max(1);
        let last = things.len().div_ceil(size).max(1);
        let shown: Vec<Value> =
            things.into_iter().skip((page - 1) * size).take(size).map(show).collect();
        let path = asked.path.iter().fold(asked.template.to_owned(), |path, (name, value)| {
            path.replace(&format!("{{{name}}}"), value)
        });
        let link = |page: usize, relation: &str| {
            format!("<{}{path}?per_page={size}&page={page}>; rel=\"{relation}\"", self.base)
        };
        let mut links = Vec::new();
        if page > 1 {
            links.extend([link(page - 1, "prev"), link(1, "first")]);
        }
        if page < last {
            links.extend([link(page + 1, "next"), link(last, "last")]);
        }
        let reply = Reply::json(StatusCode::OK, shown.into());
        if links.is_empty() { reply } else { reply.with("link", &links.join(", ")) }
    }
}

/// Why a pull request cannot be opened, if it cannot.
fn refuse_pull(
    record: &Record,
    repository: &super::super::record::Repository,
    body: &Value,
) -> Option<Reply> {
    let error = |fields: Value| Some(Reply::invalid(&[fields]));
    let problems = text_problems("PullRequest", body);
    if !problems.is_empty() {
        return Some(Reply::invalid(&problems));
    }
    let (head, base) = (text(body, "head"), text(body, "base"));
    let head = branch_of(&head);
    for (field, branch) in [("head", head), ("base", base.as_str())] {
        if branch.is_empty() || repository.branch(branch).is_none() {
            return error(json!({ "resource": "PullRequest", "field": field, "code": "invalid" }));
        }
    }
    let custom = |message: String| json!({ "resource": "PullRequest", "code": "custom", "message": message });
    if head == base || repository.branch(head) == Some(Branch::Even) {
        return error(custom(format!("No commits between {base} and {head}")));
    }
    let same = |pull: &Pull| {
        pull.repository == repository.full_name
            && pull.state == PullState::Open
            && (pull.head.as_str(), pull.base.as_str()) == (head, base.as_str())
    };
    let owner = repository.full_name.split('/').next().unwrap_or_default();
    let exists = format!("A pull request already exists for {owner}:{head}.");
    if record.pulls().any(same) { error(custom(exists)) } else { None }
}

/// What is wrong with a title and a body.
fn text_problems(resource: &str, body: &Value) -> Vec<Value> {
    let mut problems = Vec::new();
    if text(body, "title").trim().is_empty() {
        problems.push(json!({ "resource": resource, "field": "title", "code": "missing_field" }));
    }
    for (field, most) in [("title", MAX_TITLE_CHARS), ("body", MAX_BODY_CHARS)] {
        if text(body, field).chars().count() > most {
            let message = format!("{field} is too long (maximum is {most} characters)");
            problems.push(json!({
                "resource": resource, "field": field, "code": "custom", "message": message,
            }));
        }
    }
    problems
}

fn pulls<'a>(
    record: &'a Record,
    repository: &str,
    asked: &RequestedOperation,
) -> Vec<&'a IssueOrPull> {
    let owner = repository.split('/').next().unwrap_or_default();
    let fits = |thing: &&IssueOrPull| {
        let IssueOrPull::Pull(pull) = thing else { return false };
        // A head without an owner is no filter.
        let head = asked.in_query("head").filter(|head| head.contains(':'));
        head.is_none_or(|head| head == format!("{owner}:{}", pull.head))
            && asked.in_query("base").is_none_or(|base| base == pull.base)
    };
    listed(record, repository, asked, fits)
}

fn issues<'a>(
    record: &'a Record,
    repository: &str,
    asked: &RequestedOperation,
) -> Vec<&'a IssueOrPull> {
    let since = asked.in_query("since").and_then(|text| text.parse::<Timestamp>().ok());
    listed(record, repository, asked, |thing| since.is_none_or(|since| thing.changed_at() >= since))
}

/// What fits, the newest first unless the oldest is asked for.
fn listed<'a>(
    record: &'a Record,
    repository: &str,
    asked: &RequestedOperation,
    fits: impl Fn(&&'a IssueOrPull) -> bool,
) -> Vec<&'a IssueOrPull> {
    let state = asked.in_query("state").unwrap_or("open");
    let stands = |thing: &&IssueOrPull| state == "all" || (state == "open") == thing.is_open();
    let here = record.things().iter().filter(|thing| thing.repository() == repository);
    let mut things: Vec<&IssueOrPull> = here.filter(stands).filter(fits).collect();
    if asked.in_query("direction") != Some("asc") {
        things.reverse();
    }
    things
}

fn created(shown: Value) -> Reply {
    let url = shown["url"].as_str().unwrap_or_default().to_owned();
    Reply::json(StatusCode::CREATED, shown).with("location", &url)
}

fn text(body: &Value, field: &str) -> String {
    body[field].as_str().unwrap_or_default().to_owned()
}

/// A branch without the owner before it.
fn branch_of(head: &str) -> &str {
    head.split_once(':').map_or(head, |(_, branch)| branch)
}
