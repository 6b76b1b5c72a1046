//! The official suite, through the production router with all its checks.

use testkit::Proxy;
use testkit::conformance::{self, SpecVersion};

use crate::world::{OPERATOR, World};

#[tokio::test]
async fn the_older_era_conforms() {
    conforms(SpecVersion::November2025, 83).await;
}

#[tokio::test]
async fn the_newer_era_conforms() {
    // One fewer than with streams only: where the answer is plain JSON, the suite checks none of them.
    conforms(SpecVersion::July2026, 152).await;
}

async fn conforms(version: SpecVersion, checks: u32) {
    let world = World::new();
    let fixtures = conformance::handler();
    let (address, served) = world.listen("/mcp/conformance", move || fixtures.clone()).await;
    let proxy = Proxy::start(address, OPERATOR).await.unwrap();
    let report = conformance::run(&proxy.url("/mcp/conformance"), version).await.unwrap();
    assert_eq!((report.checks, report.failures), (checks, 0), "{}", report.text);
    world.app.shutdown.cancel();
    served.await.unwrap().unwrap();
}
