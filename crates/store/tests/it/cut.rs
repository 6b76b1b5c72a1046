//! The audit chain is cut behind a checkpoint, and every part of it can still be checked.

use model::Timestamp;
use store::{
    AuditCheckpoint, AuditCut, AuditFilter, AuditSearch, CHECKPOINT_TOOL, ChainVerification, Store,
    verify_archived,
};

use crate::support::{NOW, open, row};

async fn filled(store: &Store, rows: usize) {
    let append = move |tx: &mut store::Tx<'_>| {
        for n in 0..rows {
            tx.audit_append(&row(&format!("mcp__mail__tool{}", n % 7)))?;
        }
        Ok::<_, store::StoreError>(())
    };
    store.write(append).await.unwrap();
}

fn verdict(store: &Store) -> ChainVerification {
    store.read(|tx| tx.audit_verify()).unwrap()
}

/// The cut behind that row, as the writer of its archive asks for it.
fn cut_behind(store: &Store, last_row: i64) -> AuditCut {
    let (archived, row) = store
        .read(|tx| Ok::<_, store::StoreError>((tx.audit_archived()?, tx.audit_get(last_row)?)))
        .unwrap();
    let checkpoint = AuditCheckpoint {
        first_row: archived + 1,
        last_row,
        last_hash: row.unwrap().hash,
        archive: format!("audit-{last_row}.jsonl"),
        sha256: "5".repeat(64),
        audit_row: 0,
    };
    AuditCut { checkpoint, by_operator: true, at: NOW }
}

async fn cut(store: &Store, last_row: i64) -> bool {
    let cut = cut_behind(store, last_row);
    store.write(move |tx| tx.audit_cut(&cut)).await.unwrap()
}

#[tokio::test]
async fn what_is_left_of_a_chain_holds_from_its_checkpoint_on() {
    let (dir, store) = open();
    filled(&store, 3000).await;
    let archived: Vec<(String, String)> = store
        .read(|tx| tx.audit_rows_between(0, 2100, 5000))
        .unwrap()
        .into_iter()
        .map(|row| (row.body, row.hash))
        .collect();
    assert!(cut(&store, 1000).await && cut(&store, 2100).await);
    let found = verdict(&store);
    assert_eq!((found.rows, found.archived, found.broken.clone()), (3002, 2100, None));
    store.close().await;

    let store = Store::open(&dir.path().join("state.db")).unwrap();
    filled(&store, 3).await;
    assert_eq!((verdict(&store).rows, verdict(&store).broken), (3005, None));
    let rows = store.read(|tx| tx.audit_page(&AuditFilter::default(), 1)).unwrap().items;
    assert_eq!(rows[0].number, 2101);
    let around = store.read(|tx| tx.audit_around(2101, 1)).unwrap().unwrap();
    assert_eq!(around.problem, None, "the first row that is left follows the checkpoint");
    let search = AuditSearch { tool: Some(CHECKPOINT_TOOL.into()), ..AuditSearch::default() };
    let found = store
        .read(|tx| tx.audit_search(&search, store::AuditSearchOrder::Oldest, 10, 10_000))
        .unwrap();
    assert_eq!(found.calls.len(), 2, "cuts are found as calls are");

    let pairs = || archived.iter().map(|(body, hash)| (body.as_str(), hash.as_str()));
    let whole = verify_archived(0, &"0".repeat(64), pairs());
    assert_eq!((whole.rows, whole.broken), (2100, None));
    let second = verify_archived(1000, archived[999].1.as_str(), pairs().skip(1000));
    assert_eq!((second.rows, second.broken), (2100, None));
    assert!(verify_archived(1000, archived[998].1.as_str(), pairs().skip(1000)).broken.is_some());
}

#[tokio::test]
async fn a_check_that_goes_on_from_before_a_cut_finds_nothing_wrong() {
    let (_dir, store) = open();
    filled(&store, 50).await;
    let before = verdict(&store);
    filled(&store, 50).await;
    assert!(cut(&store, 80).await);
    let after = store.read(|tx| tx.audit_verify_on(&before, 1000)).unwrap();
    assert_eq!((after.rows, after.broken), (101, None));
}

#[tokio::test]
async fn a_cut_that_does_not_fit_changes_nothing() {
    let (_dir, store) = open();
    filled(&store, 10).await;
    let newest = cut_behind(&store, 10);
    assert!(!store.write(move |tx| tx.audit_cut(&newest)).await.unwrap(), "the newest row stays");
    let mut gap = cut_behind(&store, 5);
    gap.checkpoint.first_row = 2;
    assert!(!store.write(move |tx| tx.audit_cut(&gap)).await.unwrap());
    let mut other = cut_behind(&store, 5);
    other.checkpoint.last_hash = "0".repeat(64);
    assert!(!store.write(move |tx| tx.audit_cut(&other)).await.unwrap());
    let twice = cut_behind(&store, 5);
    let again = twice.clone();
    assert!(store.write(move |tx| tx.audit_cut(&twice)).await.unwrap());
    assert!(!store.write(move |tx| tx.audit_cut(&again)).await.unwrap());
    assert_eq!((verdict(&store).rows, verdict(&store).broken), (11, None));
}

#[tokio::test]
async fn whatever_is_tampered_with_behind_a_checkpoint_shows() {
    let tampering = [
        "DELETE FROM audit_checkpoint WHERE last_row = 10",
        "DELETE FROM audit_checkpoint WHERE last_row = 20",
        "DELETE FROM audit_checkpoint",
        "UPDATE audit_checkpoint SET sha256 = 'x' WHERE last_row = 20",
        "UPDATE audit_checkpoint SET archive = 'other.jsonl' WHERE last_row = 20",
        "UPDATE audit_checkpoint SET last_hash = (SELECT hash FROM audit WHERE number = 22) WHERE last_row = 20",
        "DELETE FROM audit WHERE number = 21",
        "DELETE FROM audit WHERE number = 32",
        "DELETE FROM audit WHERE number <= 25",
        "INSERT INTO audit SELECT 7, at, agent_id, tool, code, body, hash FROM audit WHERE number = 21",
    ];
    for sql in tampering {
        let (dir, store) = open();
        filled(&store, 30).await;
        assert!(cut(&store, 10).await && cut(&store, 20).await);
        filled(&store, 1).await;
        assert_eq!(verdict(&store).broken, None);
        let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
        assert!(file.execute(sql, []).unwrap() > 0, "{sql}");
        assert!(verdict(&store).broken.is_some(), "{sql}");
    }
}

#[tokio::test]
async fn a_block_whose_entry_is_gone_shows() {
    use model::AgentId;
    for (key, broken_at) in [("mcp__mail__tool3", 4), ("agent", 11)] {
        let (dir, store) = open();
        filled(&store, 10).await;
        let mut by_agent = row("mcp__mail__tool3");
        by_agent.agent = Some(AgentId::from_bits(5));
        store.write(move |tx| tx.audit_append(&by_agent)).await.unwrap();
        let key = if key == "agent" { AgentId::from_bits(5).to_string() } else { key.to_owned() };
        let file = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
        let gone = file.execute("DELETE FROM audit_block WHERE key = ?1", [&key]).unwrap();
        assert_eq!(gone, 1);
        let broken = verdict(&store).broken.unwrap();
        assert_eq!(broken.0, broken_at, "{broken:?}");
        assert!(broken.1.contains(&key), "{broken:?}");
    }
}

#[tokio::test]
async fn rows_before_a_time_are_found_and_the_newest_row_stays() {
    let (_dir, store) = open();
    for n in 0..10_i64 {
        let row = store::AuditDraft { at: NOW.after_seconds(n), ..row("mcp__mail__send") };
        store.write(move |tx| tx.audit_append(&row)).await.unwrap();
    }
    let before = |at: Timestamp| store.read(|tx| tx.audit_last_before(at)).unwrap();
    assert_eq!(before(NOW), 0);
    assert_eq!(before(NOW.after_seconds(4)), 4);
    assert_eq!(before(NOW.after_seconds(1000)), 9);
}
