//! The book: the pages for people, and whether what they show is so.
//!
//! A page is typed into a shell from its first line to its last, in an empty folder, with the program on the `PATH`.
//! What its blocks are is told by their language:
//!
//! | block | what is done |
//! |---|---|
//! | `console` | each `$ ` is typed; it must end well, and the lines under it must come. No lines stand for any |
//! | `sh` | each command is typed, and must end well |
//! | `yaml`, `json`, `toml`, `markdown`, `python` | a file: written where the comment before it says, and read by the program |
//! | `text`, `http` | a picture; it is counted |
//!
//! In what a page shows, a line `…` stands for any lines and `…` in a line for any text; a shown `error:` says that the
//! command fails. Readers do not see comments, and these are obeyed:
//!
//! | comment | what it does |
//! |---|---|
//! | `<!-- setup` and lines of shell | typed as they are: they bring about what the page takes for granted |
//! | `<!-- file: PATH -->` | the next block is this file |
//! | `<!-- add to: PATH -->` | the next block is added to this file |
//! | `<!-- TEXT is $NAME -->` | from here on this text, an example, stands for a variable of the shell |
//! | `<!-- endless: COMMAND -->` | in the next block this command never ends: it is ended once it has said something |
//! | `<!-- on a screen: COMMAND -->` | the same, on a terminal of its own of 80 by 24 |
//! | `<!-- needs: claude, codex, github, postgres, receiver -->` | what of the outside stands in for the real thing |
//! | `<!-- not run: REASON -->` | the next block cannot be run honestly; it is counted |

mod compare;
mod links;
mod outside;
mod page;
mod play;
mod script;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

pub use links::dead_links;
pub use page::Page;
pub use play::{PageOutcome, play};

/// The documents beside the book whose links are held, too.
const OTHER_DOCUMENTS: [&str; 3] = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"];
/// What the program writes itself is checked where it is written.
const GENERATED: &str = "docs/reference";

/// The pages of the book in the tree at `root`, by their paths from there: the README, and all that people wrote in `docs`.
pub fn pages(root: &Path) -> Result<Vec<String>> {
    let mut found = vec!["README.md".to_owned()];
    let all = documents(root)?;
    found.extend(
        all.into_iter()
            .filter(|path| path.starts_with("docs/") && !Path::new(path).starts_with(GENERATED)),
    );
    Ok(found)
}

/// Every Markdown document for people: the book, its reference, and what stands beside it.
pub fn documents(root: &Path) -> Result<Vec<String>> {
    let mut found: Vec<String> = OTHER_DOCUMENTS.iter().map(|&name| name.to_owned()).collect();
    found.push("README.md".to_owned());
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        let inside = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for entry in inside {
            let path: PathBuf = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                found.push(path.strip_prefix(root)?.display().to_string());
            }
        }
    }
    found.sort();
    Ok(found)
}
