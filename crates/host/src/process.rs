//! The only place that starts a process.
//!
//! A program is started with the directory and the environment it is given and nothing inherited.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

#[cfg(target_os = "linux")]
pub(crate) mod clone;
#[cfg(target_os = "linux")]
mod forked;
mod short;
mod signal;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

#[cfg(target_os = "linux")]
pub(crate) use forked::Forked;
pub use short::{Output, RunError, run, run_with_input};
pub(crate) use signal::pid_of;
pub use signal::{die, exit_now, is_alive, is_stopped, kill, terminate, wait_gone};

/// A log is set aside at the next start once it is this long.
const MAX_LOG_BYTES: u64 = 8 * 1024 * 1024;

/// Command with its directory and environment.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program
    pub program: PathBuf,
    /// Its arguments
    pub arguments: Vec<OsString>,
    /// Its whole environment
    pub environment: Vec<(OsString, OsString)>,
    /// Its working directory
    pub directory: PathBuf,
}

impl Launch {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.directory)
            .stdin(Stdio::null());
        command
    }

    fn failed(&self, source: io::Error) -> StartError {
        StartError { program: self.program.clone(), directory: self.directory.clone(), source }
    }
}

/// A program that could not be started.
#[derive(Debug, thiserror::Error)]
#[error("could not start `{}` in `{}`", program.display(), directory.display())]
pub struct StartError {
    /// Program that could not be started
    pub program: PathBuf,
    /// Where it was to be started: a missing folder fails like a missing program
    pub directory: PathBuf,
    /// Why it did not start
    #[source]
    pub source: io::Error,
}

/// End of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself
    Code(i32),
    /// A signal ended it
    Signal(i32),
}

impl Exit {
    /// True for exit code 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

/// A process that goes on when this value is dropped.
#[derive(Debug)]
pub struct Started(Child);

impl Started {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Reaps the process if it has ended; its process id may be reused afterwards.
    pub fn exited(&mut self) -> io::Result<Option<Exit>> {
        Ok(self.0.try_wait()?.map(Exit::from))
    }

    /// Ends it and waits until it is gone.
    #[cfg(target_os = "linux")]
    pub(crate) fn end(mut self) {
        // It may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Starts a program in the background: nothing to read, its output appended to `log`.
///
/// The program leaves the caller's terminal itself, by calling [`own_session`] first.
pub fn start_detached(launch: &Launch, log: &Path) -> Result<Started, StartError> {
    let started = || {
        if fs::metadata(log).is_ok_and(|is| is.len() > MAX_LOG_BYTES) {
            fs::rename(log, log.with_extension("log.1"))?;
        }
        let output = OpenOptions::new().create(true).append(true).mode(0o600).open(log)?;
        let errors = output.try_clone()?;
        launch.command().stdout(output).stderr(errors).spawn()
    };
    started().map(Started).map_err(|error| launch.failed(error))
}

/// Starts a program that nobody listens to, and that goes on when the caller's terminal is closed.
pub fn start_in_own_group(launch: &Launch) -> Result<Started, StartError> {
    let mut command = launch.command();
    // A terminal that closes ends the group in its foreground.
    command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(Started).map_err(|error| launch.failed(error))
}

/// Starts a program that shares the caller's output and session.
pub fn start_sharing(launch: &Launch) -> Result<Started, StartError> {
    launch.command().spawn().map(Started).map_err(|error| launch.failed(error))
}

/// A program that ends when its starter does, and is heard by it.
#[derive(Debug)]
pub struct Tied {
    /// The process
    pub process: Started,
    /// Its output, of both streams
    pub output: io::PipeReader,
    /// Its standard input, to which nothing is written: its end tells the program that the starter is gone
    pub tie: io::PipeWriter,
}

/// Starts a program that leads a process group of its own, so that a terminal's signals reach its starter alone, and
/// that is told by the end of its standard input when the starter is gone, whatever ended that.
pub fn start_tied(launch: &Launch) -> Result<Tied, StartError> {
    let start = || -> io::Result<Tied> {
        let (stdin, tie) = io::pipe()?;
        let (output, theirs) = io::pipe()?;
        let mut command = launch.command();
        command.process_group(0).stdin(stdin).stdout(theirs.try_clone()?).stderr(theirs);
        Ok(Tied { process: Started(command.spawn()?), output, tie })
    };
    start().map_err(|error| launch.failed(error))
}

/// Waits for the end of the standard input, on a thread of its own, and then asks this process to end as a service
/// manager does. For a program that [`start_tied`] has started.
pub fn end_with_starter() -> io::Result<()> {
    let wait = || {
        // Nothing is ever written there; an error ends it as well.
        drop(io::copy(&mut io::stdin(), &mut io::sink()));
        drop(terminate(std::process::id()));
    };
    thread::Builder::new().name("starter".to_owned()).spawn(wait).map(drop)
}

/// Starts a program in the background that reads and writes these pipes.
///
/// The runtime reaps it: once the handle is dropped nobody needs to wait for it.
pub(crate) fn start_reaped(
    launch: &Launch,
    stdin: io::PipeReader,
    stdout: io::PipeWriter,
) -> Result<tokio::process::Child, StartError> {
    let mut command = launch.command();
    command.stdin(stdin).stdout(stdout).stderr(Stdio::null());
    let started = tokio::process::Command::from(command).spawn();
    started.map_err(|error| launch.failed(error))
}

/// Starts a program in the background whose standard input is a socket to the caller.
#[cfg(target_os = "linux")]
pub(crate) fn start_connected(launch: &Launch, socket: OwnedFd) -> Result<Started, StartError> {
    let mut command = launch.command();
    command.stdin(socket).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(Started).map_err(|error| launch.failed(error))
}

/// Writes everything into a pipe, without waiting until it is read.
pub(crate) fn feed(mut writer: io::PipeWriter, bytes: Vec<u8>) -> io::Result<()> {
    let rest = fill(&mut writer, bytes)?;
    if !rest.is_empty() {
        // It waits until it is read. A program that ends before says so by its end.
        thread::spawn(move || drop(writer.write_all(&rest)));
    }
    Ok(())
}

/// Writes as much as a pipe holds, and returns the rest.
fn fill(writer: &mut io::PipeWriter, mut bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    rustix::io::ioctl_fionbio(&*writer, true)?;
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match writer.write(rest) {
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Full, or nobody reads it any more: a second write shows which.
            Err(_) => break,
        }
    }
    rustix::io::ioctl_fionbio(&*writer, false)?;
    Ok(bytes.split_off(written))
}

/// A program whose output is read through pipes. The code that drops this reaps it by its process id.
#[derive(Debug)]
pub(crate) struct PipedProgram {
    /// Its process id
    pub(crate) pid: u32,
    /// Its standard input, where that is a pipe
    pub(crate) stdin: Option<OwnedFd>,
    /// Its standard output
    pub(crate) stdout: OwnedFd,
    /// Its standard error
    pub(crate) stderr: OwnedFd,
}

/// Starts a program that leads a process group of its own, is heard through pipes, and dies with the
/// caller, where the system can see to that. Without `stdin` it gets a pipe for that, too.
///
/// `group` is the folder of the control group that it is started in, before it is the program.
pub(crate) fn start_piped(
    launch: &Launch,
    stdin: Option<Stdio>,
    group: Option<&File>,
) -> Result<PipedProgram, StartError> {
    let start = || -> io::Result<PipedProgram> {
        let (own_end, theirs) = match stdin {
            Some(stdin) => (None, stdin),
            None => io::pipe().map(|(reader, writer)| (Some(writer.into()), reader.into()))?,
        };
        let ((stdout, their_stdout), (stderr, their_stderr)) = (io::pipe()?, io::pipe()?);
        let mut command = launch.command();
        command.process_group(0).stdin(theirs).stdout(their_stdout).stderr(their_stderr);
        #[cfg(target_os = "linux")]
        die_with_parent(&mut command);
        let pid = spawn_in(&mut command, group)?;
        Ok(PipedProgram { pid, stdin: own_end, stdout: stdout.into(), stderr: stderr.into() })
    };
    start().map_err(|error| launch.failed(error))
}

/// Starts a program in a control group. Moving a process there after its start makes every start and every end
/// on the machine wait; where the kernel cannot start one there, that is the way all the same.
fn spawn_in(command: &mut Command, group: Option<&File>) -> io::Result<u32> {
    let Some(group) = group else { return command.spawn().map(|child| child.id()) };
    #[cfg(target_os = "linux")]
    if let Some(started) = clone::spawn_into(command, group) {
        return started;
    }
    let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::CLOEXEC;
    if let Ok(procs) = rustix::fs::openat(group, "cgroup.procs", flags, rustix::fs::Mode::empty()) {
        enter_group(command, procs.into());
    }
    command.spawn().map(|child| child.id())
}

#[expect(unsafe_code, reason = "only the new process can enter, before it is the program")]
fn enter_group(command: &mut Command, group: File) {
    let enter = move || {
        // One that may not enter runs without: it is then found by its other marks.
        _ = rustix::io::write(&group, b"0");
        Ok(())
    };
    // SAFETY: between fork and exec it makes one system call; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(enter) };
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "only the new process can ask for this, before it is the program")]
fn die_with_parent(command: &mut Command) {
    use rustix::process::{getpid, getppid, set_parent_process_death_signal};

    let parent = getpid();
    let ask = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // Had the parent died before we asked, nobody would tell us.
        if getppid() == Some(parent) { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
    };
    // SAFETY: between fork and exec it makes two system calls; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(ask) };
}

/// The monotonic clock, for what has no runtime whose clock a test could move.
pub(crate) fn monotonic() -> Instant {
    Instant::now()
}

/// Waits, for what has no runtime and nothing to wait on.
pub(crate) fn pause(time: Duration) {
    thread::sleep(time);
}

/// Makes this process the leader of a session of its own, so that its starter's terminal cannot end it.
pub fn own_session() -> io::Result<()> {
    match rustix::process::setsid() {
        // A leader of its own group may not, and need not: nobody shares its group.
        Ok(_) | Err(rustix::io::Errno::PERM) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Allows this process as many open files as it may have: each who waits holds a connection.
pub fn raise_open_files() -> io::Result<()> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    Ok(setrlimit(Resource::Nofile, limit)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST_TIMEOUT: Duration = Duration::from_secs(10);

    fn sh(script: &str, directory: &Path) -> Launch {
        Launch {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: vec![
                ("PATH".into(), "/usr/bin:/bin".into()),
                ("GIVEN".into(), "given".into()),
            ],
            directory: directory.to_owned(),
        }
    }

    #[test]
    fn a_program_has_the_environment_and_directory_it_was_given() {
        let dir = tempfile::tempdir().unwrap();
        let output =
            run(&sh("echo $GIVEN$HOME; pwd; echo bad >&2; exit 3", dir.path()), TEST_TIMEOUT);
        let real = fs::canonicalize(dir.path()).unwrap();
        assert_eq!(
            output.unwrap(),
            Output {
                exit: Exit::Code(3),
                stdout: format!("given\n{}\n", real.display()).into_bytes(),
                stderr: b"bad\n".to_vec(),
            }
        );
    }

    #[test]
    fn a_program_reads_what_it_is_given() {
        let dir = tempfile::tempdir().unwrap();
        // More than a pipe holds, so that writing and reading must go on side by side.
        let input = vec![b'x'; 1 << 20];
        let output = run_with_input(&sh("cat", dir.path()), &input, TEST_TIMEOUT).unwrap();
        assert_eq!(output.stdout.len(), input.len());
        // One that does not care is not waited for.
        let output = run_with_input(&sh("exit 4", dir.path()), &input, TEST_TIMEOUT).unwrap();
        assert_eq!(output.exit, Exit::Code(4));
    }

    #[test]
    fn what_a_program_leaves_behind_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        // The one left behind has the pipes, and is in a session of its own.
        let script = "setsid sleep 1000 & echo $! > left; echo said";
        let output = run(&sh(script, dir.path()), TEST_TIMEOUT).unwrap();
        assert_eq!(output.stdout, b"said\n");
        let left = fs::read_to_string(dir.path().join("left")).unwrap();
        kill(left.trim().parse().unwrap()).unwrap();
    }

    #[test]
    fn a_program_past_its_limit_is_ended_with_its_children() {
        let dir = tempfile::tempdir().unwrap();
        // The grandchild holds the pipe: reading would hang if it were left alive.
        let slow = sh("sleep 1000 & sleep 1000", dir.path());
        let error = run(&slow, Duration::from_millis(20)).unwrap_err();
        assert_eq!(error.to_string(), "`/bin/sh` did not end within 20 ms");
    }

    #[test]
    fn a_missing_program_is_named() {
        let launch = Launch { program: "/nonexistent/x".into(), ..sh("", Path::new("/")) };
        let error = run(&launch, TEST_TIMEOUT).unwrap_err();
        assert_eq!(error.to_string(), "could not start `/nonexistent/x` in `/`");
    }

    #[test]
    fn a_detached_program_writes_its_log_and_is_seen_to_end() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("x.log");
        let mut started =
            start_detached(&sh("echo out; echo err >&2; exit 7", dir.path()), &log).unwrap();
        assert!(wait_gone(started.pid(), TEST_TIMEOUT));
        assert!(!is_alive(started.pid()), "a zombie is not alive");
        assert_eq!(started.exited().unwrap(), Some(Exit::Code(7)));
        assert_eq!(fs::read_to_string(&log).unwrap(), "out\nerr\n");
    }

    #[test]
    fn a_process_is_asked_to_end_and_then_made_to() {
        let dir = tempfile::tempdir().unwrap();
        let ready = dir.path().join("ready");
        assert!(run(&sh("mkfifo ready", dir.path()), TEST_TIMEOUT).unwrap().exit.is_success());
        assert!(run(&sh("mkfifo never", dir.path()), TEST_TIMEOUT).unwrap().exit.is_success());
        // It waits by itself, for a pipe that nobody writes: a child would outlive it.
        let deaf = "trap '' TERM; echo > ready; while :; do read x < never; done";
        let mut started = start_sharing(&sh(deaf, dir.path())).unwrap();
        // Opening the pipe waits until the script has set its trap.
        fs::read_to_string(&ready).unwrap();
        terminate(started.pid()).unwrap();
        assert!(!wait_gone(started.pid(), Duration::from_millis(20)));
        assert!(is_alive(started.pid()));
        kill(started.pid()).unwrap();
        assert!(wait_gone(started.pid(), TEST_TIMEOUT));
        assert_eq!(started.exited().unwrap(), Some(Exit::Signal(9)));
        kill(started.pid()).unwrap();
    }

    #[test]
    fn no_process_has_the_number_zero() {
        assert!(!is_alive(0));
        assert!(!is_alive(u32::MAX));
        assert!(wait_gone(u32::MAX, Duration::ZERO));
        terminate(0).unwrap();
    }
}
