//! What people and programs see of reviews, worktrees and the merge queue, and what they can do about them.

mod merges;

use std::fs;

use serde_json::{Value, json};
use testkit::World;

use crate::crew::{repository, scene, sh, until};
use crate::kill::{answer, cast, draft, ended, operator, until_is};

/// The reviewer plays what the coder asks for: the first word of the prompt chooses.
const ASK: &str =
    "{{instructions}}\n\nWork of {{coder}}, review {{iteration}} of {{max_iterations}}.\n";

const STORY: &str = r#"
scenarios:
  reviewed:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - call: request_review
        with: {reviewer_prompt: refuse, completion_message: "It is \e[31mdone\e[0m"}
      - call: mail_list_inbox
        with: {waitSeconds: 100}
        until: {unreadCount: 1}
      - &told {run: [sh, -c, 'touch "$ADJUTANT_HOME/told"; until [ -e "$ADJUTANT_HOME/end" ]; do sleep 0.02; done']}
      - result: {summary: reviewed}
  refuse:
    steps:
      - run: [sh, -c, 'until [ -e "$ADJUTANT_HOME/go" ]; do sleep 0.02; done']
      - call: send_feedback
        with:
          feedback: "The parser loses\e[2J the last line."
          feedback_type: needs_work
          priority: high
          actionable_items: [Keep the last line, Add a test]
  work:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - write: {path: stray.txt, text: "not committed\n"}
      - *told
      - fail: enough
  line:
    steps:
      - write: {path: lines.txt, text: "one\n{{args.1}}\nthree\n"}
      - commit: 'Say {{args.1}}'
      - result: {summary: '{{args.1}}'}
  file:
    steps:
      - write: {path: '{{args.1}}.txt', text: "new\n"}
      - commit: 'Add {{args.1}}'
      - result: {summary: '{{args.1}}'}
"#;

/// A project under git whose coder and reviewer play scenarios.
pub(crate) async fn stage(variables: &[(&str, &str)]) -> World {
    let world = scene(STORY, variables).await;
    fs::write(world.project().join("lines.txt"), "one\ntwo\nthree\n").unwrap();
    fs::write(world.home().join("review.md"), ASK).unwrap();
    cast(&world, "coder", "category: coding\nworktree: fresh");
    cast(&world, "reviewer", "category: review");
    repository(&world).await;
    world
}

fn touch(world: &World, file: &str) {
    fs::write(world.home().join(file), "").unwrap();
}

async fn until_there(world: &World, file: &str) {
    let file = world.home().join(file);
    until("an agent came so far", || file.exists()).await;
}

/// What a command prints for people, if it ends well.
async fn text(world: &World, typed: &[&str]) -> String {
    world.run(typed).await.unwrap().ok().unwrap().stdout
}

/// A text without what is never the same twice.
fn steady(text: &str) -> String {
    let mut text = text.to_owned();
    for (found, instead) in [
        (r"\b(sp|task|epic|merge|fb|mail)_[0-9a-f]{16}\b", "${1}_ID"),
        (r"\b[0-9a-f]{40}\b", "COMMIT"),
        (r"\b[0-9a-f]{10}\b", "COMMIT"),
        (r"/worktrees/project-[0-9a-f]{8}\b", "/worktrees/project-HASH"),
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
        (r"-\d{4}-\d{4}\b", "-DATE"),
        (r"\b\d+s( ago)?\b", "TIME$1"),
    ] {
        text = regex_lite::Regex::new(found).unwrap().replace_all(&text, instead).into_owned();
    }
    text
}

/// An answer without what is never the same twice, and without the folder of this world.
fn shape(world: &World, value: &Value) -> String {
    let project = world.project().canonicalize().unwrap();
    let shown = serde_json::to_string_pretty(value).unwrap();
    let shown = shown.replace(&project.display().to_string(), "PROJECT");
    let user = project.with_file_name("user").display().to_string();
    let shown = shown.replace(&user, "USER");
    steady(&shown.replace(&world.project().display().to_string(), "PROJECT"))
}

/// No line is wider than a terminal.
fn fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[tokio::test]
async fn where_there_is_nothing_the_way_to_something_is_shown() {
    let world = stage(&[]).await;
    let _server = world.up().await.unwrap();
    for typed in ["reviews", "worktrees", "merge-queue"] {
        fits(&text(&world, &[typed]).await);
    }
    insta::assert_snapshot!(text(&world, &["reviews"]).await, @r"
    Nothing waits to be looked at; `adjutant reviews --all` lists what was.
    What an agent changes that you start waits here for your approval when it
    is done. A coder can ask for a review before, with the tool request_review.
    ");
    insta::assert_snapshot!(text(&world, &["worktrees"]).await, @r"
    No worktrees yet.
    In a git repository with a commit, an agent whose role has worktree: fresh
    or a category in worktrees.fresh gets one.
    ");
    insta::assert_snapshot!(text(&world, &["merge-queue"]).await, @r"
    Nothing to merge; `adjutant merge-queue --all` lists what was.
    Approve work in review with adjutant review approve TASK
    ");
    assert_eq!(
        text(&world, &["worktrees", "prune", "--ended"]).await,
        "No ended agent has a worktree.\n"
    );
    assert_eq!(text(&world, &["worktrees", "check"]).await, "git and the record agree\n");
    let nothing = json!({ "tasks": [], "reviews": [], "limited": [] });
    assert_eq!(answer(&world, &["reviews"]).await, nothing);
    assert_eq!(answer(&world, &["worktrees", "--all"]).await, json!({ "worktrees": [] }));
    assert_eq!(answer(&world, &["merge-queue", "--all"]).await, json!({ "merges": [] }));
    assert_eq!(
        answer(&world, &["worktrees", "check"]).await,
        json!({ "ok": true, "disagreements": [] })
    );
}

#[tokio::test]
async fn wrong_names_are_refused_with_what_to_type_instead() {
    let world = stage(&[]).await;
    let _server = world.up().await.unwrap();
    let nobody = "sp_0000000000000000";
    let cases: &[(&[&str], &str, i32)] = &[
        (&["review", "show", nobody], "AGENT_NOT_FOUND", 4),
        (&["review", "show", "last"], "AGENT_NOT_FOUND", 4),
        (&["review", "show", "no-such-task"], "RESOURCE_NOT_FOUND", 4),
        (&["review", "show", "TAS-99"], "RESOURCE_NOT_FOUND", 4),
        (&["review", "show", "not a name"], "INVALID_INPUT", 2),
        (&["review", "approve", "TAS-99"], "RESOURCE_NOT_FOUND", 4),
        (&["review", "request-changes", "TAS-99", "more"], "RESOURCE_NOT_FOUND", 4),
        (&["review", "abandon", nobody], "AGENT_NOT_FOUND", 4),
        (&["review", "abandon", "x"], "INVALID_INPUT", 2),
        (&["review", "allow-more", nobody], "AGENT_NOT_FOUND", 4),
        (&["review", "allow-more", nobody, "0"], "INVALID_INPUT", 2),
        (&["review", "allow-more", nobody, "many"], "INVALID_INPUT", 2),
        (&["review"], "INVALID_INPUT", 2),
        (&["worktrees", "prune"], "INVALID_INPUT", 2),
        (&["worktrees", "prune", "--ended", nobody], "INVALID_INPUT", 2),
        (&["worktrees", "prune", nobody], "AGENT_NOT_FOUND", 4),
        (&["merge-queue", "retry", "merge_0000000000000000"], "RESOURCE_NOT_FOUND", 4),
        (&["merge-queue", "retry", "TAS-1"], "INVALID_INPUT", 2),
    ];
    for (typed, code, exit) in cases {
        let ran = world.run(&[*typed, &["--json"]].concat()).await.unwrap();
        let error = ran.error().unwrap();
        assert_eq!((&error["code"], ran.code), (&json!(code), Some(*exit)), "{typed:?}: {error}");
        assert_eq!(ran.stdout, "", "{typed:?}");
    }
    let task =
        answer(&world, &["tasks", "add", "Fix the parser", "--slug", "fix-the-parser"]).await;
    let error = world.run(&["review", "show", "fix-the-parsre"]).await.unwrap().stderr;
    assert!(error.contains("did you mean `fix-the-parser`?"), "{error}");
    let error = world.run(&["review", "show", "fix-the-parser"]).await.unwrap();
    assert_eq!(error.code, Some(4));
    assert!(error.stderr.contains("no agent has worked on the task"), "{}", error.stderr);
    let number = task["number"].as_str().unwrap();
    let error = world.run(&["review", "approve", number]).await.unwrap();
    assert_eq!(error.code, Some(5), "{}", error.stderr);
    // Inside an agent these are the operator's all the same.
    let worker = world.enlist("worker", &[]).await.unwrap();
    for typed in
        [&["reviews"][..], &["worktrees"], &["merge-queue"], &["review", "abandon", &worker.id]]
    {
        let ran = world.run_as(&worker, typed).await.unwrap();
        assert_eq!(ran.code, Some(3), "{typed:?}: {}", ran.stderr);
    }
    let error = world.run(&["worktrees", "prune", &worker.id]).await.unwrap();
    assert_eq!(error.code, Some(5));
    assert!(error.stderr.contains("try: end it first"), "{}", error.stderr);
    world.run(&["discharge", &worker.id]).await.unwrap().ok().unwrap();
    let error = world.run(&["worktrees", "prune", &worker.id]).await.unwrap();
    assert_eq!(error.code, Some(4), "{}", error.stderr);
}

#[tokio::test]
async fn a_review_is_seen_while_it_is_open_and_told_whole_afterwards() {
    let world = stage(&[("ADJUTANT_REVIEW_MAX_ITERATIONS", "1")]).await;
    let server = world.up().await.unwrap();
    let coder = draft(&world, "coder", "reviewed").await;
    until_is(&world, &coder, "waiting_review").await;
    let open = answer(&world, &["reviews"]).await;
    insta::assert_snapshot!("an_open_review", shape(&world, &open));
    let shown = text(&world, &["reviews"]).await;
    fits(&shown);
    assert!(shown.contains("Open reviews\n") && shown.contains(", 1 of 1"), "{shown}");
    let reviewer = open["reviews"][0]["reviewerId"].as_str().unwrap().to_owned();

    let http = operator(&world, &server).await;
    let (_, agent) = http.get(&format!("/api/agents/{coder}")).await.unwrap();
    assert_eq!(agent["reviewStatus"], "WAITING_REVIEW");
    assert_eq!(agent["worktree"]["branch"], format!("adjutant/{coder}"));
    let relation = json!([{
        "type": "spawned_review", "parentId": coder, "childId": reviewer, "reviewIteration": 1,
    }]);
    assert_eq!(agent["relations"], relation);
    let (_, agent) = http.get(&format!("/api/agents/{reviewer}")).await.unwrap();
    assert_eq!((&agent["relations"], &agent["reviewStatus"]), (&relation, &json!("STARTED")));

    touch(&world, "go");
    until_there(&world, "told").await;
    let over = answer(&world, &["reviews", "--all"]).await;
    insta::assert_snapshot!("a_review_that_is_over", shape(&world, &over));
    assert_eq!(answer(&world, &["reviews"]).await["reviews"], json!([]));
    let shown = text(&world, &["reviews", "--all"]).await;
    fits(&shown);
    assert!(
        shown.contains("needs work") && shown.contains("Agents at their review limit\n"),
        "{shown}"
    );
    let advice = format!("- Allow one more review: adjutant review allow-more {coder}");
    assert!(shown.contains(&advice), "{shown}");

    let story = text(&world, &["review", "show", &coder]).await;
    insta::assert_snapshot!("the_story_of_a_review", steady(&story));
    let whole = answer(&world, &["review", "show", &coder]).await;
    let task = whole["taskSlug"].as_str().unwrap();
    for name in [&reviewer, coder.get(13..).unwrap(), task] {
        assert_eq!(answer(&world, &["review", "show", name]).await, whole, "{name}");
    }

    let allowed = text(&world, &["review", "allow-more", &coder, "2"]).await;
    assert_eq!(steady(&allowed), "sp_ID may ask for 2 more: it had 1 of 3 reviews.\n");
    assert_eq!(answer(&world, &["reviews"]).await["limited"], json!([]));
    touch(&world, "end");
    assert_eq!(ended(&world, &coder).await, "succeeded");
    for verb in ["allow-more", "abandon"] {
        let late = world.run(&["review", verb, &coder]).await.unwrap();
        assert_eq!(late.code, Some(5), "{}", late.stderr);
        assert!(late.stderr.contains("has ended\n  try: "), "{}", late.stderr);
    }
}

#[tokio::test]
async fn a_worktree_is_listed_and_goes_without_losing_anything() {
    let world = stage(&[]).await;
    let _server = world.up().await.unwrap();
    let coder = draft(&world, "coder", "work").await;
    until_there(&world, "told").await;
    let there = answer(&world, &["worktrees"]).await;
    insta::assert_snapshot!("a_worktree", shape(&world, &there));
    let shown = text(&world, &["worktrees"]).await;
    fits(&shown);
    insta::assert_snapshot!(steady(&shown), @r"
    sp_ID  coder  running  1 ahead, 0 behind, 1 file not committed
      adjutant/sp_ID → main
      ~/.local/share/adjutant/worktrees/project-HASH/sp_ID
      not committed: stray.txt
    ");
    let live = world.run(&["worktrees", "prune", &coder, "--json"]).await.unwrap();
    assert_eq!(
        (live.code, &live.error().unwrap()["code"]),
        (Some(5), &json!("INVALID_AGENT_STATE"))
    );
    assert_eq!(
        text(&world, &["worktrees", "prune", "--ended"]).await,
        "No ended agent has a worktree.\n"
    );
    assert!(world.worktrees().join(&coder).join("stray.txt").exists());

    touch(&world, "end");
    assert_eq!(ended(&world, &coder).await, "failed");
    let pruned = text(&world, &["worktrees", "prune", "--ended"]).await;
    fits(&pruned);
    insta::assert_snapshot!(steady(&pruned), @r"
    sp_ID  is gone
      its branch is adjutant/sp_ID at COMMIT
      uncommitted changes are on adjutant/rescue/sp_ID
    ");
    assert!(!world.worktrees().join(&coder).exists());
    let kept = sh(&world, &format!("git show adjutant/rescue/{coder}:stray.txt")).await;
    assert_eq!(kept, "not committed");
    assert_eq!(answer(&world, &["worktrees"]).await, json!({ "worktrees": [] }));
    let all = text(&world, &["worktrees", "--all"]).await;
    insta::assert_snapshot!(steady(&all), @r"
    sp_ID  coder  failed  its worktree is gone
      adjutant/sp_ID → main
      stood at COMMIT
      uncommitted changes are on adjutant/rescue/sp_ID
    ");
    let again = answer(&world, &["worktrees", "prune", &coder]).await;
    assert_eq!(again["pruned"][0]["done"], true, "{again}");
    let checked = world.run(&["worktrees", "check"]).await.unwrap();
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(0), "git and the record agree\n"));
}

#[tokio::test]
async fn abandoned_work_ends_at_once_and_stays_on_branches() {
    let world = stage(&[]).await;
    let _server = world.up().await.unwrap();
    let coder = draft(&world, "coder", "work").await;
    until_there(&world, "told").await;
    let given_up = text(&world, &["review", "abandon", "last", "--reason", "another way"]).await;
    insta::assert_snapshot!(steady(&given_up), @r"
    sp_ID is abandoned.
    Its commits stay on adjutant/sp_ID, uncommitted changes go to a rescue branch:
    adjutant worktrees --all
    ");
    assert_eq!(ended(&world, &coder).await, "abandoned");
    assert_eq!(crate::kill::reason(&world, &coder).await, "another way");
    let worktree = world.worktrees().join(&coder);
    until("its worktree is gone", || !worktree.exists()).await;
    assert_eq!(sh(&world, &format!("git show adjutant/{coder}:feature.txt")).await, "one");
    assert_eq!(
        sh(&world, &format!("git show adjutant/rescue/{coder}:stray.txt")).await,
        "not committed"
    );
}

#[tokio::test]
async fn where_git_and_the_record_do_not_agree_both_check_and_doctor_say_so() {
    let world = stage(&[]).await;
    let _server = world.up().await.unwrap();
    let well = answer(&world, &["doctor"]).await;
    let of = |checks: &Value, name: &str| {
        let found = checks["checks"].as_array().unwrap().iter().find(|check| check["name"] == name);
        found.map(|check| (check["status"].clone(), check["message"].as_str().unwrap().to_owned()))
    };
    assert_eq!(
        of(&well, "agreement").unwrap(),
        (json!("ok"), "git and the record agree".to_owned())
    );
    assert_eq!(of(&well, "worktrees").unwrap().0, "ok", "{well}");
    let coder = draft(&world, "coder", "work").await;
    until_there(&world, "told").await;
    // Somebody else's hand.
    sh(&world, "git branch adjutant/nobody main").await;
    let checked = world.run(&["worktrees", "check"]).await.unwrap();
    assert_eq!(checked.code, Some(5));
    insta::assert_snapshot!(checked.stdout, @r"
    adjutant/nobody  a branch without an agent
    git and the record do not agree
    Adjutant repairs nothing here: check each before you change anything.
    ");
    let checked = world.run(&["worktrees", "check", "--json"]).await.unwrap();
    assert_eq!((checked.code, &checked.json().unwrap()["ok"]), (Some(5), &json!(false)));
    let odd = answer(&world, &["doctor"]).await;
    let (status, message) = of(&odd, "agreement").unwrap();
    assert_eq!(
        (status, message.as_str()),
        (
            json!("warn"),
            "git and the record do not agree: adjutant/nobody: a branch without an agent"
        )
    );
    touch(&world, "end");
    ended(&world, &coder).await;
}

#[tokio::test]
async fn without_a_repository_the_doctor_says_how_to_get_worktrees() {
    let world = crate::world().await;
    let checks = answer(&world, &["doctor"]).await;
    let found = checks["checks"].as_array().unwrap().iter().find(|one| one["name"] == "worktrees");
    let found = found.unwrap();
    assert_eq!(found["status"], "warn", "{found}");
    assert_eq!(found["message"], "the project is not in a git repository");
    assert!(found["next"].as_str().unwrap().contains("git init"), "{found}");
    assert!(!checks.to_string().contains("agreement"), "no server knows the record: {checks}");
}
