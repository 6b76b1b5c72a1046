//! Files of the record that are taken away or replaced under an open store, and who may read them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use store::{Store, StoreError};

use crate::support::add_task;

#[tokio::test]
async fn nothing_is_answered_as_written_once_the_database_or_the_lock_is_another_file() {
    for (name, replaced) in
        [("state.db", false), ("state.db", true), ("lock", false), ("lock", true)]
    {
        let dir = tempfile::tempdir().unwrap();
        let (path, lock) = (dir.path().join("state.db"), dir.path().join("lock"));
        fs::write(&lock, "").unwrap();
        let store = Store::open_guarded(&path, &[&lock]).unwrap();
        add_task(&store, 1).await.unwrap();
        store.check_files().unwrap();
        fs::rename(dir.path().join(name), dir.path().join("away")).unwrap();
        if replaced {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let error = add_task(&store, 2).await.unwrap_err();
        assert!(matches!(error, StoreError::Replaced { .. }), "{name}: {error:?}");
        assert!(error.to_string().contains(name), "{error}");
        assert!(!error.is_transient());
        store.check_files().unwrap_err();
        store.close().await;
    }
}

#[tokio::test]
async fn the_database_is_its_owners_alone_also_if_it_was_not_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    let mode =
        |name: &str| fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777;
    for _ in 0..2 {
        let store = Store::open(&path).unwrap();
        add_task(&store, 1).await.ok();
        for name in ["state.db", "state.db-wal", "state.db-shm"] {
            assert_eq!(mode(name), 0o600, "{name}");
        }
        store.close().await;
        drop(store);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }
}
