//! Formats of the record: each golden file is a value as it was written by an earlier version, with every field.
//! It must be read for ever. A field may be added to a format, with a default; then it is added to its file as well.

use model::OutboxJobId;
use model::review::OutboxJobKind;
use store::{AgentPage, EventFilter, NewOutboxJob, WorktreePage};

use super::*;
use crate::automation::loops::prompt::Recovery;
use crate::core::rights::Rights;
use crate::core::settings::Role;
use crate::crew::result::AgentResult;
use crate::crew::run::{RunOptions, notes};
use crate::delivery::jobs::{commit, feedback, pull, rebase};
use crate::delivery::merge_queue::Details;
use crate::delivery::outbox::outcome;
use crate::delivery::outbox::params::{
    CommitRequest, FeedbackJob, IssuesJob, MergeJob, MergeNotes, PullJob, RebaseJob, ReviewJob,
};

/// Decodes a golden value, and checks that nothing of it was passed over.
fn check<T: DeserializeOwned + Serialize>(golden: &str) {
    let value: Value = serde_json::from_str(golden).unwrap();
    let decoded: T = decode(golden, "a golden file", "value").unwrap();
    assert_eq!(serde_json::to_value(decoded).unwrap(), value);
}

macro_rules! golden {
    ($($file:literal: $format:ty,)*) => {
        #[test]
        fn every_format_of_the_record_is_read_as_it_was_written() {
            $(check::<$format>(include_str!(concat!("../../../tests/golden/", $file, ".json")));)*
        }

        #[test]
        fn every_golden_file_is_checked() {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
            let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<String> =
                names.map(|name| name.to_string_lossy().replace(".json", "")).collect();
            names.sort();
            assert_eq!(names, [$($file),*]);
        }
    };
}

golden! {
    "errand_commit_notes": commit::Notes,
    "errand_commit_wish": CommitRequest,
    "errand_error": StoredError,
    "errand_feedback_notes": feedback::Notes,
    "errand_feedback_wish": FeedbackJob,
    "errand_issues_wish": IssuesJob,
    "errand_merge_notes": MergeNotes,
    "errand_merge_wish": MergeJob,
    "errand_pull_notes": pull::Notes,
    "errand_pull_wish": PullJob,
    "errand_rebase_notes": rebase::Notes,
    "errand_rebase_wish": RebaseJob,
    "errand_review_wish": ReviewJob,
    "loop_recovery": Recovery,
    "merge_details": Details,
    "rights": Rights,
    "role": Role,
    "run_notes": notes::Notes,
    "run_result": AgentResult,
    "run_wish": RunOptions,
}

/// Results are kept as text by runs and by the work on tasks; rows of the first versions have no lists.
#[test]
fn a_result_is_decoded_or_names_its_agent() {
    let agent: model::AgentId = "sp_0123456789abcdef".parse().unwrap();
    let read = |kept| AgentResult::decode(Some(kept), agent);
    let old = read(r#"{"status":"success","summary":"done"}"#).unwrap().unwrap();
    assert_eq!((old.summary.as_str(), old.changes.len(), old.text.as_str()), ("done", 0, ""));
    assert_eq!(AgentResult::decode(None, agent).unwrap(), None);
    for damaged in ["", "{}", r#"{"status":"glad","summary":"done"}"#, r#"{"summary":"#] {
        let message = read(damaged).unwrap_err().message;
        assert!(
            message.starts_with(
                "the record of agent `sp_0123456789abcdef` is damaged: its result cannot be read"
            ),
            "{message}"
        );
    }
}

/// The error of an outbox job is what its caller gets, so a damaged one must not become an error without words.
#[tokio::test]
async fn the_error_of_an_outbox_job_is_read_or_names_its_row() {
    let dir = tempfile::tempdir().unwrap();
    let store = store::Store::open(&dir.path().join("state.db")).unwrap();
    let id = OutboxJobId::from_bits(7);
    let job = NewOutboxJob {
        id,
        kind: OutboxJobKind::Commit,
        lane: "agent:sp_1".into(),
        agent: None,
        caller: None,
        parameters: "{}".into(),
    };
    let failed = ToolError::conflict("it is taken").hint("wait").detail("by", "sp_2");
    let stored = encode_error(&failed).unwrap();
    let now = model::Timestamp::from_millis(1);
    let end = move |tx: &mut store::Tx<'_>| {
        tx.outbox_job_insert(&job, now)?;
        tx.outbox_job_end(id, Err(&stored), now)
    };
    assert!(store.write(end).await.unwrap());
    let read = || store.read(|tx| outcome::<Value>(tx, id)).unwrap_err();
    assert_eq!(read().body("mcp__git__commit", None), failed.body("mcp__git__commit", None));
    let damaged = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    for text in
        ["", "{}", r#"{"code":"TAKEN","message":"m","suggestions":[],"details":{},"causes":""}"#]
    {
        damaged.execute("UPDATE errand SET error = $1", [text]).unwrap();
        let error = read();
        let named = format!("the record of outbox job `{id}` is damaged: its error cannot be read");
        assert!(error.message.starts_with(&named), "{}", error.message);
    }
    store.close().await;
}

#[test]
fn what_cannot_be_decoded_names_its_row() {
    let error = decode::<RunOptions>(r#"{"timeout":"soon"}"#, "agent `sp_1`", "wish").unwrap_err();
    assert!(
        error.message.starts_with(
            "the record of agent `sp_1` is damaged: its wish cannot be read (invalid type"
        ),
        "{}",
        error.message
    );
}

/// A database that version 8 of the schema wrote: agents that have ended, run and wait, a worktree, mail, an epic's task.
#[tokio::test]
async fn a_database_of_an_earlier_version_is_read_to_its_last_row() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let file = rusqlite::Connection::open(&path).unwrap();
    file.execute_batch(include_str!("../../../tests/databases/schema-8.sql")).unwrap();
    drop(file);
    let store = store::Store::open(&path).unwrap();
    let read = |tx: &store::Tx<'_>| {
        let mut found = Vec::new();
        for agent in store::Page::all(|after| tx.agent_page(AgentPage::All, after, 100))? {
            let run = tx.run_get(agent.id)?.unwrap();
            let (options, notes) = (RunOptions::of(&run)?, notes::Notes::of(&run)?);
            found.push((agent.state.name().stored(), options.timeout, notes.charged));
        }
        let events = tx.event_list(&EventFilter { after: 0, kind: None }, 500)?;
        Ok::<_, ToolError>((found, events.len(), tx.worktree_page(WorktreePage::All, 0, 9)?))
    };
    let (agents, events, worktrees) = store.read(read).unwrap();
    assert_eq!(
        agents,
        [
            ("succeeded", Some(60), 0),
            ("succeeded", None, 0),
            ("running", None, 20_000_000),
            ("queued", Some(60), 0)
        ]
    );
    assert_eq!((events, worktrees.items.len()), (33, 3));
    store.close().await;
}
