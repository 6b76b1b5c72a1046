//! What a server is to its home: what it says of itself in each role, and how it goes from one to the next.

use axum::body::Body;
use http::{Method, StatusCode};
use model::event::EventKind;
use serde_json::{Value, json};
use server::HomeRole;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Peer, following, owning, until_open, waiting};
use crate::connections::{get, send, until};
use crate::events::{Sse, ask, write};
use crate::sockets::{bearer, closed, connect, listen, next};
use crate::world::{OLDER, OPERATOR, PATIENCE, World, request, whole};

fn suspended() -> HomeRole {
    HomeRole::Suspended { why: "PostgreSQL has been away for 6 s".to_owned() }
}

async fn plain(peer: &Peer, path: &str) -> (StatusCode, Value) {
    let answer = peer.whole(request(Method::GET, path, None, Body::empty())).await;
    (answer.0, answer.2)
}

#[tokio::test]
async fn health_is_about_the_process_and_readiness_about_its_home() {
    let world = World::new();
    let peer = Peer::new(waiting()).await;
    let ok =
        |role: &str| (StatusCode::OK, json!({ "status": "ok", "role": role, "version": "0.1.0" }));
    let unready = |reason: &str| {
        let body =
            json!({ "status": "unready", "reason": reason, "role": "waiting", "version": "0.1.0" });
        (StatusCode::SERVICE_UNAVAILABLE, body)
    };
    assert_eq!(plain(&peer, "/healthz").await, ok("waiting"));
    assert_eq!(plain(&peer, "/readyz").await, unready("PostgreSQL cannot be reached"));

    peer.role.send_replace(following(listen(&world).await));
    assert_eq!(plain(&peer, "/healthz").await, ok("follower"));
    assert_eq!(plain(&peer, "/readyz").await, ok("follower"));

    let (role, _drain) = owning(&world.app);
    peer.role.send_replace(role.clone());
    assert_eq!(plain(&peer, "/healthz").await, ok("owner"));
    assert_eq!(plain(&peer, "/readyz").await, ok("owner"));

    peer.role.send_replace(suspended());
    assert_eq!(plain(&peer, "/healthz").await, ok("waiting"));
    assert_eq!(plain(&peer, "/readyz").await, unready("PostgreSQL has been away for 6 s"));

    // An owner whose writer has ended is to be started again.
    peer.role.send_replace(role);
    world.engine().record().close().await;
    for path in ["/healthz", "/readyz"] {
        let (status, body) = plain(&peer, path).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{body}");
        let reason = "the database writer has stopped";
        let expected =
            json!({ "status": "unhealthy", "reason": reason, "role": "owner", "version": "0.1.0" });
        assert_eq!(body, expected);
    }
    for path in ["/healthz", "/readyz", "/metrics"] {
        peer.role.send_replace(waiting());
        let posted = request(Method::POST, path, None, Body::empty());
        let (status, _, body) = peer.whole(posted).await;
        assert_eq!(
            (status, &body["code"]),
            (StatusCode::METHOD_NOT_ALLOWED, &json!("INVALID_INPUT"))
        );
    }
}

#[tokio::test]
async fn a_server_with_a_home_of_its_own_is_ready_when_it_is_healthy() {
    let world = World::new();
    let ready = async || {
        let asked = request(Method::GET, "/readyz", None, Body::empty());
        whole(world.send(asked).await).await
    };
    let (status, _, body) = ready().await;
    assert_eq!((status, body), (StatusCode::OK, json!({ "status": "ok", "version": "0.1.0" })));
    world.engine().record().close().await;
    let (status, _, body) = ready().await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body["reason"], "the database writer has stopped");
}

#[tokio::test]
async fn without_an_owner_everything_else_is_refused_with_the_reason() {
    let peer = Peer::new(waiting()).await;
    for (role, why) in [
        (waiting(), "PostgreSQL cannot be reached"),
        (suspended(), "PostgreSQL has been away for 6 s"),
    ] {
        peer.role.send_replace(role);
        for (method, path) in [
            (Method::GET, "/"),
            (Method::GET, "/api/status"),
            (Method::POST, "/mcp"),
            (Method::POST, "/mcp/execute"),
            (Method::POST, "/api/login"),
        ] {
            let asked = request(method, path, Some(OPERATOR), Body::empty());
            let (status, headers, body) = peer.whole(asked).await;
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{path}: {body}");
            assert_eq!(headers["retry-after"], "1", "{path}");
            assert_eq!(body["code"], "NO_OWNER", "{path}");
            let message = format!("no server may answer for this home at the moment: {why}");
            assert_eq!(body["message"], message, "{path}");
        }
    }
}

#[tokio::test]
async fn metrics_are_the_servers_own_and_the_owner_adds_the_engines() {
    let world = World::new();
    let peer = Peer::new(waiting()).await;
    let metrics = async |token: Option<&str>| {
        peer.whole(request(Method::GET, "/metrics", token, Body::empty())).await
    };
    let owner = listen(&world).await;
    for role in [waiting(), suspended(), following(owner)] {
        peer.role.send_replace(role);
        let (status, headers, text) = metrics(Some(OPERATOR)).await;
        assert_eq!((status, text), (StatusCode::OK, json!("adjutant_owner 0\n")));
        assert_eq!(headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
        for token in [None, Some("wrong")] {
            let (status, headers, body) = metrics(token).await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{body}");
            assert_eq!(headers["www-authenticate"], "Bearer");
            assert_eq!(body["code"], "UNAUTHENTICATED");
        }
    }
    let (role, _drain) = owning(&world.app);
    peer.role.send_replace(role);
    let (status, headers, text) = metrics(Some(OPERATOR)).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let text = text.as_str().unwrap();
    assert!(text.contains("\nadjutant_agents_live 0\n"), "{text}");
    assert!(text.ends_with("\nadjutant_owner 0\n"), "{text}");
    assert_eq!(metrics(Some("wrong")).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_server_that_does_not_own_the_home_ends_by_itself_when_the_operator_asks() {
    let world = World::new();
    let owner = listen(&world).await;
    for role in [waiting(), suspended(), following(owner)] {
        let peer = Peer::new(role).await;
        let shutdown = async |method: Method, token: Option<&str>| {
            peer.whole(request(method, "/api/shutdown", token, Body::empty())).await.0
        };
        for token in [None, Some("wrong"), Some(OLDER)] {
            assert_eq!(shutdown(Method::POST, token).await, StatusCode::UNAUTHORIZED, "{token:?}");
        }
        assert_eq!(shutdown(Method::GET, Some(OPERATOR)).await, StatusCode::METHOD_NOT_ALLOWED);
        assert!(!peer.stop.is_cancelled());
        assert_eq!(shutdown(Method::POST, Some(OPERATOR)).await, StatusCode::ACCEPTED);
        assert!(peer.stop.is_cancelled() && !world.app.shutdown.is_cancelled());
    }
}

/// Sends a request on an open connection, and gives the answer's status and body.
async fn on(socket: &mut TcpStream, path: &str) -> (u16, Value) {
    socket.write_all(get(path).as_bytes()).await.unwrap();
    let head = until(socket, "\r\n\r\n").await;
    let line = |name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    };
    let mut body = vec![0; line("content-length").unwrap().parse().unwrap()];
    let read = tokio::io::AsyncReadExt::read_exact(socket, &mut body);
    timeout(PATIENCE, read).await.unwrap().unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn a_change_counts_for_the_next_request_on_an_open_connection() {
    let (one, two) = (World::new(), World::new());
    let peer = Peer::following(listen(&one).await).await;
    let mut socket = send(peer.address, "").await;
    let home = |world: &World| json!(world.project().display().to_string());
    for _ in 0..2 {
        let (status, body) = on(&mut socket, "/api/status").await;
        assert_eq!((status, &body["home"]), (200, &home(&one)));
        let (role, _drain) = owning(&two.app);
        peer.role.send_replace(role);
        let (status, body) = on(&mut socket, "/api/status").await;
        assert_eq!((status, &body["home"]), (200, &home(&two)));
        peer.role.send_replace(suspended());
        let (status, body) = on(&mut socket, "/api/status").await;
        assert_eq!((status, &body["code"]), (503, &json!("NO_OWNER")));
        peer.role.send_replace(following(listen(&one).await));
    }
}

#[tokio::test]
async fn what_an_owner_has_begun_it_ends_when_it_is_drained() {
    let (one, two) = (World::new(), World::new());
    let (role, drain) = owning(&one.app);
    let peer = Peer::new(role).await;
    let mut waits = send(peer.address, &get("/api/events?kind=mail.sent&waitSeconds=240")).await;
    until_open(&one, 1).await;
    let mut stream = Sse::of(peer.send(ask("/api/events", None)).await);
    assert_eq!(stream.next().await.unwrap().name, "head");
    let (mut socket, _) = connect(peer.address, "/api/ws", &bearer()).await.unwrap();
    assert_eq!(next(&mut socket).await["type"], "head");

    // Another takes the home: what is asked now is for the other, what was begun goes on.
    peer.role.send_replace(following(listen(&two).await));
    let home = peer.get("/api/status").await.1["home"].clone();
    assert_eq!(home, two.project().display().to_string());
    write(&one, EventKind::NoteAdded, 1).await;
    assert_eq!(stream.next().await.unwrap().id, Some(1));
    assert_eq!(next(&mut socket).await["number"], 1);

    let ((), (), last, code) = tokio::join!(
        drain.finish(),
        async {
            let answer = until(&mut waits, "\"events\":[]").await;
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        },
        timeout(PATIENCE, stream.next()),
        closed(&mut socket),
    );
    assert_eq!((last.unwrap(), code.0), (None, 1001));
    assert!(one.app.shutdown.is_cancelled());
    // Nothing of it is used any more.
    one.engine().record().close().await;
    assert_eq!(peer.get("/api/status").await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_drain_waits_for_what_is_still_answered() {
    let world = World::new();
    let (role, drain) = owning(&world.app);
    let peer = Peer::new(role).await;
    let (mut release, held) = tokio::io::duplex(64);
    let body = Body::from_stream(futures_util::stream::unfold(held, async |mut held| {
        let mut piece = vec![0; 64];
        let read = tokio::io::AsyncReadExt::read(&mut held, &mut piece).await.ok()?;
        piece.truncate(read);
        (read > 0).then_some((Ok::<_, std::io::Error>(piece), held))
    }));
    release.write_all(b"{\"toolName\":\"mcp__system__log_decision\",").await.unwrap();
    let asked = peer.whole(request(Method::POST, "/mcp/execute", Some(OPERATOR), body));
    let rest = async {
        until_open(&world, 1).await;
        world.app.shutdown.cancelled().await;
        release.write_all(b"\"input\":{\"title\":\"t\",\"body\":\"b\"}}").await.unwrap();
        drop(release);
    };
    let finished = async {
        until_open(&world, 1).await;
        drain.finish().await;
        // It has been answered by now, so that its effect is there.
        let log = world.get("/api/audit?tool=mcp__system__log_decision").await;
        assert_eq!(log["rows"].as_array().unwrap().len(), 1, "{log}");
    };
    let ((status, _, body), (), ()) = tokio::join!(asked, rest, finished);
    assert_eq!(status, StatusCode::OK, "{body}");
}
