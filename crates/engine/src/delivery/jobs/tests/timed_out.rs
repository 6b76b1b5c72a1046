//! A reviewer that takes too long is stopped, and what it said so far reaches the author.

use std::path::PathBuf;

use model::AgentId;
use model::agent::AgentState;
use store::{Feedback, Inbox, Mail, Recipient};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{OutboxRunner, Yard, git};
use crate::call::door::{Call, Progress};
use crate::call::identity::Principal;
use crate::core::machine::folder_of;
use crate::delivery::reviews::sweep;

/// A coder whose reviewer takes a day and has printed this, with what is left in the record: the author's mail and the
/// feedback.
async fn times_out(printed: &str) -> (Mail, Vec<Feedback>) {
    let mut yard = Yard::new();
    let coder = yard.hire().await;
    let dir = PathBuf::from(coder.cwd.clone().unwrap());
    std::fs::write(dir.join("work.txt"), "work\n").unwrap();
    git(&dir, &["add", "-A"]);
    git(&dir, &["commit", "-q", "-m", "Work"]);
    // Nobody gives out places here, so its reviewer waits for ever.
    let call = Call {
        principal: Principal::Agent(coder.id),
        as_agent: None,
        tool: crate::by_name("mcp__review__request_review").unwrap(),
        input: serde_json::json!({}),
        key: None,
    };
    let (tasks, end) = (TaskTracker::new(), CancellationToken::new());
    let runner = tasks.spawn(OutboxRunner::new(&yard.engine, tasks.clone(), end.clone()).run());
    let answer = yard.engine.call(call, &Progress::default()).await.unwrap().value();
    assert_eq!(answer["instance_status"], "WAITING_REVIEW", "{answer}");
    let agent = |id: AgentId| yard.engine.store.read(|tx| tx.agent_get(id)).unwrap().unwrap();
    let now = || yard.engine.now();
    let reviewer: AgentId = answer["review_instance_id"].as_str().unwrap().parse().unwrap();
    if !printed.is_empty() {
        let folder = folder_of(&yard.engine, &agent(reviewer));
        std::fs::create_dir_all(folder.path()).unwrap();
        std::fs::write(folder.path().join("output.jsonl"), printed).unwrap();
    }
    let day = 24 * 3600;
    yard.clock.advance_seconds(day - 1);
    let next = sweep(&yard.engine, now()).await.unwrap();
    assert_eq!(
        next.map(|next| next.millis_since(now())),
        Some(1000),
        "it knows when to look again"
    );
    assert_eq!(agent(coder.id).state, AgentState::WaitingReview);
    yard.clock.advance_seconds(1);
    sweep(&yard.engine, now()).await.unwrap();
    assert_eq!(agent(coder.id).state, AgentState::Running);
    assert_eq!(agent(reviewer).state.name().stored(), "timed_out");
    end.cancel();
    runner.await.unwrap();
    tasks.close();
    tasks.wait().await;
    yard.settle().await;
    let review = yard.engine.store.read(|tx| tx.review_by(reviewer)).unwrap().unwrap();
    assert_eq!((review.state.name(), review.failed), ("timed_out", true));
    assert!(!yard.engine.worktree_path(reviewer).exists(), "its worktree is gone");
    let engine = yard.engine.clone();
    let found = tokio::task::spawn_blocking(move || engine.disagreements()).await.unwrap().unwrap();
    assert_eq!(found, Vec::new());
    let inbox = Recipient::Agent(coder.id);
    let read = |tx: &store::Tx<'_>| {
        let mail = tx.mail_inbox(inbox, Inbox::Unread, 0, 9)?.items.remove(0);
        Ok::<_, store::StoreError>((mail, tx.feedback_of(coder.id)?))
    };
    yard.engine.store.read(read).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_that_takes_a_day_is_ended_and_counts_as_failed() {
    let (mail, feedback) = times_out("").await;
    assert_eq!(mail.subject, "Your review took too long");
    assert!(!mail.body.contains("said last"), "{}", mail.body);
    assert_eq!(feedback, Vec::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_reviewer_said_that_takes_a_day_reaches_the_author() {
    let line =
        |stream: &str, text: &str| format!("{{\"at\":0,\"s\":\"{stream}\",\"l\":\"{text}\"}}\n");
    let printed = [
        line("out", "The parser loses the last line."),
        line("err", "a warning of the program"),
        line("out", "Bearer abcdefghijklmnop123 is in the log."),
    ];
    let (mail, feedback) = times_out(&printed.concat()).await;
    assert_eq!(mail.subject, "Your review took too long");
    let [said] = &feedback[..] else { panic!("{feedback:?}") };
    assert!(said.body.starts_with("The parser loses the last line.\n\nBearer "), "{said:?}");
    assert!(!said.body.contains("abcdefghijklmnop") && !said.body.contains("warning"), "{said:?}");
    for part in [said.body.as_str(), "within 24 hours", "This counts as a failed review"] {
        assert!(mail.body.contains(part), "no {part:?} in {}", mail.body);
    }
}
