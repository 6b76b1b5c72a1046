//! The main flow without an epic and without GitHub: an agent that a person starts leaves its work on a branch, the work is
//! reviewed, and approval merges it into the branch that it came from.

mod refusals;
mod reviewers;

use std::fs;

use serde_json::{Value, json};
use testkit::World;

use crate::crew::{in_order, repository, scene, settled, sh};
use crate::kill::{answer, cast};

const STORY: &str = r#"
scenarios:
  change:
    steps:
      - write: {path: feature.txt, text: "{{args.1}}\n"}
      - commit: Add the feature
      - result: {summary: added the feature}
  mend:
    steps:
      - run: [grep, -q, one, feature.txt]
      - say: "told: {{input}}"
      - write: {path: feature.txt, text: "two\n"}
      - commit: Mend the feature
      - result: {summary: mended the feature}
  nothing:
    steps:
      - result: {summary: there was nothing to change}
  forget:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - result: {summary: forgot to commit}
  fail:
    steps:
      - write: {path: feature.txt, text: "half\n"}
      - commit: Add half of it
      - fail: it is too hard
  feedback:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - write: {path: REVIEW_FEEDBACK.md, text: "mend it\n"}
      - commit: Add the feature
      - result: {summary: added the feature}
  lead:
    steps:
      - call: task_create
        with: {title: A part, slug: a-part}
      - call: draft_agent
        with: {role: coder, prompt: change one, taskSlug: a-part}
        save: drafted
      - call: await_agent
        with: {agentId: '{{drafted.agentId}}'}
        until: {status: completed}
      - result: {summary: led}
"#;

/// A project under git whose roles play scenarios.
pub(super) async fn stage(variables: &[(&str, &str)]) -> World {
    let world = with_roles(variables).await;
    repository(&world).await;
    world
}

/// The same without git.
async fn with_roles(variables: &[(&str, &str)]) -> World {
    let story = format!("{STORY}{}", reviewers::STORY);
    let world = scene(&story, variables).await;
    cast(&world, "coder", "category: coding\nworktree: fresh");
    cast(&world, "hand", "category: worker");
    cast(&world, "lead", "category: conversational");
    cast(&world, "reviewer", "category: review");
    world
}

/// Has a coder play a scenario, and gives what `run --json` answers.
pub(super) async fn run(world: &World, prompt: &str) -> Value {
    answer(world, &["run", "--role", "coder", prompt]).await
}

/// State of a task, as it is stored.
pub(super) async fn state(world: &World, task: &str) -> String {
    let found = answer(world, &["tasks", "show", task]).await;
    found["storedState"].as_str().unwrap().to_owned()
}

/// A file as it is on the branch `main`; empty where it is not there.
pub(super) async fn on_main(world: &World, file: &str) -> String {
    sh(world, &format!("git show main:{file} 2>/dev/null || true")).await
}

/// A text without what is never the same twice.
pub(super) fn steady(text: &str) -> String {
    let mut text = text.to_owned();
    for (found, instead) in [
        (r"\b(sp|task|epic|merge|fb|mail)_[0-9a-f]{16}\b", "${1}_ID"),
        (r"\b[0-9a-f]{40}\b", "COMMIT"),
        (r"\b[0-9a-f]{8,10}\b", "COMMIT"),
        (r"\b\d+(\.\d+)?(ms|s)\b", "TIME"),
        (r"-\d{4}-\d{4}\b", "-DATE"),
    ] {
        text = regex_lite::Regex::new(found).unwrap().replace_all(&text, instead).into_owned();
    }
    text
}

#[tokio::test]
async fn work_that_a_person_asked_for_is_reviewed_and_merged_on_approval() {
    let world = stage(&[]).await;
    let ran = world.run(&["run", "--role", "coder", "change one"]).await.unwrap().ok().unwrap();
    insta::assert_snapshot!(steady(&ran.stdout), @r"
    sp_ID succeeded in TIME
        added the feature
    TAS-1 is in review: change one
      adjutant/sp_ID → main, 1 commit
        feature.txt  +1 -0
        1 file changed, +1 -0
    Next
      adjutant review show TAS-1                    see the changes
      adjutant review approve TAS-1                 merge them into main
      adjutant review request-changes TAS-1 'TEXT'  say what to change
    ");
    assert_eq!(state(&world, "TAS-1").await, "review");
    assert_eq!(on_main(&world, "feature.txt").await, "", "nothing is merged before it is approved");
    let shown = world.run(&["review", "show", "TAS-1"]).await.unwrap().ok().unwrap();
    insta::assert_snapshot!(steady(&shown.stdout), @r"
    TAS-1 is in review: change one
      adjutant/sp_ID → main, 1 commit
        feature.txt  +1 -0
        1 file changed, +1 -0
        COMMIT Add the feature

    sp_ID coder  TERMINATED
      task     change-one-DATE
      reviews  0 of 3
      failed   0; with 5 it is abandoned

    No reviews yet.

    adjutant review approve TAS-1, or adjutant review request-changes TAS-1 'TEXT'
    ");
    let approved = world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    assert!(approved.stdout.contains("merged"), "{approved:?}");
    assert_eq!(state(&world, "TAS-1").await, "completed");
    assert_eq!(on_main(&world, "feature.txt").await, "one");
    assert_eq!(fs::read_to_string(world.project().join("feature.txt")).unwrap(), "one\n");
    in_order(&world).await;
}

#[tokio::test]
async fn the_answer_for_programs_says_where_the_work_is() {
    let world = stage(&[]).await;
    let ran = run(&world, "change one").await;
    let agent = ran["agentId"].as_str().unwrap();
    assert_eq!(ran["taskState"], "review", "{ran}");
    assert_eq!(ran["branch"], format!("adjutant/{agent}"), "{ran}");
    let mut keys: Vec<&str> = ran.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let known = [
        "agentId",
        "branch",
        "costUsd",
        "durationMs",
        "result",
        "state",
        "status",
        "taskState",
        "tokens",
    ];
    assert_eq!(keys, known);
    let ran = world.run(&["run", "--role", "coder", "fail", "--json"]).await.unwrap();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.json().unwrap()["taskState"], "pending");
}

#[tokio::test]
async fn an_agent_that_changed_nothing_completes_its_task() {
    let world = stage(&[]).await;
    let ran = run(&world, "nothing").await;
    assert_eq!(ran["taskState"], "completed", "{ran}");
    let told = world.run(&["run", "--role", "coder", "nothing"]).await.unwrap().ok().unwrap();
    assert!(told.stdout.contains("TAS-2 is completed"), "{told:?}");
    assert!(told.stdout.contains("nothing was changed"), "{told:?}");
    in_order(&world).await;
}

#[tokio::test]
async fn work_that_was_left_uncommitted_is_reviewed_and_merged_too() {
    let world = stage(&[]).await;
    let ran = run(&world, "forget").await;
    assert_eq!(ran["taskState"], "review", "{ran}");
    // At once: the approval waits until the work is on its branch.
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    assert_eq!(on_main(&world, "feature.txt").await, "one");
    in_order(&world).await;
}

#[tokio::test]
async fn work_goes_on_without_a_review_where_none_is_wanted() {
    let world = stage(&[]).await;
    let once = answer(&world, &["run", "--role", "coder", "--no-review", "change one"]).await;
    assert_eq!(once["taskState"], "completed", "{once}");
    let branch = once["branch"].as_str().unwrap();
    assert_eq!(sh(&world, &format!("git show {branch}:feature.txt")).await, "one");
    cast(&world, "coder", "category: coding\nworktree: fresh\nreview: {required: never}");
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    assert_eq!(run(&world, "change two").await["taskState"], "completed");
    cast(&world, "coder", "category: coding\nworktree: fresh");
    world.run(&["config", "set", "review.required", "never"]).await.unwrap().ok().unwrap();
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    assert_eq!(run(&world, "change three").await["taskState"], "completed");
    assert_eq!(on_main(&world, "feature.txt").await, "", "nothing is merged unasked");
}

#[tokio::test]
async fn work_that_nobody_reviews_comes_with_the_commands_that_merge_it() {
    let world = stage(&[]).await;
    let typed = ["run", "--role", "coder", "--no-review", "change one"];
    let ran = world.run(&typed).await.unwrap().ok().unwrap();
    insta::assert_snapshot!(steady(&ran.stdout), @r"
    sp_ID succeeded in TIME
        added the feature
    TAS-1 is completed: change one
      adjutant/sp_ID → main, 1 commit
        feature.txt  +1 -0
        1 file changed, +1 -0
    Next
      git diff main...adjutant/sp_ID  see the changes
      git merge adjutant/sp_ID        merge them, with main checked out
    ");
    // As it says.
    let next = ran.stdout.split("Next\n").nth(1).unwrap();
    for line in next.lines().filter(|line| line.starts_with("  git ")) {
        let command = line.trim().split("  ").next().unwrap();
        sh(&world, command).await;
    }
    assert_eq!(on_main(&world, "feature.txt").await, "one");
    // Work that is merged by itself leaves nothing to do.
    fs::write(world.home().join("review.md"), "approve\n").unwrap();
    for (key, value) in [("review.onApproval", "merge"), ("review.required", "agent")] {
        world.run(&["config", "set", key, value]).await.unwrap().ok().unwrap();
    }
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    let ran = world.run(&["run", "--role", "coder", "change two"]).await.unwrap().ok().unwrap();
    assert!(!ran.stdout.contains("git merge"), "{ran:?}");
    settled(&world).await;
    assert_eq!(on_main(&world, "feature.txt").await, "two");
}

#[tokio::test]
async fn what_other_agents_start_moves_as_before_unless_its_role_asks_for_a_review() {
    let world = stage(&[]).await;
    let led = answer(&world, &["run", "--role", "lead", "lead"]).await;
    assert_eq!(led["state"], "succeeded", "{led}");
    assert_eq!(state(&world, "a-part").await, "completed");
    // The operator's own call of the tool is no `run` either.
    let drafted =
        answer(&world, &["tool", "draft_agent", "--role", "coder", "--prompt", "change two"]).await;
    let agent = drafted["agentId"].as_str().unwrap();
    answer(&world, &["await", agent]).await;
    assert_eq!(state(&world, drafted["taskSlug"].as_str().unwrap()).await, "completed");
    cast(&world, "coder", "category: coding\nworktree: fresh\nreview: {required: person}");
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    let drafted =
        answer(&world, &["tool", "draft_agent", "--role", "coder", "--prompt", "change three"])
            .await;
    answer(&world, &["await", drafted["agentId"].as_str().unwrap()]).await;
    assert_eq!(state(&world, drafted["taskSlug"].as_str().unwrap()).await, "review");
}

#[tokio::test]
async fn work_that_is_sent_back_goes_on_from_its_branch_and_is_reviewed_again() {
    let world = stage(&[]).await;
    run(&world, "change one").await;
    let words = "Make it two, please";
    let sent =
        world.run(&["review", "request-changes", "TAS-1", words]).await.unwrap().ok().unwrap();
    assert!(sent.stdout.contains("--task TAS-1"), "{sent:?}");
    assert_eq!(state(&world, "TAS-1").await, "pending");
    let mended = answer(&world, &["run", "--role", "coder", "--task", "TAS-1", "mend"]).await;
    assert_eq!((&mended["state"], &mended["taskState"]), (&json!("succeeded"), &json!("review")));
    let logs = world.run(&["logs", "last"]).await.unwrap().ok().unwrap();
    assert!(logs.stdout.contains(words), "the next agent reads what was asked for: {logs:?}");
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    assert_eq!(on_main(&world, "feature.txt").await, "two");
    in_order(&world).await;
}

#[tokio::test]
async fn an_agent_that_finds_nothing_left_to_change_leaves_the_task_in_review() {
    let world = stage(&[]).await;
    run(&world, "change one").await;
    let sent = ["review", "request-changes", "TAS-1", "Is it done?"];
    world.run(&sent).await.unwrap().ok().unwrap();
    let again = answer(&world, &["run", "--role", "coder", "--task", "TAS-1", "nothing"]).await;
    assert_eq!(again["taskState"], "review", "its branch still has what main lacks: {again}");
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    assert_eq!(on_main(&world, "feature.txt").await, "one");
}

#[tokio::test]
async fn approved_work_is_one_commit_where_that_is_wanted() {
    let world = stage(&[]).await;
    run(&world, "change one").await;
    world.run(&["review", "approve", "--squash", "TAS-1"]).await.unwrap().ok().unwrap();
    let log = sh(&world, "git log --format='%s%n%b' main").await;
    assert!(log.starts_with("change one (TAS-1)\n- Add the feature\n"), "{log}");
    assert_eq!(sh(&world, "git rev-list --count main").await, "2");
    world.run(&["config", "set", "review.squash", "true"]).await.unwrap().ok().unwrap();
    world.run(&["reload"]).await.unwrap().ok().unwrap();
    run(&world, "change two").await;
    world.run(&["review", "approve", "TAS-2"]).await.unwrap().ok().unwrap();
    assert_eq!(sh(&world, "git rev-list --count main").await, "3");
    run(&world, "change three").await;
    world.run(&["review", "approve", "--no-squash", "TAS-3"]).await.unwrap().ok().unwrap();
    assert_eq!(sh(&world, "git rev-list --count main").await, "5", "a commit and its merge");
    assert_eq!(on_main(&world, "feature.txt").await, "three");
    in_order(&world).await;
}

#[tokio::test]
async fn feedback_never_reaches_the_target_branch() {
    let world = stage(&[]).await;
    run(&world, "feedback").await;
    world.run(&["review", "approve", "TAS-1"]).await.unwrap().ok().unwrap();
    assert_eq!(on_main(&world, "feature.txt").await, "one");
    assert_eq!(on_main(&world, "REVIEW_FEEDBACK.md").await, "");
    // A file of that name that the project has itself stays as it is.
    sh(&world, "echo ours > REVIEW_FEEDBACK.md && git add -A && git commit -qm Ours").await;
    run(&world, "feedback").await;
    sh(&world, "echo two > other.txt && git add -A && git commit -qm Other").await;
    let branch = sh(&world, "git branch --list 'adjutant/sp_*' --format='%(refname:short)'").await;
    let told = sh(&world, &format!("git show {branch}:REVIEW_FEEDBACK.md")).await;
    assert_eq!(told, "mend it", "{branch}");
    run(&world, "change three").await;
    for task in ["TAS-2", "TAS-3"] {
        drop(world.run(&["review", "approve", "--squash", task]).await.unwrap());
    }
    assert_eq!(on_main(&world, "REVIEW_FEEDBACK.md").await, "ours");
    settled(&world).await;
}

#[tokio::test]
async fn tasks_are_listed_newest_first_and_by_state() {
    let world = stage(&[]).await;
    for title in ["First", "Second", "Third"] {
        world.run(&["tasks", "add", title]).await.unwrap().ok().unwrap();
    }
    run(&world, "change one").await;
    let titles = |listed: &Value| -> Vec<String> {
        let tasks = listed["tasks"].as_array().unwrap().iter();
        tasks.map(|task| task["title"].as_str().unwrap().to_owned()).collect()
    };
    let all = answer(&world, &["tasks"]).await;
    assert_eq!(titles(&all), ["change one", "Third", "Second", "First"]);
    assert_eq!(titles(&answer(&world, &["tasks", "-n", "2"]).await), ["change one", "Third"]);
    assert_eq!(titles(&answer(&world, &["tasks", "--state", "review"]).await), ["change one"]);
    let open = answer(&world, &["tasks", "--state", "pending"]).await;
    assert_eq!(titles(&open), ["Third", "Second", "First"]);
}

#[tokio::test]
async fn epics_are_created_listed_and_shown() {
    let world = stage(&[]).await;
    let none = world.run(&["epic", "list"]).await.unwrap().ok().unwrap();
    assert!(none.stdout.contains("adjutant epic create"), "{none:?}");
    let made = answer(&world, &["epic", "create", "Prices", "--description", "In euros"]).await;
    let epic = made["id"].as_str().unwrap();
    let told = world.run(&["epic", "create", "Taxes"]).await.unwrap().ok().unwrap();
    assert!(told.stdout.contains("adjutant tasks add TITLE --epic epic_"), "{told:?}");
    world.run(&["tasks", "add", "Round them", "--epic", epic]).await.unwrap().ok().unwrap();
    let listed = answer(&world, &["epic", "list"]).await;
    let titles: Vec<&Value> =
        listed["epics"].as_array().unwrap().iter().map(|epic| &epic["title"]).collect();
    assert_eq!(titles, ["Taxes", "Prices"], "the newest first");
    let shown = answer(&world, &["epic", "show", epic]).await;
    assert_eq!(shown["tasks"][0]["title"], "Round them", "{shown}");
    assert_eq!(shown["taskCounts"]["PENDING"], 1, "{shown}");
    let text = world.run(&["epic", "show", epic]).await.unwrap().ok().unwrap();
    insta::assert_snapshot!(steady(&text.stdout), @r"
    epic_ID Prices
      state    planning
      tasks    1 pending
      changed  TIME ago

        In euros

    TASK   STATE    TITLE       AGENT
    TAS-1  pending  Round them  -
    ");
    let unknown = world.run(&["epic", "show", "epic_0000000000000000"]).await.unwrap();
    assert_eq!(unknown.code, Some(4), "{unknown:?}");
    let wrong = world.run(&["epic", "show", "TAS-1"]).await.unwrap();
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
}
