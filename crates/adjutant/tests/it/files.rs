//! Reserved files, with the real program and real git: who is refused, and whose commit is stopped.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Agent, CommandOutput, Http, World};

use crate::BINARY;
use crate::crew::role;

/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(60);
const RESERVE: &str = "mcp__files__reserve";
const RELEASE: &str = "mcp__files__release";
const LIST: &str = "mcp__files__list_reservations";

async fn call(world: &World, agent: &Agent, tool: &str, input: Value) -> CommandOutput {
    let input = input.to_string();
    world.run_as(agent, &["tool", tool, "--input", &input, "--json"]).await.unwrap()
}

async fn reserve(world: &World, agent: &Agent, paths: &[&str]) -> Value {
    let input = json!({ "paths": paths, "reason": "the parser" });
    call(world, agent, RESERVE, input).await.ok().unwrap().json().unwrap()
}

#[tokio::test]
async fn two_agents_do_not_hold_the_same_files() {
    let world = crate::world().await;
    let _server = world.up().await.unwrap();
    let ada = world.enlist("worker", &[]).await.unwrap();
    let bob = world.enlist("worker", &[]).await.unwrap();
    let mine = reserve(&world, &ada, &["src/**"]).await;
    assert_eq!(mine["reservations"][0]["agentId"], *ada.id);
    let refused = call(&world, &bob, RESERVE, json!({ "paths": ["src/lib.rs"] })).await;
    let error = refused.error().unwrap();
    assert_eq!((refused.code, &error["code"]), (Some(5), &json!("CONFLICT")));
    assert_eq!(error["details"]["conflicts"][0]["heldBy"], *ada.id);
    let again = reserve(&world, &ada, &["src/**"]).await;
    assert_eq!(again["reservations"][0]["id"], mine["reservations"][0]["id"], "renewed");
    let flags = ["tool", "files_list_reservations", "--path", "src/lib.rs", "--json"];
    let who = world.run(&flags).await.unwrap().ok().unwrap().json().unwrap();
    assert_eq!(who["reservations"][0]["agentId"], *ada.id);
    world.run(&["discharge", &ada.id]).await.unwrap().ok().unwrap();
    reserve(&world, &bob, &["src/lib.rs"]).await;
}

#[tokio::test]
async fn the_files_of_an_agent_that_ran_are_free_when_it_is_over() {
    let world = crate::world().await;
    let input = json!({ "paths": ["src/**"] });
    let command = json!([BINARY, "tool", RESERVE, "--input", input.to_string(), "--json"]);
    role(&world, "holder", &format!("category: worker\nagent: command\ncommand: {command}"));
    let server = world.up().await.unwrap();
    let ran = world.run(&["run", "--role", "holder", "--json", "p"]).await.unwrap().ok().unwrap();
    assert_eq!(ran.json().unwrap()["state"], "succeeded");
    let operator = Http::new(&server.url, world.operator().await.unwrap());
    let events = world.run(&["events", "--kind", "files.reserved", "--json"]).await.unwrap();
    assert!(events.stdout.contains("src/**"), "it held them: {events:?}");
    let left = operator.call(LIST, json!({})).await.unwrap().unwrap();
    assert_eq!(left["reservations"], json!([]));
}

/// A repository with two agents, each in a guarded worktree of its own.
struct Stage {
    world: World,
    _server: testkit::Server,
    ada: Agent,
    bob: Agent,
}

impl Stage {
    async fn set() -> Self {
        let world = crate::world().await;
        let server = world.up().await.unwrap();
        let stage = Self {
            ada: world.enlist("worker", &[]).await.unwrap(),
            bob: world.enlist("worker", &[]).await.unwrap(),
            world,
            _server: server,
        };
        stage.ok(
            "git init -q -b main && git config user.name x && git config user.email x@example.com
             mkdir src docs && echo 1 > src/lib.rs && echo 1 > src/old.rs && echo 1 > docs/a.md
             git add src docs && git commit -q -m begin",
        )
        .await;
        for agent in [&stage.ada, &stage.bob] {
            let tree = stage.tree(agent);
            stage.ok(&format!("git worktree add -q -b {} '{}'", agent.id, tree.display())).await;
            stage.guard(&tree);
        }
        stage
    }

    fn tree(&self, agent: &Agent) -> PathBuf {
        self.world.home().join("worktrees").join(&agent.id)
    }

    /// Puts the guard into a worktree, as Adjutant does when it makes one.
    fn guard(&self, tree: &Path) {
        let folder = self.world.state_dir().join("hooks");
        let environment: [(OsString, OsString); 2] = [
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()),
        ];
        let original = host::hooks::original(tree, &folder, &environment).unwrap();
        host::hooks::install(&folder, Path::new(BINARY), original.as_deref()).unwrap();
        host::hooks::enable(tree, &folder, &environment).unwrap();
    }

    async fn ok(&self, script: &str) -> String {
        let script = format!("set -e\n{script}");
        self.world.shell(&script).await.unwrap().ok().unwrap().stdout
    }

    /// Runs a script in an agent's worktree, as the agent.
    async fn work(&self, agent: &Agent, script: &str) -> CommandOutput {
        let environment = format!(
            "export ADJUTANT_AGENT_ID={} ADJUTANT_TOKEN={} ADJUTANT_HOME='{}'",
            agent.id,
            agent.token,
            self.world.home().display()
        );
        let tree = self.tree(agent);
        let script = format!("set -e\ncd '{}'\n{environment}\n{script}", tree.display());
        self.world.shell(&script).await.unwrap()
    }

    fn hook(&self, name: &str, text: &str) {
        let path = self.world.project().join(".git/hooks").join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[tokio::test]
async fn the_guard_stops_a_commit_of_what_another_holds_and_no_other() {
    let stage = Stage::set().await;
    let (ada, bob) = (&stage.ada, &stage.bob);
    reserve(&stage.world, ada, &["src/**"]).await;
    let change = "echo 2 > src/lib.rs; git add -A; git commit -q -m change";
    let stopped = stage.work(bob, change).await;
    assert_eq!(stopped.code, Some(1), "{stopped:?}");
    for word in [
        "a file of this commit is reserved",
        "src/lib.rs",
        &ada.id,
        "worker",
        "`src/**`",
        "until 20",
        "the parser",
        "mcp__mail__send",
        "git restore --staged",
    ] {
        assert!(stopped.stdout.contains(word), "{word}: {}", stopped.stdout);
    }
    assert_eq!(stage.work(bob, "git log --oneline | wc -l").await.stdout.trim(), "1");
    stage.work(ada, change).await.ok().unwrap();
    // To take a file away, be it to another name, is to change it.
    let moved =
        stage.work(bob, "git reset -q --hard; git mv src/old.rs docs/new.rs; git commit -q -m m");
    let moved = moved.await;
    assert_eq!(moved.code, Some(1));
    assert!(moved.stdout.contains("src/old.rs"), "{}", moved.stdout);
    let part = "git reset -q --hard; echo 2 > docs/a.md; echo 2 > src/lib.rs; git commit -q -m d docs/a.md";
    stage.work(bob, part).await.ok().unwrap();
    call(&stage.world, ada, RELEASE, json!({})).await.ok().unwrap();
    stage.work(bob, change).await.ok().unwrap();
}

#[tokio::test]
async fn what_a_merge_brings_is_not_stopped() {
    let stage = Stage::set().await;
    let (ada, bob) = (&stage.ada, &stage.bob);
    reserve(&stage.world, ada, &["src/**"]).await;
    let hers = "echo 2 > src/lib.rs; echo hers > docs/a.md; git commit -q -a -m hers";
    stage.work(ada, hers).await.ok().unwrap();
    stage.work(bob, "echo his > docs/a.md; git commit -q -a -m his").await.ok().unwrap();
    let merge = format!("git merge -q {} || true; echo both > docs/a.md; git add docs", ada.id);
    stage.work(bob, &format!("{merge}; git commit -q -m merged")).await.ok().unwrap();
    // What is changed on the way is.
    let again = format!("git reset -q --hard HEAD~1; {merge}; echo 3 > src/lib.rs; git add src");
    let stopped = stage.work(bob, &format!("{again}; git commit -q -m merged")).await;
    assert_eq!(stopped.code, Some(1));
    assert!(stopped.stdout.contains("src/lib.rs") && !stopped.stdout.contains("docs/a.md  held"));
}

#[tokio::test]
async fn the_repositorys_own_hooks_run_behind_the_guard() {
    let stage = Stage::set().await;
    let (ada, bob) = (&stage.ada, &stage.bob);
    reserve(&stage.world, ada, &["src/**"]).await;
    let trace = stage.world.scratch().join("trace");
    let tell = format!("echo \"$(basename \"$0\")\" >> '{}'", trace.display());
    stage.hook("pre-commit", &tell);
    stage.hook("post-commit", &tell);
    stage.hook("commit-msg", &format!("{tell}; ! grep -q bad \"$1\""));
    let told = || fs::read_to_string(&trace).unwrap_or_default().replace('\n', " ");
    assert_eq!(stage.work(bob, "echo 2 > src/lib.rs; git commit -qam x").await.code, Some(1));
    assert_eq!(told(), "", "what the guard stops goes no further");
    let allowed = "git reset -q --hard; echo 2 > docs/a.md; git commit -qam good";
    stage.work(bob, allowed).await.ok().unwrap();
    assert_eq!(told(), "pre-commit commit-msg post-commit ");
    let refused = stage.work(bob, "echo 3 > docs/a.md; git commit -qam bad").await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    // The main worktree has the hooks it always had, and no guard.
    stage.ok("echo 9 > src/lib.rs; git commit -qam main").await;
    assert!(!stage.ok("git config core.hooksPath || echo none").await.contains("hooks"));
}

#[tokio::test]
async fn a_guard_that_cannot_ask_lets_the_commit_through_and_says_so() {
    let stage = Stage::set().await;
    let (ada, bob) = (&stage.ada, &stage.bob);
    reserve(&stage.world, ada, &["src/**"]).await;
    let commit = "echo $RANDOM$RANDOM >> src/lib.rs; git commit -qam x";
    let nobody = format!("unset ADJUTANT_AGENT_ID ADJUTANT_TOKEN; {commit}");
    let nowhere = format!(
        "export ADJUTANT_URL=http://127.0.0.1:1 ADJUTANT_HOME='{}'; {commit}",
        stage.world.scratch().display()
    );
    let stranger = format!("export ADJUTANT_TOKEN=adjag_wrong; {commit}");
    for (script, why) in
        [(nobody, "not an agent's environment"), (nowhere, "no server"), (stranger, "")]
    {
        let ran = stage.work(bob, &script).await.ok().unwrap();
        let said = ran.stdout.lines().filter(|line| line.contains("not guarded"));
        assert_eq!(said.clone().count(), 1, "{}", ran.stdout);
        assert!(ran.stdout.contains(why), "{why}: {}", ran.stdout);
    }
    assert_eq!(stage.work(bob, commit).await.code, Some(1), "this test would notice");
}

#[tokio::test]
async fn many_files_are_asked_about_at_once() {
    let stage = Stage::set().await;
    reserve(&stage.world, &stage.ada, &["src/**"]).await;
    let many = "mkdir many; for n in {1..2000}; do echo $n > many/$n; done; git add many";
    stage.work(&stage.bob, &format!("{many}; git commit -q -m many")).await.ok().unwrap();
    let deadline = tokio::time::Instant::now() + PATIENCE;
    let mut look = tokio::time::interval(Duration::from_millis(20));
    // The row of a call that only looks shares the next commit, and may come a moment later.
    loop {
        look.tick().await;
        let listed = ["audit", "list", "--tool", LIST, "--json"];
        let listed = stage.world.run(&listed).await.unwrap().ok().unwrap().json().unwrap();
        match listed["rows"].as_array().unwrap().len() {
            0 => assert!(tokio::time::Instant::now() < deadline, "nobody asked"),
            count => return assert_eq!(count, 1),
        }
    }
}
