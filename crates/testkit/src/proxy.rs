//! A reverse proxy that adds a token, for programs that cannot send one.
//!
//! Everything else passes as it is, `Host` and `Origin` too: the server behind must still refuse a wrong one.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::{Authority, Scheme};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// A running proxy; it ends when this is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    _running: DropGuard,
}

impl Proxy {
    /// Starts a proxy on a free loopback port that passes every request on to `server` with this token.
    pub async fn start(server: SocketAddr, token: &str) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let forward = Forward {
            client: Client::builder(TokioExecutor::new()).build_http(),
            server: server.to_string().parse().map_err(io::Error::other)?,
            authorization: format!("Bearer {token}").parse().map_err(io::Error::other)?,
        };
        let router = Router::new().fallback(pass_on).with_state(forward);
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        // No graceful end: an open event stream would never let it finish.
        TaskTracker::new().spawn(async move {
            tokio::select! {
                () = stopped => Ok(()),
                ended = axum::serve(listener, router).into_future() => ended,
            }
        });
        Ok(Self { address, _running: stop.drop_guard() })
    }

    /// Returns the URL of a path behind the proxy.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

#[derive(Clone)]
struct Forward {
    client: Client<HttpConnector, Body>,
    server: Authority,
    authorization: HeaderValue,
}

async fn pass_on(State(forward): State<Forward>, mut request: Request) -> Response {
    let mut uri = std::mem::take(request.uri_mut()).into_parts();
    uri.scheme = Some(Scheme::HTTP);
    uri.authority = Some(forward.server);
    match Uri::from_parts(uri) {
        Ok(uri) => *request.uri_mut() = uri,
        Err(problem) => return (StatusCode::BAD_REQUEST, problem.to_string()).into_response(),
    }
    drop_connection_headers(request.headers_mut());
    request.headers_mut().insert(header::AUTHORIZATION, forward.authorization);
    match forward.client.request(request).await {
        Ok(mut response) => {
            drop_connection_headers(response.headers_mut());
            response.map(Body::new)
        }
        Err(problem) => (StatusCode::BAD_GATEWAY, problem.to_string()).into_response(),
    }
}

/// Removes what belongs to one connection and not to the message.
fn drop_connection_headers(headers: &mut HeaderMap) {
    for name in [header::CONNECTION, header::TRANSFER_ENCODING, header::UPGRADE] {
        headers.remove(name);
    }
}
