//! Real projects, told of.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn file(path: &str) -> ContextFile {
    ContextFile { path: path.into(), lines: None, unfinished: false }
}

/// Default settings.
fn usual() -> ContextSettings {
    let files = vec![
        file("CLAUDE.md"),
        ContextFile { lines: Some(80), ..file("PRD.md") },
        ContextFile { unfinished: true, ..file("PLAN.md") },
        ContextFile { lines: Some(60), ..file("ARCHITECTURE.md") },
    ];
    ContextSettings { files, size: 64 * 1024 }
}

fn project(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

fn lines(count: usize) -> Vec<u8> {
    (1..=count).flat_map(|n| format!("line {n}\n").into_bytes()).collect()
}

#[test]
fn each_file_is_told_in_the_part_that_was_asked_for() {
    let dir = project(&[
        ("CLAUDE.md", b"Be brief.\n"),
        ("PRD.md", &lines(100)),
        ("PLAN.md", "# Plan\n## v0.1 ✅\nold\n## v0.2\nnow\n## v0.3\nlater\n".as_bytes()),
        ("ARCHITECTURE.md", &lines(60)),
    ]);
    let text = project_context(dir.path(), &usual(), &[]);
    let at = |word: &str| text.find(word).unwrap_or_else(|| panic!("no `{word}`: {text}"));
    assert!(
        text.starts_with("# Project Context\n\n## CLAUDE.md\n\nBe brief.\n\n## PRD.md"),
        "{text}"
    );
    at("\n## PRD.md (first 80 lines)\n\nline 1\n");
    at("\nline 80\n[... truncated ...] 161 more bytes\n\n## PLAN.md");
    at("\n## PLAN.md (first unfinished part)\n\n## v0.2\nnow\n\n## ARCHITECTURE.md\n");
    assert!(text.ends_with("\nline 60\n"), "nothing of it was cut: {text}");
    assert!(
        !text.contains("line 81") && !text.contains("old") && !text.contains("later"),
        "{text}"
    );
}

#[test]
fn what_the_agent_reads_by_itself_is_left_out() {
    let dir = project(&[("CLAUDE.md", b"a"), ("PRD.md", b"b")]);
    let text = project_context(dir.path(), &usual(), &["./CLAUDE.md"]);
    assert_eq!(text, "# Project Context\n\n## PRD.md\n\nb\n");
    assert_eq!(project_context(dir.path(), &usual(), &["CLAUDE.md", "PRD.md"]), "");
    // By whatever name.
    fs::rename(dir.path().join("CLAUDE.md"), dir.path().join("AGENTS.md")).unwrap();
    symlink("AGENTS.md", dir.path().join("CLAUDE.md")).unwrap();
    assert_eq!(project_context(dir.path(), &usual(), &["AGENTS.md"]), text);
}

#[test]
fn a_file_with_two_names_is_told_once() {
    let dir = project(&[("AGENTS.md", b"a")]);
    symlink("AGENTS.md", dir.path().join("CLAUDE.md")).unwrap();
    let files = vec![file("CLAUDE.md"), file("AGENTS.md")];
    let settings = ContextSettings { files, size: 1000 };
    let text = project_context(dir.path(), &settings, &[]);
    assert_eq!(text, "# Project Context\n\n## CLAUDE.md\n\na\n");
    fs::remove_file(dir.path().join("CLAUDE.md")).unwrap();
    let text = project_context(dir.path(), &settings, &[]);
    assert_eq!(text, "# Project Context\n\n## AGENTS.md\n\na\n");
}

#[test]
fn files_that_are_not_there_are_passed_over() {
    let dir = project(&[]);
    assert_eq!(project_context(dir.path(), &usual(), &[]), "");
}

#[test]
fn a_plan_that_is_done_says_so() {
    let dir = project(&[("PLAN.md", b"## v0.1 done\nx\n## v0.2\n- [x] all\n")]);
    let text = project_context(dir.path(), &usual(), &[]);
    assert_eq!(text, "# Project Context\n\n## PLAN.md\n\nEvery part is marked as done.\n");
}

#[test]
fn the_budget_is_for_all_files_together_and_what_was_cut_is_said() {
    let dir = project(&[
        ("CLAUDE.md", &lines(10)),
        ("PRD.md", &lines(10)),
        ("ARCHITECTURE.md", &lines(3)),
    ]);
    // The first file has 71 bytes, so that 14 are left for the second: two lines, and none for the third.
    let settings = ContextSettings { size: 85, ..usual() };
    let text = project_context(dir.path(), &settings, &[]);
    let end = "line 10\n\n## PRD.md\n\nline 1\nline 2\n\
               [... truncated ...] 57 more bytes; there was no room for them\n\n\
               ## ARCHITECTURE.md\n\n\
               [... truncated ...] 21 more bytes; there was no room for them\n";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn without_room_files_are_only_named() {
    let dir = project(&[("CLAUDE.md", b"Be brief.\n")]);
    let text = project_context(dir.path(), &ContextSettings { size: 0, ..usual() }, &[]);
    assert_eq!(
        text,
        "# Project Context\n\n## CLAUDE.md\n\n[... truncated ...] 10 more bytes; there was no room for them\n"
    );
}

#[test]
fn what_lies_outside_is_refused_and_named() {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("project");
    fs::create_dir(&dir).unwrap();
    fs::write(outer.path().join("SECRET.md"), "secret").unwrap();
    symlink("../SECRET.md", dir.join("CLAUDE.md")).unwrap();
    fs::create_dir(dir.join("folder.md")).unwrap();
    let files = vec![file("CLAUDE.md"), file("../SECRET.md"), file("folder.md")];
    let text = project_context(&dir, &ContextSettings { files, size: 1000 }, &[]);
    assert_eq!(
        text,
        "# Project Context\n\n\
         ## CLAUDE.md\n\n[left out: it lies outside the project]\n\n\
         ## ../SECRET.md\n\n[left out: it lies outside the project]\n\n\
         ## folder.md\n\n[left out: it is not a plain file]\n"
    );
}

#[test]
fn text_that_is_not_utf_8_is_read_as_far_as_it_goes() {
    let dir = project(&[("CLAUDE.md", b"\xef\xbb\xbfgr\xfc\xdfe\n")]);
    let text = project_context(dir.path(), &usual(), &[]);
    assert_eq!(text, "# Project Context\n\n## CLAUDE.md\n\ngr\u{fffd}\u{fffd}e\n");
}

#[test]
fn code_that_was_cut_does_not_swallow_what_follows() {
    let dir = project(&[("PRD.md", &[b"````sh\n".to_vec(), lines(100)].concat())]);
    let text = project_context(dir.path(), &usual(), &[]);
    assert!(text.contains("\nline 79\n````\n[... truncated ...]"), "{text}");
}

#[test]
fn a_huge_file_is_not_read_to_its_end() {
    let dir = project(&[]);
    let huge = fs::File::create(dir.path().join("CLAUDE.md")).unwrap();
    huge.set_len(1 << 40).unwrap();
    let settings = ContextSettings { size: 10, ..usual() };
    let text = project_context(dir.path(), &settings, &[]);
    assert!(text.contains(&format!("{} more bytes", (1_u64 << 40) - 10)), "{text:?}");
}
