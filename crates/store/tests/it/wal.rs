//! The write-ahead log stays small, with readers beside the writer.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use store::{EventDraft, Store};
use wire::event::{AgentWarned, EventData};

use crate::support::{NOW, open};

/// Larger than the size at which the writer waits for readers.
const BOUND: u64 = 48 << 20;

async fn write_megabytes(store: &Store, megabytes: usize) {
    for _ in 0..megabytes {
        let data = EventData::AgentWarned(AgentWarned { warning: "x".repeat(1 << 20) });
        let draft = EventDraft { agent: None, task: None, data };
        store.write(move |tx| tx.event_append(NOW, &draft)).await.unwrap();
    }
}

fn wal_bytes(dir: &Path) -> u64 {
    std::fs::metadata(dir.join("state.db-wal")).unwrap().len()
}

fn begin_to_read(dir: &Path) -> Connection {
    let reader = Connection::open(dir.join("state.db")).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let count = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    reader.query_row("SELECT COUNT(*) FROM event", [], count).unwrap();
    reader
}

#[tokio::test]
async fn a_log_that_grew_beside_a_long_reader_shrinks_once_that_is_gone() {
    let (dir, store) = open();
    write_megabytes(&store, 1).await;
    let reader = begin_to_read(dir.path());
    write_megabytes(&store, 60).await;
    assert!(wal_bytes(dir.path()) > BOUND, "it cannot be emptied under a reader");
    drop(reader);
    // The next growth finds nobody in its way.
    write_megabytes(&store, 10).await;
    assert!(wal_bytes(dir.path()) < BOUND, "{}", wal_bytes(dir.path()));
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_who_overlap_for_ever_do_not_let_the_log_grow_for_ever() {
    let (dir, store) = open();
    write_megabytes(&store, 1).await;
    let (path, stop) = (dir.path().to_owned(), std::sync::Arc::new(AtomicBool::new(false)));
    let reading = std::thread::spawn({
        let stop = std::sync::Arc::clone(&stop);
        move || {
            let mut reader = begin_to_read(&path);
            while !stop.load(Ordering::Relaxed) {
                // The next one begins before this one ends.
                let next = begin_to_read(&path);
                drop(std::mem::replace(&mut reader, next));
            }
        }
    });
    write_megabytes(&store, 150).await;
    let grown = wal_bytes(dir.path());
    stop.store(true, Ordering::Relaxed);
    reading.join().unwrap();
    assert!(grown < 2 * BOUND, "{grown}");
}
