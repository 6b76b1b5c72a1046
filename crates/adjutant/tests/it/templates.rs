//! Templates on the command line: files of the home that are tools while the server runs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use testkit::World;

const LOOK: &str = "---
description: Look at something
arguments:
  - {name: target, description: What to look at, required: true}
  - focus
---
Look at {{target}}. {{focus}}
";

/// Stands in for Claude Code: notes what it was asked, answers, and ends when its input does.
const CLAUDE: &str = r#"#!/bin/sh
printf '%s\n' "$*" > arguments.txt
read -r line
printf '%s\n' "$line" > asked.txt
uuid=$(sed 's/.*"uuid":"\([^"]*\)".*/\1/' asked.txt)
echo '{"type":"system","subtype":"init","session_id":"s1","model":"claude-small"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"Seen","session_id":"s1","total_cost_usd":0.25,"user_message_uuids":["'"$uuid"'"]}'
cat > /dev/null
"#;

/// A world with a template of its own.
async fn world() -> World {
    let world = crate::world().await;
    fs::write(world.home().join("templates/look_at.md"), LOOK).unwrap();
    let claude = world.project().join("claude.sh");
    fs::write(&claude, CLAUDE).unwrap();
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!("agents:\n  claude:\n    binary: {}\n", claude.display());
    fs::write(world.home().join("config.yaml"), config).unwrap();
    world
}

async fn answer(world: &World, arguments: &[&str]) -> Value {
    world.run(arguments).await.unwrap().ok().unwrap().json().unwrap()
}

/// The prompt that the last agent was given.
fn asked(world: &World) -> String {
    let line = fs::read_to_string(world.project().join("asked.txt")).unwrap();
    let message: Value = serde_json::from_str(&line).unwrap();
    message["message"]["content"][0]["text"].as_str().unwrap().to_owned()
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

#[tokio::test]
async fn a_template_runs_an_agent_and_answers_with_its_result() {
    let world = world().await;
    let typed = ["tool", "look_at", "--target", "src", "--focus=errors", "--json"];
    let seen = answer(&world, &typed).await;
    assert_eq!((&seen["success"], &seen["result"]), (&true.into(), &"Seen".into()), "{seen}");
    assert_eq!((&seen["task_summary"], &seen["cost_usd"]), (&"look_at".into(), &0.25.into()));
    assert!(asked(&world).contains("# Your Task\n\nLook at src. errors"), "{}", asked(&world));
    let arguments = fs::read_to_string(world.project().join("arguments.txt")).unwrap();
    assert!(arguments.contains("--model=sonnet"), "{arguments}");

    let changed = LOOK.replace("Look at {{target}}", "Stare at {{target}}");
    fs::write(world.home().join("templates/look_at.md"), changed).unwrap();
    let input = r#"{"target": "it"}"#;
    let again = ["tool", "mcp__agents__look_at", "--input", input, "--json"];
    answer(&world, &again).await;
    assert!(asked(&world).contains("Look at it. "), "what is not read again is as it was");
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    // The record has it under its own name, which may be typed short.
    let record = answer(&world, &["audit", "list", "--tool", "look_at", "--json"]).await;
    assert_eq!(record["rows"].as_array().unwrap().len(), 4, "two a call: {record}");
    let page = world.run(&["audit", "list", "--tool", "look_at"]).await.unwrap().ok().unwrap();
    assert!(page.stdout.contains(" look_at "), "{}", page.stdout);
    answer(&world, &again).await;
    assert!(asked(&world).contains("Stare at it. "), "{}", asked(&world));
}

#[tokio::test]
async fn mistakes_are_answered_as_for_every_tool() {
    let world = world().await;
    let worker = world.enlist("worker", &[]).await.unwrap();
    let cases: [(&[&str], &str, i32); 3] = [
        (&["tool", "look_at"], "INVALID_INPUT", 2),
        (&["tool", "look_at", "--input", r#"{"targte": "x"}"#], "INVALID_INPUT", 2),
        (&["tool", "lok_at", "--target", "x"], "TOOL_NOT_FOUND", 4),
    ];
    for (typed, code, exit) in cases {
        let ran = world.run(&[typed, &["--json"]].concat()).await.unwrap();
        let error = ran.error().unwrap();
        assert_eq!((&error["code"], ran.code), (&code.into(), Some(exit)), "{typed:?}: {error}");
    }
    let slip = world.run(&["tool", "lok_at"]).await.unwrap();
    assert!(slip.stderr.contains("did you mean `look_at`?"), "{}", slip.stderr);
    let denied = world.run_as(&worker, &["tool", "look_at", "--target", "x"]).await.unwrap();
    assert_eq!(denied.code, Some(3), "{}", denied.stderr);
    assert!(denied.stderr.contains("is not allowed for agent type 'WORKER'"), "{}", denied.stderr);
}
