//! Clients that others wrote, each telling the same story to the real server: list, call, structured
//! result, error, progress, cancel, resource subscription.

use testkit::{Client, World, run_client};

const MODERN: &[&str] = &["--era", "modern"];
const LEGACY: &[&str] = &["--era", "legacy"];

/// A server whose waiting calls report often enough for a story of seconds.
async fn lively() -> World {
    let mut world = crate::world().await;
    world.set("ADJUTANT_MCP_PROGRESS_INTERVAL", "200");
    world
}

async fn tell(client: Client, arguments: &[&str], world: &World) {
    let folder = world.project().display().to_string();
    let state = world.state().display().to_string();
    let environment = [("ADJUTANT_HOME", folder.as_str()), ("XDG_STATE_HOME", state.as_str())];
    let output = run_client(client, arguments, &environment).await.unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{client:?} {arguments:?}\n{stdout}\n{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_clients_over_http_hear_the_whole_story() {
    let world = lively().await;
    let server = world.up().await.unwrap();
    let url = format!("{}/mcp", server.url);
    let token = world.operator().await.unwrap();
    let over_http = ["--url", &url, "--token", &token];
    for (client, eras) in [
        (Client::PythonMcp, &[MODERN, LEGACY][..]),
        (Client::PythonFastMcp, &[MODERN, LEGACY]),
        (Client::JsClient, &[MODERN, LEGACY]),
        (Client::JsSdk, &[&[] as &[&str]]),
    ] {
        for era in eras {
            tell(client, &[&over_http, *era].concat(), &world).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_clients_over_stdio_hear_the_whole_story() {
    let world = lively().await;
    let _server = world.up().await.unwrap();
    for (client, eras) in
        [(Client::PythonMcp, &[MODERN, LEGACY][..]), (Client::JsSdk, &[&[] as &[&str]])]
    {
        for era in eras {
            tell(client, &[era, &["--command", crate::BINARY, "mcp"][..]].concat(), &world).await;
        }
    }
}
