//! A small HTTP client for our own server: HTTP/1.1, on this machine or over TLS.
//!
//! A token leaves only after the other side has proved that it knows the token's hash, see `prove.rs`. To another
//! machine it goes over TLS alone, see `address.rs`.
//!
//! It tells a request that never left from one whose outcome nobody knows: only the first may be
//! sent again without thinking.

mod address;
mod answer;
mod prove;

use std::sync::Arc;
use std::time::Duration;

use host::tls::{self, Connector, TlsError};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::rt::TokioExecutor;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};
use wire::error::ErrorBody;

pub(crate) use address::{AddressError, Secrecy, check_secrecy};
pub(crate) use answer::{Answer, ListPage, all_rows};
use prove::Challenge;
pub(crate) use prove::Named;
#[cfg(test)]
pub(crate) use prove::stand_in;

/// `application/json`.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Header with the idempotency key.
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Interval at which a request is sent again while nobody owns the home.
const OWNER_POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Path of the route that calls tools.
const EXECUTE: &str = "/mcp/execute";

/// A server and what we show it.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pool: Pool<Connector, Full<Bytes>>,
    url: String,
    authorization: Option<HeaderValue>,
    /// Proof required before the token is sent; shared by all clones
    challenge: Option<Arc<Challenge>>,
    /// Wait for a server that owns the home
    owner_patience: Duration,
}

/// A call that brought no answer to be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// Nobody listens there; the request never left.
    #[error("no server answers at `{url}`")]
    NoServer {
        /// Where it was looked for
        url: String,
        /// Why it could not be reached
        #[source]
        source: Box<hyper_util::client::legacy::Error>,
    },
    /// The listener at this address is not the server of this home.
    #[error(
        "the program at `{url}` is not the server of this home: it did not prove that it knows your token"
    )]
    NotOurs {
        /// Where it was asked
        url: String,
    },
    /// A server answers that does not know the token. The token was not sent.
    #[error("the server at `{url}` does not know your token")]
    UnknownToken {
        /// Where it was asked
        url: String,
    },
    /// No TLS could be agreed on with the listener at this address. Nothing was sent.
    #[error("no connection to `{url}`: {problem}")]
    Tls {
        /// Where it was asked
        url: String,
        /// Why not
        problem: TlsError,
    },
    /// The address cannot be used. Nothing was sent.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The server refused.
    #[error("{}", error.body.message)]
    Api {
        /// Its HTTP status
        status: StatusCode,
        /// The error that it answered
        error: Box<ApiError>,
    },
    /// The connection broke, or the answer is not one of ours: the outcome is unknown.
    #[error("the server at `{url}` gave an invalid answer")]
    Broken {
        /// Server address
        url: String,
        /// Kind of the event
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The answer is JSON but not of the expected shape. The call has taken effect.
    #[error("the answer of the server at `{url}` to `{path}` is not of the expected form")]
    Undecodable {
        /// Server address
        url: String,
        /// Path of the request, or name of the tool
        path: String,
        /// First field that does not fit
        #[source]
        source: serde_json::Error,
    },
    /// The address or the token cannot be used at all.
    #[error("`{value}` is not {what}")]
    Unusable {
        /// Expected value
        what: &'static str,
        /// Given value; never a secret
        value: String,
        /// Problem, if any
        #[source]
        source: http::Error,
    },
}

/// A call of a tool, as `POST /mcp/execute` reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolCall<'a, I> {
    /// Name of the tool
    pub(crate) tool_name: &'a str,
    /// Input of the tool
    pub(crate) input: &'a I,
    /// Agent in whose name the operator calls; absent for the caller itself
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<&'a str>,
}

/// The answer to a call that succeeded.
#[derive(Debug, Deserialize)]
struct ToolOutput {
    data: Value,
}

/// An error, as every face gives it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ApiError {
    /// Decoded body
    pub(crate) body: ErrorBody,
    /// The body with what its tool adds to it, as `--json` prints it
    pub(crate) whole: Value,
}

/// An error as `POST /mcp/execute` wraps it.
#[derive(Debug, Deserialize)]
struct WrappedError {
    error: Map<String, Value>,
}

impl ApiError {
    /// Reads an error's body: bare, or as `POST /mcp/execute` wraps it.
    pub(crate) fn read(status: StatusCode, bytes: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(bytes).unwrap_or_default();
        let whole = match WrappedError::deserialize(&body) {
            Ok(WrappedError { error }) => Value::Object(error),
            Err(_) => body,
        };
        match ErrorBody::deserialize(&whole) {
            Ok(body) => Self { body, whole },
            // Not ours: a proxy, or the HTTP layer itself.
            Err(_) => Self::unknown(status, &String::from_utf8_lossy(bytes)),
        }
    }

    /// Reads the facts of the error into a shape, if it has them.
    pub(crate) fn details<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_value(Value::Object(self.body.details.clone())).ok()
    }

    /// True if no server owns the home at the moment.
    pub(crate) fn is_no_owner(&self) -> bool {
        self.body.code == engine::Code::NoOwner.name()
    }

    /// True if the error says that the request took no effect.
    fn had_no_effect(&self) -> bool {
        self.body.details.get("outcome").and_then(Value::as_str) == Some("none")
    }

    fn unknown(status: StatusCode, text: &str) -> Self {
        let code = match status {
            StatusCode::UNAUTHORIZED => "UNAUTHENTICATED",
            StatusCode::FORBIDDEN => "PERMISSION_DENIED",
            StatusCode::NOT_FOUND => "RESOURCE_NOT_FOUND",
            StatusCode::PAYLOAD_TOO_LARGE => "INVALID_INPUT",
            StatusCode::TOO_MANY_REQUESTS => "RATE_LIMITED",
            _ => "INTERNAL_ERROR",
        };
        let text: String = text.trim().chars().take(500).collect();
        let message = if text.is_empty() { format!("the server said {status}") } else { text };
        let whole = serde_json::json!({ "code": code, "message": message });
        let (suggestions, details) = (Vec::new(), Map::new());
        Self { body: ErrorBody { code: code.to_owned(), message, suggestions, details }, whole }
    }
}

impl Client {
    /// A client of the server at `url`. Nothing is sent yet.
    pub(crate) fn new(url: &str, token: Option<&str>) -> Result<Self, ClientError> {
        let url = url.trim_end_matches('/').to_owned();
        let transport = address::check(&url)?;
        let authorization = token.map(|token| HeaderValue::from_str(&format!("Bearer {token}")));
        let mut authorization =
            authorization.transpose().map_err(|source| ClientError::Unusable {
                what: "a token",
                value: "what was given".to_owned(),
                source: source.into(),
            })?;
        if let Some(secret) = &mut authorization {
            secret.set_sensitive(true);
        }
        let connector = tls::connector_to(transport);
        let connector =
            connector.map_err(|problem| ClientError::Tls { url: url.clone(), problem })?;
        let pool = Pool::builder(TokioExecutor::new()).build(connector);
        let owner_patience = Duration::ZERO;
        Ok(Self { pool, url, authorization, challenge: None, owner_patience })
    }

    /// The same, for a server that has to prove that it knows the token before the token is sent.
    pub(crate) fn proving(url: &str, token: &str, named: Named) -> Result<Self, ClientError> {
        let client = Self::new(url, Some(token))?;
        let challenge = Some(Arc::new(Challenge::new(token, named)));
        Ok(Self { challenge, ..client })
    }

    /// The same, which waits for so long while no server owns the home, and then sends its request again.
    #[must_use]
    pub(crate) fn waiting_for_owner(self, patience: Duration) -> Self {
        Self { owner_patience: patience, ..self }
    }

    /// Where the server is.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Asks for a JSON document.
    pub(crate) async fn get_json(&self, path: &str) -> Result<Value, ClientError> {
        self.json(Method::GET, path, HeaderMap::new(), Bytes::new()).await
    }

    /// Reads a document of a known shape.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
    ) -> Result<Answer<T>, ClientError> {
        let json = self.get_json(path).await?;
        self.decode(path, json)
    }

    /// Sends a body and returns the answer; an empty answer is `()`.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Answer<T>, ClientError> {
        let json = self.json(Method::POST, path, HeaderMap::new(), encoded(body)).await?;
        self.decode(path, json)
    }

    /// Calls a tool.
    pub(crate) async fn call_tool<T: DeserializeOwned>(
        &self,
        call: &ToolCall<'_, impl Serialize>,
    ) -> Result<Answer<T>, ClientError> {
        self.execute(call, HeaderMap::new()).await
    }

    /// Calls a tool under an idempotency key: however often it is sent, it takes effect once.
    pub(crate) async fn call_tool_once<T: DeserializeOwned>(
        &self,
        call: &ToolCall<'_, impl Serialize>,
        key: &HeaderValue,
    ) -> Result<Answer<T>, ClientError> {
        self.execute(call, HeaderMap::from_iter([(KEY, key.clone())])).await
    }

    async fn execute<T: DeserializeOwned>(
        &self,
        call: &ToolCall<'_, impl Serialize>,
        headers: HeaderMap,
    ) -> Result<Answer<T>, ClientError> {
        let json = self.json(Method::POST, EXECUTE, headers, encoded(call)).await?;
        let output: Answer<ToolOutput> = self.decode(call.tool_name, json)?;
        self.decode(call.tool_name, output.into_value().data)
    }

    fn decode<T: DeserializeOwned>(
        &self,
        path: &str,
        json: Value,
    ) -> Result<Answer<T>, ClientError> {
        Answer::decode(json).map_err(|source| ClientError::Undecodable {
            url: self.url.clone(),
            path: path.to_owned(),
            source,
        })
    }

    async fn json(
        &self,
        method: Method,
        path: &str,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Value, ClientError> {
        headers.extend([(ACCEPT, JSON), (CONTENT_TYPE, JSON)]);
        let is_repeatable = method == Method::GET || headers.contains_key(KEY);
        let until = Instant::now() + self.owner_patience;
        let bytes = loop {
            let response = self.send(method.clone(), path, headers.clone(), body.clone()).await?;
            let (status, bytes) = self.collect(response).await?;
            if status.is_success() {
                break bytes;
            }
            let error = Box::new(ApiError::read(status, &bytes));
            let may_repeat = error.is_no_owner() && (is_repeatable || error.had_no_effect());
            if !may_repeat || Instant::now() >= until {
                return Err(ClientError::Api { status, error });
            }
            sleep(OWNER_POLL_INTERVAL).await;
        };
        if bytes.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&bytes).map_err(|error| self.broken(error))
    }

    /// Sends a request as it is and returns the answer's head, its body still to be read.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, ClientError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .body(Full::new(body))
            .map_err(|source| ClientError::Unusable {
                what: "a path",
                value: path.to_owned(),
                source,
            })?;
        *request.headers_mut() = headers;
        if let Some(authorization) = &self.authorization {
            self.prove().await?;
            request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        // Lets the end of a connection that has arrived be noticed before the connection is used
        // again: of a request written to it nobody could say whether it was done.
        tokio::task::yield_now().await;
        self.pool.request(request).await.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: hyper_util::client::legacy::Error) -> ClientError {
        if let Some(problem) = tls::tls_error(&error) {
            ClientError::Tls { url: self.url.clone(), problem }
        } else if error.is_connect() {
            ClientError::NoServer { url: self.url.clone(), source: Box::new(error) }
        } else {
            self.broken(error)
        }
    }

    /// Reads an answer to its end.
    pub(crate) async fn collect(
        &self,
        response: Response<Incoming>,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let status = response.status();
        let body = response.into_body().collect().await.map_err(|error| self.broken(error))?;
        Ok((status, body.to_bytes()))
    }

    /// The connection failed under a request that had left.
    pub(crate) fn broken(
        &self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> ClientError {
        ClientError::Broken { url: self.url.clone(), source: source.into() }
    }
}

/// A body as it is sent. Bodies are structs with named fields, which always have a JSON form.
fn encoded(body: &impl Serialize) -> Bytes {
    serde_json::to_vec(body).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::routing::{get, post};
    use serde_json::json;
    use tokio::net::TcpListener;

    async fn serve(router: Router) -> (String, tokio::task::JoinSet<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        (url, tasks)
    }

    #[tokio::test]
    async fn an_answer_is_told_from_a_refusal_and_from_silence() {
        let echo = |headers: HeaderMap, body: String| async move {
            let token = headers["authorization"].to_str().unwrap().to_owned();
            format!("{{\"token\":\"{token}\",\"body\":{body}}}")
        };
        let refusal = || async {
            let error = json!({ "code": "CONFLICT", "message": "no", "suggestions": ["wait"], "toolName": "t" });
            let body = json!({ "success": false, "error": error }).to_string();
            (StatusCode::CONFLICT, body)
        };
        let router = Router::new()
            .route("/echo", post(echo))
            .route("/no", get(refusal))
            .route("/odd", get(|| async { (StatusCode::UNAUTHORIZED, "who?") }))
            .route("/bad", get(|| async { "not json" }));
        let (url, _tasks) = serve(router).await;
        let client = Client::new(&format!("{url}/"), Some("secret")).unwrap();
        assert!(!format!("{client:?}").contains("secret"));

        let answer = client.post::<Value>("/echo", &json!([1])).await.unwrap();
        assert_eq!(*answer, json!({ "token": "Bearer secret", "body": [1] }));
        let error = client.post::<Vec<i64>>("/echo", &json!([1])).await.unwrap_err();
        assert!(matches!(error, ClientError::Undecodable { .. }), "{error:?}");

        let Err(ClientError::Api { status, error }) = client.get_json("/no").await else {
            panic!()
        };
        assert_eq!((status, error.body.code.as_str()), (StatusCode::CONFLICT, "CONFLICT"));
        assert_eq!(error.body.suggestions, ["wait"]);
        let whole = json!({ "code": "CONFLICT", "message": "no", "suggestions": ["wait"], "toolName": "t" });
        assert_eq!(error.whole, whole, "with what the tool adds");

        let Err(ClientError::Api { error, .. }) = client.get_json("/odd").await else { panic!() };
        let ErrorBody { code, message, .. } = error.body;
        assert_eq!((code.as_str(), message.as_str()), ("UNAUTHENTICATED", "who?"));
        // The error that the review tools name at the top is no wrapper.
        let bare = json!({ "code": "CONFLICT", "message": "no", "error": "CONFLICT" });
        let error = ApiError::read(StatusCode::CONFLICT, bare.to_string().as_bytes());
        assert_eq!((error.body.message.as_str(), error.whole), ("no", bare));
        assert!(matches!(client.get_json("/bad").await, Err(ClientError::Broken { .. })));
    }

    #[tokio::test]
    async fn a_refused_connection_is_no_server_and_a_dropped_one_is_broken() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let client = Client::new(&url, None).unwrap();
        let hang_up = async {
            let (stream, _) = listener.accept().await.unwrap();
            stream.readable().await.unwrap();
        };
        let (answer, ()) = tokio::join!(client.get_json("/"), hang_up);
        assert!(matches!(answer, Err(ClientError::Broken { .. })));
        drop(listener);
        let error = client.get_json("/").await.unwrap_err();
        assert!(matches!(error, ClientError::NoServer { .. }), "{error:?}");
        assert!(Client::new("not an address", None).is_err());
    }
}
