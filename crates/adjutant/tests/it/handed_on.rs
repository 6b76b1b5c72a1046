//! What a person's shell hands on to agents, and what becomes of an agent whose provider refuses its credentials.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;
use testkit::World;

use crate::crew::role;
use crate::kill::{answer, draft, ended, operator, reason, stage};
use crate::provider_keys::files_with_key_below;

/// A value that only the person's shell has.
const SECRET: &str = "the-0nly-copy-of-this-s3cret-value";

const SCENARIOS: &str = r#"
scenarios:
  child:
    steps:
      - &note
        run:
          - sh
          - -c
          - >-
            printf '%s|%s|%s|%s|%s' "${#CREW_SECRET}" "$SSH_AUTH_SOCK" "$VIRTUAL_ENV" "${NOT_NAMED:-none}"
            "$(only-in-this-shell)" > "seen-$ADJUTANT_AGENT_ID"
  parent:
    steps:
      - *note
      - call: draft_agent
        with: {role: hand, prompt: child}
        save: child
      - call: await_agent
        with: {agentId: '{{child.agentId}}'}
        until: {status: completed}
"#;

/// Writes a program.
pub(crate) fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A server that was started without what the person's shell has now.
async fn shell() -> (World, testkit::Server) {
    let mut world = stage(SCENARIOS, &[("ADJUTANT_AGENTS_ENVIRONMENT", "CREW_SECRET")]).await;
    let server = world.up().await.unwrap();
    let tools = world.scratch().join("tools");
    fs::create_dir_all(&tools).unwrap();
    executable(&tools.join("only-in-this-shell"), "#!/bin/sh\nprintf here\n");
    let path = format!("relative:{}:/usr/local/bin:/usr/bin:/bin", tools.display());
    world.set("PATH", path);
    world.set("CREW_SECRET", SECRET);
    world.set("SSH_AUTH_SOCK", "/run/a-socket");
    world.set("VIRTUAL_ENV", "/srv/venv");
    world.set("NOT_NAMED", "unwanted");
    (world, server)
}

#[tokio::test]
async fn the_callers_environment_reaches_an_agent_and_those_it_drafts_and_no_file() {
    let (world, server) = shell().await;
    let parent = draft(&world, "lead", "parent").await;
    assert_eq!(ended(&world, &parent).await, "succeeded", "{}", reason(&world, &parent).await);
    let agents = answer(&world, &["ps", "--all"]).await["agents"].clone();
    let child = agents[1]["id"].as_str().unwrap();
    let seen = format!("{}|/run/a-socket|/srv/venv|none|here", SECRET.len());
    for agent in [parent.as_str(), child] {
        let found = fs::read_to_string(world.project().join(format!("seen-{agent}"))).unwrap();
        assert_eq!(found, seen, "{agent}");
    }
    let nothing: [std::path::PathBuf; 0] = [];
    assert_eq!(files_with_key_below(&world.project(), SECRET), nothing);
    server.kill().await.unwrap();
    assert_eq!(files_with_key_below(&world.state(), SECRET), nothing, "after a SIGKILL");
}

#[tokio::test]
async fn a_variable_that_nothing_names_is_refused_with_its_name() {
    let (world, server) = shell().await;
    let http = operator(&world, &server).await;
    let asked = json!({ "role": "hand", "prompt": "child", "environment": { "LD_PRELOAD": "x" } });
    let (status, refused) = http.post("/api/runs", &asked).await.unwrap();
    assert_eq!(status, 422, "{refused}");
    let text = refused.to_string();
    assert!(
        text.contains("environment.LD_PRELOAD") && text.contains("agents.environment"),
        "{text}"
    );
    let (_, seen) = http.get("/api/environment").await.unwrap();
    let names = ["ANTHROPIC_API_KEY", "CREW_SECRET", "PATH", "SSH_AUTH_SOCK", "VIRTUAL_ENV"];
    let listed = seen["handedOn"].as_array().unwrap();
    assert!(names.iter().all(|name| listed.contains(&json!(name))), "{seen}");
    assert!(!seen.to_string().contains(SECRET), "names and no values");
}

/// A Claude Code that was recorded with a wrong key, and that would go on trying for minutes.
fn refused_claude(path: &Path) {
    let recorded = "../host/tests/transcripts/claude/wrong-key.txt";
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join(recorded);
    let text = fs::read_to_string(recorded).unwrap();
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("< ")).collect();
    let last = lines.iter().rposition(|line| line.contains("api_retry")).unwrap();
    let printed = path.with_extension("jsonl");
    fs::write(&printed, lines[..=last].join("\n") + "\n").unwrap();
    executable(
        path,
        &format!("#!/bin/sh\nread -r line\ncat '{}'\nexec sleep 600\n", printed.display()),
    );
}

#[tokio::test]
async fn an_agent_with_a_wrong_key_ends_at_once_and_says_what_to_do() {
    let mut world = stage(SCENARIOS, &[]).await;
    let program = world.scratch().join("claude");
    refused_claude(&program);
    world.set("ADJUTANT_AGENTS_CLAUDE_BINARY", program.display().to_string());
    role(&world, "thinker", "category: worker\nagent: claude\nworktree: none");
    let _server = world.up().await.unwrap();
    let agent = draft(&world, "thinker", "Think").await;
    assert_eq!(ended(&world, &agent).await, "failed");
    let reason = reason(&world, &agent).await;
    for part in ["refuses its credentials", "HTTP 401", "`ANTHROPIC_API_KEY`", "claude /login"] {
        assert!(reason.contains(part), "no {part:?} in {reason}");
    }
}
