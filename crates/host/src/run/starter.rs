//! Starts supervisors: by the fork server where there can be one, else as a program.
//!
//! The fork server is a convenience: whatever goes wrong with it, a supervisor is started without it, and
//! the next start makes a new one. A supervisor that it made and did not tell of reads no environment, so
//! that it ends before it has claimed its run.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use tokio::net::unix::pipe::Receiver;

use crate::process::{self, Exit, Launch, StartError};

/// Longest path of a run folder that the fork server can show as its argument.
#[cfg(target_os = "linux")]
pub(crate) const MAX_FOLDER_BYTES: usize = 4096;

/// The process of a supervisor. It goes on when this is dropped, and is reaped when it ends.
#[derive(Debug)]
pub(super) enum Supervisor {
    /// Made by the fork server
    #[cfg(target_os = "linux")]
    Forked(process::Forked),
    /// Started as a program
    Started(tokio::process::Child),
}

impl Supervisor {
    pub(super) fn id(&self) -> Option<u32> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Forked(forked) => forked.id(),
            Self::Started(child) => child.id(),
        }
    }

    pub(super) async fn wait(&mut self) -> io::Result<Exit> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Forked(forked) => forked.wait().await,
            Self::Started(child) => child.wait().await.map(Exit::from),
        }
    }
}

/// Starts the supervisor of a run, which reads `input`. The pipe ends when the agent runs, or with the supervisor.
pub(super) fn start(
    adjutant: &Path,
    folder: &Path,
    input: Vec<u8>,
) -> Result<(Supervisor, Receiver), StartError> {
    let launch = Launch {
        program: adjutant.to_owned(),
        arguments: vec![OsString::from("supervise"), folder.as_os_str().to_owned()],
        environment: Vec::new(),
        directory: folder.to_owned(),
    };
    let failed = |source: io::Error| StartError {
        program: launch.program.clone(),
        directory: launch.directory.clone(),
        source,
    };
    let receiver = |heard: io::PipeReader| Receiver::from_owned_fd(OwnedFd::from(heard));
    #[cfg(target_os = "linux")]
    {
        let ((given, giver), (heard, word)) =
            (io::pipe().map_err(failed)?, io::pipe().map_err(failed)?);
        let pipes = [given.into(), word.into()];
        let forked = fork_server::fork(adjutant, folder, &pipes);
        // The word ends only when the supervisor closes it: no copy of it may stay here.
        drop(pipes);
        if let Some(forked) = forked {
            // Only now: of two supervisors of one run the other one must learn nothing.
            process::feed(giver, input).map_err(failed)?;
            return Ok((Supervisor::Forked(forked), receiver(heard).map_err(failed)?));
        }
    }
    let ((given, giver), (heard, word)) =
        (io::pipe().map_err(failed)?, io::pipe().map_err(failed)?);
    let child = process::start_reaped(&launch, given, word)?;
    process::feed(giver, input).map_err(failed)?;
    Ok((Supervisor::Started(child), receiver(heard).map_err(failed)?))
}

#[cfg(target_os = "linux")]
mod fork_server {
    //! The server's side of the fork server.

    use std::io::IoSlice;
    use std::mem::MaybeUninit;
    use std::os::fd::AsFd as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::PathBuf;
    use std::sync::{Mutex, PoisonError};
    use std::time::Duration;

    use rustix::net::sockopt::{Timeout, set_socket_timeout};
    use rustix::net::{
        AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
        SocketFlags, SocketType, recv, sendmsg, socketpair,
    };
    use rustix::process::Pid;

    use super::{Launch, MAX_FOLDER_BYTES, OsString, OwnedFd, Path, io};
    use crate::process::{self, Forked, Started};

    /// Time limit for an answer; a process that was stopped gives none.
    const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
    /// Failures in a row after which this process does without.
    const MAX_FAILURES: u32 = 3;

    /// The fork server of this process.
    static FORK_SERVER: Mutex<State> = Mutex::new(State { running: None, failures: 0 });

    #[derive(Debug)]
    struct State {
        running: Option<Running>,
        failures: u32,
    }

    #[derive(Debug)]
    struct Running {
        program: PathBuf,
        process: Started,
        socket: OwnedFd,
    }

    /// Has a supervisor made that has these pipes as its standard input and output; none where that failed.
    pub(super) fn fork(adjutant: &Path, folder: &Path, pipes: &[OwnedFd; 2]) -> Option<Forked> {
        let mut state = FORK_SERVER.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fit = folder.as_os_str().len() < MAX_FOLDER_BYTES;
        if !is_fit || state.failures >= MAX_FAILURES {
            return None;
        }
        let running = state.running.take_if(|running| running.program != adjutant);
        if let Some(other) = running {
            other.process.end();
        }
        if let Ok(pid) = ask(&mut state.running, adjutant, folder, pipes) {
            state.failures = 0;
            return Forked::new(pid).ok();
        }
        state.failures += 1;
        if let Some(broken) = state.running.take() {
            broken.process.end();
        }
        None
    }

    /// Asks the fork server, and starts it first where there is none.
    fn ask(
        running: &mut Option<Running>,
        adjutant: &Path,
        folder: &Path,
        pipes: &[OwnedFd; 2],
    ) -> io::Result<Pid> {
        let running = match running {
            Some(running) => running,
            none => none.insert(start(adjutant)?),
        };
        let pipes = [pipes[0].as_fd(), pipes[1].as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&pipes));
        let folder = [IoSlice::new(folder.as_os_str().as_bytes())];
        sendmsg(&running.socket, &folder, &mut control, SendFlags::NOSIGNAL)?;
        let mut answer = [0; 4];
        let (read, _) =
            rustix::io::retry_on_intr(|| recv(&running.socket, &mut answer, RecvFlags::empty()))?;
        let pid = Some(i32::from_ne_bytes(answer)).filter(|pid| read == 4 && *pid > 0);
        pid.and_then(Pid::from_raw).ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    fn start(adjutant: &Path) -> io::Result<Running> {
        let kind = SocketType::SEQPACKET;
        let (socket, theirs) = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
        set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_TIMEOUT))?;
        let launch = Launch {
            program: adjutant.to_owned(),
            // Room in which a copy writes down its own arguments.
            arguments: vec![OsString::from("fork-server"), ".".repeat(MAX_FOLDER_BYTES).into()],
            environment: Vec::new(),
            directory: "/".into(),
        };
        let process = process::start_connected(&launch, theirs).map_err(|error| error.source)?;
        Ok(Running { program: adjutant.to_owned(), process, socket })
    }
}
