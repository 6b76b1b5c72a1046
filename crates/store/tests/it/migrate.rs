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
