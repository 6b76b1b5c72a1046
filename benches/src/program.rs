//! The only place in this crate that starts a program or looks at the clock on the wall.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, Result, bail, ensure};
use tokio::signal::unix::{SignalKind, signal};

/// A program that ends when nobody looks after it any more.
#[derive(Debug)]
pub(crate) struct Running(Child);

impl Running {
    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// The first line it prints.
    pub(crate) fn first_line(&mut self) -> Result<String> {
        let stdout = self.0.stdout.as_mut().context("its output is not ours")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).context("it printed nothing")?;
        Ok(line.trim().to_owned())
    }

    /// Writes lines to it and reads until a line has come that answers the last of them.
    pub(crate) fn ask(&mut self, lines: &[&str], is_answer: fn(&str) -> bool) -> Result<()> {
        let stdin = self.0.stdin.as_mut().context("its input is not ours")?;
        for line in lines {
            writeln!(stdin, "{line}").context("it does not listen")?;
        }
        stdin.flush().context("it does not listen")?;
        let stdout = self.0.stdout.as_mut().context("its output is not ours")?;
        for line in BufReader::new(stdout).lines() {
            if is_answer(&line.context("it stopped in the middle of a line")?) {
                return Ok(());
            }
        }
        bail!("it ended without an answer")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// What to run, and in which surroundings.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// The file
    pub(crate) file: PathBuf,
    /// Where it runs
    pub(crate) folder: PathBuf,
    /// Its environment
    pub(crate) environment: Vec<(&'static str, PathBuf)>,
}

impl Program {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.file);
        command.args(arguments).current_dir(&self.folder).env_clear();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs it to its end, and gives what it printed.
    pub(crate) fn output(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.command(arguments);
        let output =
            command.output().with_context(|| format!("could not run `{}`", self.file.display()))?;
        ensure!(
            output.status.success(),
            "`adjutant {}` failed: {}{}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).context("it printed no UTF-8")
    }

    /// Starts it.
    pub(crate) fn start(&self, arguments: &[&str]) -> Result<Running> {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command
            .spawn()
            .with_context(|| format!("could not start `{}`", self.file.display()))?;
        Ok(Running(child))
    }
}

/// Starts a program by itself and follows it to its end; says how long its first output took.
pub(crate) fn plain(command: &[&str]) -> Result<Duration> {
    let (program, arguments) = command.split_first().context("no program")?;
    let began = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start `{program}`"))?;
    let mut stdout = child.stdout.take().context("its output is not ours")?;
    stdout.read_exact(&mut [0]).context("it printed nothing")?;
    let took = began.elapsed();
    ensure!(child.wait().context("it does not end")?.success(), "`{program}` failed");
    Ok(took)
}

/// Makes a gate: a named pipe at which anyone who reads waits until it is [opened](open_gate).
pub(crate) fn make_gate(path: &Path) -> Result<()> {
    let made = Command::new("mkfifo").arg(path).status().context("could not run `mkfifo`")?;
    ensure!(made.success(), "`mkfifo` failed");
    Ok(())
}

/// Lets everybody through who waits at a gate. Somebody must.
pub(crate) fn open_gate(path: &Path) -> Result<()> {
    std::fs::OpenOptions::new().write(true).open(path).map(drop).context("the gate does not open")
}

/// The time on the wall, in milliseconds since 1970.
pub(crate) fn now() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64() * 1000.0
}

/// This program once more.
pub(crate) fn again(arguments: &[&str]) -> Result<Running> {
    let file = std::env::current_exe().context("where am I?")?;
    Program { file, folder: PathBuf::from("."), environment: Vec::new() }.start(arguments)
}

/// The program that was built beside this one.
pub(crate) fn beside(name: &str) -> Result<PathBuf> {
    let here = std::env::current_exe().context("where am I?")?;
    Ok(here.parent().unwrap_or(Path::new(".")).join(name))
}

/// What this process was given to find programs and its home with.
pub(crate) fn surroundings() -> Vec<(&'static str, PathBuf)> {
    let keep = |name: &'static str| std::env::var_os(name).map(|value| (name, value.into()));
    ["PATH", "HOME"].into_iter().filter_map(keep).collect()
}

/// Waits until somebody wants this process to end.
pub(crate) async fn asked_to_stop() -> Result<()> {
    let mut end = signal(SignalKind::terminate()).context("signals")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("signals")?;
    tokio::select! {
        _ = end.recv() => {}
        _ = interrupt.recv() => {}
    }
    bail!("ended before everything was measured")
}
