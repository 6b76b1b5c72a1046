//! Help is what people read first: it is short, whole, and fits a terminal.

use testkit::World;

use crate::BINARY;

const COMMANDS: [&str; 35] = [
    "init",
    "up",
    "down",
    "status",
    "token",
    "run",
    "draft",
    "await",
    "kill",
    "resume",
    "enlist",
    "discharge",
    "ps",
    "logs",
    "attach",
    "costs",
    "tasks",
    "loop",
    "plan",
    "supervisors",
    "mail",
    "reviews",
    "review",
    "worktrees",
    "merge-queue",
    "events",
    "decisions",
    "audit",
    "tool",
    "mcp",
    "reload",
    "doctor",
    "config",
    "completions",
    "demo",
];

#[tokio::test]
async fn the_top_level_shows_every_command() {
    let world = World::bare(BINARY).unwrap();
    let ran = world.run(&["-h"]).await.unwrap().ok().unwrap();
    insta::assert_snapshot!(ran.stdout);
    assert_eq!(world.run(&[]).await.unwrap().stderr, ran.stdout);
}

#[tokio::test]
async fn every_command_has_an_example_and_fits_80_columns() {
    let world = World::bare(BINARY).unwrap();
    for command in COMMANDS {
        let help = world.run(&[command, "-h"]).await.unwrap().ok().unwrap().stdout;
        assert!(help.contains("Example:\n"), "`{command}` has no example:\n{help}");
        let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{command}: {wide:?}");
    }
}

#[tokio::test]
async fn a_tools_help_comes_from_its_schema() {
    let world = World::bare(BINARY).unwrap();
    let ran = world.run(&["tool", "mcp__mail__send", "--help"]).await.unwrap().ok().unwrap();
    insta::assert_snapshot!(ran.stdout);
}

#[tokio::test]
async fn tools_are_listed_without_a_server() {
    let world = World::bare(BINARY).unwrap();
    let ran = world.run(&["tool"]).await.unwrap().ok().unwrap();
    assert!(ran.stdout.contains("  mail_send "), "{}", ran.stdout);
    let list = world.run(&["tool", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    let send = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "mail_send");
    assert_eq!(send.unwrap()["canonicalName"], "mcp__mail__send");
}

#[tokio::test]
async fn shells_get_their_completions() {
    let world = World::bare(BINARY).unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let ran = world.run(&["completions", shell]).await.unwrap().ok().unwrap();
        assert!(ran.stdout.contains("enlist") && ran.stdout.contains("mail_send"), "{shell}");
    }
}
