//! The first part of a plan that is not marked as done.

/// A line of a plan that begins a part.
struct Part<'a> {
    /// The words of the heading
    title: &'a str,
    /// Where the part is, from its heading on
    from: usize,
    to: usize,
}

/// The part of a plan that is next, heading and all; nothing where every part is done. Parts begin with `##`; where
/// some headings are versions, such as `## v0.5`, the others are no parts. A plan without parts is one.
pub(super) fn first_unfinished(plan: &str) -> Option<&str> {
    let mut parts = parts(plan);
    if parts.is_empty() {
        return (!is_ticked(plan)).then_some(plan);
    }
    if parts.iter().any(|part| is_version(part.title)) {
        parts.retain(|part| is_version(part.title));
    }
    parts.iter().find_map(|part| {
        let text = plan.get(part.from..part.to)?;
        (!is_marked(part.title) && !is_ticked(text)).then_some(text)
    })
}

fn parts(plan: &str) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let (mut at, mut fences, mut is_open) = (0, Fences::default(), false);
    for line in plan.split_inclusive('\n') {
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        let title = line.get(level..).unwrap_or_default();
        let is_heading = matches!(level, 1 | 2) && title.starts_with([' ', '\t']);
        if !fences.is_inside(line) && is_heading {
            if let Some(last) = parts.last_mut().filter(|_| is_open) {
                last.to = at;
            }
            is_open = level == 2;
            if is_open {
                parts.push(Part { title: title.trim(), from: at, to: plan.len() });
            }
        }
        at += line.len();
    }
    parts
}

/// True for a heading such as `v0.5`, `0.5`, `[0.5]` or `Version 0.5`.
fn is_version(title: &str) -> bool {
    let folded = title.trim_start_matches(['[', '*', '_', '~']).to_ascii_lowercase();
    let number = ["version ", "v"].iter().find_map(|word| folded.strip_prefix(word));
    let number = number.unwrap_or(&folded);
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < number.len()
        && rest.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// True if a heading marks its part as done.
fn is_marked(title: &str) -> bool {
    if ["✅", "✔", "☑", "[x]", "[X]"].iter().any(|mark| title.contains(mark)) {
        return true;
    }
    let folded = title.to_lowercase();
    let mut before = "";
    for word in folded.split_whitespace() {
        let plain = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '%');
        // Not what is yet to be done, and not what is half done.
        let is_doubtful = matches!(before, "not" | "yet" | "be" | "to" | "of" | "until" | "when")
            || matches!(before, "almost" | "nearly" | "half" | "partly" | "partially")
            || (before.ends_with('%') && before != "100%");
        if matches!(plain, "complete" | "completed" | "done") && !is_doubtful {
            return true;
        }
        if !plain.is_empty() {
            before = plain;
        }
    }
    false
}

/// True if a text has check boxes and all are ticked.
fn is_ticked(text: &str) -> bool {
    let mut boxes = 0;
    let mut fences = Fences::default();
    for line in text.lines() {
        if fences.is_inside(line) {
            continue;
        }
        let item = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        let Some(item) = item.strip_prefix(['-', '*', '+', '.', ')']) else { continue };
        let item = item.trim_start();
        if item.starts_with("[ ]") {
            return false;
        }
        boxes += usize::from(item.starts_with("[x]") || item.starts_with("[X]"));
    }
    boxes > 0
}

/// Where code stands in a text: nothing in it is a heading or a box.
#[derive(Debug, Default)]
pub(super) struct Fences {
    open: Option<(u8, usize)>,
}

impl Fences {
    /// True if a line is code or a code fence. Lines must be given in order.
    pub(super) fn is_inside(&mut self, line: &str) -> bool {
        let line = line.trim();
        let first = line.bytes().next().unwrap_or_default();
        let length = line.bytes().take_while(|byte| *byte == first).count();
        let is_fence = matches!(first, b'`' | b'~') && length >= 3;
        match self.open {
            None => {
                if is_fence {
                    self.open = Some((first, length));
                }
                is_fence
            }
            Some((fence, least)) => {
                if is_fence && first == fence && length >= least && length == line.len() {
                    self.open = None;
                }
                true
            }
        }
    }

    /// The fence that is missing at the end, if there is one.
    pub(super) fn missing(&self) -> Option<String> {
        self.open.map(|(fence, length)| char::from(fence).to_string().repeat(length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_next_is_a_part_of_the_plan(plan in "((#|##|- \\[[ x]\\]|```|v0.1|done| |\\PC){0,4}\n){0,12}") {
            if let Some(part) = first_unfinished(&plan) {
                prop_assert!(plan.contains(part));
            }
        }
    }

    fn next(plan: &str) -> Option<&str> {
        first_unfinished(plan).and_then(|part| part.lines().next())
    }

    #[test]
    fn the_first_part_that_is_not_done_is_next() {
        let plan = "# Plan\n\n## v0.1 ✅\nold\n## v0.2 (complete)\nold\n## v0.3\nnow\n### Inner\nmore\n## v0.4\nlater\n";
        assert_eq!(first_unfinished(plan), Some("## v0.3\nnow\n### Inner\nmore\n"));
        assert_eq!(next("## A\n- [x] a\n1. [X] b\n## B\n- [x] a\n- [ ] b\n"), Some("## B"));
        assert_eq!(next("## A [x]\n## B\n"), Some("## B"));
        assert_eq!(next("## One\r\n- [x] a\r\n## Two\r\n"), Some("## Two"));
    }

    #[test]
    fn a_part_ends_where_the_next_heading_of_its_rank_begins() {
        let plan = "## v0.1\na\n# Appendix\nb\n## v0.2\nc";
        assert_eq!(first_unfinished(plan), Some("## v0.1\na\n"));
        assert_eq!(first_unfinished("## v0.1 done\n# Appendix\n## v0.2\nc"), Some("## v0.2\nc"));
    }

    #[test]
    fn where_there_are_versions_only_they_are_parts() {
        assert_eq!(next("## Goals\nx\n## v0.1 ✅\n## v0.2\n## Risks\n"), Some("## v0.2"));
        assert_eq!(next("## Goals\n## [1.0] done\n## Version 1.1\n"), Some("## Version 1.1"));
        assert_eq!(next("## Goals\n## Very well\n"), Some("## Goals"));
    }

    #[test]
    fn only_a_word_for_itself_says_that_a_part_is_done() {
        for done in
            ["Phase 1 - Done", "Phase 1 COMPLETE", "Phase 1 (completed 2025-01-02)", "**Done**: x"]
        {
            assert_eq!(next(&format!("## {done}\n## Next\n")), Some("## Next"), "{done}");
        }
        for open in [
            "Incomplete",
            "Not done",
            "Not yet complete",
            "To be done",
            "Definition of Done",
            "50% complete",
        ] {
            assert_eq!(
                next(&format!("## {open}\n## Next\n")),
                Some(&*format!("## {open}")),
                "{open}"
            );
        }
    }

    #[test]
    fn code_has_no_headings_and_no_boxes() {
        let plan = "## A\n```md\n## B ✅\n- [ ] x\n```\n- [x] a\n~~~~\n```\n## C\n~~~~\n## D\n";
        assert_eq!(next(plan), Some("## D"));
    }

    #[test]
    fn a_plan_may_be_done_and_may_have_no_parts() {
        assert_eq!(first_unfinished("## v0.1 ✅\n## v0.2 done\n"), None);
        assert_eq!(first_unfinished("# Plan\nJust do it.\n"), Some("# Plan\nJust do it.\n"));
        assert_eq!(first_unfinished("- [x] all\n- [x] of it\n"), None);
    }
}
