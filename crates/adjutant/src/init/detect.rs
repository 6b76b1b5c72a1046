//! Detects the kind of a project, and what its worktrees and its check need.

use std::fs;
use std::path::Path;

use toml_edit::{DocumentMut, Item};

/// Settings that fit a project, each with the reason that is written beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ProjectSettings {
    /// Kind of project, as `npm`
    pub(crate) kind: &'static str,
    /// Set-up of a new worktree
    pub(crate) setup: Option<(String, &'static str)>,
    /// Why it needs none, where that is known
    pub(crate) without_setup: Option<&'static str>,
    /// Check before a merge
    pub(crate) check: Option<(String, &'static str)>,
    /// Patterns of ignored files to copy
    pub(crate) copy: Vec<&'static str>,
}

const INSTALLS: &str = "A new worktree has no node_modules: git ignores it.";
const CHECKED: &str = "Merged work must pass the project's own tests.";
const FETCHES: &str = "Nothing to set up: it fetches and builds what is missing by itself.";
/// Files that a Python project has at its top.
const PYTHON_FILES: [&str; 4] = ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"];
/// Names of what a Python project's tests need beside the project, most telling first.
const TEST_GROUPS: [&str; 4] = ["test", "tests", "testing", "dev"];
/// Files with the same, most telling first.
const TEST_REQUIREMENTS: [&str; 9] = [
    "requirements/test.txt",
    "requirements/tests.txt",
    "requirements/dev.txt",
    "requirements-test.txt",
    "requirements-tests.txt",
    "requirements-dev.txt",
    "test-requirements.txt",
    "dev-requirements.txt",
    "requirements_dev.txt",
];

/// Looks at the files at the top of a project. A kind that is not known has no settings.
pub(crate) fn detect(root: &Path) -> ProjectSettings {
    let has = |name: &str| root.join(name).is_file();
    let mut found = if has("Cargo.toml") {
        cargo()
    } else if has("package.json") {
        node(root)
    } else if PYTHON_FILES.iter().any(|name| has(name)) {
        python(root)
    } else if has("go.mod") {
        go()
    } else {
        ProjectSettings::default()
    };
    if has(".env") {
        found.copy.push(".env");
    }
    found
}

fn cargo() -> ProjectSettings {
    let check = Some(("cargo test".to_owned(), CHECKED));
    let without_setup = Some(FETCHES);
    ProjectSettings { kind: "Cargo", check, without_setup, ..ProjectSettings::default() }
}

fn go() -> ProjectSettings {
    let check = Some(("go test ./...".to_owned(), CHECKED));
    let without_setup = Some(FETCHES);
    ProjectSettings { kind: "Go", check, without_setup, ..ProjectSettings::default() }
}

fn node(root: &Path) -> ProjectSettings {
    let has = |name: &str| root.join(name).is_file();
    let package = package(root);
    let (kind, setup, test) = if has("pnpm-lock.yaml") {
        ("pnpm", "pnpm install --frozen-lockfile --prefer-offline", "pnpm test")
    } else if has("yarn.lock") && has(".yarnrc.yml") {
        ("yarn", "yarn install --immutable", "yarn test")
    } else if has("yarn.lock") {
        ("yarn", "yarn install --frozen-lockfile --prefer-offline", "yarn test")
    } else if has("package-lock.json") || has("npm-shrinkwrap.json") {
        ("npm", "npm ci --prefer-offline --no-audit --no-fund", "npm test")
    } else {
        ("npm", "npm install --no-package-lock --prefer-offline --no-audit --no-fund", "npm test")
    };
    let needs = ["dependencies", "devDependencies", "workspaces"];
    let has_any = needs.iter().any(|key| !package[key].is_null());
    // What `npm init` writes only says that there is no test.
    let tests =
        package["scripts"]["test"].as_str().is_some_and(|test| !test.contains("no test specified"));
    ProjectSettings {
        kind,
        setup: has_any.then(|| (setup.to_owned(), INSTALLS)),
        check: tests.then(|| (test.to_owned(), CHECKED)),
        ..ProjectSettings::default()
    }
}

fn package(root: &Path) -> serde_json::Value {
    let text = fs::read(root.join("package.json")).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn python(root: &Path) -> ProjectSettings {
    const WHY: &str =
        "A new worktree has no .venv: git ignores it. A link to yours would test your own files.";
    let has = |name: &str| root.join(name).is_file();
    let text = fs::read_to_string(root.join("pyproject.toml")).unwrap_or_default();
    let project = text.parse::<DocumentMut>().unwrap_or_default();
    let is_tested = ["tests", "test"].iter().any(|name| root.join(name).is_dir())
        || text.contains("pytest")
        || TEST_REQUIREMENTS.iter().any(|name| has(name));
    let (kind, setup, run) = if has("uv.lock") {
        ("uv", "uv sync".to_owned(), "uv run pytest")
    } else if has("poetry.lock") || text.contains("[tool.poetry") {
        ("Poetry", "poetry install".to_owned(), "poetry run pytest")
    } else {
        ("pip", pip(root, &project, is_tested.then_some("pytest")), ".venv/bin/python -m pytest")
    };
    let check = is_tested.then(|| (run.to_owned(), CHECKED));
    ProjectSettings { kind, setup: Some((setup, WHY)), check, ..ProjectSettings::default() }
}

/// Keeps what an install leaves in the source folder out of every commit, as pip does not.
const HIDE_EGG_INFO: &str = " && for made in *.egg-info src/*.egg-info; do [ ! -d \"$made\" ] || \
    echo \"*\" > \"$made/.gitignore\"; done";

/// The command that makes a `.venv` with the project, what it needs, and what its tests need: where nothing names that,
/// their `runner`, if there are tests.
fn pip(root: &Path, project: &DocumentMut, runner: Option<&str>) -> String {
    let has = |name: &str| root.join(name).is_file();
    let named = |table: Option<&Item>| {
        TEST_GROUPS.into_iter().find(|name| table.is_some_and(|table| table.get(name).is_some()))
    };
    let metadata = project.get("project");
    let extra = named(metadata.and_then(|metadata| metadata.get("optional-dependencies")));
    let group = named(project.get("dependency-groups"));
    let is_package = metadata.is_some()
        || project.get("build-system").is_some()
        || has("setup.py")
        || has("setup.cfg");
    let file = TEST_REQUIREMENTS.into_iter().find(|name| has(name));
    let mut install = Vec::new();
    match extra.filter(|_| is_package) {
        Some(extra) => install.push(format!("-e \".[{extra}]\"")),
        None if is_package => install.push("-e .".to_owned()),
        None => {}
    }
    install.extend(has("requirements.txt").then(|| "-r requirements.txt".to_owned()));
    // One of them says what the tests need; more would install the same under two names.
    let mut newer_pip = "";
    match (extra, file, group) {
        (None, Some(file), _) => install.push(format!("-r {file}")),
        (None, None, Some(group)) => {
            // The pip of a new .venv may be older than groups are.
            newer_pip = " && .venv/bin/pip install -q \"pip>=25.1\"";
            install.push(format!("--group {group}"));
        }
        (None, None, None) => install.extend(runner.map(str::to_owned)),
        (Some(_), ..) => {}
    }
    let install = match install.join(" ") {
        none if none.is_empty() => none,
        install => format!(" && .venv/bin/pip install -q {install}"),
    };
    // Newer versions of Python write the same file, so that nobody commits a `.venv` that no rule ignores.
    let venv = "python3 -m venv .venv && echo \"*\" > .venv/.gitignore";
    let hide = if is_package { HIDE_EGG_INFO } else { "" };
    format!("sh -c '{venv}{newer_pip}{install}{hide}'")
}

/// A text as YAML reads it back.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The configuration with a project's settings in the place of the defaults, and the reasons beside them.
pub(crate) fn fitted(config: &str, found: &ProjectSettings) -> String {
    let mut text = config.to_owned();
    let mut set = |line: &str, with: String, why: &str| {
        let indent: String = line.chars().take_while(|c| *c == ' ').collect();
        let kind = if found.kind.is_empty() { String::new() } else { format!("{}: ", found.kind) };
        text = text.replacen(
            &format!("\n{line}\n"),
            &format!("\n{indent}# {kind}{why}\n{indent}{with}\n"),
            1,
        );
    };
    if let Some((setup, why)) = &found.setup {
        set("  setup: null", format!("setup: {}", quoted(setup)), why);
    } else if let Some(why) = found.without_setup {
        set("  setup: null", "setup: null".to_owned(), why);
    }
    if let Some((check, why)) = &found.check {
        set("check: null", format!("check: {}", quoted(check)), why);
    }
    if !found.copy.is_empty() {
        let why = "Git ignores it, and a new worktree would not have it.";
        set("  copy: []", format!("copy: [{}]", found.copy.join(", ")), why);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::init::CONFIG;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
            fs::write(dir.path().join(name), text).unwrap();
        }
        dir
    }

    /// The kind, the set-up and the check that are written for these files.
    fn written(files: &[(&str, &str)]) -> (&'static str, Vec<String>, Vec<String>) {
        let dir = project(files);
        let found = detect(dir.path());
        let config = Config::parse("config.yaml", &fitted(CONFIG, &found)).unwrap();
        let words = |command: Option<crate::config::CheckCommand>| {
            command.map(|check| check.0).unwrap_or_default()
        };
        (found.kind, words(config.worktrees.setup), words(config.check))
    }

    #[test]
    fn each_kind_of_project_gets_its_own_set_up_and_check() {
        const NODE: &str = r#"{"devDependencies": {"jest": "1"}, "scripts": {"test": "jest"}}"#;
        for (files, kind, setup, check) in [
            (&[("Cargo.toml", "")][..], "Cargo", "", "cargo test"),
            (&[("go.mod", "")], "Go", "", "go test ./..."),
            (
                &[("package.json", NODE), ("package-lock.json", "")],
                "npm",
                "npm ci --prefer-offline --no-audit --no-fund",
                "npm test",
            ),
            (
                &[("package.json", NODE), ("pnpm-lock.yaml", "")],
                "pnpm",
                "pnpm install --frozen-lockfile --prefer-offline",
                "pnpm test",
            ),
            (
                &[("package.json", NODE), ("yarn.lock", "")],
                "yarn",
                "yarn install --frozen-lockfile --prefer-offline",
                "yarn test",
            ),
            (&[("package.json", "{}")], "npm", "", ""),
            (&[("package.json", "not json")], "npm", "", ""),
            (
                &[("pyproject.toml", "[project]"), ("uv.lock", ""), ("tests/test_a.py", "")],
                "uv",
                "uv sync",
                "uv run pytest",
            ),
            (&[("pyproject.toml", "[tool.poetry]")], "Poetry", "poetry install", ""),
            (&[("README.md", "")], "", "", ""),
        ] {
            let (found, set, checked) = written(files);
            assert_eq!(
                (found, set.join(" ").as_str(), checked.join(" ").as_str()),
                (kind, setup, check),
                "{files:?}"
            );
        }
        let (kind, setup, check) = written(&[("requirements.txt", "pytest"), ("tests/a", "")]);
        assert_eq!((kind, setup.len(), setup[0].as_str()), ("pip", 3, "sh"));
        assert!(setup[2].contains("pip install -q -r requirements.txt"), "{setup:?}");
        assert_eq!(check, [".venv/bin/python", "-m", "pytest"]);
    }

    #[test]
    fn pip_installs_what_the_tests_of_a_python_project_need() {
        const PACKAGE: &str = "[project]\nname = \"a\"\n";
        let with = |more: &str| format!("{PACKAGE}{more}");
        let tests = ("tests/test_a.py", "");
        for (files, install) in [
            (vec![("pyproject.toml", PACKAGE.to_owned())], "pip install -q -e . pytest"),
            (
                vec![(
                    "pyproject.toml",
                    with("[project.optional-dependencies]\ndev = []\ntest = []"),
                )],
                "pip install -q -e \".[test]\"",
            ),
            (
                vec![("pyproject.toml", with("")), ("requirements/tests.txt", String::new())],
                "pip install -q -e . -r requirements/tests.txt",
            ),
            (
                vec![("pyproject.toml", with("[dependency-groups]\ndev = []"))],
                "pip install -q \"pip>=25.1\" && .venv/bin/pip install -q -e . --group dev",
            ),
            (vec![("setup.py", String::new())], "pip install -q -e . pytest"),
            (
                vec![("requirements.txt", String::new()), ("requirements-dev.txt", String::new())],
                "pip install -q -r requirements.txt -r requirements-dev.txt",
            ),
            // Settings of a linter alone make no package.
            (vec![("pyproject.toml", "[tool.black]".to_owned())], "pip install -q pytest"),
            (vec![("pyproject.toml", "[project".to_owned())], "pip install -q pytest"),
        ] {
            let mut files: Vec<(&str, &str)> =
                files.iter().map(|(name, text)| (*name, text.as_str())).collect();
            files.push(tests);
            let (kind, setup, check) = written(&files);
            assert_eq!((kind, setup[0].as_str()), ("pip", "sh"), "{files:?}");
            let venv = "python3 -m venv .venv && echo \"*\" > .venv/.gitignore";
            let hide = if install.contains("-e ") { HIDE_EGG_INFO } else { "" };
            assert_eq!(setup[2], format!("{venv} && .venv/bin/{install}{hide}"), "{files:?}");
            assert_eq!(check, [".venv/bin/python", "-m", "pytest"], "{files:?}");
        }
    }

    #[test]
    fn an_env_file_is_copied_and_every_line_has_its_reason() {
        let dir = project(&[("Cargo.toml", ""), (".env", "A=1")]);
        let text = fitted(CONFIG, &detect(dir.path()));
        assert_eq!(Config::parse("c", &text).unwrap().worktrees.copy, [".env"]);
        assert!(text.contains("  # Cargo: Git ignores it"), "{text}");
        assert!(text.contains(
            "# Cargo: Merged work must pass the project's own tests.\ncheck: \"cargo test\"\n"
        ));
        assert!(text.contains("  # Cargo: Nothing to set up"), "{text}");
        assert_eq!(fitted(CONFIG, &ProjectSettings::default()), CONFIG);
    }
}
