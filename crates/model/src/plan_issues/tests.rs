//! Plans as people write them.

use proptest::prelude::*;

use super::*;

fn issue(title: &str, body: &str, labels: &[&str]) -> PlannedIssue {
    let labels = labels.iter().map(|&label| label.to_owned()).collect();
    PlannedIssue { title: title.to_owned(), body: body.to_owned(), labels }
}

fn titles(plan: &str) -> Vec<String> {
    planned_issues(plan).into_iter().map(|issue| issue.title).collect()
}

#[test]
fn each_section_is_an_issue_with_its_labels_and_its_text() {
    let plan = "# The plan\nWhy.\n\n## Read the file\n\nLabels: parser, good first issue\n\nIt must be read.\n\n\
        ### How\n\n- slowly\n\n## Write it\nNow.\n# Appendix\nNothing.\n";
    assert_eq!(
        planned_issues(plan),
        [
            issue(
                "Read the file",
                "It must be read.\n\n### How\n\n- slowly",
                &["parser", "good first issue"]
            ),
            issue("Write it", "Now.", &[]),
        ]
    );
}

#[test]
fn below_a_heading_for_issues_the_smaller_headings_count_and_nothing_else() {
    let plan = "## Background\nx\n### Not this\n## Issues\nThese:\n### One\na\n#### Part\nb\n### Two\n\
        ## Risks\n### Nor this\n";
    assert_eq!(planned_issues(plan), [issue("One", "a\n#### Part\nb", &[]), issue("Two", "", &[])]);
    assert_eq!(titles("## issues:\n### One\n"), ["One"]);
    assert_eq!(titles("## Issues\n- a list\n"), Vec::<String>::new());
}

#[test]
fn what_is_done_is_left_out() {
    for done in ["[x] A", "[X] A", "A [x]", "✅ A", "A ✅", "A (done)", "A (Done)", "(done) A"] {
        assert_eq!(titles(&format!("## {done}\nx\n## B\n")), ["B"], "{done}");
    }
    for open in ["Mend array[x] of rows", "What (done) means here", "Donate", "Be done with it"] {
        assert_eq!(titles(&format!("## {open}\n")), [open], "{open}");
    }
    assert_eq!(titles("## [ ] A box to tick\n"), ["A box to tick"]);
}

#[test]
fn code_has_no_headings_and_no_labels() {
    let plan = "## A\n```sh\n## not a heading\nLabels: no\n```\n~~~~\n```\n## nor this\n~~~~\n    ## nor that\n## B\n";
    let issues = planned_issues(plan);
    assert_eq!(titles(plan), ["A", "B"]);
    assert!(issues.iter().all(|issue| issue.labels.is_empty()));
    assert!(issues[0].body.contains("## not a heading\nLabels: no\n```"), "{}", issues[0].body);
    assert_eq!(titles("## A\n```\n## never closed\n"), ["A"]);
}

#[test]
fn labels_may_stand_in_a_list_and_in_bold_and_count_once() {
    for line in [
        "Labels: a, b",
        "labels:a,b,",
        "- Labels: a, `b`",
        "**Labels:** a, b, a",
        "**Labels**: a, b",
    ] {
        assert_eq!(
            planned_issues(&format!("## T\n{line}\nx\n")),
            [issue("T", "x", &["a", "b"])],
            "{line}"
        );
    }
    let prose = "Labels are good: a, b";
    assert_eq!(planned_issues(&format!("## T\n{prose}\n")), [issue("T", prose, &[])]);
}

#[test]
fn odd_documents_are_read_as_they_are_meant() {
    assert_eq!(titles(""), Vec::<String>::new());
    assert_eq!(titles("No headings at all.\n"), Vec::<String>::new());
    assert_eq!(titles("##\n## \n##No space\n#hash\n"), Vec::<String>::new());
    assert_eq!(titles("  ## Closed ##\n## C#\n##\tTab\t here\n"), ["Closed", "C#", "Tab here"]);
    let windows = "## One\r\nLabels: a\r\n\r\nText\r\nMore\r\n## Two\r\n";
    assert_eq!(
        planned_issues(windows),
        [issue("One", "Text\nMore", &["a"]), issue("Two", "", &[])]
    );
}

#[test]
fn a_huge_document_is_read_whole() {
    let sections: Vec<String> =
        (0..20_000).map(|n| format!("## Issue {n}\nLabels: l{n}\n\ntext {n}\n")).collect();
    let plan = sections.concat();
    let issues = planned_issues(&plan);
    assert_eq!(issues.len(), 20_000);
    assert_eq!(issues[19_999], issue("Issue 19999", "text 19999", &["l19999"]));
}

proptest! {
    #[test]
    fn whatever_comes_out_has_a_title_of_one_line(
        plan in "((#{1,4} |```|~~~|Labels: |\\[x\\]|✅|\\(done\\)|Issues| |a|\\r|\\PC){0,5}\n){0,14}"
    ) {
        for issue in planned_issues(&plan) {
            prop_assert!(!issue.title.is_empty() && !issue.title.contains(['\n', '\r']));
            prop_assert!(issue.labels.iter().all(|label| !label.is_empty() && !label.contains(',')));
        }
    }
}
