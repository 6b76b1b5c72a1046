//! Files that are not what the log makes, and entries of older and newer programs.

use std::path::{Path, PathBuf};

use store::{EventDraft, Follower, Store, StoreError};
use wire::event::{EventData, MailRead};

use super::{HOME, LONG_LEASE, Ledger, wait};
use crate::support::NOW;

#[test]
fn a_file_that_differs_from_the_log_is_noticed_and_a_foreign_one_is_refused() {
    let ledger = Ledger::start(&[]);
    let store = ledger.server("a", LONG_LEASE);
    let agent = crate::support::agent(1);
    let read = EventData::MailRead(MailRead { mail_id: model::MailId::from_bits(1) });
    let happened = EventDraft { agent: None, task: None, data: read };
    let insert = store.write(move |tx| {
        tx.agent_insert(&agent, NOW)?;
        tx.event_append(NOW, &happened)
    });
    wait(insert).unwrap();
    let (file, mut client) = (ledger.file("b"), ledger.client());
    client.restore(HOME, &file).unwrap();
    Follower::open(&file, HOME).unwrap().catch_up(&mut client).unwrap();
    let changed = rusqlite::Connection::open(&file).unwrap();
    changed.execute("DELETE FROM agent", []).unwrap();
    drop(changed);
    let id = model::AgentId::from_bits(1);
    assert!(wait(store.write(move |tx| tx.agent_touch(id, NOW.after_seconds(1)))).unwrap());
    let error = Follower::open(&file, HOME).unwrap().catch_up(&mut client).unwrap_err();
    assert!(matches!(error, StoreError::Diverged { seq: 2, .. }), "{error:?}");
    // Nobody takes a home over with such a file, also where no entry touches the row.
    let restored = ledger.file("c");
    client.restore(HOME, &restored).unwrap();
    Follower::open(&restored, HOME).unwrap().catch_up(&mut client).unwrap();
    let changed = rusqlite::Connection::open(&restored).unwrap();
    changed.execute("DELETE FROM event", []).unwrap();
    drop(changed);
    wait(store.close());
    let error = Store::open_owned(&restored, &[], ledger.take("c", LONG_LEASE)).unwrap_err();
    assert!(matches!(error, StoreError::Diverged { seq: 2, .. }), "{error:?}");
    let error = Follower::open(&file, "hm_2").unwrap_err();
    assert!(error.to_string().contains("hm_1"), "{error}");
    // One of a newer program, as a snapshot may be, is left alone.
    let newer = rusqlite::Connection::open(&file).unwrap();
    newer.pragma_update(None, "user_version", store::SCHEMA_VERSION + 1).unwrap();
    drop(newer);
    let error = Follower::open(&file, HOME).unwrap_err();
    assert!(matches!(error, StoreError::Newer { .. }) && !error.is_damage(), "{error:?}");
    let plain = ledger.file("plain");
    drop(Store::open(&plain).unwrap());
    let error = Follower::open(&plain, HOME).unwrap_err();
    assert!(error.to_string().contains("snapshot"), "{error}");
}

/// A home with two agents, whose last active times are known, and a file that follows it.
fn with_follower(ledger: &Ledger) -> (Store, PathBuf) {
    let store = ledger.server("a", LONG_LEASE);
    let agents = [1, 2].map(crate::support::agent);
    let insert = store
        .write(move |tx| agents.iter().try_for_each(|agent| tx.agent_insert(agent, NOW).map(drop)));
    wait(insert).unwrap();
    let (file, mut client) = (ledger.file("b"), ledger.client());
    client.restore(HOME, &file).unwrap();
    Follower::open(&file, HOME).unwrap().catch_up(&mut client).unwrap();
    (store, file)
}

/// Changes a value by hand, as somebody with a shell does.
fn change_by_hand(file: &Path, sql: &str) {
    let file = rusqlite::Connection::open(file).unwrap();
    assert_eq!(file.execute(sql, []).unwrap(), 1, "{sql}");
}

fn touch(store: &Store, agent: u64, seconds: i64) {
    let id = model::AgentId::from_bits(agent);
    assert!(wait(store.write(move |tx| tx.agent_touch(id, NOW.after_seconds(seconds)))).unwrap());
}

#[test]
fn a_changed_value_is_noticed_at_the_next_entry_that_touches_its_row() {
    let ledger = Ledger::start(&[]);
    let (store, file) = with_follower(&ledger);
    let mut client = ledger.client();
    // A column that no write below sets.
    change_by_hand(&file, "UPDATE agent SET role = 'other' WHERE number = 1");
    touch(&store, 2, 1);
    let mut follower = Follower::open(&file, HOME).unwrap();
    assert_eq!(follower.catch_up(&mut client).unwrap(), 1, "the row of another agent");
    touch(&store, 1, 2);
    touch(&store, 2, 3);
    let error = follower.catch_up(&mut client).unwrap_err();
    assert!(matches!(error, StoreError::Diverged { seq: 3, .. }), "{error:?}");
    assert!(error.is_damage());
    assert_eq!(follower.seq(), 2, "nothing of the entry is in the file");
    // One that the write sets to what everybody has then.
    let file = ledger.file("c");
    client.restore(HOME, &file).unwrap();
    Follower::open(&file, HOME).unwrap().catch_up(&mut client).unwrap();
    change_by_hand(&file, "UPDATE agent SET last_active_at = 7 WHERE number = 2");
    touch(&store, 2, 4);
    let error = Follower::open(&file, HOME).unwrap().catch_up(&mut client).unwrap_err();
    assert!(matches!(error, StoreError::Diverged { seq: 5, .. }), "{error:?}");
}

#[test]
fn a_changed_value_that_an_entry_touches_is_noticed_at_a_takeover() {
    let ledger = Ledger::start(&[]);
    let (store, file) = with_follower(&ledger);
    change_by_hand(&file, "UPDATE agent SET role = 'other' WHERE number = 1");
    touch(&store, 1, 1);
    wait(store.close());
    let error = Store::open_owned(&file, &[], ledger.take("b", LONG_LEASE)).unwrap_err();
    assert!(matches!(error, StoreError::Diverged { seq: 2, .. }), "{error:?}");
}

#[test]
fn entries_of_an_older_program_are_followed_and_those_of_a_newer_one_are_left_alone() {
    /// Number of bytes of a digest, at the end of an entry.
    const DIGEST: usize = 16;
    let ledger = Ledger::start(&[]);
    let (store, file) = with_follower(&ledger);
    let mut client = ledger.client();
    touch(&store, 1, 1);
    let older = format!(
        "UPDATE adjutant.log SET body = set_byte(substr(body, 1, octet_length(body) - {DIGEST}), 0, 1)"
    );
    ledger.postgres.sql(&older).unwrap();
    let mut follower = Follower::open(&file, HOME).unwrap();
    assert_eq!(follower.catch_up(&mut client).unwrap(), 1);
    let whole = ledger.file("c");
    client.restore(HOME, &whole).unwrap();
    assert_eq!(Follower::open(&whole, HOME).unwrap().catch_up(&mut client).unwrap(), 2);
    // What such an entry cannot show is as it was before: a number of rows is compared.
    change_by_hand(&whole, "UPDATE agent SET role = 'other' WHERE number = 1");
    touch(&store, 1, 2);
    ledger.postgres.sql(&format!("{older} WHERE seq = 3")).unwrap();
    assert_eq!(Follower::open(&whole, HOME).unwrap().catch_up(&mut client).unwrap(), 1);
    assert_eq!(follower.catch_up(&mut client).unwrap(), 1);
    // Another digest than the rows have, as those of a damaged entry.
    touch(&store, 1, 3);
    let damage = "UPDATE adjutant.log SET body =
            set_byte(body, octet_length(body) - 1, (get_byte(body, octet_length(body) - 1) + 1) % 256)
         WHERE seq = 4";
    ledger.postgres.sql(damage).unwrap();
    let error = follower.catch_up(&mut client).unwrap_err();
    assert!(matches!(error, StoreError::Diverged { seq: 4, .. }), "{error:?}");
    ledger.postgres.sql("UPDATE adjutant.log SET body = set_byte(body, 0, 77)").unwrap();
    let error = follower.catch_up(&mut client).unwrap_err();
    assert!(matches!(error, StoreError::NewerLog { found: 77, .. }), "{error:?}");
    assert!(!error.is_damage() && error.to_string().contains("newer Adjutant"), "{error}");
}
