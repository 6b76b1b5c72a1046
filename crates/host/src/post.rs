//! Posts JSON to an address, once: no redirect is followed, nothing is tried again, and no answer is
//! waited for or read without end.

use std::error::Error;
use std::fmt;
use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use model::Timestamp;

use crate::tls::{Connector, connector};

/// As much of an answer is read.
const MAX_RESPONSE_BYTES: usize = 64 << 10;

/// Lifetime of an idle connection.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Name of this program in requests.
pub(crate) const USER_AGENT: &str = concat!("adjutant/", env!("CARGO_PKG_VERSION"));

/// Posts, with connections that are used again. Copies share them.
#[derive(Clone)]
pub struct Poster {
    client: Client<Connector, Full<Bytes>>,
    timeout: Duration,
}

/// Response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostResponse {
    /// The status
    pub status: u16,
    /// For how many seconds the receiver wants to be left alone
    pub retry_after: Option<i64>,
    /// Where it would send us
    pub location: Option<String>,
    /// The beginning of what it says
    pub body: String,
}

/// Why nothing came back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// It is no address to post to.
    #[error("this is no address to post to")]
    Address,
    /// A header cannot be sent.
    #[error("the header `{0}` cannot be sent")]
    Header(&'static str),
    /// Nobody listens there, or the connection broke.
    #[error("{why}")]
    Broken {
        /// Reason, in the words of the one who noticed
        why: String,
    },
    /// It took too long.
    #[error("no answer within {} s", .0.as_secs_f64())]
    Late(Duration),
}

impl Poster {
    /// A poster that waits no longer than `timeout` for a whole answer. To be made inside a runtime.
    ///
    /// It trusts whom the machine trusts. Where the machine trusts nobody, only addresses without TLS can be posted to.
    pub fn new(timeout: Duration) -> Self {
        let client = client(connector());
        Self { client, timeout }
    }

    /// Posts a document, and says what came back.
    pub async fn post(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<PostResponse, PostError> {
        let uri = address(url).ok_or(PostError::Address)?;
        let mut request = Request::post(uri);
        if let Some(all) = request.headers_mut() {
            *all = lines(headers)?;
        }
        let request = request.body(Full::new(body.into())).map_err(|_| PostError::Address)?;
        match tokio::time::timeout(self.timeout, self.send(request)).await {
            Ok(done) => done,
            Err(_) => Err(PostError::Late(self.timeout)),
        }
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<PostResponse, PostError> {
        let answer = self.client.request(request).await.map_err(|error| broken(&error))?;
        let (head, body) = answer.into_parts();
        let text = |name: HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
        Ok(PostResponse {
            status: head.status.as_u16(),
            retry_after: text(header::RETRY_AFTER).and_then(retry_after_seconds),
            location: text(header::LOCATION)
                .filter(|_| StatusCode::is_redirection(&head.status))
                .map(str::to_owned),
            // What was answered counts, also where the rest of it breaks off.
            body: String::from_utf8_lossy(&beginning(body).await).into_owned(),
        })
    }
}

/// A client that closes its idle connections after [`IDLE_TIMEOUT`]. To be made inside a runtime.
pub(crate) fn client(connector: Connector) -> Client<Connector, Full<Bytes>> {
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE_TIMEOUT)
        .build(connector)
}

impl fmt::Debug for Poster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poster").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// An address that can be posted to: HTTP or HTTPS, a host, and nobody's name and password in it.
pub fn address(url: &str) -> Option<Uri> {
    let uri: Uri = url.parse().ok()?;
    let known = matches!(uri.scheme_str(), Some("http" | "https"));
    let authority = uri.authority()?;
    let plain = !authority.host().is_empty() && !authority.as_str().contains('@');
    (known && plain).then_some(uri)
}

/// True for a loopback address.
pub fn is_local(uri: &Uri) -> bool {
    uri.host().is_some_and(crate::github::is_loopback)
}

fn lines(headers: &[(&'static str, String)]) -> Result<HeaderMap, PostError> {
    let agent = HeaderValue::from_static(USER_AGENT);
    let json = HeaderValue::from_static("application/json");
    let mut all = HeaderMap::from_iter([(header::USER_AGENT, agent), (header::CONTENT_TYPE, json)]);
    for (name, value) in headers {
        let value = HeaderValue::from_str(value).map_err(|_| PostError::Header(name))?;
        all.insert(HeaderName::from_static(name), value);
    }
    Ok(all)
}

/// Reads an answer up to a limit; a longer one is cut off.
async fn beginning(mut body: Incoming) -> Vec<u8> {
    let mut read = Vec::new();
    while !body.is_end_stream() && read.len() < MAX_RESPONSE_BYTES {
        let Some(Ok(frame)) = body.frame().await else { break };
        if let Ok(data) = frame.into_data() {
            read.extend_from_slice(&data);
        }
    }
    read.truncate(MAX_RESPONSE_BYTES);
    read
}

/// `Retry-After`: seconds, or a date.
pub(crate) fn retry_after_seconds(text: &str) -> Option<i64> {
    if let Ok(seconds) = text.trim().parse::<i64>() {
        return (seconds >= 0).then_some(seconds);
    }
    let date = httpdate::parse_http_date(text).ok()?;
    let at = date.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let at = Timestamp::from_millis(i64::try_from(at.as_millis()).ok()?);
    Some(at.millis_since(crate::clock::Clock::System.now()) / 1000)
}

/// The last cause says it best: those before it only say that something went wrong.
fn broken(error: &(dyn Error + 'static)) -> PostError {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    PostError::Broken { why: last.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_no_password() {
        for url in ["http://127.0.0.1:5678/x", "https://hooks.example.com/a?b=c", "http://[::1]/"] {
            assert!(address(url).is_some(), "{url}");
        }
        for url in ["", "x", "/x", "ftp://a/b", "https://", "https://me:word@example.com/", "a b"] {
            assert!(address(url).is_none(), "{url}");
        }
        let local = |url: &str| is_local(&address(url).unwrap());
        assert!(local("http://localhost:1/") && local("http://[::1]:1/"));
        assert!(!local("http://example.com/") && !local("http://10.0.0.1/"));
    }

    #[test]
    fn a_pause_is_seconds_or_a_date() {
        assert_eq!(retry_after_seconds("120"), Some(120));
        assert_eq!(retry_after_seconds("-1"), None);
        assert_eq!(retry_after_seconds("soon"), None);
        assert_eq!(retry_after_seconds("Wed, 21 Oct 2015 07:28:00 GMT"), Some(0), "it is over");
        assert!(
            retry_after_seconds("Fri, 01 Jan 2100 00:00:00 GMT")
                .is_some_and(|wait| wait > 1_000_000)
        );
    }
}
