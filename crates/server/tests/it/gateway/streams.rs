//! What lasts: a stream, a WebSocket or a wait passes through a follower, under nobody's limits, and ends with
//! either side.

use axum::body::Body;
use futures_util::{SinkExt as _, StreamExt as _};
use http::header::SEC_WEBSOCKET_PROTOCOL;
use http::{HeaderName, Method};
use model::event::EventKind;
use serde_json::{Value, json};
use server::ConnectionLimits;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use super::{Peer, following, until_open};
use crate::connections::{LIMITS, get, rest, send, until};
use crate::events::{Sse, ask, write};
use crate::sockets::{PROTOCOL, bearer, closed, connect, listen, next, offered, refused};
use crate::world::{OPERATOR, PATIENCE, World, request};

#[tokio::test]
async fn events_pass_one_by_one_as_they_happen() {
    let world = World::new();
    let peer = Peer::following(listen(&world).await).await;
    write(&world, EventKind::NoteAdded, 3).await;
    let mut stream = Sse::of(peer.send(ask("/api/events", Some("2"))).await);
    let head = stream.next().await.unwrap();
    assert_eq!((head.name.as_str(), &head.data["after"]), ("head", &json!(2)));
    assert_eq!(stream.next().await.unwrap().id, Some(3));
    for number in 4..=20 {
        // The next one does not happen before this one has come.
        write(&world, EventKind::NoteAdded, 1).await;
        let told = timeout(PATIENCE, stream.next()).await.unwrap().unwrap();
        assert_eq!(told.id, Some(number));
    }
    world.app.shutdown.cancel();
    assert_eq!(
        timeout(PATIENCE, stream.next()).await.unwrap(),
        None,
        "it ends as the owner's does"
    );
}

#[tokio::test]
async fn a_websocket_passes_both_ways() {
    let world = World::new();
    let peer = Peer::following(listen(&world).await).await;
    let token = format!("adjutant.token.{OPERATOR}");
    let from_page: Vec<(HeaderName, String)> = [
        offered(&[PROTOCOL, &token]),
        vec![(http::header::ORIGIN, format!("http://{}", peer.address))],
    ]
    .concat();
    let (mut socket, opened) = connect(peer.address, "/api/ws", &from_page).await.unwrap();
    assert_eq!(opened.headers()[SEC_WEBSOCKET_PROTOCOL], PROTOCOL);
    assert_eq!(next(&mut socket).await["type"], "head");
    for number in 1..=20 {
        write(&world, EventKind::NoteAdded, 1).await;
        assert_eq!(next(&mut socket).await["number"], number);
        let ping = vec![u8::try_from(number).unwrap()];
        socket.send(Message::Ping(ping.clone().into())).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), Message::Pong(ping.into()));
    }
    socket.send(Message::text("{}")).await.unwrap();
    assert_eq!(closed(&mut socket).await.0, 1008, "what is sent reaches the owner");

    // The owner's end is heard as well.
    let (mut socket, _) = connect(peer.address, "/api/ws?after=now", &bearer()).await.unwrap();
    assert_eq!(next(&mut socket).await["type"], "head");
    world.app.shutdown.cancel();
    assert_eq!(closed(&mut socket).await.0, 1001);
}

#[tokio::test]
async fn a_websocket_is_refused_as_the_owner_refuses_it() {
    let world = World::new();
    let peer = Peer::following(listen(&world).await).await;
    let wrong = offered(&[PROTOCOL, "adjutant.token.x"]);
    assert_eq!(refused(connect(peer.address, "/api/ws", &wrong).await), 401);
    assert_eq!(refused(connect(peer.address, "/api/ws?kind=x", &bearer()).await), 422);
    let plain = request(Method::GET, "/api/ws", Some(OPERATOR), Body::empty());
    assert_eq!(peer.whole(plain).await.0, 426);
}

const WAIT: &str = "/api/events?kind=mail.sent&waitSeconds=240";

#[tokio::test]
async fn a_wait_lasts_until_there_is_something() {
    let world = World::new();
    let peer = Peer::following(listen(&world).await).await;
    let mut waiting = send(peer.address, &get(WAIT)).await;
    until_open(&world, 1).await;
    write(&world, EventKind::MailSent, 1).await;
    let answer = until(&mut waiting, "mail.sent").await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_request_at_the_owner() {
    let world = World::new();
    let peer = Peer::following(listen(&world).await).await;
    let waiting = send(peer.address, &get(WAIT)).await;
    until_open(&world, 1).await;
    drop(waiting);
    until_open(&world, 0).await;

    // A stream on which nothing happens: nothing but the end of the connection tells.
    let mut stream = Sse::of(peer.send(ask("/api/events?kind=mail.sent", None)).await);
    assert_eq!(stream.next().await.unwrap().name, "head");
    until_open(&world, 1).await;
    drop(stream);
    until_open(&world, 0).await;
}

#[tokio::test]
async fn a_request_that_the_owner_admitted_is_under_no_limit_of_the_follower() {
    let world = World::new();
    let soon = Duration::from_millis(50);
    let limits = ConnectionLimits { max_connections: 2, header_timeout: soon, body_timeout: soon };
    let peer = Peer::with_limits(following(listen(&world).await), limits).await;
    let mut stream = send(peer.address, &get("/api/events?stream=sse&kind=mail.sent")).await;
    until(&mut stream, "event: head").await;
    let (mut socket, _) = connect(peer.address, "/api/ws?after=now", &bearer()).await.unwrap();
    assert_eq!(next(&mut socket).await["type"], "head");
    let mut waiting = Vec::new();
    for many in 3..=4 {
        waiting.push(send(peer.address, &get(WAIT)).await);
        until_open(&world, many).await;
    }
    // Four connections do not count. By when one without a request has been closed, they would have been, too.
    for _ in 0..3 {
        assert_eq!(rest(&mut send(peer.address, "").await).await, "");
    }
    write(&world, EventKind::MailSent, 1).await;
    until(&mut stream, "mail.sent").await;
    assert_eq!(next(&mut socket).await["kind"], "mail.sent");
    for mut waiting in waiting {
        until(&mut waiting, "mail.sent").await;
    }
}

#[tokio::test]
async fn connections_count_while_they_carry_nothing_of_somebody_who_was_let_in() {
    let world = World::new();
    let limits = ConnectionLimits { max_connections: 2, ..LIMITS };
    let peer = Peer::with_limits(following(listen(&world).await), limits).await;
    let mut idle = Vec::new();
    for token in [OPERATOR, "wrong"] {
        let mut socket = send(peer.address, &get("/api/status").replace(OPERATOR, token)).await;
        until(&mut socket, "}").await;
        idle.push(socket);
    }
    let refused = rest(&mut send(peer.address, &get("/api/status")).await).await;
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    let body: Value = serde_json::from_str(refused.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(body["message"], "2 connections are open; the limit is 2");
    // Those that are there go on.
    idle[0].write_all(get("/api/agents").as_bytes()).await.unwrap();
    until(&mut idle[0], "\"agents\"").await;
}

#[tokio::test]
async fn a_follower_that_stops_ends_what_it_forwards() {
    let world = World::new();
    let peer = Peer::following(listen(&world).await).await;
    let mut stream = Sse::of(peer.send(ask("/api/events", None)).await);
    assert_eq!(stream.next().await.unwrap().name, "head");
    let (mut socket, _) = connect(peer.address, "/api/ws", &bearer()).await.unwrap();
    assert_eq!(next(&mut socket).await["type"], "head");
    let mut waiting = send(peer.address, &get(WAIT)).await;
    until_open(&world, 3).await;
    peer.shutdown.cancel();
    let answer = rest(&mut waiting).await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("this server stops"), "{answer}");
    assert_eq!(timeout(PATIENCE, stream.next()).await.unwrap(), None);
    assert!(!matches!(socket.next().await, Some(Ok(_))));
    peer.serving.await.unwrap().unwrap();
    // The owner goes on.
    assert_eq!(world.get("/api/agents").await["agents"], json!([]));
}
