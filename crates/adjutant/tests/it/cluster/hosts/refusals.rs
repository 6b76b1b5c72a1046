//! Hosts that cannot serve, and homes that fail.

use std::fs;

use serde_json::{Value, json};
use testkit::Http;

use super::{Hosts, until};

#[tokio::test]
async fn what_cannot_be_served_is_refused_with_a_reason() {
    let mut hosts = Hosts::with_homes(0).await;
    let one = hosts.add().await;
    let address = hosts.postgres.address();
    let (state, url) = (hosts.host(one).state.display().to_string(), hosts.host(one).url.clone());
    let other = hosts.folder(7).display().to_string();
    let with_password = address.replace("adjutant@", "adjutant:hunter2@");
    let refused = async |arguments: &[&str], parts: &[&str]| {
        let answer = hosts.world.run(&[&["serve"], arguments].concat()).await.unwrap();
        assert_ne!(answer.code, Some(0), "{arguments:?}: {answer:?}");
        for part in parts {
            assert!(answer.stderr.contains(part), "{part}: {answer:?}");
        }
        assert!(!answer.stderr.contains("hunter2"), "{answer:?}");
    };
    refused(&[], &["no PostgreSQL is named", "--database"]).await;
    refused(&["--database", "state.db"], &["is not the address of a PostgreSQL"]).await;
    refused(&["--database", &with_password], &["has a password", "PGPASSFILE"]).await;
    refused(&["--database", &address, "--lease", "1"], &["2..=300"]).await;
    refused(&["--database", &address, "--url", "crew-1"], &["http://crew-1:3000"]).await;
    let same_folder = ["--database", &address, "--state", &state, "--port", "0"];
    let parts = ["serves homes from", "adjutant serve status", "--state DIR"];
    refused(&same_folder, &parts).await;
    let same_url =
        ["--database", &address, "--state", &other, "--port", "0", "--lease", "2", "--url", &url];
    refused(&same_url, &["another host says that it is at", "--url"]).await;
    let port = url.rsplit(':').next().unwrap();
    let same_port = ["--database", &address, "--state", &other, "--port", port];
    refused(&same_port, &["could not listen on", port]).await;
    let inside = [("ADJUTANT_AGENT_ID", "sp_0000000000000001"), ("ADJUTANT_TOKEN", "adj_x")];
    let mut command = hosts.world.command(&["serve", "--database", &address]);
    let answer = command.envs(inside).output().await.unwrap();
    let said = String::from_utf8_lossy(&answer.stderr).into_owned();
    assert!(said.contains("only the operator serves homes"), "{said}");
    hosts.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_waits_for_a_postgresql_that_is_away_and_says_so() {
    let mut hosts = Hosts::with_homes(1).await;
    hosts.postgres.kill().unwrap();
    let one = hosts.add().await;
    let http = Http::new(&hosts.host(one).url, &hosts.token);
    let health = async |path: &str| {
        let (code, body): (_, Value) = http.get(path).await.unwrap();
        (code.as_u16(), body)
    };
    until("it says why", async || {
        let (code, body) = health("/readyz").await;
        assert_eq!(code, 503, "{body}");
        body["reason"].as_str().unwrap().contains("Connection refused")
    })
    .await;
    assert_eq!(health("/healthz").await.0, 200);
    let (code, body) = hosts.http(one, "home-00").get("/api/tasks").await.unwrap();
    assert_eq!((code.as_u16(), &body["code"]), (503, &json!("NO_OWNER")), "{body}");
    hosts.postgres.run().unwrap();
    hosts.until_owned(&[(one, 1)]).await;
    until("it is ready", async || health("/readyz").await.0 == 200).await;

    // Servers that run are left alone while PostgreSQL is away.
    let pids = hosts.server_pids(one).await;
    hosts.postgres.kill().unwrap();
    until("it notices", async || health("/readyz").await.0 == 503).await;
    hosts.postgres.run().unwrap();
    until("it is ready again", async || health("/readyz").await.0 == 200).await;
    hosts.until_owned(&[(one, 1)]).await;
    assert_eq!(hosts.server_pids(one).await, pids);
    hosts.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_home_whose_server_fails_takes_no_other_along() {
    let mut hosts = Hosts::with_homes(2).await;
    let bad = hosts.folder(0).join("homes/home-00/project/.adjutant");
    fs::create_dir_all(&bad).unwrap();
    fs::write(bad.join("config.yaml"), "limits: {depht: 1}\n").unwrap();
    let one = hosts.add().await;
    hosts.until_owned(&[(one, 1)]).await;
    until("it has failed twice", async || {
        let status = hosts.status(one).await;
        status["homes"][0]["failures"].as_u64().is_some_and(|failures| failures > 1)
    })
    .await;
    let status = hosts.status(one).await;
    let [failing, well] = [&status["homes"][0], &status["homes"][1]];
    assert_eq!(failing["state"], "failing", "{status}");
    assert_eq!(failing["lastExit"], "exit code 2", "{status}");
    assert!(failing["lastLine"].is_string(), "{status}");
    assert_eq!((&well["state"], &well["failures"]), (&json!("owner"), &json!(0)), "{status}");
    let state = hosts.host(one).state.display().to_string();
    let shown = hosts.world.run(&["serve", "status", "--state", &state]).await.unwrap();
    assert!(shown.stdout.contains("failing") && shown.stdout.contains("exit code 2"), "{shown:?}");
    let http = hosts.http(one, "home-01");
    until("it answers", async || http.get("/api/tasks").await.unwrap().0 == 200).await;
    let (code, body) = hosts.http(one, "home-00").get("/api/tasks").await.unwrap();
    assert_eq!((code.as_u16(), &body["code"]), (503, &json!("NO_OWNER")), "{body}");
    // Once it is mended, it comes up by itself.
    fs::write(bad.join("config.yaml"), "").unwrap();
    hosts.until_owned(&[(one, 2)]).await;
    hosts.stop_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_hand_their_homes_over_when_their_host_is_killed_alone() {
    let mut hosts = Hosts::with_homes(2).await;
    let one = hosts.add().await;
    hosts.until_owned(&[(one, 2)]).await;
    let servers = hosts.server_pids(one).await;
    let host = hosts.running[one].take().unwrap();
    host.server.kill().await.unwrap();
    for server in servers {
        assert!(host::process::wait_gone(server, super::PATIENCE), "{server} goes on");
    }
    let owned = "SELECT COUNT(*) FROM adjutant.home WHERE owner IS NOT NULL";
    assert_eq!(hosts.sql(owned), 0, "they were handed over");
    // The same host comes back to what it had.
    hosts.start(one).await;
    hosts.until_owned(&[(one, 2)]).await;
    hosts.stop_all().await;
}
