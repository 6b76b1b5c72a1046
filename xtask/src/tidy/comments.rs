//! The language of doc comments: most open with a noun or a verb, not with a question.

use anyhow::Result;

use crate::tidy::Findings;
use crate::tree::Tree;

/// Words that open a question or a riddle where a noun phrase belongs.
const OPENERS: [&str; 6] = ["who", "what", "which", "how", "whether", "so"];
/// Doc-comment lines that may open with such a word, per hundred.
const MAX_PERCENT: usize = 5;

/// Doc-comment lines of a text, and those among them that open with one of the [`OPENERS`].
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    lines: usize,
    questions: usize,
}

pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    let mut all = Tally::default();
    for file in tree.rust() {
        if let Some(text) = tree.text(file)? {
            let tally = tally(&text);
            all.lines += tally.lines;
            all.questions += tally.questions;
        }
    }
    if all.questions * 100 > all.lines * MAX_PERCENT {
        findings.wrong(format!(
            "{} of {} lines of doc comments open with {}; at most {MAX_PERCENT} in a hundred may",
            all.questions,
            all.lines,
            OPENERS.join(", ")
        ));
    }
    Ok(())
}

fn tally(text: &str) -> Tally {
    let mut tally = Tally::default();
    for line in text.lines().map(str::trim_start) {
        let Some(comment) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            continue;
        };
        let comment = comment.trim();
        if comment.is_empty() {
            continue;
        }
        tally.lines += 1;
        let opener = comment.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        tally.questions += usize::from(OPENERS.contains(&opener.to_lowercase().as_str()));
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_counted_among_the_lines() {
        let text = "//! What it is.\n\n/// A noun phrase.\n///\n    /// so much of it\n// How not.\n/// Sound.\n";
        assert_eq!(tally(text), Tally { lines: 4, questions: 2 });
    }
}
