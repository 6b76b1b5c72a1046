//! The fixtures satisfy the suite on `rmcp`'s own transport, so what fails elsewhere is not their fault.
#![expect(clippy::unwrap_used, reason = "tests")]

mod llm;

use std::net::Ipv4Addr;

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::transport::StreamableHttpServerConfig;
use testkit::conformance::{self, SpecVersion};
use testkit::{Client, Proxy, run_client};
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

#[tokio::test]
async fn the_older_era_passes() {
    passes(SpecVersion::November2025, 83).await;
}

#[tokio::test]
async fn the_newer_era_passes() {
    passes(SpecVersion::July2026, 153).await;
}

#[tokio::test]
async fn a_client_that_finds_no_server_says_so() {
    // A port that was free a moment ago.
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/mcp", nobody.local_addr().unwrap());
    drop(nobody);
    for client in Client::ALL {
        let output = run_client(client, ["--url", &url, "--token", "secret"], &[]).await.unwrap();
        assert_eq!(output.status.code(), Some(1), "{client:?}: {output:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{client:?}: {output:?}");
    }
}

async fn passes(version: SpecVersion, checks: u32) {
    let service = conformance::service(StreamableHttpServerConfig::default());
    let router = Router::new().nest_service("/mcp", service).layer(middleware::from_fn(guard));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let server = listener.local_addr().unwrap();
    TaskTracker::new().spawn(axum::serve(listener, router).into_future());

    let proxy = Proxy::start(server, "secret").await.unwrap();
    let report = conformance::run(&proxy.url("/mcp"), version).await.unwrap();
    assert_eq!((report.checks, report.failures), (checks, 0), "{}", report.text);
}

/// Lets nobody in without the token that the proxy adds.
async fn guard(request: Request, next: Next) -> Response {
    if request.headers().get(header::AUTHORIZATION).is_some_and(|value| value == "Bearer secret") {
        next.run(request).await
    } else {
        StatusCode::UNAUTHORIZED.into_response()
    }
}
