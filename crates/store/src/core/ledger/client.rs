//! A connection to the ledger with what survives its loss, and the tables in it.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::Type;

use crate::core::error::StoreError;
use crate::core::ledger::address::LedgerAddress;
use crate::core::ledger::link::{Link, LinkError, Param, Reply, get};
use crate::core::ledger::owned::AgentCounts;

/// Version of the tables that this program makes and knows.
const TABLES_VERSION: i32 = 1;
/// Two programs that make the tables at once do so one after the other: any number that is the same for both.
pub(crate) const TABLES_LOCK: i64 = 0x61_646a_7574_616e;

/// The ledger of many homes in one PostgreSQL. It belongs to one thread, which waits for each answer.
#[derive(Debug)]
pub struct LedgerClient {
    runtime: Runtime,
    address: LedgerAddress,
    link: Option<Box<Link>>,
    /// Why what is answered may be lost, where that was allowed
    may_lose: Option<String>,
}

/// A home as the ledger has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerHome {
    /// Id
    pub id: String,
    /// Name
    pub name: String,
    /// Number of its present owner among all that it had
    pub epoch: i64,
    /// Server that owns it
    pub owner: Option<String>,
    /// Address of that server
    pub owner_url: Option<String>,
    /// Time for which the lease holds; zero if it has run out
    pub lease_left: Duration,
    /// Number of its last commit
    pub seq: i64,
    /// Agents that wait for a place, and those that have one
    pub agents: AgentCounts,
}

const SELECT_HOME: &str = "SELECT id, name, epoch, owner, owner_url, seq,
    GREATEST(0, EXTRACT(EPOCH FROM expires_at - clock_timestamp()) * 1000)::BIGINT, queued, running
    FROM adjutant.home";

impl LedgerClient {
    /// A client that connects when it first has to.
    pub fn new(address: LedgerAddress) -> Result<Self, StoreError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| StoreError::Away { why: error.to_string() })?;
        Ok(Self { runtime, address, link: None, may_lose: None })
    }

    /// Runs one statement. An error leaves open what it did: the connection is given up, and the caller looks.
    pub(crate) fn ask(&mut self, sql: &str, params: &[Param<'_>]) -> Result<Reply, StoreError> {
        self.with_link(async |link| link.ask(sql, params, || ()).await)
    }

    /// The same, and says when the statement has left and nothing has come back.
    pub(crate) fn ask_and_tell(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        on_sent: impl FnOnce(),
    ) -> Result<Reply, StoreError> {
        self.with_link(async |link| link.ask(sql, params, on_sent).await)
    }

    /// Why what is answered may be lost with this PostgreSQL, where that was allowed.
    pub fn may_lose(&self) -> Option<&str> {
        self.may_lose.as_deref()
    }

    fn with_link<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Link) -> Result<T, LinkError>,
    ) -> Result<T, StoreError> {
        let Self { runtime, address, link, may_lose } = self;
        runtime.block_on(async {
            let mut open = if let Some(open) = link.take() {
                open
            } else {
                let opened = Link::open(address).await?;
                *may_lose = opened.may_lose().map(str::to_owned);
                Box::new(opened)
            };
            match work(&mut open).await {
                Ok(done) => {
                    *link = Some(open);
                    Ok(done)
                }
                Err(error) => Err(error.into_store(address)),
            }
        })
    }

    /// Runs several statements in one transaction.
    pub(crate) fn run_script(&mut self, script: &str) -> Result<(), StoreError> {
        self.with_link(async |link| link.run_script(script).await)
    }

    /// Gives the connection up, so that the next statement goes over a new one, perhaps to another host.
    pub(crate) fn disconnect(&mut self) {
        self.link = None;
    }

    /// Waits without using the connection.
    pub(crate) fn pause(&self, delay: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(delay).await });
    }

    /// Makes the tables where there are none, and refuses those of a newer program.
    pub fn make_tables(&mut self) -> Result<(), StoreError> {
        let there = "SELECT to_regclass('adjutant.meta') IS NOT NULL";
        let reply = self.ask(there, &[])?;
        if !reply.rows.first().is_some_and(|row| get(row, 0).unwrap_or(false)) {
            let script = format!(
                "BEGIN; SELECT pg_advisory_xact_lock({TABLES_LOCK}); {tables}
                 INSERT INTO adjutant.meta (version)
                    SELECT {TABLES_VERSION} WHERE NOT EXISTS (SELECT 1 FROM adjutant.meta); COMMIT;",
                tables = include_str!("tables.sql")
            );
            self.with_link(async |link| link.run_script(&script).await)?;
        }
        self.expect_tables()
    }

    /// Refuses a database without tables for homes, and tables of another version than this program's.
    pub fn expect_tables(&mut self) -> Result<(), StoreError> {
        let there = "SELECT to_regclass('adjutant.meta') IS NOT NULL";
        let reply = self.ask(there, &[])?;
        if !reply.rows.first().is_some_and(|row| get(row, 0).unwrap_or(false)) {
            let why = "it has no homes yet; `adjutant home create` makes one".to_owned();
            return Err(StoreError::Unfit { why });
        }
        let reply = self.ask("SELECT version FROM adjutant.meta", &[])?;
        let found: i32 = match reply.rows.first() {
            Some(row) => get(row, 0)?,
            None => 0,
        };
        if found == TABLES_VERSION {
            return Ok(());
        }
        let older =
            if found > TABLES_VERSION { "use a newer Adjutant" } else { "use an older one" };
        Err(StoreError::Unfit {
            why: format!(
                "its tables have version {found}, this Adjutant knows version {TABLES_VERSION}; {older}"
            ),
        })
    }

    /// The home of that name.
    pub fn home(&mut self, name: &str) -> Result<Option<LedgerHome>, StoreError> {
        let reply = self.ask(&format!("{SELECT_HOME} WHERE name = $1"), &[(&name, Type::TEXT)])?;
        reply.rows.first().map(read_home).transpose()
    }

    /// All homes by name.
    pub fn homes(&mut self) -> Result<Vec<LedgerHome>, StoreError> {
        let reply = self.ask(&format!("{SELECT_HOME} ORDER BY name"), &[])?;
        reply.rows.iter().map(read_home).collect()
    }
}

fn read_home(row: &tokio_postgres::Row) -> Result<LedgerHome, StoreError> {
    let left: i64 = get(row, 6)?;
    Ok(LedgerHome {
        id: get(row, 0)?,
        name: get(row, 1)?,
        epoch: get(row, 2)?,
        owner: get(row, 3)?,
        owner_url: get(row, 4)?,
        seq: get(row, 5)?,
        lease_left: Duration::from_millis(left.unsigned_abs()),
        agents: AgentCounts { queued: get(row, 7)?, running: get(row, 8)? },
    })
}
