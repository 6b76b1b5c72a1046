//! A home, an engine and a router over it, and clients of both eras that speak to the router.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use engine::settings::{Role, Settings};
use engine::{Engine, Opened, Options, Recruit, ToolError, hash_token};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use model::{AgentId, Policy, Timestamp};
use serde_json::{Value, json};
use server::{Activity, App, FileChange, Files, Reload, ReloadScope, Server};
use store::{NewAgent, Store};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;
use wire::server::{ReloadReport, SettingsChange};
use wire::settings::{CheckedChange, FilesView, HomeFilesView};

pub(crate) const OPERATOR: &str = "adjop_test";
pub(crate) const NEWER: &str = "2026-07-28";
pub(crate) const OLDER: &str = "2025-11-25";

/// A test that waits longer than this hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct World {
    /// The record that its engine works on
    pub(crate) store: Store,
    home: TempDir,
    pub(crate) app: App,
    router: Router,
}

/// An agent that somebody else runs.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) id: AgentId,
    pub(crate) token: String,
}

impl World {
    /// Its folder.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn new() -> Self {
        Self::with_settings(settings())
    }

    pub(crate) fn with_settings(settings: Settings) -> Self {
        let home = tempfile::tempdir().unwrap();
        Self::over(open(home.path()), home, settings)
    }

    /// A world whose writer may not be at one commit for longer.
    pub(crate) fn with_writer_stall(writer_stall: Duration) -> Self {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(&home.path().join("stalling.db")).unwrap();
        let options =
            Options { writer_stall, ..Options::new(home.path().to_owned(), hash_token(OPERATOR)) };
        let engine = Engine::new(store.clone(), settings(), options);
        let app = app(home.path(), engine);
        let router = server::router(app.clone());
        Self { store, home, app, router }
    }

    fn over(store: Store, home: TempDir, settings: Settings) -> Self {
        let app = app(home.path(), engine(home.path(), store.clone(), settings));
        let router = server::router(app.clone());
        Self { store, home, app, router }
    }

    /// Ends the server and starts another one over the same record.
    pub(crate) async fn restarted(self) -> Self {
        let Self { store, home, app, router } = self;
        app.shutdown.cancel();
        drop(router);
        store.close().await;
        Self::over(open(home.path()), home, settings())
    }

    /// The same world with another MCP server on it, listening on a port.
    pub(crate) async fn listen<H: rmcp::ServerHandler>(
        &self,
        path: &str,
        handler: impl Fn() -> H + Send + Sync + 'static,
    ) -> (SocketAddr, JoinHandle<io::Result<()>>) {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::new(self.app.clone()).mount(path, handler);
        (address, TaskTracker::new().spawn(server.serve(listener)))
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.app.engine
    }

    pub(crate) fn project(&self) -> &Path {
        self.home.path()
    }

    pub(crate) async fn enlist(&self, role: &str) -> Member {
        let recruit =
            Recruit { role: role.to_owned(), task: None, epic: None, cwd: None, parent: None };
        let joined = self.engine().enlist(recruit).await.unwrap();
        Member { id: joined.agent, token: joined.token }
    }

    /// The token of a tab that came by a link for looking.
    pub(crate) async fn visitor(&self) -> String {
        let link = self.engine().link_make(Opened::ToLook { days: None }).await.unwrap();
        self.engine().log_in(&link.code).await.unwrap().token
    }

    /// Makes an agent one of a loop, by telling the record so.
    pub(crate) async fn in_a_loop(&self, like: AgentId) -> String {
        let agent = self.store.read(|tx| tx.agent_get(like)).unwrap().unwrap();
        let new = NewAgent {
            id: AgentId::from_bits(7),
            role: agent.role,
            category: agent.category,
            kind: agent.kind,
            parent: None,
            depth: 0,
            task: None,
            epic: None,
            session: Some("night".to_owned()),
            iteration: None,
            state: agent.state,
            cwd: None,
            token_hash: Some(hash_token("adjag_loop")),
        };
        let now = self.engine().now();
        self.store.write(move |tx| tx.agent_insert(&new, now)).await.unwrap();
        "adjag_loop".to_owned()
    }

    /// Sends a request as it is.
    pub(crate) async fn send(&self, request: Request<Body>) -> Response<Body> {
        let answer = self.router.clone().oneshot(request);
        tokio::time::timeout(PATIENCE, answer).await.unwrap().unwrap()
    }

    /// Asks with a token and JSON.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        token: &str,
        body: Option<Value>,
    ) -> (StatusCode, Value) {
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let response = self.send(request(method, path, Some(token), body)).await;
        let (status, _, value) = whole(response).await;
        (status, value)
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, value) = self.ask(Method::GET, path, OPERATOR, None).await;
        assert_eq!(status, StatusCode::OK, "{path}: {value}");
        value
    }

    /// `POST /mcp/execute`.
    pub(crate) async fn execute(
        &self,
        token: &str,
        tool: &str,
        input: Value,
    ) -> (StatusCode, Value) {
        let body = json!({ "toolName": tool, "input": input });
        self.ask(Method::POST, "/mcp/execute", token, Some(body)).await
    }

    /// A request of the newer era, answered whole.
    pub(crate) async fn newer(
        &self,
        path: &str,
        token: &str,
        method: &str,
        params: Value,
    ) -> Value {
        let response = self.send(newer_request(path, token, method, params)).await;
        let (status, _, value) = whole(response).await;
        assert_eq!(status, StatusCode::OK, "{value}");
        value
    }

    /// A tool called in the newer era: its result.
    pub(crate) async fn call(
        &self,
        path: &str,
        token: &str,
        name: &str,
        arguments: Value,
    ) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        self.newer(path, token, "tools/call", params).await["result"].take()
    }

    /// The names of the tools that are listed.
    pub(crate) async fn names(&self, path: &str, token: &str) -> Vec<String> {
        let list = self.newer(path, token, "tools/list", json!({})).await;
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Opens a session of the older era.
    pub(crate) async fn open(&self, path: &str, token: &str) -> Session {
        let params = json!({
            "protocolVersion": OLDER,
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let mut session = Session { path: path.to_owned(), token: token.to_owned(), id: None };
        let message =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let response = self.send(session.request(Method::POST, Some(&message))).await;
        assert_eq!(response.status(), StatusCode::OK);
        let id = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let opened = Stream::of(response).next().await.unwrap();
        assert_eq!(opened["result"]["serverInfo"]["name"], "adjutant", "{opened}");
        session.id = Some(id);
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let response = self.send(session.request(Method::POST, Some(&done))).await;
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        session
    }

    /// Sends a request in a session and returns the stream that answers it.
    pub(crate) async fn begin(
        &self,
        session: &Session,
        id: u32,
        method: &str,
        params: Value,
    ) -> Stream {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let response = self.send(session.request(Method::POST, Some(&message))).await;
        assert_eq!(response.status(), StatusCode::OK);
        Stream::of(response)
    }

    /// Sends a request in a session and returns its answer.
    pub(crate) async fn older(&self, session: &Session, method: &str, params: Value) -> Value {
        self.begin(session, 7, method, params).await.answer().await
    }

    /// Opens the stream on which a session is told what it did not ask for.
    pub(crate) async fn hear(&self, session: &Session) -> Stream {
        let response = self.send(session.request(Method::GET, None)).await;
        assert_eq!(response.status(), StatusCode::OK);
        Stream::of(response)
    }
}

/// A session of the older era.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) path: String,
    pub(crate) token: String,
    pub(crate) id: Option<String>,
}

impl Session {
    pub(crate) fn request(&self, method: Method, message: Option<&Value>) -> Request<Body> {
        let body = message.map_or_else(Body::empty, |message| Body::from(message.to_string()));
        let mut request = request(method, &self.path, Some(&self.token), body);
        if let Some(id) = &self.id {
            request.headers_mut().insert("mcp-session-id", id.parse().unwrap());
            request.headers_mut().insert("mcp-protocol-version", OLDER.parse().unwrap());
        }
        request
    }

    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }
}

/// A stream of server-sent events.
pub(crate) struct Stream {
    body: Body,
    text: String,
}

impl Stream {
    pub(crate) fn of(response: Response<Body>) -> Self {
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body(), text: String::new() }
    }

    /// The next message; nothing when the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        tokio::time::timeout(PATIENCE, self.read()).await.unwrap()
    }

    async fn read(&mut self) -> Option<Value> {
        loop {
            while let Some(end) = self.text.find("\n\n") {
                let event: String = self.text.drain(..end + 2).collect();
                let data: String =
                    event.lines().filter_map(|line| line.strip_prefix("data:")).collect();
                if let Ok(message) = serde_json::from_str(data.trim()) {
                    return Some(message);
                }
            }
            let frame = self.body.frame().await?.unwrap();
            if let Ok(data) = frame.into_data() {
                self.text.push_str(std::str::from_utf8(&data).unwrap());
            }
        }
    }

    /// The answer, whatever is told before it.
    pub(crate) async fn answer(&mut self) -> Value {
        loop {
            let message = self.next().await.unwrap();
            if message.get("id").is_some() {
                return message;
            }
        }
    }
}

/// A request with what every one of ours has.
pub(crate) fn request(
    method: Method,
    path: &str,
    token: Option<&str>,
    body: Body,
) -> Request<Body> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "127.0.0.1:3001")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    request.body(body).unwrap()
}

/// A request of the newer era, which stands alone.
pub(crate) fn newer_request(
    path: &str,
    token: &str,
    method: &str,
    mut params: Value,
) -> Request<Body> {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = NEWER.into();
    meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str);
    let name = name.map(str::to_owned);
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut request = request(Method::POST, path, Some(token), Body::from(message.to_string()));
    let headers = request.headers_mut();
    headers.insert("mcp-protocol-version", NEWER.parse().unwrap());
    headers.insert("mcp-method", method.parse().unwrap());
    if let Some(name) = name {
        headers.insert("mcp-name", name.parse().unwrap());
    }
    request
}

/// An answer with its body read to the end; what is not JSON is a string.
pub(crate) async fn whole(response: Response<Body>) -> (StatusCode, HeaderMap, Value) {
    let (parts, body) = response.into_parts();
    let bytes = tokio::time::timeout(PATIENCE, body.collect()).await.unwrap().unwrap().to_bytes();
    let value = serde_json::from_slice(&bytes)
        .unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into());
    (parts.status, parts.headers, value)
}

/// A home without files: those who have some are tested where they are.
struct NoFiles;

impl Files for NoFiles {
    fn read(&self) -> Result<FilesView, ToolError> {
        Err(ToolError::not_found("there are no files here"))
    }

    fn check(&self, _: &FileChange) -> Result<CheckedChange, ToolError> {
        Err(ToolError::not_found("there are no files here"))
    }

    fn save(&self, _: &FileChange, _: Option<&str>) -> Result<CheckedChange, ToolError> {
        Err(ToolError::not_found("there are no files here"))
    }

    fn home_files(&self) -> Result<HomeFilesView, ToolError> {
        Err(ToolError::not_found("there are no files here"))
    }

    fn replace_home_files(&self, _: HomeFilesView) -> Result<Vec<String>, ToolError> {
        Err(ToolError::not_found("there are no files here"))
    }
}

/// A role for every category.
pub(crate) fn settings() -> Settings {
    let policy = Policy::default();
    let roles: BTreeMap<String, Role> = policy
        .names()
        .map(|name| {
            let role = Role { name: name.to_owned(), category: name.to_owned(), ..Role::default() };
            (name.to_owned(), role)
        })
        .collect();
    Settings { policy, roles, ..Settings::default() }
}

/// File by which a test says that the settings have changed since they were read last.
pub(crate) const CHANGED: &str = "changed";

fn reload(changed: PathBuf) -> Reload {
    Arc::new(move |scope| {
        let is_changed = std::fs::remove_file(&changed).is_ok();
        if scope == ReloadScope::Changed && !is_changed {
            return Ok(ReloadReport { roles: 3, ..ReloadReport::default() });
        }
        let change = SettingsChange {
            subject: "role coder".to_owned(),
            change: "tools gains Bash".to_owned(),
            widens: true,
        };
        let changes = if is_changed { vec![change] } else { Vec::new() };
        Ok(ReloadReport { roles: 3, warnings: vec!["odd".to_owned()], read: true, changes })
    })
}

fn open(home: &Path) -> Store {
    Store::open(&home.join("state.db")).unwrap()
}

fn engine(home: &Path, store: Store, settings: Settings) -> Engine {
    let options = Options {
        progress_every: Duration::from_millis(20),
        retry_after: Duration::from_millis(1),
        ..Options::new(home.to_owned(), hash_token(OPERATOR))
    };
    Engine::new(store, settings, options)
}

fn app(home: &Path, engine: Engine) -> App {
    App {
        engine,
        home: home.display().to_string(),
        url: "http://127.0.0.1:3001".to_owned(),
        version: "0.1.0".to_owned(),
        started_at: Timestamp::from_millis(0),
        hosts: vec!["crew.example".to_owned()],
        shared_home: None,
        reload: reload(home.join(CHANGED)),
        files: Arc::new(NoFiles),
        shutdown: CancellationToken::new(),
        activity: Arc::new(Activity::default()),
    }
}
