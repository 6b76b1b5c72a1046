//! The audit record is a chain, and every link shows.

use store::{AuditFilter, ChainVerification, Store, StoreError, verify_chain};

use crate::support::{open, row};

async fn filled(store: &Store, rows: usize) {
    for n in 0..rows {
        let row = row(&format!("mcp__mail__tool{n}"));
        store.write(move |tx| tx.audit_append(&row)).await.unwrap();
    }
}

fn verdict(store: &Store) -> ChainVerification {
    store.read(|tx| tx.audit_verify()).unwrap()
}

#[tokio::test]
async fn an_untouched_chain_holds_and_can_be_followed_from_outside() {
    let (_dir, store) = open();
    filled(&store, 25).await;
    let found = verdict(&store);
    assert_eq!((found.rows, found.broken.clone()), (25, None));

    let rows = store.read(|tx| tx.audit_page(&AuditFilter::default(), 100)).unwrap().items;
    let exported = verify_chain(rows.iter().map(|row| (row.body.as_str(), row.hash.as_str())));
    assert_eq!(exported, found);
}

#[tokio::test]
async fn whatever_is_tampered_with_shows() {
    let tampering = [
        ("UPDATE audit SET body = replace(body, '\"a\":1', '\"a\":2') WHERE number = 3", 3),
        ("UPDATE audit SET tool = 'mcp__mail__other' WHERE number = 4", 4),
        ("UPDATE audit SET code = 'CONFLICT' WHERE number = 2", 2),
        ("DELETE FROM audit WHERE number = 5", 6),
        ("UPDATE audit SET hash = (SELECT hash FROM audit WHERE number = 1) WHERE number = 7", 7),
        ("UPDATE audit SET at = at + 1 WHERE number = 1", 1),
    ];
    for (sql, broken_at) in tampering {
        let (dir, store) = open();
        filled(&store, 10).await;
        let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
        assert_eq!(file.execute(sql, []).unwrap(), 1, "{sql}");
        let broken = verdict(&store).broken.map(|(number, _)| number);
        assert_eq!(broken, Some(broken_at), "{sql}");
    }
}

#[tokio::test]
async fn the_chain_goes_on_after_a_restart() {
    let (dir, store) = open();
    filled(&store, 3).await;
    store.close().await;
    let store = Store::open(&dir.path().join("state.db")).unwrap();
    filled(&store, 3).await;
    assert_eq!((verdict(&store).rows, verdict(&store).broken), (6, None));
}

#[tokio::test]
async fn rows_that_nobody_waits_for_are_there_after_the_end() {
    let (dir, store) = open();
    for n in 0..1000 {
        store.audit_later(row(&format!("mcp__task__read{n}"))).await.unwrap();
    }
    store.close().await;
    let store = Store::open(&dir.path().join("state.db")).unwrap();
    assert_eq!((verdict(&store).rows, verdict(&store).broken), (1000, None));
}

#[tokio::test]
async fn a_failed_operation_leaves_no_gap() {
    let (_dir, store) = open();
    let mut waiting = Vec::new();
    for n in 0..200 {
        let (store, row) = (store.clone(), row("mcp__mail__send"));
        waiting.push(async move {
            store
                .write(move |tx| {
                    tx.audit_append(&row)?;
                    if n % 3 == 0 { Err(StoreError::Corrupt("on purpose".into())) } else { Ok(()) }
                })
                .await
        });
    }
    let mut kept = 0;
    for outcome in futures_util::future::join_all(waiting).await {
        kept += i64::from(outcome.is_ok());
    }
    assert_eq!((verdict(&store).rows, verdict(&store).broken), (kept, None));
    assert_eq!(kept, 133);
}
