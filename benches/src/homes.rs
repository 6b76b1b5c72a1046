//! Cost of a home in PostgreSQL: commits of many homes at once, and one home of the real program, at rest and at
//! work. `simulate/measured.rs` keeps these figures.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use store::{LedgerAddress, LedgerClient, NewHome, Owner, Store, TakeOutcome};
use testkit::postgres::Postgres;
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep};

use crate::Scale;
use crate::cells;
use crate::ledger::{LEASE, letters_of_homes};
use crate::memory;
use crate::report::say;
use crate::subject::ServerUnderTest;

/// Homes that commit at once, one after the other.
const HOMES: [usize; 3] = [1, 16, 64];
/// Calls of the real program.
const CALLS: u64 = 2_000;

/// Commits of many homes in one PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommitRate {
    pub(crate) homes: usize,
    pub(crate) per_second: f64,
    /// Bytes of PostgreSQL's own log a commit
    pub(crate) wal_bytes: f64,
}

/// A home that the real program serves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HomeCost {
    /// Bytes of the log a call, half of the calls reads
    pub(crate) log_bytes: f64,
    /// The same as PostgreSQL stores them
    pub(crate) stored_bytes: f64,
    /// Calls a commit, of 16 clients
    pub(crate) calls_per_commit: f64,
    /// Processor time of the server a call, in milliseconds
    pub(crate) processor: f64,
    /// Statements a second that renew the lease, at rest
    pub(crate) renewals: f64,
    /// Commits a second at rest
    pub(crate) idle_commits: f64,
    /// Connections of its owner
    pub(crate) connections: f64,
    /// Memory of its process, in megabytes
    pub(crate) memory: f64,
    /// Use of a core at rest, in hundredths
    pub(crate) load: f64,
}

/// Commits of many homes at once. Blocks, outside of a runtime's threads.
pub(crate) fn commits(runtime: &Runtime, time: Duration) -> Result<Vec<CommitRate>> {
    let postgres = Postgres::start(&["shared_buffers = '128MB'", "max_connections = 200"])?;
    let mut client = LedgerClient::new(LedgerAddress::parse(&postgres.address())?)?;
    client.make_tables()?;
    let folder = tempfile::tempdir()?;
    let mut stores = Vec::new();
    let mut rates = Vec::new();
    for count in HOMES {
        while stores.len() < count {
            stores.push(open(&postgres, &mut client, folder.path(), stores.len())?);
        }
        say(&format!("commits of {count} homes in one PostgreSQL"));
        let wal = || -> Result<f64> { number(&postgres, "SELECT pg_current_wal_lsn() - '0/0'") };
        let before = wal()?;
        let per_second = letters_of_homes(runtime, &stores, time)?;
        let wal_bytes = (wal()? - before) / (per_second * time.as_secs_f64());
        rates.push(CommitRate { homes: count, per_second, wal_bytes });
    }
    for store in &stores {
        runtime.block_on(store.close());
    }
    Ok(rates)
}

fn open(
    postgres: &Postgres,
    client: &mut LedgerClient,
    folder: &Path,
    number: usize,
) -> Result<Store> {
    let (id, name) = (format!("hm_{number:016x}"), format!("home-{number}"));
    let file = folder.join(format!("{name}.db"));
    let new = NewHome { id: &id, name: &name, from: None, scratch: folder };
    client.create_home(&new, |_| Ok(()))?;
    client.restore(&id, &file)?;
    let own = LedgerClient::new(LedgerAddress::parse(&postgres.address())?)?;
    let owner = Owner { id: "bench".into(), url: "http://localhost".into(), lease: LEASE };
    let TakeOutcome::Taken(home) = own.take(&name, &owner)? else {
        bail!("somebody owns the home")
    };
    Ok(Store::open_owned(&file, &[], *home)?)
}

/// A home of the real program.
pub(crate) async fn of_program(program: &Path, scale: &Scale) -> Result<HomeCost> {
    let postgres =
        tokio::task::spawn_blocking(|| Postgres::start(&["max_connections = 50"])).await??;
    say("starting the program on a home in PostgreSQL");
    let subject = ServerUnderTest::shared(program, &postgres.address()).await?;
    let log = "SELECT COALESCE(SUM(octet_length(body)), 0) FROM adjutant.log";
    let stored = "SELECT COALESCE(SUM(pg_column_size(body)), 0) FROM adjutant.log";
    let commits = "SELECT seq FROM adjutant.home";
    // Every commit and every renewal changes the row of the home once.
    let updates = "SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'home'";
    let connections = "SELECT COUNT(*) FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

    let before = [log, stored, commits].map(|sql| number(&postgres, sql));
    let used = memory::seconds(subject.pid())?;
    cells::calls(&subject, CALLS).await?;
    let used = memory::seconds(subject.pid())? - used;
    sleep(Duration::from_secs(1)).await;
    let after = [log, stored, commits].map(|sql| number(&postgres, sql));
    let [log_bytes, stored_bytes, calls_commits] = difference(before, after)?;

    say("the same home at rest");
    // PostgreSQL reports its counts a moment after the commit.
    sleep(Duration::from_secs(2)).await;
    let (began, before) = (Instant::now(), [updates, commits].map(|sql| number(&postgres, sql)));
    let load = memory::load(subject.pid(), scale.rest.max(Duration::from_secs(5))).await?;
    sleep(Duration::from_secs(2)).await;
    let seconds = began.elapsed().as_secs_f64();
    let after = [updates, commits].map(|sql| number(&postgres, sql));
    let [updated, committed] = difference(before, after)?;
    let calls = f64::from(u32::try_from(CALLS).unwrap_or(u32::MAX));
    let cost = HomeCost {
        log_bytes: log_bytes / calls,
        stored_bytes: stored_bytes / calls,
        processor: used / calls * 1e3,
        calls_per_commit: calls / calls_commits.max(1.0),
        renewals: (updated - committed) / seconds,
        idle_commits: committed / seconds,
        connections: number(&postgres, connections)?,
        memory: memory::resident(subject.pid())?,
        load,
    };
    subject.stop().await?;
    Ok(cost)
}

fn difference<const N: usize>(
    before: [Result<f64>; N],
    after: [Result<f64>; N],
) -> Result<[f64; N]> {
    let mut all = [0.0; N];
    for (place, (before, after)) in all.iter_mut().zip(before.into_iter().zip(after)) {
        *place = after? - before?;
    }
    Ok(all)
}

fn number(postgres: &Postgres, sql: &str) -> Result<f64> {
    postgres.sql(sql)?.parse().context("PostgreSQL gave no number")
}
