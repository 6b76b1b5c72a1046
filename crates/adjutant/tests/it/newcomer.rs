//! A newcomer's first hour in real projects from the registries: from the installed program to the first merged change,
//! with the project's own tests as the check, and without worktrees in the way of the newcomer's own tests.

mod with_github;

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use testkit::World;
use testkit::newcomer::Newcomer;
use testkit::projects::{self, RealProject};

use crate::crew::{in_order, settled, sh};
use crate::main_flow::{on_main, state};

/// Most commands from nothing to the first merged change.
const MAX_COMMANDS: usize = 6;

async fn begin(project: RealProject) -> Newcomer {
    Newcomer::begin(Path::new(crate::BINARY), project).await.unwrap()
}

/// Gives both roles a script in the place of a model: one that changes a file, one that approves. Both run the
/// project's tests where they work.
fn script(newcomer: &Newcomer) {
    let (file, line) = newcomer.beginning.project.harmless_change();
    let run = format!("  - run: [sh, -c, {:?}]\n", newcomer.beginning.check);
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
        let home = newcomer.world.home();
        fs::write(home.join(format!("{role}.yaml")), script).unwrap();
        let role_file = format!(
            "---\nname: {role}\ncategory: {category}\nagent: script\n\
             script: .adjutant/{role}.yaml\n---\nYou are the {role}.\n"
        );
        fs::write(home.join("roles").join(format!("{role}.md")), role_file).unwrap();
    }
}

/// Has `init` find out what the project is, and an agent change it; another reviews the change.
async fn gets_a_reviewed_change(newcomer: &mut Newcomer) {
    newcomer.types(&["init"]).await.unwrap();
    let config = fs::read_to_string(newcomer.world.home().join("config.yaml")).unwrap();
    let check = format!("\ncheck: \"{}\"\n", newcomer.beginning.check);
    for part in newcomer.beginning.detected.iter().copied().chain([check.as_str()]) {
        assert!(config.contains(part), "{part:?} is not in\n{config}");
    }
    script(newcomer);
    newcomer.types(&["config", "set", "review.required", "agent"]).await.unwrap();
    let ran = newcomer.types(&["run", "--role", "coder", "Tidy the sources"]).await.unwrap();
    assert!(ran.contains("TAS-1 is in review"), "{ran}");
    let worktrees = fs::read_dir(newcomer.world.worktrees()).unwrap().flatten();
    let (file, _) = newcomer.beginning.project.harmless_change();
    let with_sources = worktrees.filter(|tree| tree.path().join(file).is_file()).count();
    assert!(with_sources >= 1, "the agent's worktree stays until its work is merged");
}

/// Approves the change, which is merged once the project's own tests have passed with it.
async fn approves(newcomer: &mut Newcomer) {
    let (file, line) = newcomer.beginning.project.harmless_change();
    assert!(!on_main(&newcomer.world, file).await.ends_with(line.trim()));
    newcomer.types(&["review", "approve", "TAS-1"]).await.unwrap();
    settled(&newcomer.world).await;
    assert_eq!(state(&newcomer.world, "TAS-1").await, "completed");
    assert!(on_main(&newcomer.world, file).await.ends_with(line.trim()));
    let changed = sh(&newcomer.world, "git diff --name-only main^ main").await;
    assert_eq!(changed, file, "nothing that the set-up or the tests left is merged");
    let said = sh(
        &newcomer.world,
        &format!("cat {}/runs/merge_*/1/output.*", newcomer.world.state_dir().display()),
    )
    .await;
    // Each line of the output as it was written.
    let lines = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let said: Vec<String> = lines.filter_map(|line| Some(line["l"].as_str()?.to_owned())).collect();
    let said = said.join("\n");
    assert!(said.contains(newcomer.beginning.passed), "{said}");
    assert!(newcomer.commands.len() <= MAX_COMMANDS, "{:?}", newcomer.commands);
    report(&newcomer.figures());
}

/// Runs a command that lists the newcomer's own tests or files, and gives the lines that `keep` takes. Each comes once.
async fn finds_once(newcomer: &Newcomer, list: &str, keep: impl Fn(&str) -> bool) -> Vec<String> {
    let listed = sh(&newcomer.world, list).await;
    let kept: Vec<String> =
        listed.lines().map(str::trim).filter(|line| keep(line)).map(str::to_owned).collect();
    assert!(!kept.is_empty(), "{list}: {listed}");
    let different: HashSet<&String> = kept.iter().collect();
    assert_eq!(different.len(), kept.len(), "{list}: {listed}");
    let beside = newcomer.world.worktrees();
    let name = beside.file_name().unwrap().to_str().unwrap();
    assert!(!listed.contains(name), "{list} finds worktrees: {listed}");
    kept
}

/// Prints a figure for anyone who runs the tests.
#[expect(clippy::print_stderr, reason = "figures are printed")]
fn report(line: &str) {
    eprintln!("{line}");
}

#[tokio::test]
async fn a_newcomer_merges_the_first_change_of_a_python_library() {
    let mut newcomer = begin(RealProject::Python).await;
    gets_a_reviewed_change(&mut newcomer).await;
    let list = ".venv/bin/python -m pytest --collect-only -q .";
    let tests = finds_once(&newcomer, list, |line| line.contains("::")).await;
    assert_eq!(tests.len(), 26, "{tests:?}");
    approves(&mut newcomer).await;
    in_order_beside_the_home(&newcomer.world).await;
}

#[tokio::test]
async fn a_newcomer_merges_the_first_change_of_an_npm_package() {
    let mut newcomer = begin(RealProject::Npm).await;
    gets_a_reviewed_change(&mut newcomer).await;
    let tests = finds_once(&newcomer, "node_modules/.bin/jest --listTests", |_| true).await;
    assert_eq!(tests.len(), 20, "{tests:?}");
    // The same package's types, as the compiler finds them without being told where.
    let list = format!("'{}' --listFilesOnly", projects::tsc().unwrap().display());
    let sources = finds_once(&newcomer, &list, |line| line.contains("/src/")).await;
    assert_eq!(sources.iter().filter(|path| path.ends_with("/tokenTypes.js")).count(), 1);
    approves(&mut newcomer).await;
    in_order_beside_the_home(&newcomer.world).await;
}

#[tokio::test]
async fn a_newcomer_merges_the_first_change_of_a_crate() {
    let mut newcomer = begin(RealProject::Cargo).await;
    gets_a_reviewed_change(&mut newcomer).await;
    let list = "cargo test -q --tests -- --list";
    let tests = finds_once(&newcomer, list, |line| line.ends_with(": test")).await;
    assert!(tests.len() > 50, "{tests:?}");
    approves(&mut newcomer).await;
    in_order_beside_the_home(&newcomer.world).await;
}

#[tokio::test]
async fn a_newcomer_merges_the_first_change_of_a_go_module() {
    let mut newcomer = begin(RealProject::Go).await;
    gets_a_reviewed_change(&mut newcomer).await;
    let packages = finds_once(&newcomer, "go list ./...", |_| true).await;
    assert_eq!(packages, ["github.com/google/shlex"]);
    finds_once(&newcomer, "go test -list . ./...", |line| line.starts_with("Test")).await;
    approves(&mut newcomer).await;
    in_order_beside_the_home(&newcomer.world).await;
}

/// All is in order, and the newcomer's checkout has nothing new but the home.
async fn in_order_beside_the_home(world: &World) {
    sh(world, "echo .adjutant >> .git/info/exclude").await;
    in_order(world).await;
}
