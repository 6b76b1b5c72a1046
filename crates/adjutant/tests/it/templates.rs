//! Templates on the command line: files of the home that are tools while the server runs.

use std::fs;

use serde_json::{Value, json};
use testkit::World;

const LOOK: &str = "---
description: Look at something
arguments:
  - {name: target, description: What to look at, required: true}
  - focus
---
Look at {{target}}. {{focus}}
";

/// A world with a template of its own, in which nothing is in the way of a start.
async fn world() -> World {
    let world = crate::world().await;
    fs::write(world.home().join("templates/look_at.md"), LOOK).unwrap();
    world
}

async fn answer(world: &World, arguments: &[&str]) -> Value {
    world.run(arguments).await.unwrap().ok().unwrap().json().unwrap()
}

/// What an agent was asked.
async fn prompt(world: &World, started: &Value) -> Value {
    let id = started["spawn_id"].as_str().unwrap();
    let input = json!({ "id": id }).to_string();
    drop(input);
    answer(world, &["logs", id, "--json"]).await
}

#[tokio::test]
async fn templates_are_listed_while_the_server_runs() {
    let world = world().await;
    let names = async || {
        let listed = answer(&world, &["tool", "--json"]).await;
        let tools = listed["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(!names().await.contains(&"look_at".to_owned()), "nobody was asked");
    let _server = world.up().await.unwrap();
    let names = names().await;
    let at = names.iter().position(|name| name == "get_result").unwrap();
    let shown = ["analyze_deps", "explain_code", "look_at", "review_code", "run_tests"];
    assert_eq!(names[at + 1..at + 6], shown);
    let page = world.run(&["tool"]).await.unwrap().ok().unwrap().stdout;
    assert!(page.contains("  look_at  ") && page.contains("Look at something\n"), "{page}");
}

#[tokio::test]
async fn a_templates_help_comes_from_its_arguments() {
    let world = world().await;
    let ran = world.run(&["tool", "look_at", "--help"]).await.unwrap().ok().unwrap();
    for told in [
        "Usage: adjutant tool look_at [OPTIONS]",
        "--target <TEXT>",
        "What to look at [required]",
        "--async[=<BOOL>]",
        "--max-cost-usd <N>",
        "--input <JSON>",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
    let ran = world.run(&["tool", "look_at", "--targte", "x"]).await.unwrap();
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("'--target'"), "{}", ran.stderr);
}
