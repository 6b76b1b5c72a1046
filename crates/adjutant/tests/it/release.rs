//! What `make release` makes packages of: a binary with the page inside, or none.

use std::path::Path;

use testkit::Http;

/// Serves a plain text where the page should be, as a build without npm does.
const WITHOUT_PAGE: &str = r#"#!/usr/bin/env python3
import http.server, os, sys

class Plain(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"This build has no page.\n")

if "init" in sys.argv:
    os.makedirs(".adjutant", exist_ok=True)
else:
    server = http.server.HTTPServer(("127.0.0.1", 0), Plain)
    print('{"url": "http://127.0.0.1:%d"}' % server.server_port, flush=True)
    server.serve_forever()
"#;

#[tokio::test]
async fn the_page_is_in_the_binary() {
    let world = crate::world().await;
    let server = world.up().await.unwrap();
    let (status, page) = Http::new(&server.url, "").get("/").await.unwrap();
    assert!(status.is_success());
    let page = page.as_str().unwrap().to_lowercase();
    assert!(page.starts_with("<!doctype html>") && page.contains("<script"), "{page}");
}

#[tokio::test]
async fn a_binary_without_a_page_is_not_released() {
    let mut world = crate::world().await;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let xtask = crate::book::xtask();
    let cargo = Path::new(env!("CARGO")).parent().unwrap().display().to_string();
    world.set("PATH", format!("{cargo}:/usr/local/bin:/usr/bin:/bin"));
    std::fs::write(world.project().join("plain"), WITHOUT_PAGE).unwrap();
    world.shell("chmod +x plain").await.unwrap().ok().unwrap();

    let package = format!(
        "plain=$PWD/plain; cd '{}' && '{}' package \"$plain\" {}-unknown-linux-gnu \"$TMPDIR/packages\"",
        root.display(),
        xtask.display(),
        std::env::consts::ARCH,
    );
    let refused = world.shell(&package).await.unwrap();

    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert!(refused.stdout.contains("there is no page in "), "{}", refused.stdout);
    assert!(!world.scratch().join("packages").exists());
}
