//! The only place in this crate that starts a program.
#![expect(clippy::disallowed_methods, reason = "this is the door")]

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// Runs a program to its end and gives what it printed.
pub(crate) fn output(program: &Path, arguments: &[&str], directory: &Path) -> Result<String> {
    finish(Command::new(program).args(arguments).current_dir(directory))
}

/// Runs a program with no environment, so that what it prints is the same everywhere.
pub(crate) fn bare_output(program: &Path, arguments: &[&str]) -> Result<String> {
    let folder = std::env::temp_dir();
    let command = &mut Command::new(program);
    finish(command.args(arguments).current_dir(folder).env_clear().env("COLUMNS", "100"))
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
