//! A server's membership in a home in PostgreSQL: it follows the log into a file of its own, and takes the home once
//! nobody owns it.
//!
//! Everything here happens on one thread of its own, because the ledger blocks. Invariant: the file is a prefix of the
//! log. One that is not is moved aside, never overwritten, and made anew from a snapshot.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use store::{
    Follower, GiveUp, LeaseKeeper, LedgerClient, LedgerHome, Owner, Store, StoreError, Taking,
};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use crate::core::home_address::HomeAddress;
use crate::core::home_files::OPERATOR_HASH;
use crate::core::record_file::{Record, RecordError};
use crate::core::shared_home::SharedHome;

/// Interval at which a follower reads the log.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(250);
/// Time after PostgreSQL has come back in which the owner may renew its lease before anybody else takes the home.
const OWNER_GOES_FIRST: Duration = Duration::from_secs(2);
/// Interval at which a follower looks whether a snapshot is due.
const SNAPSHOT_INTERVAL: Duration = Duration::from_secs(60);
/// Delay after an error that no retry mends by itself, such as a schema of a newer program.
const LASTING_ERROR_DELAY: Duration = Duration::from_secs(5);

/// A server that is about to become a member of a home.
#[derive(Debug, Clone)]
pub struct MemberOptions {
    /// PostgreSQL that keeps the home
    pub address: HomeAddress,
    /// Name of the home
    pub home: String,
    /// This server's own file with the state
    pub database: PathBuf,
    /// Files that must stay what they are while the server runs
    pub guarded: Vec<PathBuf>,
    /// Id of this start of the server
    pub server_id: String,
    /// Id of the machine that its run folders are on
    pub machine: String,
    /// Address under which other servers reach this one
    pub url: String,
    /// Time for which the lease holds after each renewal
    pub lease: Duration,
}

/// Membership at this moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Membership {
    /// Id of the server that owns the home, if one is known to
    pub owner: Option<String>,
    /// Address of that server
    pub owner_url: Option<String>,
    /// Number of its owner among all that the home had
    pub epoch: i64,
    /// The last commit of the log
    pub log_seq: i64,
    /// The last commit of this server's file
    pub file_seq: i64,
    /// Hash of the operator's token
    pub operator_hash: Option<String>,
    /// Why PostgreSQL cannot be reached, or the home not followed
    pub problem: Option<String>,
}

/// The home, owned by this server.
#[derive(Debug)]
pub struct OwnedRecord {
    /// The record
    pub record: Record,
    /// The lease
    pub shared: SharedHome,
    /// Number of this owner among all that the home had
    pub epoch: i64,
    keeper: LeaseKeeper,
}

impl OwnedRecord {
    /// Keeps the lease for as long as the result is kept.
    pub fn into_keeper(self) -> impl Send + Sync + std::fmt::Debug {
        self.keeper
    }
}

/// The thread that makes a server a member of a home.
#[derive(Debug)]
pub struct HomeMember {
    state: watch::Receiver<Membership>,
    owned: oneshot::Receiver<Result<OwnedRecord, RecordError>>,
    give_up: GiveUp,
}

impl HomeMember {
    /// Starts to follow the home, and to wait for it.
    pub fn start(options: MemberOptions) -> Result<Self, RecordError> {
        let (state, published) = watch::channel(Membership::default());
        let (sender, owned) = oneshot::channel();
        let give_up = GiveUp::default();
        let mut thread = MemberThread {
            options: Arc::new(options),
            state,
            give_up: give_up.clone(),
            away_until: None,
            snapshot_at: Instant::now() + SNAPSHOT_INTERVAL,
        };
        let work = move || {
            let result = thread.run();
            // Nobody may be there any more, because the process ends.
            drop(sender.send(result));
        };
        let spawned = std::thread::Builder::new().name("home-member".to_owned()).spawn(work);
        spawned.map_err(|error| {
            StoreError::Corrupt(format!("could not start the thread home-member: {error}"))
        })?;
        Ok(Self { state: published, owned, give_up })
    }

    /// Membership at this moment, and every change of it.
    pub fn state(&self) -> watch::Receiver<Membership> {
        self.state.clone()
    }

    /// Waits until this server owns the home.
    pub async fn owned(&mut self) -> Result<OwnedRecord, RecordError> {
        (&mut self.owned).await.unwrap_or_else(|_| Err(StoreError::Stopped.into()))
    }
}

impl Drop for HomeMember {
    /// Ends the thread, without waiting for an answer of PostgreSQL that may never come: a follower has nothing to lose.
    fn drop(&mut self) {
        self.give_up.give_up();
    }
}

struct MemberThread {
    options: Arc<MemberOptions>,
    state: watch::Sender<Membership>,
    give_up: GiveUp,
    /// Until when the owner may go first, after PostgreSQL was away
    away_until: Option<Instant>,
    snapshot_at: Instant,
}

/// A client and a file that follows.
struct Following {
    client: LedgerClient,
    follower: Option<Follower>,
}

impl MemberThread {
    fn run(&mut self) -> Result<OwnedRecord, RecordError> {
        let mut following: Option<Following> = None;
        loop {
            let client = match following.take() {
                Some(known) => Ok(known),
                None => self.begin(),
            };
            let turn = client.and_then(|known| self.turn(known));
            let delay = match turn {
                Ok(Turn::Owned(owned)) => return Ok(*owned),
                Ok(Turn::Follows(known)) => {
                    following = Some(*known);
                    FOLLOW_INTERVAL
                }
                Err(error) => self.failed(&error),
            };
            self.pause(delay)?;
        }
    }

    fn begin(&self) -> Result<Following, StoreError> {
        let client = self.options.address.client().map_err(|error| error.0)?;
        Ok(Following { client, follower: None })
    }

    /// Notes an error, and says how long to wait after it.
    fn failed(&mut self, error: &StoreError) -> Duration {
        let (text, home) = (error.to_string(), &self.options.home);
        let is_news = self.state.borrow().problem.as_deref() != Some(text.as_str());
        if is_news {
            tracing::warn!(home, error = text, "home not followed; retrying");
        }
        self.state.send_modify(|state| state.problem = Some(text));
        match error {
            StoreError::Away { .. } | StoreError::Busy(_) => {
                self.away_until = Some(Instant::now() + OWNER_GOES_FIRST);
                FOLLOW_INTERVAL
            }
            _ => LASTING_ERROR_DELAY,
        }
    }

    /// Waits, unless this process ends.
    fn pause(&self, delay: Duration) -> Result<(), RecordError> {
        let until = Instant::now() + delay;
        loop {
            if self.give_up.is_given_up() {
                return Err(StoreError::Stopped.into());
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(Duration::from_millis(20)));
        }
    }

    /// Reads on in the log, and takes the home if nobody owns it.
    fn turn(&mut self, mut known: Following) -> Result<Turn, StoreError> {
        let home = known.client.find_home(&self.options.home)?;
        let mut follower = match known.follower.take() {
            Some(follower) => follower,
            None => self.open(&mut known.client, &home)?,
        };
        if let Err(error) = follower.catch_up(&mut known.client) {
            drop(follower);
            if !error.is_damage() {
                return Err(error);
            }
            self.set_aside(&error)?;
            return Ok(Turn::Follows(Box::new(known)));
        }
        self.publish(&home, &follower)?;
        let is_free = home.lease_left.is_zero() || home.owner.is_none();
        // After an outage the owner, whose lease ran out as well, goes first; whoever gave the home up does not come back.
        let may_take =
            home.owner.is_none() || self.away_until.is_none_or(|at| at <= Instant::now());
        if is_free && may_take {
            return self.take(known.client, follower);
        }
        if Instant::now() >= self.snapshot_at {
            self.snapshot_at = Instant::now() + SNAPSHOT_INTERVAL;
            self.snapshot(&mut known.client, &home, &follower)?;
        }
        known.follower = Some(follower);
        Ok(Turn::Follows(Box::new(known)))
    }

    fn publish(&self, home: &LedgerHome, follower: &Follower) -> Result<(), StoreError> {
        let file_seq = follower.seq();
        let is_owned = !home.lease_left.is_zero();
        let next = Membership {
            owner: home.owner.clone().filter(|_| is_owned),
            owner_url: home.owner_url.clone().filter(|_| is_owned),
            epoch: home.epoch,
            log_seq: home.seq.max(file_seq),
            file_seq,
            operator_hash: follower.home_value(OPERATOR_HASH)?,
            problem: None,
        };
        self.state.send_if_modified(|state| {
            let is_new = *state != next;
            *state = next;
            is_new
        });
        Ok(())
    }

    /// Opens the file of this server, or restores it from the newest snapshot.
    fn open(&self, client: &mut LedgerClient, home: &LedgerHome) -> Result<Follower, StoreError> {
        let file = &self.options.database;
        if file.exists() {
            match Follower::open(file, &home.id) {
                Ok(follower) => return Ok(follower),
                Err(error) if error.is_damage() => self.set_aside(&error)?,
                Err(error) => return Err(error),
            }
        }
        if let Some(folder) = file.parent() {
            let made = host::files::make_dir(folder, host::files::Mode::Private);
            made.map_err(|error| file_error(folder, &error))?;
        }
        let restored = client.restore(&home.id, file)?;
        tracing::info!(home = home.name, seq = restored.seq, "restored the home from a snapshot");
        Follower::open(file, &home.id)
    }

    /// Moves a file that is no prefix of the log out of the way.
    fn set_aside(&self, why: &StoreError) -> Result<(), StoreError> {
        let file = &self.options.database;
        let aside = (1..).map(|number| with_suffix(file, &format!(".aside-{number}")));
        let Some(aside) = aside.take(10_000).find(|path| !path.exists()) else {
            return Err(StoreError::Corrupt("too many files were set aside".to_owned()));
        };
        tracing::error!(file = %file.display(), aside = %aside.display(), %why,
            "file differs from the log; set aside, and restored from a snapshot");
        for suffix in ["-wal", "-shm", ""] {
            let (from, to) = (with_suffix(file, suffix), with_suffix(&aside, suffix));
            if from.exists() {
                std::fs::rename(&from, &to).map_err(|error| file_error(&from, &error))?;
            }
        }
        Ok(())
    }

    /// Takes the home, and opens its record.
    fn take(&mut self, client: LedgerClient, follower: Follower) -> Result<Turn, StoreError> {
        let options = Arc::clone(&self.options);
        let owner =
            Owner { id: options.server_id.clone(), url: options.url.clone(), lease: options.lease };
        let mut home = match client.take(&options.home, &owner)? {
            Taking::Taken(home) => home,
            Taking::Occupied(client, _) => {
                let follower = Some(follower);
                return Ok(Turn::Follows(Box::new(Following { client: *client, follower })));
            }
        };
        home.wait_with(self.give_up.clone());
        let (epoch, lease) = (home.epoch(), home.lease());
        // Kept from now on: reading the rest of the log may take longer than the lease.
        let keeping = options.address.client().map_err(|error| error.0)?;
        let keeper = LeaseKeeper::start(keeping, &home)?;
        drop(follower);
        let guarded: Vec<&Path> = options.guarded.iter().map(PathBuf::as_path).collect();
        let store = match Store::open_owned(&options.database, &guarded, *home) {
            Ok(store) => store,
            Err(error) if error.is_damage() => {
                // Given back: the lease runs out by itself.
                self.set_aside(&error)?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        tracing::info!(home = options.home, epoch, "this server owns the home");
        let shared = SharedHome::new(options.machine.clone(), lease, &keeper);
        let record = Record::from(store);
        Ok(Turn::Owned(Box::new(OwnedRecord { record, shared, epoch, keeper })))
    }

    /// Uploads a snapshot if one is due.
    fn snapshot(
        &self,
        client: &mut LedgerClient,
        home: &LedgerHome,
        follower: &Follower,
    ) -> Result<(), StoreError> {
        if !client.log_tail(&home.id)?.needs_snapshot() {
            return Ok(());
        }
        upload(client, &self.options.database, |copy| follower.copy_to(copy))
    }
}

/// Result of a turn.
enum Turn {
    Follows(Box<Following>),
    Owned(Box<OwnedRecord>),
}

/// Makes a copy beside a file, uploads it as a snapshot, and removes it.
fn upload(
    client: &mut LedgerClient,
    database: &Path,
    copy_to: impl FnOnce(&Path) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let copy = with_suffix(database, ".snapshot");
    // What an earlier try left.
    drop(std::fs::remove_file(&copy));
    let uploaded = copy_to(&copy).and_then(|()| client.upload(&copy));
    // It may not have been made.
    drop(std::fs::remove_file(&copy));
    let snapshot = uploaded?;
    tracing::info!(seq = snapshot.seq, bytes = snapshot.bytes, "uploaded a snapshot of the home");
    Ok(())
}

/// Uploads a snapshot of an owned home if one is due, which it is only where nobody follows. Blocks.
pub fn snapshot_owned(
    address: &HomeAddress,
    home: &str,
    record: &Record,
    database: &Path,
) -> Result<(), RecordError> {
    let mut client = address.client()?;
    let home = client.find_home(home)?;
    // A follower has half an hour to do it.
    let tail = client.log_tail(&home.id)?;
    let is_late = tail.snapshot_age > Duration::from_secs(25 * 60 * 60);
    if !tail.needs_snapshot() || (tail.bytes < 300 << 20 && !is_late) {
        return Ok(());
    }
    Ok(upload(&mut client, database, |copy| record.store().ledger_copy(copy))?)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn file_error(path: &Path, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::File { path: path.display().to_string(), why: error.to_string() }
}
