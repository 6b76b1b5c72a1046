//! One listener for many homes: a request names its home by path, as `/homes/shop/…`, or by host, as
//! `shop.localhost`, and goes to the server of that home on this host, or to the host that owns it.
//!
//! Programs use the path, which needs no name service. The page is asked for by host: so each home is an origin of its
//! own to the browser, and what one home shows can never act in another. A browser that asks by path is sent there.
//!
//! `/healthz`, `/readyz`, `/metrics`, `/status` and the proof of who it is are about this host.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use engine::ToolError;
use http::header::{CONTENT_TYPE, LOCATION};
use http::uri::{PathAndQuery, Uri};
use http::{Method, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use wire::hosts::HostStatus;
use wire::server::{HealthStatus, ServerHealth, ServerProof};

use super::HomeRole;
use super::forward::{Forwarder, Next};
use super::headers::FORWARDED;
use super::no_owner::NoOwner;
use crate::answer::{Answer, Refusal};
use crate::auth::{token_of, unauthenticated};
use crate::connections::{self, ConnectionLimits};
use crate::guard::{Guard, authority, host_of};
use crate::metrics::METRICS_TYPE;
use crate::page;
use crate::paths::{HEALTH, METRICS, READY};
use crate::proof::{PROOF, ProofQuery};
use crate::server::wrong_method;

/// Path of this host's homes.
const HOMES: &str = "/homes/";
/// Path of the status of this host.
const STATUS: &str = "/status";

/// Way to a home at a moment.
#[derive(Debug, Clone)]
pub struct HomeWay {
    /// Where requests go: [`HomeRole::Following`], or why they go nowhere
    pub role: watch::Receiver<HomeRole>,
    /// True if that is a server of this host
    pub is_inside: bool,
}

/// Facts that only the rest of the program knows.
pub trait HomesProbe: Send + Sync {
    /// The way to the home of that name; nothing if there is no such home, and an error if nobody can know yet.
    fn way(&self, home: &str) -> Result<Option<HomeWay>, String>;

    /// Why this host cannot answer for its homes, if it cannot.
    fn unready(&self) -> Option<String>;

    /// Status of the host.
    fn status(&self) -> HostStatus;

    /// Metrics of the host, in Prometheus text format.
    fn metrics(&self) -> String;
}

/// Options of a gateway of many homes.
#[derive(Clone)]
pub struct HomesGatewayOptions {
    /// Id of this host, which requests that it forwards carry
    pub host_id: String,
    /// Where other hosts reach this one, without a slash at the end
    pub url: String,
    /// Where this machine reaches it
    pub own_url: String,
    /// Version
    pub version: String,
    /// Names beside loopback's under which this host may be asked for
    pub hosts: Vec<String>,
    /// Hash of the token that status and metrics need
    pub token_hash: String,
    /// Bounds on connections
    pub limits: ConnectionLimits,
    /// Facts that only the rest of the program knows
    pub probe: Arc<dyn HomesProbe>,
}

impl fmt::Debug for HomesGatewayOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HomesGatewayOptions").field("url", &self.url).finish_non_exhaustive()
    }
}

/// The listener of a host that serves many homes.
#[derive(Debug)]
pub struct HomesGateway(Arc<Face>);

/// State shared by all requests.
struct Face {
    guard: Guard,
    options: HomesGatewayOptions,
    forwarder: Forwarder,
}

impl fmt::Debug for Face {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Face").field("options", &self.options).finish_non_exhaustive()
    }
}

impl HomesGateway {
    /// A gateway. It must be made inside a runtime.
    pub fn new(options: HomesGatewayOptions) -> Self {
        let guard = Guard::new(&options.hosts, &options.url);
        let forwarder = Forwarder::new(&options.host_id);
        Self(Arc::new(Face { guard, options, forwarder }))
    }

    /// Serves until told to shut down: then what is forwarded has a moment to be answered.
    pub async fn serve(self, listener: TcpListener, shutdown: CancellationToken) -> io::Result<()> {
        let Self(face) = self;
        let router = Router::new().fallback(answer).with_state(Arc::clone(&face));
        let serving = connections::serve(listener, router, face.options.limits, shutdown.clone());
        let serving = connections::until_shutdown(serving, &shutdown);
        tokio::join!(serving, face.forwarder.end_after(&shutdown));
        Ok(())
    }
}

async fn answer(State(face): State<Arc<Face>>, request: Request) -> Response {
    let (uri, headers) = (request.uri(), request.headers());
    if let Some(problem) = face.guard.refuse_labelled(uri, headers) {
        return Refusal::from(ToolError::denied(problem)).into_response();
    }
    if let Some(label) = face.guard.label(uri, headers) {
        let home = label.to_ascii_lowercase();
        return face.ask_home(&home, request).await;
    }
    let Some((home, rest)) = below_homes(uri) else { return face.own(request).await };
    let home = home.to_owned();
    let Some(rest) = rest else {
        let error = ToolError::not_found(format!("there is nothing at `{uri}`"));
        return Refusal::from(error).into_response();
    };
    if let Some(elsewhere) = page_elsewhere(&home, &rest, &request) {
        return elsewhere.unwrap_or_else(Refusal::into_response);
    }
    let mut request = request;
    *request.uri_mut() = rest;
    face.ask_home(&home, request).await
}

/// The home that a path names, and the rest of the address, unless that is none.
fn below_homes(uri: &Uri) -> Option<(&str, Option<Uri>)> {
    let path = uri.path_and_query().map_or("", PathAndQuery::as_str).strip_prefix(HOMES)?;
    let end = path.find(['/', '?']).unwrap_or(path.len());
    let (home, rest) = path.split_at(end);
    if home.is_empty() {
        return None;
    }
    let rest = if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") };
    Some((home, rest.parse().ok()))
}

/// Sends a browser that asks for the page by path to the name under which the home is an origin of its own.
fn page_elsewhere(home: &str, rest: &Uri, request: &Request) -> Option<Answer<Response>> {
    // Another host sends on what a browser asked it for by name.
    let is_page = *request.method() == Method::GET
        && !request.headers().contains_key(FORWARDED)
        && is_host_label(home)
        && page::takes_html(request.headers())
        && !["/api", "/mcp"].iter().any(|path| rest.path().starts_with(path));
    if !is_page {
        return None;
    }
    let authority = authority(request.uri(), request.headers())?;
    let host = host_of(authority)?;
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    let port = port.filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = match host.parse::<IpAddr>() {
        Ok(address) if address.is_loopback() => "localhost",
        Ok(_) => {
            let error = ToolError::not_found("a home's page needs a name of its own")
                .hint(format!("ask for `{home}.NAME`, where NAME is a name of this host"))
                .hint("name it with `adjutant serve --allow-host NAME`");
            return Some(Err(error.into()));
        }
        Err(_) => host,
    };
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    let to = format!("//{home}.{name}{port}{rest}");
    Some(Ok((StatusCode::TEMPORARY_REDIRECT, [(LOCATION, to)]).into_response()))
}

/// True for what may stand in front of a host's name: as every name of a home, and nothing that leads elsewhere.
fn is_host_label(home: &str) -> bool {
    home.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

impl Face {
    /// Has the server of a home answer a request.
    async fn ask_home(&self, home: &str, request: Request) -> Response {
        let nobody =
            |why: String| Refusal::from(ToolError::from(NoOwner::Nobody(why))).into_response();
        let way = match self.options.probe.way(home) {
            Ok(Some(way)) => way,
            Ok(None) => {
                let error = ToolError::not_found(format!("there is no home `{home}` here"))
                    .hint("`adjutant home list` lists the homes of a PostgreSQL");
                return Refusal::from(error).into_response();
            }
            Err(why) => return nobody(why),
        };
        let role = way.role.borrow().clone();
        match role {
            HomeRole::Following { owner_url } => {
                let next =
                    if way.is_inside { Next::Inside(owner_url) } else { Next::Owner(owner_url) };
                Box::pin(self.forwarder.forward(next, way.role, request)).await
            }
            HomeRole::Waiting { why } | HomeRole::Suspended { why } => nobody(why),
            HomeRole::Owning(_) => nobody("it is being started".to_owned()),
        }
    }

    /// Answers what is asked of the host itself.
    async fn own(&self, request: Request) -> Response {
        let path = request.uri().path();
        if let HEALTH | READY | METRICS | PROOF | STATUS = path {
            if !matches!(*request.method(), Method::GET | Method::HEAD) {
                return wrong_method(request).await;
            }
            return self.about(&request).unwrap_or_else(Refusal::into_response);
        }
        let error = ToolError::not_found(format!("there is nothing at `{path}` of this host"))
            .hint("a home is at `/homes/NAME`; `adjutant home list` has their names");
        Refusal::from(error).into_response()
    }

    fn about(&self, request: &Request) -> Answer<Response> {
        let HomesGatewayOptions { own_url, version, probe, token_hash, .. } = &self.options;
        match request.uri().path() {
            METRICS => {
                self.admit(request)?;
                Ok(([(CONTENT_TYPE, METRICS_TYPE)], probe.metrics()).into_response())
            }
            STATUS => {
                self.admit(request)?;
                Ok(Json(probe.status()).into_response())
            }
            PROOF => {
                let asked = Query::<ProofQuery>::try_from_uri(request.uri()).map(|asked| asked.0);
                let ProofQuery { key, nonce } = asked.unwrap_or_default();
                let proof = engine::proof::prove_operator(token_hash, &key, &nonce, own_url)?;
                let (url, version) = (own_url.clone(), version.clone());
                Ok(Json(ServerProof { url, version, proof }).into_response())
            }
            READY => Ok(self.health(probe.unready())),
            _ => Ok(self.health(None)),
        }
    }

    /// Refuses a request without the token of this host.
    fn admit(&self, request: &Request) -> Answer<()> {
        let is_known = |token: &str| engine::hash_token(token) == self.options.token_hash;
        if token_of(request).is_some_and(is_known) {
            return Ok(());
        }
        Err(unauthenticated()
            .hint("the token of a host is in the file `token` of its state folder")
            .into())
    }

    fn health(&self, reason: Option<String>) -> Response {
        let (code, status) = match reason {
            None => (StatusCode::OK, HealthStatus::Ok),
            Some(_) => (StatusCode::SERVICE_UNAVAILABLE, HealthStatus::Unready),
        };
        let version = self.options.version.clone();
        (code, Json(ServerHealth { status, reason, role: None, version })).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_the_home_and_what_is_asked_of_it() {
        for (path, home, rest) in [
            ("/homes/shop", "shop", "/"),
            ("/homes/shop/", "shop", "/"),
            ("/homes/shop?x=1", "shop", "/?x=1"),
            ("/homes/shop/api/events?after=1", "shop", "/api/events?after=1"),
            ("/homes/a.b/homes/c", "a.b", "/homes/c"),
        ] {
            let uri: Uri = path.parse().unwrap();
            let (named, asked) = below_homes(&uri).unwrap();
            assert_eq!((named, asked.unwrap().to_string().as_str()), (home, rest), "{path}");
        }
        for home in ["evil.example\\", "a@evil.example", "a:80", "a%2f"] {
            assert!(!is_host_label(home), "{home}");
        }
        for path in ["/", "/homes", "/homes/", "/homes//api", "/homeshop", "/home"] {
            assert!(below_homes(&path.parse().unwrap()).is_none(), "{path}");
        }
    }
}
