//! The generated references: written from what the program itself knows, committed, and kept current.

mod cli;
mod config;
mod events;
mod exit_codes;
mod kinds;
mod openapi;
mod schema;
mod tools;

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::say;
use crate::tree::Tree;

/// What to do with what was generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write it
    Write,
    /// Fail if it is not what stands there
    Check,
}

/// A generated file, or why there is none.
enum Generated {
    Text(String),
    Skipped(&'static str),
}

/// Writes the references, or checks them.
pub(crate) fn generate(tree: &Tree, mode: Mode) -> Result<()> {
    let configuration = kinds::configuration(tree)?;
    let references = [
        ("docs/reference/tools.md", Generated::Text(tools::page())),
        ("docs/reference/cli.md", cli::page(tree)?),
        ("docs/reference/config.md", Generated::Text(config::page(&configuration)?)),
        (config::SOURCE, Generated::Text(configuration)),
        ("web/src/api/agentFacts.ts", Generated::Text(kinds::facts()?)),
        ("docs/reference/events.md", Generated::Text(events::page())),
        ("docs/reference/exit-codes.md", Generated::Text(exit_codes::page())),
        ("docs/reference/openapi.json", openapi::document()?),
    ];
    let mut stale = Vec::new();
    for (path, generated) in &references {
        match generated {
            Generated::Skipped(why) => say(&format!("{path}: skipped, {why}")),
            Generated::Text(text) => {
                let full = tree.root.join(path);
                if std::fs::read_to_string(&full).is_ok_and(|found| found == *text) {
                    continue;
                }
                match mode {
                    Mode::Check => stale.push(*path),
                    Mode::Write => {
                        write(&full, text)?;
                        say(&format!("{path}: written"));
                    }
                }
            }
        }
    }
    if !stale.is_empty() {
        bail!("{} not current: run `make generate` and commit the result", stale.join(", "));
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("could not make `{}`", folder.display()))?;
    }
    std::fs::write(path, text).with_context(|| format!("could not write `{}`", path.display()))
}
