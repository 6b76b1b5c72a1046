//! Exit codes: every way out, as scripts rely on them and as the manual lists them.

use std::fs;
use std::process::Stdio;

use serde_json::json;
use testkit::{Reaction, Receiver, World};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::crew::role;
use crate::{BINARY, world};

/// A project with agents that end well, badly, and not at all.
async fn crew() -> World {
    let world = world().await;
    for (name, script) in [("winner", "echo well"), ("loser", "exit 3"), ("sleeper", "sleep 600")] {
        let command = json!(["sh", "-c", script]);
        role(&world, name, &format!("agent: command\ncommand: {command}\nworktree: none"));
    }
    world
}

async fn exits(world: &World, typed: &[&str], code: i32) {
    let ran = world.run(typed).await.unwrap();
    assert_eq!(ran.code, Some(code), "{typed:?}: {ran:?}");
}

async fn drafted(world: &World, role: &str) -> String {
    let ran = world.run(&["draft", "--role", role, "Go", "--json"]).await.unwrap().ok().unwrap();
    ran.json().unwrap()["agentId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_agent_that_succeeds_is_0_and_one_that_fails_is_1() {
    let world = crew().await;
    exits(&world, &["run", "--role", "winner", "Go"], 0).await;
    exits(&world, &["run", "--role", "loser", "Go"], 1).await;
    let (winner, loser) = (drafted(&world, "winner").await, drafted(&world, "loser").await);
    exits(&world, &["await", &winner], 0).await;
    exits(&world, &["await", &winner, &loser], 1).await;
    let sleeper = drafted(&world, "sleeper").await;
    exits(&world, &["await", &sleeper, "--timeout", "0"], 1).await;
    exits(&world, &["kill", &sleeper], 0).await;
}

#[tokio::test]
async fn bad_input_is_2_wherever_it_stands() {
    let world = world().await;
    let cases: [&[&str]; 8] = [
        &["fly"],
        &["run"],
        &["up", "--port", "many"],
        &["run", "--cwd", "/nowhere", "Go"],
        &["costs", "--since", "yesterday"],
        &["events", "--kind", "task.nothing"],
        &["config", "set", "limits.depth", "many"],
        &["mcp", "--toolset", "mial"],
    ];
    for typed in cases {
        exits(&world, typed, 2).await;
    }
    fs::write(world.home().join("config.yaml"), "limits: {depth: many}\n").unwrap();
    exits(&world, &["config", "get"], 2).await;
    exits(&world, &["up"], 2).await;
}

#[tokio::test]
async fn what_is_not_allowed_is_3() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    let agent = world.enlist("worker", &[]).await.unwrap();
    for typed in [&["ps"][..], &["token"], &["up"], &["run", "x"], &["tool", "draft_agent"]] {
        let ran = world.run_as(&agent, typed).await.unwrap();
        assert_eq!(ran.code, Some(3), "{typed:?}: {ran:?}");
    }
    let mut stranger = world.command(&["ps"]);
    let ran = stranger.env("ADJUTANT_TOKEN", "adjop_0000").output().await.unwrap();
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
}

#[tokio::test]
async fn what_is_not_there_is_4_and_names_where_to_look() {
    let world = world().await;
    let _server = world.up().await.unwrap();
    world.run(&["tasks", "add", "Fix the parser"]).await.unwrap().ok().unwrap();
    let nobody = "sp_0000000000000000";
    let cases: [&[&str]; 12] = [
        &["logs", nobody],
        &["kill", nobody],
        &["await", nobody],
        &["attach", nobody],
        &["discharge", nobody],
        &["tasks", "show", "TAS-99"],
        &["tasks", "show", "fix-the-praser"],
        &["mail", "read", "mail_0000000000000000"],
        &["run", "--role", "codre", "Go"],
        &["config", "get", "limits.dept"],
        &["webhooks", "test", "nobody"],
        &["merge-queue", "retry", "merge_0000000000000000"],
    ];
    for typed in cases {
        let ran = world.run(typed).await.unwrap();
        assert_eq!(ran.code, Some(4), "{typed:?}: {ran:?}");
        assert!(ran.stderr.contains("\n  try: "), "{typed:?} says no way out: {}", ran.stderr);
    }
    exits(&world, &["ps", "--home", "/nowhere"], 4).await;
}

#[tokio::test]
async fn what_does_not_fit_is_5() {
    let world = crew().await;
    let _server = world.up().await.unwrap();
    let winner = drafted(&world, "winner").await;
    exits(&world, &["await", &winner], 0).await;
    exits(&world, &["kill", &winner], 5).await;
    exits(&world, &["resume", &winner], 5).await;
    let sleeper = drafted(&world, "sleeper").await;
    exits(&world, &["down"], 5).await;
    exits(&world, &["kill", &sleeper], 0).await;
}

#[tokio::test]
async fn where_no_server_is_and_none_can_be_it_is_6() {
    let mut world = world().await;
    exits(&world, &["status"], 6).await;
    // A port that nobody has any more.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    world.set("ADJUTANT_URL", format!("http://{free}"));
    for typed in [&["status"][..], &["ps"], &["run", "x"], &["tool", "mail_list_inbox"]] {
        exits(&world, typed, 6).await;
    }
    let bare = World::bare(BINARY).unwrap();
    exits(&bare, &["status"], 6).await;
}

#[tokio::test]
async fn a_bug_is_70() {
    let mut world = world().await;
    let receiver = Receiver::start().await.unwrap();
    receiver.react(|asked| {
        if asked.path == "/healthz" {
            return Reaction::With(200, Vec::new(), json!({ "status": "ok" }).to_string());
        }
        let body = json!({ "code": "INTERNAL_ERROR", "message": "Adjutant failed inside" });
        Reaction::With(500, Vec::new(), body.to_string())
    });
    world.set("ADJUTANT_URL", receiver.url(""));
    exits(&world, &["reload"], 70).await;
}

#[tokio::test]
async fn ctrl_c_is_130_and_the_agent_goes_on() {
    let world = crew().await;
    let _server = world.up().await.unwrap();
    let mut child = world.command(&["run", "--role", "sleeper", "Go"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let started = lines.next_line().await.unwrap().unwrap();
    assert!(started.contains("is started as sleeper"), "{started}");
    let interrupt = format!("kill -INT {}", child.id().unwrap());
    world.shell(&interrupt).await.unwrap().ok().unwrap();
    assert_eq!(child.wait().await.unwrap().code(), Some(130));
    let ps = world.run(&["ps", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    assert_eq!(ps["agents"].as_array().unwrap().len(), 1, "{ps}");
    exits(&world, &["down", "--kill"], 0).await;
}

#[tokio::test]
async fn a_reader_that_went_away_is_0() {
    let world = world().await;
    let mut child = world.command(&["tool"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
}

#[tokio::test]
async fn the_help_and_the_manual_list_the_same() {
    let world = World::bare(BINARY).unwrap();
    let help = world.run(&["-h"]).await.unwrap().ok().unwrap().stdout;
    let (_, told) = help.split_once("Exit codes: ").unwrap();
    let told = told.replace('\n', " ");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/exit-codes.md");
    let manual = fs::read_to_string(path).unwrap();
    let listed = told.trim_end().trim_end_matches('.').split(", ");
    let listed: Vec<(&str, &str)> = listed.map(|one| one.trim().split_once(' ').unwrap()).collect();
    assert_eq!(listed.len(), 8, "{listed:?}");
    for (exit, means) in listed {
        assert!(manual.contains(&format!("| {exit} | {means} |")), "{exit} {means}");
    }
}
