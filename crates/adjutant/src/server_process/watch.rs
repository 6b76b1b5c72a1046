//! The watcher of a server in the background: starts it again when it crashes, and knows no more.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use host::process::{self, Exit, Launch, StartError, Started};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep};

use crate::server_process::connect::{self, Ending};

/// Maximum restarts within [`WINDOW`].
const MAX_RESTARTS: usize = 5;
const WINDOW: Duration = Duration::from_secs(60);
/// The pause before each restart in the window: none before the first, a client may be waiting.
const RESTART_DELAYS: [Duration; MAX_RESTARTS] = [
    Duration::ZERO,
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1600),
    Duration::from_millis(6400),
];

/// Why a server is watched no longer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WatchError {
    /// It did not come up, or crashed too often.
    #[error("the server ended ({0})")]
    Ended(Ending),
    /// It could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It could not be followed.
    #[error("could not follow the server")]
    Follow(#[from] io::Error),
}

/// Serves in a session of its own through a child, until the child ends content or is not wanted.
pub(crate) async fn watch(serve: &Launch, server_files: &[PathBuf]) -> Result<(), WatchError> {
    process::own_session()?;
    keep_up(serve, server_files).await
}

async fn keep_up(serve: &Launch, server_files: &[PathBuf]) -> Result<(), WatchError> {
    let mut signals = Signals::new()?;
    let mut restarts = Restarts::default();
    loop {
        let mut child = process::start_sharing(serve)?;
        let pid = child.pid();
        let (exit, asked) = follow(&mut child, &mut signals).await?;
        // A server that never came up has no file, and one that was ended has taken it along.
        let is_note = |file: &PathBuf| connect::read_note(file).is_ok_and(|note| note.is_some());
        let noted = server_files.iter().any(is_note);
        let wanted = if noted && !asked { WatchOutcome::Up } else { WatchOutcome::Down };
        match restarts.after(exit, wanted, Instant::now()) {
            Next::End => return Ok(()),
            Next::GiveUp => return Err(WatchError::Ended(Ending(exit))),
            Next::Restart(pause) => {
                let exit = Ending(exit);
                tracing::warn!(pid, %exit, "the server crashed; restarting it");
                tokio::select! {
                    () = sleep(pause) => {}
                    () = signals.asked() => return Ok(()),
                }
            }
        }
    }
}

/// Waits for the child's end, and passes the request to end on to it.
async fn follow(child: &mut Started, signals: &mut Signals) -> io::Result<(Exit, bool)> {
    let mut asked = false;
    loop {
        if let Some(exit) = child.exited()? {
            return Ok((exit, asked));
        }
        tokio::select! {
            // The child may have ended before this; the kernel has told the listener all the same.
            _ = signals.child.recv() => {}
            _ = signals.end.recv() => asked = true,
            _ = signals.interrupt.recv() => asked = true,
        }
        if asked {
            process::terminate(child.pid())?;
        }
    }
}

struct Signals {
    child: Signal,
    end: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            child: signal(SignalKind::child())?,
            end: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn asked(&mut self) {
        tokio::select! {
            _ = self.end.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Whether the server should run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchOutcome {
    Up,
    Down,
}

/// Action after a child has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    End,
    GiveUp,
    Restart(Duration),
}

/// The restarts of the last minute.
#[derive(Debug, Default)]
struct Restarts(VecDeque<Instant>);

impl Restarts {
    fn after(&mut self, exit: Exit, wanted: WatchOutcome, now: Instant) -> Next {
        while self.0.front().is_some_and(|&at| now.duration_since(at) > WINDOW) {
            self.0.pop_front();
        }
        match RESTART_DELAYS.get(self.0.len()) {
            _ if exit.is_success() => Next::End,
            Some(&pause) if wanted == WatchOutcome::Up => {
                self.0.push_back(now);
                Next::Restart(pause)
            }
            _ => Next::GiveUp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[tokio::test]
    async fn a_server_that_keeps_crashing_is_given_up() {
        let (mut restarts, start) = (Restarts::default(), Instant::now());
        let second = Duration::from_secs(1);
        let crash = Exit::Signal(9);
        for (number, pause) in (0_u32..).zip(RESTART_DELAYS) {
            assert_eq!(
                restarts.after(crash, WatchOutcome::Up, start + second * number),
                Next::Restart(pause)
            );
        }
        assert_eq!(restarts.after(crash, WatchOutcome::Up, start + second * 5), Next::GiveUp);
        // A minute later it may try again.
        let later = start + second * 120;
        assert_eq!(
            restarts.after(Exit::Code(70), WatchOutcome::Up, later),
            Next::Restart(Duration::ZERO)
        );
        assert_eq!(restarts.after(Exit::Code(0), WatchOutcome::Up, later), Next::End);
        assert_eq!(restarts.after(Exit::Code(2), WatchOutcome::Down, later), Next::GiveUp);
    }

    fn sh(script: &str, directory: &Path) -> Launch {
        Launch {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            directory: directory.to_owned(),
        }
    }

    const NOTE: &str = r#"{"url":"http://127.0.0.1:1","pid":1,"version":"0",
        "startedAt":"2026-01-01T00:00:00.000Z"}"#;

    #[tokio::test]
    async fn a_crash_is_followed_by_a_start_and_a_good_end_by_none() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("server.json");
        // The first life crashes, the second ends content.
        let script = format!(
            "echo life >> lives; [ -e server.json ] && exit 0; \
             echo '{NOTE}' > server.json; kill -9 $$"
        );
        keep_up(&sh(&script, dir.path()), &[file]).await.unwrap();
        let lives = std::fs::read_to_string(dir.path().join("lives")).unwrap();
        assert_eq!(lives, "life\nlife\n");
    }

    #[tokio::test]
    async fn a_server_that_never_came_up_is_not_started_again() {
        let dir = tempfile::tempdir().unwrap();
        let serve = sh("echo life >> lives; exit 2", dir.path());
        let error = keep_up(&serve, &[dir.path().join("server.json")]).await.unwrap_err();
        assert_eq!(error.to_string(), "the server ended (exit code 2)");
        assert_eq!(std::fs::read_to_string(dir.path().join("lives")).unwrap(), "life\n");
    }
}
