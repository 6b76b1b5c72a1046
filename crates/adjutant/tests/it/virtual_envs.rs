//! An active Python environment of a person's shell: nobody in a worktree is led into it, unless the worktree has it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use testkit::World;

use crate::crew::{in_order, repository, scene};
use crate::handed_on::executable;
use crate::kill::{answer, cast};

const STORY: &str = r#"
scenarios:
  look:
    steps:
      - run: [sh, look.sh, agent]
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - result: {summary: looked}
  peek:
    steps:
      - run: [sh, look.sh, agent]
      - result: {summary: peeked}
"#;

/// Says which environment is active, and which Python is found first.
const LOOK: &str = r#"echo "$1|${VIRTUAL_ENV:-none}|$(own-python 2>/dev/null || echo nothing)" >> "$ADJUTANT_HOME/seen"
"#;

/// Makes an environment whose Python says where it lies.
fn environment(at: &Path) {
    fs::create_dir_all(at.join("bin")).unwrap();
    executable(
        &at.join("bin/own-python"),
        &format!("#!/bin/sh\necho python of {}\n", at.display()),
    );
}

/// A project with an active environment of its own, in a shell that has a Poetry which records what it gets.
async fn stage(poetry: &str, variables: &[(&str, &str)]) -> World {
    let mut world = scene(STORY, variables).await;
    let project = world.project();
    fs::write(project.join("look.sh"), LOOK).unwrap();
    cast(&world, "coder", "category: coding\nworktree: fresh");
    repository(&world).await;
    let own = project.join(".venv");
    environment(&own);
    fs::write(project.join(".gitignore"), ".adjutant\n.venv\n").unwrap();
    world.shell("git commit -qam Rules").await.unwrap().ok().unwrap();
    let tools = world.scratch().join("tools");
    fs::create_dir_all(&tools).unwrap();
    let text =
        format!("#!/bin/sh\nenv > \"$ADJUTANT_HOME/poetry-env\"\nsh look.sh set-up\n{poetry}\n");
    executable(&tools.join("poetry"), &text);
    let path = format!("{}:{}:/usr/bin:/bin", own.join("bin").display(), tools.display());
    world.set("PATH", path);
    world.set("VIRTUAL_ENV", own.display().to_string());
    world.set("ADJUTANT_CHECK", "sh look.sh check");
    world
}

/// What an agent, its set-up and its check see, with the worktrees by a name.
async fn seen(world: &World) -> Vec<String> {
    let ran = answer(world, &["run", "--role", "coder", "look"]).await;
    assert_eq!(ran["taskState"], "review", "{ran}");
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    in_order(world).await;
    let text = fs::read_to_string(world.home().join("seen")).unwrap();
    let trees = world.worktrees().canonicalize().unwrap();
    let tree = format!(r"{}/[a-z_0-9-]+", regex_lite::escape(&trees.display().to_string()));
    let text = regex_lite::Regex::new(&tree).unwrap().replace_all(&text, "TREE").into_owned();
    let project = world.project().canonicalize().unwrap();
    let text = text.replace(&project.display().to_string(), "PROJECT");
    text.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_set_up_never_installs_into_a_persons_environment_and_its_own_is_active_for_the_rest() {
    let makes = "mkdir -p .venv/bin
printf '#!/bin/sh\\necho python of the worktree\\n' > .venv/bin/own-python; chmod +x .venv/bin/own-python";
    let world = stage(makes, &[("ADJUTANT_WORKTREES_SETUP", "poetry install")]).await;
    let own = "TREE/.venv|python of the worktree";
    assert_eq!(
        seen(&world).await,
        [
            "set-up|none|nothing".to_owned(),
            format!("agent|{own}"),
            "set-up|none|nothing".to_owned(),
            format!("check|{own}"),
        ]
    );
    let environment = fs::read_to_string(world.home().join("poetry-env")).unwrap();
    assert!(!environment.contains(".venv"), "{environment}");
}

#[tokio::test]
async fn none_is_active_where_the_set_up_made_one_elsewhere() {
    let world = stage("true", &[("ADJUTANT_WORKTREES_SETUP", "poetry install")]).await;
    for line in seen(&world).await {
        let (who, found) = line.split_once('|').unwrap();
        assert_eq!(found, "none|nothing", "{who}");
    }
}

#[tokio::test]
async fn a_linked_environment_is_active_through_its_link() {
    let world = stage("true", &[("ADJUTANT_WORKTREES_LINK", "[.venv]")]).await;
    let linked = "TREE/.venv|python of PROJECT/.venv";
    assert_eq!(seen(&world).await, [format!("agent|{linked}"), format!("check|{linked}")]);
}

#[tokio::test]
async fn a_persons_environment_stays_active_where_the_worktree_has_nothing_else() {
    let mut world = stage("true", &[]).await;
    let lines = seen(&world).await;
    let own = "PROJECT/.venv|python of PROJECT/.venv";
    assert_eq!(lines, [format!("agent|{own}"), format!("check|{own}")]);
    // Also one that lies elsewhere and is reached by a link.
    let (elsewhere, link): (PathBuf, PathBuf) =
        (world.scratch().join("venvs/shop"), world.scratch().join("active"));
    environment(&elsewhere);
    symlink(&elsewhere, &link).unwrap();
    world.set("VIRTUAL_ENV", link.display().to_string());
    world.set("PATH", format!("{}:/usr/bin:/bin", link.join("bin").display()));
    let ran = answer(&world, &["run", "--role", "coder", "peek"]).await;
    assert_eq!(ran["state"], "succeeded", "{ran}");
    let text = fs::read_to_string(world.home().join("seen")).unwrap();
    let last = text.lines().last().unwrap();
    assert_eq!(last, format!("agent|{}|python of {}", link.display(), elsewhere.display()));
}
