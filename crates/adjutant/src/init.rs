//! `adjutant init`: creates a home. Existing files are kept.

pub(crate) mod detect;

use std::path::PathBuf;

use host::files::{self, FileError, Mode};

use crate::home::{Home, good};

/// The configuration, with every key and its default.
pub(crate) const CONFIG: &str = include_str!("init/config.yaml");

/// `.gitignore` of a home.
const GITIGNORE: &str = include_str!("init/gitignore");

/// The example roles, by file name.
const ROLES: [(&str, &str); 8] = [
    ("orchestrator.md", include_str!("init/roles/orchestrator.md")),
    ("supervisor.md", include_str!("init/roles/supervisor.md")),
    ("coordinator.md", include_str!("init/roles/coordinator.md")),
    ("worker.md", include_str!("init/roles/worker.md")),
    ("coder.md", include_str!("init/roles/coder.md")),
    ("builder.md", include_str!("init/roles/builder.md")),
    ("reviewer.md", include_str!("init/roles/reviewer.md")),
    ("planner.md", include_str!("init/roles/planner.md")),
];

/// The example templates, by file name.
const TEMPLATES: [(&str, &str); 1] =
    [("explain_code.md", include_str!("init/templates/explain_code.md"))];

/// Outcome.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Report {
    /// The home
    pub(crate) home: PathBuf,
    /// Written files
    pub(crate) written: Vec<PathBuf>,
    /// Files that were kept
    pub(crate) kept: Vec<PathBuf>,
    /// Next steps: commands with their purpose
    pub(crate) next: Vec<Step>,
}

/// Something to do next.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Step {
    /// Command
    pub(crate) command: &'static str,
    /// Purpose
    pub(crate) purpose: &'static str,
}

/// Makes a home.
pub(crate) fn init(home: &Home) -> Result<Report, FileError> {
    // A home that was cleaned away gets back what was good last.
    good::restore(&home.dir, home.state_dir())?;
    for name in ["roles", "templates"] {
        files::make_dir(&home.dir.join(name), Mode::Shared)?;
    }
    let config = detect::fitted(CONFIG, &detect::detect(&home.root));
    let mut plan = vec![(home.config(), config.as_str()), (home.gitignore(), GITIGNORE)];
    plan.extend(ROLES.iter().map(|&(name, text)| (home.roles().join(name), text)));
    plan.extend(TEMPLATES.iter().map(|&(name, text)| (home.templates().join(name), text)));
    let (mut written, mut kept) = (Vec::new(), Vec::new());
    for (path, text) in plan {
        if files::create(&path, text, Mode::Shared)? {
            written.push(path);
        } else {
            kept.push(path);
        }
    }
    Ok(Report { home: home.dir.clone(), written, kept, next: next_steps() })
}

fn next_steps() -> Vec<Step> {
    vec![
        Step { command: "adjutant doctor", purpose: "check that everything it needs is there" },
        Step {
            command: "adjutant run --role coder 'Fix the build'",
            purpose: "run an agent in that role and wait for it",
        },
        Step {
            command: "adjutant enlist --role worker",
            purpose: "make an agent that you run yourself, with its MCP configuration to paste",
        },
        Step { command: "adjutant demo", purpose: "see a crew at work, without a model" },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::crew::roles;
    use crate::crew::templates;
    use crate::environment::Environment;
    use crate::yaml;

    fn home(dir: &tempfile::TempDir) -> Home {
        let env = Environment::from_vars(dir.path(), std::iter::empty::<(&str, &str)>());
        Home::for_init(Some(dir.path()), &env)
    }

    #[test]
    fn the_written_config_is_the_default_and_has_every_key() {
        assert_eq!(Config::parse("config.yaml", CONFIG).unwrap(), Config::default());
        let file: serde_json::Value = yaml::parse("config.yaml", CONFIG, CONFIG).unwrap();
        for (path, value) in Config::default().leaves() {
            let written = file.pointer(&format!("/{}", path.replace('.', "/")));
            assert!(written.is_some(), "`{path}` is not in the file; its default is {value}");
        }
    }

    #[test]
    fn every_key_of_the_file_is_explained() {
        let lines: Vec<&str> = CONFIG.lines().collect();
        // The keys of a category are explained once, above all of them.
        let once = ["allow", "deny", "reach", "mayDraft", "inactivity"];
        for (index, line) in lines.iter().enumerate() {
            let key = line.trim_start().split(':').next().unwrap();
            let is_key = !line.trim().is_empty() && !line.trim_start().starts_with(['#', '-']);
            if is_key && !once.contains(&key) {
                assert!(lines[index - 1].trim_start().starts_with('#'), "line {}", index + 1);
            }
        }
    }

    #[test]
    fn a_new_home_has_all_it_needs() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir);
        let report = init(&home).unwrap();
        assert_eq!((report.written.len(), report.kept.len()), (11, 0));
        let read = roles::load(&home, &Config::default().policy().unwrap());
        assert!(read.errors.is_empty() && read.warnings.is_empty(), "{read:?}");
        let categories: Vec<_> =
            read.roles.values().map(|role| (role.name.as_str(), role.category.as_str())).collect();
        assert_eq!(
            categories,
            [
                ("builder", "coding"),
                ("coder", "coding"),
                ("coordinator", "conversational"),
                ("orchestrator", "orchestrator"),
                ("planner", "planning"),
                ("reviewer", "review"),
                ("supervisor", "supervisor"),
                ("worker", "worker"),
            ]
        );
        let defaults = Config::default();
        let needed = [
            &defaults.review.role,
            &defaults.plan.role,
            &defaults.office.supervisor_role,
            &defaults.looping.role,
        ];
        for needed in needed {
            assert!(read.roles.contains_key(needed), "`{needed}` is named by the configuration");
        }
        for role in read.roles.values() {
            assert!(role.description.is_some() && role.prompt.len() > 300, "`{}`", role.name);
        }
    }

    #[test]
    fn the_example_template_works_and_says_what_each_key_is() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir);
        init(&home).unwrap();
        let (read, problems) = templates::load(&home);
        assert!(problems.is_empty(), "{problems:?}");
        let example = &read["explain_code"];
        assert_eq!(example.arguments.len(), 2);
        assert!(example.tools.is_some() && example.timeout.is_some());
        let [(_, text)] = TEMPLATES;
        for key in ["description", "arguments", "agent", "model", "tools", "timeout"] {
            let lines: Vec<&str> = text.lines().collect();
            let is_key =
                |line: &&str| line.trim_start_matches("# ").starts_with(&format!("{key}:"));
            let at = lines.iter().position(is_key).unwrap_or_else(|| panic!("no `{key}`"));
            assert!(lines[at - 1].starts_with("# "), "`{key}` is explained");
        }
    }

    #[test]
    fn what_is_there_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir);
        init(&home).unwrap();
        std::fs::write(home.config(), "limits: {depth: 1}\n").unwrap();
        std::fs::remove_file(home.gitignore()).unwrap();
        let report = init(&home).unwrap();
        assert_eq!(report.written, [home.gitignore()]);
        assert_eq!(report.kept.len(), 10);
        assert_eq!(std::fs::read_to_string(home.config()).unwrap(), "limits: {depth: 1}\n");
    }
}
