//! The listener of a host that serves many homes, in front of a real server: streams and web sockets by path, and hops.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::Body;
use http::{HeaderName, Method, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use model::Timestamp;
use model::event::EventKind;
use serde_json::json;
use server::{HomeRole, HomeWay, HomesGateway, HomesGatewayOptions, HomesProbe};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wire::hosts::HostStatus;

use super::following;
use crate::connections::LIMITS;
use crate::events::{Sse, ask, write};
use crate::sockets::{bearer, connect, listen, next};
use crate::world::{OPERATOR, PATIENCE, World, request, whole};

const FORWARDED: HeaderName = HeaderName::from_static("adjutant-forwarded");

/// A host with one home, `shop`.
struct Probe {
    shop: watch::Receiver<HomeRole>,
    is_inside: bool,
}

impl HomesProbe for Probe {
    fn way(&self, home: &str) -> Result<Option<HomeWay>, String> {
        match home {
            "shop" => Ok(Some(HomeWay { role: self.shop.clone(), is_inside: self.is_inside })),
            "early" => Err("the homes have not been read yet".to_owned()),
            _ => Ok(None),
        }
    }

    fn unready(&self) -> Option<String> {
        Some("PostgreSQL is away".to_owned())
    }

    fn status(&self) -> HostStatus {
        HostStatus {
            id: "ho_1".to_owned(),
            url: "http://crew-1:3000".to_owned(),
            pid: 1,
            version: "0.1.0".to_owned(),
            started_at: Timestamp::from_millis(0),
            leaving: false,
            problem: None,
            homes: Vec::new(),
            hosts: Vec::new(),
        }
    }

    fn metrics(&self) -> String {
        "adjutant_host_homes 0\n".to_owned()
    }
}

/// Where the server of a home is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On this host
    Inside,
    /// On another host
    Elsewhere,
}

struct Host {
    address: SocketAddr,
    client: Client<HttpConnector, Body>,
    /// Kept: a way that nobody can change any more is none
    _shop: watch::Sender<HomeRole>,
}

impl Host {
    /// A host whose home has a server at an address: one of its own, or that of another host.
    async fn of(server: SocketAddr, place: Place) -> Self {
        let is_inside = place == Place::Inside;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (shop, seen) = watch::channel(following(server));
        let options = HomesGatewayOptions {
            host_id: "ho_1".to_owned(),
            url: "http://crew-1:3000".to_owned(),
            own_url: format!("http://{address}"),
            version: "0.1.0".to_owned(),
            hosts: vec!["crew.example".to_owned()],
            token_hash: engine::hash_token("adjhost_test"),
            limits: LIMITS,
            probe: Arc::new(Probe { shop: seen, is_inside }),
        };
        let serving = HomesGateway::new(options).serve(listener, CancellationToken::new());
        TaskTracker::new().spawn(serving);
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { address, client, _shop: shop }
    }

    async fn send(&self, mut request: Request<Body>) -> Response<Body> {
        let uri: Uri = format!("http://{}{}", self.address, request.uri()).parse().unwrap();
        *request.uri_mut() = uri;
        let answer = timeout(PATIENCE, self.client.request(request)).await.unwrap().unwrap();
        answer.map(Body::new)
    }

    async fn get(&self, path: &str, token: &str) -> (StatusCode, serde_json::Value) {
        let (status, _, body) =
            whole(self.send(request(Method::GET, path, Some(token), Body::empty())).await).await;
        (status, body)
    }
}

#[tokio::test]
async fn streams_and_websockets_of_a_home_pass_by_path() {
    let world = World::new();
    let host = Host::of(listen(&world).await, Place::Inside).await;
    let mut stream = Sse::of(host.send(ask("/homes/shop/api/events", Some("0"))).await);
    assert_eq!(stream.next().await.unwrap().name, "head");
    let (mut socket, _) = connect(host.address, "/homes/shop/api/ws", &bearer()).await.unwrap();
    assert_eq!(next(&mut socket).await["type"], "head");
    for number in 1..=5 {
        write(&world, EventKind::NoteAdded, 1).await;
        let told = timeout(PATIENCE, stream.next()).await.unwrap().unwrap();
        assert_eq!(told.id, Some(number));
        assert_eq!(next(&mut socket).await["number"], number);
    }
}

#[tokio::test]
async fn a_forwarded_request_goes_to_a_server_of_this_host_and_to_no_other_host() {
    let world = World::new();
    let server = listen(&world).await;
    for (place, expected) in
        [(Place::Inside, StatusCode::OK), (Place::Elsewhere, StatusCode::SERVICE_UNAVAILABLE)]
    {
        let host = Host::of(server, place).await;
        assert_eq!(host.get("/homes/shop/api/status", OPERATOR).await.0, StatusCode::OK);
        let mut forwarded =
            request(Method::GET, "/homes/shop/api/status", Some(OPERATOR), Body::empty());
        forwarded.headers_mut().insert(FORWARDED, "ho_2".parse().unwrap());
        let (status, _, body) = whole(host.send(forwarded).await).await;
        assert_eq!(status, expected, "{body}");
    }
}

#[tokio::test]
async fn what_is_no_home_is_refused_and_what_is_not_known_yet_may_be_asked_for_again() {
    let world = World::new();
    let host = Host::of(listen(&world).await, Place::Inside).await;
    for (path, status, code) in [
        ("/homes/shop/api/status", 200, None),
        ("/homes/other/api/status", 404, Some("RESOURCE_NOT_FOUND")),
        ("/homes/early/api/status", 503, Some("NO_OWNER")),
        ("/homes/", 404, Some("RESOURCE_NOT_FOUND")),
        ("/api/status", 404, Some("RESOURCE_NOT_FOUND")),
        ("/status", 401, Some("UNAUTHENTICATED")),
        ("/metrics", 401, Some("UNAUTHENTICATED")),
        ("/healthz", 200, None),
        ("/readyz", 503, None),
    ] {
        let (answered, body) = host.get(path, OPERATOR).await;
        assert_eq!(answered.as_u16(), status, "{path}: {body}");
        if let Some(code) = code {
            assert_eq!(body["code"], json!(code), "{path}: {body}");
        }
    }
    let (status, body) = host.get("/status", "adjhost_test").await;
    assert_eq!((status.as_u16(), &body["id"]), (200, &json!("ho_1")));
    let (status, body) = host.get("/metrics", "adjhost_test").await;
    assert_eq!((status.as_u16(), body), (200, json!("adjutant_host_homes 0\n")));
    let posted = request(Method::POST, "/status", Some("adjhost_test"), Body::empty());
    let (status, _, _) = whole(host.send(posted).await).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
}
