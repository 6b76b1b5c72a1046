//! Commits in audit rows, and hostile git files that must not block calls.

use std::fs;
use std::path::Path;
use std::time::Duration;

use host::process::{Launch, run};
use serde_json::{Value, json};
use store::AuditFilter;

use crate::support::World;
use crate::support::repository::{commit, git};

fn pipe(path: &Path) {
    let launch = Launch {
        program: "mkfifo".into(),
        arguments: vec![path.into()],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        directory: "/".into(),
    };
    assert!(run(&launch, Duration::from_secs(60)).unwrap().exit.is_success());
}

/// The commit that the newest row names.
fn recorded(world: &World) -> Value {
    let page = world.store.read(|tx| tx.audit_page(&AuditFilter::default(), 500)).unwrap();
    let row: Value = serde_json::from_str(&page.items.last().unwrap().body).unwrap();
    row["gitCommit"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_go_on_whatever_an_agent_makes_of_git_files() {
    let world = World::with_limit(0);
    let agent = world.enlist("worker").await;
    let root = world.engine.project().to_owned();
    git(&root, &["init", "-q", "-b", "main"]);
    let first = commit(&root, "file", "text", "First");
    let (dot, head) = (root.join(".git"), root.join(".git/HEAD"));
    let saved = fs::read(&head).unwrap();
    let outside = root.join("outside");
    fs::write(&outside, &first).unwrap();
    let tricks: [(&str, &dyn Fn()); 5] = [
        ("a pipe as HEAD", &|| pipe(&head)),
        ("a link to itself", &|| std::os::unix::fs::symlink("HEAD", &head).unwrap()),
        ("a gigabyte", &|| fs::File::create(&head).unwrap().set_len(1 << 30).unwrap()),
        ("a name that leads out", &|| fs::write(&head, "ref: ../outside\n").unwrap()),
        ("a pipe as .git", &|| {
            fs::remove_dir_all(&dot).unwrap();
            pipe(&dot);
        }),
    ];
    for (name, play) in tricks {
        fs::write(&head, &saved).unwrap();
        world.clock.advance_seconds(2);
        let decide = json!({ "title": name, "body": "x" });
        world.ask(agent, "mcp__system__log_decision", decide.clone()).await.unwrap();
        assert_eq!(recorded(&world), first, "before {name}");
        fs::remove_file(&head).unwrap();
        play();
        world.clock.advance_seconds(2);
        world.ask(agent, "mcp__system__log_decision", decide).await.unwrap();
        assert_eq!(recorded(&world), Value::Null, "{name}");
        world.ask(agent, "mcp__agent__get_status", json!({})).await.unwrap();
        world.ask(agent, "mcp__epic__create", json!({})).await.unwrap_err();
        // The operator's acts record a commit too.
        world.clock.advance_seconds(2);
        world.engine.refresh_project_head().await;
        world.enlist("worker").await;
        assert_eq!(recorded(&world), Value::Null, "{name}");
        assert_eq!(world.engine.unhealthy(), None);
        drop(fs::remove_file(&head));
    }
}

#[tokio::test]
async fn a_new_commit_is_recorded_though_the_clock_was_set_back() {
    let world = World::with_limit(0);
    let agent = world.enlist("worker").await;
    let root = world.engine.project().to_owned();
    git(&root, &["init", "-q", "-b", "main"]);
    let first = commit(&root, "file", "one", "First");
    let decide =
        || world.ask(agent, "mcp__system__log_decision", json!({ "title": "x", "body": "x" }));
    decide().await.unwrap();
    assert_eq!(recorded(&world), first);
    let second = commit(&root, "file", "two", "Second");
    world.clock.step_seconds(-3600);
    world.clock.advance_seconds(2);
    decide().await.unwrap();
    assert_eq!(recorded(&world), second);
}

#[tokio::test]
async fn the_rate_limiter_fills_again_though_the_clock_was_set_back() {
    let world = World::with_limit(60);
    let agent = world.enlist("worker").await;
    let ask = || world.ask(agent, "mcp__agent__get_status", json!({}));
    while ask().await.is_ok() {}
    assert_eq!(ask().await.unwrap_err().code(), "RATE_LIMITED");
    world.clock.step_seconds(-3600);
    world.clock.advance_seconds(30);
    ask().await.unwrap();
}
