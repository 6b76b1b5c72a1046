//! Messages for people.

use super::*;

#[test]
fn a_lock_passes_and_a_conflict_does_not() {
    let busy =
        GitError::of("add".into(), b"fatal: Unable to create '/x/index.lock': File exists.\n");
    assert!(busy.is_transient() && matches!(busy, GitError::Busy(_)), "{busy}");
    let slow = RunError::TooSlow { program: "git".into(), limit: std::time::Duration::ZERO };
    assert!(GitError::from(slow).is_transient());
    assert!(!GitError::Conflict(Vec::new()).is_transient());
    assert!(!GitError::of("add".into(), b"fatal: no\n").is_transient());
}

#[test]
fn what_git_said_is_one_line_without_secrets() {
    let stderr = b"hint: x\nfatal: no way to 'https://me:secret@host/x@y' and\tmore\nhint: y\n";
    let error = GitError::of("push".into(), stderr).to_string();
    assert_eq!(error, "`git push` failed: no way to 'https://host/x@y' and\\tmore");
    assert_eq!(without_secrets("ssh://git@host/p http://t@h"), "ssh://host/p http://h");
    assert_eq!(without_secrets("mail me@host"), "mail me@host");
}

#[test]
fn conflicts_are_told_with_file_and_lines() {
    let conflict = |path: &str, lines: &[(u32, u32)], kind: &str| Conflict {
        path: path.into(),
        lines: lines.to_vec(),
        kind: kind.into(),
    };
    let all = vec![
        conflict("a\nb", &[(3, 7), (9, 13)], "content"),
        conflict("gone", &[], "modify/delete"),
    ];
    let told = GitError::Conflict(all).to_string();
    let wanted = "merge conflict in `a\\nb` (content, lines 3-7, 9-13), `gone` (modify/delete); \
                  resolve it in the working tree and commit";
    assert_eq!(told, wanted);
}

#[test]
fn many_files_are_counted() {
    let all: Vec<String> = (0..13).map(|number| format!("f{number}")).collect();
    let told = GitError::Dirty(all).to_string();
    assert!(told.contains("`f9`, 3 more; commit"), "{told}");
}
