//! The other side proves who it is before it is sent a token: it answers a nonce with an HMAC keyed by the token's
//! hash. One proof is enough for a client and its clones; a new look-up of the server makes a new client.

use std::time::Duration;

use engine::proof;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use serde::Deserialize;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::{Client, ClientError};

/// Time limit for the proof; a stranger may never answer.
const PROOF_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest answer that is read.
const MAX_ANSWER: usize = 4096;

/// Origin of a server's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// `server.json`, which may be out of date: the proof has to be for this very address
    ByFile,
    /// `ADJUTANT_URL`: there may be a tunnel or a name in front of the server
    ByEnvironment,
}

/// Knowledge of a token, to be proved by the server.
pub(super) struct Challenge {
    token_hash: String,
    named: Named,
    proved: OnceCell<()>,
}

impl Challenge {
    pub(super) fn new(token: &str, named: Named) -> Self {
        Self { token_hash: engine::hash_token(token), named, proved: OnceCell::new() }
    }
}

impl std::fmt::Debug for Challenge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Challenge").field("named", &self.named).finish_non_exhaustive()
    }
}

/// Response to a request for proof.
#[derive(Deserialize)]
struct Answer {
    url: String,
    proof: String,
}

impl Client {
    /// Has the other side prove who it is, unless it has done so or nobody asks for it.
    pub(crate) async fn prove(&self) -> Result<(), ClientError> {
        let Some(challenge) = &self.challenge else { return Ok(()) };
        challenge.proved.get_or_try_init(|| self.ask_for_proof(challenge)).await?;
        Ok(())
    }

    /// Returns whether the server must prove who it is.
    pub(crate) fn is_proving(&self) -> bool {
        self.challenge.is_some()
    }

    async fn ask_for_proof(&self, challenge: &Challenge) -> Result<(), ClientError> {
        let nonce = host::random::secret("").map_err(|error| self.broken(error))?;
        let key = proof::key_of(&challenge.token_hash);
        let path = format!("/healthz/proof?key={key}&nonce={nonce}");
        let request = Request::builder()
            .method(Method::GET)
            .uri(format!("{}{path}", self.url))
            .body(Full::new(Bytes::new()))
            .map_err(|source| ClientError::Unusable { what: "a path", value: path, source })?;
        let not_ours = || ClientError::NotOurs { url: self.url.clone() };
        let asked = async {
            let response = self.pool.request(request).await.map_err(|error| self.failed(error))?;
            if response.status() == StatusCode::SERVICE_UNAVAILABLE {
                // A server of ours may be about to take its home, or to start; a stranger stays one.
                return Err(self.broken(std::io::Error::other("it is not ready")));
            }
            if response.status() != StatusCode::OK {
                return Err(not_ours());
            }
            let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await;
            Ok(body.map_err(|_| not_ours())?.to_bytes())
        };
        let answer = timeout(PROOF_TIMEOUT, asked).await.map_err(|late| self.broken(late))??;
        let answer: Answer = serde_json::from_slice(&answer).map_err(|_| not_ours())?;
        let expected = proof::proof(&challenge.token_hash, &nonce, &answer.url);
        let is_here = challenge.named == Named::ByEnvironment || answer.url == self.url;
        if !is_here {
            return Err(not_ours());
        }
        if is_same(&answer.proof, &expected) {
            return Ok(());
        }
        // A server of ours answers every question in this form, also one about a token that it does not know.
        let is_proof = answer.proof.len() == expected.len()
            && answer.proof.bytes().all(|byte| byte.is_ascii_hexdigit());
        Err(if is_proof { ClientError::UnknownToken { url: self.url.clone() } } else { not_ours() })
    }
}

/// Compares in a time that does not depend on where two texts differ.
fn is_same(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && differing == 0
}

#[cfg(test)]
pub(crate) mod stand_in {
    //! The half of a server that proves who it is, for tests that stand in for the rest.

    use axum::Router;
    use axum::extract::Query;
    use axum::routing::get;
    use std::collections::HashMap;

    /// A route that proves to know this token, at this address.
    pub(crate) fn proving<S: Clone + Send + Sync + 'static>(token: &str, url: &str) -> Router<S> {
        let (hash, url) = (engine::hash_token(token), url.to_owned());
        let prove = move |Query(query): Query<HashMap<String, String>>| {
            let proof = engine::proof::proof(&hash, &query["nonce"], &url);
            let answer = serde_json::json!({ "url": url, "proof": proof }).to_string();
            async move { answer }
        };
        Router::new().route("/healthz/proof", get(prove))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::extract::Request as Asked;
    use std::sync::{Arc, Mutex};

    /// Requests that a stranger received: each path, and true if it carried a token.
    type ReceivedRequests = Arc<Mutex<Vec<(String, bool)>>>;

    /// A server that records what it hears and answers everything with the same.
    async fn stranger(
        answer: &'static str,
    ) -> (String, ReceivedRequests, tokio::task::JoinSet<()>) {
        let heard = ReceivedRequests::default();
        let record = Arc::clone(&heard);
        let router = Router::new().fallback(move |asked: Asked| {
            let has_token = asked.headers().contains_key("authorization");
            record.lock().unwrap().push((asked.uri().path().to_owned(), has_token));
            async move { answer }
        });
        let (url, tasks) = serve(router).await;
        (url, heard, tasks)
    }

    async fn serve(router: Router) -> (String, tokio::task::JoinSet<()>) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        (url, tasks)
    }

    #[tokio::test]
    async fn a_stranger_is_never_sent_the_token() {
        let forged = r#"{"url":"http://127.0.0.1:1","proof":"00"}"#;
        for answer in ["{}", "<!doctype html><p>Hello</p>", "", forged] {
            let (url, heard, _tasks) = stranger(answer).await;
            for named in [Named::ByFile, Named::ByEnvironment] {
                let client = Client::proving(&url, "secret", named).unwrap();
                let error = client.get_json("/api/status").await.unwrap_err();
                assert!(matches!(error, ClientError::NotOurs { .. }), "{answer}: {error:?}");
            }
            let heard = heard.lock().unwrap().clone();
            assert!(heard.iter().all(|(path, token)| path == "/healthz/proof" && !token));
            assert_eq!(heard.len(), 2, "{heard:?}");
        }
    }

    #[tokio::test]
    async fn a_proof_that_is_passed_on_from_another_address_does_not_count() {
        let elsewhere = "http://127.0.0.1:9";
        let (url, _tasks) = serve(stand_in::proving("secret", elsewhere)).await;
        let bound = Client::proving(&url, "secret", Named::ByFile).unwrap();
        assert!(matches!(bound.prove().await, Err(ClientError::NotOurs { .. })));
        // There may be a tunnel in front of an address that a person names.
        Client::proving(&url, "secret", Named::ByEnvironment).unwrap().prove().await.unwrap();
        let other = Client::proving(&url, "another secret", Named::ByEnvironment).unwrap();
        assert!(matches!(other.prove().await, Err(ClientError::UnknownToken { .. })));
    }
}
