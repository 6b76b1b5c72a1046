//! A home that this process owns: appending to its log, renewing its lease, handing it over.
//!
//! Invariant: an append is held only if it is certain that it is in the log, also on the standby that PostgreSQL
//! waits for. Whatever leaves a doubt is looked up before anybody is answered. An owner whose epoch is over appends
//! nothing: the one statement that appends is also the fence.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use tokio_postgres::types::Type;

use crate::core::error::StoreError;
use crate::core::ledger::client::{LedgerClient, LedgerHome};
use crate::core::ledger::commit_times::CommitTimes;
use crate::core::ledger::lease::{Claim, LeaseClock, boot_millis};
use crate::core::ledger::link::{Param, get};

/// An entry may have no more bytes than this.
const MAX_ENTRY_BYTES: usize = 16 << 20;
/// An entry with more bytes than this takes up no further operation.
pub(crate) const FULL_ENTRY_BYTES: usize = MAX_ENTRY_BYTES / 2;
/// Delay before a statement whose outcome is in doubt is looked up again.
const RETRY_DELAY: Duration = Duration::from_millis(100);

const APPEND_ENTRY: &str = "WITH fence AS (
        UPDATE adjutant.home
           SET seq = seq + 1, audit = $4, head = $5, event = $6, queued = $10, running = $11,
               expires_at = clock_timestamp() + $7 * INTERVAL '1 millisecond'
         WHERE id = $1 AND epoch = $2 AND seq = $3
     RETURNING seq)
    INSERT INTO adjutant.log (home, seq, epoch, kind, body) SELECT $1, seq, $2, $8, $9 FROM fence
    RETURNING seq";

const TAKE_HOME: &str = "UPDATE adjutant.home
       SET epoch = epoch + 1, owner = $2, owner_url = $3,
           expires_at = clock_timestamp() + $4 * INTERVAL '1 millisecond'
     WHERE id = $1 AND (owner IS NULL OR expires_at < clock_timestamp())
 RETURNING epoch, seq";

const FIND_ENTRY: &str = "SELECT epoch, seq,
        (SELECT epoch FROM adjutant.log WHERE home = home.id AND seq = $2)
     FROM adjutant.home WHERE id = $1";

/// Content of a log entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// The writes of a commit
    Writes,
    /// A migration of the state to the next schema
    Migration,
}

impl EntryKind {
    pub(crate) const fn code(self) -> i16 {
        match self {
            Self::Writes => 0,
            Self::Migration => 1,
        }
    }

    pub(crate) fn of(code: i16) -> Option<Self> {
        [Self::Writes, Self::Migration].into_iter().find(|kind| kind.code() == code)
    }
}

/// An entry about to be appended, and where the audit chain and the events stand after it.
#[derive(Debug, Clone, Copy)]
pub struct NewEntry<'e> {
    /// Content
    pub kind: EntryKind,
    /// Bytes
    pub body: &'e [u8],
    /// Number of the last audit row
    pub audit: i64,
    /// Hash of the last audit row
    pub head: &'e str,
    /// Number of the last event
    pub event: i64,
    /// Agents that wait for a place and those that have one after it
    pub agents: AgentCounts,
}

/// Agents of a home that wait for a place, and those that have one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentCounts {
    /// In the queue
    pub queued: i32,
    /// Starting or running
    pub running: i32,
}

/// A server that wants to own homes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Id of this start of the server; no two starts share one
    pub id: String,
    /// Address under which other servers reach it
    pub url: String,
    /// Time for which the lease holds after each renewal
    pub lease: Duration,
}

/// Result of trying to take a home.
#[derive(Debug)]
pub enum TakeOutcome {
    /// It is this process's
    Taken(Box<OwnedHome>),
    /// Another server owns it; the client is given back
    Occupied(Box<LedgerClient>, Box<LedgerHome>),
}

/// Handle that ends the waiting for a PostgreSQL that is away, from another thread.
#[derive(Debug, Clone, Default)]
pub struct GiveUp(Arc<AtomicBool>);

impl GiveUp {
    /// Ends it.
    pub fn give_up(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// True once it was ended.
    pub fn is_given_up(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Refuses to wait any longer once it was ended.
    pub(crate) fn check(&self, why: &str) -> Result<(), StoreError> {
        if self.is_given_up() {
            return Err(StoreError::Away { why: why.to_owned() });
        }
        Ok(())
    }
}

/// Steps of a commit of a home, where tests let the process die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitStep {
    /// The entry is about to be sent
    Before,
    /// It was sent, and nobody has looked for an answer
    Sent,
    /// It is in the log, and not in this process's file
    Held,
    /// It is in the file too, and nobody was answered
    Committed,
}

/// Called at each step of each commit.
#[derive(Clone)]
pub struct CommitObserver(Arc<dyn Fn(CommitStep) + Send + Sync>);

impl CommitObserver {
    /// An observer that calls this.
    pub fn new(observe: impl Fn(CommitStep) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observe))
    }
}

impl std::fmt::Debug for CommitObserver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CommitObserver(..)")
    }
}

/// A home that this process owns, until another one takes it.
#[derive(Debug)]
pub struct OwnedHome {
    client: LedgerClient,
    claim: Claim,
    seq: i64,
    give_up: GiveUp,
    times: CommitTimes,
    observer: Option<CommitObserver>,
}

/// Fate of an append whose answer did not come, or came with a notice.
enum AppendOutcome {
    Held,
    NotThere,
}

impl LedgerClient {
    /// Takes a home that nobody owns, or whose owner has let its lease run out.
    pub fn take(mut self, name: &str, owner: &Owner) -> Result<TakeOutcome, StoreError> {
        let home = self.find_home(name)?;
        let mut claim = Claim {
            home: home.id,
            epoch: home.epoch,
            lease: owner.lease,
            clock: LeaseClock::default(),
        };
        let (sent_at, lease) = (boot_millis(), claim.lease_millis());
        let taken = self.ask(
            TAKE_HOME,
            &[
                (&claim.home, Type::TEXT),
                (&owner.id, Type::TEXT),
                (&owner.url, Type::TEXT),
                (&lease, Type::FLOAT8),
            ],
        )?;
        if let Some(notice) = taken.notice {
            // The next try finds out: the lease is this process's own, or runs out.
            self.disconnect();
            return Err(StoreError::Away { why: notice });
        }
        let Some(row) = taken.rows.first() else { return self.occupied(name) };
        let seq = get(row, 1)?;
        claim.epoch = get(row, 0)?;
        claim.clock.renewed(sent_at, owner.lease);
        let (give_up, times) = (GiveUp::default(), CommitTimes::default());
        let observer = None;
        let owned = OwnedHome { client: self, claim, seq, give_up, times, observer };
        Ok(TakeOutcome::Taken(Box::new(owned)))
    }

    fn occupied(mut self, name: &str) -> Result<TakeOutcome, StoreError> {
        match self.home(name)? {
            Some(home) => Ok(TakeOutcome::Occupied(Box::new(self), Box::new(home))),
            None => Err(StoreError::Unfit { why: format!("it has no home `{name}` any more") }),
        }
    }
}

impl OwnedHome {
    /// Number of this owner among all that the home had.
    pub const fn epoch(&self) -> i64 {
        self.claim.epoch
    }

    /// Number of the last commit.
    pub const fn seq(&self) -> i64 {
        self.seq
    }

    /// Id of the home.
    pub fn id(&self) -> &str {
        &self.claim.home
    }

    pub(crate) const fn claim(&self) -> &Claim {
        &self.claim
    }

    /// The deadline of the lease.
    pub fn lease(&self) -> LeaseClock {
        self.claim.clock.clone()
    }

    /// Ends the waiting of [`OwnedHome::append`] when this process ends.
    pub fn give_up(&self) -> GiveUp {
        self.give_up.clone()
    }

    /// Lets this handle end the waiting of [`OwnedHome::append`].
    pub fn wait_with(&mut self, give_up: GiveUp) {
        self.give_up = give_up;
    }

    /// Has this called at each step of each commit.
    pub fn observe(&mut self, observer: CommitObserver) {
        self.observer = Some(observer);
    }

    pub(crate) fn at(&self, step: CommitStep) {
        if let Some(observer) = &self.observer {
            (observer.0)(step);
        }
    }

    /// Why what is answered may be lost with this PostgreSQL, where that was allowed.
    pub fn may_lose(&self) -> Option<&str> {
        self.client.may_lose()
    }

    /// The connection, for reading the log.
    pub const fn client(&mut self) -> &mut LedgerClient {
        &mut self.client
    }

    /// Appends an entry and renews the lease. Returns once the entry is certainly in the log.
    ///
    /// While PostgreSQL is away it waits. [`StoreError::Fenced`] means that another server owns the home, and that
    /// nobody may be answered: the entry may be in the log or not.
    pub fn append(&mut self, entry: &NewEntry<'_>) -> Result<i64, StoreError> {
        if entry.body.len() > MAX_ENTRY_BYTES {
            return Err(StoreError::TooLarge { bytes: entry.body.len(), limit: MAX_ENTRY_BYTES });
        }
        let (seq, begun) = (self.seq + 1, Instant::now());
        let mut is_first = true;
        self.at(CommitStep::Before);
        loop {
            let sent = self.send(entry);
            let why = match sent {
                Ok(None) => break,
                Ok(Some(why)) => why,
                Err(error) => error.to_string(),
            };
            if is_first {
                tracing::warn!(seq, why, "append to the ledger is in doubt; looking it up");
                is_first = false;
            }
            match self.resolve(seq)? {
                AppendOutcome::Held => break,
                AppendOutcome::NotThere => self.wait(&why)?,
            }
        }
        self.seq = seq;
        self.times.note(begun.elapsed());
        self.at(CommitStep::Held);
        Ok(seq)
    }

    /// Durations of the appends of this owner, also of those to come.
    pub fn commit_times(&self) -> CommitTimes {
        self.times.clone()
    }

    /// Sends the entry; `None` if it held for certain, else why that is in doubt.
    fn send(&mut self, entry: &NewEntry<'_>) -> Result<Option<String>, StoreError> {
        let (sent_at, lease) = (boot_millis(), self.claim.lease_millis());
        let observer = self.observer.clone();
        let on_sent = move || {
            if let Some(observer) = &observer {
                (observer.0)(CommitStep::Sent);
            }
        };
        let reply = self.client.ask_and_tell(
            APPEND_ENTRY,
            &[
                (&self.claim.home, Type::TEXT),
                (&self.claim.epoch, Type::INT8),
                (&self.seq, Type::INT8),
                (&entry.audit, Type::INT8),
                (&entry.head, Type::TEXT),
                (&entry.event, Type::INT8),
                (&lease, Type::FLOAT8),
                (&entry.kind.code(), Type::INT2),
                (&entry.body, Type::BYTEA),
                (&entry.agents.queued, Type::INT4),
                (&entry.agents.running, Type::INT4),
            ],
            on_sent,
        )?;
        if let Some(notice) = reply.notice {
            return Ok(Some(notice));
        }
        if reply.rows.is_empty() {
            // Another owner, or an earlier try of this one that was not over when it was looked for.
            return Ok(Some("the fence refused it".to_owned()));
        }
        self.claim.clock.renewed(sent_at, self.claim.lease);
        Ok(None)
    }

    /// Looks whether an entry of this owner is in the log, for as long as that takes.
    fn resolve(&mut self, seq: i64) -> Result<AppendOutcome, StoreError> {
        loop {
            // The old connection may lead to a server that is no longer the one that counts.
            self.client.disconnect();
            match self.look(seq) {
                Ok(fate) => return Ok(fate),
                Err(StoreError::Away { why } | StoreError::Unfit { why }) => self.wait(&why)?,
                Err(error) => return Err(error),
            }
        }
    }

    fn look(&mut self, seq: i64) -> Result<AppendOutcome, StoreError> {
        let reply =
            self.client.ask(FIND_ENTRY, &[(&self.claim.home, Type::TEXT), (&seq, Type::INT8)])?;
        let Some(row) = reply.rows.first() else { return Err(self.claim.fenced()) };
        let (epoch, last, found): (i64, i64, Option<i64>) =
            (get(row, 0)?, get(row, 1)?, get(row, 2)?);
        if epoch != self.claim.epoch {
            return Err(self.claim.fenced());
        }
        if last < self.seq {
            let why = format!(
                "PostgreSQL has lost commits that were answered: its log ends at {last}, this server is at {}",
                self.seq
            );
            return Err(StoreError::Diverged { seq, why });
        }
        match found {
            None if last == self.seq => Ok(AppendOutcome::NotThere),
            // Only this owner counts on, so an entry that is cut off already was its own.
            None => self.confirm(),
            // It can be seen, and its wait for the standby may have been cancelled all the same. A later commit that
            // waits to its end is on the standby, and so is everything before it.
            Some(epoch) if epoch == self.claim.epoch => self.confirm(),
            Some(other) => Err(StoreError::Corrupt(format!(
                "entry {seq} of the log is of epoch {other}, and the home of epoch {epoch}"
            ))),
        }
    }

    fn confirm(&mut self) -> Result<AppendOutcome, StoreError> {
        self.renew()?;
        Ok(AppendOutcome::Held)
    }

    fn wait(&self, why: &str) -> Result<(), StoreError> {
        self.give_up.check(why)?;
        self.client.pause(RETRY_DELAY);
        Ok(())
    }

    /// Renews the lease.
    pub fn renew(&mut self) -> Result<(), StoreError> {
        self.claim.renew(&mut self.client)
    }

    /// Hands the home over: another server may take it at once.
    pub fn release(mut self) -> Result<(), StoreError> {
        let release = "UPDATE adjutant.home SET owner = NULL, owner_url = NULL,
                expires_at = clock_timestamp()
             WHERE id = $1 AND epoch = $2 RETURNING seq";
        let params: [Param<'_>; 2] =
            [(&self.claim.home, Type::TEXT), (&self.claim.epoch, Type::INT8)];
        let reply = self.client.ask(release, &params);
        // Anyone who still asks for the deadline must not begin anything more.
        self.claim.clock.lose();
        if reply?.rows.is_empty() {
            return Err(self.claim.fenced());
        }
        self.claim.clock.hand_over();
        Ok(())
    }
}
