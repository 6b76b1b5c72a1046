//! Width of the prose in documents, so that diffs stay readable.
//!
//! Code blocks, tables, comments and HTML keep their lines. A line with no place to break it, such as
//! a long link, is accepted.

use std::path::Path;

use anyhow::Result;

use crate::tidy::Findings;
use crate::tree::Tree;

/// Longest line of prose, in characters.
const MAX_COLUMNS: usize = 100;

/// Documents outside of `docs`, whose own are found by their folder.
const OTHERS: [&str; 5] =
    ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "web/README.md"];

/// Pages that the program generates.
const GENERATED: &str = "docs/reference";

pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    for file in tree.files.iter().filter(|file| is_checked(file)) {
        let text = tree.text(file)?.unwrap_or_default();
        for (line, columns) in wide_lines(&text) {
            findings.wrong(format!(
                "{}:{line}: {columns} columns; wrap prose at {MAX_COLUMNS}",
                file.display()
            ));
        }
    }
    Ok(())
}

fn is_checked(file: &Path) -> bool {
    let is_markdown = file.extension().is_some_and(|extension| extension == "md");
    let is_document = file.starts_with("docs") || OTHERS.iter().any(|name| file == Path::new(name));
    is_markdown && is_document && !file.starts_with(GENERATED)
}

/// Lines of prose that are too wide and could be broken: their numbers and widths.
fn wide_lines(text: &str) -> Vec<(usize, usize)> {
    let mut in_code = false;
    let mut in_comment = false;
    let mut wide = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let content = line.trim_start();
        if content.starts_with("```") {
            in_code = !in_code;
            continue;
        }
        if in_code {
            continue;
        }
        in_comment |= content.starts_with("<!--");
        let is_markup = in_comment || content.starts_with('<') || content.starts_with('|');
        in_comment &= !content.contains("-->");
        let columns = line.chars().count();
        if !is_markup && columns > MAX_COLUMNS && can_be_broken(content) {
            wide.push((number, columns));
        }
    }
    wide
}

/// True if the line has a space outside code, after the mark of a list item.
fn can_be_broken(content: &str) -> bool {
    let item = content.strip_prefix("- ").unwrap_or(content);
    item.split('`').step_by(2).any(|prose| prose.trim_end().contains(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_prose_that_can_be_broken_is_too_wide() {
        let words = "word ".repeat(30);
        let link = format!("- [x](https://{})", "y".repeat(120));
        let code = format!("`{words}`");
        for (text, is_wrong) in [
            (words.clone(), true),
            (format!("# {words}"), true),
            (format!("> {words}"), true),
            ("word ".repeat(20), false),
            (format!("| {words} |"), false),
            (format!("```sh\n{words}\n```"), false),
            (format!("```sh\n```\n{words}"), true),
            (format!("<!-- setup\n{words}\n-->"), false),
            (format!("<!-- setup\n-->\n{words}"), true),
            (link.clone(), false),
            (format!("{link} and more"), true),
            (code, false),
            ("ä".repeat(50) + " " + &"ö".repeat(49), false),
        ] {
            assert_eq!(!wide_lines(&text).is_empty(), is_wrong, "{text}");
        }
    }

    #[test]
    fn documents_are_found_by_their_place() {
        for (path, is_expected) in [
            ("README.md", true),
            ("docs/how-to/top.md", true),
            ("docs/reference/cli.md", false),
            ("docs/pictures/crew-dark.png", false),
            ("crates/adjutant/src/init/roles/coder.md", false),
            ("CONTRIBUTING.md", true),
            ("web/README.md", true),
        ] {
            assert_eq!(is_checked(Path::new(path)), is_expected, "{path}");
        }
    }
}
