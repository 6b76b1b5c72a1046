//! Plays a page in a world of its own.

use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::compare;
use super::outside::OutsideServices;
use super::page::Page;
use super::script::{StepOutcome, TypedStep, answers, script, steps};
use crate::World;

/// How long a page may take.
const PAGE_TIMEOUT: Duration = Duration::from_secs(150);
/// More problems than this follow from the first ones.
const MAX_PROBLEMS_SHOWN: usize = 5;
/// Ends whatever a page has left running: its servers, wherever it made a home, and its tmux.
const STOP_SERVERS_SCRIPT: &str = "for home in .adjutant */.adjutant; do
    if [ -e \"$home/server.json\" ]; then adjutant --home \"$home\" down --kill; fi
done
tmux kill-server; true";

/// What came of a page.
#[derive(Debug)]
pub struct PageOutcome {
    /// How many things were typed
    pub typed: usize,
    /// Everything that was typed, and what came
    pub told: String,
    /// What was not as the page says; empty where all of it was
    pub problems: String,
}

/// Does what a page says, with this binary for `adjutant`.
pub async fn play(binary: &Path, page: &Page) -> Result<PageOutcome> {
    let binary = binary.canonicalize().with_context(|| binary.display().to_string())?;
    let mut world = World::bare(&binary)?;
    let bin = world.scratch().join("bin");
    std::fs::create_dir(&bin)?;
    symlink(&binary, bin.join("adjutant"))?;
    let git = world.scratch().join("gitconfig");
    std::fs::write(
        &git,
        "[user]\n\tname = You\n\temail = you@localhost\n[init]\n\tdefaultBranch = main\n",
    )?;
    // Agents are handed the home and not the variable.
    symlink(&git, world.scratch().with_file_name("user").join(".gitconfig"))?;
    world.set("GIT_CONFIG_GLOBAL", git.display().to_string());
    world.set("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
    world.set("TMUX_TMPDIR", world.scratch().display().to_string());
    let outside = OutsideServices::of(page, &mut world, &bin).await?;

    let steps = steps(page)?;
    let (file, output) = (world.scratch().join("page.sh"), world.scratch().join("output"));
    std::fs::write(&file, script(&steps))?;
    // Into a file: a server in the background would hold a pipe open.
    let line = format!("exec bash '{}' > '{}' 2>&1", file.display(), output.display());
    let ended = tokio::time::timeout(PAGE_TIMEOUT, world.shell(&line)).await;
    let came = String::from_utf8_lossy(&std::fs::read(&output)?).into_owned();
    world.shell(STOP_SERVERS_SCRIPT).await?;

    let answers = answers(&came);
    let mut problems = Vec::new();
    for (step, answer) in steps.iter().zip(&answers) {
        problems.extend(problem(page, step, answer));
    }
    if let Some(next) = steps.get(answers.len()) {
        problems.push(format!(
            "{}:{}: the shell ended before this: $ {}",
            page.name, next.line, next.typed
        ));
    } else if ended.is_err() {
        problems.push(format!("{}: it took more than {PAGE_TIMEOUT:?}", page.name));
    }
    if let Err(error) = outside.finish() {
        problems.push(format!("{}: {error:#}", page.name));
    }
    let more = problems.len().saturating_sub(MAX_PROBLEMS_SHOWN);
    problems.truncate(MAX_PROBLEMS_SHOWN);
    if more > 0 {
        problems.push(format!("… and {more} more"));
    }
    let told = told(&steps, &answers);
    Ok(PageOutcome { typed: steps.len(), told, problems: problems.join("\n\n") })
}

/// What is wrong with what came of a step.
fn problem(page: &Page, step: &TypedStep, answer: &StepOutcome) -> Option<String> {
    let place = format!("{}:{}: $ {}", page.name, step.line, step.typed);
    let shown = step.shown.as_deref().unwrap_or_default();
    let fails = shown.iter().any(|line| line.starts_with("error:"));
    match answer.status {
        None => Some(format!("{place}\nit did not end; so far it said:\n{}", answer.printed)),
        Some(status) if (status != 0) != fails => {
            let wanted = if fails { "should have failed" } else { "should have gone well" };
            Some(format!("{place}\nit {wanted}, and ended with {status}:\n{}", answer.printed))
        }
        Some(_) if step.shown.is_some() && !compare::fits(shown, &answer.printed) => {
            Some(format!("{place}\n{}", compare::difference(shown, &answer.printed)))
        }
        Some(_) => None,
    }
}

fn told(steps: &[TypedStep], answers: &[StepOutcome]) -> String {
    let mut told = String::new();
    for (step, answer) in steps.iter().zip(answers) {
        let typed = step.typed.replace('\n', "\n> ");
        // Writing to a String cannot fail.
        _ = writeln!(told, "$ {typed}\n{}", answer.printed.trim_end());
    }
    told
}
