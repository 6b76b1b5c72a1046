//! Schemas: from nothing, again, and never backwards.

use std::path::Path;

use store::{SCHEMA_VERSION, Store, StoreError};

use crate::support::{add_task, open};

#[tokio::test]
async fn opening_again_keeps_everything() {
    let (dir, store) = open();
    add_task(&store, 1).await.unwrap();
    store.close().await;
    let store = Store::open(&dir.path().join("state.db")).unwrap();
    assert_eq!(store.read(|tx| tx.task_recent_slugs(9)).unwrap(), ["task-1"]);
}

#[test]
fn a_newer_schema_is_refused() {
    let (dir, _store) = open();
    let path = dir.path().join("state.db");
    let file = rusqlite::Connection::open(&path).unwrap();
    file.pragma_update(None, "user_version", SCHEMA_VERSION + 1).unwrap();
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found, .. } if found == SCHEMA_VERSION + 1));
    assert!(error.to_string().contains("use a newer Adjutant"), "{error}");
}

#[test]
fn two_that_open_at_once_migrate_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    std::thread::scope(|scope| {
        let openers: Vec<_> = (0..8).map(|_| scope.spawn(|| Store::open(&path).is_ok())).collect();
        assert!(openers.into_iter().all(|opener| opener.join().unwrap()));
    });
}

#[test]
fn a_file_that_is_no_database_is_said_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    std::fs::write(
        &path,
        "this is not a database, and long enough to be read as a header".repeat(20),
    )
    .unwrap();
    assert!(Store::open(&path).is_err());
    assert!(Store::open(Path::new("/nonexistent/state.db")).is_err());
}

/// The schema before reports of use were bounded.
const UNBOUNDED: [&str; 8] = [
    include_str!("../../migrations/0001_begin.sql"),
    include_str!("../../migrations/0002_run.sql"),
    include_str!("../../migrations/0003_review.sql"),
    include_str!("../../migrations/0004_page.sql"),
    include_str!("../../migrations/0005_webhook.sql"),
    include_str!("../../migrations/0006_loop.sql"),
    include_str!("../../migrations/0007_plan.sql"),
    include_str!("../../migrations/0008_slack.sql"),
];

/// Makes a database as it was before reports of use were bounded.
pub(crate) fn unbounded(path: &Path) -> rusqlite::Connection {
    let file = rusqlite::Connection::open(path).unwrap();
    for sql in UNBOUNDED {
        file.execute_batch(sql).unwrap();
    }
    file.pragma_update(None, "user_version", 8).unwrap();
    file
}

#[test]
fn a_database_with_absurd_figures_is_healed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let file = unbounded(&path);
    let id = model::AgentId::from_bits;
    for (bits, nanos, tokens) in
        [(1, "9223372036854775807", "9223372036854775807"), (2, "2500000000", "1200")]
    {
        file.execute_batch(&format!(
            "INSERT INTO agent (id, role, category, kind, depth, session, state, attempt, created_at,
                updated_at, last_active_at)
             VALUES ('{id}', 'worker', 'worker', 'command', 0, 'default', 'running', 1, 0, 0, 0);
             INSERT INTO run (agent_id, prompt, summary, wish, segment, position, ran_ms, cost_nanos,
                tokens_in, tokens_out, cache_read, cache_write)
             VALUES ('{id}', 'p', 's', '{{}}', 0, 0, 0, {nanos}, {tokens}, {tokens}, {tokens}, {tokens});
             INSERT INTO spend VALUES ('{id}', 'm', 0, {nanos}, {tokens}, {tokens}, {tokens}, {tokens});
             INSERT INTO spend VALUES ('{id}', 'n', 0, {nanos}, {tokens}, {tokens}, {tokens}, {tokens});
             INSERT INTO budget VALUES ('{id}', NULL, NULL, NULL, NULL, {nanos} + {nanos},
                {tokens} + {tokens}, 0, 0);",
            id = id(bits)
        ))
        .unwrap();
    }
    drop(file);
    let store = Store::open(&path).unwrap();
    let since = model::Timestamp::from_millis(0);
    let healed = store.read(|tx| {
        let sums = tx.spend_sums(store::SpendBy::Agent, since, 10)?;
        let total = tx.spend_total(since)?;
        let budgets = [tx.budget_get(id(1))?.unwrap(), tx.budget_get(id(2))?.unwrap()];
        let runs = [tx.run_get(id(1))?.unwrap(), tx.run_get(id(2))?.unwrap()];
        Ok::<_, StoreError>((sums, total, budgets, runs))
    });
    let (sums, (money, tokens), budgets, runs) = healed.unwrap();
    assert_eq!(sums.len(), 2);
    assert_eq!((money.dollars(), tokens), (2_000_005.0, 8_000_009_600));
    assert_eq!((budgets[0].money.dollars(), budgets[0].tokens), (1_000_000.0, 1_000_000_000));
    assert_eq!(
        (runs[0].cost.unwrap().dollars(), runs[0].tokens.input),
        (1_000_000.0, 1_000_000_000)
    );
    // What is plausible stays as it was.
    assert_eq!((budgets[1].money.dollars(), budgets[1].tokens), (5.0, 2400));
    assert_eq!((runs[1].cost.unwrap().dollars(), runs[1].tokens.output), (2.5, 1200));
}
