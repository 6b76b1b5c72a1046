//! Tests of records and client forms.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::client::{Scope, Start};
use super::record::{Change, Record, Records};
use crate::cli::Client::{self, Claude, Codex, Opencode, VsCode};
use crate::environment::Environment;

#[test]
fn a_change_is_undone_only_in_the_text_that_it_made() {
    let change = Change::between("a ä z", "a äbö z");
    assert_eq!(change.undone("a äbö z").as_deref(), Some("a ä z"));
    assert_eq!(change.undone("a äbö zz"), None);
    for (before, after) in [("", "x"), ("x", ""), ("aaa", "aaaa"), ("ab", "ba"), ("x", "x")] {
        assert_eq!(Change::between(before, after).undone(after).as_deref(), Some(before));
    }
}

#[test]
fn a_record_is_private_and_gone_when_nothing_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let env = Environment::from_vars(dir.path(), [("XDG_STATE_HOME", dir.path())]);
    let records = Records::new(&env).unwrap();
    let file = dir.path().join("not/there/yet.json");
    let mut record = Record { created: true, ..Record::default() };
    record.changes.insert("adjutant".to_owned(), Change::between("", "x"));
    records.keep(&file, &record).unwrap();
    // Once the file is there its record is the same.
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "x").unwrap();
    assert_eq!(records.of(&file).unwrap(), record);
    let kept = dir.path().join("adjutant/clients");
    let entry = std::fs::read_dir(&kept).unwrap().next().unwrap().unwrap();
    assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    record.changes.clear();
    records.keep(&file, &record).unwrap();
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 0);
    assert_eq!(records.of(&file).unwrap(), Record::default());
}

#[test]
fn each_client_has_its_own_files() {
    let env = |more: &[(&str, &str)]| {
        let all = [("HOME", "/u")].iter().chain(more).copied();
        Environment::from_vars("/p", all)
    };
    let file = |client: Client, scope, more: &[(&str, &str)]| {
        client.file(scope, Path::new("/p"), &env(more)).unwrap()
    };
    let project = [Claude, Codex, Opencode, VsCode].map(|c| file(c, Scope::Project, &[]));
    let wanted =
        ["/p/.mcp.json", "/p/.codex/config.toml", "/p/opencode.json", "/p/.vscode/mcp.json"];
    assert_eq!(project, wanted.map(PathBuf::from));
    let global = [Claude, Codex, Opencode].map(|c| file(c, Scope::Global, &[]));
    let wanted = ["/u/.claude.json", "/u/.codex/config.toml", "/u/.config/opencode/opencode.json"];
    assert_eq!(global, wanted.map(PathBuf::from));
    let moved = [("CLAUDE_CONFIG_DIR", "/c"), ("CODEX_HOME", "/x"), ("XDG_CONFIG_HOME", "/g")];
    let global = [Claude, Codex, Opencode].map(|c| file(c, Scope::Global, &moved));
    let wanted = ["/c/.claude.json", "/x/config.toml", "/g/opencode/opencode.json"];
    assert_eq!(global, wanted.map(PathBuf::from));
    assert!(Claude.file(Scope::Global, Path::new("/p"), &Environment::default()).is_err());
}

#[test]
fn ours_is_known_by_what_it_starts() {
    let of =
        |entry: &serde_json::Value| Client::start_of(entry).is_some_and(|s: Start| s.is_ours());
    assert!(of(&json!({ "command": "/opt/adjutant", "args": ["mcp", "--toolset", "mail"] })));
    assert!(of(&json!({ "command": ["adjutant", "--home", "/p", "mcp"] })));
    assert!(!of(&json!({ "command": "npx", "args": ["adjutant", "mcp"] })));
    assert!(!of(&json!({ "type": "http", "url": "http://127.0.0.1:1/mcp" })));
    assert!(!of(&json!({ "command": "adjutant", "args": ["up"] })));
}

#[test]
fn opencode_gets_the_form_that_its_file_has() {
    let start = Start { command: "adjutant".to_owned(), arguments: vec!["mcp".to_owned()] };
    let form = |says: serde_json::Value| {
        (Opencode.keys(&says).len(), Opencode.entry(&start, &says, None).value())
    };
    let older = json!({ "type": "local", "command": ["adjutant", "mcp"], "enabled": true });
    let newer = json!({ "type": "local", "command": ["adjutant", "mcp"] });
    assert_eq!(form(json!(null)), (1, older.clone()));
    assert_eq!(form(json!({ "mcp": { "servers": { "type": "remote" } } })), (1, older));
    assert_eq!(form(json!({ "mcp": { "servers": {} } })), (2, newer));
}

#[test]
fn only_an_agent_needs_no_leave() {
    let start = Start { command: "adjutant".to_owned(), arguments: vec!["mcp".to_owned()] };
    let entry = |role| Codex.entry(&start, &json!({}), role).value();
    assert!(entry(None).get("default_tools_approval_mode").is_none());
    assert_eq!(entry(Some("worker"))["default_tools_approval_mode"], "approve");
}
