//! Runs the suite against a server and reads its verdict.

use std::fmt;

use anyhow::{Context, Result};

use crate::programs;

/// The revision of the protocol that the suite speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecVersion {
    /// With `initialize` and sessions.
    November2025,
    /// Without either: every request stands alone.
    July2026,
}

impl fmt::Display for SpecVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::November2025 => "2025-11-25",
            Self::July2026 => "2026-07-28",
        })
    }
}

/// What the suite found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Checks that passed.
    pub checks: u32,
    /// Checks that failed.
    pub failures: u32,
    /// All that the suite printed; its end says what failed and why.
    pub text: String,
}

/// Runs every server scenario of this revision against the MCP endpoint at `url`.
pub async fn run(url: &str, version: SpecVersion) -> Result<Report> {
    let mut command =
        programs::javascript("node_modules/@modelcontextprotocol/conformance/dist/index.js")?;
    command.args(["server", "--url", url, "--suite", "all"]);
    command.args(["--spec-version", &version.to_string()]);
    let output = command.output().await.context("could not run the conformance suite")?;
    let text = [output.stdout, output.stderr].concat();
    read(String::from_utf8_lossy(&text).into_owned())
}

/// Reads the last line that says `Total: 83 passed, 0 failed`, with or without more behind it.
fn read(text: String) -> Result<Report> {
    let total = text.lines().rev().find_map(|line| line.trim().strip_prefix("Total: "));
    let number = |word: &str| {
        let mut parts = total?.split(", ").map(|part| part.split_once(' '));
        parts.find_map(|part| part.filter(|(_, what)| what.starts_with(word))?.0.parse().ok())
    };
    match (number("passed"), number("failed")) {
        (Some(checks), Some(failures)) => Ok(Report { checks, failures, text }),
        _ => anyhow::bail!("the conformance suite gave no total:\n{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_found_behind_the_scenarios() {
        let text =
            "✓ ping: 1 passed, 0 failed\n\nTotal: 83 passed, 2 failed, 4 skipped\n".to_owned();
        let report = read(text.clone()).unwrap();
        assert_eq!(report, Report { checks: 83, failures: 2, text });
    }

    #[test]
    fn a_suite_that_did_not_finish_is_an_error() {
        read("Error: connect ECONNREFUSED".to_owned()).unwrap_err();
    }
}
