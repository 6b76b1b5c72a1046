//! One request: how often it is tried, how far it is followed, and what its answer means.

use std::error::Error;
use std::time::Duration;

use http::{HeaderMap, Method, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper_util::client::legacy;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time;

use super::error::{GitHubRefusal, root};
use super::{GitHub, GitHubError};

/// Maximum redirects on the same server, as for a renamed repository.
const MAX_REDIRECTS: usize = 3;

/// As much of an answer as is read: a page of the longest issues fits.
const MAX_RESPONSE_BYTES: usize = 32 << 20;

/// Longest part of a GitHub message that is passed on.
const MAX_MESSAGE_CHARS: usize = 500;

/// An answer with success.
#[derive(Debug)]
pub(super) struct GitHubResponse {
    headers: HeaderMap,
    body: Vec<u8>,
}

impl GitHubResponse {
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, GitHubError> {
        // Only the place: serde would quote what stands there.
        serde_json::from_slice(&self.body).map_err(|error| GitHubError::Unreadable {
            why: format!("line {}, column {}", error.line(), error.column()),
        })
    }

    /// True if a list has another page.
    pub(super) fn has_next(&self) -> bool {
        let links = self.headers.get_all(header::LINK).iter();
        links.filter_map(|link| link.to_str().ok()).any(|link| link.contains("rel=\"next\""))
    }
}

/// A request to GitHub.
struct GitHubRequest<'a> {
    method: Method,
    path: String,
    body: Option<serde_json::Value>,
    /// Description of the requested object
    what: &'a str,
}

/// Why one try failed.
struct AttemptFailure {
    error: GitHubError,
    /// True if GitHub may have received it
    arrived: bool,
}

impl AttemptFailure {
    const fn arrived(error: GitHubError) -> Self {
        Self { error, arrived: true }
    }
}

impl GitHub {
    pub(super) async fn get(&self, path: &str, what: &str) -> Result<GitHubResponse, GitHubError> {
        let path = format!("{}{path}", self.api.path);
        self.ask(&GitHubRequest { method: Method::GET, path, body: None, what }).await
    }

    pub(super) async fn post<B: Serialize + Sync>(
        &self,
        path: &str,
        body: &B,
        what: &str,
    ) -> Result<GitHubResponse, GitHubError> {
        let body = serde_json::to_value(body)
            .map_err(|error| GitHubError::Unreadable { why: error.to_string() })?;
        let path = format!("{}{path}", self.api.path);
        self.ask(&GitHubRequest { method: Method::POST, path, body: Some(body), what }).await
    }

    /// Asks, and asks again where that can do no harm: what was sent once may have been done.
    async fn ask(&self, question: &GitHubRequest<'_>) -> Result<GitHubResponse, GitHubError> {
        if self.token.is_none() {
            return Err(GitHubError::NoToken);
        }
        for wait in waits(self.backoff) {
            let failure = match self.attempt(question).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let passing = failure.error.is_transient() && failure.error.retry_at().is_none();
            if !passing || (failure.arrived && question.method != Method::GET) {
                return Err(failure.error);
            }
            time::sleep(wait).await;
        }
        self.attempt(question).await.map_err(|failure| failure.error)
    }

    async fn attempt(
        &self,
        question: &GitHubRequest<'_>,
    ) -> Result<GitHubResponse, AttemptFailure> {
        let late = GitHubError::TooSlow { after: self.timeout };
        match time::timeout(self.timeout, self.follow(question)).await {
            Ok(ended) => ended,
            Err(_) => Err(AttemptFailure::arrived(late)),
        }
    }

    /// Sends a request, and sends it again where GitHub says that the thing has moved to.
    async fn follow(&self, question: &GitHubRequest<'_>) -> Result<GitHubResponse, AttemptFailure> {
        let mut path = question.path.clone();
        for _ in 0..=MAX_REDIRECTS {
            let (status, answer) = self.send(question, &path).await?;
            if status.is_success() {
                return Ok(answer);
            }
            if !status.is_redirection() {
                let refused = GitHubRefusal {
                    status,
                    headers: &answer.headers,
                    body: &answer.body,
                    what: question.what,
                };
                let shown = |text: &str| self.harmless(text);
                let error = GitHubError::refusal(&refused, self.clock.now(), shown);
                return Err(AttemptFailure::arrived(error));
            }
            path = self
                .elsewhere(question, status, &answer.headers)
                .map_err(AttemptFailure::arrived)?;
        }
        Err(AttemptFailure::arrived(GitHubError::Moved { to: self.harmless(&path) }))
    }

    async fn send(
        &self,
        question: &GitHubRequest<'_>,
        path: &str,
    ) -> Result<(StatusCode, GitHubResponse), AttemptFailure> {
        let broken = |error: &(dyn Error + 'static)| AttemptFailure {
            arrived: !never_connected(error),
            error: GitHubError::Unreachable { api: self.api.to_string(), why: root(error) },
        };
        // A path and no more: octocrab puts the host before it, and the token beside it.
        let uri: Uri = path.parse().map_err(|_| {
            AttemptFailure::arrived(GitHubError::Unreadable { why: format!("`{path}` is no path") })
        })?;
        let sent = match &question.body {
            None => self.crab._get(uri).await,
            Some(body) => self.crab._post(uri, Some(body)).await,
        };
        let (head, body) = sent.map_err(|error| broken(&error))?.into_parts();
        let body = Limited::new(body, MAX_RESPONSE_BYTES).collect().await;
        let body = body.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
            Some(_) => AttemptFailure::arrived(GitHubError::Unreadable {
                why: "it is too long".to_owned(),
            }),
            None => broken(error.as_ref()),
        });
        let body = body?.to_bytes().to_vec();
        Ok((head.status, GitHubResponse { headers: head.headers, body }))
    }

    /// Sanitises GitHub's text: bounded, and without the token.
    fn harmless(&self, text: &str) -> String {
        let text = match self.token.as_deref() {
            Some(token) => text.replace(token, "…"),
            None => text.to_owned(),
        };
        text.chars().take(MAX_MESSAGE_CHARS).collect()
    }

    /// Where a redirect leads, if it stays on this server and the request may be repeated there.
    fn elsewhere(
        &self,
        question: &GitHubRequest<'_>,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<String, GitHubError> {
        let to = headers.get(header::LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
        let uri: Uri = to.parse().map_err(|_| GitHubError::Unreadable {
            why: format!("it redirects ({}) to nowhere", status.as_u16()),
        })?;
        let origin = &self.api.origin;
        let here = uri.authority().is_none()
            || (uri.scheme(), uri.authority()) == (origin.scheme(), origin.authority());
        // After any other redirect a request that changes something would become one that looks.
        let repeated = question.method == Method::GET
            || matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        match uri.path_and_query() {
            Some(path) if here && repeated => Ok(path.to_string()),
            _ => Err(GitHubError::Moved { to: self.harmless(to) }),
        }
    }
}

/// The waits before a request is tried again: as many as there are, and longer each time.
pub(super) fn waits(first: Duration) -> [Duration; 3] {
    [1, 2, 4].map(|times| first.saturating_mul(times))
}

/// True if no connection was made, so that nothing was received.
fn never_connected(error: &(dyn Error + 'static)) -> bool {
    let mut error = Some(error);
    while let Some(one) = error {
        if one.downcast_ref::<legacy::Error>().is_some_and(legacy::Error::is_connect) {
            return true;
        }
        error = one.source();
    }
    false
}
