//! Events over real sockets: the WebSocket, and many who watch while much happens.

use std::net::SocketAddr;

use axum::body::Body;
use futures_util::{SinkExt as _, StreamExt as _};
use http::header::{AUTHORIZATION, HOST, SEC_WEBSOCKET_PROTOCOL};
use http::{HeaderName, Method, Request, StatusCode};
use model::event::EventKind;
use serde_json::{Value, json};
use server::Server;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::{Response, generate_key};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_util::task::TaskTracker;

use crate::clean::remove_events;
use crate::events::write;
use crate::world::{OPERATOR, World, request};

pub(crate) const PROTOCOL: &str = "adjutant.events.v1";

/// The world's server on a port.
pub(crate) async fn listen(world: &World) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    TaskTracker::new().spawn(Server::new(world.app.clone()).serve(listener));
    address
}

pub(crate) type Socket = WebSocketStream<TcpStream>;

pub(crate) async fn connect(
    address: SocketAddr,
    path: &str,
    headers: &[(HeaderName, String)],
) -> Result<(Socket, Response), Error> {
    let mut request = Request::get(format!("ws://{address}{path}"))
        .header(HOST, address.to_string())
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", generate_key());
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let stream = TcpStream::connect(address).await.unwrap();
    tokio_tungstenite::client_async(request.body(()).unwrap(), stream).await
}

pub(crate) fn bearer() -> Vec<(HeaderName, String)> {
    vec![(AUTHORIZATION, format!("Bearer {OPERATOR}"))]
}

pub(crate) fn offered(names: &[&str]) -> Vec<(HeaderName, String)> {
    vec![(SEC_WEBSOCKET_PROTOCOL, names.join(", "))]
}

/// The next message that is text.
pub(crate) async fn next(socket: &mut Socket) -> Value {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Ping(_) | Message::Pong(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// With which code and reason the other side closes.
pub(crate) async fn closed(socket: &mut Socket) -> (u16, String) {
    loop {
        if let Message::Close(frame) = socket.next().await.unwrap().unwrap() {
            let frame = frame.unwrap();
            return (frame.code.into(), frame.reason.to_string());
        }
    }
}

/// With which status an opening is refused.
pub(crate) fn refused(opened: Result<(Socket, Response), Error>) -> u16 {
    match opened {
        Err(Error::Http(response)) => response.status().as_u16(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_websocket_tells_what_the_stream_tells() {
    let world = World::new();
    let address = listen(&world).await;
    write(&world, EventKind::NoteAdded, 2).await;
    write(&world, EventKind::MailSent, 1).await;
    let path = "/api/ws?after=1&kind=mail.*,note.added";
    let (mut socket, _) = connect(address, path, &bearer()).await.unwrap();
    let started = world.get("/api/status").await["startedAt"].clone();
    let head = json!({ "type": "head", "last": 3, "after": 1, "started": started });
    assert_eq!(next(&mut socket).await, head);
    let mut events = world.get("/api/events?after=1").await["events"].take();
    for event in events.as_array_mut().unwrap() {
        event["type"] = "event".into();
        assert_eq!(next(&mut socket).await, *event);
    }
    write(&world, EventKind::TaskCreated, 10_000).await;
    assert_eq!(next(&mut socket).await, json!({ "type": "seen", "last": 10_003 }));
    write(&world, EventKind::MailSent, 700).await;
    for number in 10_004..=10_703 {
        assert_eq!(next(&mut socket).await["number"], number);
    }
}

#[tokio::test]
async fn a_websocket_that_asks_for_removed_events_is_refused() {
    let world = World::new();
    let address = listen(&world).await;
    write(&world, EventKind::NoteAdded, 10).await;
    remove_events(&world).await;
    for path in ["/api/ws?after=0", "/api/ws?after=8"] {
        assert_eq!(refused(connect(address, path, &bearer()).await), 410, "{path}");
    }
    let (mut resumed, _) = connect(address, "/api/ws?after=9", &bearer()).await.unwrap();
    assert_eq!(next(&mut resumed).await["after"], 9);
    assert_eq!(next(&mut resumed).await["number"], 10);
}

#[tokio::test]
async fn a_browser_shows_its_token_among_the_protocols_and_it_is_not_said_back() {
    let world = World::new();
    let address = listen(&world).await;
    let token = format!("adjutant.token.{OPERATOR}");
    let names = offered(&[PROTOCOL, &token]);
    let (mut socket, response) = connect(address, "/api/ws", &names).await.unwrap();
    assert_eq!(response.headers()[SEC_WEBSOCKET_PROTOCOL], PROTOCOL);
    assert_eq!(next(&mut socket).await["type"], "head");
    // Nowhere else, and only one.
    let mut elsewhere = request(Method::GET, "/api/status", None, Body::empty());
    elsewhere.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, token.parse().unwrap());
    assert_eq!(world.send(elsewhere).await.status(), StatusCode::UNAUTHORIZED);
    for wrong in [vec![PROTOCOL], vec![PROTOCOL, "adjutant.token.x"], vec![&token, &token]] {
        assert_eq!(refused(connect(address, "/api/ws", &offered(&wrong)).await), 401, "{wrong:?}");
    }
    // What stands in the usual place counts, be it wrong.
    let both =
        [offered(&[PROTOCOL, &token]), vec![(AUTHORIZATION, "Bearer x".to_owned())]].concat();
    assert_eq!(refused(connect(address, "/api/ws", &both).await), 401);
}

#[tokio::test]
async fn who_may_not_watch_is_refused_before_the_socket_opens() {
    let world = World::new();
    let address = listen(&world).await;
    let worker = world.enlist("worker").await;
    let as_worker = vec![(AUTHORIZATION, format!("Bearer {}", worker.token))];
    assert_eq!(refused(connect(address, "/api/ws", &as_worker).await), 403);
    let foreign =
        [bearer(), vec![(http::header::ORIGIN, "http://evil.example".to_owned())]].concat();
    assert_eq!(refused(connect(address, "/api/ws", &foreign).await), 403);
    assert_eq!(refused(connect(address, "/api/ws?kind=x", &bearer()).await), 422);
    assert_eq!(refused(connect(address, "/api/ws?limit=1", &bearer()).await), 422);
    let plain = world.send(request(Method::GET, "/api/ws", Some(OPERATOR), Body::empty())).await;
    assert_eq!(plain.status(), StatusCode::UPGRADE_REQUIRED);
}

#[tokio::test]
async fn a_link_that_is_taken_back_closes_the_sockets_of_who_came_by_it() {
    let world = World::new();
    let address = listen(&world).await;
    let token = format!("adjutant.token.{}", world.visitor().await);
    let names = offered(&[PROTOCOL, &token]);
    let (mut socket, _) = connect(address, "/api/ws", &names).await.unwrap();
    assert_eq!(next(&mut socket).await["type"], "head");
    world.engine().link_revoke(None).await.unwrap();
    let (code, reason) = closed(&mut socket).await;
    assert_eq!((code, reason.as_str()), (1008, "the token is no longer valid"));
    assert_eq!(refused(connect(address, "/api/ws", &names).await), 401);
}

#[tokio::test(start_paused = true)]
async fn a_silent_socket_is_pinged_and_told_how_far_it_was_looked() {
    let world = World::new();
    let address = listen(&world).await;
    let (mut socket, _) = connect(address, "/api/ws?kind=mail.sent", &bearer()).await.unwrap();
    assert_eq!(next(&mut socket).await["type"], "head");
    assert!(matches!(socket.next().await.unwrap().unwrap(), Message::Ping(_)));
    write(&world, EventKind::NoteAdded, 3).await;
    assert_eq!(next(&mut socket).await, json!({ "type": "seen", "last": 3 }));
}

#[tokio::test]
async fn a_client_that_talks_back_is_told_why_it_is_closed() {
    let world = World::new();
    let address = listen(&world).await;
    for (message, code) in [
        (Message::text("{\"kind\":\"kill\"}"), 1008),
        (Message::binary(vec![1, 2, 3]), 1003),
        (Message::text("x".repeat(5000)), 1009),
    ] {
        let (mut socket, _) = connect(address, "/api/ws", &bearer()).await.unwrap();
        assert_eq!(next(&mut socket).await["type"], "head");
        socket.send(message).await.unwrap();
        let (found, reason) = closed(&mut socket).await;
        assert_eq!(found, code, "{reason}");
        assert!(!reason.is_empty());
    }
    let (mut socket, _) = connect(address, "/api/ws", &bearer()).await.unwrap();
    socket.send(Message::Ping(vec![7].into())).await.unwrap();
    while socket.next().await.unwrap().unwrap() != Message::Pong(vec![7].into()) {}
}

#[tokio::test]
async fn a_socket_hears_of_the_end_of_the_server_and_one_that_does_not_read_is_not_waited_for() {
    let world = World::new();
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = TaskTracker::new().spawn(Server::new(world.app.clone()).serve(listener));
    let (mut socket, _) = connect(address, "/api/ws?after=now", &bearer()).await.unwrap();
    let (_deaf, _) = connect(address, "/api/ws", &bearer()).await.unwrap();
    assert_eq!(next(&mut socket).await["type"], "head");
    write(&world, EventKind::NoteAdded, 60_000).await;
    world.app.shutdown.cancel();
    assert_eq!(closed(&mut socket).await.0, 1001);
    serving.await.unwrap().unwrap();
}

/// How many watch.
const WATCHERS: usize = 50;
/// How much happens.
const EVENTS: i64 = 30_000;

/// Opens a stream over a connection of its own, and reads nothing.
async fn watch(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "GET /api/events HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {OPERATOR}\r\n\
         Accept: text/event-stream\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// Reads until the last event has come; each must have come once and in order.
async fn read_all(mut stream: TcpStream) {
    let (mut text, mut next) = (Vec::new(), 1);
    let mut piece = vec![0; 64 * 1024];
    while next <= EVENTS {
        let many = stream.read(&mut piece).await.unwrap();
        assert!(many > 0, "it ended before {next}");
        text.extend_from_slice(&piece[..many]);
        let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let whole: Vec<u8> = text.drain(..end).collect();
        for line in String::from_utf8(whole).unwrap().lines() {
            if let Some(data) = line.strip_prefix("data: {\"number\":") {
                let number = data.split(',').next().unwrap();
                assert_eq!(number, next.to_string());
                next += 1;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_load_fifty_watchers_get_each_event_once_and_one_that_stops_holds_nobody_back() {
    let world = World::new();
    let address = listen(&world).await;
    let stopped = watch(address).await;
    let tasks = TaskTracker::new();
    let mut readers = Vec::new();
    for _ in 1..WATCHERS {
        readers.push(tasks.spawn(read_all(watch(address).await)));
    }
    for _ in 0..EVENTS / 100 {
        write(&world, EventKind::NoteAdded, 100).await;
    }
    for reader in readers {
        reader.await.unwrap();
    }
    read_all(stopped).await;
}
