//! Ways to a home: over any host, by path or by name, by a command line; and the status of a host.

use serde_json::{Value, json};
use testkit::Http;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::Hosts;

/// Asks a host by the name of a host, as a browser does, and returns the whole answer.
async fn ask(url: &str, host: &str, path: &str, headers: &str) -> String {
    let address = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_home_is_reached_over_any_host_by_path_and_by_name() {
    let mut hosts = Hosts::with_homes(2).await;
    let (one, two) = (hosts.add().await, hosts.add().await);
    hosts.until_owned(&[(one, 1), (two, 1)]).await;
    hosts.until_answered(&[one, two]).await;

    // What is written over one host is read over the other.
    for home in hosts.homes.clone() {
        for (number, other) in [(one, two), (two, one)] {
            let title = format!("over host {number}");
            let task = json!({ "title": title });
            let made = hosts.http(number, &home).call("mcp__task__create", task).await.unwrap();
            made.unwrap();
            let (status, tasks) = hosts.http(other, &home).get("/api/tasks").await.unwrap();
            assert_eq!(status, 200, "{tasks}");
            assert!(tasks.to_string().contains(&title), "{tasks}");
        }
        let stranger = hosts.http(one, &home).with_token("adjop_nobody");
        assert_eq!(stranger.get("/api/tasks").await.unwrap().0, 401);
    }
    let (status, unknown) = hosts.http(one, "home-77").get("/api/tasks").await.unwrap();
    assert_eq!((status.as_u16(), &unknown["code"]), (404, &json!("RESOURCE_NOT_FOUND")));

    // By name, each home is an origin of its own.
    let url = hosts.host(one).url.clone();
    let port = url.rsplit(':').next().unwrap();
    let html = "Accept: text/html\r\n";
    for home in &hosts.homes {
        let name = format!("{home}.localhost:{port}");
        let page = ask(&url, &name, "/", html).await;
        assert!(page.starts_with("HTTP/1.1 200") && page.contains("<!doctype html>"), "{page}");
        let (by_path, address) = (format!("/homes/{home}/crew"), format!("127.0.0.1:{port}"));
        let sent = ask(&url, &address, &by_path, html).await;
        assert!(sent.starts_with("HTTP/1.1 307"), "{sent}");
        assert!(sent.contains(&format!("location: //{name}/crew\r\n")), "{sent}");
        let foreign = format!("Origin: http://home-99.localhost:{port}\r\n");
        let refused = ask(&url, &name, "/api/tasks", &foreign).await;
        assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    }
    let refused = ask(&url, "home-00.evil.example", "/", "").await;
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");

    // A command line that has no home of its own.
    let mut far = testkit::World::bare(crate::BINARY).unwrap();
    far.set("ADJUTANT_URL", format!("{url}/homes/home-01"));
    far.set("ADJUTANT_TOKEN", &hosts.token);
    far.run(&["tasks", "add", "From far away"]).await.unwrap().ok().unwrap();
    let tasks = far.run(&["tasks"]).await.unwrap().ok().unwrap();
    assert!(tasks.stdout.contains("From far away"), "{tasks:?}");
    hosts.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_says_which_homes_it_has_and_who_else_is_there() {
    let mut hosts = Hosts::with_homes(0).await;
    let one = hosts.add().await;
    let url = hosts.host(one).url.clone();
    let empty = hosts.status(one).await;
    assert_eq!(empty["homes"], json!([]), "{empty}");
    // One that is made later is found.
    hosts.create("shop").await;
    hosts.until_owned(&[(one, 1)]).await;
    super::until("the host knows it", async || {
        hosts.status(one).await["homes"][0]["state"] == "owner"
    })
    .await;
    let status = hosts.status(one).await;
    let home = &status["homes"][0];
    assert_eq!((&home["name"], &home["failures"]), (&json!("shop"), &json!(0)), "{status}");
    assert_eq!(home["epoch"], 1, "{status}");
    assert_eq!(status["hosts"][0]["url"], json!(url), "{status}");
    assert_eq!(status["hosts"][0]["homes"], 1, "{status}");

    let state = hosts.host(one).state.display().to_string();
    let shown = hosts.world.run(&["serve", "status", "--state", &state]).await.unwrap();
    let shown = shown.ok().unwrap().stdout;
    for part in [url.as_str(), "shop", "owner", "live"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let address = hosts.postgres.address();
    let list = ["home", "list", "--database", &address];
    let listed = hosts.world.run(&list).await.unwrap().ok().unwrap().stdout;
    for part in [format!("{url}/homes/shop"), "HOST ".to_owned(), "live".to_owned()] {
        assert!(listed.contains(&part), "{part}: {listed}");
    }
    let listed = hosts.world.run(&[&list[..], &["--json"]].concat()).await.unwrap();
    let listed = listed.ok().unwrap().json().unwrap();
    assert_eq!(listed["homes"][0]["hostUrl"], json!(url), "{listed}");
    assert_eq!(listed["hosts"][0]["isLive"], true, "{listed}");

    // Only a client with the host's token sees them; anybody sees whether it works.
    let token = std::fs::read_to_string(hosts.folder(one).join("token")).unwrap();
    let host = Http::new(&url, token.trim());
    let stranger = host.with_token(&hosts.token);
    for path in ["/status", "/metrics"] {
        assert_eq!(stranger.get(path).await.unwrap().0, 401, "{path}");
    }
    let (_, metrics) = host.get("/metrics").await.unwrap();
    let metrics = metrics.as_str().unwrap();
    for line in [
        "adjutant_hosts_live 1",
        "adjutant_owner{home=\"shop\"} 1",
        "adjutant_home_epoch{home=\"shop\"} 1",
        "adjutant_home_failures{home=\"shop\"} 0",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    }
    for path in ["/healthz", "/readyz"] {
        let (code, health): (_, Value) = stranger.get(path).await.unwrap();
        assert_eq!((code.as_u16(), &health["status"]), (200, &json!("ok")), "{path}: {health}");
    }
    for (file, mode) in [("token", 0o600), ("serve.json", 0o600), ("", 0o700)] {
        assert_eq!(testkit::World::mode(&hosts.folder(one).join(file)).unwrap(), mode, "{file}");
    }

    // A home that is removed from PostgreSQL has no server any more.
    hosts.postgres.sql("DELETE FROM adjutant.home WHERE name = 'shop'").unwrap();
    super::until("its server ends", async || hosts.status(one).await["homes"] == json!([])).await;
    let (code, _) = hosts.http(one, "shop").get("/api/tasks").await.unwrap();
    assert_eq!(code, 404);
    assert!(hosts.database(one, "shop").is_file(), "its file stays");
    hosts.stop_all().await;
    let absent = hosts.world.run(&["serve", "status", "--state", &state]).await.unwrap();
    assert_eq!(absent.code, Some(6), "{absent:?}");
    assert_eq!(hosts.sql("SELECT COUNT(*) FROM adjutant.server"), 0, "it has left");
}
