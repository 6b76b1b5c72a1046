//! Notes of followers about themselves.

use std::time::Duration;

use store::{FollowerNote, StoreError};

use super::{HOME, LONG_LEASE, Ledger, write};

#[test]
fn a_follower_is_seen_with_what_it_lacks() {
    let ledger = Ledger::start(&[]);
    let mut client = ledger.client();
    assert_eq!(client.followers(HOME).unwrap(), [], "nobody has ever followed");
    client.make_follower_table().unwrap();
    let store = ledger.server("a", LONG_LEASE);
    for bits in 1..=3 {
        write(&store, bits).unwrap();
    }
    let seq: i64 = ledger.postgres.sql("SELECT seq FROM adjutant.home").unwrap().parse().unwrap();
    let note = |seq| FollowerNote {
        machine: "mc_1".into(),
        url: "http://b:3001".into(),
        version: "0.1.0".into(),
        seq,
    };
    client.note_follower(HOME, &note(seq - 2)).unwrap();
    let seen = client.followers(HOME).unwrap();
    assert_eq!((seen.len(), seen[0].missing, seen[0].url.as_str()), (1, 2, "http://b:3001"));
    assert!(seen[0].age < Duration::from_secs(10), "{seen:?}");
    client.note_follower(HOME, &note(seq)).unwrap();
    let seen = client.followers(HOME).unwrap();
    assert_eq!((seen.len(), seen[0].missing, seen[0].late), (1, 0, Duration::ZERO));

    // One that says nothing any more lacks what has come since.
    let silent = |since: &str| {
        let change = format!("UPDATE adjutant.follower SET seen_at = now() - INTERVAL '{since}'");
        ledger.postgres.sql(&change).unwrap();
    };
    silent("30 seconds");
    write(&store, 4).unwrap();
    let seen = client.followers(HOME).unwrap();
    assert_eq!(seen[0].missing, 1, "{seen:?}");
    assert!(seen[0].age >= Duration::from_secs(30), "{seen:?}");
    silent("2 hours");
    assert_eq!(client.followers(HOME).unwrap(), []);
    silent("2 days");
    client.make_follower_table().unwrap();
    assert_eq!(ledger.postgres.sql("SELECT COUNT(*) FROM adjutant.follower").unwrap(), "0");

    client.note_follower(HOME, &note(seq)).unwrap();
    client.forget_follower(HOME, "mc_1").unwrap();
    assert_eq!(client.followers(HOME).unwrap(), []);
}

#[test]
fn a_role_that_may_make_no_table_is_told_so_and_can_still_look() {
    let ledger = Ledger::start(&[]);
    ledger
        .postgres
        .sql(
            "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA adjutant TO reader;
             GRANT SELECT ON ALL TABLES IN SCHEMA adjutant TO reader",
        )
        .unwrap();
    let address = ledger.postgres.address().replace("adjutant@", "reader@");
    let mut client = super::client_of(&address);
    let refused = client.make_follower_table().unwrap_err();
    assert!(matches!(refused, StoreError::Unfit { .. }), "{refused}");
    assert_eq!(client.followers(HOME).unwrap(), []);
}

#[test]
fn the_time_of_every_append_is_counted() {
    let ledger = Ledger::start(&[]);
    let home = ledger.take("a", LONG_LEASE);
    let times = home.commit_times();
    let store = ledger.open("a", home);
    let before = times.read().count;
    write(&store, 1).unwrap();
    let after = times.read();
    assert_eq!(after.count, before + 1);
    assert!(after.sum > 0.0, "{after:?}");
}
