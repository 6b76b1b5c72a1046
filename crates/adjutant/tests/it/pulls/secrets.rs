//! Where the token and the webhook's key are not.

use std::fs;
use std::path::{Path, PathBuf};

use model::review::PullState;

use super::{KEY, stage};
use crate::kill::{answer, draft, ended};

/// Every file below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => files(&entry.path(), found),
            kind if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
}

#[tokio::test]
async fn secrets_are_in_no_log_no_record_and_no_agents_environment() {
    let variables = [("MCP_LOG_LEVEL", "trace"), ("ADJUTANT_GITHUB_POLL_SECONDS", "1")];
    let stage = stage(&variables).await;
    let world = &stage.world;
    world.run(&["up", "--detach", "--json"]).await.unwrap().ok().unwrap();
    let coder = draft(world, "coder", "show").await;
    assert_eq!(ended(world, &coder).await, "succeeded");
    stage.github.set_pull_state(1, PullState::Merged);
    super::follow::changes(&stage, 1).await;
    stage.settled().await;
    let environment = fs::read_to_string(world.home().join("environment.txt")).unwrap();
    assert!(environment.contains("ADJUTANT_AGENT_ID="), "{environment}");
    assert!(!environment.contains("GITHUB"), "{environment}");
    answer(world, &["down"]).await;
    assert!(world.state_dir().join("server.log").is_file());
    let mut all = Vec::new();
    for folder in [world.project(), world.state(), stage.remote.clone()] {
        files(&folder, &mut all);
    }
    assert!(all.iter().any(|file| file.ends_with("state.db")), "{all:?}");
    // `x-access-token:` and the token's beginning, as git would send it.
    let basic = "eC1hY2Nlc3MtdG9rZW46Z2hwX2FUb2tlbl";
    for secret in [stage.github.token(), KEY, basic] {
        for file in &all {
            let content = fs::read(file).unwrap();
            let found = content.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{} has a secret", file.display());
        }
    }
    stage.github.finish().unwrap();
}
