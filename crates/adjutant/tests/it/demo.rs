//! `adjutant demo` is true to its story, and leaves nothing behind, however it ends.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use testkit::World;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::BINARY;
use crate::crew::until;

/// What must hold, as the demo says it.
const CHECKS: [&str; 10] = [
    "came back at its old port",
    "every one of 9 agents ended as it should",
    "tried by a second agent, and is completed",
    "the spender was stopped at $0.12",
    "nothing was lost: of ",
    "every call is recorded, the refused one too; the chain of ",
    "committed in worktrees is merged, once each",
    "was reviewed twice, and each time the feedback came by a commit",
    "git and the record agree",
    "no process is left over",
];

/// The processes that name a folder in their environment or their arguments.
fn processes(folder: &Path) -> Vec<String> {
    let mark = folder.as_os_str().as_bytes();
    let read = |path: &Path| std::fs::read(path).unwrap_or_default();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let command = read(&entry.path().join("cmdline"));
        let all = [read(&entry.path().join("environ")), command.clone()].concat();
        let is_number = entry.file_name().to_str().is_some_and(|name| name.parse::<u32>().is_ok());
        if is_number && all.windows(mark.len()).any(|window| window == mark) {
            found.push(String::from_utf8_lossy(&command).replace('\0', " "));
        }
    }
    found
}

/// That there is nothing left of what was in a world, but a folder that was to be kept.
fn assert_gone(world: &World) {
    // The demo's folder is the only one that is made there.
    assert_eq!(processes(&world.scratch().join("adjutant-demo-")), Vec::<String>::new());
    for folder in [world.scratch(), world.state(), world.project()] {
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{}", folder.display());
    }
}

#[tokio::test]
async fn the_demo_tells_its_story_and_leaves_nothing_behind() {
    let mut world = World::bare(BINARY).unwrap();
    // Neither what belongs to another home nor what belongs to another agent gets in its way.
    for (name, value) in [
        ("NO_COLOR", "1"),
        ("ADJUTANT_AGENT_ID", "sp_0000000000000000"),
        ("ADJUTANT_URL", "http://127.0.0.1:9"),
        ("ADJUTANT_LIMITS_DEPTH", "0"),
        ("GIT_DIR", "/nonexistent"),
    ] {
        world.set(name, value);
    }
    let ran = world.run(&["demo"]).await.unwrap();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    for part in [
        "lead       drafts the writer, for TAS-2",
        "writer     writes to lead: “The greeting is written”",
        "adjutant   stops spender: spender's budget of $0.10",
        "tester     fails ($0.0100): nobody said which greeting is right",
        "lead       writes to you: “Which greeting is right?”",
        "SIGKILL) under its agents",
        "adjutant   is back at http://127.0.0.1:",
        "you        write to lead: “Re: Which greeting is right?”",
        "lead       drafts the tester again, for TAS-3",
        "tester 2   hands TAS-3 in",
        "reviewer   tells the writer: needs work",
        "adjutant   merges TAS-2 into the epic's branch",
        "lead       has TAS-3 completed",
        "All is as it should be.",
    ] {
        assert!(ran.stdout.contains(part), "no {part:?} in:\n{}", ran.stdout);
    }
    for check in CHECKS {
        let held = ran.stdout.lines().any(|line| line.starts_with('✓') && line.contains(check));
        assert!(held, "no {check:?} in:\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains(['✗', '\u{1b}']), "{}", ran.stdout);
    let wide: Vec<&str> = ran.stdout.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:?}");
    assert_gone(&world);
}

#[tokio::test]
async fn the_demo_can_be_read_by_programs_and_kept() {
    let world = World::bare(BINARY).unwrap();
    let ran = world.run(&["demo", "--json", "--keep"]).await.unwrap().ok().unwrap();
    let told = ran.json().unwrap();
    assert_eq!((&told["ok"], &told["checks"].as_array().unwrap().len()), (&true.into(), &10));
    assert!(told["checks"].as_array().unwrap().iter().all(|check| check["ok"] == true), "{told}");
    let crew = told["crew"].as_array().unwrap();
    let spender = crew.iter().find(|agent| agent["name"] == "spender").unwrap();
    assert_eq!(spender["state"], "over_budget");
    assert!(told["story"].as_array().unwrap().iter().any(|line| line["who"] == "tester 2"));
    // What was kept can be looked at.
    let folder = Path::new(told["folder"].as_str().unwrap());
    let mut look = world.command(&["ps", "--all", "--json", "--home"]);
    look.arg(folder.join("project")).env("XDG_STATE_HOME", folder.join("state"));
    let seen = look.output().await.unwrap();
    let seen: Value = serde_json::from_slice(&seen.stdout).unwrap();
    assert_eq!(seen["agents"].as_array().unwrap().len(), crew.len(), "{seen}");
    let mut down = world.command(&["down", "--home"]);
    down.arg(folder.join("project")).env("XDG_STATE_HOME", folder.join("state"));
    assert!(down.output().await.unwrap().status.success());
    assert_eq!(processes(folder), Vec::<String>::new());
}

#[tokio::test]
async fn a_demo_that_goes_wrong_says_so_and_leaves_nothing_behind() {
    let mut world = World::bare(BINARY).unwrap();
    // The second tester looks for the greeting with a program that finds nothing.
    let make = "mkdir ../tools && ln -s /bin/false ../tools/grep";
    world.shell(make).await.unwrap().ok().unwrap();
    let tools = world.project().with_file_name("tools");
    world.set("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", tools.display()));
    let ran = world.run(&["demo"]).await.unwrap();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""), "{}", ran.stdout);
    for part in ["tester 2   fails", "✗ every one of", "✓ every call is recorded", "Not so: "] {
        assert!(ran.stdout.contains(part), "no {part:?} in:\n{}", ran.stdout);
    }
    assert_gone(&world);
}

#[tokio::test]
async fn an_interrupted_demo_leaves_nothing_behind_either() {
    // In the middle of the crew's work; by a reader who goes away; and by the end of the terminal.
    for (line, signal) in [("stops spender", "INT"), ("serves", "TERM"), ("writer", "HUP")] {
        let world = World::bare(BINARY).unwrap();
        let mut demo = world.command(&["demo"]).stderr(Stdio::inherit()).spawn().unwrap();
        let pid = demo.id().unwrap();
        let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
        while !lines.next_line().await.unwrap().unwrap().contains(line) {}
        world.shell(&format!("kill -{signal} {pid}")).await.unwrap().ok().unwrap();
        while lines.next_line().await.unwrap().is_some() {}
        let code = demo.wait().await.unwrap().code();
        assert_eq!(code, Some(if signal == "HUP" { 129 } else { 130 }), "{signal}");
        assert_gone(&world);
    }
    let world = World::bare(BINARY).unwrap();
    world.shell(&format!("{BINARY} demo | head -3")).await.unwrap().ok().unwrap();
    until("the demo is over", || world.scratch().read_dir().unwrap().count() == 0).await;
    assert_gone(&world);
}
