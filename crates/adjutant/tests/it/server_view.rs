//! What `adjutant doctor` says of the programs of agents as the server sees them, and of their logins.

use std::fs;

use serde_json::Value;
use testkit::World;

use crate::handed_on::executable;
use crate::kill::answer;

/// A program that says whether it is logged in by a word in a file, and answers a call by another.
const PROGRAM: &str = r#"#!/bin/sh
echo "$@" >> "$0.asked"
case "$1" in
  auth|login) read -r state < "$0.login"; echo "login: $state"; test "$state" = yes ;;
  *) read -r state < "$0.call"; echo "answer: $state" >&2; test "$state" = ok ;;
esac
"#;

/// A world with a folder of programs that is on the PATH.
fn stage(world: &mut World, programs: &[&str]) -> std::path::PathBuf {
    let tools = world.scratch().join("tools");
    fs::create_dir_all(&tools).unwrap();
    for program in programs {
        executable(&tools.join(program), PROGRAM);
    }
    world.set("PATH", format!("{}:/usr/bin:/bin", tools.display()));
    tools
}

/// The checks of a name: status, message and advice of each.
async fn checks(world: &World, typed: &[&str], name: &str) -> Vec<(String, String, String)> {
    let doctor = answer(world, &[&["doctor"], typed].concat()).await;
    let all = doctor["checks"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    all.filter(|check| check["name"] == name)
        .map(|check| (text(&check["status"]), text(&check["message"]), text(&check["next"])))
        .collect()
}

#[tokio::test]
async fn the_doctor_says_who_is_logged_in_and_what_to_do_about_who_is_not() {
    let mut world = crate::world().await;
    let tools = stage(&mut world, &["claude", "codex"]);
    for (name, state) in [("claude.login", "yes"), ("codex.login", "no"), ("claude.call", "ok")] {
        fs::write(tools.join(name), format!("{state}\n")).unwrap();
    }
    fs::write(tools.join("codex.call"), "401\n").unwrap();
    let _server = world.up().await.unwrap();
    let claude = checks(&world, &[], "claude").await;
    let says = |word: &str| ("ok".to_owned(), word.to_owned(), String::new());
    let place = tools.join("claude").display().to_string();
    assert!(claude[1].1.starts_with(&format!("the server starts `{place}` with ")), "{claude:?}");
    assert_eq!(claude[2..], [says("it is logged in: login: yes")]);
    let codex = checks(&world, &[], "codex").await;
    let (status, message, next) = &codex[2];
    assert_eq!((status.as_str(), message.as_str()), ("warn", "it is not logged in: login: no"));
    assert!(next.contains("`CODEX_API_KEY`") && next.contains("`codex login`"), "{next}");
    // Without `--online` no provider was called.
    for (name, asked) in [("claude", "auth status --text\n"), ("codex", "login status\n")] {
        let text = fs::read_to_string(tools.join(format!("{name}.asked"))).unwrap();
        assert_eq!(text.replace(asked, ""), "", "{name}");
    }
    let claude = checks(&world, &["--online"], "claude").await;
    assert_eq!(claude[3..], [says("it answers: answer: ok")]);
    let codex = checks(&world, &["--online"], "codex").await;
    assert_eq!(
        (codex[3].0.as_str(), codex[3].1.as_str()),
        ("warn", "it does not answer: answer: 401")
    );
    assert_eq!(&codex[3].2, next, "the same remedy");
    let told = world.run(&["doctor"]).await.unwrap().stdout;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("it is not logged in: login: no try: set `CODEX_API_KEY`"), "{told}");
}

#[tokio::test]
async fn a_program_that_only_the_shell_has_is_missed_with_the_remedy() {
    let mut world = crate::world().await;
    world.set("PATH", "/usr/bin:/bin");
    let _server = world.up().await.unwrap();
    stage(&mut world, &["claude"]);
    let claude = checks(&world, &[], "claude").await;
    let (status, message, next) = claude.last().unwrap();
    assert_eq!(
        (status.as_str(), message.as_str()),
        ("warn", "the server does not find `claude` on its PATH")
    );
    for part in ["`adjutant down`, then `adjutant up --detach`", "or install it: `npm"] {
        assert!(next.contains(part), "no {part:?} in {next}");
    }
    // Nobody has it, which is said once.
    let codex = checks(&world, &[], "codex").await;
    assert_eq!(codex.len(), 1, "{codex:?}");
    assert_eq!(codex[0].1, "`codex` is not on the PATH");
}

#[tokio::test]
async fn the_login_of_a_program_that_speaks_acp_cannot_be_asked_and_the_doctor_says_so() {
    let mut world = crate::world().await;
    let tools = stage(&mut world, &["speaks-acp"]);
    for (role, program) in [("one", "speaks-acp"), ("two", "speaks-acp"), ("three", "is-missing")] {
        let text = format!(
            "---\nname: {role}\ncategory: worker\nagent: acp\nacp: [{program}]\n---\nDo it.\n"
        );
        fs::write(world.home().join(format!("roles/{role}.md")), text).unwrap();
    }
    let _server = world.up().await.unwrap();
    let acp = checks(&world, &["--online"], "acp").await;
    let [found, unknown, missing] = &acp[..] else { panic!("{acp:?}") };
    let found_at = tools.join("speaks-acp").display().to_string();
    assert!(found.1.starts_with(&format!("the server starts `{found_at}`")), "{acp:?}");
    assert!(unknown.1.starts_with("whether it is logged in cannot be asked"), "{acp:?}");
    assert!(unknown.1.contains("log in with the agent's own program"), "{acp:?}");
    assert_eq!(missing.1, "the server does not find `is-missing` on its PATH");
    assert!(missing.2.contains("agentclientprotocol.com"), "{acp:?}");
    assert!(!tools.join("speaks-acp.asked").exists(), "nobody started it");
}

#[tokio::test]
async fn without_a_server_the_doctor_says_that_its_view_was_not_asked() {
    let mut world = crate::world().await;
    let tools = stage(&mut world, &["claude"]);
    let agents = checks(&world, &[], "agents").await;
    let [(status, message, next)] = &agents[..] else { panic!("{agents:?}") };
    assert_eq!(status, "ok");
    assert!(message.starts_with("not asked: no server runs"), "{message}");
    assert_eq!(next, "run `adjutant up --detach` first");
    let online = checks(&world, &["--online"], "online").await;
    assert_eq!((online.len(), online[0].0.as_str()), (1, "warn"), "{online:?}");
    assert!(!tools.join("claude.asked").exists(), "nobody was asked");
}
