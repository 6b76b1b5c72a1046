//! Somebody with a real project who installs a built package, and types commands until the first change is merged.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::time::Instant;

use crate::World;
use crate::packages::{self, PackageForm};
use crate::projects::{self, RealProject};

/// Finds the sources of the npm package by itself, also those in worktrees if they were below it.
const TSCONFIG: &str = include_str!("../../../tests/projects/typescript/tsconfig.json");

/// A project as it is when somebody begins, and what `init` finds out about it.
#[derive(Debug, Clone)]
pub struct Beginning {
    /// The project
    pub project: RealProject,
    /// Form in which the program is installed
    pub form: PackageForm,
    /// Parts of the configuration that `init` writes
    pub detected: &'static [&'static str],
    /// The project's own tests, which `init` makes the check
    pub check: &'static str,
    /// What they print where all of them pass
    pub passed: &'static str,
    /// Commands of its owner, before anything of ours is there
    prepare: String,
}

impl Beginning {
    /// The beginning in a project.
    pub fn of(project: RealProject) -> Result<Self> {
        let nothing = || "true".to_owned();
        Ok(match project {
            RealProject::Python => Self {
                project,
                form: PackageForm::Wheel,
                detected: &[
                    "  # pip: A new worktree has no .venv: git ignores it.",
                    "pip install -q -e . -r requirements/tests.txt",
                    "  copy: [.env]\n",
                ],
                check: ".venv/bin/python -m pytest",
                passed: "26 passed",
                prepare: python_with_environment(&crate::python()?),
            },
            RealProject::Npm => Self {
                project,
                form: PackageForm::Npm,
                detected: &[
                    "  # npm: A new worktree has no node_modules: git ignores it.\n",
                    "  setup: \"npm ci --prefer-offline --no-audit --no-fund\"\n",
                ],
                check: "npm test",
                passed: "269 passed",
                prepare: npm_with_types(&projects::node_modules()?),
            },
            RealProject::Cargo => Self {
                project,
                form: PackageForm::Tarball,
                detected: &["  # Cargo: Nothing to set up", "\n  setup: null\n"],
                check: "cargo test",
                passed: "test result: ok. 88 passed",
                prepare: nothing(),
            },
            RealProject::Go => Self {
                project,
                form: PackageForm::Tarball,
                detected: &["  # Go: Nothing to set up", "\n  setup: null\n"],
                check: "go test ./...",
                passed: "ok  \tgithub.com/google/shlex",
                prepare: nothing(),
            },
        })
    }

    /// Puts the project into an empty world, under git, as its owner has it.
    async fn lay_out(&self, world: &World) -> Result<()> {
        self.project.lay_out(&world.project())?;
        let begin = "git init -q -b main
            git config user.name Newcomer && git config user.email newcomer@localhost
            git add -A && git commit -q -m 'Import the project'";
        world.shell(&format!("set -e\n{}\n{begin}", self.prepare)).await?.ok()?;
        Ok(())
    }
}

/// Somebody who has a project, and has just installed Adjutant.
#[derive(Debug)]
pub struct Newcomer {
    /// Its project, with the installed program
    pub world: World,
    /// What was there before
    pub beginning: Beginning,
    /// Typed so far; the installation is the first
    pub commands: Vec<String>,
    /// Time that the commands took
    spent: Duration,
}

impl Newcomer {
    /// Begins with the project as its authors publish it, and with whatever its owner has done in it. Then installs a built
    /// package of a program with no Rust on the `PATH`: what is installed is tried.
    pub async fn begin(binary: &Path, project: RealProject) -> Result<Self> {
        let beginning = Beginning::of(project)?;
        let mut world = World::bare(binary)?;
        projects::equip(&mut world, project)?;
        beginning.lay_out(&world).await?;
        // Somebody else makes the package, once.
        packages::packages(binary, beginning.form).await?;
        let began = Instant::now();
        let folder = world.scratch().join("installed");
        let program = packages::install(binary, beginning.form, &folder).await?;
        world.use_binary(program);
        let commands = vec![beginning.form.install_line().to_owned()];
        Ok(Self { world, beginning, commands, spent: began.elapsed() })
    }

    /// Types a command, which must end well, and gives what it prints.
    pub async fn types(&mut self, arguments: &[&str]) -> Result<String> {
        self.commands.push(format!("adjutant {}", arguments.join(" ")));
        let began = Instant::now();
        let ran = self.world.run(arguments).await?.ok();
        self.spent += began.elapsed();
        Ok(ran.with_context(|| format!("{arguments:?}"))?.stdout)
    }

    /// Number and time of the commands, in a line.
    pub fn figures(&self) -> String {
        format!(
            "{:?}: {} commands took {:.1} s to the first merged change: {}",
            self.beginning.project,
            self.commands.len(),
            self.spent.as_secs_f64(),
            self.commands.join("; ")
        )
    }
}

/// One test needs the `.env`, and no worktree has it by itself.
fn python_with_environment(python: &Path) -> String {
    format!(
        "echo KEY=1 > .env
        cat > tests/test_environment.py <<'EOF'
from pathlib import Path


def test_the_environment_is_there():
    assert Path('.env').read_text() == 'KEY=1\\n'
EOF
        python3 -m venv --without-pip .venv
        {} -m pip --python .venv install -q -e . -r requirements/tests.txt",
        python.display()
    )
}

/// The packages are installed, and the compiler of `TypeScript` looks for the sources itself.
fn npm_with_types(modules: &Path) -> String {
    format!(
        "cp -a '{}' node_modules\ncat > tsconfig.json <<'EOF'\n{TSCONFIG}EOF",
        modules.display()
    )
}
