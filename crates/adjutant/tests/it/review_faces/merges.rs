//! Work that is approved or sent back from the command line, and the queue it goes through.

use serde_json::json;
use testkit::World;

use super::{fits, shape, stage, steady, text};
use crate::crew::{sh, until};
use crate::kill::answer;

/// An epic with a task for each of these prompts, all done and waiting for approval.
async fn handed_in(world: &World, prompts: &[&str]) -> String {
    let epic = answer(world, &["tool", "epic_create", "--title", "Words"]).await;
    let epic = epic["id"].as_str().unwrap().to_owned();
    for prompt in prompts {
        let slug = prompt.replace(' ', "-");
        let add = ["tasks", "add", prompt, "--slug", &slug, "--epic", &epic];
        world.run(&add).await.unwrap().ok().unwrap();
        let run = ["run", "--role", "coder", "--task", &slug, prompt];
        world.run(&run).await.unwrap().ok().unwrap();
    }
    epic
}

#[tokio::test]
async fn approved_work_is_merged_or_sent_back_with_the_lines_that_do_not_fit() {
    let world = stage(&[(
        "ADJUTANT_CHECK",
        "sh -c 'test ! -e broken.txt || { echo it is broken; exit 3; }'",
    )])
    .await;
    let _server = world.up().await.unwrap();
    let prompts = ["line mine", "line yours", "file clash", "file broken", "file good"];
    let epic = handed_in(&world, &prompts).await;
    // Somebody puts a file of the same name there by hand.
    let by_hand = format!(
        "git worktree add -q \"$TMPDIR/hand\" adjutant/epic/{epic} && cd \"$TMPDIR/hand\" && \
         echo other > clash.txt && git add -A && git commit -q -m Clash && git worktree remove -f ."
    );
    sh(&world, &by_hand).await;
    let waiting = answer(&world, &["reviews"]).await;
    assert_eq!(waiting["tasks"].as_array().unwrap().len(), 5, "{waiting}");
    insta::assert_snapshot!("a_task_that_waits_for_approval", shape(&world, &waiting["tasks"][0]));
    let shown = text(&world, &["reviews"]).await;
    fits(&shown);
    insta::assert_snapshot!("waiting_for_approval", steady(&shown));

    let back = world.run(&["review", "approve", "file-clash", "--json"]).await.unwrap();
    assert_eq!(back.code, Some(1), "{back:?}");
    insta::assert_snapshot!("work_that_is_sent_back", shape(&world, &back.json().unwrap()));

    let merged = world.run(&["review", "approve", "line-mine"]).await.unwrap();
    assert_eq!(merged.code, Some(0), "{merged:?}");
    fits(&merged.stdout);
    insta::assert_snapshot!(steady(&merged.stdout), @r"
    TAS-1 line-mine  merged
      adjutant/sp_ID → adjutant/epic/epic_ID
      merge_ID as COMMIT, TIME ago
    ");
    let in_it = sh(&world, &format!("git show adjutant/epic/{epic}:lines.txt")).await;
    assert_eq!(in_it, "one\nmine\nthree");

    // What was in its way has gone in, so that it is not in review any more.
    let blocked = world.run(&["review", "approve", "line-yours"]).await.unwrap();
    assert_eq!((blocked.code, blocked.stdout.as_str()), (Some(5), ""));
    assert!(blocked.stderr.contains("TAS-2 is BLOCKED"), "{}", blocked.stderr);

    // One that does not pass does not keep the next one out.
    let both = world.run(&["review", "approve", "file-broken", "file-good"]).await.unwrap();
    assert_eq!(both.code, Some(1), "{both:?}");
    assert!(
        both.stdout.contains("file-broken  sent back\n") && both.stdout.contains("it is broken"),
        "{}",
        both.stdout
    );
    assert!(both.stdout.contains("file-good  merged\n"), "{}", both.stdout);

    let all = answer(&world, &["merge-queue", "--all"]).await;
    let states: Vec<_> =
        all["merges"].as_array().unwrap().iter().map(|merge| merge["state"].clone()).collect();
    assert_eq!(states, ["sent_back", "merged", "sent_back", "merged"]);
    let told = text(&world, &["merge-queue", "--all"]).await;
    fits(&told);
    insta::assert_snapshot!("the_merge_queue", steady(&told));
    assert_eq!(answer(&world, &["merge-queue"]).await, json!({ "merges": [] }));
    let late = world.run(&["review", "approve", "line-mine"]).await.unwrap();
    assert_eq!(late.code, Some(5), "{}", late.stderr);
    assert_eq!(text(&world, &["worktrees", "check"]).await, "git and the record agree\n");
}

#[tokio::test]
async fn what_is_sent_back_waits_for_somebody_to_go_on() {
    let world = stage(&[]).await;
    let _server = world.up().await.unwrap();
    handed_in(&world, &["file one"]).await;
    let back = text(&world, &["review", "request-changes", "TAS-1", "Say more"]).await;
    insta::assert_snapshot!(back, @r"
    TAS-1 is sent back.
    No agent works on it now; the next one continues from its branch:
    adjutant draft --role coder --task TAS-1 'Go on'
    ");
    let task = answer(&world, &["tasks", "show", "TAS-1"]).await;
    assert_eq!(task["state"], "PENDING");
    assert!(task.to_string().contains("Say more"), "{task}");
    assert_eq!(answer(&world, &["reviews"]).await["tasks"], json!([]));
    let again = world
        .run_with_input(&["review", "request-changes", "file-one", "-"], "More\n")
        .await
        .unwrap();
    assert_eq!(again.code, Some(5), "it is not in review: {}", again.stderr);
}

#[tokio::test]
async fn what_is_held_is_tried_again_when_a_person_says_so() {
    let world = stage(&[]).await;
    let set = async |check: &str| {
        world.run(&["config", "set", "check", check]).await.unwrap().ok().unwrap();
    };
    set("/nowhere/check").await;
    let _server = world.up().await.unwrap();
    handed_in(&world, &["file one"]).await;
    let held = world.run(&["review", "approve", "file-one"]).await.unwrap();
    assert_eq!(held.code, Some(1), "{held:?}");
    assert!(held.stdout.contains("file-one  held\n"), "{}", held.stdout);
    let queue = answer(&world, &["merge-queue"]).await;
    let merge = queue["merges"][0]["id"].as_str().unwrap().to_owned();
    let hint = format!("When you have fixed this: adjutant merge-queue retry {merge}");
    assert!(text(&world, &["merge-queue"]).await.contains(&hint), "{queue}");

    set("true").await;
    let retried = text(&world, &["merge-queue", "retry", &merge]).await;
    let told = "merge_ID is queued again.\nCheck its state with adjutant merge-queue\n";
    assert_eq!(steady(&retried), told);
    let store = world.state_dir().join("state.db");
    until("it is merged", || {
        let store = store::Store::open(&store).unwrap();
        let found = store.read(|tx| tx.merge_get(merge.parse().unwrap())).unwrap().unwrap();
        found.state == model::review::MergeState::Merged
    })
    .await;
    let late = world.run(&["merge-queue", "retry", &merge]).await.unwrap();
    assert_eq!(late.code, Some(5), "{}", late.stderr);
    assert!(late.stderr.contains("is merged, not held"), "{}", late.stderr);
}
