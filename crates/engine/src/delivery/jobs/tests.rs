//! Property: outbox jobs lose nothing, over random lives of agents in real worktrees.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::clock::Clock;
use host::process::{Launch, Output};
use model::agent::{AgentState, Outcome};
use model::{AgentId, Timestamp};
use proptest::prelude::*;
use store::{Agent, NewAgent, NewRun, Run, Store};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::OutboxRunner;
use crate::core::error::ToolError;
use crate::core::options::Options;
use crate::core::settings::{Role, Settings, Worktree};
use crate::crew::result;
use crate::crew::run::finish::{self, Ending, Figures};
use crate::delivery::outbox::params::MergeNotes;
use crate::engine::Engine;

mod occupied;
mod panicking;
mod timed_out;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A project under git, and an engine over it that runs nobody.
struct Yard {
    dir: TempDir,
    engine: Engine,
    clock: Clock,
    next: u64,
}

/// An event in an agent's work.
#[derive(Debug, Clone)]
enum Deed {
    Write { file: u8, text: u8 },
    Stage,
    Commit,
    Detach,
    OwnBranch,
    End(Outcome),
    Abandon,
    Prune,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        6 => (0..5_u8, any::<u8>()).prop_map(|(file, text)| Deed::Write { file, text }),
        2 => Just(Deed::Stage),
        4 => Just(Deed::Commit),
        1 => Just(Deed::Detach),
        1 => Just(Deed::OwnBranch),
        2 => prop::sample::select(vec![
            Outcome::Succeeded,
            Outcome::Failed,
            Outcome::Killed,
            Outcome::Lost,
        ])
        .prop_map(Deed::End),
        1 => Just(Deed::Abandon),
        2 => Just(Deed::Prune),
    ]
}

fn run(dir: &Path, arguments: &[&str]) -> Output {
    let plain = |name: &str, value: &str| (name.into(), value.into());
    let launch = Launch {
        program: "/usr/bin/git".into(),
        arguments: arguments.iter().map(Into::into).collect(),
        environment: vec![
            plain("PATH", PATH),
            plain("GIT_CONFIG_GLOBAL", "/dev/null"),
            plain("GIT_AUTHOR_NAME", "Agent"),
            plain("GIT_AUTHOR_EMAIL", "agent@localhost"),
            plain("GIT_COMMITTER_NAME", "Agent"),
            plain("GIT_COMMITTER_EMAIL", "agent@localhost"),
        ],
        directory: dir.to_owned(),
    };
    host::process::run(&launch, Duration::from_secs(30)).unwrap()
}

fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = run(dir, arguments);
    assert!(output.exit.is_success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Files of odd names, some in folders.
fn file_name(number: u8) -> &'static str {
    ["a.txt", "dir/b c.txt", "ü/ö.txt", "-dash", "quote\"s"][usize::from(number % 5)]
}

impl Yard {
    fn new() -> Self {
        Self::panicking(None)
    }

    /// A yard whose engine panics once at that place.
    fn panicking(panic_at: Option<super::Point>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        std::fs::create_dir_all(project.join(".adjutant")).unwrap();
        git(&project, &["init", "-q", "-b", "main"]);
        std::fs::write(project.join(".gitignore"), ".adjutant\n").unwrap();
        git(&project, &["add", "-A"]);
        git(&project, &["commit", "-q", "-m", "Begin"]);
        let store = Store::open(&project.join(".adjutant/state.db")).unwrap();
        let role = Role {
            name: "coder".into(),
            category: "coding".into(),
            worktree: Some(Worktree::Fresh),
            ..Role::default()
        };
        let reviewer =
            Role { name: "reviewer".into(), category: "review".into(), ..Role::default() };
        let helper = Role {
            name: "helper".into(),
            category: "coding".into(),
            worktree: Some(Worktree::Parent),
            ..Role::default()
        };
        let roles = [role, reviewer, helper].map(|role| (role.name.clone(), role));
        let settings = Settings {
            roles: roles.into(),
            default_kind: "script".into(),
            project: project.clone(),
            ..Settings::default()
        };
        let clock = Clock::manual(Timestamp::from_millis(1_800_000_000_000));
        let options = Options {
            clock: clock.clone(),
            operator_environment: vec![("PATH".into(), PATH.into())],
            panic_at,
            ..Options::new(project, String::new())
        };
        Self { dir, engine: Engine::new(store, settings, options), clock, next: 1 }
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// An agent in a worktree of its own.
    async fn hire(&mut self) -> Agent {
        self.hire_after(None).await
    }

    /// An agent that perhaps goes on for another.
    async fn hire_after(&mut self, before: Option<AgentId>) -> Agent {
        let (agent, run) = self.draft("coder", None, before).await;
        crate::delivery::worktree_setup::prepare(&self.engine, &agent, &run).await.unwrap()
    }

    /// An agent on record whose place is not prepared yet.
    async fn draft(
        &mut self,
        role: &'static str,
        parent: Option<AgentId>,
        before: Option<AgentId>,
    ) -> (Agent, Run) {
        let id = AgentId::from_bits(self.next);
        self.next += 1;
        let now = self.engine.now();
        self.engine
            .store
            .write(move |tx| {
                let new = NewAgent {
                    id,
                    role: role.into(),
                    category: "coding".into(),
                    kind: "script".into(),
                    parent,
                    depth: u32::from(parent.is_some()),
                    task: None,
                    epic: None,
                    session: None,
                    iteration: None,
                    state: AgentState::Running,
                    cwd: None,
                    token_hash: None,
                };
                tx.agent_insert(&new, now)?;
                let run = NewRun {
                    agent: id,
                    prompt: "work".into(),
                    summary: "work".into(),
                    options: "{}".into(),
                    resumed_from: before,
                    conversation: None,
                };
                tx.run_insert(&run)?;
                Ok::<_, ToolError>((tx.agent_get(id)?.unwrap(), tx.run_get(id)?.unwrap()))
            })
            .await
            .unwrap()
    }

    async fn end(&self, id: AgentId, outcome: Outcome) {
        let (settings, now) = (self.engine.settings(), self.engine.now());
        self.engine
            .store
            .write(move |tx| {
                let agent = tx.agent_get(id)?.unwrap();
                let reason = "its life is over".to_owned();
                let ending = Ending {
                    outcome,
                    result: result::read_result(None, &reason, None),
                    reason,
                    account: Figures::Whole,
                    left_work: false,
                };
                finish::finish(tx, &settings, &agent, &ending, now)
            })
            .await
            .unwrap();
    }

    /// Runs outbox jobs until none is left.
    async fn settle(&self) {
        loop {
            let open = self.engine.store.read(|tx| tx.outbox_jobs_open()).unwrap();
            if open.is_empty() {
                return;
            }
            for job in open {
                super::runner::run(&self.engine, job, &CancellationToken::new()).await;
            }
        }
    }

    /// Everything that some branch reaches.
    fn reachable(&self) -> BTreeSet<String> {
        let listed = git(&self.project(), &["rev-list", "--objects", "--branches"]);
        listed.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    }

    /// The hashes of all files that git does not ignore in a folder.
    fn files(dir: &Path) -> Vec<String> {
        let listed = run(dir, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let names = String::from_utf8(listed.stdout).unwrap();
        let names = names.split('\0').filter(|name| dir.join(name).is_file() && !name.is_empty());
        names.map(|name| git(dir, &["hash-object", "--", name])).collect()
    }
}

/// One agent's life, and what it left.
struct Life {
    agent: Agent,
    dir: PathBuf,
    commits: Vec<String>,
    ended: bool,
}

async fn live(yard: &mut Yard, deeds: Vec<(u8, Deed)>) {
    let mut lives = Vec::new();
    for _ in 0..3 {
        let agent = yard.hire().await;
        let dir = PathBuf::from(agent.cwd.clone().unwrap());
        lives.push(Life { agent, dir, commits: Vec::new(), ended: false });
    }
    // What lay in worktrees when they were given up, and where.
    let mut left: Vec<(PathBuf, String)> = Vec::new();
    for (which, deed) in deeds {
        let life = &mut lives[usize::from(which) % 3];
        let (id, dir) = (life.agent.id, life.dir.clone());
        match deed {
            _ if !life.ended && !dir.is_dir() => unreachable!("a live agent's worktree is there"),
            Deed::Write { file, text } if !life.ended => {
                let path = dir.join(file_name(file));
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, format!("{id} {text}\n")).unwrap();
            }
            Deed::Stage if !life.ended => drop(git(&dir, &["add", "-A"])),
            Deed::Commit if !life.ended => {
                git(&dir, &["add", "-A"]);
                git(&dir, &["commit", "-q", "--allow-empty", "-m", "A step"]);
                life.commits.push(git(&dir, &["rev-parse", "HEAD"]));
            }
            Deed::Detach if !life.ended => drop(git(&dir, &["checkout", "-q", "--detach"])),
            Deed::OwnBranch if !life.ended => {
                // It may have one already.
                drop(run(&dir, &["checkout", "-q", "-b", &format!("own-{id}")]));
            }
            Deed::End(outcome) if !life.ended => {
                life.ended = true;
                left.extend(Yard::files(&dir).into_iter().map(|hash| (dir.clone(), hash)));
                yard.end(id, outcome).await;
            }
            Deed::Abandon if !life.ended => {
                let settings = yard.engine.settings();
                let now = yard.engine.now();
                life.ended = true;
                left.extend(Yard::files(&dir).into_iter().map(|hash| (dir.clone(), hash)));
                yard.engine
                    .store
                    .write(move |tx| {
                        crate::delivery::reviews::abandon(tx, &settings, id, "given up", now)
                    })
                    .await
                    .unwrap();
                yard.end(id, Outcome::Abandoned).await;
            }
            Deed::Prune if life.ended => drop(yard.engine.worktree_prune(id).await),
            _ => {}
        }
        if matches!(which % 4, 3) {
            yard.settle().await;
        }
    }
    yard.settle().await;
    let reachable = yard.reachable();
    for life in &lives {
        for commit in &life.commits {
            let kept = reachable.contains(commit)
                || life.dir.is_dir() && git(&life.dir, &["rev-list", "HEAD"]).contains(commit);
            assert!(kept, "a commit of {} is lost", life.agent.id);
        }
    }
    for (dir, hash) in left {
        let kept = reachable.contains(&hash) || dir.is_dir() && Yard::files(&dir).contains(&hash);
        assert!(kept, "a file of {} is lost", dir.display());
    }
    // Anyone who is alive holds no disagreement against git, nor do the dead.
    let engine = yard.engine.clone();
    let found = tokio::task::spawn_blocking(move || engine.disagreements()).await.unwrap().unwrap();
    assert_eq!(found, Vec::new());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_an_agent_did_is_lost_whatever_becomes_of_it(
        deeds in prop::collection::vec((any::<u8>(), deed()), 1..40)
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let mut yard = Yard::new();
            live(&mut yard, deeds).await;
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_untouched_worktree_goes_with_its_agent_and_one_with_work_stays() {
    let mut yard = Yard::new();
    let (idle, busy) = (yard.hire().await, yard.hire().await);
    let dir = PathBuf::from(busy.cwd.clone().unwrap());
    std::fs::write(dir.join("work.txt"), "work\n").unwrap();
    for agent in [&idle, &busy] {
        yard.end(agent.id, Outcome::Succeeded).await;
    }
    yard.settle().await;
    assert!(!Path::new(&idle.cwd.unwrap()).exists());
    assert_eq!(git(&yard.project(), &["branch", "--list", &format!("adjutant/{}", idle.id)]), "");
    assert_eq!(git(&dir, &["status", "--porcelain"]), "", "what it left is committed");
    assert_eq!(git(&yard.project(), &["show", &format!("adjutant/{}:work.txt", busy.id)]), "work");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_that_is_pruned_leaves_its_branch_and_a_rescue() {
    let mut yard = Yard::new();
    let agent = yard.hire().await;
    let dir = PathBuf::from(agent.cwd.clone().unwrap());
    std::fs::write(dir.join("done.txt"), "done\n").unwrap();
    git(&dir, &["add", "-A"]);
    git(&dir, &["commit", "-q", "-m", "Done"]);
    std::fs::write(dir.join("half.txt"), "half\n").unwrap();
    let error = yard.engine.worktree_prune(agent.id).await.unwrap_err();
    assert_eq!(error.message, format!("agent `{}` works in it", agent.id));
    yard.end(agent.id, Outcome::Killed).await;
    yard.settle().await;
    assert!(dir.join("half.txt").exists(), "it stays until somebody says otherwise");
    yard.engine.worktree_prune(agent.id).await.unwrap();
    yard.settle().await;
    assert!(!dir.exists());
    let show = |what: String| git(&yard.project(), &["show", &what]);
    assert_eq!(show(format!("adjutant/{}:done.txt", agent.id)), "done");
    assert_eq!(show(format!("adjutant/rescue/{}:half.txt", agent.id)), "half");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_successor_works_in_its_predecessors_worktree_even_if_that_was_removed() {
    let mut yard = Yard::new();
    let first = yard.hire().await;
    let dir = PathBuf::from(first.cwd.clone().unwrap());
    std::fs::write(dir.join("work.txt"), "work\n").unwrap();
    yard.end(first.id, Outcome::Succeeded).await;
    yard.settle().await;
    let second = yard.hire_after(Some(first.id)).await;
    assert_eq!(second.cwd, first.cwd);
    yard.end(second.id, Outcome::Killed).await;
    yard.engine.worktree_prune(second.id).await.unwrap();
    yard.settle().await;
    assert!(!dir.exists());
    let third = yard.hire_after(Some(second.id)).await;
    assert_eq!(third.cwd, first.cwd);
    assert_eq!(std::fs::read_to_string(dir.join("work.txt")).unwrap(), "work\n");
    assert_eq!(git(&dir, &["branch", "--show-current"]), format!("adjutant/{}", first.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_notes_cannot_be_read_ends_with_an_error() {
    let mut yard = Yard::new();
    let agent = yard.hire().await;
    yard.end(agent.id, Outcome::Succeeded).await;
    let mut job = yard.engine.store.read(|tx| tx.outbox_jobs_open()).unwrap().remove(0);
    job.notes = Some("{".into());
    let Err(super::JobError::Never(error)) = super::notes_of::<MergeNotes>(&job) else {
        panic!("it was read");
    };
    let named = format!("the record of outbox job `{}` is damaged: its notes", job.id);
    assert!(error.message.starts_with(&named), "{}", error.message);
}
