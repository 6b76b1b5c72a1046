//! Small things of the first hour: what commands say when something is unusual, and whether it is true.

use std::fs;

use serde_json::{Value, json};
use testkit::World;

use crate::crew::{repository, role, settled, sh};
use crate::kill::{answer, cast, events, operator, stage};
use crate::world;

const STORY: &str = r#"
scenarios:
  change:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - result: {summary: added the feature}
  write:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - result: {summary: wrote the feature}
"#;

/// A project under git with a coder that plays scenarios.
async fn project(variables: &[(&str, &str)]) -> World {
    let world = stage(STORY, variables).await;
    cast(&world, "coder", "category: coding\nworktree: fresh");
    repository(&world).await;
    world
}

/// A check of the doctor, by its name.
async fn check_of(world: &World, name: &str) -> Value {
    let doctor = answer(world, &["doctor"]).await;
    let checks = doctor["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap().clone()
}

#[tokio::test]
async fn status_says_that_the_server_is_stopped_instead_of_waiting_for_it() {
    let world = world().await;
    let server = world.up().await.unwrap();
    let pid = server.pid().unwrap();
    sh(&world, &format!("kill -STOP {pid}")).await;
    let status = world.run(&["status", "--json"]).await.unwrap();
    // It has answered although nobody has let the server go on.
    assert!(host::process::is_stopped(pid));
    sh(&world, &format!("kill -CONT {pid}")).await;
    let error = status.error().unwrap();
    assert_eq!(status.code, Some(6), "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(&format!("process {pid}")), "{error}");
    assert!(message.contains("is stopped"), "{error}");
    assert!(error["suggestions"][0].as_str().unwrap().contains("kill -CONT"), "{error}");
    world.run(&["status"]).await.unwrap().ok().unwrap();
}

#[tokio::test]
async fn status_counts_what_is_on_record_also_after_a_restart() {
    let world = project(&[]).await;
    world.run(&["run", "--role", "coder", "change"]).await.unwrap().ok().unwrap();
    world.run(&["tasks", "add", "Later"]).await.unwrap().ok().unwrap();
    settled(&world).await;
    world.run(&["down"]).await.unwrap().ok().unwrap();
    world.run(&["up", "--detach"]).await.unwrap().ok().unwrap();
    let record = answer(&world, &["status"]).await["record"].clone();
    assert_eq!((&record["tasks"], &record["agents"]), (&json!(2), &json!(1)), "{record}");
    let rows = answer(&world, &["audit", "verify"]).await["rows"].clone();
    assert_eq!(record["calls"], rows);
    let text = world.run(&["status"]).await.unwrap().ok().unwrap().stdout;
    assert!(text.contains("record   2 tasks, 1 agent, "), "{text}");
    assert!(text.contains(&format!(", {rows} call")), "{text}");
}

#[tokio::test]
async fn discharge_last_ends_the_newest_agent_that_was_enlisted() {
    let world = project(&[]).await;
    let none = world.run(&["discharge", "last", "--json"]).await.unwrap();
    assert_eq!(none.error().unwrap()["code"], "AGENT_NOT_FOUND");
    let first = world.enlist("worker", &[]).await.unwrap();
    let second = world.enlist("worker", &[]).await.unwrap();
    world.run(&["run", "--role", "coder", "change"]).await.unwrap().ok().unwrap();
    for agent in [&second, &first] {
        let ended = answer(&world, &["discharge", "last"]).await;
        assert_eq!(ended["agentId"], *agent.id, "{ended}");
    }
    let none = world.run(&["discharge", "last", "--json"]).await.unwrap();
    assert_eq!(none.code, Some(4), "{none:?}");
}

#[tokio::test]
async fn after_a_git_reset_the_doctor_offers_a_way_to_settle_it() {
    let world = project(&[]).await;
    world.run(&["run", "--role", "coder", "change"]).await.unwrap().ok().unwrap();
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    settled(&world).await;
    assert_eq!(check_of(&world, "agreement").await["status"], "ok");
    sh(&world, "git reset -q --hard $(git rev-list --max-parents=0 main)").await;
    let check = check_of(&world, "agreement").await;
    assert_eq!(check["status"], "warn", "{check}");
    let next = check["next"].as_str().unwrap();
    assert!(next.contains("git reset") && next.contains("check --settle"), "{check}");
    let found = answer(&world, &["worktrees", "check"]).await;
    let what = found["disagreements"][0]["what"].as_str().unwrap();
    assert!(what.contains("into `main`"), "{found}");
    let settling = world.run(&["worktrees", "check", "--settle"]).await.unwrap();
    assert_eq!(settling.code, Some(0), "{settling:?}");
    assert!(settling.stderr.contains("is accepted as gone"), "{settling:?}");
    assert_eq!(check_of(&world, "agreement").await["status"], "ok");
    let acts = answer(&world, &["audit", "list", "--tool", "operator__settle"]).await;
    assert_eq!(acts["rows"].as_array().unwrap().len(), 1, "{acts}");
}

#[tokio::test]
async fn without_git_or_a_first_commit_a_coder_works_in_the_project_and_says_so() {
    let world = stage(STORY, &[]).await;
    cast(&world, "coder", "category: coding\nworktree: fresh");
    role(&world, "usual", "category: coding\nagent: script\nscript: crew.yaml");
    for (why, first) in [("is not in a git repository", true), ("has no commit yet", false)] {
        if !first {
            sh(&world, "git init -q -b main").await;
        }
        // A role that has worktrees by its category only never asked for one.
        for (role, tells) in [("coder", true), ("usual", false)] {
            let ran = world.run(&["run", "--role", role, "write"]).await.unwrap().ok().unwrap();
            assert_eq!(ran.stderr.contains("works in the project itself"), tells, "{ran:?}");
            assert_eq!(ran.stderr.contains(why), tells, "{ran:?}");
        }
        let drafted = answer(&world, &["draft", "--role", "coder", "write"]).await;
        assert!(drafted["note"].as_str().unwrap().contains(why), "{drafted}");
        answer(&world, &["await", drafted["agentId"].as_str().unwrap()]).await;
    }
    assert_eq!(fs::read_to_string(world.project().join("feature.txt")).unwrap(), "one\n");
    let warned = events(&world, "agent.warned").await;
    assert_eq!(warned.len(), 4, "each of them once: {warned:?}");
    sh(&world, "git add -A && git -c user.name=C -c user.email=c@l commit -qm Begin").await;
    let drafted = answer(&world, &["draft", "--role", "coder", "write"]).await;
    assert_eq!(drafted.get("note"), None, "{drafted}");
    answer(&world, &["await", drafted["agentId"].as_str().unwrap()]).await;
    settled(&world).await;
}

#[tokio::test]
async fn a_check_that_is_not_there_says_in_which_folder_and_how_it_gets_there() {
    let world = project(&[("ADJUTANT_CHECK", ".venv/bin/python -m pytest")]).await;
    fs::create_dir_all(world.project().join(".venv/bin")).unwrap();
    sh(&world, "ln -s /bin/true .venv/bin/python && echo .venv >> .git/info/exclude").await;
    world.run(&["run", "--role", "coder", "change"]).await.unwrap().ok().unwrap();
    let approved = world.run(&["review", "approve", "TAS-1", "--json"]).await.unwrap();
    let reason = approved.json().unwrap()["merges"][0]["reason"].as_str().unwrap().to_owned();
    let folder = world.worktrees();
    let folder = folder.file_name().unwrap().to_string_lossy();
    assert!(reason.contains(&format!("/{folder}/merge-")), "{reason}");
    assert!(reason.contains("`.venv/bin/python`"), "{reason}");
    assert!(reason.contains("`worktrees.link: [.venv]`"), "{reason}");
    // As it says.
    world.run(&["config", "set", "worktrees.link", "[.venv]"]).await.unwrap().ok().unwrap();
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
}

#[tokio::test]
async fn the_list_of_worktrees_says_after_an_approval_where_they_are() {
    let world = project(&[]).await;
    let before = world.run(&["worktrees"]).await.unwrap().ok().unwrap().stdout;
    assert!(before.contains("No worktrees yet"), "{before}");
    world.run(&["run", "--role", "coder", "change"]).await.unwrap().ok().unwrap();
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    // At once, while the folder is being removed: what is half gone is no reason to run `git init` there.
    let after = loop {
        let listed = answer(&world, &["worktrees"]).await;
        let Some(tree) = listed["worktrees"].get(0) else {
            break world.run(&["worktrees"]).await.unwrap().ok().unwrap().stdout;
        };
        assert_eq!((&tree["isBeingTidied"], &tree["git"]), (&json!(true), &Value::Null), "{tree}");
        settled(&world).await;
    };
    assert!(after.contains("No worktrees are left"), "{after}");
    assert!(after.contains("adjutant worktrees --all"), "{after}");
    let all = world.run(&["worktrees", "--all"]).await.unwrap().ok().unwrap().stdout;
    assert!(all.contains("its worktree is gone"), "{all}");
}

#[tokio::test]
async fn the_diff_of_a_merged_coder_shows_what_was_merged() {
    for squash in ["--squash", "--no-squash"] {
        let world = project(&[]).await;
        let server = world.up().await.unwrap();
        let ran = answer(&world, &["run", "--role", "coder", "change"]).await;
        world.run(&["review", "approve", squash, "TAS-1"]).await.unwrap().ok().unwrap();
        let path = format!("/api/agents/{}/diff", ran["agentId"].as_str().unwrap());
        let (_, diff) = operator(&world, &server).await.get(&path).await.unwrap();
        assert_eq!(diff["files"][0]["path"], "feature.txt", "{squash}: {diff}");
        let shown = world.run(&["review", "show", "TAS-1"]).await.unwrap().ok().unwrap().stdout;
        assert!(shown.contains("feature.txt"), "{squash}: {shown}");
    }
}

#[tokio::test]
async fn mail_of_adjutant_itself_is_shown_as_such() {
    let world = project(&[]).await;
    world.run(&["run", "--role", "coder", "change"]).await.unwrap().ok().unwrap();
    sh(&world, "echo mine > feature.txt && git add -A && git commit -qm Mine").await;
    drop(world.run(&["review", "approve", "TAS-1"]).await.unwrap());
    let listed = answer(&world, &["mail"]).await;
    let mail = &listed["mails"][0];
    assert_eq!((&mail["fromAgentType"], &mail["fromAgentId"]), (&json!("SYSTEM"), &Value::Null));
    let text = world.run(&["mail"]).await.unwrap().ok().unwrap().stdout;
    assert!(text.contains("Adjutant"), "{text}");
    let id = mail["id"].as_str().unwrap();
    let read = world.run(&["mail", "read", id]).await.unwrap().ok().unwrap().stdout;
    assert!(read.contains("from  Adjutant itself"), "{read}");
    assert!(!read.contains("mail reply"), "nobody would read an answer: {read}");
}

#[tokio::test]
async fn a_wait_for_mail_is_for_mail_that_was_not_shown() {
    let world = world().await;
    let agent = world.enlist("worker", &[]).await.unwrap();
    let send = async |subject: &str| {
        let mail = ["tool", "mail_send", "--to-human", "--subject", subject, "--body", "b"];
        world.run_as(&agent, &mail).await.unwrap().ok().unwrap();
    };
    send("first").await;
    // Nothing was shown yet, so that the first is new.
    let listed = answer(&world, &["mail", "--wait", "240"]).await;
    assert_eq!(listed["count"], 1, "{listed}");
    // It is unread, and was shown: the wait ends with the second.
    let mut command = world.command(&["mail", "--wait", "240", "--json"]);
    let (waited, ()) = tokio::join!(command.output(), send("second"));
    let listed: Value = serde_json::from_slice(&waited.unwrap().stdout).unwrap();
    assert_eq!(listed["mails"][1]["subject"], "second", "{listed}");
    // What came since the last list is no reason to wait.
    send("third").await;
    assert_eq!(answer(&world, &["mail", "--wait", "240"]).await["count"], 3);
}

#[tokio::test]
async fn an_answer_to_an_ended_agent_says_where_it_went() {
    let world = world().await;
    let agent = world.enlist("worker", &[]).await.unwrap();
    let mail = ["tool", "mail_send", "--to-human", "--subject", "Q", "--body", "b", "--json"];
    let sent = world.run_as(&agent, &mail).await.unwrap().ok().unwrap().json().unwrap();
    world.run(&["discharge", "last"]).await.unwrap().ok().unwrap();
    let id = sent["mailId"].as_str().unwrap();
    let told = world.run(&["mail", "reply", id, "Yes"]).await.unwrap().ok().unwrap().stdout;
    assert!(told.contains(&format!("{} has ended", agent.id)), "{told}");
    assert!(told.contains("inbox"), "{told}");
    let inbox = answer(&world, &["mail"]).await;
    assert_eq!((&inbox["count"], &inbox["mails"][0]["subject"]), (&json!(1), &json!("Re: Q")));
}
