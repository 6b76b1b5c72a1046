//! A server's membership in a home in PostgreSQL: it follows the log into a file of its own, and takes the home once
//! nobody owns it.
//!
//! Everything here happens on one thread of its own, because the ledger blocks. Invariant: the file is a prefix of the
//! log. One that is not is moved aside, never overwritten, and made anew from a snapshot.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::{
    Follower, FollowerNote, GiveUp, LeaseKeeper, LedgerClient, LedgerHome, Owner, Store,
    StoreError, TakeOutcome,
};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout};

use crate::core::home_address::HomeAddress;
use crate::core::home_files::OPERATOR_HASH;
use crate::core::point::Point;
use crate::core::record_file::{Record, RecordError};
use crate::core::shared_home::{CommitDurations, CrashSwitch, SharedHome};

/// Time after PostgreSQL has come back in which the owner may renew its lease before another server takes the home.
const OWNER_GOES_FIRST: Duration = Duration::from_secs(2);
/// Interval at which a follower looks whether a snapshot is due.
const SNAPSHOT_INTERVAL: Duration = Duration::from_secs(60);
/// Interval at which a follower notes in PostgreSQL how far it is.
const NOTE_INTERVAL: Duration = Duration::from_secs(3);
/// Interval at which a program that is too old to follow looks who owns the home.
const OWNER_INTERVAL: Duration = Duration::from_secs(1);
/// Delay after an error that no retry mends by itself.
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
    /// Version of the program
    pub version: String,
    /// Time for which the lease holds after each renewal
    pub lease: Duration,
    /// Interval at which it reads the log, and looks whether the home can be taken, while it follows
    pub follow_interval: Duration,
    /// Step of a commit at which the process is to die, for tests
    pub crash_at: Option<Point>,
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
    /// Durations of its commits in PostgreSQL
    pub commits: CommitDurations,
    /// Why what is answered may be lost with this PostgreSQL, where that was allowed
    pub may_lose: Option<String>,
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
    followed: FollowClock,
    is_taking: Arc<AtomicBool>,
}

/// The last moment at which a server had every commit of the log. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FollowClock(watch::Receiver<Instant>);

impl FollowClock {
    /// Time since then: what is read from this server's file may be so old.
    pub fn behind(&self) -> Duration {
        self.0.borrow().elapsed()
    }
}

impl HomeMember {
    /// Starts to follow the home, and to wait for it.
    pub fn start(options: MemberOptions) -> Result<Self, RecordError> {
        let (state, published) = watch::channel(Membership::default());
        let (sender, owned) = oneshot::channel();
        let give_up = GiveUp::default();
        let (now, followed) = watch::channel(Instant::now());
        let is_taking = Arc::<AtomicBool>::default();
        let mut thread = MemberThread {
            options: Arc::new(options),
            state,
            now,
            give_up: give_up.clone(),
            is_taking: Arc::clone(&is_taking),
            is_restored: false,
            away_until: None,
            snapshot_at: Instant::now() + SNAPSHOT_INTERVAL,
            note: Notes::Due(Instant::now()),
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
        let followed = FollowClock(followed);
        Ok(Self { state: published, owned, give_up, followed, is_taking })
    }

    /// Membership at this moment, and every change of it.
    pub fn state(&self) -> watch::Receiver<Membership> {
        self.state.clone()
    }

    /// Time since this server had every commit.
    pub fn followed(&self) -> FollowClock {
        self.followed.clone()
    }

    /// Waits until this server owns the home.
    pub async fn owned(&mut self) -> Result<OwnedRecord, RecordError> {
        (&mut self.owned).await.unwrap_or_else(|_| Err(StoreError::Stopped.into()))
    }

    /// Stops waiting for the home. One that is being taken at this moment is handed over again, if that is possible
    /// within the limit: nobody else could take it before the lease has run out.
    pub async fn leave(mut self, limit: Duration) {
        self.give_up.give_up();
        if !self.is_taking.load(Ordering::SeqCst) {
            return;
        }
        let hand_over = async {
            if let Ok(owned) = self.owned().await {
                owned.record.close().await;
            }
        };
        if timeout(limit, hand_over).await.is_err() {
            tracing::warn!(
                "the home was being taken; another server takes it once the lease has run out"
            );
        }
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
    /// When the file had every commit
    now: watch::Sender<Instant>,
    give_up: GiveUp,
    /// True from before the home is asked for until it is known that another server has it
    is_taking: Arc<AtomicBool>,
    /// True for a file that was made from a snapshot and has not followed the log since
    is_restored: bool,
    /// Until when the owner may go first, after PostgreSQL was away
    away_until: Option<Instant>,
    snapshot_at: Instant,
    note: Notes,
}

/// Notes of this follower in PostgreSQL, for people.
#[derive(Debug, Clone, Copy)]
enum Notes {
    /// The next one is due then
    Due(Instant),
    /// The table was looked for; the next note is due then
    Ready(Instant),
    /// They cannot be made; the home is followed all the same
    Refused,
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
                    self.options.follow_interval
                }
                Err(error) => self.failed(&error),
            };
            self.pause(delay)?;
        }
    }

    fn begin(&self) -> Result<Following, StoreError> {
        let mut client = self.options.address.client().map_err(|error| error.0)?;
        client.expect_tables()?;
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
                self.options.follow_interval
            }
            // Meanwhile requests are forwarded, and the owner may change.
            StoreError::Newer { .. } | StoreError::NewerLog { .. } => OWNER_INTERVAL,
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
        self.is_taking.store(false, Ordering::SeqCst);
        let home = known.client.find_home(&self.options.home)?;
        let mut follower = match known.follower.take() {
            Some(follower) => follower,
            None => self.open(&mut known.client, &home)?,
        };
        if let Err(error) = follower.catch_up(&mut known.client) {
            // A program that cannot follow still knows the owner.
            let problem = self.state.borrow().problem.clone();
            drop(self.publish(&home, &follower, problem));
            drop(follower);
            if !error.is_damage() {
                return Err(error);
            }
            self.put_away(&error)?;
            if self.is_restored {
                // Neither can the log be followed from the snapshot.
                return Err(error);
            }
            return Ok(Turn::Follows(Box::new(known)));
        }
        self.publish(&home, &follower, None)?;
        self.note_progress(&mut known.client, &home, &follower)?;
        let is_free = home.lease_left.is_zero() || home.owner.is_none();
        // After an outage the owner, whose lease ran out as well, goes first; one that gave the home up does not come back.
        let may_take =
            home.owner.is_none() || self.away_until.is_none_or(|at| at <= Instant::now());
        if is_free && may_take {
            return self.take(known.client, follower);
        }
        if Instant::now() >= self.snapshot_at {
            self.snapshot_at = Instant::now() + SNAPSHOT_INTERVAL;
            self.snapshot(&mut known.client, &home, &follower)?;
        }
        self.is_restored = false;
        known.follower = Some(follower);
        Ok(Turn::Follows(Box::new(known)))
    }

    /// Notes in PostgreSQL how far this follower is, now and then.
    fn note_progress(
        &mut self,
        client: &mut LedgerClient,
        home: &LedgerHome,
        follower: &Follower,
    ) -> Result<(), StoreError> {
        let (Notes::Due(at) | Notes::Ready(at)) = self.note else { return Ok(()) };
        if Instant::now() < at {
            return Ok(());
        }
        let MemberOptions { machine, url, version, .. } = &*self.options;
        let note = FollowerNote {
            machine: machine.clone(),
            url: url.clone(),
            version: version.clone(),
            seq: follower.seq(),
        };
        let is_ready = matches!(self.note, Notes::Ready(_));
        let made = if is_ready { Ok(()) } else { client.make_follower_table() };
        match made.and_then(|()| client.note_follower(&home.id, &note)) {
            Ok(()) => self.note = Notes::Ready(Instant::now() + NOTE_INTERVAL),
            Err(error @ StoreError::Unfit { .. }) => {
                tracing::warn!(%error, "other servers will not see how far this one is");
                self.note = Notes::Refused;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn publish(
        &self,
        home: &LedgerHome,
        follower: &Follower,
        problem: Option<String>,
    ) -> Result<(), StoreError> {
        let file_seq = follower.seq();
        if file_seq >= home.seq {
            self.now.send_replace(Instant::now());
        }
        // After an outage the owner renews its lease first.
        let goes_first = self.away_until.is_some_and(|at| at > Instant::now());
        let is_owned = !home.lease_left.is_zero() || goes_first;
        let next = Membership {
            owner: home.owner.clone().filter(|_| is_owned),
            owner_url: home.owner_url.clone().filter(|_| is_owned),
            epoch: home.epoch,
            log_seq: home.seq.max(file_seq),
            file_seq,
            operator_hash: follower.home_value(OPERATOR_HASH)?,
            problem,
        };
        self.state.send_if_modified(|state| {
            let is_new = *state != next;
            *state = next;
            is_new
        });
        Ok(())
    }

    /// Opens the file of this server, or restores it from the newest snapshot.
    fn open(
        &mut self,
        client: &mut LedgerClient,
        home: &LedgerHome,
    ) -> Result<Follower, StoreError> {
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
        self.is_restored = true;
        tracing::info!(home = home.name, seq = restored.seq, "restored the home from a snapshot");
        Follower::open(file, &home.id)
    }

    /// Puts a file away that is no prefix of the log, so that it is made anew. One that has just been made from the
    /// snapshot shows nobody anything, so it is removed.
    fn put_away(&self, why: &StoreError) -> Result<(), StoreError> {
        if !self.is_restored {
            return self.set_aside(why);
        }
        for suffix in ["-wal", "-shm", ""] {
            let path = with_suffix(&self.options.database, suffix);
            if path.exists() {
                std::fs::remove_file(&path).map_err(|error| file_error(&path, &error))?;
            }
        }
        Ok(())
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
        self.is_taking.store(true, Ordering::SeqCst);
        if self.give_up.is_given_up() {
            return Ok(Turn::Follows(Box::new(Following { client, follower: Some(follower) })));
        }
        let mut home = match client.take(&options.home, &owner)? {
            TakeOutcome::Taken(home) => home,
            TakeOutcome::Occupied(client, _) => {
                let follower = Some(follower);
                return Ok(Turn::Follows(Box::new(Following { client: *client, follower })));
            }
        };
        home.wait_with(self.give_up.clone());
        let crash = CrashSwitch::default();
        if let Some(point) = options.crash_at {
            home.observe(crash.observer(point));
        }
        let may_lose = home.may_lose().map(str::to_owned);
        if let Some(why) = &may_lose {
            tracing::warn!(
                home = options.home,
                why,
                "what is answered may be lost, as `cluster.allowLoss` says"
            );
        }
        let (epoch, lease) = (home.epoch(), home.lease());
        // Kept from now on: reading the rest of the log may take longer than the lease.
        let keeping = options.address.client().map_err(|error| error.0)?;
        let keeper = LeaseKeeper::start(keeping, &home)?;
        drop(follower);
        if matches!(self.note, Notes::Ready(_)) {
            // The owner follows nobody. What cannot be removed shows as one that is no longer heard of.
            let id = home.id().to_owned();
            drop(home.client().forget_follower(&id, &options.machine));
        }
        let commits = CommitDurations(home.commit_times());
        let guarded: Vec<&Path> = options.guarded.iter().map(PathBuf::as_path).collect();
        let store = match Store::open_owned(&options.database, &guarded, *home) {
            Ok(store) => store,
            Err(error) if error.is_damage() => {
                self.put_away(&error)?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        tracing::info!(home = options.home, epoch, "this server owns the home");
        let shared = SharedHome::new(options.machine.clone(), lease, &keeper, crash);
        let record = Record::from(store);
        let owned = OwnedRecord { record, shared, epoch, commits, may_lose, keeper };
        Ok(Turn::Owned(Box::new(owned)))
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
