//! Words of an earlier vocabulary that names and comments may not bring back.
//!
//! Strings are not looked at: published names, columns and recorded formats keep what they once were called.

use anyhow::Result;

use crate::tidy::Findings;
use crate::tree::Tree;

/// Words that are gone, each with the word that took its place.
const OLD_WORDS: [(&str, &str); 14] = [
    ("errand", "job"),
    ("errands", "jobs"),
    ("wish", "request"),
    ("wishes", "requests"),
    ("wished", "requested"),
    ("trouble", "error"),
    ("troubles", "errors"),
    ("setback", "error"),
    ("setbacks", "errors"),
    ("doings", "activity"),
    ("desk", "queue"),
    ("letterbox", "mailbox"),
    ("whoever", "the agent, client or person that is meant"),
    ("whomever", "the agent, client or person that is meant"),
];

/// Pronouns of comments that leave open which agent, client, process or person is meant. Only code that is built into
/// the program is looked at.
const VAGUE_PRONOUNS: [&str; 4] = ["somebody", "anybody", "someone", "anyone"];

/// Places where the pronouns stay: test programs, and the log of changes in PostgreSQL.
const WITH_PRONOUNS: [&str; 3] =
    ["crates/testkit/", "crates/store/src/core/ledger", "crates/adjutant/src/commands/homes/serve"];

/// Names that keep an old word because they are published: an event kind with its payload, and the
/// review desk of the page.
const PUBLISHED_NAMES: [&str; 11] = [
    "ErrandCreated",
    "ErrandEnded",
    "ErrandStatus",
    "errand_id",
    "errand.created",
    "errand.ended",
    "ReviewDesk",
    "ReviewDeskTask",
    "review_desk",
    "review_desk_task",
    "CrewWish",
];

/// Places of the code that is looked at.
const PLACES: [&str; 4] = ["crates/", "benches/", "xtask/", "web/src/"];

/// This file and its neighbour spell the words out; the generated types of the page are published names.
const EXEMPT: [&str; 3] =
    ["xtask/src/tidy/words.rs", "xtask/src/tidy/names.rs", "web/src/api/types"];

pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    for file in &tree.files {
        let path = file.to_string_lossy();
        let is_code = [".rs", ".ts", ".tsx"].iter().any(|end| path.ends_with(end));
        let is_in_place = PLACES.iter().any(|place| path.starts_with(place));
        if !is_code || !is_in_place || EXEMPT.iter().any(|exempt| path.starts_with(exempt)) {
            continue;
        }
        let text = tree.text(file)?.unwrap_or_default();
        for (line, old, new) in old_words(&text) {
            findings.wrong(format!("{path}:{line}: `{old}` is an old word: say {new}"));
        }
        if is_production(&path) {
            for (line, pronoun) in vague_pronouns(&text) {
                findings.wrong(format!(
                    "{path}:{line}: `{pronoun}` leaves open who is meant: name the agent, client, process or person"
                ));
            }
        }
    }
    Ok(())
}

/// True for Rust code of the program itself.
fn is_production(path: &str) -> bool {
    let is_rust = std::path::Path::new(path).extension().is_some_and(|end| end == "rs");
    let is_source = is_rust && path.starts_with("crates/") && path.contains("/src/");
    let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
    is_source && !is_test && !WITH_PRONOUNS.iter().any(|place| path.starts_with(place))
}

/// Vague pronouns in the comments before the tests of a file: the line and the word.
fn vague_pronouns(text: &str) -> Vec<(usize, String)> {
    let text = super::names::without_strings(text);
    let code = text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    let comments = (1..).zip(code).filter_map(|(number, line)| {
        let (_, comment) = line.split_once("//")?;
        Some((number, comment))
    });
    let words = comments.flat_map(|(number, comment)| {
        comment.split(|c: char| !c.is_alphabetic()).map(move |word| (number, word.to_lowercase()))
    });
    words.filter(|(_, word)| VAGUE_PRONOUNS.contains(&word.as_str())).collect()
}

/// The old words of a file outside its strings: line, the name that has it, and the word to use.
fn old_words(text: &str) -> Vec<(usize, String, &'static str)> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(super::names::without_strings(text).lines()) {
        let line = PUBLISHED_NAMES.iter().fold(line.to_owned(), |line, name| {
            let is_name = |c: char| c.is_alphanumeric() || c == '_';
            let mut kept = String::with_capacity(line.len());
            let mut rest = line.as_str();
            while let Some(at) = rest.find(name) {
                let (before, from) = rest.split_at(at);
                let after = from.get(name.len()..).unwrap_or_default();
                let is_whole = !before.ends_with(is_name) && !after.starts_with(is_name);
                kept.push_str(before);
                kept.push_str(if is_whole { "" } else { name });
                rest = after;
            }
            kept + rest
        });
        for name in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
            for word in words_of(name) {
                if let Some((_, new)) = OLD_WORDS.iter().find(|(old, _)| *old == word) {
                    found.push((number, name.to_owned(), *new));
                }
            }
        }
    }
    found
}

/// The words of a name in small letters: `OutboxJob`, `outbox_job` and `OUTBOX_JOB` have the same two.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        let begins = c == '_' || (was_small && c.is_uppercase());
        if begins {
            words.push(String::new());
        }
        was_small = c.is_lowercase();
        if c != '_'
            && let Some(last) = words.last_mut()
        {
            last.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_falls_into_its_words() {
        assert_eq!(words_of("OutboxJob"), ["outbox", "job"]);
        assert_eq!(words_of("MAX_OUTBOX_JOBS"), ["max", "outbox", "jobs"]);
        assert_eq!(words_of("onSeen"), ["on", "seen"]);
        assert!(words_of("_").is_empty());
    }

    #[test]
    fn vague_pronouns_are_found_in_comments_before_the_tests() {
        let text = "/// Somebody has it.\nlet anyone = \"someone\"; // anybody's\n#[cfg(test)]\n// someone\n";
        let expected = [(1, "somebody".to_owned()), (2, "anybody".to_owned())];
        assert_eq!(vague_pronouns(text), expected);
        assert!(is_production("crates/engine/src/core/error.rs"));
        for path in ["crates/a/src/b/tests.rs", "crates/testkit/src/a.rs", "benches/src/a.rs"] {
            assert!(!is_production(path), "{path}");
        }
    }

    #[test]
    fn old_words_are_found_in_names_and_comments_and_not_in_strings() {
        let text = "/// Hears a wish.\nfn run_errand(deskTop: u8) {\n    let ErrandEnded { errand_id } = end;\n\
                    let column = \"errand\"; // `errand.ended` is published\n}\nstruct RunErrand;\n";
        let found: Vec<_> = old_words(text).into_iter().map(|(line, old, _)| (line, old)).collect();
        let expected = [(1, "wish"), (2, "run_errand"), (2, "deskTop"), (6, "RunErrand")];
        assert_eq!(found, expected.map(|(line, old)| (line, old.to_owned())));
    }
}
