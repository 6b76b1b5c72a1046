//! The review loop with scripted agents on a real repository: worktrees, reviewers, feedback that is
//! merged, limits, abandonment, and what is left after a crash at every named place.

use std::fs;

use model::agent::Outcome;
use serde_json::{Value, json};
use store::{StopRequest, Store};
use testkit::World;

use crate::crew::{crew, in_order, repository, scene, sh, until};
use crate::kill::{answer, cast, draft, ended, events, reason, until_is};

/// The reviewer plays what the coder asks for: the whole prompt is the coder's own words.
const ASK: &str =
    "{{instructions}}\n\nWork of {{coder}}, review {{iteration}} of {{max_iterations}}.\n";

const STORY: &str = r#"
scenarios:
  loop:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - call: request_review
        with: {reviewer_prompt: refuse, completion_message: It is done}
        save: review
        expect: {status: done, instance_status: WAITING_REVIEW, review_iteration: 1}
      - &wait_first
        call: mail_list_inbox
        with: {waitSeconds: 100}
        until: {mails: [{subject: 'Review 1: needs_work'}]}
        save: inbox
      - call: mail_read
        with: {mailId: '{{inbox.mails.0.id}}'}
      - run: [grep, -q, The parser loses the last line, REVIEW_FEEDBACK.md]
      - run: [sh, -c, 'git log -1 --format=%s | grep -q "Merge feedback"']
      - write: {path: feature.txt, text: "two\n"}
      - commit: Keep the last line
      - call: request_review
        with: {reviewer_prompt: advise}
        expect: {review_iteration: 2}
      - call: mail_list_inbox
        with: {waitSeconds: 100}
        until: {mails: [{subject: 'Review 2: suggestions'}]}
      - run: [grep, -q, Name it better, REVIEW_FEEDBACK.md]
      - result: {summary: reviewed twice}
  limit:
    steps:
      - repeat:
          times: 3
          steps:
            - append: {path: feature.txt, text: "{{i}}\n"}
            - commit: "Try {{i}}"
            - call: request_review
              with: {reviewer_prompt: refuse}
              expect: {review_iteration: '{{i}}'}
            - call: mail_list_inbox
              with: {waitSeconds: 100}
              until: {mails: [{subject: 'Review {{i}}: needs_work'}]}
              save: inbox
            - call: mail_read
              with: {mailId: '{{inbox.mails.0.id}}'}
      - append: {path: feature.txt, text: "more\n"}
      - commit: Try once more
      - call: request_review
        fails: REVIEW_LIMIT_EXCEEDED
        save: refused
        expect:
          error: REVIEW_LIMIT_EXCEEDED
          message: Maximum review iterations (3) reached for agent {{agent}}
          suggestions:
            - Create pull request with current work
            - Abandon this approach and try different solution
            - Manually review and fix issues before requesting review
          current_iteration: 3
          max_iterations: 3
          tool_name: request_review
          instance_id: '{{agent}}'
      - run: [sh, -c, 'touch "$ADJUTANT_HOME/refused"; until [ -e "$ADJUTANT_HOME/allowed" ]; do sleep 0.02; done']
      - call: request_review
        with: {reviewer_prompt: refuse}
        expect: {review_iteration: 4}
      - call: mail_list_inbox
        with: {waitSeconds: 100}
        until: {mails: [{subject: 'Review 4: needs_work'}]}
  stubborn:
    steps:
      - repeat:
          times: 5
          steps:
            - append: {path: feature.txt, text: "{{i}}\n"}
            - commit: "Try {{i}}"
            - run: [sh, -c, 'rm -f "$ADJUTANT_HOME/go"']
            - call: request_review
              with: {reviewer_prompt: late}
            - write: {path: stray.txt, text: "not committed {{i}}\n"}
            - run: [sh, -c, 'touch "$ADJUTANT_HOME/go"']
            - call: mail_list_inbox
              with: {waitSeconds: 100}
              until: {mails: [{subject: 'Review {{i}}: needs_work'}]}
              save: inbox
            - call: mail_read
              with: {mailId: '{{inbox.mails.0.id}}'}
      - sleep: 100
  leave:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - call: request_review
        with: {reviewer_prompt: late}
      - result: {summary: gone before the feedback}
    attempts:
      2:
        - run: [grep, -q, The parser loses the last line, REVIEW_FEEDBACK.md]
        - say: "told: {{input}}"
        - write: {path: feature.txt, text: "two\n"}
        - commit: Keep the last line
        - result: {summary: went on}
  silent:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - call: request_review
        with: {reviewer_prompt: late}
      - run: [sh, -c, 'until [ -e "$ADJUTANT_HOME/leave" ]; do sleep 0.02; done']
    attempts:
      2: [{sleep: 0.01}]
  diligent:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - call: request_review
        with: {reviewer_prompt: late}
      - run: [sh, -c, 'until [ -e "$ADJUTANT_HOME/leave" ]; do sleep 0.02; done']
      - write: {path: feature.txt, text: "two\n"}
      - commit: Keep the last line
  unheard:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - call: request_review
        with: {reviewer_prompt: mute}
      - call: mail_list_inbox
        with: {waitSeconds: 100}
        until: {mails: [{subject: Your review came to nothing}]}
      - result: {summary: went on alone}
  staged:
    steps:
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - call: request_review
        with: {reviewer_prompt: late}
      - write: {path: next.txt, text: "begun\n"}
      - run: [git, add, next.txt]
      - run: [sh, -c, 'touch "$ADJUTANT_HOME/go"']
      - call: mail_list_inbox
        with: {waitSeconds: 100}
        until: {mails: [{subject: 'Review 1: needs_work'}]}
        save: inbox
      - run: [sh, -c, '! test -e REVIEW_FEEDBACK.md']
      - commit: Finish what was begun
      - call: agent_get_status
      - wait_file: {path: REVIEW_FEEDBACK.md}
      - result: {summary: '{{inbox.mails.0.body}}'}
  dirty:
    steps: &dirty
      - write: {path: feature.txt, text: "one\n"}
      - commit: Add the feature
      - write: {path: stray.txt, text: "stray\n"}
      - call: request_review
        fails: CONFLICT
        expect: {files: [stray.txt]}
      - run: [rm, stray.txt]
      - call: request_review
        with: {reviewer_prompt: refuse}
      - *wait_first
      - &check_feedback
        run: [grep, -q, The parser loses the last line, REVIEW_FEEDBACK.md]
      - &reviewed_once
        result: {summary: reviewed once}
  # A server that dies as it answers does not know that it was heard, and tells it again.
  again:
    steps: *dirty
    attempts:
      2: [*check_feedback, *reviewed_once]
  empty:
    steps:
      - call: request_review
        fails: CONFLICT
        expect: {message: 'there is nothing to review: you have no commits'}
      - call: send_feedback
        with: {feedback: me, feedback_type: needs_work}
        fails: PERMISSION_DENIED
  refuse:
    steps:
      - run: [test, -f, feature.txt]
      - write: {path: tried.txt, text: "tried\n"}
      - call: send_feedback
        with:
          feedback: The parser loses the last line.
          feedback_type: needs_work
          priority: high
          actionable_items: [Keep the last line]
        expect: {status: done, delivered_by: merge}
        save: told
      - call: send_feedback
        with: {feedback: again, feedback_type: needs_work}
        fails: INVALID_AGENT_STATE
  late:
    steps:
      - run: [sh, -c, 'until [ -e "$ADJUTANT_HOME/go" ]; do sleep 0.02; done']
      - call: send_feedback
        with: {feedback: The parser loses the last line., feedback_type: needs_work}
        expect: {status: done}
  advise:
    steps:
      - call: send_feedback
        with: {feedback: Name it better., feedback_type: suggestions}
      - sleep: 100
  mute:
    steps:
      - write: {path: half.txt, text: "half a review\n"}
      - fail: it cannot say anything
"#;

/// A project under git whose coder and reviewer play scenarios.
async fn stage(variables: &[(&str, &str)]) -> World {
    let world = scene(STORY, variables).await;
    fs::write(world.home().join("review.md"), ASK).unwrap();
    cast(&world, "coder", "category: coding\nworktree: fresh");
    cast(&world, "reviewer", "category: review");
    repository(&world).await;
    world
}

/// Waits until everybody is over and nothing is left to be done outside.
async fn settled(world: &World) {
    let store = Store::open(&world.state_dir().join("state.db")).unwrap();
    let quiet = |tx: &store::Tx<'_>| {
        Ok::<_, store::StoreError>(
            tx.agents_live_count()? == 0 && tx.outbox_jobs_open()?.is_empty(),
        )
    };
    until("everything is over", || store.read(quiet).unwrap()).await;
}

fn reviews(world: &World) -> Vec<store::Review> {
    let store = Store::open(&world.state_dir().join("state.db")).unwrap();
    store.read(|tx| tx.review_page(store::ReviewPage::All, 0, 100)).unwrap().items
}

async fn played(world: &World, scenario: &str) -> (String, Value) {
    let coder = draft(world, "coder", scenario).await;
    let ended = answer(world, &["await", &coder]).await;
    (coder, ended)
}

#[tokio::test]
async fn work_is_reviewed_told_what_is_wrong_and_reviewed_again() {
    let world = stage(&[("ADJUTANT_LIMITS_GRACE", "300")]).await;
    let (coder, ended) = played(&world, "loop").await;
    assert_eq!(ended["state"], "succeeded", "{ended}");
    let all = reviews(&world);
    let told: Vec<_> = all.iter().map(|review| (review.iteration, review.state.name())).collect();
    assert_eq!(told, [(1, "feedback"), (2, "feedback")]);
    assert_eq!(all.iter().filter(|review| review.failed).count(), 1, "advice is no failure");
    // The second reviewer did not stop by itself.
    until_is(&world, &all[1].reviewer.to_string(), "succeeded").await;
    settled(&world).await;
    let agents = crew(&world).await;
    let reviewer = &agents[1];
    let parent = (&agents[0]["parentId"], &agents[0]["depth"]);
    assert_eq!((&reviewer["parentId"], &reviewer["depth"]), parent, "a reviewer is a sibling");
    let branch = format!("adjutant/{coder}");
    let log = sh(&world, &format!("git log --format=%s --first-parent main..{branch}")).await;
    let subjects: Vec<&str> = log.lines().collect();
    assert_eq!(subjects.len(), 4, "{log}");
    assert!(subjects[0].starts_with("Merge feedback of"), "{log}");
    assert_eq!(sh(&world, "git branch --list 'adjutant/review/*'").await, "");
    assert_eq!(events(&world, "review.requested").await.len(), 2);
    assert_eq!(events(&world, "review.feedback").await.len(), 2);
    in_order(&world).await;
}

#[tokio::test]
async fn the_fourth_request_is_refused_in_the_seeds_words_until_a_person_allows_it() {
    let world = stage(&[]).await;
    let coder = draft(&world, "coder", "limit").await;
    let refused = world.home().join("refused");
    until("the fourth request is refused", || refused.exists()).await;
    let more = answer(&world, &["review", "allow-more", &coder, "1"]).await;
    assert_eq!((&more["maxIterations"], &more["left"]), (&json!(4), &json!(1)), "{more}");
    fs::write(world.home().join("allowed"), "").unwrap();
    assert_eq!(ended(&world, &coder).await, "succeeded", "{}", reason(&world, &coder).await);
    settled(&world).await;
    assert_eq!(reviews(&world).len(), 4);
    in_order(&world).await;
}

#[tokio::test]
async fn after_five_failures_the_coder_is_abandoned_and_nothing_of_its_work_is_lost() {
    let world = stage(&[("ADJUTANT_REVIEW_MAX_ITERATIONS", "10")]).await;
    let coder = draft(&world, "coder", "stubborn").await;
    assert_eq!(ended(&world, &coder).await, "abandoned");
    assert_eq!(reason(&world, &coder).await, "abandoned: 5 of its reviews failed");
    settled(&world).await;
    assert!(!world.worktrees().join(&coder).exists(), "its worktree is gone");
    let rescued = sh(&world, &format!("git show adjutant/rescue/{coder}:stray.txt")).await;
    assert_eq!(rescued, "not committed 5");
    let work = sh(&world, &format!("git show adjutant/{coder}:feature.txt")).await;
    assert_eq!(work, "1\n2\n3\n4\n5");
    in_order(&world).await;
}

#[tokio::test]
async fn a_coder_whose_process_ends_while_it_waits_goes_on_with_the_feedback() {
    let world = stage(&[]).await;
    let coder = draft(&world, "coder", "leave").await;
    until_is(&world, &coder, "waiting_review").await;
    let first = world.state_dir().join("runs").join(&coder).join("1/exit.json");
    until("its process has ended", || first.exists()).await;
    fs::write(world.home().join("go"), "").unwrap();
    let over = answer(&world, &["await", &coder]).await;
    assert_eq!(
        (&over["state"], &over["result"]["summary"]),
        (&json!("succeeded"), &json!("went on"))
    );
    let logs = world.run(&["logs", &coder]).await.unwrap().ok().unwrap().stdout;
    assert!(logs.contains("The parser loses the last line"), "{logs}");
    settled(&world).await;
    in_order(&world).await;
}

/// Plays a coder that says nothing after its feedback, and gives how many attempts it had.
async fn attempts_of(scenario: &str, grace: &str) -> usize {
    let world = stage(&[("ADJUTANT_LIMITS_GRACE", grace)]).await;
    let coder = draft(&world, "coder", scenario).await;
    until_is(&world, &coder, "waiting_review").await;
    fs::write(world.home().join("go"), "").unwrap();
    until_is(&world, &coder, "running").await;
    fs::write(world.home().join("leave"), "").unwrap();
    assert_eq!(ended(&world, &coder).await, "succeeded");
    settled(&world).await;
    in_order(&world).await;
    fs::read_dir(world.state_dir().join("runs").join(&coder)).unwrap().count()
}

#[tokio::test]
async fn a_coder_that_lived_on_with_its_feedback_is_not_run_again() {
    assert_eq!(attempts_of("silent", "1").await, 1);
}

#[tokio::test]
async fn a_coder_that_worked_on_its_feedback_is_not_run_again() {
    assert_eq!(attempts_of("diligent", "3600000").await, 1);
}

#[tokio::test]
async fn a_coder_that_ended_as_its_feedback_came_is_told_once() {
    assert_eq!(attempts_of("silent", "3600000").await, 2);
}

#[tokio::test]
async fn a_coder_that_waits_without_a_process_can_be_killed_and_survives_a_restart() {
    let world = stage(&[]).await;
    let server = world.up().await.unwrap();
    let coder = draft(&world, "coder", "leave").await;
    until_is(&world, &coder, "waiting_review").await;
    let first = world.state_dir().join("runs").join(&coder).join("1/exit.json");
    until("its process has ended", || first.exists()).await;
    server.kill().await.unwrap();
    let _server = world.up().await.unwrap();
    until_is(&world, &coder, "waiting_review").await;
    world.run(&["kill", &coder]).await.unwrap().ok().unwrap();
    assert_eq!(ended(&world, &coder).await, "killed");
    let reviewer = reviews(&world)[0].reviewer.to_string();
    assert_eq!(ended(&world, &reviewer).await, "killed", "its reviewer has nothing to do any more");
    settled(&world).await;
    assert_eq!(reviews(&world)[0].state.name(), "undone");
    in_order(&world).await;
}

#[tokio::test]
async fn a_coder_that_was_to_be_ended_as_its_process_ended_does_not_wait_for_its_review() {
    let world = stage(&[]).await;
    let server = world.up().await.unwrap();
    let coder = draft(&world, "coder", "silent").await;
    until_is(&world, &coder, "waiting_review").await;
    server.kill().await.unwrap();
    fs::write(world.home().join("leave"), "").unwrap();
    let first = world.state_dir().join("runs").join(&coder).join("1/exit.json");
    until("its process has ended", || first.exists()).await;
    // The next server finds the request on record, and the process ended well.
    let store = Store::open(&world.state_dir().join("state.db")).unwrap();
    let id = coder.parse().unwrap();
    let stop = StopRequest { outcome: Outcome::Killed, reason: "killed by the operator".into() };
    assert!(store.write(move |tx| tx.run_stop(id, &stop)).await.unwrap());
    store.close().await;
    let _server = world.up().await.unwrap();
    assert_eq!(ended(&world, &coder).await, "killed");
    settled(&world).await;
    assert_eq!(reviews(&world)[0].state.name(), "undone");
    in_order(&world).await;
}

#[tokio::test]
async fn a_reviewer_that_ends_without_a_word_sends_the_coder_back_to_work() {
    let world = stage(&[]).await;
    let (_, ended) = played(&world, "unheard").await;
    assert_eq!(ended["result"]["summary"], "went on alone", "{ended}");
    settled(&world).await;
    let [review] = &reviews(&world)[..] else { panic!("one review") };
    assert_eq!((review.state.name(), review.failed), ("silent", true));
    // What it wrote and did not commit is kept, too.
    let kept = sh(&world, &format!("git show adjutant/rescue/{}:half.txt", review.reviewer)).await;
    assert_eq!(kept, "half a review");
    in_order(&world).await;
}

#[tokio::test]
async fn feedback_for_a_coder_with_staged_work_comes_by_mail_and_is_merged_at_its_next_call() {
    let world = stage(&[]).await;
    let (coder, ended) = played(&world, "staged").await;
    assert_eq!(ended["state"], "succeeded", "{ended}");
    let letter = ended["result"]["summary"].as_str().unwrap();
    assert!(
        letter.contains("1 files are staged") && letter.contains("loses the last line"),
        "{letter}"
    );
    settled(&world).await;
    let log = sh(&world, &format!("git log --format=%s -2 --first-parent adjutant/{coder}")).await;
    assert!(
        log.starts_with("Merge feedback of") && log.ends_with("Finish what was begun"),
        "{log}"
    );
    in_order(&world).await;
}

#[tokio::test]
async fn coders_and_reviewers_can_be_watched_in_tmux_until_they_end() {
    // A tmux of the test's own.
    let mut world = stage(&[]).await;
    world.set("TMUX_TMPDIR", world.scratch().display().to_string());
    cast(&world, "coder", "category: coding\nworktree: fresh\ntmux: true");
    cast(&world, "reviewer", "category: review\ntmux: true");
    let coder = draft(&world, "coder", "leave").await;
    until_is(&world, &coder, "waiting_review").await;
    let reviewer = reviews(&world)[0].reviewer.to_string();
    until_is(&world, &reviewer, "running").await;
    let has = format!(
        "for i in $(seq 600); do tmux has-session -t ={reviewer} 2> /dev/null && exit 0; sleep 0.05; done; exit 1"
    );
    assert_eq!(world.shell(&has).await.unwrap().code, Some(0), "there is no session for it");
    let told = answer(&world, &["tool", "agent_get_status", "--as", &reviewer]).await;
    assert_eq!(told["tmuxSessionName"], reviewer.as_str(), "{told}");
    fs::write(world.home().join("go"), "").unwrap();
    assert_eq!(ended(&world, &coder).await, "succeeded");
    settled(&world).await;
    let gone = world.shell("tmux list-sessions").await.unwrap();
    assert_ne!(gone.code, Some(0), "no session is left: {gone:?}");
    in_order(&world).await;
}

#[tokio::test]
async fn a_review_needs_something_committed_and_nothing_uncommitted() {
    let world = stage(&[]).await;
    for scenario in ["empty", "dirty"] {
        let (_, ended) = played(&world, scenario).await;
        assert_eq!(ended["state"], "succeeded", "{scenario}: {ended}");
    }
    settled(&world).await;
    in_order(&world).await;
}

/// Lets the server die at a place, brings it back, and looks whether everything is as it would have been.
async fn dies_at(point: engine::Point) {
    let mut world = stage(&[]).await;
    world.set("ADJUTANT_CRASH_AT", point.name());
    let mut server = world.up().await.unwrap();
    let scenario = if point.name().starts_with("feedback.") { "again" } else { "dirty" };
    let coder = draft(&world, "coder", scenario).await;
    server.ended().await.unwrap();
    world.set("ADJUTANT_CRASH_AT", "");
    let _server = world.up().await.unwrap();
    let over = answer(&world, &["await", &coder]).await;
    assert_eq!(over["state"], "succeeded", "{point}: {over}");
    settled(&world).await;
    let [review] = &reviews(&world)[..] else { panic!("{point}: one review") };
    assert_eq!((review.iteration, review.state.name()), (1, "feedback"), "{point}");
    let merges = format!("git log --format=%s adjutant/{coder} | grep -c 'Merge feedback'");
    assert_eq!(sh(&world, &merges).await, "1", "{point}");
    assert_eq!(events(&world, "review.feedback").await.len(), 1, "{point}");
    let place = world.worktrees().join(review.reviewer.to_string());
    assert!(!place.exists(), "{point}");
    let tried = format!("git show adjutant/rescue/{}:tried.txt", review.reviewer);
    assert_eq!(sh(&world, &tried).await, "tried", "{point}: what it left is safe");
    in_order(&world).await;
}

macro_rules! crashes {
    ($($name:ident: $($prefix:literal),+;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let of = |point: &&engine::Point| [$($prefix),+].iter().any(|prefix| point.name().starts_with(prefix));
            for point in engine::Point::ALL.iter().filter(of) {
                dies_at(*point).await;
            }
        }
    )*};
}

crashes! {
    a_crash_at_any_place_of_a_request_leaves_one_review: "review.";
    a_crash_at_any_place_of_feedback_leaves_it_merged_once: "feedback.";
    a_crash_at_any_place_around_a_worktree_leaves_it_as_it_should_be: "worktree.", "tidy.";
}
