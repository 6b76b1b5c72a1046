//! A small MCP server of both eras with a runtime of its own, so that killing it breaks every
//! connection at once; and a client's end of the bridge.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Bytes;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::runtime::Runtime;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::super::{Bridge, BridgeError};
use crate::client::stand_in;
use crate::home::ServerFile;
use crate::server_process::connect::{ServerLocation, Token};

/// Nothing takes so long unless something is wrong.
const TOO_LONG: Duration = Duration::from_secs(20);

/// A request that the server has seen.
#[derive(Debug)]
pub(super) struct RecordedRequest {
    pub(super) verb: String,
    pub(super) path: String,
    headers: HeaderMap,
    pub(super) body: Value,
}

impl RecordedRequest {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// The server.
pub(super) struct Fake {
    dir: tempfile::TempDir,
    runtime: Option<Runtime>,
    seen: mpsc::UnboundedReceiver<RecordedRequest>,
    closed: mpsc::UnboundedReceiver<()>,
    shared: Arc<Shared>,
}

struct Shared {
    seen: mpsc::UnboundedSender<RecordedRequest>,
    closed: mpsc::UnboundedSender<()>,
    release: Notify,
    state: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    made: u32,
    known: HashSet<String>,
    push: Option<mpsc::UnboundedSender<String>>,
    break_once: bool,
}

impl Fake {
    pub(super) fn start() -> Self {
        let (seen_sender, seen) = mpsc::unbounded_channel();
        let (closed_sender, closed) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            seen: seen_sender,
            closed: closed_sender,
            release: Notify::new(),
            state: Mutex::default(),
        });
        let dir = tempfile::tempdir().unwrap();
        let mut fake = Self { dir, runtime: None, seen, closed, shared };
        fake.revive();
        fake
    }

    /// Listens, and says so in its file as a server does.
    pub(super) fn revive(&mut self) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new()
            .merge(stand_in::proving("secret", &url))
            .route("/mcp", any(answer))
            .route("/mcp/{toolset}", any(answer))
            .layer(axum::extract::DefaultBodyLimit::disable())
            .with_state(Arc::clone(&self.shared));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.unwrap();
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            axum::serve(listener, router).await.unwrap();
        });
        self.runtime = Some(runtime);
        let started_at = model::Timestamp::from_millis(0);
        let file = ServerFile { url, pid: 1, version: "0".into(), started_at };
        let text = serde_json::to_string(&file).unwrap();
        let path = self.dir.path().join("server.json");
        host::files::write(&path, &text, host::files::Mode::Private).unwrap();
    }

    /// Ends as by SIGKILL: every connection breaks, the file stays.
    pub(super) fn kill(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // On a thread of its own it may wait until all is gone.
            std::thread::spawn(move || runtime.shutdown_timeout(TOO_LONG)).join().unwrap();
        }
    }

    pub(super) fn remove_note(&self) {
        std::fs::remove_file(self.dir.path().join("server.json")).unwrap();
    }

    /// The next request.
    pub(super) async fn seen(&mut self) -> RecordedRequest {
        timeout(TOO_LONG, self.seen.recv()).await.expect("a request").unwrap()
    }

    pub(super) fn nothing_more(&mut self) {
        let more = self.seen.try_recv();
        assert!(more.is_err(), "{more:?}");
    }

    /// Waits until a stream that was waiting has been closed by its client.
    pub(super) async fn stream_closed(&mut self) {
        timeout(TOO_LONG, self.closed.recv()).await.expect("a closed stream").unwrap();
    }

    /// Lets what waits be answered.
    pub(super) fn release(&self) {
        self.shared.release.notify_one();
    }

    pub(super) fn forget_sessions(&self) {
        self.shared.state.lock().unwrap().known.clear();
        self.end_push();
    }

    pub(super) fn break_once(&self) {
        self.shared.state.lock().unwrap().break_once = true;
    }

    /// Says something in the session's own stream.
    pub(super) fn push(&self, text: &str) {
        let state = self.shared.state.lock().unwrap();
        state.push.as_ref().unwrap().send(text.to_owned()).unwrap();
    }

    pub(super) fn end_push(&self) {
        self.shared.state.lock().unwrap().push = None;
    }

    fn at(&self) -> ServerLocation {
        let dir = self.dir.path();
        ServerLocation {
            server_file: dir.join("server.json"),
            copies: Vec::new(),
            lock: dir.join("server.lock"),
            log: dir.join("server.log"),
            url_override: None,
            token: Token::Given("secret".to_owned()),
            // So the bridge waits for a server and starts none.
            inside_agent: true,
            exe: "/bin/false".into(),
            start_args: Vec::new(),
            environment: Vec::new(),
            cwd: dir.to_owned(),
        }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn answer(State(fake): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let session = parts.headers.get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
    let last = parts.headers.get("last-event-id").map(|id| id.to_str().unwrap().to_owned());
    let seen = RecordedRequest {
        verb: parts.method.to_string(),
        path: parts.uri.path_and_query().unwrap().to_string(),
        headers: parts.headers,
        body: body.clone(),
    };
    let verb = seen.verb.clone();
    let response = respond(&fake, &verb, session, last.as_deref(), &body);
    fake.seen.send(seen).unwrap();
    response
}

fn respond(
    fake: &Arc<Shared>,
    verb: &str,
    session: Option<String>,
    last: Option<&str>,
    body: &Value,
) -> Response {
    let mut state = fake.state.lock().unwrap();
    if session.is_some_and(|session| !state.known.contains(&session)) {
        return (StatusCode::NOT_FOUND, "Not Found: Session not found").into_response();
    }
    if verb == "DELETE" {
        return StatusCode::ACCEPTED.into_response();
    }
    if verb == "GET" {
        if last == Some("leave/1") {
            return event(&result(&json!(7), &json!({})));
        }
        let (sender, receiver) = mpsc::unbounded_channel();
        state.push = Some(sender);
        let pushed = stream::unfold(receiver, |mut receiver| async move {
            let text = receiver.recv().await?;
            Some((Ok::<_, Infallible>(text), receiver))
        });
        return event_stream(Body::from_stream(pushed));
    }
    let (id, params) = (&body["id"], &body["params"]);
    if id.is_null() || body["method"].is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    match body["method"].as_str().unwrap() {
        "initialize" => {
            state.made += 1;
            let session = format!("s{}", state.made);
            state.known.insert(session.clone());
            let version = json!({ "protocolVersion": params["protocolVersion"] });
            let mut response = event(&result(id, &version));
            response.headers_mut().insert("mcp-session-id", session.parse().unwrap());
            response
        }
        "tools/list" if std::mem::take(&mut state.break_once) => broken(),
        "tools/list" => axum::Json(result(id, &json!({ "tools": [] }))).into_response(),
        "subscriptions/listen" => wait(fake, id.clone()),
        "tools/call" if params["name"] == "fragile" && std::mem::take(&mut state.break_once) => {
            broken()
        }
        "tools/call" => call_tool(fake, id, params),
        _ => axum::Json(result(id, &json!({}))).into_response(),
    }
}

fn call_tool(fake: &Arc<Shared>, id: &Value, params: &Value) -> Response {
    match params["name"].as_str().unwrap() {
        "echo" | "fragile" => axum::Json(result(id, &params["arguments"])).into_response(),
        "wait" => wait(fake, id.clone()),
        "break" => broken(),
        "leave" => event_stream(Body::from("id: leave/1\nretry: 1\ndata: \n\n")),
        "refuse" => {
            let body = json!({ "code": "UNAUTHENTICATED", "message": "who are you?" });
            (StatusCode::UNAUTHORIZED, axum::Json(body)).into_response()
        }
        "mismatch" => {
            let error = json!({ "code": -32020, "message": "no" });
            let body = json!({ "jsonrpc": "2.0", "id": null, "error": error });
            (StatusCode::BAD_REQUEST, axum::Json(body)).into_response()
        }
        name => panic!("there is no {name}"),
    }
}

fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn event(message: &Value) -> Response {
    event_stream(Body::from(format!("data: {message}\n\n")))
}

fn event_stream(body: Body) -> Response {
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// A connection that breaks after the head.
fn broken() -> Response {
    let torn = stream::iter([Ok(Bytes::from_static(b": soon\n")), Err("torn")]);
    event_stream(Body::from_stream(torn))
}

/// A stream that shows progress, and answers when it is released.
fn wait(fake: &Arc<Shared>, id: Value) -> Response {
    struct Closed(Arc<Shared>);
    impl Drop for Closed {
        fn drop(&mut self) {
            // The test may be over.
            _ = self.0.closed.send(());
        }
    }
    let closed = Closed(Arc::clone(fake));
    let steps = stream::unfold((0, closed), move |(step, closed)| {
        let id = id.clone();
        async move {
            let message = match step {
                0 => json!({ "jsonrpc": "2.0", "method": "notifications/progress" }),
                1 => {
                    closed.0.release.notified().await;
                    result(&id, &json!({}))
                }
                _ => return None,
            };
            let event = format!("id: wait/{step}\ndata: {message}\n\n");
            Some((Ok::<_, Infallible>(event), (step + 1, closed)))
        }
    });
    event_stream(Body::from_stream(steps))
}

/// A client at its end of the bridge.
pub(super) struct Conversation {
    input: Option<DuplexStream>,
    output: Option<BufReader<DuplexStream>>,
    bridge: JoinSet<Result<(), BridgeError>>,
}

impl Conversation {
    pub(super) fn with(fake: &Fake, toolsets: &[&str]) -> Self {
        let (input, bridge_input) = tokio::io::duplex(64 * 1024);
        let (output, bridge_output) = tokio::io::duplex(64 * 1024);
        let toolsets = toolsets.iter().map(|&name| name.to_owned()).collect();
        let mut bridge = JoinSet::new();
        bridge.spawn(Bridge { at: fake.at(), toolsets }.run(bridge_input, bridge_output));
        Self { input: Some(input), output: Some(BufReader::new(output)), bridge }
    }

    /// A conversation of the older era, its beginning behind it.
    pub(super) async fn in_session(fake: &mut Fake) -> Self {
        let mut client = Self::with(fake, &[]);
        client.say(&initialize()).await;
        client.hear().await;
        client.say(&note("notifications/initialized", &json!({}))).await;
        let mut verbs = Vec::new();
        while verbs.last().is_none_or(|verb| verb != "GET") {
            verbs.push(fake.seen().await.verb);
        }
        assert_eq!(verbs, ["POST", "POST", "GET"]);
        client
    }

    pub(super) async fn say(&mut self, message: &Value) {
        self.say_line(&message.to_string()).await;
    }

    pub(super) async fn say_line(&mut self, line: &str) {
        let line = format!("{line}\n");
        let said = self.input.as_mut().unwrap().write_all(line.as_bytes());
        timeout(TOO_LONG, said).await.expect("an open ear").unwrap();
    }

    pub(super) async fn hear(&mut self) -> Value {
        let mut line = String::new();
        let heard = self.output.as_mut().unwrap().read_line(&mut line);
        timeout(TOO_LONG, heard).await.expect("a line").unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("`{line}` is no message"))
    }

    pub(super) fn stop_hearing(&mut self) {
        self.output = None;
    }

    pub(super) fn close_input(&mut self) {
        self.input = None;
    }

    /// Closes the input and waits for the end.
    pub(super) async fn end(&mut self) {
        self.close_input();
        self.ended().await;
    }

    pub(super) async fn ended(&mut self) {
        let ended = timeout(TOO_LONG, self.bridge.join_next()).await.expect("an end");
        ended.unwrap().unwrap().unwrap();
    }
}

pub(super) fn modern(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub(super) fn call(id: impl Into<Value>, tool: &str, arguments: &Value) -> Value {
    modern(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

pub(super) fn note(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

pub(super) fn initialize() -> Value {
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {} });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}
