//! Homes of a PostgreSQL as an administrator handles them: made, listed, exported, checked. Everything blocks, and runs
//! outside of a runtime.

use std::path::{Path, PathBuf};
use std::time::Duration;

use store::{LedgerClient, LedgerHome, NewHome, StoreError};

use crate::core::error::ToolError;
use crate::core::home_address::HomeAddress;
use crate::core::home_files::{HomeFiles, OPERATOR_HASH, check_home_files};
use crate::core::record_file::RecordError;
use model::Timestamp;
use model::placement::Placements;

/// Time limit for each statement: a person at a terminal waits for it.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);

/// Age from which a list calls a host gone.
const HOST_SILENCE: Duration = Duration::from_secs(10);

/// The homes of one PostgreSQL.
#[derive(Debug)]
pub struct HomeAdmin(LedgerClient);

/// A home as its PostgreSQL has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeRow {
    /// Id
    pub id: String,
    /// Name
    pub name: String,
    /// Number of its present owner among all that it had
    pub epoch: i64,
    /// Address of the server that owns it, if one does
    pub owner_url: Option<String>,
    /// Time for which the owner's lease holds
    pub lease_left: Duration,
    /// Number of its last commit
    pub seq: i64,
    /// Agents in the queue
    pub queued: i32,
    /// Agents that are starting or running
    pub running: i32,
}

/// Where a PostgreSQL keeps a commit before it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeStandbys {
    /// The standbys that a commit waits for, as PostgreSQL's setting names them; absent if it waits for none
    pub awaited: Option<String>,
    /// Standbys that are connected, as far as our role may see them
    pub connected: i64,
}

/// A server that follows a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeFollower {
    /// Id of its machine
    pub machine: String,
    /// Address under which other servers reach it
    pub url: String,
    /// Version of the program
    pub version: String,
    /// Commits that its file lacks
    pub missing: i64,
    /// Time since the oldest of them
    pub late: Duration,
    /// Time since it was heard of
    pub age: Duration,
}

/// A home to be made.
#[derive(Debug, Clone)]
pub struct HomeDraft<'a> {
    /// Name
    pub name: &'a str,
    /// The database of a single machine that it is made from; nobody may use it
    pub from: Option<&'a Path>,
    /// Hash of the operator's token
    pub operator_hash: &'a str,
    /// Configuration, roles and templates
    pub files: &'a HomeFiles,
    /// Folder for a copy that is removed again
    pub scratch: &'a Path,
    /// Time of the files
    pub now: Timestamp,
}

/// Outcome of checking a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeVerdict {
    /// The last commit that was checked
    pub seq: i64,
    /// Rows of the audit chain
    pub audit_rows: i64,
    /// The last commit of the local file that was compared, if one was
    pub compared: Option<i64>,
    /// Problem, if any
    pub problem: Option<String>,
}

/// Error of handling homes.
#[derive(Debug, thiserror::Error)]
pub enum HomeAdminError {
    /// PostgreSQL or a file
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The files of the home
    #[error("{}", .0.message)]
    Files(ToolError),
}

impl From<StoreError> for HomeAdminError {
    fn from(error: StoreError) -> Self {
        Self::Record(error.into())
    }
}

impl HomeAdminError {
    /// True if PostgreSQL gave no answer, and may give one later.
    pub fn is_away(&self) -> bool {
        matches!(self, Self::Record(error) if error.is_away())
    }
}

impl HomeAdmin {
    /// Connects to look only, with a time limit for each answer. No tables are made.
    pub fn look(address: &HomeAddress, limit: Duration) -> Result<Self, HomeAdminError> {
        let mut client = address.client_within(limit)?;
        client.expect_tables()?;
        Ok(Self(client))
    }

    /// Why what is answered may be lost with this PostgreSQL, where that was allowed.
    pub fn may_lose(&self) -> Option<&str> {
        self.0.may_lose()
    }

    /// Where this PostgreSQL keeps a commit before it is answered.
    pub fn standbys(&mut self) -> Result<HomeStandbys, HomeAdminError> {
        let store::Standbys { awaited, connected } = self.0.standbys()?;
        Ok(HomeStandbys { awaited: (!awaited.is_empty()).then_some(awaited), connected })
    }

    /// The servers that follow a home.
    pub fn followers(&mut self, home: &HomeRow) -> Result<Vec<HomeFollower>, HomeAdminError> {
        let read = |row: store::FollowerRow| {
            let store::FollowerRow { machine, url, version, missing, late, age } = row;
            HomeFollower { machine, url, version, missing, late, age }
        };
        Ok(self.0.followers(&home.id)?.into_iter().map(read).collect())
    }

    /// Connects, and makes the tables where there are none.
    pub fn connect(address: &HomeAddress) -> Result<Self, HomeAdminError> {
        let mut client = address.client_within(STATEMENT_TIMEOUT)?;
        client.make_tables()?;
        Ok(Self(client))
    }

    /// All homes by name.
    pub fn homes(&mut self) -> Result<Vec<HomeRow>, HomeAdminError> {
        Ok(self.0.homes()?.into_iter().map(HomeRow::from).collect())
    }

    /// The hosts that serve homes with `adjutant serve`, and where each home is placed. Empty where none ever did.
    pub fn placements(&mut self) -> Result<Placements, HomeAdminError> {
        if !self.0.has_host_tables()? {
            return Ok(Placements::default());
        }
        let (hosts, homes) = (self.0.hosts()?, self.0.placed_homes()?);
        Ok(Placements { hosts, homes, limit: HOST_SILENCE })
    }

    /// The home of that name, or an error with the nearest name.
    pub fn home(&mut self, name: &str) -> Result<HomeRow, HomeAdminError> {
        Ok(self.0.find_home(name)?.into())
    }

    /// Makes a home, from a database or empty.
    pub fn create(&mut self, draft: &HomeDraft<'_>) -> Result<HomeRow, HomeAdminError> {
        check_home_files(draft.files).map_err(HomeAdminError::Files)?;
        if let Some(from) = draft.from {
            refuse_running_agents(from)?;
        }
        let bits = host::random::bits().map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let id = format!("hm_{bits:016x}");
        let HomeDraft { name, from, scratch, now, .. } = *draft;
        self.0.create_home(&NewHome { id: &id, name, from, scratch }, |tx| {
            tx.home_value_put(OPERATOR_HASH, draft.operator_hash)?;
            draft.files.iter().try_for_each(|(path, body)| tx.home_file_put(path, body, now))
        })?;
        self.home(name)
    }

    /// Writes the newest state of a home to a file that must not exist yet, and that a server on one machine opens.
    /// Returns the last commit that it has, and the files of the home.
    pub fn export(&mut self, name: &str, to: &Path) -> Result<(i64, HomeFiles), HomeAdminError> {
        let home = self.0.find_home(name)?;
        let seq = self.0.export(&home, to)?;
        let store = store::Store::open(to)?;
        let files = store.read(|tx| tx.home_files())?;
        Ok((seq, files.into_iter().map(|file| (file.path, file.body)).collect()))
    }

    /// Restores a home from its newest snapshot and its log into a scratch file, verifies its chain, and compares it with
    /// a server's own file.
    pub fn check(
        &mut self,
        name: &str,
        scratch: &Path,
        local: Option<&Path>,
    ) -> Result<HomeVerdict, HomeAdminError> {
        let home = self.0.find_home(name)?;
        let check = self.0.check(&home, scratch, local)?;
        let store::HomeCheck { seq, audit_rows, compared, problem, .. } = check;
        Ok(HomeVerdict { seq, audit_rows, compared, problem })
    }
}

impl From<LedgerHome> for HomeRow {
    fn from(home: LedgerHome) -> Self {
        let LedgerHome { id, name, epoch, owner, owner_url, lease_left, seq, agents } = home;
        let is_owned = owner.is_some() && !lease_left.is_zero();
        Self {
            id,
            name,
            epoch,
            owner_url: owner_url.filter(|_| is_owned),
            lease_left,
            seq,
            queued: agents.queued,
            running: agents.running,
        }
    }
}

/// Refuses a database with agents that run: their folders stay on this machine, and no server of the home has them.
fn refuse_running_agents(database: &Path) -> Result<(), HomeAdminError> {
    let store = store::Store::open(database)?;
    let running = store.read(|tx| Ok::<_, StoreError>(tx.agents_placed()?.len()))?;
    if running == 0 {
        return Ok(());
    }
    let what = if running == 1 { "agent is" } else { "agents are" };
    let error = ToolError::conflict(format!("{running} {what} running in this home"))
        .hint("wait for them or end them: `adjutant ps` lists them, `adjutant kill` ends one");
    Err(HomeAdminError::Files(error))
}

/// The file of a server of a home, beside the database of a single machine.
pub fn member_database(state: &Path) -> PathBuf {
    state.join("home.db")
}

/// The last commit that the file of a server has; none for a file of a single machine. Changes nothing.
pub fn member_commit(file: &Path) -> Result<Option<i64>, RecordError> {
    Ok(store::file_commit(file)?)
}
