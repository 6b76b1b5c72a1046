//! Keeping house with the real program: backups, restores and cleanings, killed at every point.

use std::path::{Path, PathBuf};

use engine::Point;
use serde_json::Value;
use testkit::World;

use crate::{BINARY, world};

fn points(prefix: &str) -> impl Iterator<Item = &'static Point> {
    Point::ALL.iter().filter(move |point| point.name().starts_with(prefix))
}

async fn ok(world: &World, arguments: &[&str]) -> String {
    world.run(arguments).await.unwrap().ok().unwrap().stdout
}

async fn json(world: &World, arguments: &[&str]) -> Value {
    world.run(arguments).await.unwrap().ok().unwrap().json().unwrap()
}

/// A command that dies at that point, as by SIGKILL.
async fn killed(world: &World, point: &Point, arguments: &[&str]) {
    let mut command = world.command(arguments);
    command.env("ADJUTANT_CRASH_AT", point.name());
    let output = command.output().await.unwrap();
    assert_eq!(output.status.code(), None, "{point}: {output:?}");
}

async fn titles(world: &World) -> Vec<String> {
    let tasks = json(world, &["tasks", "--json"]).await;
    let tasks = tasks["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

fn scratch(world: &World, name: &str) -> (PathBuf, String) {
    let path = world.scratch().join(name);
    (path.clone(), path.display().to_string())
}

#[tokio::test]
async fn a_home_is_backed_up_while_it_runs_and_comes_back_whole() {
    let world = world().await;
    let server = world.up().await.unwrap();
    ok(&world, &["tasks", "add", "Kept"]).await;
    let agent = world.enlist("worker", &[]).await.unwrap();
    std::fs::write(world.home().join("roles/extra.md"), "---\nname: extra\n---\nHi\n").unwrap();
    let (file, name) = scratch(&world, "crew.tar");
    let said = json(&world, &["backup", &name, "--json"]).await;
    assert_eq!(said["file"], name);
    assert_eq!(World::mode(&file).unwrap(), 0o600);
    assert_eq!(std::fs::read_dir(world.state_dir().join("snapshots")).unwrap().count(), 0);
    ok(&world, &["tasks", "add", "Came later"]).await;

    let refused = world.run(&["restore", &name, "--force"]).await.unwrap();
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(refused.stderr.contains("a server runs for this home"), "{refused:?}");
    assert_eq!(server.stop().await.unwrap(), Some(0));
    let refused = world.run(&["restore", &name]).await.unwrap();
    assert_eq!(refused.code, Some(5), "{refused:?}");
    assert!(refused.stderr.contains("--force"), "{refused:?}");
    std::fs::remove_file(world.home().join("roles/extra.md")).unwrap();
    let said = json(&world, &["restore", &name, "--force", "--json"]).await;
    assert!(Path::new(said["replaced"].as_str().unwrap()).join("state.db").is_file());
    assert_eq!(titles(&world).await, ["Kept"]);
    assert!(world.home().join("roles/extra.md").exists());
    let status = world.run_as(&agent, &["tool", "agent_get_status", "--json"]).await.unwrap();
    assert_eq!(status.ok().unwrap().json().unwrap()["id"], *agent.id, "its token is good still");
    assert_eq!(json(&world, &["audit", "verify", "--json"]).await["ok"], true);
    ok(&world, &["down"]).await;

    // Another machine: a clone, with what people committed.
    let other = World::bare(BINARY).unwrap();
    std::fs::create_dir_all(other.home()).unwrap();
    std::fs::copy(world.home().join("config.yaml"), other.home().join("config.yaml")).unwrap();
    ok(&other, &["restore", &name]).await;
    assert_eq!(titles(&other).await, ["Kept"]);
    ok(&other, &["down"]).await;
}

#[tokio::test]
async fn a_backup_that_is_killed_anywhere_leaves_no_half_file() {
    let world = world().await;
    let server = world.up().await.unwrap();
    ok(&world, &["tasks", "add", "Kept"]).await;
    let (file, name) = scratch(&world, "crew.tar");
    for point in points("backup.") {
        killed(&world, point, &["backup", &name]).await;
        assert!(!file.exists(), "{point}");
    }
    ok(&world, &["backup", &name]).await;
    let first = std::fs::read(&file).unwrap();
    for point in points("backup.") {
        killed(&world, point, &["backup", &name]).await;
        assert_eq!(std::fs::read(&file).unwrap(), first, "{point}: the last good one stays");
    }
    assert_eq!(server.stop().await.unwrap(), Some(0));
    ok(&world, &["restore", &name, "--force"]).await;
    assert_eq!(titles(&world).await, ["Kept"]);
    ok(&world, &["down"]).await;
}

#[tokio::test]
async fn a_restore_that_is_killed_anywhere_leaves_the_old_state_or_the_new() {
    let world = world().await;
    ok(&world, &["tasks", "add", "From the backup"]).await;
    let (_, name) = scratch(&world, "crew.tar");
    ok(&world, &["backup", &name]).await;
    ok(&world, &["tasks", "add", "Later"]).await;
    ok(&world, &["down"]).await;
    let (_, later) = scratch(&world, "later.tar");
    ok(&world, &["backup", &later]).await;
    ok(&world, &["down"]).await;
    for point in points("restore.") {
        killed(&world, point, &["restore", &name, "--force"]).await;
        let old = *point == Point::RestoreStaged;
        let expected: &[&str] =
            if old { &["From the backup", "Later"] } else { &["From the backup"] };
        let mut found = titles(&world).await;
        found.sort();
        assert_eq!(found, expected, "{point}");
        assert_eq!(json(&world, &["audit", "verify", "--json"]).await["ok"], true, "{point}");
        ok(&world, &["down"]).await;
        ok(&world, &["restore", &later, "--force"]).await;
    }
}

#[tokio::test]
async fn a_damaged_backup_changes_nothing() {
    let world = world().await;
    ok(&world, &["tasks", "add", "Kept"]).await;
    let (file, name) = scratch(&world, "crew.tar");
    ok(&world, &["backup", &name]).await;
    ok(&world, &["down"]).await;
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 600].fill(0x5a);
    std::fs::write(&file, bytes).unwrap();
    let refused = world.run(&["restore", &name, "--force"]).await.unwrap();
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("nothing was changed"), "{refused:?}");
    assert_eq!(titles(&world).await, ["Kept"]);
    ok(&world, &["down"]).await;
}

#[tokio::test]
async fn a_cleaning_that_is_killed_leaves_a_whole_chain_and_the_next_one_goes_on() {
    for point in points("clean.") {
        let mut world = world().await;
        for title in ["One", "Two", "Three"] {
            ok(&world, &["tasks", "add", title]).await;
        }
        ok(&world, &["down"]).await;
        world.set("ADJUTANT_CRASH_AT", point.name());
        let mut server = world.up().await.unwrap();
        let clean = ["clean", "--older-than", "0s", "--only", "audit", "--json"];
        let mut command = world.command(&clean);
        let mut child = command.spawn().unwrap();
        assert_eq!(server.ended().await.unwrap().code(), None, "{point}: killed");
        // Anyone who asked may have started the next server by now, which is killed the same way.
        drop(child.kill().await);
        world.set("ADJUTANT_CRASH_AT", "");
        ok(&world, &["down"]).await;
        assert_eq!(json(&world, &["audit", "verify", "--json"]).await["ok"], true, "{point}");
        json(&world, &clean).await;
        let archives: Vec<String> = std::fs::read_dir(world.state_dir().join("archive"))
            .unwrap()
            .map(|entry| entry.unwrap().path().display().to_string())
            .collect();
        let mut verify = vec!["audit", "verify", "--json", "--archive"];
        verify.extend(archives.iter().map(String::as_str));
        let verdict = json(&world, &verify).await;
        assert_eq!((&verdict["ok"], &verdict["archived"]), (&true.into(), &0.into()), "{point}");
        ok(&world, &["down"]).await;
    }
}

#[tokio::test]
async fn an_export_of_a_cut_record_can_be_followed_and_a_changed_archive_shows() {
    let world = world().await;
    for title in ["One", "Two", "Three"] {
        ok(&world, &["tasks", "add", title]).await;
    }
    let cleaned = json(&world, &["clean", "--older-than", "0s", "--only", "audit", "--json"]).await;
    let name = cleaned["parts"][0]["archives"][0].as_str().unwrap().to_owned();
    let (_, export) = scratch(&world, "export.jsonl");
    ok(&world, &["audit", "export", &export]).await;
    let verdict = json(&world, &["audit", "verify", &export, "--json"]).await;
    assert_eq!(verdict["ok"], true);
    assert!(verdict["archived"].as_i64().unwrap() > 0);
    let archive = world.state_dir().join("archive").join(name);
    let text = std::fs::read_to_string(&archive).unwrap();
    std::fs::write(&archive, text.replacen("Two", "Too", 1)).unwrap();
    let path = archive.display().to_string();
    let ran = world.run(&["audit", "verify", "--archive", &path, "--json"]).await.unwrap();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.json().unwrap()["problem"].as_str().unwrap().contains("SHA-256"));
    let ran = world.run(&["audit", "verify", "--archive", &export]).await.unwrap();
    assert_eq!(ran.code, Some(2), "one is not given: {ran:?}");
    ok(&world, &["down"]).await;
}

#[tokio::test]
async fn commands_that_ask_for_events_that_are_gone_go_on_with_those_that_are_kept() {
    let world = world().await;
    let server = world.up().await.unwrap();
    for _ in 0..3 {
        let agent = world.enlist("worker", &[]).await.unwrap();
        ok(&world, &["discharge", &agent.id]).await;
    }
    json(&world, &["clean", "--older-than", "0s", "--only", "events", "--json"]).await;
    let events = json(&world, &["events", "--json", "--kind", "agent.*"]).await;
    assert_eq!(events["events"].as_array().unwrap().len(), 1);
    let ran = world.run(&["events", "--after", "1"]).await.unwrap();
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("were removed"), "{ran:?}");
    assert_eq!(server.stop().await.unwrap(), Some(0));
}
