//! Worktrees in which a project runs: where they lie, what is put into them, and the project's set-up.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use serde_json::Value;
use testkit::World;

use crate::crew::{agree, crew, repository, scene, sh, until};
use crate::kill::{answer, cast, draft, ended, events, reason};

const STORY: &str = r#"
scenarios:
  look:
    steps:
      - run: [sh, -c, 'pwd > "$ADJUTANT_HOME/where"; env > "$ADJUTANT_HOME/env"; sh look.sh > "$ADJUTANT_HOME/seen" 2>&1']
      - result: {summary: done}
"#;

/// A repository with a rule for ignored files, and a script that an agent looks around with.
async fn stage(variables: &[(&str, &str)], look: &str) -> World {
    let world = scene(STORY, variables).await;
    cast(&world, "hand", "category: worker");
    repository(&world).await;
    let project = world.project();
    fs::write(project.join("look.sh"), look).unwrap();
    let rules = ".adjutant\n.env*\nnode_modules/\n.venv\n*.local\nmade\ncrew.yaml\n";
    fs::write(project.join(".gitignore"), rules).unwrap();
    sh(&world, "git add look.sh .gitignore && git commit -q -m Rules").await;
    world
}

fn noted(world: &World, name: &str) -> String {
    fs::read_to_string(world.home().join(name)).unwrap().trim().to_owned()
}

async fn looks(world: &World) {
    let ran = answer(world, &["run", "--role", "hand", "look"]).await;
    assert_eq!(ran["state"], "succeeded", "{ran}");
}

async fn fails(world: &World) -> String {
    let agent = draft(world, "hand", "look").await;
    assert_eq!(ended(world, &agent).await, "failed");
    reason(world, &agent).await
}

#[tokio::test]
async fn a_worktree_lies_outside_the_project_and_is_its_owners_alone() {
    let world = stage(&[], "git status --porcelain").await;
    looks(&world).await;
    let place = PathBuf::from(noted(&world, "where"));
    let folder = world.worktrees().canonicalize().unwrap();
    assert_eq!(place.parent().unwrap(), folder);
    assert!(!place.starts_with(world.project().canonicalize().unwrap()));
    assert!(!world.home().join("worktrees").exists());
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    agree(&world).await;
}

#[tokio::test]
async fn a_path_that_cannot_be_used_is_refused_before_anybody_starts() {
    let mut world = stage(&[], "true").await;
    let file = world.scratch().join("file");
    fs::write(&file, "").unwrap();
    for (path, why) in [
        ("trees".to_owned(), "is inside the project"),
        (file.display().to_string(), "is not a folder"),
        (world.state().join("adjutant/trees").display().to_string(), "a sandbox hides"),
    ] {
        world.set("ADJUTANT_WORKTREES_PATH", path.clone());
        let refused = world.run(&["up"]).await.unwrap();
        assert_eq!(refused.code, Some(2), "{path}: {}", refused.stderr);
        let said: Vec<&str> = refused.stderr.split_whitespace().collect();
        assert!(said.join(" ").contains(why), "{path}: {}", refused.stderr);
    }
    // It was fine when the server started, and is a file now.
    let trees = world.scratch().join("trees");
    world.set("ADJUTANT_WORKTREES_PATH", trees.display().to_string());
    let _server = world.up().await.unwrap();
    fs::write(&trees, "").unwrap();
    let said = fails(&world).await;
    assert!(said.contains("trees") && said.contains("`worktrees.path`"), "{said}");
}

#[tokio::test]
async fn ignored_files_of_the_project_are_copied_and_linked_and_never_committed() {
    let lists = [
        ("ADJUTANT_WORKTREES_COPY", "[.env]"),
        ("ADJUTANT_WORKTREES_LINK", "[node_modules, .venv]"),
    ];
    let look = "cat .env node_modules/a/index.js .venv/cfg one.local; test -e .env.other || echo none
test -L .venv && echo link; test -L node_modules || echo folder; git status --porcelain; echo $ADJUTANT_PORT";
    let world = stage(&lists, look).await;
    let project = world.project();
    for (name, text) in [
        (".env", "KEY=1\n"),
        (".env.other", "KEY=2\n"),
        ("node_modules/a/index.js", "module\n"),
        (".venv/cfg", "venv\n"),
        ("one.local", "one\n"),
        (".worktreeinclude", "# As Claude Code does\n/*.local\nlook.sh\n"),
    ] {
        fs::create_dir_all(project.join(name).parent().unwrap()).unwrap();
        fs::write(project.join(name), text).unwrap();
    }
    // It leads out, so nobody follows it.
    fs::write(world.scratch().join("secret"), "secret\n").unwrap();
    symlink(world.scratch().join("secret"), project.join("two.local")).unwrap();
    looks(&world).await;
    let seen = noted(&world, "seen");
    let (seen, port) = seen.rsplit_once('\n').unwrap();
    assert_eq!(seen, "KEY=1\nmodule\nvenv\none\nnone\nlink\nfolder");
    let port: u16 = port.parse().unwrap();
    assert_eq!((port >= 20_000, port % 10), (true, 0));
    assert_eq!(fs::read_to_string(project.join(".env")).unwrap(), "KEY=1\n");
    agree(&world).await;
}

#[tokio::test]
async fn the_set_up_runs_once_before_the_agent_in_its_environment() {
    let setup = [("ADJUTANT_WORKTREES_SETUP", "sh setup.sh")];
    let world = stage(&setup, "cat made").await;
    let script = "echo installing 12 packages; echo again >> \"$ADJUTANT_HOME/times\"; env > \"$ADJUTANT_HOME/setup-env\"; pwd > made; touch left";
    fs::write(world.project().join("setup.sh"), script).unwrap();
    sh(&world, "git add setup.sh && git commit -q -m Setup").await;
    looks(&world).await;
    assert_eq!(noted(&world, "times"), "again");
    assert_eq!(noted(&world, "seen"), noted(&world, "where"), "it ran where the agent works");
    let environment = noted(&world, "setup-env");
    assert!(environment.contains("ADJUTANT_AGENT_ID=sp_"), "{environment}");
    let port = |text: &str| {
        text.lines().find(|line| line.starts_with("ADJUTANT_PORT=")).map(str::to_owned)
    };
    assert!(port(&environment).is_some() && port(&environment) == port(&noted(&world, "env")));
    assert!(!environment.contains("TOKEN"), "{environment}");
    let warned = events(&world, "agent.warned").await;
    let warning = warned[0]["data"]["warning"].as_str().unwrap();
    assert!(warning.contains("the set-up left `left`, which git does not ignore"), "{warning}");
    for logs in [&["logs", "last"][..], &["logs", "last", "--raw"]] {
        let told = world.run(logs).await.unwrap().ok().unwrap().stdout;
        let (setup, agent) = (told.find("installing 12 packages"), told.find("done"));
        assert!(setup.is_some() && setup < agent, "{logs:?}: {told}");
    }
}

#[tokio::test]
async fn the_output_of_a_set_up_is_read_while_it_runs() {
    let setup = "sh -c 'echo installing; touch \"$ADJUTANT_HOME/begun\"; exec sleep 1000'";
    let world = stage(&[("ADJUTANT_WORKTREES_SETUP", setup)], "true").await;
    let agent = draft(&world, "hand", "look").await;
    until("the set-up runs", || world.home().join("begun").exists()).await;
    let told = world.run(&["logs", &agent]).await.unwrap().ok().unwrap();
    assert!(told.stdout.contains("installing"), "{told:?}");
    world.run(&["kill", &agent]).await.unwrap().ok().unwrap();
    let told = world.run(&["logs", &agent]).await.unwrap().ok().unwrap();
    assert!(told.stdout.contains("installing"), "it stays: {told:?}");
    agree(&world).await;
}

#[tokio::test]
async fn a_set_up_that_fails_ends_the_agent_with_its_command_folder_and_last_lines() {
    let mut world = stage(&[("ADJUTANT_WORKTREES_SETUP", "sh setup.sh")], "true").await;
    fs::write(world.project().join("setup.sh"), "echo one; echo no network >&2; exit 3").unwrap();
    sh(&world, "git add setup.sh && git commit -q -m Setup").await;
    let said = fails(&world).await;
    let place = world.worktrees().canonicalize().unwrap();
    assert!(
        said.contains("the set-up `sh setup.sh` in `") && said.contains("ended with 3"),
        "{said}"
    );
    assert!(said.contains(&place.display().to_string()), "{said}");
    assert!(said.contains("one\nno network"), "{said}");
    for (command, why) in [
        (
            "no-such-program --now",
            "`no-such-program`, which `worktrees.setup` names, is neither in `",
        ),
        ("sh -c 'echo begun; exec sleep 1000'", "did not end within 1 seconds"),
    ] {
        world.run(&["down"]).await.unwrap();
        world.set("ADJUTANT_WORKTREES_SETUP", command);
        world.set("ADJUTANT_WORKTREES_SETUP_TIMEOUT", "1");
        let said = fails(&world).await;
        assert!(said.contains(why), "{said}");
    }
    agree(&world).await;
}

#[tokio::test]
async fn an_agent_is_killed_while_its_worktree_is_set_up() {
    let setup = "sh -c 'touch \"$ADJUTANT_HOME/begun\"; exec sleep 1000'";
    let world = stage(&[("ADJUTANT_WORKTREES_SETUP", setup)], "true").await;
    let agent = draft(&world, "hand", "look").await;
    until("the set-up runs", || world.home().join("begun").exists()).await;
    world.run(&["kill", &agent]).await.unwrap().ok().unwrap();
    assert_eq!(ended(&world, &agent).await, "killed");
    assert!(!world.home().join("where").exists(), "it never began");
    assert_eq!(crew(&world).await.len(), 1);
    agree(&world).await;
}

/// A set-up that waits for a word, and an agent that counts how often it was started.
const SLOW_SETUP: &str =
    "echo again >> \"$ADJUTANT_HOME/times\"; echo installing; touch \"$ADJUTANT_HOME/begun\"
until [ -e \"$ADJUTANT_HOME/go\" ]; do sleep 0.02; done";
const COUNT: &str = "echo look >> \"$ADJUTANT_HOME/looks\"";

/// A server that was killed while an agent's worktree was set up, and that agent.
async fn killed_during_a_set_up() -> (World, String) {
    let world = stage(&[("ADJUTANT_WORKTREES_SETUP", "sh setup.sh")], COUNT).await;
    fs::write(world.project().join("setup.sh"), SLOW_SETUP).unwrap();
    sh(&world, "git add setup.sh && git commit -q -m Setup").await;
    let server = world.up().await.unwrap();
    let agent = draft(&world, "hand", "look").await;
    until("the set-up runs", || world.home().join("begun").exists()).await;
    server.kill().await.unwrap();
    (world, agent)
}

/// Lets the set-up end, and looks how often it ran before its agent, which is started once.
async fn comes_to_its_end(world: &World, agent: &str, times: &[&str]) {
    fs::write(world.home().join("go"), "").unwrap();
    assert_eq!(ended(world, agent).await, "succeeded", "{}", reason(world, agent).await);
    assert_eq!(noted(world, "times").lines().collect::<Vec<_>>(), times);
    assert_eq!(noted(world, "looks"), "look");
    let told = world.run(&["logs", agent]).await.unwrap().ok().unwrap().stdout;
    assert_eq!(told.matches("installing").count(), times.len(), "{told}");
    agree(world).await;
}

#[tokio::test]
async fn a_set_up_outlives_the_server_and_is_not_run_twice() {
    let (world, agent) = killed_during_a_set_up().await;
    let _server = world.up().await.unwrap();
    comes_to_its_end(&world, &agent, &["again"]).await;
}

#[tokio::test]
async fn a_set_up_that_died_with_the_server_is_run_once_more() {
    let (world, agent) = killed_during_a_set_up().await;
    let record = world.state_dir().join("runs").join(&agent).join("setup-1/supervisor.json");
    let record: Value = serde_json::from_str(&fs::read_to_string(record).unwrap()).unwrap();
    sh(&world, &format!("kill -9 {}", record["pid"])).await;
    let _server = world.up().await.unwrap();
    until("it runs again", || noted(&world, "times").lines().count() == 2).await;
    comes_to_its_end(&world, &agent, &["again", "again"]).await;
}

#[tokio::test]
async fn lists_of_files_to_copy_count_from_the_top_of_the_repository_and_from_the_project() {
    let mut world = World::bare(env!("CARGO_BIN_EXE_adjutant")).unwrap();
    let (top, shop) = (world.project(), world.project().join("shop"));
    fs::create_dir(&shop).unwrap();
    sh(&world, "git init -q -b main && git config user.name Crew && git config user.email a@b")
        .await;
    world.run(&["init", "--home", shop.to_str().unwrap()]).await.unwrap().ok().unwrap();
    let home = shop.join(".adjutant");
    world.set("ADJUTANT_HOME", home.display().to_string());
    let role = "---\nname: hand\ncategory: worker\nworktree: fresh\n\
        command: [sh, -c, 'git ls-files -io --exclude-standard .. > \"$ADJUTANT_HOME/seen\"']\n---\nLook.\n";
    fs::write(home.join("roles/hand.md"), role).unwrap();
    for (name, text) in [
        (".gitignore", ".env\n*.local\n.adjutant\nlast\\ \n"),
        (".worktreeinclude", "/.env\n*.local\nlast\\ \n"),
        ("shop/.worktreeinclude", "!b.local\n/.env\n"),
        (".env", ""),
        ("last ", ""),
        ("other/.env", ""),
        ("other/b.local", ""),
        ("shop/.env", ""),
        ("shop/deep/.env", ""),
        ("shop/a.local", ""),
        ("shop/b.local", ""),
    ] {
        fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
        fs::write(top.join(name), text).unwrap();
    }
    sh(&world, "git add -A && git commit -q -m Begin").await;
    looks(&world).await;
    let seen = fs::read_to_string(home.join("seen")).unwrap();
    let mut seen: Vec<&str> = seen.lines().collect();
    seen.sort_unstable();
    assert_eq!(seen, ["../.env", "../last ", "../other/b.local", ".env", "a.local"]);
}

#[tokio::test]
async fn patterns_and_commands_that_cannot_be_meant_are_refused() {
    let world = stage(&[], "true").await;
    for (line, why) in [
        ("copy: [../secret]", "leads out of the project"),
        ("link: [/etc/passwd]", "is not relative to the project"),
        ("link: ['~/x']", "is not relative to the project"),
        ("copy: ['']", "names no file"),
        ("copy: .env", "a list"),
        ("setup: ''", "names no command"),
        ("setup: \"sh -c 'x\"", "a quote or a backslash without its end"),
        ("setupTimeout: 0", "is not between 1 and 86400"),
        ("path: [a]", "expected a single value"),
        ("setpu: make", "`setup`"),
    ] {
        fs::write(world.home().join("config.yaml"), format!("worktrees:\n  {line}\n")).unwrap();
        let refused = world.run(&["config", "get"]).await.unwrap();
        assert_eq!(refused.code, Some(2), "{line}: {}", refused.stderr);
        assert!(refused.stderr.contains(why), "{line}: {}", refused.stderr);
    }
}

#[tokio::test]
async fn doctor_proposes_the_lines_for_ignored_files_and_is_content_with_them() {
    let world = stage(&[], "true").await;
    let project = world.project();
    for name in [".venv/cfg", "node_modules/a"] {
        fs::create_dir_all(project.join(name).parent().unwrap()).unwrap();
        fs::write(project.join(name), "").unwrap();
    }
    fs::write(project.join(".env"), "KEY=1\n").unwrap();
    let found = async || {
        let checks = world.run(&["doctor", "--json"]).await.unwrap().json().unwrap();
        let all = checks["checks"].as_array().unwrap().clone();
        all.into_iter().find(|check| check["name"] == "worktree files")
    };
    let check = found().await.unwrap();
    let lines = "worktrees:\n  copy: [.env]\n  link: [.venv, node_modules]";
    assert!(check["next"].as_str().unwrap().ends_with(lines), "{check}");
    assert!(
        check["message"].as_str().unwrap().contains("`.env`, `.venv`, `node_modules`"),
        "{check}"
    );
    // Where it is known how the dependencies are made, a link would only share the user's own.
    let package = r#"{"devDependencies": {"jest": "29"}}"#;
    fs::write(project.join("package.json"), package).unwrap();
    let next = found().await.unwrap()["next"].as_str().unwrap().to_owned();
    let lines = "worktrees:\n  setup: \"npm install --no-package-lock --prefer-offline --no-audit --no-fund\"\n  \
        copy: [.env]";
    assert!(next.ends_with(lines), "{next}");
    fs::write(world.home().join("config.yaml"), format!("{lines}\n")).unwrap();
    assert_eq!(found().await, None);
}

#[tokio::test]
async fn init_writes_what_an_npm_project_needs() {
    let world = World::bare(env!("CARGO_BIN_EXE_adjutant")).unwrap();
    let project = world.project();
    let package = r#"{"devDependencies": {"jest": "30"}, "scripts": {"test": "jest"}}"#;
    fs::write(project.join("package.json"), package).unwrap();
    fs::write(project.join("package-lock.json"), "{}").unwrap();
    fs::write(project.join(".env"), "").unwrap();
    world.run(&["init", "--home", project.to_str().unwrap()]).await.unwrap().ok().unwrap();
    let config = fs::read_to_string(world.home().join("config.yaml")).unwrap();
    for line in [
        "  # npm: A new worktree has no node_modules: git ignores it.\n  setup: \"npm ci ",
        "  copy: [.env]\n",
        "check: \"npm test\"\n",
    ] {
        assert!(config.contains(line), "{line:?}");
    }
}
