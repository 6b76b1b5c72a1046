//! Actions of a scripted agent in its folder: files, commits, programs. Never outside it.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use host::files::{self, FileError, Mode};
use host::process::{self, Exit, Launch, Output, RunError, StartError};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep, timeout};

use crate::environment::Environment;

/// Fallback identity for commits.
const NOBODY: [(&str, &str); 2] =
    [("user.name", "Scripted agent"), ("user.email", "agent@adjutant.invalid")];
/// Timeout of a git step.
const GIT: Duration = Duration::from_secs(60);
/// Retry time while another agent uses the same repository.
const BUSY: Duration = Duration::from_secs(10);
/// First poll interval for a file; it grows with time.
const FIRST_POLL_INTERVAL: Duration = Duration::from_millis(5);
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The folder an agent works in, and what its programs are given.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

/// Work that could not be done.
#[derive(Debug, thiserror::Error)]
pub(super) enum WorkError {
    /// A path that leads out of the folder.
    #[error("`{0}` leads out of the folder in which the agent works")]
    Outside(String),
    /// A file that could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file that did not come.
    #[error("`{path}` did not come within {} s", limit.as_secs_f64())]
    NoFile {
        /// Awaited path
        path: String,
        /// Time limit
        limit: Duration,
    },
    /// A program that did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A program that could not be followed.
    #[error("could not follow `{program}`")]
    Follow {
        /// Program
        program: String,
        /// Why
        #[source]
        source: io::Error,
    },
    /// A program that ended in another way than it should.
    #[error("`{program}` should exit with {code}, and {}", ended(*exit))]
    Ended {
        /// Program
        program: String,
        /// Expected exit code
        code: i32,
        /// Kind of the event
        exit: Exit,
    },
    /// Git gave no answer.
    #[error("git did not run")]
    NoGit(#[from] RunError),
    /// Git refused.
    #[error("`git {step}` failed: {printed}")]
    Git {
        /// Command
        step: &'static str,
        /// Text
        printed: String,
    },
}

fn ended(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exited with {code}"),
        Exit::Signal(signal) => format!("was ended by signal {signal}"),
    }
}

/// Outcome of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Committed {
    Yes,
    /// Nothing had changed, or another agent had committed it
    Nothing,
}

impl Folder {
    pub(super) fn new(env: &Environment) -> Self {
        Self { path: env.cwd.clone(), environment: env.vars.clone() }
    }

    /// Writes a file, and the folders it lies in.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), WorkError> {
        Ok(files::write(&self.prepared(path)?, text, Mode::Shared)?)
    }

    /// Adds to the end of a file.
    pub(super) fn append(&self, path: &str, text: &str) -> Result<(), WorkError> {
        Ok(files::append(&self.prepared(path)?, text)?)
    }

    /// Where a file of the folder is; the folders above it are made.
    fn prepared(&self, path: &str) -> Result<PathBuf, WorkError> {
        let outside = || WorkError::Outside(path.to_owned());
        let inner = Path::new(path);
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if inner.file_name().is_none() || !inner.components().all(plain) {
            return Err(outside());
        }
        let root = self.path.canonicalize().map_err(files::at("find", &self.path))?;
        let target = self.path.join(inner);
        // A link may lead out of the folder: what is there already decides.
        let there = target.ancestors().find_map(|above| above.canonicalize().ok());
        if !there.is_some_and(|there| there.starts_with(&root)) || dangles(&target) {
            return Err(outside());
        }
        if let Some(above) = target.parent() {
            files::make_dir(above, Mode::Shared)?;
        }
        Ok(target)
    }

    /// Waits until there is such a file.
    pub(super) async fn wait(&self, path: &str, limit: Duration) -> Result<(), WorkError> {
        let file = self.path.join(path);
        let (began, mut pause) = (Instant::now(), FIRST_POLL_INTERVAL);
        while !file.exists() {
            let left = limit.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Err(WorkError::NoFile { path: path.to_owned(), limit });
            }
            sleep(pause.min(left)).await;
            pause = MAX_POLL_INTERVAL.min(pause * 2);
        }
        Ok(())
    }

    /// Runs a program that shares the agent's output, and waits for it where a code is expected.
    pub(super) async fn run(&self, command: &[String], code: Option<i32>) -> Result<(), WorkError> {
        let [program, arguments @ ..] = command else { return Ok(()) };
        let follow = |source| WorkError::Follow { program: program.clone(), source };
        // Before the start, so that an end in the next moment is noticed.
        let mut ends = signal(SignalKind::child()).map_err(follow)?;
        let mut child = process::start_sharing(&self.launch(program, arguments))?;
        let Some(code) = code else { return Ok(()) };
        loop {
            match child.exited().map_err(follow)? {
                Some(exit) if exit == Exit::Code(code) => return Ok(()),
                Some(exit) => {
                    return Err(WorkError::Ended { program: program.clone(), code, exit });
                }
                None => ends.recv().await,
            };
        }
    }

    fn launch(&self, program: &str, arguments: &[String]) -> Launch {
        Launch {
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: self.environment.clone(),
            directory: self.path.clone(),
        }
    }

    /// Commits everything in the folder's repository.
    pub(super) async fn commit(&self, message: &str) -> Result<Committed, WorkError> {
        let mut who = Vec::new();
        for (key, value) in NOBODY {
            if !self.git(&["config", "--get", key]).await?.exit.is_success() {
                who.extend(["-c".to_owned(), format!("{key}={value}")]);
            }
        }
        self.patiently("add", &["add", "-A"]).await?;
        let who: Vec<&str> = who.iter().map(String::as_str).collect();
        let commit = ["-c", "commit.gpgSign=false", "commit", "-q", "-m", message];
        match self.patiently("commit", &[&who[..], &commit].concat()).await {
            Err(WorkError::Git { printed, .. }) if printed.contains("nothing to commit") => {
                Ok(Committed::Nothing)
            }
            done => done.map(|()| Committed::Yes),
        }
    }

    /// Lets git do a step, again while another holds the repository's lock.
    async fn patiently(&self, step: &'static str, arguments: &[&str]) -> Result<(), WorkError> {
        let tries = async {
            loop {
                let done = self.git(arguments).await?;
                let printed =
                    String::from_utf8_lossy(&[done.stderr, done.stdout].concat()).trim().to_owned();
                match done.exit.is_success() {
                    true => return Ok(()),
                    false if printed.contains("index.lock") => sleep(MAX_POLL_INTERVAL).await,
                    false => return Err(WorkError::Git { step, printed }),
                }
            }
        };
        let busy = |_| WorkError::Git { step, printed: "the repository is busy".to_owned() };
        timeout(BUSY, tries).await.map_err(busy)?
    }

    async fn git(&self, arguments: &[&str]) -> Result<Output, WorkError> {
        let arguments: Vec<String> =
            arguments.iter().map(|&argument| argument.to_owned()).collect();
        let mut launch = self.launch("git", &arguments);
        // Its words are looked at.
        launch.environment.push(("LC_ALL".into(), "C".into()));
        let ran = tokio::task::spawn_blocking(move || process::run(&launch, GIT)).await;
        let follow = |error| WorkError::Follow {
            program: "git".to_owned(),
            source: io::Error::other(error),
        };
        Ok(ran.map_err(follow)??)
    }
}

/// True for a dangling link: writing would create its target.
fn dangles(path: &Path) -> bool {
    path.is_symlink() && !path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(path: &Path) -> Folder {
        let vars = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("GIT_CONFIG_GLOBAL", "/dev/null")];
        Folder::new(&Environment::from_vars(path, vars))
    }

    #[test]
    fn nothing_is_written_outside() {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("inside");
        std::fs::create_dir(&inside).unwrap();
        for (link, to) in [("up", ".."), ("gone", "../gone.txt"), ("here", ".")] {
            std::os::unix::fs::symlink(to, inside.join(link)).unwrap();
        }
        let folder = folder(&inside);
        for path in ["../x", "/tmp/x", "", ".", "a/../../x", "up/x", "gone", "up"] {
            let error = folder.write(path, "x").unwrap_err();
            assert!(matches!(error, WorkError::Outside(_)), "{path}: {error}");
        }
        folder.write("a/b/c.txt", "one\n").unwrap();
        folder.append("./here/a/b/c.txt", "two\n").unwrap();
        assert_eq!(std::fs::read_to_string(inside.join("a/b/c.txt")).unwrap(), "one\ntwo\n");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn a_program_must_end_as_expected() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        let sh = |script: &str| ["sh", "-c", script].map(str::to_owned).to_vec();
        folder.run(&sh("exit 3"), Some(3)).await.unwrap();
        let error = folder.run(&sh("exit 3"), Some(0)).await.unwrap_err();
        assert_eq!(error.to_string(), "`sh` should exit with 0, and exited with 3");
        let error = folder.run(&sh("kill -9 $$"), Some(0)).await.unwrap_err();
        assert_eq!(error.to_string(), "`sh` should exit with 0, and was ended by signal 9");
        assert!(folder.run(&["/nonexistent".to_owned()], Some(0)).await.is_err());
        // Nobody waits for the one in the background, but for what it does.
        folder.run(&sh("echo > made"), None).await.unwrap();
        folder.wait("made", Duration::from_secs(30)).await.unwrap();
        let error = folder.wait("never", Duration::ZERO).await.unwrap_err();
        assert_eq!(error.to_string(), "`never` did not come within 0 s");
    }

    #[tokio::test]
    async fn a_commit_has_an_author_of_the_configuration_or_a_fixed_one() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        assert!(matches!(folder.commit("x").await, Err(WorkError::Git { step: "add", .. })));
        assert!(folder.git(&["init", "-q"]).await.unwrap().exit.is_success());
        folder.write("a", "1").unwrap();
        assert_eq!(folder.commit("one").await.unwrap(), Committed::Yes);
        assert_eq!(folder.commit("none").await.unwrap(), Committed::Nothing);
        for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.org")] {
            assert!(folder.git(&["config", key, value]).await.unwrap().exit.is_success());
        }
        folder.write("a", "2").unwrap();
        assert_eq!(folder.commit("two").await.unwrap(), Committed::Yes);
        let log = folder.git(&["log", "--format=%an <%ae> %s"]).await.unwrap();
        assert_eq!(
            String::from_utf8(log.stdout).unwrap(),
            "Ada <ada@example.org> two\nScripted agent <agent@adjutant.invalid> one\n"
        );
    }
}
