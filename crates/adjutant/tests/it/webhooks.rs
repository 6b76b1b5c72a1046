//! Webhooks with the real binary: configured, told, killed in between, mended from the command line, over TLS.

use std::process::Stdio;
use std::time::Duration;

use model::webhook::DeliveryState;
use serde_json::{Value, json};
use testkit::{Http, Reaction, ReceivedMessage, Receiver, World};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use crate::world;

pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Names webhooks in the configuration.
pub(crate) fn configure(world: &World, webhooks: &str) {
    let path = world.home().join("config.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    let (head, tail) = text.split_once("\nwebhooks:").unwrap();
    let (_, tail) = tail.split_once("\n# Keep IAC.md").unwrap();
    std::fs::write(&path, format!("{head}\nwebhooks: {webhooks}\n# Keep IAC.md{tail}")).unwrap();
}

pub(crate) fn hook(receiver: &Receiver, more: &str) -> String {
    let url = receiver.url("/hidden-path-of-it");
    format!("\n  - {{name: it, url: '{url}', secretVariable: HOOK_KEY, kinds: [task.*]{more}}}\n")
}

/// A home with a webhook, and a client of its server's.
async fn stage(more: &str) -> (World, Receiver) {
    let (mut world, receiver) = (world().await, Receiver::start().await.unwrap());
    world.set("HOOK_KEY", SECRET);
    configure(&world, &hook(&receiver, more));
    (world, receiver)
}

async fn client(world: &World, url: &str) -> Http {
    Http::new(url, world.operator().await.unwrap())
}

async fn task(http: &Http, title: &str) -> Value {
    http.call("mcp__task__create", json!({ "title": title })).await.unwrap().unwrap()
}

/// Waits until the webhook is as somebody wants it.
async fn until(http: &Http, is_so: impl Fn(&Value) -> bool) -> Value {
    let waiting = async {
        loop {
            let (_, hooks) = http.get("/api/webhooks").await.unwrap();
            if is_so(&hooks["webhooks"][0]) {
                return hooks["webhooks"][0].clone();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.unwrap()
}

pub(crate) fn titles(got: &[ReceivedMessage]) -> Vec<String> {
    got.iter().map(|one| one.json()["data"]["details"]["title"].to_string()).collect()
}

#[tokio::test]
async fn a_server_that_is_killed_between_sending_and_writing_down_sends_it_again() {
    let (world, receiver) = stage("").await;
    receiver.react(|_| Reaction::Hang);
    let server = world.up().await.unwrap();
    let http = client(&world, &server.url).await;
    task(&http, "One").await;
    let first = receiver.until(|got| got.len() == 1).await.unwrap();
    server.kill().await.unwrap();

    receiver.react(|_| Reaction::Status(200));
    let server = world.up().await.unwrap();
    let http = client(&world, &server.url).await;
    task(&http, "Two").await;
    let got = receiver.until(|got| got.len() == 3).await.unwrap();
    // Of two tasks either may come first; the one that was sent before comes as it was.
    let id = first[0].header("webhook-id");
    let same: Vec<_> = got.iter().filter(|one| one.header("webhook-id") == id).collect();
    assert_eq!(same.len(), 2);
    assert_eq!(same[1].body, first[0].body);
    let mut told = titles(&got);
    told.sort();
    assert_eq!(told, ["\"One\"", "\"One\"", "\"Two\""]);
    for one in &got {
        one.verify(SECRET).unwrap();
    }
    // Once it is written down it is not sent a third time.
    until(&http, |hook| hook["pending"] == 0).await;
    assert_eq!(server.stop().await.unwrap(), Some(0));
    let server = world.up().await.unwrap();
    let http = client(&world, &server.url).await;
    task(&http, "Three").await;
    let got = receiver.until(|got| titles(got).contains(&"\"Three\"".to_owned())).await.unwrap();
    assert_eq!(got.len(), 4);
}

#[tokio::test]
async fn what_was_given_up_is_seen_and_sent_again_from_the_command_line() {
    let (world, receiver) = stage(", attempts: 1").await;
    receiver.react(|_| Reaction::With(500, Vec::new(), "out of order".to_owned()));
    let server = world.up().await.unwrap();
    let http = client(&world, &server.url).await;
    task(&http, "One").await;
    task(&http, "Two").await;
    until(&http, |hook| hook["dead"] == 2).await;

    let list = world.run(&["webhooks"]).await.unwrap().ok().unwrap().stdout;
    assert!(list.contains("failing") && list.contains("2 messages given up"), "{list}");
    assert!(list.contains("http://127.0.0.1") && !list.contains("hidden-path"), "{list}");
    let dead = world.run(&["webhooks", "dead"]).await.unwrap().ok().unwrap().stdout;
    assert!(dead.contains("it answered with 500: out of order"), "{dead}");
    assert!(dead.contains("task.created") && dead.contains("after one try"), "{dead}");
    let dead = world.run(&["webhooks", "dead", "it", "--json"]).await.unwrap().ok().unwrap();
    let dead = dead.json().unwrap();
    assert_eq!(dead["deliveries"].as_array().unwrap().len(), 2);
    assert_eq!(dead["deliveries"][1]["body"]["data"]["details"]["title"], "One");

    let tried = world.run(&["webhooks", "test", "it"]).await.unwrap();
    assert_eq!(tried.code, Some(1), "{tried:?}");
    assert!(tried.stdout.contains("refused it: it answered with 500"), "{tried:?}");
    receiver.react(|_| Reaction::Status(200));
    let tried = world.run(&["webhooks", "test", "it", "--json"]).await.unwrap().ok().unwrap();
    assert_eq!(tried.json().unwrap()["status"], 200);

    let id = dead["deliveries"][1]["id"].as_str().unwrap();
    let one = world.run(&["webhooks", "retry", "it", id, "--json"]).await.unwrap().ok().unwrap();
    assert_eq!(one.json().unwrap()["state"], DeliveryState::Pending.name());
    until(&http, |hook| hook["dead"] == 1 && hook["pending"] == 0).await;
    let rest = world.run(&["webhooks", "retry", "it", "--all"]).await.unwrap().ok().unwrap();
    assert_eq!(rest.stdout, "1 message is sent again.\n");
    let hook = until(&http, |hook| hook["dead"] == 0 && hook["pending"] == 0).await;
    assert_eq!(hook["state"], "ok");
    let again = world.run(&["webhooks", "retry", "it", id]).await.unwrap();
    assert_eq!(again.code, Some(5), "{again:?}");
    let none = world.run(&["webhooks", "retry", "its", "--all"]).await.unwrap();
    assert_eq!(none.code, Some(4));
    assert!(none.stderr.contains("did you mean `it`?"), "{none:?}");
    let none = world.run(&["webhooks", "retry", "it"]).await.unwrap();
    assert_eq!(none.code, Some(2), "neither a message nor all of them");
    // The human was told once, and the acts are on record.
    let mail = world.run(&["mail", "--json"]).await.unwrap().ok().unwrap().stdout;
    assert_eq!(mail.matches("did not take a message").count(), 1, "{mail}");
    let rows = world.run(&["audit", "list", "--json"]).await.unwrap().ok().unwrap().stdout;
    for (tool, count) in [("operator__webhook_retry", 2), ("operator__webhook_test", 2)] {
        assert_eq!(rows.matches(&format!("\"tool\":\"{tool}\"")).count(), count, "{tool}: {rows}");
    }
}

#[tokio::test]
async fn who_is_gone_is_disabled_until_the_operator_goes_on() {
    let (world, receiver) = stage("").await;
    receiver.react(|_| Reaction::Status(410));
    let server = world.up().await.unwrap();
    let http = client(&world, &server.url).await;
    task(&http, "One").await;
    until(&http, |hook| hook["state"] == "disabled").await;
    let list = world.run(&["webhooks", "list"]).await.unwrap().ok().unwrap().stdout;
    assert!(list.contains("adjutant webhooks enable it"), "{list}");
    let refused = world.run(&["webhooks", "retry", "it", "--all"]).await.unwrap();
    assert!(
        refused.code == Some(5) && refused.stderr.contains("webhooks enable it"),
        "{refused:?}"
    );
    receiver.react(|_| Reaction::Status(200));
    world.run(&["webhooks", "enable", "it"]).await.unwrap().ok().unwrap();
    until(&http, |hook| hook["state"] == "ok" && hook["pending"] == 0).await;
    assert_eq!(titles(&receiver.got()), ["\"One\"", "\"One\""]);
}

#[tokio::test]
async fn one_that_is_added_while_the_server_runs_is_told_from_then_on() {
    let (mut world, receiver) = (world().await, Receiver::start().await.unwrap());
    world.set("HOOK_KEY", SECRET);
    let server = world.up().await.unwrap();
    let http = client(&world, &server.url).await;
    task(&http, "Before").await;
    configure(&world, &hook(&receiver, ""));
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    until(&http, |hook| hook["name"] == "it").await;
    // The loop has heard of it once its place in the events is on record.
    until(&http, |hook| hook["seen"].as_i64().is_some_and(|seen| seen > 0)).await;
    task(&http, "After").await;
    let got = receiver.until(|got| !got.is_empty()).await.unwrap();
    assert_eq!(titles(&got), ["\"After\""]);
    // Agents have no business here, and other names are refused with the nearest.
    let agent = world.enlist("worker", &[]).await.unwrap();
    let (status, _) = http.with_token(&agent.token).get("/api/webhooks").await.unwrap();
    assert_eq!(status, 403);
    let (status, _) =
        http.with_token(&agent.token).post("/api/webhooks/it/test", &json!({})).await.unwrap();
    assert_eq!(status, 403);
    let (status, error) = http.get("/api/webhooks/it/deliveries?state=lost").await.unwrap();
    assert_eq!((status.as_u16(), &error["code"]), (422, &json!("INVALID_INPUT")), "{error}");
    let path = "/api/webhooks/it/deliveries?state=delivered&limit=1";
    let (_, page) = http.get(path).await.unwrap();
    assert_eq!(page["deliveries"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn its_secrets_are_nowhere_but_where_somebody_wrote_them() {
    let (mut world, receiver) = (world().await, Receiver::start().await.unwrap());
    let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    world.set("HOOK_KEY", SECRET);
    world.set("ADJUTANT_SERVER_LOG_LEVEL", "trace");
    let url = receiver.url("/hidden-path-of-it");
    configure(
        &world,
        &format!(
            "\n  - {{name: it, url: '{url}', secretVariable: HOOK_KEY, attempts: 1}}\n  - {{name: too, url: '{url}?a=hidden-query-of-it', secret: {other}, attempts: 1}}\n"
        ),
    );
    receiver.react(|got| {
        Reaction::With(500, Vec::new(), format!("{} {} {:?}", got.path, got.body, got.headers))
    });
    world.run(&["up", "--detach"]).await.unwrap().ok().unwrap();
    let url = world.server_file().unwrap().unwrap()["url"].as_str().unwrap().to_owned();
    let http = client(&world, &url).await;
    task(&http, "One").await;
    until(&http, |hook| hook["dead"].as_i64().is_some_and(|dead| dead > 1)).await;
    let mut seen = String::new();
    for typed in [
        &["webhooks", "--json"][..],
        &["webhooks", "dead", "--json"],
        &["webhooks", "test", "too", "--json"],
        &["config", "get"],
        &["config", "get", "--json"],
        &["config", "get", "webhooks"],
        &["doctor", "--json"],
        &["mail", "--json"],
        &["audit", "list", "--json"],
        &["events", "--json"],
    ] {
        let ran = world.run(typed).await.unwrap();
        let said = ran.stdout + &ran.stderr;
        assert!(!said.contains(other) && !said.contains(SECRET), "{typed:?}: {said}");
        if typed[0] != "config" {
            assert!(!said.contains("hidden-"), "{typed:?}: {said}");
        }
        seen.push_str(&said);
    }
    assert!(seen.contains("its secret stands in config.yaml"), "the doctor says so: {seen}");
    world.run(&["down"]).await.unwrap().ok().unwrap();
    for entry in std::fs::read_dir(world.home()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && path.file_name().unwrap() != "config.yaml" {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            for secret in [SECRET, other, "hidden-path-of-it", "hidden-query-of-it"] {
                assert!(!text.contains(secret), "{secret} is in {}", path.display());
            }
        }
    }
}

#[tokio::test]
async fn the_doctor_says_who_could_listen_and_what_is_missing() {
    let world = world().await;
    configure(
        &world,
        "\n  - {name: open, url: 'http://hooks.example.com/x'}\n  - {name: near, url: 'http://localhost:5678/x'}\n  - {name: lacks, url: 'https://a.example', secretVariable: NO_SUCH_KEY}\n",
    );
    let said = world.run(&["doctor", "--json"]).await.unwrap().json().unwrap();
    let checks = said["checks"].as_array().unwrap();
    let of = |name: &str| {
        let about = |check: &&Value| {
            check["name"] == "webhooks"
                && check["message"].as_str().unwrap().contains(&format!("`{name}`"))
        };
        checks.iter().find(about).unwrap().clone()
    };
    assert_eq!(of("open")["status"], "warn");
    assert!(of("open")["message"].as_str().unwrap().contains("are not encrypted"));
    assert_eq!(of("near")["status"], "ok");
    assert_eq!(of("lacks")["message"], "`lacks`: `NO_SUCH_KEY` is not set");
}

#[tokio::test]
async fn over_tls_whom_the_machine_trusts_is_told_and_nobody_else() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/webhooks/tls");
    let mut node = Command::new(testkit::node().unwrap())
        .arg(folder.join("server.mjs"))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(node.stdout.take().unwrap()).lines();
    let port = lines.next_line().await.unwrap().unwrap();
    let mut world = world().await;
    configure(
        &world,
        &format!("\n  - {{name: it, url: 'https://127.0.0.1:{port}/', kinds: [task.*]}}\n"),
    );
    // Nobody on this machine knows the authority.
    let server = world.up().await.unwrap();
    let tried = world.run(&["webhooks", "test", "it", "--json"]).await.unwrap();
    let tried = tried.json().unwrap();
    assert_eq!((&tried["ok"], &tried["status"]), (&json!(false), &Value::Null), "{tried}");
    assert!(tried["error"].as_str().unwrap().contains("certificate"), "{tried}");
    assert_eq!(server.stop().await.unwrap(), Some(0));

    world.set("SSL_CERT_FILE", folder.join("authority.pem").display().to_string());
    let _server = world.up().await.unwrap();
    let tried = world.run(&["webhooks", "test", "it", "--json"]).await.unwrap().ok().unwrap();
    assert_eq!(tried.json().unwrap()["status"], 204);
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "webhook.test");
}
