//! `adjutant open`: ways into the page, as people make and take back them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use testkit::{Http, World};

use crate::world;

async fn link(world: &World, more: &[&str]) -> (String, Value) {
    let ran = world.run(&[&["open", "--json"], more].concat()).await.unwrap().ok().unwrap();
    let made = ran.json().unwrap();
    (made["url"].as_str().unwrap().to_owned(), made)
}

/// Logs in as a tab does, and gives the tab's token.
async fn enter(link: &str) -> (u16, Value) {
    let (url, code) = link.split_once("/#login=").unwrap();
    let login = Http::new(url, "").post("/api/login", &json!({ "code": code })).await.unwrap();
    (login.0.as_u16(), login.1)
}

async fn tab(link: &str) -> Http {
    let (status, entered) = enter(link).await;
    assert_eq!(status, 200, "{entered}");
    Http::new(link.split_once("/#").unwrap().0, entered["token"].as_str().unwrap())
}

#[tokio::test]
async fn open_starts_a_server_and_in_a_pipe_prints_the_link_alone() {
    let mut world = world().await;
    // Somebody with a screen: but nobody looks on.
    world.set("BROWSER", "/bin/false");
    world.set("DISPLAY", ":0");
    let ran = world.run(&["open"]).await.unwrap().ok().unwrap();
    let url = world.server_file().unwrap().unwrap()["url"].as_str().unwrap().to_owned();
    let printed = ran.stdout.trim_end();
    assert!(printed.starts_with(&format!("{url}/#login=adjlink_")), "{printed}");
    assert_eq!(printed.lines().count(), 1);
    assert!(ran.stderr.contains("works once"), "{}", ran.stderr);
    let tab = tab(printed).await;
    assert_eq!(tab.get("/api/status").await.unwrap().1["operator"], true);
    let (status, again) = enter(printed).await;
    assert_eq!((status, &again["details"]["reason"]), (401, &json!("used")));
    world.run(&["down"]).await.unwrap().ok().unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn before_a_terminal_the_browser_gets_the_link_and_no_shell_sees_it() {
    let world = {
        let mut world = world().await;
        let browser = world.scratch().join("browser");
        let seen = world.scratch().join("seen");
        fs::write(
            &browser,
            format!("#!/bin/sh\necho \"$#: $1\" > {0}.new; mv {0}.new {0}\n", seen.display()),
        )
        .unwrap();
        fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
        world.set("BROWSER", browser.display().to_string());
        world
    };
    let adjutant = crate::BINARY;
    // `script` gives it a terminal; what is seen is waited for.
    let seen = world.scratch().join("seen");
    let wait = format!(
        "for i in $(seq 600); do [ -e {0} ] && break; sleep 0.05; done; cat {0}",
        seen.display()
    );
    let ran = world.shell(&format!("script -qec '{adjutant} open' /dev/null; {wait}")).await;
    let ran = ran.unwrap().ok().unwrap();
    assert!(ran.stdout.contains("The page opens in your browser"), "{}", ran.stdout);
    let got = ran.stdout.lines().last().unwrap();
    let link = got.strip_prefix("1: ").unwrap();
    tab(link).await;
    world.run(&["down"]).await.unwrap().ok().unwrap();
}

#[tokio::test]
async fn a_link_for_others_only_lets_look_and_can_be_taken_back() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let (url, made) = link(&world, &["--read-only", "--days", "2"]).await;
    assert_eq!(made["readOnly"], true);
    let (one, other) = (tab(&url).await, tab(&url).await);
    assert_eq!(one.get("/api/agents").await.unwrap().0, 200);
    let act = one.post("/api/runs", &json!({ "role": "worker", "prompt": "x" })).await.unwrap();
    assert_eq!((act.0.as_u16(), &act.1["code"]), (403, &json!("PERMISSION_DENIED")));
    let listed = world.run(&["open", "--links", "--json"]).await.unwrap().ok().unwrap();
    let links = listed.json().unwrap()["links"].as_array().unwrap().clone();
    assert_eq!(links.len(), 1);
    assert_eq!((&links[0]["id"], &links[0]["tabs"]), (&made["id"], &json!(2)));
    assert!(!listed.stdout.contains("adjlink_"), "nobody is told the code again");
    let table = world.run(&["open", "--links"]).await.unwrap().ok().unwrap().stdout;
    assert!(table.contains("looking") && table.contains("often"), "{table}");
    let id = made["id"].as_str().unwrap();
    let taken = world.run(&["open", "--revoke", id]).await.unwrap().ok().unwrap();
    assert_eq!(taken.stdout, "The link is taken back; 2 tabs were put out.\n");
    for tab in [one, other] {
        assert_eq!(tab.get("/api/agents").await.unwrap().0, 401);
    }
    assert_eq!(enter(&url).await.0, 401);
    let gone = world.run(&["open", "--revoke", id]).await.unwrap();
    assert_eq!(gone.code, Some(4), "{}", gone.stderr);
    let none = world.run(&["open", "--links"]).await.unwrap().ok().unwrap().stdout;
    assert!(none.starts_with("No links."), "{none}");
}

#[tokio::test]
async fn everybody_can_be_put_out_at_once() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let (operator, viewer) = (link(&world, &[]).await.0, link(&world, &["--read-only"]).await.0);
    let (operator, viewer) = (tab(&operator).await, tab(&viewer).await);
    let taken = world.run(&["open", "--revoke", "all"]).await.unwrap().ok().unwrap();
    assert_eq!(taken.stdout, "Every link is taken back; 2 tabs were put out.\n");
    assert_eq!(operator.get("/api/status").await.unwrap().0, 401);
    assert_eq!(viewer.get("/api/status").await.unwrap().0, 401);
}

#[tokio::test]
async fn a_tab_stays_in_when_the_server_is_killed() {
    let world = world().await;
    let server = world.up().await.unwrap();
    let tab = tab(&link(&world, &[]).await.0).await;
    server.kill().await.unwrap();
    let _again = world.up().await.unwrap();
    assert_eq!(tab.get("/api/status").await.unwrap().0, 200, "at its old port, with its old token");
}

#[tokio::test]
async fn an_agent_opens_nothing_and_bad_requests_are_refused() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let agent = world.enlist("worker", &[]).await.unwrap();
    for more in [
        &["open"][..],
        &["open", "--read-only"],
        &["open", "--links"],
        &["open", "--revoke", "all"],
    ] {
        let refused = world.run_as(&agent, more).await.unwrap();
        assert_eq!(refused.code, Some(3), "{more:?}: {}", refused.stderr);
        assert!(!refused.stdout.contains("adjlink_"));
    }
    for (more, code) in [
        (&["--days", "2"][..], 2),
        (&["--read-only", "--days", "0"], 2),
        (&["--read-only", "--days", "366"], 2),
        (&["--links", "--print"], 2),
        (&["--revoke", "x"], 2),
        (&["--revoke", "pass_0000000000000000"], 4),
    ] {
        let refused = world.run(&[&["open"], more].concat()).await.unwrap();
        assert_eq!(refused.code, Some(code), "{more:?}: {}", refused.stderr);
    }
}
