//! A server that shares its home with others, over real sockets: it forwards to the owner, and becomes one.

mod homes;
mod refusals;
mod roles;
mod streams;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use server::{
    App, ConnectionLimits, Drain, Gateway, GatewayOptions, GatewayProbe, HomeRole, Server,
};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::connections::{LIMITS, half_a_body, rest, send};
use crate::sockets::listen;
use crate::world::{OLDER, OPERATOR, PATIENCE, Session, Stream, World, request, whole};

/// What the rest of the program would say.
struct Probe;

impl GatewayProbe for Probe {
    fn operator_hash(&self) -> Option<String> {
        Some(engine::hash_token(OPERATOR))
    }

    fn metrics(&self) -> String {
        "adjutant_owner 0\n".to_owned()
    }
}

/// A server of a home that others may own.
struct Peer {
    address: SocketAddr,
    role: watch::Sender<HomeRole>,
    shutdown: CancellationToken,
    /// Cancelled by a request to end
    stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
    client: Client<HttpConnector, Body>,
}

impl Peer {
    async fn new(role: HomeRole) -> Self {
        Self::with_limits(role, LIMITS).await
    }

    async fn with_limits(role: HomeRole, limits: ConnectionLimits) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let options = GatewayOptions {
            server_id: "sv_peer".to_owned(),
            url: format!("http://{address}"),
            own_url: format!("http://{address}"),
            version: "0.1.0".to_owned(),
            hosts: vec!["crew.example".to_owned()],
            limits,
            probe: Arc::new(Probe),
            stop: stop.clone(),
        };
        let (role, seen) = watch::channel(role);
        let shutdown = CancellationToken::new();
        let serving = Gateway::new(options, seen).serve(listener, shutdown.clone());
        let serving = TaskTracker::new().spawn(serving);
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { address, role, shutdown, stop, serving, client }
    }

    /// One that follows the owner at an address.
    async fn following(owner: SocketAddr) -> Self {
        Self::new(following(owner)).await
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sends a request over a real connection.
    async fn send(&self, mut request: Request<Body>) -> Response<Body> {
        let uri: Uri = format!("{}{}", self.url(), request.uri()).parse().unwrap();
        *request.uri_mut() = uri;
        let answer = timeout(PATIENCE, self.client.request(request)).await.unwrap().unwrap();
        answer.map(Body::new)
    }

    async fn whole(&self, request: Request<Body>) -> (StatusCode, HeaderMap, Value) {
        whole(self.send(request).await).await
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        let answer = self.whole(request(Method::GET, path, Some(OPERATOR), Body::empty())).await;
        (answer.0, answer.2)
    }
}

fn following(owner: SocketAddr) -> HomeRole {
    HomeRole::Following { owner_url: format!("http://{owner}") }
}

fn waiting() -> HomeRole {
    HomeRole::Waiting { why: "PostgreSQL cannot be reached".to_owned() }
}

fn owning(app: &App) -> (HomeRole, Drain) {
    let (router, drain) = Server::new(app.clone()).into_parts();
    (HomeRole::Owning(router), drain)
}

/// Waits until the owner has so many requests and streams.
async fn until_open(world: &World, many: usize) {
    // This question is one of them.
    let line = format!("\nadjutant_requests_open {}\n", many + 1);
    let reached = async {
        while !world.get("/metrics").await.as_str().unwrap().contains(&line) {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, reached).await.unwrap();
}

fn decision(title: &str) -> Value {
    let input = json!({ "title": title, "body": "why" });
    json!({ "toolName": "mcp__system__log_decision", "input": input })
}

fn execute(body: impl Into<Body>) -> Request<Body> {
    request(Method::POST, "/mcp/execute", Some(OPERATOR), body.into())
}

#[tokio::test]
async fn a_follower_answers_what_the_owner_answers() {
    let world = World::new();
    let peer = Peer::following(listen(&world).await).await;
    for (method, path, token) in [
        (Method::GET, "/api/agents?limit=5&all=true", Some(OPERATOR)),
        (Method::GET, "/api/agents?limit=none", Some(OPERATOR)),
        (Method::GET, "/api/status", Some("wrong")),
        (Method::GET, "/api/status", None),
        (Method::GET, "/api/nothing%20here", Some(OPERATOR)),
        (Method::DELETE, "/api/agents", Some(OPERATOR)),
        (Method::POST, "/mcp/male", Some(OPERATOR)),
        (Method::GET, "/", None),
        (Method::HEAD, "/", None),
        (Method::GET, "/healthz/proof?key=1", None),
    ] {
        let asked = || request(method.clone(), path, token, Body::empty());
        let (status, mut headers, body) = peer.whole(asked()).await;
        let (expected, mut own_headers, own_body) = whole(world.send(asked()).await).await;
        assert_eq!(status, expected, "{method} {path}");
        // A router alone leaves it to the connection to send no body after `HEAD`.
        assert_eq!(
            body,
            if method == Method::HEAD { json!("") } else { own_body },
            "{method} {path}"
        );
        // A connection says when it answers and how long it is; a router alone does not.
        for name in ["date", "content-length"] {
            headers.remove(name);
            own_headers.remove(name);
        }
        assert_eq!(headers, own_headers, "{method} {path}");
    }
    let (_, status) = peer.get("/api/status").await;
    assert_eq!(status["home"], world.project().display().to_string());
}

#[tokio::test]
async fn a_call_with_a_key_is_done_once_wherever_it_is_sent() {
    let world = World::new();
    let owner = listen(&world).await;
    let (one, two) = (Peer::following(owner).await, Peer::following(owner).await);
    let keyed = || {
        let letter = json!({ "toHuman": true, "subject": "s", "body": "b" });
        let call = json!({ "toolName": "mcp__mail__send", "input": letter });
        let mut call = execute(call.to_string());
        call.headers_mut().insert("idempotency-key", "k".parse().unwrap());
        call
    };
    let (status, _, first) = one.whole(keyed()).await;
    assert_eq!(status, StatusCode::OK, "{first}");
    assert_eq!(two.whole(keyed()).await.2["data"], first["data"]);
    assert_eq!(whole(world.send(keyed()).await).await.2["data"], first["data"]);
    let (_, inbox) = world.execute(OPERATOR, "mcp__mail__list_inbox", json!({})).await;
    assert_eq!(inbox["data"]["unreadCount"], 1, "{inbox}");
}

#[tokio::test]
async fn a_session_goes_on_through_another_follower() {
    let world = World::new();
    let owner = listen(&world).await;
    let (one, two) = (Peer::following(owner).await, Peer::following(owner).await);
    let mut session = Session { path: "/mcp".to_owned(), token: OPERATOR.to_owned(), id: None };
    let params = json!({
        "protocolVersion": OLDER,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let opening = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let opened = one.send(session.request(Method::POST, Some(&opening))).await;
    session.id = Some(opened.headers()["mcp-session-id"].to_str().unwrap().to_owned());
    assert_eq!(Stream::of(opened).answer().await["result"]["serverInfo"]["name"], "adjutant");
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let (status, _, _) = two.whole(session.request(Method::POST, Some(&ready))).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for peer in [&one, &two] {
        let answer = peer.send(session.request(Method::POST, Some(&list))).await;
        assert_eq!(answer.status(), StatusCode::OK);
        let listed = Stream::of(answer).answer().await;
        assert!(listed["result"]["tools"].is_array(), "{listed}");
    }
    let end = session.request(Method::DELETE, None);
    assert!(one.whole(end).await.0.is_success());
    let gone = two.whole(session.request(Method::POST, Some(&list))).await;
    assert_eq!((gone.0, &gone.2["code"]), (StatusCode::NOT_FOUND, &json!("RESOURCE_NOT_FOUND")));
}

/// A call that is so many bytes long.
fn call_of(bytes: usize) -> Vec<u8> {
    let mut call = decision("long").to_string().into_bytes();
    call.resize(bytes, b' ');
    call
}

const BODY_LIMIT: usize = 4 * 1024 * 1024;

#[tokio::test]
async fn a_body_of_the_largest_size_passes_and_a_larger_one_is_refused() {
    let world = World::new();
    let peer = Peer::following(listen(&world).await).await;
    let chunked = |call: Vec<u8>| {
        let pieces: Vec<Vec<u8>> = call.chunks(10_000).map(<[u8]>::to_vec).collect();
        Body::from_stream(futures_util::stream::iter(
            pieces.into_iter().map(Ok::<_, std::io::Error>),
        ))
    };
    for body in [Body::from(call_of(BODY_LIMIT)), chunked(call_of(BODY_LIMIT))] {
        let (status, _, answer) = peer.whole(execute(body)).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    }
    // One that says how long it is is refused before it comes,
    let head = |length: &str| {
        format!(
            "POST /mcp/execute HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OPERATOR}\r\n\
             Connection: close\r\n{length}\r\n\r\n"
        )
    };
    let announced = head(&format!("Content-Length: {}", BODY_LIMIT + 1));
    let answer = rest(&mut send(peer.address, &announced).await).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    // and one that does not as soon as it has come too far.
    let long = String::from_utf8(call_of(BODY_LIMIT + 1)).unwrap();
    let chunk = format!("{}{:x}\r\n{long}", head("Transfer-Encoding: chunked"), BODY_LIMIT + 1);
    let answer = rest(&mut send(peer.address, &chunk).await).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert!(answer.contains("the body is longer than 4194304 bytes"), "{answer}");
    let log = world.get("/api/audit?tool=mcp__system__log_decision").await;
    assert_eq!(log["rows"].as_array().unwrap().len(), 2, "{log}");
}

#[tokio::test]
async fn half_a_body_is_waited_for_by_the_follower_and_then_refused() {
    let world = World::new();
    let soon = ConnectionLimits { body_timeout: Duration::from_millis(50), ..LIMITS };
    let peer = Peer::with_limits(following(listen(&world).await), soon).await;
    for path in ["/mcp/execute", "/mcp", "/api/runs", "/api/login"] {
        let mut socket = send(peer.address, &half_a_body(path)).await;
        let answer = rest(&mut socket).await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{path}: {answer}");
        assert!(answer.contains("the body did not arrive within 0.05 s"), "{path}: {answer}");
    }
}
