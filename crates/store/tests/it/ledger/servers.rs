//! PostgreSQL servers: lost ones, and those that cannot keep a home.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use store::{Follower, LedgerAddress, LedgerClient, StoreError};
use testkit::postgres::Postgres;

use super::{HOME, LONG_LEASE, Ledger, client_of, content, take, wait, write};

/// How a standby gets what the primary commits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replication {
    Synchronous,
    Asynchronous,
}

/// Kills a primary while a server writes, promotes its standby, and returns how many writes were answered and how
/// many of these are lost.
fn fail_over(replication: Replication) -> (u32, u32) {
    let is_synchronous = replication == Replication::Synchronous;
    let mut ledger = Ledger::start(&[]);
    let mut standby = ledger.postgres.standby(&[]).unwrap();
    let home = take(client_of(&ledger.postgres.address_with(&standby)), "a", LONG_LEASE);
    let store = ledger.open("a", home);
    if is_synchronous {
        ledger.postgres.set("synchronous_standby_names", "*").unwrap();
    } else {
        // The control: a standby that has stopped receiving.
        standby.kill().unwrap();
    }
    for bits in 1..=20 {
        write(&store, bits).unwrap();
    }
    let is_over = AtomicBool::new(false);
    let answered = thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut held = 0_u32;
            while write(&store, 21 + u64::from(held)).is_ok() {
                held += 1;
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
            }
            held
        });
        ledger.postgres.kill().unwrap();
        if !is_synchronous {
            standby.run().unwrap();
        }
        standby.promote().unwrap();
        is_over.store(true, Ordering::Relaxed);
        20 + writing.join().unwrap()
    });
    // What the new primary has, from its own snapshot and log.
    let (file, mut client) = (ledger.file("b"), client_of(&standby.address()));
    client.restore(HOME, &file).unwrap();
    Follower::open(&file, HOME).unwrap().catch_up(&mut client).unwrap();
    let kept = rusqlite::Connection::open(&file).unwrap();
    let kept: u32 = kept.query_row("SELECT COUNT(*) FROM task", [], |row| row.get(0)).unwrap();
    if is_synchronous {
        wait(store.close());
        assert_eq!(content(&file), content(&ledger.file("a")));
    }
    (answered, answered.saturating_sub(kept))
}

#[test]
#[expect(clippy::print_stdout, reason = "counts are printed")]
fn a_failover_to_a_synchronous_standby_loses_nothing_and_needs_no_restart() {
    let (answered, lost) = fail_over(Replication::Synchronous);
    println!("synchronous standby: {answered} answered, {lost} lost");
    assert!(answered > 20, "{answered}");
    assert_eq!(lost, 0);
}

#[test]
#[expect(clippy::print_stdout, reason = "counts are printed")]
fn a_failover_to_a_standby_that_lags_is_seen_to_lose() {
    let (answered, lost) = fail_over(Replication::Asynchronous);
    println!("asynchronous standby: {answered} answered, {lost} lost");
    assert!(lost > 0, "{answered} were answered");
}

#[test]
fn a_postgresql_on_which_answered_would_not_mean_kept_is_refused() {
    for setting in ["fsync", "full_page_writes"] {
        let postgres = Postgres::start(&[&format!("{setting} = off")]).unwrap();
        let error = client_of(&postgres.address()).make_tables().unwrap_err();
        assert!(matches!(error, StoreError::Unfit { .. }), "{error:?}");
        assert!(error.to_string().contains(setting), "{error}");
        let allowed = LedgerAddress::parse(&postgres.address()).unwrap().allowing_loss();
        let mut client = LedgerClient::new(allowed).unwrap();
        client.make_tables().unwrap();
        assert_eq!(client.may_lose(), Some(format!("`{setting}` is off").as_str()));
    }
}

#[test]
fn a_database_without_homes_says_how_to_make_one() {
    let postgres = Postgres::start(&[]).unwrap();
    let error = client_of(&postgres.address()).expect_tables().unwrap_err().to_string();
    assert!(error.contains("`adjutant home create`"), "{error}");
}

#[test]
fn what_keeps_a_role_from_using_a_postgresql_is_named() {
    let postgres = Postgres::start(&[]).unwrap();
    let unfit = "CREATE ROLE loose LOGIN; ALTER ROLE loose SET synchronous_commit = off;
        CREATE ROLE bare LOGIN; CREATE DATABASE closed";
    for statement in unfit.split(';') {
        postgres.sql(statement).unwrap();
    }
    let address = |role: &str, database: &str| {
        postgres.address().replace("adjutant@", &format!("{role}@")).replace("/postgres", database)
    };
    for (role, database, parts) in [
        ("loose", "/postgres", ["synchronous_commit", "ALTER ROLE loose"]),
        (
            "bare",
            "/closed",
            ["permission denied", "GRANT CONNECT, CREATE ON DATABASE closed TO bare"],
        ),
        ("nobody_at_all", "/postgres", ["nobody_at_all", "does not exist"]),
        ("bare", "/missing", ["does not exist", "CREATE DATABASE missing OWNER bare"]),
    ] {
        let error = client_of(&address(role, database)).make_tables().unwrap_err().to_string();
        assert!(parts.iter().all(|part| error.contains(part)), "{role}{database}: {error}");
    }
    let closed = "postgres://bare@127.0.0.1:1,127.0.0.1:2/postgres";
    let error = client_of(closed).make_tables().unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    let both = ["127.0.0.1:1", "127.0.0.1:2"];
    assert!(both.iter().all(|host| error.to_string().contains(host)), "{error}");
    let standby = postgres.standby(&[]).unwrap();
    let error = client_of(&standby.address()).make_tables().unwrap_err();
    assert!(error.to_string().contains("read-only"), "{error}");
    client_of(&standby.address_with(&postgres)).make_tables().unwrap();
}

#[test]
fn tables_of_a_newer_program_are_refused_and_made_once_by_two_at_a_time() {
    let postgres = Postgres::start(&[]).unwrap();
    thread::scope(|scope| {
        let made = [(); 4].map(|()| scope.spawn(|| client_of(&postgres.address()).make_tables()));
        for one in made {
            one.join().unwrap().unwrap();
        }
    });
    assert_eq!(postgres.sql("SELECT COUNT(*) FROM adjutant.meta").unwrap(), "1");
    postgres.sql("UPDATE adjutant.meta SET version = 99").unwrap();
    let error = client_of(&postgres.address()).make_tables().unwrap_err().to_string();
    assert!(error.contains("version 99, this Adjutant knows version 1"), "{error}");
}

#[test]
fn connections_are_encrypted_and_an_unknown_authority_is_refused() {
    let mut postgres = Postgres::start(&[]).unwrap();
    let certificate = postgres.make_certificate().unwrap();
    postgres.kill().unwrap();
    postgres.configure(&["ssl = on"]).unwrap();
    postgres.run().unwrap();
    let address = postgres.address().replace("127.0.0.1", "localhost");
    let trusted = format!("{address}?sslrootcert={}", certificate.display());
    let mut client = client_of(&trusted);
    client.make_tables().unwrap();
    let encrypted = "SELECT COUNT(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE ssl AND application_name = 'adjutant'";
    assert_eq!(postgres.sql(encrypted).unwrap(), "1");
    let unknown = client_of(&format!("{address}?sslmode=verify-full")).make_tables().unwrap_err();
    assert!(unknown.to_string().contains("certificate"), "{unknown}");
}
