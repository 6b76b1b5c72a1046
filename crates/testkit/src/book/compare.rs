//! What a page shows, held against what came.

use std::sync::LazyLock;

use regex_lite::Regex;

/// What differs from one time to the next, and what is taken for it.
static CHANGING_PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let rules = [
        (r"\b([a-z]+)_[0-9a-f]{16}\b", "${1}_ID"),
        (r"\b[0-9a-f]{64}\b", "HASH"),
        // Of commits whole or short: one in a hundred short ones has no letter in it.
        (r"\b[0-9a-f]{7,40}\b", "COMMIT"),
        (r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "WHEN"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "WHEN"),
        (r"127\.0\.0\.1:\d+", "ADDRESS"),
        (r"process \d+", "process PID"),
        (r"ok \d+ rows", "ok COUNT rows"),
        (r"\b\d+(\.\d+)?m?s\b", "TIME"),
        (r"-\d{4}-\d{4}\b", "-DATE"),
        // A table is as wide as what is in it.
        (r"  +", " "),
    ];
    let compiled = rules.map(|(found, instead)| Regex::new(found).map(|found| (found, instead)));
    compiled.into_iter().flatten().collect()
});

/// Takes out what differs from one time to the next.
pub(super) fn steady(line: &str) -> String {
    let mut line = line.to_owned();
    for (found, instead) in CHANGING_PATTERNS.iter() {
        line = found.replace_all(&line, *instead).into_owned();
    }
    line.trim_end().to_owned()
}

/// Whether what came is what is shown.
pub(super) fn fits(shown: &[String], came: &str) -> bool {
    let shown: Vec<String> = shown.iter().map(|line| steady(line)).collect();
    let came: Vec<String> = came.trim_end().lines().map(steady).collect();
    lines_fit(trimmed(&shown), &came)
}

/// Without the empty lines at the end.
fn trimmed(lines: &[String]) -> &[String] {
    match lines.split_last() {
        Some((last, rest)) if last.is_empty() => trimmed(rest),
        _ => lines,
    }
}

fn lines_fit(shown: &[String], came: &[String]) -> bool {
    match shown.split_first() {
        None => came.is_empty(),
        Some((any, rest)) if any.trim() == "…" => {
            (0..=came.len()).any(|skip| lines_fit(rest, came.get(skip..).unwrap_or_default()))
        }
        Some((line, rest)) => came
            .split_first()
            .is_some_and(|(first, others)| line_fits(line, first) && lines_fit(rest, others)),
    }
}

/// Whether a line is as shown, with `…` for any text.
fn line_fits(shown: &str, came: &str) -> bool {
    let Some((before, after)) = shown.split_once('…') else { return shown == came };
    let Some(mut rest) = came.strip_prefix(before) else { return false };
    loop {
        if line_fits(after, rest) {
            return true;
        }
        let mut characters = rest.chars();
        if characters.next().is_none() {
            return false;
        }
        rest = characters.as_str();
    }
}

/// The difference, for a person.
pub(super) fn difference(shown: &[String], came: &str) -> String {
    let steadied = |text: &str| -> String {
        let lines: Vec<String> = text.trim_end().lines().map(steady).collect();
        lines.join("\n") + "\n"
    };
    let (shown, came) = (steadied(&shown.join("\n")), steadied(came));
    let diff = similar::TextDiff::from_lines(&shown, &came);
    diff.unified_diff().context_radius(50).header("the page shows", "there came").to_string()
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn what_differs_each_time_and_what_is_left_out_does_not_count() {
        let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        for (page, came, expected) in [
            ("sp_0123456789abcdef ended in 2.0s", "sp_fedcba9876543210 ended in 37ms\n", true),
            ("one\n…\nfour", "one\ntwo\nthree\nfour\n", true),
            ("one\n…\nfour", "one\nfour\n", true),
            ("one\n…\nfour", "one\nfive\n", false),
            ("one … three", "one two three", true),
            ("one … three", "one two four", false),
            ("A     B", "A  B", true),
            ("one", "one\ntwo", false),
            ("one\ntwo", "one", false),
            ("0.01 dollars", "0.02 dollars", false),
            ("900 tokens", "901 tokens", false),
            ("[main 1a2b3c4] Begin", "[main 9080706] Begin", true),
            ("added", "faded", false),
        ] {
            assert_eq!(fits(&shown(page), came), expected, "{page:?} and {came:?}");
        }
    }
}
