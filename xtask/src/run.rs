//! The only place in this crate that starts a program.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};

/// Runs a program to its end and gives what it printed.
pub(crate) fn output(program: &Path, arguments: &[&str], directory: &Path) -> Result<String> {
    finish(Command::new(program).args(arguments).current_dir(directory))
}

/// Runs a program with no environment, so that what it prints is the same everywhere.
pub(crate) fn bare_output(program: &Path, arguments: &[&str]) -> Result<String> {
    IsolatedEnvironment::of(&std::env::temp_dir(), &[("COLUMNS", "100")]).output(program, arguments)
}

/// A folder and an environment of its own, in which programs run that may know nothing of this machine's user.
#[derive(Debug)]
pub(crate) struct IsolatedEnvironment<'a> {
    directory: &'a Path,
    variables: &'a [(&'a str, &'a str)],
}

impl<'a> IsolatedEnvironment<'a> {
    pub(crate) const fn of(directory: &'a Path, variables: &'a [(&'a str, &'a str)]) -> Self {
        Self { directory, variables }
    }

    /// Runs a program to its end and gives what it printed.
    pub(crate) fn output(&self, program: &Path, arguments: &[&str]) -> Result<String> {
        finish(&mut self.command(program, arguments))
    }

    /// Starts a program that goes on, and gives the first line that it prints.
    pub(crate) fn start(&self, program: &Path, arguments: &[&str]) -> Result<(Running, String)> {
        let command = &mut self.command(program, arguments);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut running = Running(child.with_context(|| format!("could not run {command:?}"))?);
        let stdout = running.0.stdout.as_mut().context("it has a standard output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        ensure!(!line.is_empty(), "{command:?} ended before it printed anything");
        Ok((running, line.trim().to_owned()))
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.directory).env_clear();
        command.envs(self.variables.iter().copied());
        command
    }
}

/// A program that is killed with this value.
#[derive(Debug)]
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Best effort: it may have ended already.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn finish(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("could not run {command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).with_context(|| format!("{command:?} printed no UTF-8"))
}
