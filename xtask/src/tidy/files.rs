//! Length and header of every file, and promises in comments.

use std::path::Path;

use anyhow::Result;

use crate::tidy::Findings;
use crate::tree::Tree;

/// A file should be shorter than this…
const WARN_LINES: usize = 500;
/// …and must be shorter than this.
const MAX_LINES: usize = 800;

/// Words that promise work; each needs the number of an issue, as in `(#12)`.
const PROMISES: [&str; 4] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
];

/// Paths that exist on one machine only.
const MACHINES: [&str; 4] =
    [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("/wo", "rk/")];

pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    for file in tree.rust() {
        let Some(text) = tree.text(file)? else {
            findings.wrong(format!("{}: it is not UTF-8", file.display()));
            continue;
        };
        if !text.starts_with("//!") {
            findings.wrong(format!("{}: it begins without `//!`", file.display()));
        }
        for (part, lines) in parts(file, &text) {
            let found = format!("{}: {lines} lines of {part}", file.display());
            if lines > MAX_LINES {
                findings.wrong(format!("{found}; {MAX_LINES} are the most"));
            } else if lines > WARN_LINES {
                findings.warn(format!("{found}; {WARN_LINES} are enough"));
            }
        }
    }
    for file in &tree.files {
        if let Some(text) = tree.text(file)? {
            check_words(file, &text, findings);
        }
    }
    Ok(())
}

/// How long a file is: its code and its tests, counted apart.
fn parts(file: &Path, text: &str) -> [(&'static str, usize); 2] {
    let all = text.lines().count();
    let name = file.to_string_lossy();
    if name.contains("/tests/") || name.ends_with("tests.rs") {
        return [("code", 0), ("tests", all)];
    }
    let lines: Vec<&str> = text.lines().collect();
    let code = lines
        .windows(2)
        .position(|pair| pair[0] == "#[cfg(test)]" && pair[1].ends_with('{'))
        .unwrap_or(all);
    [("code", code), ("tests", all - code)]
}

fn check_words(file: &Path, text: &str, findings: &mut Findings) {
    // What others wrote keeps its words; a lock file is written by a program.
    let is_foreign = file.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.contains("lock") || name.starts_with("LICENSE")
    });
    if is_foreign {
        return;
    }
    for (number, line) in (1..).zip(text.lines()) {
        let place = format!("{}:{number}", file.display());
        if let Some(word) = PROMISES.iter().find(|word| has_word(line, word))
            && !names_an_issue(line)
        {
            findings.wrong(format!("{place}: `{word}` without the number of an issue"));
        }
        if let Some(path) = MACHINES.iter().find(|path| has_path(line, path)) {
            findings.wrong(format!("{place}: `{path}` is a path of one machine"));
        }
    }
}

/// Whether the word stands in the line by itself.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (line.get(..at), line.get(at + word.len()..));
        let is_apart = |next: Option<char>| {
            word.ends_with('(') || next.is_none_or(|next| !next.is_alphanumeric() && next != '_')
        };
        is_apart(after.and_then(|rest| rest.chars().next()))
            && before
                .and_then(|rest| rest.chars().next_back())
                .is_none_or(|last| !last.is_alphanumeric() && last != '_')
    })
}

/// Whether a path in the line begins so: `~/x` and `a/x` are relative.
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line.get(..at).and_then(|rest| rest.chars().next_back());
        before.is_none_or(|last| !last.is_alphanumeric() && !"~._-$}>*/".contains(last))
    })
}

fn names_an_issue(line: &str) -> bool {
    line.split('#').skip(1).any(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_needs_a_number() {
        let word = PROMISES[0];
        for (line, is_wrong) in [
            (format!("// {word}: later"), true),
            (format!("// {word}(#12): later"), false),
            (format!("const {word}S: u8 = 1;"), false),
            (format!("{}\"later\");", PROMISES[2]), true),
            ("// nothing to do".to_owned(), false),
        ] {
            let mut findings = Findings::default();
            check_words(Path::new("some.rs"), &line, &mut findings);
            assert_eq!(!findings.wrong.is_empty(), is_wrong, "{line}");
        }
    }

    #[test]
    fn only_absolute_paths_are_a_machines() {
        let path = MACHINES[3];
        for (line, is_wrong) in [
            (format!("open {path}x"), true),
            (format!("\"{path}x\""), true),
            (format!("open ~{path}x"), false),
            (format!("open a{path}x"), false),
        ] {
            assert_eq!(has_path(&line, path), is_wrong, "{line}");
        }
    }

    #[test]
    fn tests_are_counted_apart() {
        let text = "//! x\nfn a() {}\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(parts(Path::new("a.rs"), text), [("code", 2), ("tests", 3)]);
        assert_eq!(parts(Path::new("a_tests.rs"), text), [("code", 0), ("tests", 5)]);
        let elsewhere = "//! x\n#[cfg(test)]\nmod tests;\nfn a() {}\n";
        assert_eq!(parts(Path::new("a.rs"), elsewhere), [("code", 4), ("tests", 0)]);
    }
}
