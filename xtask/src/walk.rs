//! The newcomer's walk: runs the commands of documents with a given binary.

use std::path::Path;

use anyhow::{Result, ensure};
use testkit::book::{Page, play};

use crate::say;
use crate::tree::Tree;

/// Walks through pages of the tree; without any, through the README.
pub(crate) fn walk(tree: &Tree, binary: &str, pages: &[&str]) -> Result<()> {
    let pages = if pages.is_empty() { &["README.md"] } else { pages };
    let mut problems = 0;
    for &name in pages {
        let page = Page::read(&tree.root, name)?;
        for (line, reason) in page.not_run() {
            say(&format!("{name}:{line}: not run: {reason}"));
        }
        let played = crate::wait(play(Path::new(binary), &page))?;
        say(&played.told);
        if played.problems.is_empty() {
            say(&format!("{name}: {} commands, and all of it is as the page says", played.typed));
        } else {
            problems += 1;
            say(&format!("{name}: not as the page says\n\n{}", played.problems));
        }
    }
    ensure!(problems == 0, "what came is not what the pages say");
    Ok(())
}
