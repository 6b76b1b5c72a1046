//! Requests that a follower does not forward, and requests whose owner does not answer.

use std::net::SocketAddr;

use axum::body::Body;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use server::{App, HomeRole, Server};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::{Peer, decision, execute, following, waiting};
use crate::connections::{get, rest, send, until};
use crate::sockets::listen;
use crate::world::{OPERATOR, PATIENCE, World, request};

/// An address at which nobody listens.
async fn nobody() -> SocketAddr {
    TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap()
}

/// A listener in place of an owner: the test says what it does with the one connection that it gets.
async fn stand_in() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// The connection by which a request has come, read as far as this text.
async fn request_at(listener: &TcpListener, end: &str) -> (TcpStream, String) {
    let (mut socket, _) = timeout(PATIENCE, listener.accept()).await.unwrap().unwrap();
    let head = until(&mut socket, end).await;
    (socket, head)
}

fn from(method: Method, host: &str, origin: Option<&str>) -> Request<Body> {
    let mut request = request(method, "/api/agents", Some(OPERATOR), Body::empty());
    request.headers_mut().insert("host", host.parse().unwrap());
    if let Some(origin) = origin {
        request.headers_mut().insert("origin", origin.parse().unwrap());
    }
    request
}

#[tokio::test]
async fn host_and_origin_are_checked_before_anything_is_forwarded() {
    // Whatever is forwarded is answered 503.
    let peer = Peer::following(nobody().await).await;
    let own = peer.address.to_string();
    for (host, origin, may) in [
        ("evil.example", None, false),
        ("localhost.evil.example", None, false),
        (own.as_str(), None, true),
        ("crew.example", None, true),
        ("crew.example", Some("https://crew.example"), true),
        ("crew.example", Some(peer.url().as_str()), true),
        ("crew.example", Some("https://evil.example"), false),
        (own.as_str(), Some("null"), false),
        (own.as_str(), Some("http://localhost:1"), false),
    ] {
        for path in ["/api/agents", "/healthz", "/readyz", "/metrics"] {
            let mut asked = from(Method::GET, host, origin);
            *asked.uri_mut() = path.parse().unwrap();
            let (status, _, body) = peer.whole(asked).await;
            let refused = status == StatusCode::FORBIDDEN;
            assert_eq!(!refused, may, "{path} {host} {origin:?}: {status} {body}");
            assert!(!refused || body["code"] == "PERMISSION_DENIED", "{body}");
        }
    }
    let (_, _, body) = peer.whole(from(Method::GET, "crew.example", None)).await;
    assert_eq!(body["code"], "NO_OWNER", "{body}");
}

#[tokio::test]
async fn what_a_follower_accepts_the_owner_accepts_from_it() {
    let world = World::new();
    let app = App { hosts: Vec::new(), ..world.app.clone() };
    let (listener, owner) = stand_in().await;
    TaskTracker::new().spawn(Server::new(app).serve(listener));
    let peer = Peer::following(owner).await;
    let public = || from(Method::GET, "crew.example", Some("https://crew.example"));
    let (status, _, body) = peer.whole(public()).await;
    assert_eq!((status, &body["agents"]), (StatusCode::OK, &json!([])));
    // The owner itself does not go by that name.
    let mut direct = public();
    *direct.uri_mut() = format!("http://{owner}/api/agents").parse().unwrap();
    let answer = timeout(PATIENCE, peer.client.request(direct)).await.unwrap().unwrap();
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_owner_gets_the_request_as_it_came_but_for_its_names() {
    let (listener, owner) = stand_in().await;
    let peer = Peer::following(owner).await;
    let mut socket = send(
        peer.address,
        "PUT /some/path?q=%2F&x HTTP/1.1\r\nHost: crew.example\r\nOrigin: http://crew.example\r\n\
         Authorization: Bearer x\r\nMcp-Session-Id: s\r\nIdempotency-Key: k\r\nLast-Event-ID: 7\r\n\
         Connection: close, X-Private\r\nX-Private: 1\r\nTE: trailers\r\nContent-Length: 4\r\n\r\nbody",
    )
    .await;
    let (mut at_owner, head) = request_at(&listener, "body").await;
    let lines: Vec<String> = head.lines().map(str::to_ascii_lowercase).collect();
    for line in [
        "put /some/path?q=%2f&x http/1.1".to_owned(),
        format!("host: {owner}"),
        format!("origin: http://{owner}"),
        "authorization: bearer x".to_owned(),
        "mcp-session-id: s".to_owned(),
        "idempotency-key: k".to_owned(),
        "last-event-id: 7".to_owned(),
        "content-length: 4".to_owned(),
        "adjutant-forwarded: sv_peer".to_owned(),
    ] {
        assert!(lines.contains(&line), "{line} is not in {head}");
    }
    for name in ["connection:", "x-private:", "te:"] {
        assert!(!lines.iter().any(|line| line.starts_with(name)), "{name} is in {head}");
    }
    at_owner
        .write_all(
            b"HTTP/1.1 299 Odd\r\nX-Own: 1\r\nKeep-Alive: 5\r\nConnection: x-hop\r\nX-Hop: 1\r\n\
              Content-Length: 2\r\n\r\nok",
        )
        .await
        .unwrap();
    let answer = rest(&mut socket).await.to_ascii_lowercase();
    assert!(answer.starts_with("http/1.1 299") && answer.ends_with("\r\n\r\nok"), "{answer}");
    assert!(answer.contains("x-own: 1"), "{answer}");
    assert!(!answer.contains("keep-alive:") && !answer.contains("x-hop"), "{answer}");
}

fn assert_no_owner(status: StatusCode, headers: &http::HeaderMap, body: &Value) {
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{body}");
    assert_eq!(headers["retry-after"], "1", "{body}");
    assert_eq!(body["code"], "NO_OWNER", "{body}");
}

#[tokio::test]
async fn a_request_is_forwarded_once() {
    let world = World::new();
    // Each takes the other for the owner.
    let one = Peer::new(waiting()).await;
    let two = Peer::following(one.address).await;
    one.role.send_replace(following(two.address));
    for peer in [&one, &two] {
        let (status, headers, body) = peer.whole(execute(decision("x").to_string())).await;
        assert_no_owner(status, &headers, &body);
        let message = "this server received a forwarded request and does not own the home";
        assert_eq!(body["message"], message);
    }
    // One that takes itself for another asks nobody.
    one.role.send_replace(following(one.address));
    let (status, headers, body) = one.whole(execute(decision("x").to_string())).await;
    assert_no_owner(status, &headers, &body);
    // An owner answers whatever was forwarded to it.
    let mut forwarded = from(Method::GET, "localhost", None);
    forwarded.headers_mut().insert("adjutant-forwarded", "sv_x".parse().unwrap());
    assert_eq!(world.send(forwarded).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn an_owner_that_is_gone_takes_no_request() {
    let peer = Peer::new(waiting()).await;
    let (silent, address) = stand_in().await;
    for role in [
        following(nobody().await),
        // One that is connected to and says no more: a certificate never comes.
        HomeRole::Following { owner_url: format!("https://{address}") },
        HomeRole::Following { owner_url: "no address".to_owned() },
    ] {
        peer.role.send_replace(role);
        let (status, headers, body) = peer.whole(execute(decision("x").to_string())).await;
        assert_no_owner(status, &headers, &body);
        assert_eq!(
            body["message"],
            "the owner of this home cannot be reached; it is being replaced"
        );
        assert_eq!(body["suggestions"], json!(["try again in a second"]));
        assert_eq!(body["details"]["outcome"], "none");
    }
    drop(silent);
}

#[tokio::test]
async fn an_owner_that_was_started_again_is_asked_over_a_new_connection() {
    let worlds = [World::new(), World::new(), World::new()];
    let (listener, owner) = stand_in().await;
    drop(listener);
    let peer = Peer::following(owner).await;
    for world in &worlds {
        let listener = TcpListener::bind(owner).await.unwrap();
        let serving = TaskTracker::new().spawn(Server::new(world.app.clone()).serve(listener));
        for _ in 0..2 {
            let (status, _, body) = peer.whole(execute(decision("x").to_string())).await;
            assert_eq!(status, StatusCode::OK, "{body}");
        }
        world.app.shutdown.cancel();
        serving.await.unwrap().unwrap();
    }
    let (status, headers, body) = peer.whole(execute(decision("x").to_string())).await;
    assert_no_owner(status, &headers, &body);
    assert_eq!(body["details"]["outcome"], "none");
}

/// Has the owner break the connection once the request has come, and gives the answer.
async fn broken(request: Request<Body>, end: &str) -> Value {
    let (listener, owner) = stand_in().await;
    let peer = Peer::following(owner).await;
    let answered = peer.whole(request);
    let broken = async { drop(request_at(&listener, end).await) };
    let ((status, headers, body), ()) = tokio::join!(answered, broken);
    assert_no_owner(status, &headers, &body);
    let message = body["message"].as_str().unwrap();
    assert!(message.starts_with("the owner of this home broke the connection"), "{message}");
    body
}

#[tokio::test]
async fn a_request_whose_outcome_is_unknown_says_so() {
    let call = decision("x").to_string();
    let body = broken(execute(call.clone()), &call).await;
    assert_eq!(body["details"]["outcome"], "unknown");
    assert!(body["message"].as_str().unwrap().ends_with("the outcome is unknown"), "{body}");
    assert_eq!(body["suggestions"][0], "look whether it took effect before you send it again");

    let mut keyed = execute(call.clone());
    keyed.headers_mut().insert("idempotency-key", "k".parse().unwrap());
    let body = broken(keyed, &call).await;
    assert_eq!(body["details"]["outcome"], "unknown");
    let again = "send the request again with the same `Idempotency-Key`: it takes effect once";
    assert_eq!(body["suggestions"], json!([again]));

    let body = broken(from(Method::GET, "localhost", None), "\r\n\r\n").await;
    assert_eq!(body["suggestions"], json!(["try again in a second"]));
}

#[tokio::test]
async fn an_answer_that_breaks_off_does_not_look_whole() {
    let (listener, owner) = stand_in().await;
    let peer = Peer::following(owner).await;
    let half = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n";
    let answered = peer.send(from(Method::GET, "localhost", None));
    let breaks = async {
        let (mut at_owner, _) = request_at(&listener, "\r\n\r\n").await;
        at_owner.write_all(half.as_bytes()).await.unwrap();
        at_owner
    };
    let (answer, at_owner) = tokio::join!(answered, breaks);
    let mut body = answer.into_body();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "hello");
    drop(at_owner);
    assert!(timeout(PATIENCE, body.frame()).await.unwrap().unwrap().is_err());
}

/// Sends a request to an owner that hangs, and gives the connection to that owner.
async fn hanging(peer: &Peer, listener: &TcpListener, path: &str) -> (TcpStream, TcpStream) {
    let client = send(peer.address, &get(path)).await;
    let (at_owner, _) = request_at(listener, "\r\n\r\n").await;
    (client, at_owner)
}

#[tokio::test]
async fn an_owner_that_hangs_is_waited_for_until_another_has_taken_the_home() {
    let world = World::new();
    let (listener, frozen) = stand_in().await;
    let peer = Peer::following(frozen).await;
    let (mut asked, _one) = hanging(&peer, &listener, "/api/agents").await;
    let (mut hears, mut two) = hanging(&peer, &listener, "/api/events").await;
    let (mut reads, mut three) = hanging(&peer, &listener, "/api/audit").await;
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: ";
    two.write_all(format!("{head}text/event-stream\r\n\r\n3\r\n:\n\n\r\n").as_bytes())
        .await
        .unwrap();
    until(&mut hears, ":\n\n").await;
    three.write_all(format!("{head}application/json\r\n\r\n1\r\n[\r\n").as_bytes()).await.unwrap();
    until(&mut reads, "[").await;

    // As long as nobody else is known to own the home, the owner may only be slow.
    peer.role.send_replace(waiting());
    peer.role.send_replace(following(listen(&world).await));
    let (status, _) = peer.get("/api/agents").await;
    assert_eq!(status, StatusCode::OK, "the new one is asked at once");
    let answer = until(&mut asked, "}").await;
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(answer.contains("the owner of this home was replaced before it answered"), "{answer}");
    // A stream ends; anything else breaks off, so that half of it is not taken for the whole.
    until(&mut hears, "0\r\n\r\n").await;
    assert!(!rest(&mut reads).await.contains("0\r\n\r\n"));
}
