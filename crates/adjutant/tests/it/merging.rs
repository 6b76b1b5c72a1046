//! The merge queue with scripted agents on a real repository: what is checked, with what, and what is left
//! after a crash at every named place.

use std::fs;

use serde_json::{Value, json};
use store::{Merge, MergePage, Store};
use testkit::{Http, Server, World};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::BINARY;
use crate::crew::{in_order, repository, scene, settled, sh, until};
use crate::kill::{answer, cast, lines, operator};

const APPROVE: &str = "mcp__supervisor__approve_task";
const CHANGES: &str = "mcp__supervisor__request_changes";

const STORY: &str = r#"
scenarios:
  add:
    steps:
      - write: {path: '{{args.1}}', text: "{{args.2}}\n"}
      - commit: Add it
      - result: {summary: added}
  mend:
    steps:
      - run: [grep, -q, bad, feature.txt]
      - write: {path: feature.txt, text: "good\n"}
      - commit: Mend it
      - result: {summary: mended}
"#;

/// Says what it sees, waits if it is told to, and does not like what is bad.
const CHECK: &str = r#"
echo "$PWD" >> "$ADJUTANT_HOME/checks"
env > "$ADJUTANT_HOME/env"
BINARY tool list_agents > "$ADJUTANT_HOME/told" 2>&1
echo "$?" >> "$ADJUTANT_HOME/told"
echo "looking at $(cat feature.txt)"
if [ -e "$ADJUTANT_HOME/slow" ]; then
  touch "$ADJUTANT_HOME/waits"
  setsid sleep 1000 &
  until [ -e "$ADJUTANT_HOME/go" ]; do sleep 0.02; done
  kill $!
fi
if grep -q bad feature.txt; then echo "the feature is bad" >&2; exit 3; fi
"#;

/// A project under git with a check, and an epic.
async fn stage(timeout: u32) -> (World, String) {
    let world = scene(STORY, &[]).await;
    fs::write(world.project().join("check.sh"), CHECK.replace("BINARY", BINARY)).unwrap();
    cast(&world, "hand", "category: worker\nworktree: fresh");
    let config = world.home().join("config.yaml");
    let text = fs::read_to_string(&config).unwrap();
    let text = text.replace("\ncheck: null\n", "\ncheck: sh check.sh\n");
    let text = text.replace("\ncheckTimeout: 1800", &format!("\ncheckTimeout: {timeout}"));
    fs::write(&config, text).unwrap();
    repository(&world).await;
    let epic = tool(&world, "epic_create", json!({ "title": "The epic" })).await;
    (world, epic["id"].as_str().unwrap().to_owned())
}

async fn tool(world: &World, name: &str, input: Value) -> Value {
    let ran = world.run(&["tool", name, "--input", &input.to_string(), "--json"]).await.unwrap();
    ran.ok().unwrap().json().unwrap()
}

/// Has a scripted agent work on a task.
async fn work(world: &World, slug: &str, prompt: &str) -> String {
    let ran = answer(world, &["run", "--role", "hand", "--task", slug, prompt]).await;
    assert_eq!(ran["state"], "succeeded", "{ran}");
    ran["agentId"].as_str().unwrap().to_owned()
}

/// A task of the epic that an agent has done, so that it waits to be approved.
async fn handed(world: &World, epic: &str, slug: &str, prompt: &str) -> String {
    tool(world, "task_create", json!({ "title": slug, "slug": slug, "epicId": epic })).await;
    work(world, slug, prompt).await
}

async fn approve(world: &World, slug: &str) -> Value {
    tool(world, "supervisor_approve_task", json!({ "taskId": slug })).await
}

async fn task(world: &World, slug: &str) -> Value {
    tool(world, "task_get", json!({ "taskId": slug })).await
}

fn merges(world: &World) -> Vec<Merge> {
    let store = Store::open(&world.state_dir().join("state.db")).unwrap();
    store.read(|tx| tx.merge_page(MergePage::All, 0, 100)).unwrap().items
}

/// How often the check was run.
fn checks(world: &World) -> Vec<String> {
    lines(world, ".adjutant/checks")
}

fn mark(world: &World, name: &str) {
    fs::write(world.home().join(name), "").unwrap();
}

/// Approves without waiting for what comes of it.
fn approving(http: Http, slug: &str) -> JoinHandle<Option<Value>> {
    let input = json!({ "taskId": slug });
    // Nothing if the server went away.
    TaskTracker::new().spawn(async move { http.call(APPROVE, input).await.ok()?.ok() })
}

/// A server in the middle of a check, which ends when it is told to go on, and the call that waits for it.
async fn checking(world: &World, epic: &str) -> (Server, JoinHandle<Option<Value>>) {
    world.run(&["down"]).await.unwrap();
    let server = world.up().await.unwrap();
    let http = operator(world, &server).await;
    handed(world, epic, "feature", "add feature.txt good").await;
    mark(world, "slow");
    let call = approving(http, "feature");
    until("the check runs", || world.home().join("waits").exists()).await;
    (server, call)
}

#[tokio::test]
async fn merged_work_is_checked_with_an_agents_environment_and_nobodys_token() {
    let (mut world, epic) = stage(60).await;
    world.set("MY_API_TOKEN", "secret");
    world.run(&["down"]).await.unwrap();
    let worker = handed(&world, &epic, "feature", "add feature.txt good").await;
    let answer = approve(&world, "feature").await;
    assert_eq!(answer["status"], "merged", "{answer}");
    let place = &checks(&world)[..];
    let [place] = place else { panic!("one check: {place:?}") };
    let scratch = world.worktrees().canonicalize().unwrap().join("merge-");
    assert!(place.starts_with(&scratch.display().to_string()), "{place}");
    let environment = lines(&world, ".adjutant/env");
    for variable in [format!("ADJUTANT_AGENT_ID={worker}"), "ADJUTANT_TASK=feature".to_owned()] {
        assert!(environment.contains(&variable), "{variable}: {environment:?}");
    }
    assert!(environment.iter().any(|variable| variable.starts_with("PATH=")));
    assert!(!environment.iter().any(|variable| variable.contains("TOKEN")), "{environment:?}");
    let told = lines(&world, ".adjutant/told");
    assert_eq!(told.last().unwrap(), "3", "whoever calls from within is nobody: {told:?}");
    assert_eq!(task(&world, "feature").await["state"], "COMPLETED");
    let branch = format!("adjutant/epic/{epic}");
    assert_eq!(sh(&world, &format!("git show {branch}:feature.txt")).await, "good");
    in_order(&world).await;
    assert!(!world.worktrees().join(&worker).exists(), "its worktree is gone");
}

#[tokio::test]
async fn what_fails_the_check_goes_back_with_its_output_and_the_next_one_goes_on_from_there() {
    let (world, epic) = stage(60).await;
    handed(&world, &epic, "feature", "add feature.txt bad").await;
    let branch = format!("adjutant/epic/{epic}");
    let before = sh(&world, &format!("git rev-parse {branch}")).await;
    let answer = approve(&world, "feature").await;
    assert_eq!(answer["status"], "sent_back", "{answer}");
    assert_eq!(answer["reason"], "the check `sh check.sh` ended with 3");
    assert_eq!(answer["checkOutput"], "looking at bad\nthe feature is bad");
    assert_eq!(sh(&world, &format!("git rev-parse {branch}")).await, before);
    let sent = task(&world, "feature").await;
    assert_eq!(sent["state"], "PENDING", "nobody is there to go on with it");
    let remark = sent["comments"][0]["body"].as_str().unwrap();
    assert!(remark.contains("the feature is bad"), "{remark}");
    let inbox = tool(&world, "mail_list_inbox", json!({})).await;
    assert_eq!(inbox["mails"][0]["subject"], "Check Failed: TAS-1 feature");
    work(&world, "feature", "mend").await;
    assert_eq!(approve(&world, "feature").await["status"], "merged");
    assert_eq!(sh(&world, &format!("git show {branch}:feature.txt")).await, "good");
    assert_eq!(checks(&world).len(), 2);
    in_order(&world).await;
}

#[tokio::test]
async fn a_check_that_takes_too_long_is_ended_with_all_it_started() {
    let (world, epic) = stage(1).await;
    handed(&world, &epic, "feature", "add feature.txt good").await;
    mark(&world, "slow");
    let answer = approve(&world, "feature").await;
    assert_eq!(answer["status"], "sent_back", "{answer}");
    assert_eq!(answer["reason"], "the check `sh check.sh` did not end within 1 seconds");
    in_order(&world).await;
}

#[tokio::test]
async fn a_check_that_cannot_be_run_holds_the_merge() {
    let (world, epic) = stage(60).await;
    handed(&world, &epic, "feature", "add feature.txt good").await;
    let config = world.home().join("config.yaml");
    let good = fs::read_to_string(&config).unwrap();
    fs::write(&config, good.replace("check: sh check.sh", "check: no-such-program")).unwrap();
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    let answer = approve(&world, "feature").await;
    assert_eq!(answer["status"], "held", "{answer}");
    let reason = answer["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("`no-such-program`, which `check` in the configuration names"),
        "{reason}"
    );
    fs::write(&config, good).unwrap();
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    assert_eq!(approve(&world, "feature").await["status"], "merged", "approving again tries again");
    in_order(&world).await;
}

#[tokio::test]
async fn a_check_outlives_the_server_and_is_not_run_twice() {
    for killed in [true, false] {
        let (world, epic) = stage(60).await;
        let (server, call) = checking(&world, &epic).await;
        if killed {
            server.kill().await.unwrap();
        } else {
            server.stop().await.unwrap();
        }
        drop(call.await);
        assert_eq!(merges(&world)[0].state.name(), "merging");
        mark(&world, "go");
        let _server = world.up().await.unwrap();
        settled(&world).await;
        assert_eq!(merges(&world)[0].state.name(), "merged");
        assert_eq!(checks(&world).len(), 1);
        in_order(&world).await;
    }
}

#[tokio::test]
async fn a_check_whose_supervisor_died_is_run_again() {
    let (world, epic) = stage(60).await;
    let (_server, call) = checking(&world, &epic).await;
    fs::remove_file(world.home().join("slow")).unwrap();
    let runs = world.state_dir().join("runs").join(merges(&world)[0].id.to_string());
    let record = fs::read_to_string(runs.join("1/supervisor.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    sh(&world, &format!("kill -9 {}", record["pid"])).await;
    assert_eq!(call.await.unwrap().unwrap()["status"], "merged");
    assert_eq!(checks(&world).len(), 2);
    assert!(runs.join("2/exit.json").exists());
    in_order(&world).await;
}

#[tokio::test]
async fn a_branch_that_moved_meanwhile_is_merged_into_as_it_is_then() {
    let (world, epic) = stage(60).await;
    let (_server, call) = checking(&world, &epic).await;
    let branch = format!("adjutant/epic/{epic}");
    let script = format!(
        "moved=$(git commit-tree -p {branch} -m Meanwhile '{branch}^{{tree}}')\n\
         git update-ref refs/heads/{branch} $moved; echo $moved"
    );
    let moved = sh(&world, &script).await;
    mark(&world, "go");
    let answer = call.await.unwrap().unwrap();
    assert_eq!(answer["status"], "merged", "{answer}");
    assert_eq!(sh(&world, &format!("git rev-parse {branch}^1")).await, moved);
    assert_eq!(checks(&world).len(), 2, "what was checked is what is there");
    in_order(&world).await;
}

#[tokio::test]
async fn who_waits_for_its_turn_can_be_taken_out_and_who_has_it_cannot() {
    let (world, epic) = stage(60).await;
    world.run(&["down"]).await.unwrap();
    let server = world.up().await.unwrap();
    let http = operator(&world, &server).await;
    handed(&world, &epic, "first", "add feature.txt good").await;
    handed(&world, &epic, "second", "add other.txt good").await;
    mark(&world, "slow");
    let first = approving(http.clone(), "first");
    until("the check runs", || world.home().join("waits").exists()).await;
    let second = approving(http.clone(), "second");
    until("the other one is in the queue", || merges(&world).len() == 2).await;
    let seen = tool(&world, "supervisor_get_review_queue", json!({})).await;
    let queue = seen["queue"].as_array().unwrap().iter();
    let queue: Vec<_> = queue.map(|one| (&one["slug"], &one["position"], &one["state"])).collect();
    assert_eq!(
        queue,
        [
            (&json!("first"), &json!(1), &json!("merging")),
            (&json!("second"), &json!(2), &json!("queued"))
        ]
    );
    let input = |slug: &str| json!({ "taskId": slug, "feedback": "Name it better." });
    let refused = http.call(CHANGES, input("first")).await.unwrap().unwrap_err();
    assert_eq!(refused["code"], "CONFLICT", "{refused}");
    http.call(CHANGES, input("second")).await.unwrap().unwrap();
    mark(&world, "go");
    assert_eq!(first.await.unwrap().unwrap()["status"], "merged");
    let second = second.await.unwrap().unwrap();
    assert_eq!(
        (&second["status"], &second["reason"]),
        (&json!("sent_back"), &json!("changes were requested"))
    );
    assert_eq!(task(&world, "second").await["state"], "PENDING");
    assert_eq!(checks(&world).len(), 1);
    in_order(&world).await;
}

/// Lets the server die at a place, brings it back, and looks whether it was merged once.
async fn dies_at(point: engine::Point) {
    let (mut world, epic) = stage(60).await;
    let worker = handed(&world, &epic, "feature", "add feature.txt good").await;
    world.run(&["down"]).await.unwrap();
    world.set("ADJUTANT_CRASH_AT", point.name());
    let mut server = world.up().await.unwrap();
    let call = approving(operator(&world, &server).await, "feature");
    server.ended().await.unwrap();
    drop(call.await);
    world.set("ADJUTANT_CRASH_AT", "");
    let _server = world.up().await.unwrap();
    settled(&world).await;
    let all = merges(&world);
    let [merge] = &all[..] else { panic!("{point}: {all:?}") };
    assert_eq!(merge.state.name(), "merged", "{point}: {merge:?}");
    let branch = format!("adjutant/epic/{epic}");
    let found = sh(&world, &format!("git log --merges --format=%H {branch}")).await;
    assert_eq!(Some(found), merge.merged, "{point}: it is there once, and so on record");
    assert_eq!(checks(&world).len(), 1, "{point}");
    assert_eq!(task(&world, "feature").await["state"], "COMPLETED", "{point}");
    assert!(!world.worktrees().join(&worker).exists(), "{point}");
    in_order(&world).await;
}

#[tokio::test]
async fn a_crash_at_any_place_of_a_merge_leaves_it_merged_once() {
    let of = |point: &&engine::Point| point.name().starts_with("merge.");
    for point in engine::Point::ALL.iter().filter(of) {
        dies_at(*point).await;
    }
}
