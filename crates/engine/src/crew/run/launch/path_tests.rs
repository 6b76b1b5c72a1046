//! Where an agent may be started, wherever links lead.

use std::fs;
use std::os::unix::fs::symlink;

use model::AgentId;
use model::agent::AgentState;
use store::{NewAgent, NewWorktree, Store};
use tempfile::TempDir;

use super::*;
use crate::core::options::Options;
use crate::engine::Engine;

struct LaunchFolder {
    dir: TempDir,
    engine: Engine,
}

impl LaunchFolder {
    /// A project with a folder, and beside it a folder that is not its business.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("project/sub")).unwrap();
        fs::create_dir_all(dir.path().join("worktree/sub")).unwrap();
        fs::create_dir(dir.path().join("outside")).unwrap();
        let store = Store::open(&dir.path().join("state.db")).unwrap();
        let options = Options::new(dir.path().join("project"), String::new());
        Self { engine: Engine::new(store, Settings::default(), options), dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    async fn agent(&self, bits: u64, cwd: &str) -> Agent {
        let new = NewAgent {
            id: AgentId::from_bits(bits),
            role: "codex".into(),
            category: "worker".into(),
            kind: "codex".into(),
            parent: None,
            depth: 0,
            task: None,
            epic: None,
            session: None,
            iteration: None,
            state: AgentState::Queued,
            cwd: Some(cwd.to_owned()),
            token_hash: None,
        };
        let (id, now) = (new.id, self.engine.now());
        self.engine.store.write(move |tx| tx.agent_insert(&new, now)).await.unwrap();
        self.engine.store.read(|tx| tx.agent_get(id)).unwrap().unwrap()
    }
}

/// Puts a link in the place of a folder.
fn swap(folder: &Path, target: &Path) {
    fs::remove_dir(folder).unwrap();
    symlink(target, folder).unwrap();
}

#[tokio::test]
async fn a_folder_that_an_agent_named_may_not_become_a_link_out_of_the_project() {
    let place = LaunchFolder::new();
    let agent = place.agent(1, "sub").await;
    let by_agent = RunOptions { confinement: Confinement::Project, ..RunOptions::default() };
    let by_operator = RunOptions::default();
    for options in [&by_agent, &by_operator] {
        let found = work_directory(&place.engine, &agent, options).unwrap();
        assert_eq!(found, place.path("project/sub"));
    }
    swap(&place.path("project/sub"), &place.path("outside"));
    let error = work_directory(&place.engine, &agent, &by_agent).unwrap_err().to_string();
    assert!(error.contains("outside the project"), "{error}");
    // The operator's own links are the operator's business.
    work_directory(&place.engine, &agent, &by_operator).unwrap();
}

#[tokio::test]
async fn a_link_that_is_committed_leads_nobody_out_of_a_worktree() {
    let place = LaunchFolder::new();
    let tree = place.path("worktree");
    let agent = place.agent(1, tree.join("sub").to_str().unwrap()).await;
    let new = NewWorktree {
        agent: agent.id,
        path: tree.display().to_string(),
        branch: "b".into(),
        base: "0".repeat(40),
        target: None,
    };
    let now = place.engine.now();
    place.engine.store.write(move |tx| tx.worktree_insert(&new, now)).await.unwrap();
    let find = || work_directory(&place.engine, &agent, &RunOptions::default());
    assert_eq!(find().unwrap(), tree.join("sub"));
    swap(&tree.join("sub"), &place.path("outside"));
    assert!(find().unwrap_err().to_string().contains("outside the project"));
    fs::remove_file(tree.join("sub")).unwrap();
    assert!(find().is_err(), "a folder that is not there");
    symlink(place.path("project"), tree.join("sub")).unwrap();
    find().unwrap();
}
