//! Homes in a real PostgreSQL: taking, appending, doubts, following, snapshots.

mod differences;
mod followers;
mod lease;
mod placement;
mod servers;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::types::Value;
use store::{
    AgentCounts, EntryKind, Follower, LedgerAddress, LedgerClient, NewEntry, NewHome, OwnedHome,
    Owner, Store, StoreError, TakeOutcome, Task,
};
use tempfile::TempDir;
use testkit::postgres::Postgres;

use crate::support::{add_task, row};

const HOME: &str = "hm_1";
/// Longer than any test takes.
const LONG_LEASE: Duration = Duration::from_secs(300);
const HEAD: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A PostgreSQL with a new home, and a folder for the files of servers.
struct Ledger {
    postgres: Postgres,
    dir: TempDir,
}

impl Ledger {
    fn start(settings: &[&str]) -> Self {
        let ledger = Self {
            postgres: Postgres::start(settings).unwrap(),
            dir: tempfile::tempdir().unwrap(),
        };
        let mut client = ledger.client();
        client.make_tables().unwrap();
        client.create_home(&new_home(HOME, "shop", None, ledger.dir.path()), |_| Ok(())).unwrap();
        ledger
    }

    fn client(&self) -> LedgerClient {
        client_of(&self.postgres.address())
    }

    fn take(&self, owner: &str, lease: Duration) -> OwnedHome {
        take(self.client(), owner, lease)
    }

    fn file(&self, server: &str) -> PathBuf {
        self.dir.path().join(format!("{server}.db"))
    }

    /// A server that owns the home: its file is restored where it has none.
    fn server(&self, name: &str, lease: Duration) -> Store {
        self.open(name, self.take(name, lease))
    }

    fn open(&self, name: &str, mut home: OwnedHome) -> Store {
        let file = self.file(name);
        if !file.exists() {
            home.client().restore(HOME, &file).unwrap();
        }
        Store::open_owned(&file, &[], home).unwrap()
    }

    /// Epochs in the order of the log, as one text.
    fn epochs(&self) -> String {
        let sql = "SELECT string_agg(epoch::TEXT, ' ' ORDER BY seq) FROM adjutant.log";
        self.postgres.sql(sql).unwrap()
    }

    /// Cancels or ends what waits for this.
    fn signal(&self, function: &str, event: &str) {
        let sql =
            format!("SELECT {function}(pid) FROM pg_stat_activity WHERE wait_event = '{event}'");
        self.postgres.sql(&sql).unwrap();
    }

    /// Waits until so many statements wait for this.
    fn wait_for(&self, event: &str, count: &str) {
        let sql = format!("SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = '{event}'");
        while self.postgres.sql(&sql).unwrap() != count {
            thread::yield_now();
        }
    }
}

fn client_of(address: &str) -> LedgerClient {
    LedgerClient::new(LedgerAddress::parse(address).unwrap()).unwrap()
}

fn owner(id: &str, lease: Duration) -> Owner {
    Owner { id: id.into(), url: format!("http://{id}.example"), lease }
}

/// A client that looks after a moment whether a statement without an answer held.
fn impatient_client_of(address: &str) -> LedgerClient {
    let address = LedgerAddress::parse(address).unwrap();
    LedgerClient::new(address.with_statement_timeout(Duration::from_secs(2))).unwrap()
}

fn take(client: LedgerClient, id: &str, lease: Duration) -> OwnedHome {
    taken(client.take("shop", &owner(id, lease)).unwrap()).unwrap()
}

fn taken(taking: TakeOutcome) -> Option<OwnedHome> {
    match taking {
        TakeOutcome::Taken(home) => Some(*home),
        TakeOutcome::Occupied(..) => None,
    }
}

fn entry(body: &[u8]) -> NewEntry<'_> {
    NewEntry {
        kind: EntryKind::Writes,
        body,
        audit: 0,
        head: HEAD,
        event: 0,
        agents: AgentCounts::default(),
    }
}

fn new_home<'a>(
    id: &'a str,
    name: &'a str,
    from: Option<&'a Path>,
    scratch: &'a Path,
) -> NewHome<'a> {
    NewHome { id, name, from, scratch }
}

/// Runs an operation of a store to its end.
fn wait<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn write(store: &Store, bits: u64) -> Result<Task, StoreError> {
    wait(add_task(store, bits))
}

/// Every row of every table of a file.
fn content(file: &Path) -> Vec<(String, Vec<Vec<Value>>)> {
    let file = rusqlite::Connection::open(file).unwrap();
    let mut names =
        file.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").unwrap();
    let names: Vec<String> =
        names.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let rows = |name: &String| {
        let mut select = file.prepare(&format!("SELECT * FROM {name} ORDER BY 1, 2")).unwrap();
        let columns = select.column_count();
        let read = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get(at)).collect();
        select.query_map([], read).unwrap().collect::<Result<Vec<Vec<Value>>, _>>().unwrap()
    };
    names.iter().map(|name| (name.clone(), rows(name))).collect()
}

#[test]
fn what_one_server_wrote_the_next_one_carries_on() {
    let ledger = Ledger::start(&[]);
    let first = ledger.server("a", LONG_LEASE);
    for bits in 1..=30 {
        write(&first, bits).unwrap();
    }
    assert!(matches!(write(&first, 7), Err(StoreError::Duplicate(_))));
    wait(first.write(|tx| tx.audit_append(&row("task_list")))).unwrap();
    let taking = ledger.client().take("shop", &owner("b", LONG_LEASE)).unwrap();
    assert!(taken(taking).is_none(), "it is owned");
    let home = ledger.client().home("shop").unwrap().unwrap();
    assert_eq!((home.owner.as_deref(), home.epoch), (Some("a"), 1));
    assert_eq!(home.owner_url.as_deref(), Some("http://a.example"));
    // It hands the home over when it ends.
    wait(first.close());
    let second = ledger.server("b", LONG_LEASE);
    assert_eq!(write(&second, 31).unwrap().number, 31);
    wait(second.close());
    let mut follower = Follower::open(&ledger.file("a"), HOME).unwrap();
    assert_eq!(follower.catch_up(&mut ledger.client()).unwrap(), 1);
    assert_eq!(follower.seq(), ledger.client().home("shop").unwrap().unwrap().seq);
    drop(follower);
    assert_eq!(content(&ledger.file("a")), content(&ledger.file("b")));
}

#[test]
fn an_owner_whose_lease_ran_out_commits_nothing_after_the_next_one() {
    let ledger = Ledger::start(&[]);
    let short = Duration::from_millis(200);
    let old = ledger.server("old", short);
    write(&old, 1).unwrap();
    let mut client = ledger.client();
    let new = loop {
        match client.take("shop", &owner("new", LONG_LEASE)).unwrap() {
            TakeOutcome::Taken(home) => break *home,
            TakeOutcome::Occupied(back, _) => client = *back,
        }
    };
    let new = ledger.open("new", new);
    let refused = write(&old, 2).unwrap_err();
    assert!(matches!(refused, StoreError::Fenced { epoch: 1, .. }), "{refused:?}");
    assert!(!refused.is_transient());
    write(&new, 3).unwrap();
    assert!(matches!(write(&old, 4), Err(StoreError::Fenced { .. })));
    assert_eq!(new.read(|tx| tx.task_recent_slugs(9)).unwrap(), ["task-3", "task-1"]);
    // What it could not append it does not have either.
    assert_eq!(old.read(|tx| tx.task_recent_slugs(9)).unwrap(), ["task-1"]);
    assert_eq!(ledger.epochs(), "1 2");
}

#[test]
fn a_commit_whose_wait_for_the_standby_is_cancelled_is_not_answered_before_it_is_known() {
    let ledger = Ledger::start(&[]);
    let mut home = ledger.take("a", LONG_LEASE);
    ledger.postgres.set("synchronous_standby_names", "*").unwrap();
    thread::scope(|scope| {
        let appending = scope.spawn(|| home.append(&entry(b"one")));
        ledger.wait_for("SyncRep", "1");
        ledger.signal("pg_cancel_backend", "SyncRep");
        // Its entry can be seen now. It asks for another commit that is held, and waits for the standby again.
        let renewing = "SELECT COUNT(*) FROM pg_stat_activity
            WHERE wait_event = 'SyncRep' AND query NOT LIKE '%INSERT INTO adjutant.log%'";
        while ledger.postgres.sql(renewing).unwrap() != "1" {
            thread::yield_now();
        }
        assert_eq!(ledger.epochs(), "1");
        assert!(!appending.is_finished(), "nobody knows whether the standby has it");
        ledger.postgres.set("synchronous_standby_names", "").unwrap();
        assert_eq!(appending.join().unwrap().unwrap(), 1);
    });
    assert_eq!(home.append(&entry(b"two")).unwrap(), 2);
    assert_eq!(ledger.epochs(), "1 1");
}

#[test]
fn an_append_that_waits_for_a_standby_for_long_leaves_nothing_behind_that_waits() {
    let ledger = Ledger::start(&[]);
    let mut home = take(impatient_client_of(&ledger.postgres.address()), "a", LONG_LEASE);
    ledger.postgres.set("synchronous_standby_names", "*").unwrap();
    thread::scope(|scope| {
        let appending = scope.spawn(|| home.append(&entry(b"one")));
        ledger.wait_for("SyncRep", "1");
        // It looks, finds nothing, and is sent again: each of these waits for the first one, and then for nobody.
        let (mut seen, mut most) = (std::collections::BTreeSet::new(), 0);
        while seen.len() < 3 {
            let waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
            let waiting = ledger.postgres.sql(waiting).unwrap();
            most = most.max(waiting.lines().count());
            seen.extend(waiting.lines().map(str::to_owned));
        }
        assert!(most <= 1, "{most} statements wait at once");
        assert!(!appending.is_finished());
        ledger.postgres.set("synchronous_standby_names", "").unwrap();
        assert_eq!(appending.join().unwrap().unwrap(), 1);
    });
    assert_eq!(ledger.epochs(), "1");
}

#[test]
fn an_append_whose_connection_breaks_is_looked_up_and_stands_once() {
    let ledger = Ledger::start(&[]);
    let mut home = ledger.take("a", LONG_LEASE);
    // It broke before the commit: the entry is not there, and is sent again.
    thread::scope(|scope| {
        let lock = "BEGIN; LOCK adjutant.log IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(300)";
        let locking = scope.spawn(|| ledger.postgres.sql(lock).unwrap_err());
        ledger.wait_for("PgSleep", "1");
        let appending = scope.spawn(|| home.append(&entry(b"one")));
        ledger.wait_for("relation", "1");
        ledger.signal("pg_terminate_backend", "relation");
        ledger.signal("pg_terminate_backend", "PgSleep");
        assert_eq!(appending.join().unwrap().unwrap(), 1);
        locking.join().unwrap();
    });
    // It broke after the commit: the entry is there, and is not sent again.
    ledger.postgres.set("synchronous_standby_names", "*").unwrap();
    thread::scope(|scope| {
        let appending = scope.spawn(|| home.append(&entry(b"two")));
        ledger.wait_for("SyncRep", "1");
        ledger.signal("pg_terminate_backend", "SyncRep");
        ledger.postgres.set("synchronous_standby_names", "").unwrap();
        assert_eq!(appending.join().unwrap().unwrap(), 2);
    });
    let bodies =
        "SELECT string_agg(convert_from(body, 'UTF8'), ' ' ORDER BY seq) FROM adjutant.log";
    assert_eq!(ledger.postgres.sql(bodies).unwrap(), "one two");
}

#[test]
fn a_snapshot_cuts_the_log_and_a_damaged_one_is_passed_over() {
    let ledger = Ledger::start(&[]);
    let store = ledger.server("a", LONG_LEASE);
    let mut client = ledger.client();
    let mut upload = |name: &str| {
        let copy = ledger.file(name);
        store.ledger_copy(&copy).unwrap();
        client.upload(&copy).unwrap().seq
    };
    for bits in 1..=3 {
        write(&store, bits).unwrap();
    }
    assert_eq!(upload("copy-1"), 3);
    write(&store, 4).unwrap();
    assert_eq!(upload("copy-2"), 4);
    write(&store, 5).unwrap();
    let numbers = || ledger.postgres.sql("SELECT MIN(seq), MAX(seq) FROM adjutant.log").unwrap();
    assert_eq!(numbers(), "4|5", "the log goes on from the snapshot before the newest");
    let restored = |name: &str| {
        let file = ledger.file(name);
        let mut client = ledger.client();
        let seq = client.restore(HOME, &file).unwrap().seq;
        let mut follower = Follower::open(&file, HOME).unwrap();
        follower.catch_up(&mut client).unwrap();
        assert_eq!(follower.seq(), 5);
        drop(follower);
        (seq, content(&file))
    };
    let sound = restored("b");
    assert_eq!(sound.0, 4);
    assert_eq!(sound.1, content(&ledger.file("a")));
    let damage = "UPDATE adjutant.snapshot_part SET body = set_byte(body, 200, 1) WHERE seq = 4";
    ledger.postgres.sql(damage).unwrap();
    let older = restored("c");
    assert_eq!((older.0, older.1), (3, sound.1));
    let taken = ledger.client().restore(HOME, &ledger.file("c")).unwrap_err();
    assert!(matches!(taken, StoreError::File { .. }), "a file that is there stays: {taken:?}");
}

#[test]
fn a_home_is_made_from_a_file_with_everything_in_it() {
    let ledger = Ledger::start(&[]);
    let plain = ledger.file("plain");
    let store = Store::open(&plain).unwrap();
    write(&store, 1).unwrap();
    wait(store.write(|tx| tx.audit_append(&row("task_list")))).unwrap();
    wait(store.close());
    let (mut client, scratch) = (ledger.client(), ledger.dir.path());
    let second = new_home("hm_2", "second", Some(&plain), scratch);
    client.create_home(&second, |tx| tx.home_value_put("operator", "hash")).unwrap();
    let names: Vec<_> = client.homes().unwrap().into_iter().map(|home| home.name).collect();
    assert_eq!(names, ["second", "shop"]);
    let left = "INSERT INTO adjutant.snapshot_part SELECT 'hm_3', seq, part, 'x' FROM adjutant.snapshot_part WHERE home = 'hm_1'";
    ledger.postgres.sql(left).unwrap();
    client.create_home(&new_home("hm_3", "third", None, scratch), |_| Ok(())).unwrap();
    client.restore("hm_3", &ledger.file("third")).unwrap();
    let again = new_home("hm_4", "second", None, scratch);
    let error = client.create_home(&again, |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("`second`"), "{error}");
    let mut home = taken(client.take("second", &owner("a", LONG_LEASE)).unwrap()).unwrap();
    home.client().restore("hm_2", &ledger.file("b")).unwrap();
    let carried_on = Store::open_owned(&ledger.file("b"), &[], home).unwrap();
    assert_eq!(write(&carried_on, 2).unwrap().number, 2);
    assert!(carried_on.read(|tx| tx.audit_verify()).unwrap().broken.is_none());
    assert_eq!(carried_on.read(|tx| tx.home_value("operator")).unwrap().as_deref(), Some("hash"));
    let error = ledger.client().take("shopp", &owner("a", LONG_LEASE)).unwrap_err();
    assert!(error.to_string().contains("`shopp`"), "{error}");
}

#[test]
fn operations_that_do_not_fit_into_one_entry_share_several() {
    let ledger = Ledger::start(&[]);
    let store = ledger.server("a", LONG_LEASE);
    let large = |size: usize| {
        let draft = store::AuditDraft { input: format!("\"{}\"", "x".repeat(size)), ..row("x") };
        store.write(move |tx| tx.audit_append(&draft))
    };
    let (one, other, third) =
        wait(async { tokio::join!(large(9 << 20), large(9 << 20), large(1_000)) });
    assert_eq!([one.unwrap(), other.unwrap(), third.unwrap()], [1, 2, 3]);
    let error = wait(large(17 << 20)).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error:?}");
    // It was not sent, so writing goes on.
    assert_eq!(wait(large(1)).unwrap(), 4);
    let (file, mut client) = (ledger.file("b"), ledger.client());
    client.restore(HOME, &file).unwrap();
    Follower::open(&file, HOME).unwrap().catch_up(&mut client).unwrap();
    wait(store.close());
    assert_eq!(content(&file), content(&ledger.file("a")));
}
