//! The folder of a run, as the server sees it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::process::Signal;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;

use super::record::{open_regular, read_small};
use super::starter::{self, Supervisor};
use super::{
    Control, ExitRecord, Handover, OutputRange, OutputReader, Position, Spec, SupervisorRecord,
    handover, holder, read_json, socket, sweep, tail, write_json,
};
use crate::files::{self, FileError, Mode, at};
use crate::process::{Exit, StartError};

/// Content of `claim` when the run was given up.
const CLAIM_GIVEN_UP: &str = "given up\n";
/// Content of `claim` when a supervisor took it.
pub(crate) const CLAIM_TAKEN: &str = "supervisor\n";
/// Files that an agent is started with and that may hold what it was told.
const START_FILES: [&str; 5] =
    ["spec.json", "prompt.md", "system-prompt.md", "schema.json", "mcp.json"];
/// Larger files than this were not written by us.
const MAX_START_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// One attempt at running an agent: its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

/// State of a run on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStatus {
    /// No supervisor has begun it. It may still begin, unless it was [given up](RunFolder::give_up)
    NotBegun,
    /// Its supervisor lives
    Running,
    /// It ended, and so
    Ended(ExitRecord),
    /// Its supervisor died and took the agent along; what the agent had started may live
    Gone,
}

impl RunFolder {
    /// Makes the folder and writes down what is to be run, without the values of its environment.
    pub fn create(path: impl Into<PathBuf>, spec: &Spec) -> Result<Self, FileError> {
        let folder = Self::open(path);
        files::make_dir(&folder.path, Mode::Private)?;
        write_json(&folder.file("spec.json"), spec)?;
        Ok(folder)
    }

    /// The folder of a run that was created before.
    pub fn open(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        // The supervisor is started in it, where a relative path would mean another.
        Self { path: std::path::absolute(&path).unwrap_or(path) }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Starts a supervisor, which starts the agent with what is handed over. Needs a tokio runtime, which
    /// reaps it.
    pub fn start(
        &self,
        adjutant: &Path,
        handover: &Handover,
    ) -> Result<StartedSupervisor, StartError> {
        let input = serde_json::to_vec(handover).map_err(|error| StartError {
            program: adjutant.to_owned(),
            directory: self.path.clone(),
            source: error.into(),
        })?;
        let (supervisor, word) = starter::start(adjutant, &self.path, input)?;
        Ok(StartedSupervisor { supervisor, word: Some(word) })
    }

    /// Determines the state of the run.
    pub fn standing(&self) -> Result<RunStatus, FileError> {
        if let Some(exit) = self.readable_exit()? {
            return Ok(RunStatus::Ended(exit));
        }
        let path = self.file("claim");
        // A claim that is no text is not one of ours, but it keeps everybody from beginning.
        let other = || fs::symlink_metadata(&path).is_ok().then(|| "?".to_owned());
        let claim = read_small(&path)?.or_else(other);
        if claim.as_deref().is_none_or(|claim| claim == CLAIM_GIVEN_UP) {
            return Ok(RunStatus::NotBegun);
        }
        if self.is_locked()? {
            return Ok(RunStatus::Running);
        }
        if claim.is_some_and(|claim| self.is_abandoned(&claim)) {
            return Ok(RunStatus::NotBegun);
        }
        // It may have ended after we looked the first time.
        Ok(self.readable_exit()?.map_or(RunStatus::Gone, RunStatus::Ended))
    }

    /// Reads `exit.json`. The agent can write there: nonsense counts as no end, and the lock decides.
    fn readable_exit(&self) -> Result<Option<ExitRecord>, FileError> {
        use io::ErrorKind::{InvalidData, IsADirectory, UnexpectedEof};
        match self.exit() {
            Err(error)
                if matches!(error.source.kind(), InvalidData | IsADirectory | UnexpectedEof) =>
            {
                Ok(None)
            }
            found => found,
        }
    }

    /// Returns whether a claim was left by a process that died before it wrote it, as earlier versions could. The
    /// lock must be free: then no supervisor is about to write it, none can take it again, and the agent,
    /// which is started after the claim is written, never began.
    fn is_abandoned(&self, claim: &str) -> bool {
        claim.is_empty() && !self.file("supervisor.json").exists()
    }

    /// Returns whether a supervisor lives. It had the lock before the claim, so that asking cannot get in its way
    /// once there is one.
    pub fn is_locked(&self) -> Result<bool, FileError> {
        let path = self.file("lock");
        let Some(file) = open_regular(&path).map_err(at("open", &path))? else { return Ok(false) };
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
            Err(error) => Err(at("look at the lock of", &path)(error.into())),
        }
    }

    /// Decides that this run is never begun, and says whether that is so now.
    ///
    /// `false` means that a supervisor was first. Saying it twice does no harm.
    pub fn give_up(&self) -> Result<bool, FileError> {
        let path = self.file("claim");
        if claim(&path, CLAIM_GIVEN_UP)? {
            return Ok(true);
        }
        let found = read_small(&path)?.unwrap_or_else(|| "?".to_owned());
        Ok(found == CLAIM_GIVEN_UP || (self.is_abandoned(&found) && !self.is_locked()?))
    }

    /// Asks the supervisor to end its agent and all that it started, without its socket; says whether
    /// there was one to ask. Blocks for the moment that finding it takes.
    pub fn terminate_supervisor(&self) -> Result<bool, FileError> {
        holder::signal(&self.path, Signal::TERM)
    }

    /// Ends the supervisor, and with it the agent; says whether there was one. What the agent started is
    /// left to [`RunFolder::sweep`]. Blocks for the moment that finding it takes.
    pub fn kill_supervisor(&self) -> Result<bool, FileError> {
        holder::signal(&self.path, Signal::KILL)
    }

    /// Removes values of the environment that an earlier version wrote to disk; says whether there were
    /// any. A run whose supervisor may not have read them yet is left alone.
    pub fn forget_values(&self) -> Result<bool, FileError> {
        let may_need_them = match self.standing()? {
            RunStatus::NotBegun => !self.file("claim").exists(),
            RunStatus::Running => !self.file("supervisor.json").exists(),
            RunStatus::Ended(_) | RunStatus::Gone => false,
        };
        if may_need_them { Ok(false) } else { handover::forget_values(&self.path) }
    }

    /// Exit record, if it has ended.
    pub fn exit(&self) -> Result<Option<ExitRecord>, FileError> {
        read_json(&self.file("exit.json"))
    }

    /// Supervisor's record, once there is one.
    pub fn supervisor(&self) -> Result<Option<SupervisorRecord>, FileError> {
        read_json(&self.file("supervisor.json"))
    }

    /// Talks to the supervisor; an error where there is none (any more).
    pub async fn connect(&self) -> io::Result<Control> {
        socket::connect(&self.path).await.map(Control::new)
    }

    /// Reads what the agent says, from there on.
    pub fn output(&self, from: Position) -> OutputReader {
        OutputReader::new(&self.path, from)
    }

    /// Where about so many lines before a place begin, or before the end; none where there are none.
    pub fn tail(
        &self,
        before: Option<Position>,
        lines: usize,
    ) -> Result<Option<OutputRange>, FileError> {
        tail::tail(&self.path, before, lines)
    }

    /// A file that the agent was given beside its arguments, if it was.
    pub fn given(&self, name: &str) -> Result<Option<String>, FileError> {
        read_small(&self.file(name))
    }

    /// Takes secrets out of what the agent was started with, once it has ended: until then its program needs them.
    /// Blocks for the moment that takes.
    pub fn redact_given(&self) -> Result<(), FileError> {
        let redacted = START_FILES.map(|name| redact_file(&self.file(name)));
        // One that cannot be read keeps none of the others.
        redacted.into_iter().collect()
    }

    /// Ends what is left of an agent whose supervisor is gone, and says how many processes that were.
    /// Blocks for the moment that takes.
    pub fn sweep(&self) -> Result<u32, FileError> {
        sweep::sweep(&self.path)
    }
}

/// Takes secrets out of a file that the agent was given.
fn redact_file(path: &Path) -> Result<(), FileError> {
    // The agent can write here: what is not a plain file of a sensible size is not opened.
    let is_ours = fs::symlink_metadata(path)
        .is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_START_FILE_BYTES);
    if !is_ours {
        return Ok(());
    }
    let clean = files::read(path)?.as_deref().and_then(model::redact::scrub);
    clean.map_or(Ok(()), |clean| files::write(path, &clean, Mode::Private))
}

/// Writes `claim` unless there is one, and says whether it did: of all who try one wins. It appears whole,
/// so that a process that dies meanwhile leaves the run unclaimed.
pub(crate) fn claim(path: &Path, word: &str) -> Result<bool, FileError> {
    let scratch = path.with_extension(format!("{}.new", std::process::id()));
    let written = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file =
            options.write(true).create(true).truncate(true).mode(0o600).open(&scratch)?;
        file.write_all(word.as_bytes())
    };
    written().map_err(at("write", &scratch))?;
    // A link, unlike a rename, does not replace what is there.
    let linked = fs::hard_link(&scratch, path);
    files::remove(&scratch)?;
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(at("create", path)(error)),
    }
}

/// A supervisor that was started. Dropping this leaves it alone: it goes on, and is reaped when it ends.
#[derive(Debug)]
pub struct StartedSupervisor {
    supervisor: Supervisor,
    /// Closed by the supervisor as soon as the agent runs
    word: Option<Receiver>,
}

impl StartedSupervisor {
    /// The supervisor's process id, while it has one.
    pub fn pid(&self) -> Option<u32> {
        self.supervisor.id()
    }

    /// Waits until the agent runs and can be talked to, or the supervisor is gone;
    /// [`RunFolder::standing`] says which.
    pub async fn ready(&mut self) -> io::Result<()> {
        let Some(word) = &mut self.word else { return Ok(()) };
        // Nothing is written. Reading ends when the supervisor closes its side, or dies.
        while word.read(&mut [0; 16]).await? > 0 {}
        self.word = None;
        Ok(())
    }

    /// Waits until the supervisor is gone.
    pub async fn ended(&mut self) -> io::Result<Exit> {
        self.supervisor.wait().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_file_that_cannot_be_read_keeps_its_secrets_and_no_others() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("spec.json"), b"\xff").unwrap();
        fs::write(dir.path().join("prompt.md"), "Bearer abcdefghijklmnop123").unwrap();
        RunFolder::open(dir.path()).redact_given().unwrap_err();
        let prompt = fs::read_to_string(dir.path().join("prompt.md")).unwrap();
        assert_eq!(prompt, "Bearer [redacted]");
    }
}
