//! A worktree stays while a live agent works in it, no matter which agent it belongs to.

use super::*;

impl Yard {
    /// An agent that works where its parent does, prepared to start.
    async fn help(&mut self, parent: AgentId) -> Agent {
        let (agent, run) = self.draft("helper", Some(parent), None).await;
        crate::delivery::worktree_setup::prepare(&self.engine, &agent, &run).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_keeps_its_parents_worktree_and_its_work_is_kept_when_it_ends() {
    let mut yard = Yard::new();
    let parent = yard.hire().await;
    let dir = PathBuf::from(parent.cwd.clone().unwrap());
    let (first, last) = (yard.help(parent.id).await, yard.help(parent.id).await);
    assert_eq!(first.cwd, parent.cwd);
    // The parent left nothing, so that its worktree would go with it.
    yard.end(parent.id, Outcome::Succeeded).await;
    yard.settle().await;
    std::fs::write(dir.join("work.txt"), "work\n").unwrap();
    git(&dir, &["add", "-A"]);
    git(&dir, &["commit", "-q", "-m", "Work of the child"]);
    yard.end(first.id, Outcome::Succeeded).await;
    yard.settle().await;
    assert!(dir.is_dir(), "another child works in it");
    std::fs::write(dir.join("late.txt"), "late\n").unwrap();
    yard.end(last.id, Outcome::Failed).await;
    yard.settle().await;
    let show =
        |file: &str| git(&yard.project(), &["show", &format!("adjutant/{}:{file}", parent.id)]);
    assert_eq!((show("work.txt"), show("late.txt")), ("work".into(), "late".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_worktree_is_removed_when_its_last_occupant_ends() {
    let mut yard = Yard::new();
    let parent = yard.hire().await;
    let dir = PathBuf::from(parent.cwd.clone().unwrap());
    let child = yard.help(parent.id).await;
    let grandchild = yard.help(child.id).await;
    for id in [parent.id, child.id] {
        yard.end(id, Outcome::Succeeded).await;
        yard.settle().await;
        assert!(dir.is_dir(), "a live agent works in it");
    }
    yard.end(grandchild.id, Outcome::Succeeded).await;
    yard.settle().await;
    assert!(!dir.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_waits_for_its_start_keeps_its_parents_worktree() {
    let mut yard = Yard::new();
    let parent = yard.hire().await;
    let (waiting, run) = yard.draft("helper", Some(parent.id), None).await;
    yard.end(parent.id, Outcome::Succeeded).await;
    yard.settle().await;
    let started =
        crate::delivery::worktree_setup::prepare(&yard.engine, &waiting, &run).await.unwrap();
    assert_eq!(started.cwd, parent.cwd);
    assert!(Path::new(&parent.cwd.unwrap()).is_dir());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_occupied_worktree_is_neither_pruned_nor_discarded() {
    let mut yard = Yard::new();
    let parent = yard.hire().await;
    let dir = PathBuf::from(parent.cwd.clone().unwrap());
    let child = yard.help(parent.id).await;
    yard.end(parent.id, Outcome::Killed).await;
    yard.settle().await;
    let error = yard.engine.worktree_prune(parent.id).await.unwrap_err();
    assert_eq!(error.message, format!("agent `{}` works in it", child.id));
    // What a merge does once the work is in.
    let (owner, now) = (parent.id, yard.engine.now());
    let discard = move |tx: &mut store::Tx<'_>| {
        let owner = tx.agent_get(owner)?.unwrap();
        crate::delivery::worktree_release::discard_worktree(tx, &owner, now)
    };
    yard.engine.store.write(discard).await.unwrap();
    yard.settle().await;
    assert!(dir.is_dir());
    std::fs::write(dir.join("half.txt"), "half\n").unwrap();
    yard.end(child.id, Outcome::Killed).await;
    yard.settle().await;
    assert!(!dir.exists(), "nobody wants it and nobody works in it");
    let rescued = format!("adjutant/rescue/{}:half.txt", parent.id);
    assert_eq!(git(&yard.project(), &["show", &rescued]), "half");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_below_a_worktree_or_behind_a_link_to_it_keeps_it() {
    let mut yard = Yard::new();
    for is_link in [false, true] {
        let owner = yard.hire().await;
        let dir = PathBuf::from(owner.cwd.clone().unwrap());
        std::fs::create_dir(dir.join("sub")).unwrap();
        let (guest, _) = yard.draft("reviewer", None, None).await;
        let link = yard.dir.path().join("link");
        std::os::unix::fs::symlink(&dir, &link).unwrap_or_default();
        let cwd = if is_link { link.join("sub") } else { dir.join("sub") };
        let (id, cwd) = (guest.id, cwd.display().to_string());
        yard.engine.store.write(move |tx| tx.agent_set_cwd(id, &cwd)).await.unwrap();
        yard.end(owner.id, Outcome::Succeeded).await;
        yard.settle().await;
        assert!(dir.join("sub").is_dir());
        yard.end(guest.id, Outcome::Succeeded).await;
        yard.settle().await;
        assert_eq!(dir.exists(), is_link, "behind a link it stays until somebody prunes it");
        std::fs::remove_file(link).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_that_is_being_removed_is_no_disagreement_and_what_is_left_of_one_is() {
    let mut yard = Yard::new();
    let owner = yard.hire().await;
    let dir = PathBuf::from(owner.cwd.clone().unwrap());
    yard.end(owner.id, Outcome::Succeeded).await;
    // Half removed, as while its job runs.
    std::fs::rename(&dir, host::git::going(&dir)).unwrap();
    assert_eq!(disagreements(&yard).await, Vec::<String>::new());
    yard.settle().await;
    assert_eq!(disagreements(&yard).await, Vec::<String>::new());
    std::fs::create_dir(host::git::going(&dir)).unwrap();
    assert_eq!(disagreements(&yard).await, ["a worktree without an agent"]);
}

async fn disagreements(yard: &Yard) -> Vec<String> {
    let engine = yard.engine.clone();
    let found = tokio::task::spawn_blocking(move || engine.disagreements()).await.unwrap().unwrap();
    found.into_iter().map(|found| found.what).collect()
}
