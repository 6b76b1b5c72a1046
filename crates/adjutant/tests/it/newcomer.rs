//! A newcomer's first hour in real projects from the registries: from the installed program to the first merged change,
//! with the project's own tests as the check, and without worktrees in the way of the newcomer's own tests.

mod with_github;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use testkit::World;
use testkit::projects::{self, RealProject};
use tokio::time::Instant;

use crate::crew::{in_order, settled, sh};
use crate::main_flow::{on_main, state};

/// Most commands from nothing to the first merged change.
const MAX_COMMANDS: usize = 6;

/// Installs Adjutant below a prefix, as a package does, and gives the program. What is installed is tried.
fn install(prefix: &Path) -> PathBuf {
    let program = prefix.join("bin/adjutant");
    fs::create_dir_all(prefix.join("bin")).unwrap();
    // As good as a copy, and not as large; on another disk it is one.
    if fs::hard_link(crate::BINARY, &program).is_err() {
        fs::copy(crate::BINARY, &program).unwrap();
    }
    program
}

/// Somebody who has a project, and has just installed Adjutant.
struct Newcomer {
    world: World,
    project: RealProject,
    began: Instant,
    commands: Vec<String>,
}

impl Newcomer {
    /// Begins with the project as its authors publish it, and with whatever its owner has done in it.
    async fn begin(project: RealProject, prepare: &str) -> Self {
        let mut world = World::bare(crate::BINARY).unwrap();
        projects::equip(&mut world).unwrap();
        project.lay_out(&world.project()).unwrap();
        let program = install(&world.user().join(".local"));
        world.use_binary(program);
        sh(&world, prepare).await;
        let begin = "git init -q -b main
            git config user.name Newcomer && git config user.email newcomer@localhost
            git add -A && git commit -q -m 'Import the project'";
        sh(&world, begin).await;
        // The installation is the first command.
        let commands = vec!["install".to_owned()];
        Self { world, project, began: Instant::now(), commands }
    }

    /// Types a command, which must end well.
    async fn types(&mut self, arguments: &[&str]) -> String {
        self.commands.push(format!("adjutant {}", arguments.join(" ")));
        let ran = self.world.run(arguments).await.unwrap();
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
        ran.stdout
    }

    /// Gives both roles a script in the place of a model: one that changes a file, one that approves. Both run the
    /// project's tests where they work.
    fn script(&self, check: &str) {
        let (file, line) = self.project.harmless_change();
        let run = format!("  - run: [sh, -c, {check:?}]\n");
        let coder = format!(
            "steps:\n  - append: {{path: {file}, text: {line:?}}}\n{run}  - commit: Tidy the sources\n  \
             - result: {{summary: tidied the sources}}\n"
        );
        let reviewer = format!(
            "steps:\n{run}  - call: send_feedback\n    \
             with: {{feedback: I ran its tests., feedback_type: approved}}\n"
        );
        for (role, category, script) in
            [("coder", "coding\nworktree: fresh", coder), ("reviewer", "review", reviewer)]
        {
            let home = self.world.home();
            fs::write(home.join(format!("{role}.yaml")), script).unwrap();
            let role_file = format!(
                "---\nname: {role}\ncategory: {category}\nagent: script\n\
                 script: .adjutant/{role}.yaml\n---\nYou are the {role}.\n"
            );
            fs::write(home.join("roles").join(format!("{role}.md")), role_file).unwrap();
        }
    }

    /// Has `init` find out what the project is, and an agent change it; another reviews the change.
    async fn gets_a_reviewed_change(&mut self, expected: &[&str], check: &str) {
        self.types(&["init"]).await;
        let config = fs::read_to_string(self.world.home().join("config.yaml")).unwrap();
        for line in expected {
            assert!(config.contains(line), "{line:?} is not in\n{config}");
        }
        assert!(config.contains(&format!("\ncheck: \"{check}\"\n")), "{config}");
        self.script(check);
        self.types(&["config", "set", "review.required", "agent"]).await;
        let ran = self.types(&["run", "--role", "coder", "Tidy the sources"]).await;
        assert!(ran.contains("TAS-1 is in review"), "{ran}");
        let worktrees = fs::read_dir(self.world.worktrees()).unwrap().flatten();
        let (file, _) = self.project.harmless_change();
        let with_sources = worktrees.filter(|tree| tree.path().join(file).is_file()).count();
        assert!(with_sources >= 1, "the agent's worktree stays until its work is merged");
    }

    /// Approves the change, which is merged once the project's own tests have passed with it: `passed` is what they say.
    async fn approves(&mut self, passed: &str) {
        let (file, line) = self.project.harmless_change();
        assert!(!on_main(&self.world, file).await.ends_with(line.trim()));
        self.types(&["review", "approve", "TAS-1"]).await;
        settled(&self.world).await;
        assert_eq!(state(&self.world, "TAS-1").await, "completed");
        let took = self.began.elapsed();
        assert!(on_main(&self.world, file).await.ends_with(line.trim()));
        let changed = sh(&self.world, "git diff --name-only main^ main").await;
        assert_eq!(changed, file, "nothing that the set-up or the tests left is merged");
        let said = sh(
            &self.world,
            &format!("cat {}/runs/merge_*/1/output.*", self.world.state_dir().display()),
        )
        .await;
        assert!(said.contains(passed), "{said}");
        assert!(self.commands.len() <= MAX_COMMANDS, "{:?}", self.commands);
        report(&format!(
            "{:?}: {} commands and {:.1} s to the first merged change: {}",
            self.project,
            self.commands.len(),
            took.as_secs_f64(),
            self.commands.join("; ")
        ));
    }

    /// Runs a command that lists the newcomer's own tests or files, and gives the lines that `keep` takes. Each comes once.
    async fn finds_once(&self, list: &str, keep: impl Fn(&str) -> bool) -> Vec<String> {
        let listed = sh(&self.world, list).await;
        let kept: Vec<String> =
            listed.lines().map(str::trim).filter(|line| keep(line)).map(str::to_owned).collect();
        assert!(!kept.is_empty(), "{list}: {listed}");
        let different: HashSet<&String> = kept.iter().collect();
        assert_eq!(different.len(), kept.len(), "{list}: {listed}");
        let beside = self.world.worktrees();
        let name = beside.file_name().unwrap().to_str().unwrap();
        assert!(!listed.contains(name), "{list} finds worktrees: {listed}");
        kept
    }
}

/// Prints a figure for whoever runs the tests.
#[expect(clippy::print_stderr, reason = "figures are printed")]
fn report(line: &str) {
    eprintln!("{line}");
}

#[tokio::test]
async fn a_newcomer_merges_the_first_change_of_a_python_library() {
    // One test needs the `.env`, and no worktree has it by itself.
    let prepare = format!(
        "echo KEY=1 > .env
        cat > tests/test_environment.py <<'EOF'
from pathlib import Path


def test_the_environment_is_there():
    assert Path('.env').read_text() == 'KEY=1\\n'
EOF
        python3 -m venv --without-pip .venv
        {} -m pip --python .venv install -q -e . -r requirements/tests.txt",
        testkit::python().unwrap().display()
    );
    let mut newcomer = Newcomer::begin(RealProject::Python, &prepare).await;
    let expected = [
        "  # pip: A new worktree has no .venv: git ignores it.",
        "pip install -q -e . -r requirements/tests.txt'\"\n",
        "  copy: [.env]\n",
    ];
    newcomer.gets_a_reviewed_change(&expected, ".venv/bin/python -m pytest").await;
    let list = ".venv/bin/python -m pytest --collect-only -q .";
    let tests = newcomer.finds_once(list, |line| line.contains("::")).await;
    assert_eq!(tests.len(), 26, "{tests:?}");
    newcomer.approves("26 passed").await;
    in_order_beside_the_home(&newcomer.world).await;
}

#[tokio::test]
async fn a_newcomer_merges_the_first_change_of_an_npm_package() {
    let config = include_str!("../../../../tests/projects/typescript/tsconfig.json");
    let modules = projects::node_modules().unwrap();
    let prepare = format!(
        "cp -a '{}' node_modules\ncat > tsconfig.json <<'EOF'\n{config}EOF",
        modules.display()
    );
    let mut newcomer = Newcomer::begin(RealProject::Npm, &prepare).await;
    let expected = [
        "  # npm: A new worktree has no node_modules: git ignores it.\n",
        "  setup: \"npm ci --prefer-offline --no-audit --no-fund\"\n",
    ];
    newcomer.gets_a_reviewed_change(&expected, "npm test").await;
    let tests = newcomer.finds_once("node_modules/.bin/jest --listTests", |_| true).await;
    assert_eq!(tests.len(), 20, "{tests:?}");
    // The same package's types, as the compiler finds them without being told where.
    let list = format!("'{}' --listFilesOnly", projects::tsc().unwrap().display());
    let sources = newcomer.finds_once(&list, |line| line.contains("/src/")).await;
    assert_eq!(sources.iter().filter(|path| path.ends_with("/tokenTypes.js")).count(), 1);
    newcomer.approves("269 passed").await;
    in_order_beside_the_home(&newcomer.world).await;
}

#[tokio::test]
async fn a_newcomer_merges_the_first_change_of_a_crate() {
    let mut newcomer = Newcomer::begin(RealProject::Cargo, "true").await;
    let expected = ["  # Cargo: Nothing to set up", "\n  setup: null\n"];
    newcomer.gets_a_reviewed_change(&expected, "cargo test").await;
    let list = "cargo test -q --tests -- --list";
    let tests = newcomer.finds_once(list, |line| line.ends_with(": test")).await;
    assert!(tests.len() > 50, "{tests:?}");
    newcomer.approves("test result: ok").await;
    in_order_beside_the_home(&newcomer.world).await;
}

#[tokio::test]
async fn a_newcomer_merges_the_first_change_of_a_go_module() {
    let mut newcomer = Newcomer::begin(RealProject::Go, "true").await;
    newcomer.gets_a_reviewed_change(&["  # Go: Nothing to set up"], "go test ./...").await;
    let packages = newcomer.finds_once("go list ./...", |_| true).await;
    assert_eq!(packages, ["github.com/google/shlex"]);
    newcomer.finds_once("go test -list . ./...", |line| line.starts_with("Test")).await;
    newcomer.approves("github.com/google/shlex").await;
    in_order_beside_the_home(&newcomer.world).await;
}

/// All is in order, and the newcomer's checkout has nothing new but the home.
async fn in_order_beside_the_home(world: &World) {
    sh(world, "echo .adjutant >> .git/info/exclude").await;
    in_order(world).await;
}
