//! Checks commit messages: `area: change in the imperative`, and a body where the change is large.

/// Columns of the subject and of each line of the body.
const MAX_COLUMNS: usize = 72;
/// Changed lines above which a commit needs a body.
const MAX_LINES_WITHOUT_BODY: u64 = 200;

/// Lists what is wrong with a message for a commit of so many changed lines.
///
/// Lines that git removes (comments, and everything below its scissors) are not judged, nor are the
/// subjects that git itself writes for merges, reverts and commits to be squashed.
pub(crate) fn problems(message: &str, changed_lines: u64) -> Vec<String> {
    let mut lines = message
        .lines()
        .take_while(|line| !(line.starts_with('#') && line.contains(">8")))
        .filter(|line| !line.starts_with('#'))
        .map(str::trim_end)
        .skip_while(|line| line.is_empty());
    let Some(subject) = lines.next() else {
        return vec!["the message is empty".to_owned()];
    };
    if is_written_by_git(subject) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    if columns(subject) > MAX_COLUMNS {
        problems.push(format!(
            "the subject is {} columns wide; the limit is {MAX_COLUMNS}",
            columns(subject)
        ));
    }
    if !has_area(subject) {
        problems.push("the subject is not of the form `area: change in the imperative`".to_owned());
    }
    let body: Vec<&str> = lines.collect();
    if body.first().is_some_and(|line| !line.is_empty()) {
        problems.push("the second line is not blank".to_owned());
    }
    for line in body.iter().filter(|line| columns(line) > MAX_COLUMNS && can_be_wrapped(line)) {
        problems.push(format!(
            "a line of the body is {} columns wide; the limit is {MAX_COLUMNS}: `{line}`",
            columns(line)
        ));
    }
    if changed_lines > MAX_LINES_WITHOUT_BODY && !body.iter().any(|line| is_prose(line)) {
        problems.push(format!(
            "{changed_lines} changed lines need a body that gives the reason; up to \
             {MAX_LINES_WITHOUT_BODY} may go without"
        ));
    }
    problems
}

/// Adds up the columns of `git diff --numstat`. Binary files, which have none, count nothing.
pub(crate) fn changed_lines(numstat: &str) -> u64 {
    let figures = numstat.lines().flat_map(|line| line.split('\t').take(2));
    figures.filter_map(|figure| figure.parse::<u64>().ok()).sum()
}

fn columns(line: &str) -> usize {
    line.chars().count()
}

fn is_written_by_git(subject: &str) -> bool {
    ["Merge ", "Revert \"", "fixup! ", "squash! ", "amend! "]
        .iter()
        .any(|beginning| subject.starts_with(beginning))
}

fn has_area(subject: &str) -> bool {
    subject.split_once(": ").is_some_and(|(area, change)| {
        let is_word =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_/, .".contains(c);
        !area.is_empty() && area.chars().all(is_word) && !change.trim().is_empty()
    })
}

/// A single word, such as an address, cannot be wrapped; quoted output should not be.
fn can_be_wrapped(line: &str) -> bool {
    !line.starts_with("    ") && line.split_whitespace().count() > 1
}

/// Trailers such as `Signed-off-by: …` are not a reason.
fn is_prose(line: &str) -> bool {
    let is_trailer =
        line.split_once(": ").is_some_and(|(key, _)| key.ends_with("-by") && !key.contains(' '));
    !line.is_empty() && !is_trailer
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "store: take audit rows into the next commit\n\nA read waited for the disk.\n";

    #[test]
    fn a_good_message_passes() {
        assert_eq!(problems(GOOD, 5000), Vec::<String>::new());
        assert_eq!(problems("store: mend a comment\n", 200), Vec::<String>::new());
        assert_eq!(problems("# Please enter\n\ntools/setup: install deny\n", 1), [""; 0]);
    }

    #[test]
    fn an_empty_message_fails() {
        assert_eq!(problems("\n# nothing\n", 0), ["the message is empty"]);
    }

    #[test]
    fn a_subject_has_an_area_and_72_columns() {
        let at_limit = format!("store: {}", "é".repeat(65));
        assert_eq!(problems(&at_limit, 0), [""; 0]);
        assert!(problems(&format!("{at_limit}é"), 0)[0].contains("73 columns"));
        for subject in ["Mend it", "Store: mend it", ": mend it", "store:mend it", "store: "] {
            assert!(problems(subject, 0)[0].contains("of the form"), "{subject}");
        }
    }

    #[test]
    fn the_second_line_is_blank() {
        assert_eq!(problems("store: mend it\nbecause\n", 0), ["the second line is not blank"]);
    }

    #[test]
    fn the_body_is_wrapped_where_it_can_be() {
        let long = "word ".repeat(15);
        assert!(problems(&format!("a: b\n\n{long}\n"), 0)[0].contains("74 columns"));
        let address = format!("https://example.org/{}", "x".repeat(80));
        assert_eq!(problems(&format!("a: b\n\n{address}\n    {long}\n"), 0), [""; 0]);
    }

    #[test]
    fn a_large_change_needs_a_reason() {
        for message in ["a: b\n", "a: b\n\nSigned-off-by: A <a@b.example>\n"] {
            assert!(problems(message, 201)[0].contains("201 changed lines"), "{message}");
            assert_eq!(problems(message, 200), [""; 0]);
        }
    }

    #[test]
    fn what_git_writes_is_not_judged() {
        for subject in ["Merge branch 'x'", "Revert \"store: mend it\"", "fixup! store: mend it"] {
            assert_eq!(problems(subject, 900), [""; 0], "{subject}");
        }
        let verbose = "a: b\n# ------------------------ >8 ------------------------\ndiff --git\n";
        assert_eq!(problems(verbose, 0), [""; 0]);
    }

    #[test]
    fn lines_are_counted_from_numstat() {
        assert_eq!(changed_lines("3\t4\tsrc/a.rs\n-\t-\tlogo.png\n10\t0\tb.rs\n"), 17);
        assert_eq!(changed_lines(""), 0);
    }
}
