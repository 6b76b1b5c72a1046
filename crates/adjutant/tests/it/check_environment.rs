//! The check of approved work, and the set-up before it, have what the author's person handed on and what the person hands
//! on who approves; none of it is in a file.

use std::fs;

use serde_json::{Value, json};
use testkit::{Server, World};
use tokio::process::Child;

use crate::crew::{in_order, repository, scene, settled, sh, until};
use crate::handed_on::executable;
use crate::kill::{answer, cast, draft, ended, operator};
use crate::provider_keys::files_with_key_below;

/// A value that only the person's shell has.
const SECRET: &str = "p0stgres-s3cret-of-the-person";
/// What the server was started with.
const PLAIN_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

const STORY: &str = r#"
scenarios:
  change:
    steps:
      - write: {path: 'feature-{{args.1}}.txt', text: "{{args.1}}\n"}
      - commit: Add the feature
      - result: {summary: added}
  stay:
    steps:
      - write: {path: 'feature-{{args.1}}.txt', text: "{{args.1}}\n"}
      - commit: Add the feature
      - call: mcp__task__update_status
        with: {taskId: TAS-1, status: REVIEW}
      - run: [sh, -c, 'touch "$ADJUTANT_HOME/stays"; exec sleep 1000']
"#;

/// Needs a variable that `agents.environment` names, and a program that only the person has.
const NEEDS: &str = r#"
if [ "$1" = check ] && [ -e "$ADJUTANT_HOME/slow" ]; then
  touch "$ADJUTANT_HOME/waits"
  until [ -e "$ADJUTANT_HOME/go" ]; do sleep 0.02; done
fi
echo "$1 ${#DATABASE_URL} $(the-toolchain) ${NOT_NAMED:-none}" >> "$ADJUTANT_HOME/seen"
test -n "$DATABASE_URL" && the-toolchain
"#;

async fn set(world: &World, key: &str, value: &str) {
    world.run(&["config", "set", key, value]).await.unwrap().ok().unwrap();
}

/// A project whose set-up and check need what only the person's shell has.
async fn stage() -> World {
    let settings =
        [("agents.environment", "[DATABASE_URL]"), ("worktrees.setup", "sh needs.sh set-up")];
    stage_with(&settings).await
}

/// A project with these settings whose check needs what only the person's shell has.
async fn stage_with(settings: &[(&str, &str)]) -> World {
    let world = scene(STORY, &[]).await;
    for (key, value) in settings.iter().chain(&[("check", "sh needs.sh check")]) {
        set(&world, key, value).await;
    }
    fs::write(world.project().join("needs.sh"), NEEDS).unwrap();
    cast(&world, "coder", "category: coding\nworktree: fresh");
    repository(&world).await;
    let tools = world.scratch().join("tools");
    fs::create_dir_all(&tools).unwrap();
    executable(&tools.join("the-toolchain"), "#!/bin/sh\nprintf here\n");
    world
}

/// Starts a server that has nothing of what the person's shell has.
async fn server(world: &mut World) -> Server {
    world.set("PATH", PLAIN_PATH);
    world.set("DATABASE_URL", "");
    world.up().await.unwrap()
}

/// From now on commands come from the person's shell.
fn shell(world: &mut World) {
    let tools = world.scratch().join("tools");
    world.set("PATH", format!("{}:{PLAIN_PATH}", tools.display()));
    world.set("DATABASE_URL", SECRET);
    world.set("NOT_NAMED", "unwanted");
}

async fn works(world: &World, prompt: &str) {
    let ran = answer(world, &["run", "--role", "coder", prompt]).await;
    assert_eq!(
        (&ran["state"], &ran["taskState"]),
        (&json!("succeeded"), &json!("review")),
        "{ran}"
    );
}

/// What set-ups and checks saw since it was asked last.
fn seen(world: &World) -> Vec<String> {
    let file = world.home().join("seen");
    let text = fs::read_to_string(&file).unwrap_or_default();
    fs::write(&file, "").unwrap();
    text.lines().map(str::to_owned).collect()
}

fn both() -> [String; 2] {
    ["set-up", "check"].map(|program| format!("{program} {} here none", SECRET.len()))
}

/// Approves as the page does: with nothing to hand on.
async fn approve_on_page(world: &World, server: &Server, task: &str) -> Value {
    let http = operator(world, server).await;
    let input = json!({ "taskId": task });
    http.call("mcp__supervisor__approve_task", input).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_check_has_what_its_author_had_and_no_value_is_in_a_file() {
    let mut world = stage().await;
    let first = server(&mut world).await;
    shell(&mut world);
    works(&world, "change one").await;
    assert_eq!(seen(&world), both()[..1]);
    // The author has ended; what it had is still there.
    let approved = approve_on_page(&world, &first, "TAS-1").await;
    assert_eq!(approved["status"], "merged", "{approved}");
    assert_eq!(seen(&world), both());
    let nothing: [std::path::PathBuf; 0] = [];
    for folder in [world.project(), world.user(), world.state()] {
        assert_eq!(files_with_key_below(&folder, SECRET), nothing);
    }
    first.kill().await.unwrap();
    assert_eq!(files_with_key_below(&world.project(), SECRET), nothing, "after a SIGKILL");
    let _server = world.up().await.unwrap();
    in_order(&world).await;
}

#[tokio::test]
async fn a_check_has_what_the_person_hands_on_who_approves() {
    let mut world = stage().await;
    let first = server(&mut world).await;
    shell(&mut world);
    works(&world, "change one").await;
    drop(seen(&world));
    // With the server goes what its author had.
    first.kill().await.unwrap();
    let second = server(&mut world).await;
    let held = approve_on_page(&world, &second, "TAS-1").await;
    assert_eq!(held["status"], "held", "{held}");
    let reason = held["reason"].as_str().unwrap();
    for part in ["without `DATABASE_URL`", "`adjutant review approve TAS-1`", "agents.environment"]
    {
        assert!(reason.contains(part), "no {part:?} in {reason}");
    }
    assert_eq!(seen(&world), [""; 0], "nothing was run without it");
    shell(&mut world);
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    assert_eq!(seen(&world), both());
    // It counts more than what the author had, and a retry hands on, too.
    works(&world, "change two").await;
    drop(seen(&world));
    world.set("DATABASE_URL", "other");
    set(&world, "check", "no-such-program").await;
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    let held = answer(&world, &["review", "approve", "TAS-2"]).await["merges"][0].clone();
    assert_eq!((&held["state"], seen(&world)), (&json!("held"), vec!["set-up 5 here none".into()]));
    world.set("DATABASE_URL", "another");
    set(&world, "check", "sh needs.sh check").await;
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    let retry = ["merge-queue", "retry", held["id"].as_str().unwrap()];
    world.run(&retry).await.unwrap().ok().unwrap();
    settled(&world).await;
    assert_eq!(seen(&world), ["set-up 7 here none", "check 7 here none"]);
    in_order(&world).await;
}

#[tokio::test]
async fn what_no_check_gets_is_refused_with_its_name_and_kept_only_for_work_in_review() {
    let mut world = stage().await;
    let server = server(&mut world).await;
    shell(&mut world);
    works(&world, "change one").await;
    let http = operator(&world, &server).await;
    let path = "/api/tasks/TAS-1/environment";
    for (name, value) in [("ANTHROPIC_API_KEY", "key"), ("LD_PRELOAD", "x")] {
        let (status, refused) =
            http.post(path, &json!({ "environment": { name: value } })).await.unwrap();
        assert_eq!(status, 422, "{refused}");
        assert!(refused.to_string().contains(&format!("environment.{name}")), "{refused}");
    }
    let given = json!({ "environment": { "DATABASE_URL": SECRET, "PATH": "relative:/bin" } });
    let (status, kept) = http.post(path, &given).await.unwrap();
    assert_eq!(
        (status.as_u16(), &kept["names"]),
        (200, &json!(["DATABASE_URL", "PATH"])),
        "{kept}"
    );
    let (status, _) = http.post("/api/tasks/TAS-9/environment", &given).await.unwrap();
    assert_eq!(status, 404);
    let audit = answer(&world, &["audit", "list", "--tool", "operator__hand_on"]).await.to_string();
    assert!(audit.contains("DATABASE_URL") && !audit.contains(SECRET), "{audit}");
    world.run(&["review", "request-changes", "TAS-1", "More"]).await.unwrap().ok().unwrap();
    let (_, kept) = http.post(path, &given).await.unwrap();
    assert_eq!(kept["names"], json!([]), "{kept}");
    assert_eq!(sh(&world, "git log --format=%s main").await, "Begin");
}

/// Approves in the background, as from another terminal of the person.
fn approving(world: &World, task: &str) -> Child {
    world.command(&["review", "approve", task, "--json"]).spawn().unwrap()
}

/// Waits until so much work is approved and not merged.
async fn queued(world: &World, count: usize) {
    loop {
        let listed = answer(world, &["merge-queue"]).await;
        if listed["merges"].as_array().unwrap().len() == count {
            return;
        }
    }
}

#[tokio::test]
async fn after_a_sigkill_a_check_gets_its_values_from_the_approving_command_or_is_held() {
    let mut world = stage().await;
    let first = server(&mut world).await;
    shell(&mut world);
    for prompt in ["change one", "change two", "change three"] {
        works(&world, prompt).await;
    }
    drop(seen(&world));
    fs::write(world.home().join("slow"), "").unwrap();
    let one = approving(&world, "TAS-1");
    until("the first check runs", || world.home().join("waits").exists()).await;
    let two = approving(&world, "TAS-2");
    queued(&world, 2).await;
    let mut three = approving(&world, "TAS-3");
    queued(&world, 3).await;
    // The last command ends with the server; the others find the next server and not before it is there.
    let waiting = [&one, &two].map(|command| command.id().unwrap());
    sh(&world, &format!("kill -STOP {} {}", waiting[0], waiting[1])).await;
    first.kill().await.unwrap();
    three.kill().await.unwrap();
    let nothing: [std::path::PathBuf; 0] = [];
    for folder in [world.project(), world.user(), world.state()] {
        assert_eq!(files_with_key_below(&folder, SECRET), nothing, "after a SIGKILL");
    }
    let second = server(&mut world).await;
    sh(&world, &format!("kill -CONT {} {}", waiting[0], waiting[1])).await;
    fs::write(world.home().join("go"), "").unwrap();
    for command in [one, two] {
        let ended = command.wait_with_output().await.unwrap();
        assert!(ended.status.success(), "{ended:?}");
    }
    settled(&world).await;
    let [set_up, check] = both();
    assert_eq!(seen(&world), [&set_up, &check, &set_up, &check].map(String::as_str));
    let held = answer(&world, &["merge-queue"]).await["merges"][0].clone();
    assert_eq!(
        (&held["number"], &held["state"], &held["missingVariables"]),
        (&json!("TAS-3"), &json!("held"), &json!(["DATABASE_URL", "PATH"])),
        "{held}"
    );
    let (reason, id) = (held["reason"].as_str().unwrap(), held["id"].as_str().unwrap());
    let retry = format!("adjutant merge-queue retry {id}");
    for part in ["without `DATABASE_URL`", "the server's `PATH`", &retry] {
        assert!(reason.contains(part), "no {part:?} in {reason}");
    }
    // Putting it back without a shell that has them does not help.
    let http = operator(&world, &second).await;
    http.post(&format!("/api/merge-queue/{id}/retry"), &json!({})).await.unwrap();
    settled(&world).await;
    assert_eq!(seen(&world), [""; 0], "nothing was run without them");
    shell(&mut world);
    world.run(&["merge-queue", "retry", id]).await.unwrap().ok().unwrap();
    settled(&world).await;
    assert_eq!(seen(&world), both());
    in_order(&world).await;
}

#[tokio::test]
async fn after_a_restart_the_page_approves_with_the_same_path_or_says_which_is_gone() {
    let mut world = stage_with(&[("agents.environment", "[DATABASE_URL]")]).await;
    let first = server(&mut world).await;
    shell(&mut world);
    works(&world, "change one").await;
    works(&world, "change two").await;
    first.kill().await.unwrap();
    // A server with the same path as the shell has nothing to be asked for.
    let second = world.up().await.unwrap();
    let approved = approve_on_page(&world, &second, "TAS-1").await;
    assert_eq!(approved["status"], "merged", "{approved}");
    assert_eq!(seen(&world), both()[1..]);
    second.kill().await.unwrap();
    let third = server(&mut world).await;
    let http = operator(&world, &third).await;
    let (_, queue) = http.get("/api/tasks/review-queue").await.unwrap();
    let missing = json!(["DATABASE_URL", "PATH"]);
    assert_eq!(queue["tasks"][0]["missingVariables"], missing, "{queue}");
    for typed in [&["review", "show", "TAS-2"][..], &["reviews"]] {
        let shown = world.run(typed).await.unwrap().ok().unwrap().stdout;
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            shown.contains("The check needs `DATABASE_URL` and `PATH` of the shell"),
            "{shown}"
        );
    }
    let held = approve_on_page(&world, &third, "TAS-2").await;
    assert_eq!(held["status"], "held", "{held}");
    assert_eq!(seen(&world), [""; 0], "nothing was run with another path");
    let given = json!({ "environment": {}, "acceptServers": true });
    let (status, _) = http.post("/api/tasks/TAS-2/environment", &given).await.unwrap();
    assert_eq!(status, 200);
    let tried = approve_on_page(&world, &third, "TAS-2").await;
    assert_eq!(tried["status"], "sent_back", "the program is not there: {tried}");
    assert_eq!(seen(&world), ["check 0  none"]);
    in_order(&world).await;
}

#[tokio::test]
async fn after_a_restart_an_author_that_lives_still_has_the_values() {
    let mut world = stage().await;
    let first = server(&mut world).await;
    shell(&mut world);
    let author = draft(&world, "coder", "stay one").await;
    until("the author stays", || world.home().join("stays").exists()).await;
    drop(seen(&world));
    first.kill().await.unwrap();
    let second = server(&mut world).await;
    let approved = approve_on_page(&world, &second, "TAS-1").await;
    assert_eq!(approved["status"], "merged", "{approved}");
    assert_eq!(seen(&world), both());
    assert_eq!(ended(&world, &author).await, "succeeded", "its work is in");
    in_order(&world).await;
}
