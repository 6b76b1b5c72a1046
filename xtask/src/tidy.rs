//! Checks of the habits of this tree.

mod arrows;
mod back_doors;
mod comments;
mod commits;
mod documents;
mod files;
mod kinds;
mod lookups;
mod manual;
mod migrations;
mod names;
mod rooms;
mod suites;
mod walks;
mod words;

use anyhow::{Result, bail};

use crate::say;
use crate::tree::Tree;

/// What a check found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// What must be mended
    wrong: Vec<String>,
    /// What should be watched
    warned: Vec<String>,
}

impl Findings {
    fn wrong(&mut self, what: impl Into<String>) {
        self.wrong.push(what.into());
    }

    fn warn(&mut self, what: impl Into<String>) {
        self.warned.push(what.into());
    }
}

/// Runs every check, and says all that they found.
pub(crate) fn tidy(tree: &Tree) -> Result<()> {
    let mut findings = Findings::default();
    arrows::check(tree, &mut findings);
    back_doors::check(tree, &mut findings)?;
    files::check(tree, &mut findings)?;
    suites::check(tree, &mut findings)?;
    migrations::check(tree, &mut findings)?;
    rooms::check(tree, &mut findings)?;
    walks::check(tree, &mut findings)?;
    manual::check(tree, &mut findings)?;
    documents::check(tree, &mut findings)?;
    comments::check(tree, &mut findings)?;
    names::check(tree, &mut findings)?;
    words::check(tree, &mut findings)?;
    kinds::check(tree, &mut findings)?;
    lookups::check(tree, &mut findings)?;
    commits::check(tree, &mut findings);
    for warning in &findings.warned {
        say(&format!("warning: {warning}"));
    }
    for wrong in &findings.wrong {
        say(&format!("error: {wrong}"));
    }
    match findings.wrong.len() {
        0 => say(&format!("tidy: {} files, nothing wrong", tree.files.len())),
        count => bail!("tidy: {count} things to mend"),
    }
    Ok(())
}
