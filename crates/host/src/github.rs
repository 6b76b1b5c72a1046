//! GitHub, through octocrab: the only place that speaks to it.
//!
//! Nothing here remembers anything: what may have happened already is looked up on GitHub, so that every call can be made
//! again. The token goes to the configured host and nowhere else, and no text that leaves this module has it in it.

mod error;
mod repository;
mod send;
mod webhook;
mod wire;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Uri, header};
use model::Timestamp;
use model::review::PullState;
use octocrab::Octocrab;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use error::GitHubError;
pub use repository::Repository;
pub(crate) use repository::is_loopback;
pub use webhook::{PullEvent, parse_event, verify_signature};

use crate::clock::Clock;
use send::GitHubResponse;

/// Delay before the first retry of a request.
const FIRST_RETRY_DELAY: Duration = Duration::from_secs(1);

/// Page size and number of pages read.
const PAGE_SIZE: &str = "100";
const MAX_PAGES: u32 = 10;

/// GitHub's clock and ours may differ so much.
const MAX_CLOCK_SKEW_SECONDS: i64 = 300;

/// GitHub. Copies share their connections.
#[derive(Clone)]
pub struct GitHub {
    crab: Octocrab,
    /// Where the API begins, without a slash at the end
    api: Arc<Api>,
    token: Option<Arc<str>>,
    timeout: Duration,
    backoff: Duration,
    clock: Clock,
}

/// The API's address in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Api {
    origin: Uri,
    /// `/api/v3` at an enterprise's own server, else nothing
    path: String,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    /// Its number in the repository
    pub number: u64,
    /// Its page for people
    pub url: String,
    /// State
    pub state: PullState,
    /// The branch with the work
    pub head: String,
    /// The branch it is meant for
    pub base: String,
    /// Its title
    pub title: String,
}

/// A pull request to be opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewPull {
    /// Its title
    pub title: String,
    /// Content
    pub body: String,
    /// The branch with the work, in the same repository
    pub head: String,
    /// The branch it is meant for
    pub base: String,
}

/// An issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Its number in the repository
    pub number: u64,
    /// Its page for people
    pub url: String,
    /// Its title
    pub title: String,
}

/// An issue to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewIssue {
    /// Its title
    pub title: String,
    /// Content
    pub body: String,
    /// Its labels; GitHub makes those that it does not know yet
    pub labels: Vec<String>,
    /// Hidden marker in the body by which it is found again
    pub marker: String,
}

impl GitHub {
    /// A client of the API at `api_url`, which waits for an answer no longer than `timeout`.
    ///
    /// It must be made inside of the runtime in which it is used.
    pub fn new(
        api_url: &str,
        token: Option<String>,
        timeout: Duration,
    ) -> Result<Self, GitHubError> {
        let api = Api::parse(api_url)?;
        let token = token.map(|token| token.trim().to_owned()).filter(|token| !token.is_empty());
        let mut builder = Octocrab::builder()
            .add_header(header::USER_AGENT, "adjutant".to_owned())
            .add_header(header::ACCEPT, "application/vnd.github+json".to_owned());
        if let Some(token) = &token {
            // Octocrab would panic at a token that fits into no header.
            HeaderValue::from_str(token).map_err(|_| GitHubError::OddToken)?;
            builder = builder.personal_token(token.clone());
        }
        let crab = builder
            .base_uri(api.origin.clone())
            // Uploads have a host of their own, which would be given the token too.
            .and_then(|builder| builder.upload_uri(api.origin.clone()))
            .and_then(|builder| builder.build())
            .map_err(|error| GitHubError::Client { why: error::root(&error) })?;
        let (api, token) = (Arc::new(api), token.map(Arc::from));
        Ok(Self { crab, api, token, timeout, backoff: FIRST_RETRY_DELAY, clock: Clock::System })
    }

    /// The same, with another wait before the first repetition.
    #[must_use]
    pub fn with_backoff(self, backoff: Duration) -> Self {
        Self { backoff, ..self }
    }

    /// The same, with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// The branch that pull requests are meant for if nobody says otherwise.
    pub async fn default_branch(&self, repository: &Repository) -> Result<String, GitHubError> {
        let answer = self.get(&repository.path(), &repository.to_string()).await?;
        Ok(answer.read::<wire::Repository>()?.default_branch)
    }

    /// The pull request from one branch to another: an open one if there is one, else the newest.
    pub async fn find_pull(
        &self,
        repository: &Repository,
        head_branch: &str,
        base: &str,
    ) -> Result<Option<Pull>, GitHubError> {
        let head = format!("{}:{head_branch}", repository.owner());
        let query = [
            ("state", "all"),
            ("head", head.as_str()),
            ("base", base),
            ("sort", "created"),
            ("direction", "desc"),
        ];
        let mut newest = None;
        for number in 1..=MAX_PAGES {
            let page = self.page::<wire::Pull>(repository, "pulls", &query, number).await?;
            // GitHub takes no notice of a filter that it does not understand.
            let fits = |pull: &Pull| pull.head == head_branch && pull.base == base;
            for pull in page.items.into_iter().map(Pull::from).filter(fits) {
                if pull.state == PullState::Open {
                    return Ok(Some(pull));
                }
                newest.get_or_insert(pull);
            }
            if page.is_last {
                break;
            }
        }
        Ok(newest)
    }

    /// Opens a pull request, or finds the open one that is there already.
    pub async fn create_pull(
        &self,
        repository: &Repository,
        new: &NewPull,
    ) -> Result<Pull, GitHubError> {
        let path = format!("{}/pulls", repository.path());
        let refused = match self.post(&path, new, &repository.to_string()).await {
            Ok(answer) => return Ok(answer.read::<wire::Pull>()?.into()),
            Err(error) if error.says("A pull request already exists") => error,
            Err(error) => return Err(error),
        };
        match self.find_pull(repository, &new.head, &new.base).await? {
            Some(pull) if pull.state == PullState::Open => Ok(pull),
            _ => Err(refused),
        }
    }

    /// One pull request as it stands now.
    pub async fn pull(&self, repository: &Repository, number: u64) -> Result<Pull, GitHubError> {
        let path = format!("{}/pulls/{number}", repository.path());
        let answer = self.get(&path, &format!("pull request {number} of {repository}")).await?;
        Ok(answer.read::<wire::Pull>()?.into())
    }

    /// Opens an issue. Whether it is there already is for [`Self::find_issue`] to say.
    pub async fn create_issue(
        &self,
        repository: &Repository,
        new: &NewIssue,
    ) -> Result<Issue, GitHubError> {
        let path = format!("{}/issues", repository.path());
        let body = wire::NewIssue {
            title: &new.title,
            body: format!("{}\n\n{}\n", new.body.trim_end(), comment(&new.marker)),
            labels: &new.labels,
        };
        let answer = self.post(&path, &body, &repository.to_string()).await?;
        Ok(answer.read::<wire::Issue>()?.into())
    }

    /// The issue with that marker that was opened at that time or later.
    ///
    /// It reads the list of issues: GitHub's search learns of an issue only after a while.
    pub async fn find_issue(
        &self,
        repository: &Repository,
        marker: &str,
        since: Timestamp,
    ) -> Result<Option<Issue>, GitHubError> {
        let since = since.after_seconds(-MAX_CLOCK_SKEW_SECONDS);
        let from = format!("{}T{}Z", since.date(), since.time_of_day());
        let query = [
            ("state", "all"),
            ("since", from.as_str()),
            ("sort", "created"),
            ("direction", "desc"),
        ];
        let comment = comment(marker);
        for number in 1..=MAX_PAGES {
            let page = self.page::<wire::Issue>(repository, "issues", &query, number).await?;
            // To GitHub a pull request is an issue as well, and `since` speaks of the last change.
            let older = page.items.last().is_some_and(|issue| issue.created_at < since);
            let mut issues = page.items.into_iter().filter(|issue| issue.pull_request.is_none());
            if let Some(issue) = issues.find(|issue| issue.says(&comment)) {
                return Ok(Some(issue.into()));
            }
            if page.is_last || older {
                return Ok(None);
            }
        }
        Err(GitHubError::TooMany { repository: repository.to_string() })
    }

    async fn page<T: DeserializeOwned>(
        &self,
        repository: &Repository,
        list: &str,
        query: &[(&str, &str)],
        number: u32,
    ) -> Result<Page<T>, GitHubError> {
        let query: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        let query = query.join("&");
        let path =
            format!("{}/{list}?{query}&per_page={PAGE_SIZE}&page={number}", repository.path());
        let answer: GitHubResponse = self.get(&path, &repository.to_string()).await?;
        Ok(Page { is_last: !answer.has_next(), items: answer.read()? })
    }
}

/// Omits the token.
impl fmt::Debug for GitHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { api, timeout, .. } = self;
        f.debug_struct("GitHub").field("api", api).field("timeout", timeout).finish_non_exhaustive()
    }
}

struct Page<T> {
    items: Vec<T>,
    is_last: bool,
}

impl Api {
    fn parse(url: &str) -> Result<Self, GitHubError> {
        // What stands before an `@` is a secret.
        let shown =
            url.rsplit_once('@').map_or_else(|| url.to_owned(), |(_, rest)| format!("…@{rest}"));
        let bad = || GitHubError::Url { url: shown.clone() };
        let uri: Uri = url.trim().trim_end_matches('/').parse().map_err(|_| bad())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(bad());
        };
        let host = authority.host();
        // Without TLS the token could be read on the way.
        let safe = scheme == "https" || (scheme == "http" && is_loopback(host));
        let plain = !authority.as_str().contains('@') && uri.query().is_none();
        if !safe || !plain || host.eq_ignore_ascii_case("github.com") {
            return Err(bad());
        }
        let origin = format!("{scheme}://{authority}").parse().map_err(|_| bad())?;
        Ok(Self { origin, path: uri.path().trim_end_matches('/').to_owned() })
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = self.origin.to_string();
        write!(f, "{}{}", origin.trim_end_matches('/'), self.path)
    }
}

/// The comment that an issue is recognised by. An escaped marker cannot end the comment.
fn comment(marker: &str) -> String {
    format!("<!-- adjutant:{} -->", escaped(marker))
}

/// Text as it stands in an address.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect::<Vec<String>>().concat()
}

#[cfg(test)]
mod tests;
