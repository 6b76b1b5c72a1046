//! Connections over real sockets: one that says half of what it wants is closed, too many are refused, and
//! anyone who was let in stays.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use server::{ConnectionLimits, Server};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::world::{OPERATOR, World};

/// A test that waits longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(20);
/// Never reached: what is to be closed for another reason is not closed for this one.
const NEVER: Duration = Duration::from_secs(3600);

pub(crate) const LIMITS: ConnectionLimits =
    ConnectionLimits { max_connections: 64, header_timeout: NEVER, body_timeout: NEVER };

async fn listen(world: &World, limits: ConnectionLimits) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    TaskTracker::new().spawn(Server::new(world.app.clone()).with_limits(limits).serve(listener));
    address
}

pub(crate) async fn send(address: SocketAddr, text: &str) -> TcpStream {
    let mut socket = TcpStream::connect(address).await.unwrap();
    // One that is refused may be closed already.
    drop(socket.write_all(text.as_bytes()).await);
    socket
}

/// Everything that comes until the server closes the connection.
pub(crate) async fn rest(socket: &mut TcpStream) -> String {
    let mut text = Vec::new();
    timeout(PATIENCE, socket.read_to_end(&mut text)).await.unwrap().unwrap();
    String::from_utf8(text).unwrap()
}

/// Reads until the text appears.
pub(crate) async fn until(socket: &mut TcpStream, wanted: &str) -> String {
    let (mut text, mut byte) = (String::new(), [0]);
    while !text.contains(wanted) {
        let read = timeout(PATIENCE, socket.read(&mut byte)).await.unwrap().unwrap();
        assert_eq!(read, 1, "it ended before `{wanted}`: {text}");
        text.push(char::from(byte[0]));
    }
    text
}

pub(crate) fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OPERATOR}\r\n\r\n")
}

pub(crate) fn half_a_body(path: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OPERATOR}\r\n\
         Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         Content-Length: 1000\r\n\r\n{{\"toolName\":"
    )
}

#[tokio::test]
async fn half_a_header_is_waited_for_and_then_closed() {
    let world = World::new();
    let soon = ConnectionLimits { header_timeout: Duration::from_millis(50), ..LIMITS };
    let address = listen(&world, soon).await;
    for half in ["", "GET /api/status HT", "GET /api/status HTTP/1.1\r\nHost: local"] {
        let mut socket = send(address, half).await;
        let answer = rest(&mut socket).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{half}: {answer}");
    }
    // One that has had an answer and says no more is closed as well.
    let mut socket = send(address, &get("/api/status")).await;
    let answer = rest(&mut socket).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn half_a_body_is_waited_for_and_then_refused() {
    let world = World::new();
    let soon = ConnectionLimits { body_timeout: Duration::from_millis(50), ..LIMITS };
    let address = listen(&world, soon).await;
    for path in ["/mcp/execute", "/mcp", "/api/runs", "/api/github/webhook", "/api/login"] {
        let mut socket = send(address, &half_a_body(path)).await;
        let answer = rest(&mut socket).await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{path}: {answer}");
        let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        let body = if body["error"].is_object() { &body["error"] } else { &body };
        assert_eq!(body["message"], "the body did not arrive within 0.05 s", "{path}");
    }
}

#[tokio::test]
async fn an_admitted_request_is_under_no_timeout() {
    let world = World::new();
    let soon = Duration::from_millis(50);
    let limits = ConnectionLimits { header_timeout: soon, body_timeout: soon, ..LIMITS };
    let address = listen(&world, limits).await;
    let mut stream = send(address, &get("/api/events?stream=sse&after=now")).await;
    until(&mut stream, "event: head").await;
    let mut waiting = send(address, &get("/api/events?after=now&waitSeconds=240")).await;
    // By when a connection without a request has been closed, these two would have been, too.
    for _ in 0..3 {
        rest(&mut send(address, "").await).await;
    }
    world.enlist("worker").await;
    until(&mut stream, "agent.created").await;
    until(&mut waiting, "agent.created").await;
}

#[tokio::test]
async fn too_many_connections_are_refused_in_words() {
    let world = World::new();
    let address = listen(&world, ConnectionLimits { max_connections: 2, ..LIMITS }).await;
    let mut stream = send(address, &get("/api/events?stream=sse&after=now")).await;
    until(&mut stream, "event: head").await;
    let waiting = send(address, &get("/api/events?after=now&waitSeconds=240")).await;
    let mut idle = Vec::new();
    for _ in 0..2 {
        let mut socket = send(address, &get("/healthz")).await;
        until(&mut socket, "\"ok\"").await;
        idle.push(socket);
    }
    let refused = rest(&mut send(address, &get("/api/status")).await).await;
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    let body: Value = serde_json::from_str(refused.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(body["code"], "TRANSIENT_ERROR");
    assert_eq!(body["details"]["limit"], 2);
    assert_eq!(body["message"], "2 connections are open; the limit is 2");

    // Those that are there go on,
    idle[0].write_all(get("/api/status").as_bytes()).await.unwrap();
    until(&mut idle[0], "\"version\"").await;
    world.enlist("worker").await;
    until(&mut stream, "agent.created").await;
    // and one that leaves makes room.
    drop((idle, waiting));
    let again = async {
        loop {
            let mut socket = send(address, &get("/api/status")).await;
            if until(&mut socket, "\r\n").await.contains("200") {
                return;
            }
        }
    };
    timeout(PATIENCE, again).await.unwrap();
}
