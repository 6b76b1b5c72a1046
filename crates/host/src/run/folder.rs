//! The folder of a run, as the server sees it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStdout};

use super::{
    Control, ExitRecord, OutputReader, Position, Spec, Stretch, SupervisorRecord, read_json, sweep,
    tail, write_json,
};
use crate::files::{self, FileError, Mode, at};
use crate::process::{self, Exit, Launch, StartError};

/// What `claim` says if nobody may begin this run any more.
const GIVEN_UP: &str = "given up\n";
/// What `claim` says if a supervisor began it.
pub(crate) const TAKEN: &str = "supervisor\n";
/// Files that an agent is started with and that may hold what it was told.
const GIVEN: [&str; 4] = ["spec.json", "prompt.md", "system-prompt.md", "schema.json"];
/// Larger files than this were not written by us.
const MAX_GIVEN_BYTES: u64 = 64 * 1024 * 1024;
/// A socket's address has room for this many bytes on every system we know.
const SHORT_PATH: usize = 100;

/// One attempt at running an agent: its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
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
    /// Makes the folder and writes down what is to be run.
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

    /// Starts a supervisor, which starts the agent. Needs a tokio runtime, which reaps it.
    pub fn start(&self, adjutant: &Path) -> Result<Begun, StartError> {
        let launch = Launch {
            program: adjutant.to_owned(),
            arguments: vec![OsString::from("supervise"), self.path.clone().into_os_string()],
            environment: Vec::new(),
            directory: self.path.clone(),
        };
        let mut child = process::start_reaped(&launch)?;
        let word = child.stdout.take();
        Ok(Begun { child, word })
    }

    /// How the run stands.
    pub fn standing(&self) -> Result<Standing, FileError> {
        if let Some(exit) = self.exit()? {
            return Ok(Standing::Ended(exit));
        }
        match files::read(&self.file("claim"))? {
            None => return Ok(Standing::NotBegun),
            Some(claim) if claim == GIVEN_UP => return Ok(Standing::NotBegun),
            Some(_) => {}
        }
        if self.is_locked()? {
            return Ok(Standing::Running);
        }
        // It may have ended after we looked the first time.
        Ok(self.exit()?.map_or(Standing::Gone, Standing::Ended))
    }

    /// Whether a supervisor lives. It had the lock before the claim, so that asking cannot get in its way.
    fn is_locked(&self) -> Result<bool, FileError> {
        let path = self.file("lock");
        let file = match files::open_regular(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(at("open", &path)(error)),
        };
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
        Ok(claim(&path, GIVEN_UP)? || files::read(&path)?.is_some_and(|claim| claim == GIVEN_UP))
    }

    /// How it ended, if it has.
    pub fn exit(&self) -> Result<Option<ExitRecord>, FileError> {
        read_json(&self.file("exit.json"))
    }

    /// Who supervises it, once somebody does.
    pub fn supervisor(&self) -> Result<Option<SupervisorRecord>, FileError> {
        read_json(&self.file("supervisor.json"))
    }

    /// Talks to the supervisor; an error where there is none (any more).
    pub async fn connect(&self) -> io::Result<Control> {
        let path = self.file("control");
        if path.as_os_str().len() <= SHORT_PATH {
            return Ok(Control::new(UnixStream::connect(path).await?));
        }
        // A long path does not fit an address. The folder's descriptor gives it a short name.
        let folder = File::open(&self.path)?;
        let short = format!("/proc/self/fd/{}/control", std::os::fd::AsRawFd::as_raw_fd(&folder));
        let connected = UnixStream::connect(&short).await?;
        drop(folder);
        Ok(Control::new(connected))
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
    ) -> Result<Option<Stretch>, FileError> {
        tail::tail(&self.path, before, lines)
    }

    /// A file that the agent was given beside its arguments, if it was.
    pub fn given(&self, name: &str) -> Result<Option<String>, FileError> {
        files::read(&self.file(name))
    }

    /// Takes secrets out of what the agent was started with, once it has ended: until then its program needs them.
    /// Blocks for the moment that takes.
    pub fn redact_given(&self) -> Result<(), FileError> {
        for name in GIVEN {
            let path = self.file(name);
            // The agent can write here: what is not a plain file of a sensible size is not opened.
            let is_ours = std::fs::symlink_metadata(&path)
                .is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_GIVEN_BYTES);
            if !is_ours {
                continue;
            }
            let clean = files::read(&path)?.as_deref().and_then(model::redact::scrub);
            if let Some(clean) = clean {
                files::write(&path, &clean, Mode::Private)?;
            }
        }
        Ok(())
    }

    /// Ends what is left of an agent whose supervisor is gone, and says how many processes that were.
    /// Blocks for the moment that takes.
    pub fn sweep(&self) -> Result<u32, FileError> {
        sweep::sweep(&self.path)
    }
}

/// Writes `claim` unless there is one, and says whether it did: of all who try one wins.
pub(crate) fn claim(path: &Path, word: &str) -> Result<bool, FileError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => {
            file.write_all(word.as_bytes()).map_err(at("write", path))?;
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(at("create", path)(error)),
    }
}

/// A supervisor that was started. Dropping this leaves it alone: it goes on, and is reaped when it ends.
#[derive(Debug)]
pub struct Begun {
    child: Child,
    /// Closed by the supervisor as soon as the agent runs
    word: Option<ChildStdout>,
}

impl Begun {
    /// The supervisor's process id, while it has one.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
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
        self.child.wait().await.map(Exit::from)
    }
}
