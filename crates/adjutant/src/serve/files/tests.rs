//! Changes that are checked, shown and made, and those that are not.

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::environment::Environment;
use crate::home::Home;
use crate::init;

struct EditorSetup {
    dir: TempDir,
    editor: Editor,
}

fn setup(vars: &[(&str, &str)]) -> EditorSetup {
    let dir = tempfile::tempdir().unwrap();
    let home = Home::unplaced(dir.path().to_owned(), dir.path().join(".adjutant"));
    init::init(&home).unwrap();
    let env = Environment::from_vars(dir.path(), vars.iter().copied());
    let stage = Stage { home, env, host: None, port: None, shared_files: None };
    let editor = Editor { stage, rows: None };
    EditorSetup { dir, editor }
}

impl EditorSetup {
    fn config(&self) -> String {
        std::fs::read_to_string(self.dir.path().join(".adjutant/config.yaml")).unwrap()
    }

    fn check(&self, key: &str, value: Option<Value>) -> CheckedChange {
        self.editor.check(&change(key, value)).unwrap()
    }
}

fn change(key: &str, value: Option<Value>) -> FileChange {
    FileChange::Config(vec![KeyChange { key: key.to_owned(), value }])
}

fn role(name: &str, text: &str) -> FileChange {
    FileChange::Role(RoleChange { name: name.to_owned(), text: text.to_owned() })
}

#[test]
fn a_change_is_shown_as_a_patch_and_made_whole() {
    let setup = setup(&[]);
    let before = setup.editor.read().unwrap();
    let depth = before.config.keys.iter().find(|key| key.key == "limits.depth").unwrap().clone();
    assert_eq!((&depth.value, &depth.default, depth.is_set), (&json!(3), &json!(3), true));
    let change = FileChange::Config(vec![
        KeyChange { key: "limits.depth".to_owned(), value: Some(json!(5)) },
        KeyChange { key: "check".to_owned(), value: Some(json!("make test")) },
    ]);
    let checked = setup.editor.check(&change).unwrap();
    assert!(checked.ok && setup.config() == init::CONFIG, "nothing is written yet");
    assert!(checked.diff.starts_with(
        "diff --git a/.adjutant/config.yaml b/.adjutant/config.yaml\n--- a/.adjutant"
    ));
    assert!(checked.diff.contains("\n-  depth: 3\n+  depth: 5\n"), "{}", checked.diff);
    assert!(checked.diff.contains("\n-check: null\n+check: make test\n"), "{}", checked.diff);
    let saved = setup.editor.save(&change, Some(&before.config.hash)).unwrap();
    assert_eq!((saved.diff, saved.hash.as_ref()), (checked.diff, checked.hash.as_ref()));
    let after = setup.editor.read().unwrap();
    assert_eq!(Some(&after.config.hash), saved.hash.as_ref());
    assert_eq!(
        setup.config(),
        init::CONFIG.replace("  depth: 3", "  depth: 5").replace("check: null", "check: make test")
    );
    // Taken out again, the default counts; the rest stays.
    let out = setup.check("limits.depth", None);
    assert!(out.ok && out.diff.contains("-  depth: 5"), "{}", out.diff);
    assert!(setup.check("limits.depth", Some(json!(5))).diff.is_empty(), "nothing would change");
}

#[test]
fn what_does_not_fit_is_said_with_its_key_and_line_and_nothing_is_written() {
    let setup = setup(&[]);
    for (key, value, expected, hint) in [
        (
            "limits.dpeth",
            json!(1),
            "there is no key `limits.dpeth`",
            Some("did you mean `limits.depth`?"),
        ),
        ("limits.depth", json!("deep"), "expected a whole number, not negative", None),
        ("limits.depth", json!(-1), "expected a whole number, not negative", None),
        (
            "agents.asks",
            json!("nobody"),
            "`nobody` is not known here",
            Some("known here: role, person"),
        ),
        ("mcp.fullAccessCategories", json!(["codng"]), "names the unknown category `codng`", None),
        ("review.max_iterations", json!(0), "0 is not between 1 and 100", None),
    ] {
        let checked = setup.check(key, Some(value.clone()));
        assert!(!checked.ok && checked.diff.is_empty(), "{key}: {checked:?}");
        let problem = &checked.problems[0];
        assert_eq!(problem.key.as_deref(), Some(key));
        assert!(problem.message.contains(expected), "{key}: {problem:?}");
        if let Some(hint) = hint {
            assert_eq!(problem.hint.as_deref(), Some(hint));
        }
        let hash = setup.editor.read().unwrap().config.hash;
        let saved = setup.editor.save(&change(key, Some(value)), Some(&hash)).unwrap();
        assert!(!saved.ok && setup.config() == init::CONFIG);
    }
    // Of several only those that are wrong are named.
    let several = FileChange::Config(vec![
        KeyChange { key: "limits.depth".to_owned(), value: Some(json!(4)) },
        KeyChange { key: "limits.running".to_owned(), value: Some(json!("x")) },
        KeyChange { key: "limits.children".to_owned(), value: Some(json!(1.5)) },
    ]);
    let checked = setup.editor.check(&several).unwrap();
    let keys: Vec<_> =
        checked.problems.iter().filter_map(|problem| problem.key.as_deref()).collect();
    assert_eq!(keys, ["limits.running", "limits.children"]);
}

#[test]
fn a_file_that_changed_meanwhile_is_left_as_it_is() {
    let setup = setup(&[]);
    let was = setup.editor.read().unwrap().config.hash;
    let theirs = init::CONFIG.replace("depth: 3", "depth: 2");
    std::fs::write(setup.dir.path().join(".adjutant/config.yaml"), &theirs).unwrap();
    let error = setup.editor.save(&change("limits.depth", Some(json!(9))), Some(&was)).unwrap_err();
    assert_eq!(error.code.name(), "CONFLICT");
    assert!(error.message.contains("was changed since you read it"));
    assert_eq!(setup.config(), theirs);
    assert!(setup.editor.save(&change("limits.depth", Some(json!(9))), None).is_err());
}

#[test]
fn variables_that_win_and_keys_that_need_a_start_are_noted() {
    let setup = setup(&[("ADJUTANT_LIMITS_DEPTH", "7")]);
    let view = setup.editor.read().unwrap();
    let key = |name: &str| view.config.keys.iter().find(|key| key.key == name).unwrap().clone();
    assert_eq!(
        (key("limits.depth").value, key("limits.depth").decided_by.as_deref()),
        (json!(7), Some("ADJUTANT_LIMITS_DEPTH"))
    );
    assert!(key("server.port").at_start && !key("limits.running").at_start);
    assert_eq!(key("server.logLevel").choices.len(), 6);
    let notes = setup.check("limits.depth", Some(json!(4))).notes;
    assert!(notes[0].contains("`ADJUTANT_LIMITS_DEPTH` is set where the server runs"), "{notes:?}");
    let notes = setup.check("server.port", Some(json!(4000))).notes;
    assert_eq!(notes, ["`server.port` counts when the server starts the next time"]);
}

#[test]
fn a_role_is_checked_and_written_into_the_home() {
    let setup = setup(&[]);
    let coder =
        setup.editor.read().unwrap().roles.into_iter().find(|file| file.name == "coder").unwrap();
    assert!(coder.is_own && coder.path == ".adjutant/roles/coder.md");
    let text = format!("{}\nBe brief.\n", coder.text);
    let checked = setup.editor.check(&role("coder", &text)).unwrap();
    assert!(checked.ok && checked.diff.contains("+Be brief."), "{checked:?}");
    setup.editor.save(&role("coder", &text), Some(&coder.hash)).unwrap();
    assert_eq!(
        std::fs::read_to_string(setup.dir.path().join(".adjutant/roles/coder.md")).unwrap(),
        text
    );
    for (name, text, expected) in [
        ("coder", "no front matter", "must begin with `---`"),
        ("coder", "---\nname: coder\ncategory: codng\n---\nx", "unknown category `codng`"),
        (
            "coder",
            "---\nname: other\n---\nx",
            "this is the role `coder`, and its text names `other`",
        ),
    ] {
        let checked = setup.editor.check(&role(name, text)).unwrap();
        assert!(!checked.ok && checked.problems[0].message.contains(expected), "{checked:?}");
        assert!(checked.problems[0].line.is_some(), "{checked:?}");
    }
    // A new one, one that would lie elsewhere, and one that somebody made meanwhile.
    let new = "---\nname: scribe\ncategory: worker\n---\nWrite.\n";
    let checked = setup.editor.save(&role("scribe", new), None).unwrap();
    assert!(checked.ok && checked.diff.contains("--- /dev/null"), "{}", checked.diff);
    assert_eq!(setup.editor.save(&role("scribe", new), None).unwrap_err().code.name(), "CONFLICT");
    for name in ["../scribe", "a/b", ".hidden", ""] {
        let text = format!("---\nname: {name}\n---\nx");
        assert_eq!(
            setup.editor.check(&role(name, &text)).unwrap_err().code.name(),
            "INVALID_INPUT",
            "{name}"
        );
    }
}

#[test]
fn a_role_of_claude_codes_is_changed_by_a_file_of_the_home() {
    let setup = setup(&[]);
    let theirs = setup.dir.path().join(".claude/agents");
    std::fs::create_dir_all(&theirs).unwrap();
    let text = "---\nname: helper\ndescription: helps\n---\nHelp.\n";
    std::fs::write(theirs.join("helper.md"), text).unwrap();
    let helper = |setup: &EditorSetup| {
        let roles = setup.editor.read().unwrap().roles;
        roles.into_iter().filter(|file| file.name == "helper").collect::<Vec<_>>()
    };
    assert!(!helper(&setup)[0].is_own && helper(&setup).len() == 1);
    setup.editor.save(&role("helper", &text.replace("Help.", "Help more.")), None).unwrap();
    assert!(helper(&setup)[0].is_own && helper(&setup).len() == 1);
    assert_eq!(std::fs::read_to_string(theirs.join("helper.md")).unwrap(), text);
}

#[test]
fn nothing_that_is_shown_has_a_secret_in_it() {
    let setup = setup(&[]);
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let hooks =
        format!("webhooks:\n  - {{name: a, url: 'https://a.example/hush', secret: {secret}}}");
    let text = init::CONFIG
        .replace("webhooks: []", &hooks)
        .replace("- ANTHROPIC_API_KEY", "- ANTHROPIC_API_KEY=hush");
    std::fs::write(setup.dir.path().join(".adjutant/config.yaml"), &text).unwrap();
    let view = setup.editor.read().unwrap();
    assert!(view.config.problems.is_empty(), "{:?}", view.config.problems);
    let shown = serde_json::to_string(&view).unwrap();
    let diff = setup.check("mirror", Some(json!(false))).diff;
    for hidden in [secret, "hush"] {
        assert!(!shown.contains(hidden) && !diff.contains(hidden), "{hidden}");
    }
    assert!(shown.contains("ANTHROPIC_API_KEY=…"));
    // What is cut short cannot be written back by mistake.
    let hooks = view.config.keys.iter().find(|key| key.key == "webhooks").unwrap().value.clone();
    assert!(!setup.check("webhooks", Some(hooks)).ok);
    // The change beside it leaves the secret in the file.
    setup.editor.save(&change("mirror", Some(json!(false))), Some(&view.config.hash)).unwrap();
    assert!(setup.config().contains(secret) && setup.config().contains("mirror: false"));
}

#[test]
fn a_file_with_a_mistake_can_be_seen_and_mended() {
    let setup = setup(&[]);
    let path = setup.dir.path().join(".adjutant/config.yaml");
    std::fs::write(&path, "limits:\n  depth: deep\n").unwrap();
    let view = setup.editor.read().unwrap();
    assert_eq!(view.config.problems[0].line, Some(2));
    assert!(setup.check("limits.depth", Some(json!(2))).ok);
    assert!(!setup.check("mirror", Some(json!(false))).ok, "the mistake is still there");
    std::fs::write(&path, "limits: [\n").unwrap();
    assert!(!setup.check("limits.depth", Some(json!(2))).ok);
    std::fs::remove_file(&path).unwrap();
    let view = setup.editor.read().unwrap();
    let saved = setup
        .editor
        .save(&change("limits.depth", Some(json!(2))), Some(&view.config.hash))
        .unwrap();
    assert!(saved.ok && setup.config() == "limits:\n  depth: 2\n", "{}", setup.config());
}

#[test]
fn a_role_that_was_read_redacted_is_not_written_over_its_secret() {
    let setup = setup(&[]);
    let text = "---\nname: keeper\ncategory: worker\n---\nAsk http://me:hunter2-s3cret@host.\n";
    let path = setup.dir.path().join(".adjutant/roles/keeper.md");
    std::fs::write(&path, text).unwrap();
    let seen = model::redact::redact(text.to_owned());
    let checked = setup.editor.check(&role("keeper", &seen)).unwrap();
    let problem = &checked.problems[0];
    assert!(problem.message.contains("[redacted]"), "{problem:?}");
    assert!(problem.hint.as_ref().unwrap().contains("keeper.md"), "{problem:?}");
}
