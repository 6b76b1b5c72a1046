//! Plans on disk, and by what an issue is known again.

use std::fs;

use store::Store;
use tempfile::TempDir;

use super::*;
use crate::core::options::Options;
use crate::core::settings::Settings;
use crate::engine::Engine;

fn project() -> (Engine, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    fs::create_dir(&project).unwrap();
    let store = Store::open(&dir.path().join("state.db")).unwrap();
    let options = Options::new(project, String::new());
    (Engine::new(store, Settings::default(), options), dir)
}

fn issue(title: &str, body: &str) -> IssueDraft {
    IssueDraft { title: title.to_owned(), body: body.to_owned(), labels: Vec::new() }
}

#[tokio::test]
async fn a_plan_is_read_from_the_project_and_from_nowhere_else() {
    let (engine, dir) = project();
    let project = &engine.options.project;
    fs::write(project.join("PLAN.md"), "## One\nLabels: a\n\nDo it.\n## Two (done)\n").unwrap();
    let one = IssueDraft { labels: vec!["a".to_owned()], ..issue("One", "Do it.") };
    assert_eq!(read(&engine, None, "PLAN.md").unwrap(), [one]);
    fs::write(dir.path().join("secret.md"), "## Secret\n").unwrap();
    let refused = |path: &str| read(&engine, None, path).unwrap_err();
    for path in ["../secret.md", "/etc/passwd", dir.path().join("secret.md").to_str().unwrap()] {
        let error = refused(path);
        assert_eq!(error.message, format!("`{path}`: it lies outside the project"));
        assert_eq!(error.details["field"], "document");
    }
    assert_eq!(refused("NO.md").message, "`NO.md`: there is no such file");
}

#[tokio::test]
async fn a_plan_that_is_none_is_refused_with_the_reason() {
    let (engine, _dir) = project();
    let refused = |content: &[u8]| {
        fs::write(engine.options.project.join("P"), content).unwrap();
        read(&engine, None, "P").unwrap_err().message
    };
    assert!(refused(b"Only prose.\n").contains("it has no open section"));
    assert!(refused(b"## All (done)\n").contains("it has no open section"));
    assert!(refused(b"## \xff\n").contains("UTF-8"));
    let many: Vec<String> = (0..51).map(|n| format!("## {n}\n")).collect();
    assert!(refused(many.concat().as_bytes()).contains("51 issues; the limit is 50"));
    let long = format!("## {}\n", "x".repeat(257));
    assert!(refused(long.as_bytes()).contains("a heading of more than 256 characters"));
    let long = format!("## T\n{}\n", "x".repeat(65_001));
    assert!(refused(long.as_bytes()).contains("the section `T` has more than 65000 characters"));
    let long = format!("## T\nLabels: {}\n", "x".repeat(51));
    assert!(refused(long.as_bytes()).contains("longer than 50 characters"));
    let huge = vec![b'#'; (1 << 20) + 1];
    assert!(refused(&huge).contains("it has 1048577 bytes; the limit is 1048576"));
}

#[test]
fn an_issue_is_known_by_who_asks_where_and_for_what() {
    let behalf = |name: &str| Requester { name: name.to_owned(), since: Timestamp::from_millis(0) };
    let own =
        |repository: &str, name: &str, issue: &IssueDraft| marker(repository, &behalf(name), issue);
    let usual = own("o/r", "task_1", &issue("T", "B"));
    assert_eq!(usual.len(), 32);
    assert_eq!(
        usual,
        own("o/r", "task_1", &IssueDraft { labels: vec!["l".into()], ..issue("T", "B") })
    );
    for other in [
        own("o/s", "task_1", &issue("T", "B")),
        own("o/r", "task_2", &issue("T", "B")),
        own("o/r", "task_1", &issue("TB", "")),
        own("o/r", "task_1", &issue("", "TB")),
    ] {
        assert_ne!(usual, other);
    }
}
