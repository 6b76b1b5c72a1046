//! The official suite and foreign clients, through the production router with all its checks.

use testkit::Proxy;
use testkit::conformance::{self, SpecVersion};

use crate::world::{OPERATOR, World};

#[tokio::test]
async fn the_older_era_conforms() {
    conforms(SpecVersion::November2025).await;
}

#[tokio::test]
async fn the_newer_era_conforms() {
    conforms(SpecVersion::July2026).await;
}

async fn conforms(version: SpecVersion) {
    let world = World::new();
    let fixtures = conformance::handler();
    let address = world.listen("/mcp/conformance", move || fixtures.clone()).await;
    let proxy = Proxy::start(address, OPERATOR).await.unwrap();
    let report = conformance::run(&proxy.url("/mcp/conformance"), version).await.unwrap();
    assert_eq!(report.failures, 0, "{}", report.text);
    assert!(report.checks > 80, "{}", report.text);
    world.app.shutdown.cancel();
}
