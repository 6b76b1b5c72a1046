//! Where a home keeps its record, and that neither a cleaning nor a new name of the project loses it.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Http, World};

use crate::crew::{repository, sh, until};
use crate::{BINARY, world};

async fn answer(world: &World, arguments: &[&str]) -> Value {
    world.run(arguments).await.unwrap().ok().unwrap().json().unwrap()
}

async fn remember(world: &World, title: &str) {
    world.run(&["tool", "task_create", "--title", title]).await.unwrap().ok().unwrap();
}

async fn titles(world: &World) -> Vec<String> {
    let tasks = answer(world, &["tasks", "--json"]).await;
    let tasks = tasks["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn cleaning_the_working_tree_loses_neither_record_nor_server_nor_rules() {
    let world = world().await;
    repository(&world).await;
    world.run(&["config", "set", "limits.depth", "2"]).await.unwrap().ok().unwrap();
    let file = answer(&world, &["up", "--detach", "--json"]).await;
    remember(&world, "Before").await;
    assert!(world.state_dir().starts_with(world.project().join(".git/adjutant")));
    sh(&world, "git worktree add -q .adjutant/worktrees/sp_1").await;

    // Everything in the home is ignored, the rules too.
    sh(&world, "git clean -q -fdx").await;
    assert!(!world.home().join("config.yaml").exists());
    assert!(world.home().join("worktrees/sp_1/.gitignore").exists(), "git leaves worktrees alone");
    remember(&world, "After").await;
    let again = answer(&world, &["up", "--detach", "--json"]).await;
    assert_eq!(again, file, "the same server, and no second one");
    until("the copy for scripts is there again", || {
        world.server_file().unwrap() == Some(file.clone())
    })
    .await;
    sh(&world, "git worktree remove .adjutant/worktrees/sp_1; rm -rf .adjutant").await;
    world.run(&["down"]).await.unwrap().ok().unwrap();
    sh(&world, "rm -rf .adjutant").await;

    assert_eq!(titles(&world).await.len(), 2, "the home is found by its state");
    let depth = world.run(&["config", "get", "limits.depth"]).await.unwrap().ok().unwrap();
    assert_eq!(depth.stdout, "2\n", "and the last good configuration holds");
    // A change restores the folder first.
    world.run(&["config", "set", "limits.depth", "3"]).await.unwrap().ok().unwrap();
    assert!(world.home().join("roles/coder.md").is_file());
    world.run(&["down"]).await.unwrap().ok().unwrap();
}

#[tokio::test]
async fn state_is_moved_into_a_repository_by_the_first_start() {
    let world = world().await;
    remember(&world, "Before").await;
    world.run(&["down"]).await.unwrap().ok().unwrap();
    let old = world.home().join("state");
    assert!(old.join("state.db").is_file());
    repository(&world).await;
    assert_eq!(titles(&world).await, ["Before"]);
    assert!(!old.exists() && world.state_dir().join("state.db").is_file());
    world.run(&["down"]).await.unwrap().ok().unwrap();

    // As an older Adjutant kept it.
    let state = world.state_dir();
    for name in ["state.db", "runs"] {
        fs::rename(state.join(name), world.home().join(name)).unwrap();
    }
    fs::remove_dir_all(&state).unwrap();
    assert_eq!(titles(&world).await, ["Before"]);
    assert!(!world.home().join("state.db").exists());
    world.run(&["down"]).await.unwrap().ok().unwrap();

    fs::create_dir(world.home().join("runs")).unwrap();
    let refused = world.run(&["up", "--detach"]).await.unwrap();
    assert_eq!(refused.code, Some(5));
    for path in [world.state_dir(), world.home()] {
        let path = path.canonicalize().unwrap().display().to_string();
        assert!(refused.stderr.contains(&path), "{path}: {}", refused.stderr);
    }
}

#[tokio::test]
async fn a_server_whose_record_is_taken_away_says_so_and_ends() {
    let world = world().await;
    let mut server = world.up().await.unwrap();
    let http = Http::new(&server.url, world.operator().await.unwrap());
    assert_eq!(http.get("/healthz").await.unwrap().0, 200);
    fs::rename(world.home().join("state"), world.home().join("elsewhere")).unwrap();
    let call = json!({ "toolName": "task_create", "input": { "title": "Lost" } });
    // It may have noticed before it was asked.
    if let Ok((status, body)) = http.post("/mcp/execute", &call).await {
        assert!(!status.is_success(), "{body}");
        let said = body["error"]["message"].as_str().unwrap();
        assert!(said.contains("was removed or replaced"), "{said}");
    }
    let ended = server.ended().await.unwrap();
    assert!(!ended.success(), "{ended:?}");
}

#[tokio::test]
async fn a_project_that_was_renamed_is_served_at_its_new_place() {
    let world = world().await;
    repository(&world).await;
    let file = answer(&world, &["up", "--detach", "--json"]).await;
    remember(&world, "Before").await;
    let (old, new) = (world.project(), world.project().with_file_name("renamed"));
    fs::rename(&old, &new).unwrap();
    let shell = async |arguments: &str| {
        world.shell_in(&new, &format!("'{BINARY}' {arguments}")).await.unwrap()
    };
    // The old server ends when it is asked to, or has noticed by itself.
    let down = shell("down --json").await;
    assert_eq!(down.code, Some(0), "{down:?}");
    let pid = u32::try_from(file["pid"].as_u64().unwrap()).unwrap();
    let gone =
        tokio::task::spawn_blocking(move || host::process::wait_gone(pid, Duration::from_secs(20)));
    assert!(gone.await.unwrap());
    let tasks = shell("tasks --json").await.ok().unwrap().json().unwrap();
    assert_eq!(tasks["tasks"][0]["title"], "Before");
    let doctor = shell("doctor --json").await.json().unwrap();
    assert!(doctor.to_string().contains("answers (process"), "{doctor}");
    shell("down").await.ok().unwrap();
}

#[tokio::test]
async fn a_named_folder_holds_the_state_and_everything_in_it_is_private() {
    let world = world().await;
    repository(&world).await;
    let state = world.scratch().join("kept");
    let named = state.display().to_string();
    world.run(&["up", "--detach", "--state", &named]).await.unwrap().ok().unwrap();
    // The copy of its file leads everybody else there.
    remember(&world, "Kept").await;
    assert_eq!(World::mode(&state).unwrap(), 0o700);
    for name in ["state.db", "state.db-wal", "state.db-shm", "server.lock", "server.json"] {
        assert_eq!(World::mode(&state.join(name)).unwrap(), 0o600, "{name}");
    }
    for name in ["server.log", "runs/address"] {
        assert_eq!(World::mode(&state.join(name)).unwrap() & 0o077, 0, "{name}");
    }
    assert_eq!(World::mode(&state.join("runs")).unwrap(), 0o700);
    assert!(!world.project().join(".git/adjutant").exists());
    let down = answer(&world, &["down", "--json"]).await;
    assert_eq!(down["how"], "asked", "{down}");
    // Named again, the record is there again.
    let tasks = answer(&world, &["--state", &named, "tasks", "--json"]).await;
    assert_eq!(tasks["tasks"][0]["title"], "Kept");
    world.run(&["--state", &named, "down"]).await.unwrap().ok().unwrap();
}

#[tokio::test]
async fn a_stranger_at_the_servers_address_is_no_server() {
    let world = world().await;
    remember(&world, "Before").await;
    world.run(&["down"]).await.unwrap().ok().unwrap();
    let stranger = testkit::Receiver::start().await.unwrap();
    stranger.react(|_| testkit::Reaction::With(200, Vec::new(), "{}".to_owned()));
    let note = json!({
        "url": stranger.url(""), "pid": std::process::id(), "version": "0.1.0",
        "startedAt": "2026-01-01T00:00:00.000Z",
    });
    for path in [world.state_dir().join("server.json"), world.home().join("server.json")] {
        fs::write(path, note.to_string()).unwrap();
    }
    assert_eq!(world.run(&["status"]).await.unwrap().code, Some(6));
    let started = answer(&world, &["up", "--detach", "--json"]).await;
    assert_ne!(started["url"], note["url"]);
    assert_eq!(titles(&world).await, ["Before"]);
    let heard = stranger.got();
    assert!(!heard.is_empty());
    for asked in heard {
        assert!(!format!("{asked:?}").contains("adjop_"), "{asked:?}");
    }
    world.run(&["down"]).await.unwrap().ok().unwrap();
}
