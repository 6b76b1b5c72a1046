//! MCP servers of the project's `.mcp.json`: which agents get them, and where their secrets stand.

use std::fs;

use serde_json::{Value, json};
use testkit::World;

use crate::crew::role;
use crate::handed_on::executable;
use crate::kill::{draft, ended, reason, stage};
use crate::provider_keys::files_with_key_below;

/// A value in the project's file.
const SECRET: &str = "ghp-the-pr0jects-own-token-for-a-server";

/// Keeps what it is given, and is done.
const PROGRAM: &str = r#"#!/bin/sh
for word in "$@"; do
  case $word in --mcp-config=*) file=${word#--mcp-config=} ;; esac
done
cp "$file" "$ADJUTANT_HOME/../seen.json"
ls -l "$file" > "$ADJUTANT_HOME/../seen-mode"
read -r line
printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"result":"Done.","num_turns":1}'
cat > /dev/null
"#;

async fn project() -> World {
    let mut world = stage("scenarios: {}\n", &[]).await;
    let program = world.scratch().join("claude");
    executable(&program, PROGRAM);
    world.set("ADJUTANT_AGENTS_CLAUDE_BINARY", program.display().to_string());
    let file = json!({ "mcpServers": {
        "github": { "command": "github-server", "env": { "GH_TOKEN": SECRET } },
        "crew": { "command": "sh", "args": ["-c", "exec adjutant mcp"] },
        "docs": { "type": "http", "url": "http://127.0.0.1:9/mcp" },
    }});
    fs::write(world.project().join(".mcp.json"), file.to_string()).unwrap();
    world
}

#[tokio::test]
async fn an_agent_gets_the_projects_servers_and_their_secrets_stand_in_no_record() {
    let world = project().await;
    role(&world, "thinker", "category: worker\nagent: claude\nworktree: none\nmcp: [github]");
    let _server = world.up().await.unwrap();
    let agent = draft(&world, "thinker", "Think").await;
    assert_eq!(ended(&world, &agent).await, "succeeded", "{}", reason(&world, &agent).await);
    let seen = fs::read_to_string(world.project().join("seen.json")).unwrap();
    let seen: Value = serde_json::from_str(&seen).unwrap();
    let servers = seen["mcpServers"].as_object().unwrap();
    assert_eq!(servers["github"]["env"]["GH_TOKEN"], SECRET);
    assert_eq!(servers["mail"]["type"], "http", "Adjutant's own are there, too");
    assert!(!servers.contains_key("crew") && !servers.contains_key("docs"), "{servers:?}");
    let mode = fs::read_to_string(world.project().join("seen-mode")).unwrap();
    assert!(mode.starts_with("-rw-------"), "{mode}");
    let nothing: [std::path::PathBuf; 0] = [];
    assert_eq!(files_with_key_below(&world.state_dir(), SECRET), nothing, "after its end");
}

#[tokio::test]
async fn a_role_that_names_no_server_is_refused_with_those_that_there_are() {
    let world = project().await;
    role(&world, "picky", "category: worker\nagent: claude\nworktree: none\nmcp: githup");
    let _server = world.up().await.unwrap();
    let refused = world.run(&["draft", "--role", "picky", "Think"]).await.unwrap();
    let text = format!("{}{}", refused.stdout, refused.stderr);
    for part in ["`githup`", "docs, github", "did you mean `github`?"] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert!(!text.contains("crew,"), "{text}");
    let checked = world.run(&["doctor"]).await.unwrap();
    assert!(checked.stdout.contains("`githup`"), "{}", checked.stdout);
}
