//! Agents in worktrees of their own: many at once, and in repositories that are not as usual.

use std::fs;

use serde_json::json;
use testkit::World;

use crate::crew::{agree, crew, repository, scene, sh};
use crate::kill::{answer, cast, ended, events};

const STORY: &str = r#"
scenarios:
  edit:
    steps:
      - write: {path: shared.txt, text: "by {{agent}}\n"}
      - write: {path: "own/{{agent}}.txt", text: "mine\n"}
      - commit: "Work of {{agent}}"
      - result: {summary: done}
  flat:
    steps:
      - write: {path: shared.txt, text: "by {{agent}}\n"}
      - commit: "Work of {{agent}}"
  touch:
    steps:
      - write: {path: held.txt, text: "mine\n"}
      - run: [git, add, held.txt]
      - run: [sh, -c, '! git commit -qm "Touch what is held" 2> "$ADJUTANT_HOME/said"']
      - run: [git, rm, -qf, held.txt]
      - write: {path: free.txt, text: "mine\n"}
      - commit: Touch what is free
  look:
    steps:
      - run: [sh, -c, 'pwd > "$ADJUTANT_HOME/where"']
      - result: {summary: done}
  leave:
    steps:
      - write: {path: left.txt, text: "not committed\n"}
      - result: {summary: done}
  more:
    steps:
      - run: [grep, -q, not committed, left.txt]
      - write: {path: more.txt, text: "more\n"}
      - commit: More
      - fail: not yet
"#;

async fn stage(variables: &[(&str, &str)]) -> World {
    let world = scene(STORY, variables).await;
    cast(&world, "coder", "category: coding\nworktree: fresh");
    cast(&world, "hand", "category: worker");
    world
}

#[tokio::test]
async fn forty_agents_edit_at_once_in_forty_worktrees() {
    let world = stage(&[("ADJUTANT_LIMITS_RUNNING", "40")]).await;
    repository(&world).await;
    let server = world.up().await.unwrap();
    let http = crate::kill::operator(&world, &server).await;
    let mut agents = Vec::new();
    for _ in 0..40 {
        let input = json!({ "role": "hand", "prompt": "edit" });
        let drafted = http.call("mcp__harness__draft_agent", input).await.unwrap().unwrap();
        agents.push(drafted["agentId"].as_str().unwrap().to_owned());
    }
    for agent in &agents {
        assert_eq!(ended(&world, agent).await, "succeeded");
    }
    let branches =
        sh(&world, "git for-each-ref --format='%(refname:short) %(subject)' refs/heads/adjutant")
            .await;
    let mut told: Vec<&str> = branches.lines().collect();
    told.sort_unstable();
    let mut wanted: Vec<String> =
        agents.iter().map(|agent| format!("adjutant/{agent} Work of {agent}")).collect();
    wanted.sort_unstable();
    assert_eq!(told, wanted);
    assert_eq!(sh(&world, "git status --porcelain; git log --format=%s").await, "Begin");
    let there = events(&world, "worktree.changed").await;
    assert_eq!(there.iter().filter(|event| event["data"]["state"] == "there").count(), 40);
    agree(&world).await;
}

#[tokio::test]
async fn an_agent_goes_on_where_the_one_before_it_on_its_task_stopped() {
    let world = stage(&[]).await;
    repository(&world).await;
    let first = answer(&world, &["run", "--role", "hand", "leave"]).await;
    assert_eq!(first["state"], "succeeded", "{first}");
    let task = crew(&world).await[0]["taskSlug"].as_str().unwrap().to_owned();
    // It is done; a second agent for the same task begins from its branch.
    let again = answer(&world, &["run", "--role", "coder", "--task", &task, "more"]).await;
    assert_eq!(again["result"]["summary"], "not yet", "{again}");
    let [_, second] = &crew(&world).await[..] else { panic!("two agents") };
    let id = second["id"].as_str().unwrap();
    let log = sh(&world, &format!("git log --format=%s adjutant/{id}")).await;
    let subjects: Vec<&str> = log.lines().collect();
    assert!(subjects[0] == "More" && subjects[1].starts_with("Uncommitted work of"), "{log}");
    agree(&world).await;
}

/// Speaks as Claude Code does, and changes nothing.
const TALKER: &str = r#"#!/bin/sh
read -r first
echo '{"type":"system","subtype":"init","session_id":"s-1","model":"m","mcp_servers":[]}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"said","session_id":"s-1"}'
"#;

#[tokio::test]
async fn a_conversation_goes_on_though_its_worktree_was_taken_away() {
    let mut world = stage(&[]).await;
    let talker = world.home().join("claude");
    fs::write(&talker, TALKER).unwrap();
    sh(&world, &format!("chmod +x {}", talker.display())).await;
    world.set("ADJUTANT_AGENTS_CLAUDE_BINARY", talker.display().to_string());
    crate::crew::role(&world, "talker", "category: coding\nworktree: fresh\nagent: claude");
    repository(&world).await;
    let first = answer(&world, &["run", "--role", "talker", "Speak"]).await;
    assert_eq!(first["state"], "succeeded", "{first}");
    // At once, while it is perhaps being taken away, and when it surely is.
    let soon = answer(&world, &["resume", first["agentId"].as_str().unwrap(), "More"]).await;
    assert_eq!(soon["state"], "succeeded", "{soon}");
    crate::crew::settled(&world).await;
    let later = answer(&world, &["resume", soon["agentId"].as_str().unwrap(), "More"]).await;
    assert_eq!(later["state"], "succeeded", "{later}");
    agree(&world).await;
}

#[tokio::test]
async fn without_a_repository_or_a_commit_all_work_in_the_project() {
    let world = stage(&[]).await;
    let looks = async || {
        for role in ["hand", "coder"] {
            let ran = answer(&world, &["run", "--role", role, "look"]).await;
            assert_eq!(ran["state"], "succeeded", "{ran}");
            let place = fs::read_to_string(world.home().join("where")).unwrap();
            assert_eq!(place.trim(), world.project().canonicalize().unwrap().display().to_string());
        }
    };
    looks().await;
    sh(&world, "git init -q -b main").await;
    looks().await;
    agree(&world).await;
}

#[tokio::test]
async fn a_project_below_the_top_of_its_repository_has_worktrees_of_the_whole() {
    let world = stage(&[]).await;
    let top = world.project().parent().unwrap().join("whole");
    sh(
        &world,
        "git init -q -b main ../whole && mkdir -p ../whole/part/.adjutant && touch ../whole/part/x",
    )
    .await;
    let project = top.join("part");
    fs::copy(world.project().join("crew.yaml"), project.join("crew.yaml")).unwrap();
    let home = format!("--home {}", project.display());
    let bin = env!("CARGO_BIN_EXE_adjutant");
    sh(&world, &format!("cp -r {}/. {}/.adjutant/", world.home().display(), project.display()))
        .await;
    sh(&world, "cd ../whole && git config user.name C && git config user.email c@localhost && echo .adjutant > .gitignore && git add -A && git commit -q -m Begin").await;
    let ran = sh(
        &world,
        &format!("{bin} run {home} --role hand --json look; {bin} down {home} > /dev/null"),
    )
    .await;
    assert!(ran.contains("succeeded"), "{ran}");
    let place = fs::read_to_string(project.join(".adjutant/where")).unwrap();
    assert!(
        place.contains("/user/.local/share/adjutant/worktrees/part-")
            && place.trim().ends_with("/part"),
        "{place}"
    );
}

#[tokio::test]
async fn bare_shallow_and_sparse_repositories_have_worktrees_too() {
    let world = stage(&[]).await;
    repository(&world).await;
    sh(&world, "mkdir deep && touch deep/file && git add -A && git commit -q -m Deep").await;
    let bin = env!("CARGO_BIN_EXE_adjutant");
    let url = format!("file://{}", world.project().display());
    for (name, make) in [
        ("shallow", format!("git clone -q --depth 1 {url} ../shallow")),
        ("sparse", format!("git clone -q --sparse {url} ../sparse")),
        (
            "bare",
            format!(
                "git clone -q --bare {url} ../bare.git && git -C ../bare.git worktree add -q ../bare main"
            ),
        ),
    ] {
        sh(&world, &make).await;
        let project = world.project().parent().unwrap().join(name);
        let (from, to) = (world.home(), project.join(".adjutant"));
        sh(&world, &format!("mkdir -p {1} && cp -r {0}/config.yaml {0}/roles {0}/.gitignore {1}/ && cd {1}/.. && git config user.name C && git config user.email c@localhost", from.display(), to.display())).await;
        let home = format!("--home {}", project.display());
        let ran = sh(&world, &format!("{bin} run {home} --role coder --json flat; {bin} worktrees check {home} --json; {bin} down {home} > /dev/null")).await;
        assert!(ran.contains("succeeded"), "{name}: {ran}");
        let log = sh(
            &world,
            &format!("cd {} && git log --branches='adjutant/*' --format=%s -1", project.display()),
        )
        .await;
        assert!(log.starts_with("Work of sp_"), "{name}: {log}");
    }
}

#[tokio::test]
async fn the_guard_keeps_an_agent_from_committing_what_another_has_reserved() {
    let world = stage(&[("ADJUTANT_WORKTREES_GUARD", "true")]).await;
    repository(&world).await;
    let hooks = world.project().join(".git/hooks/pre-commit");
    fs::write(&hooks, "#!/bin/sh\necho here > \"$ADJUTANT_HOME/own-hook\"\n").unwrap();
    sh(&world, "chmod +x .git/hooks/pre-commit").await;
    let _server = world.up().await.unwrap();
    let holder = world.enlist("worker", &[]).await.unwrap();
    let input = json!({ "paths": ["held.txt"], "reason": "I am at it" }).to_string();
    let reserve = ["tool", "files_reserve", "--input", &input, "--json"];
    world.run_as(&holder, &reserve).await.unwrap().ok().unwrap();
    let ran = answer(&world, &["run", "--role", "hand", "touch"]).await;
    assert_eq!(ran["state"], "succeeded", "{ran}");
    let said = fs::read_to_string(world.home().join("said")).unwrap();
    assert!(said.contains("held.txt") && said.contains(&holder.id), "{said}");
    assert!(world.home().join("own-hook").exists(), "the repository's own hook runs as before");
    let id = ran["agentId"].as_str().unwrap();
    let log = sh(&world, &format!("git log --format=%s -1 adjutant/{id}")).await;
    assert_eq!(log, "Touch what is free");
    let worktree = world.worktrees().join(id);
    let pointer = format!("cat $(git -C {} rev-parse --git-dir)/adjutant-home", worktree.display());
    assert_eq!(sh(&world, &pointer).await, "../.adjutant", "a worktree knows its home");
    // The project's own hooks are as they were.
    assert_eq!(sh(&world, "git config core.hooksPath || echo none").await, "none");
    agree(&world).await;
}
