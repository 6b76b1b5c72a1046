//! The small process around each agent: `adjutant supervise <run folder>`.
//!
//! It starts the agent, keeps what it says and how it ends on disk, obeys every client of its socket,
//! and ends everything that the agent started. It needs no server: it is one thread in one poll loop,
//! without a runtime, and costs nothing while nothing happens. [`crate::run`] is the other side.

mod ending;
#[cfg(target_os = "linux")]
mod fork_server;
mod hub;
mod input;
mod lease;
mod lines;
mod recorder;
mod signals;
mod tree;
mod watch;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use model::Timestamp;

use crate::boot_clock::BootTime;
use crate::clock::Clock;
use crate::files::{self, FileError, at};
use crate::process::{self, Launch};
use crate::run::{
    CLAIM_TAKEN, Cgroup, EndCause, ExitRecord, Handover, Position, RUN_VARIABLE, Socket, Spec,
    Stdin, SupervisorRecord, claim, has_values, read_json, write_json,
};

#[cfg(target_os = "linux")]
pub use self::fork_server::serve_forks;

use self::hub::Hub;
use self::recorder::Recorder;
use self::signals::Signals;
use self::watch::Watch;

/// Attempts to write the exit record, a second apart: a full disk may have room again.
const MAX_EXIT_WRITE_ATTEMPTS: u32 = 60;

/// A supervisor that could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum SuperviseError {
    /// A file of the run failed it
    #[error(transparent)]
    File(#[from] FileError),
    /// The system failed it
    #[error("could not {doing}")]
    System {
        /// Attempted operation
        doing: &'static str,
        /// Why it failed
        #[source]
        source: io::Error,
    },
}

fn system(doing: &'static str) -> impl Fn(io::Error) -> SuperviseError {
    move |source| SuperviseError::System { doing, source }
}

/// Runs the agent of this folder to its end. The whole life of a process: it changes the directory, the
/// session and the signals. Does nothing if another process has begun the run, or given it up.
pub fn supervise(folder: &Path) -> Result<(), SuperviseError> {
    std::env::set_current_dir(folder).map_err(at("enter", folder))?;
    let done = supervise_here();
    if let Err(error) = &done {
        let source = std::error::Error::source(error).map(|source| format!(": {source}"));
        let line = format!("{} {error}{}\n", Clock::System.now(), source.unwrap_or_default());
        // Nobody else listens. If not even this can be written, the server still sees that we are gone.
        drop(files::append(Path::new("supervisor.log"), &line));
    }
    done
}

/// The same, in the current directory.
fn supervise_here() -> Result<(), SuperviseError> {
    process::own_session().map_err(system("make a session"))?;
    tree::adopt_orphans().map_err(system("adopt orphans"))?;
    // Before the claim: a server that dies while it hands over leaves a run that was never begun.
    let (handover, source) = receive()?;
    let Some(_lock) = files::lock(Path::new("lock"))? else { return Ok(()) };
    if !claim(Path::new("claim"), CLAIM_TAKEN)? {
        return Ok(());
    }
    let started_at = Clock::System.now();
    let folder = Path::new(".");
    let (socket, listener) = match Socket::listen() {
        Ok(listening) => listening,
        Err(error) => return Ok(write_exit(&not_started(&chain(&error), started_at))?),
    };
    if source == Source::Spec {
        socket.link_inside(folder);
    }
    let mut hub = Hub::new(listener);
    let exit = match run_agent(handover, &socket, &mut hub, started_at) {
        Ok(exit) => exit,
        Err(error) => {
            // Best effort: what went wrong before is what counts.
            drop(socket.remove(folder));
            return Err(error);
        }
    };
    let written = write_exit(&exit);
    if written.is_ok() {
        hub.say_exit();
    }
    // Also where its folder was taken away: the socket is elsewhere.
    socket.remove(folder)?;
    Ok(written?)
}

/// Starts the agent and sees it to its end.
fn run_agent(
    handover: Handover,
    socket: &Socket,
    hub: &mut Hub,
    started_at: Timestamp,
) -> Result<ExitRecord, SuperviseError> {
    let (spec, launch, stdin) = match prepare(&handover) {
        Ok(prepared) => prepared,
        Err(error) => return Ok(not_started(&chain(&error), started_at)),
    };
    // Before the agent is there: neither its words nor its end may be missed.
    let recorder = Recorder::new(spec.max_output_bytes)?;
    let signals = Signals::new().map_err(system("wait for signals"))?;
    let folder = std::env::current_dir().ok();
    let group = handover.cgroup.as_deref().zip(folder.as_deref());
    let group = group.and_then(|(parent, folder)| Cgroup::create(parent, folder));
    if let Some(late) = spec.lease.and_then(lateness) {
        // This process was stopped, or its machine slept, before it came to this: nothing is begun any more.
        let why = ending::late_by(late);
        return Ok(never_ran(EndCause::LeaseLost, &why, started_at));
    }
    let exit = match process::start_piped(&launch, stdin, group.as_ref().map(Cgroup::folder)) {
        Ok(child) => {
            let record = SupervisorRecord {
                pid: std::process::id(),
                agent_pid: child.pid,
                started_at: Clock::System.now(),
                start_time: tree::start_time(),
                boot_id: tree::boot_id(),
                cgroup: group.as_ref().map(|group| group.path().to_owned()),
                socket: Some(socket.path().to_owned()),
            };
            hub.begin(child.pid);
            write_json(Path::new("supervisor.json"), &record)?;
            say_ready().map_err(system("say that the agent runs"))?;
            let watch = Watch::new(child, recorder, signals, terms(&spec, handover))
                .map_err(system("listen to the agent"))?;
            watch.run(hub, record.started_at)?
        }
        Err(error) => not_started(&chain(&error), started_at),
    };
    if let Some(group) = group {
        group.remove();
    }
    Ok(exit)
}

/// Where the agent's environment came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Through the pipe
    Pipe,
    /// From `spec.json`, where a server of an earlier version wrote it
    Spec,
}

/// Reads what the server hands over. A server of an earlier version hands nothing over: it wrote the
/// environment into `spec.json`.
fn receive() -> Result<(Handover, Source), SuperviseError> {
    let given = Handover::read(io::stdin().lock()).map_err(system("read the environment"))?;
    if let Some(handover) = given {
        return Ok((handover, Source::Pipe));
    }
    match read_json::<Spec>(Path::new("spec.json"))?.filter(has_values) {
        Some(spec) => Ok((Handover::new(&spec.environment), Source::Spec)),
        None => Err(system("read the environment")(io::ErrorKind::UnexpectedEof.into())),
    }
}

/// Reads what is to be run.
fn prepare(handover: &Handover) -> Result<(Spec, Launch, Option<Stdio>), FileError> {
    let path = Path::new("spec.json");
    let spec: Spec =
        read_json(path)?.ok_or_else(|| at("read", path)(io::ErrorKind::NotFound.into()))?;
    if has_values(&spec) {
        write_json(path, &spec)?;
    }
    let folder = std::env::current_dir().map_err(at("find", Path::new(".")))?;
    let mut environment: Vec<(OsString, OsString)> = handover
        .environment
        .0
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .collect();
    environment.push((RUN_VARIABLE.into(), folder.into_os_string()));
    let launch = Launch {
        program: spec.program.clone(),
        arguments: spec.arguments.iter().map(OsString::from).collect(),
        environment,
        directory: spec.directory.clone(),
    };
    let stdin = match &spec.stdin {
        Stdin::Closed => Some(Stdio::null()),
        Stdin::Open => None,
        Stdin::File(name) => Some(open_inside(name)?.into()),
    };
    Ok((spec, launch, stdin))
}

fn terms(spec: &Spec, handover: Handover) -> watch::TimeLimits {
    watch::TimeLimits {
        grace: Duration::from_millis(spec.grace_ms),
        limit: spec.time_limit_ms.map(Duration::from_millis),
        lease: spec.lease,
        handover,
    }
}

/// Time since a lease has ended; `None` while it holds.
fn lateness(until: BootTime) -> Option<Duration> {
    let now = BootTime::now();
    (until <= now).then(|| now.since(until))
}

/// Opens a file of this folder, and of no other.
fn open_inside(name: &str) -> Result<File, FileError> {
    let path = PathBuf::from(name);
    let mut parts = path.components();
    if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
        let error = io::Error::new(io::ErrorKind::InvalidInput, "it is not in the run's folder");
        return Err(at("open", &path)(error));
    }
    File::open(&path).map_err(at("open", &path))
}

/// Closes the pipe on which the server waits for us: the agent runs, and can be talked to.
fn say_ready() -> io::Result<()> {
    let nothing = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(nothing)?;
    Ok(())
}

fn not_started(why: &str, at: Timestamp) -> ExitRecord {
    never_ran(EndCause::NotStarted, why, at)
}

/// End of a run whose agent was never started.
fn never_ran(ended: EndCause, why: &str, at: Timestamp) -> ExitRecord {
    ExitRecord {
        ended,
        why: Some(why.to_owned()),
        code: None,
        signal: None,
        started_at: at,
        ended_at: Clock::System.now(),
        left_behind: 0,
        lines: 0,
        bytes: 0,
        dropped_lines: 0,
        dropped_bytes: 0,
        unwritten_bytes: 0,
        last: Position::default(),
    }
}

/// An error in one line, with its reason.
fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Writes down the end. Without it nobody would know how the agent ended, so a full disk is waited for.
fn write_exit(exit: &ExitRecord) -> Result<(), FileError> {
    let path = Path::new("exit.json");
    let mut tries = 1;
    loop {
        match write_json(path, exit) {
            Err(error) if tries < MAX_EXIT_WRITE_ATTEMPTS && is_full(&error.source) => {
                tries += 1;
                std::thread::sleep(Duration::from_secs(1));
            }
            done => return done,
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
