//! Short commands: run to their end, with a limit in time and their output in memory.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

#[cfg(target_os = "linux")]
use super::die_with_parent;
use super::signal::{pid_of, wait_gone};
use super::{Exit, Launch, StartError};

/// Time limit for output that a leftover process holds open after its parent has ended.
const LEFTOVER_TIMEOUT: Duration = Duration::from_secs(2);

/// Output of a short command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// End of the process
    pub exit: Exit,
    /// Standard output
    pub stdout: Vec<u8>,
    /// Standard error
    pub stderr: Vec<u8>,
}

/// A short command that gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It did not start
    #[error(transparent)]
    Start(#[from] StartError),
    /// It did not end in time and was killed
    #[error("`{}` did not end within {} ms", program.display(), limit.as_millis())]
    TooSlow {
        /// Program
        program: PathBuf,
        /// Time limit
        limit: Duration,
    },
    /// Its output or its end could not be read
    #[error("could not follow `{}`", program.display())]
    Follow {
        /// Program
        program: PathBuf,
        /// Why it could not be followed
        #[source]
        source: io::Error,
    },
}

/// Runs a short command to its end; past the limit it is killed with everything it started. Where the system can
/// see to that, it dies with the caller.
pub fn run(launch: &Launch, limit: Duration) -> Result<Output, RunError> {
    run_with_input(launch, &[], limit)
}

/// The same for a command that reads `input`.
pub fn run_with_input(launch: &Launch, input: &[u8], limit: Duration) -> Result<Output, RunError> {
    let follow = |source| RunError::Follow { program: launch.program.clone(), source };
    let mut command = launch.command();
    if !input.is_empty() {
        command.stdin(Stdio::piped());
    }
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    // It is the thread whose death counts, and this one waits for the end.
    #[cfg(target_os = "linux")]
    die_with_parent(&mut command);
    let mut child = command.spawn().map_err(|error| launch.failed(error))?;
    let (stdout, stderr) = (Drain::of(child.stdout.take()), Drain::of(child.stderr.take()));
    if let Some(mut pipe) = child.stdin.take() {
        let input = input.to_owned();
        // A program that does not read to the end has a reason of its own, which it reports.
        thread::spawn(move || drop(pipe.write_all(&input)));
    }
    let in_time = wait_gone(child.id(), limit);
    if let (false, Some(group)) = (in_time, pid_of(child.id())) {
        // It may end by itself in this very moment; it is gone either way.
        _ = rustix::process::kill_process_group(group, Signal::KILL);
    }
    let status = child.wait().map_err(follow)?;
    if !in_time {
        return Err(RunError::TooSlow { program: launch.program.clone(), limit });
    }
    let until = Instant::now() + LEFTOVER_TIMEOUT;
    Ok(Output {
        exit: status.into(),
        stdout: stdout.take(until).map_err(follow)?,
        stderr: stderr.take(until).map_err(follow)?,
    })
}

/// Output of a program so far, read by a thread.
struct Drain {
    bytes: Arc<Mutex<Vec<u8>>>,
    over: mpsc::Receiver<io::Result<()>>,
}

impl Drain {
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let (bytes, (done, over)) = (Arc::<Mutex<Vec<u8>>>::default(), mpsc::channel());
        let kept = Arc::clone(&bytes);
        thread::spawn(move || {
            let mut part = vec![0; 64 * 1024];
            let read = || -> io::Result<()> {
                let Some(mut pipe) = pipe else { return Ok(()) };
                loop {
                    match pipe.read(&mut part) {
                        Ok(0) => return Ok(()),
                        Ok(count) => {
                            let mut bytes = kept.lock().unwrap_or_else(PoisonError::into_inner);
                            bytes.extend_from_slice(part.get(..count).unwrap_or_default());
                        }
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
            };
            // The caller may have gone.
            drop(done.send(read()));
        });
        Self { bytes, over }
    }

    /// Everything that was written, once the program has ended. What it started and left behind may hold the pipe
    /// open for ever, such as a helper that remembers passwords: nobody waits for that.
    fn take(self, until: Instant) -> io::Result<Vec<u8>> {
        match self.over.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(read) => read?,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the reader panicked"));
            }
        }
        Ok(std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}
