//! How answers look: JSON in fixed shapes, tables for people, and nothing that a terminal obeys.

use serde_json::{Value, json};

use crate::world;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[tokio::test]
async fn json_has_the_shapes_that_scripts_rely_on() {
    let world = world().await;
    let server = world.up().await.unwrap();
    let json = async |typed: &[&str]| {
        world.run(&[typed, &["--json"]].concat()).await.unwrap().ok().unwrap().json().unwrap()
    };
    let enlisted = json(&["enlist", "--role", "worker"]).await;
    assert_eq!(keys(&enlisted), ["agentId", "codexConfig", "mcpConfig", "token", "url"]);
    assert_eq!(enlisted["url"], *server.url);
    let ps = json(&["ps"]).await;
    assert_eq!(
        keys(&ps["agents"][0]),
        [
            "category",
            "costUsd",
            "depth",
            "finishedAt",
            "id",
            "kind",
            "model",
            "parentId",
            "reason",
            "role",
            "startedAt",
            "state",
            "summary",
            "taskSlug"
        ]
    );
    let status = json(&["status"]).await;
    assert_eq!(
        keys(&status),
        [
            "agents",
            "calls",
            "home",
            "operator",
            "pid",
            "record",
            "running",
            "startedAt",
            "url",
            "version",
            "waiting"
        ]
    );
    let agent = enlisted["agentId"].as_str().unwrap();
    let gone = json(&["discharge", agent, "--reason", "done"]).await;
    assert_eq!(gone, json!({ "agentId": agent, "state": "succeeded" }));
    assert_eq!(json(&["ps"]).await, json!({ "agents": [] }));
    assert_eq!(json(&["ps", "--all"]).await["agents"][0]["state"], "succeeded");
    assert_eq!(keys(&json(&["reload"]).await), ["changes", "read", "roles", "warnings"]);
    assert_eq!(keys(&json(&["token"]).await), ["token"]);
    let task = json(&["tasks", "add", "Fix it", "--priority", "1"]).await;
    assert_eq!((&task["number"], &task["state"]), (&"TAS-1".into(), &"PENDING".into()));
    assert_eq!(json(&["tasks"]).await["tasks"][0]["id"], task["id"]);
    assert_eq!(keys(&json(&["mail"]).await), ["count", "mails", "unreadCount"]);
    let events = json(&["events", "--kind", "task.created"]).await;
    assert_eq!(events["events"][0]["kind"], "task.created");
    assert_eq!(events["events"].as_array().unwrap().len(), 1);
    assert_eq!(json(&["audit", "verify"]).await["ok"], true);
    assert_eq!(json(&["config", "get", "limits.depth"]).await, 3);
    assert_eq!(keys(&json(&["config", "path"]).await), ["path"]);
    assert_eq!(keys(&json(&["doctor"]).await), ["checks", "ok"]);
    assert_eq!(keys(&json(&["decisions"]).await), ["decisions"]);
}

#[tokio::test]
async fn what_agents_write_cannot_command_a_terminal() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let agent = world.enlist("worker", &[]).await.unwrap();
    let body = "\u{1b}]0;owned\u{7}\u{1b}[2Jred \u{202e}txt";
    let send = ["tool", "mail_send", "--to-human", "--subject", "Hi", "--body", body];
    world.run_as(&agent, &send).await.unwrap().ok().unwrap();
    let mail = world.run(&["mail", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    let id = mail["mails"][0]["id"].as_str().unwrap();
    assert_eq!(mail["mails"][0]["body"], body, "programs get what was written");
    for typed in [&["mail"][..], &["mail", "read", id], &["events"], &["mail", "--all"]] {
        let ran = world.run(typed).await.unwrap().ok().unwrap();
        let odd = ran.stdout.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(odd, None, "{typed:?}: {:?}", ran.stdout);
    }
}

#[tokio::test]
async fn a_pipe_gets_no_colours_unless_they_are_forced() {
    let world = world().await;
    let plain = world.run(&["init"]).await.unwrap().ok().unwrap().stdout;
    assert!(!plain.contains('\u{1b}'));
    let forced = world.command(&["init"]).env("CLICOLOR_FORCE", "1").output().await.unwrap();
    assert!(forced.stdout.contains(&0x1b));
    let mut refused = world.command(&["init"]);
    let refused = refused.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output().await.unwrap();
    assert!(!refused.stdout.contains(&0x1b));
}

#[tokio::test]
async fn a_reader_that_has_seen_enough_is_no_error() {
    let world = world().await;
    let mut child = world.command(&["completions", "bash"]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
}

#[tokio::test]
async fn the_record_can_be_carried_away_and_checked_by_anybody() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    world.run(&["tasks", "add", "Überprüfe “alles”"]).await.unwrap().ok().unwrap();
    world.run(&["tasks"]).await.unwrap().ok().unwrap();
    let export = world.run(&["audit", "export"]).await.unwrap().ok().unwrap().stdout;
    let rows: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows[0]["number"], 1);
    // As the help says it: the hash before, a newline, the body.
    let mut before = "0".repeat(64);
    for row in &rows {
        use sha2::Digest as _;
        let text = format!("{before}\n{}", row["body"].as_str().unwrap());
        let bytes = sha2::Sha256::digest(text);
        let hash = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        assert_eq!(row["hash"], *hash);
        before = hash;
    }
    let good = world.run_with_input(&["audit", "verify", "-", "--json"], &export).await.unwrap();
    assert_eq!(good.ok().unwrap().json().unwrap()["rows"], rows.len());
    let forged = export.replace("alles", "nichts");
    let bad = world.run_with_input(&["audit", "verify", "-", "--json"], &forged).await.unwrap();
    assert_eq!((bad.code, &bad.json().unwrap()["brokenAt"]), (Some(1), &1.into()));
}
