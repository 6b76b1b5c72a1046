//! Makes a new worktree a place in which the project runs: ignored files of the project's own checkout as copies or
//! links, a range of ports, and the project's set-up command.
//!
//! Everything may be repeated: what is there stays, a range is kept, and a set-up that was begun before is heard to
//! its end.

use std::path::{Path, PathBuf};

use host::git::{Checkout, IgnorePatterns, IgnoredEntry, Repo, ignore_patterns};
use host::provision::{Provisioner, SkippedReason};
use host::run::{EndCause, ExitRecord, Handover, RunFolder, Spec, Stdin, Variables};
use model::event::EventKind;
use model::{AgentId, EventKinds};
use store::{Agent, EventDraft};
use tokio_util::sync::CancellationToken;
use wire::event::{AgentWarned, EventData};

use crate::core::error::{Code, ToolError};
use crate::core::follow;
use crate::core::handed_on::variable;
use crate::core::handle::Core;
use crate::core::settings::{Sandbox, SetupSettings};
use crate::crew::run::{sandboxed, setup_folders};
use crate::delivery::command_environment::{CommandCaller, command_environment};
use crate::delivery::supervised::{self, CommandEnd};

/// Patterns of files that are copied, in the project's folder and at the top of its repository; Claude Code reads it
/// too.
const INCLUDE_FILE: &str = ".worktreeinclude";
/// Upper bound on its size.
const MAX_INCLUDE_BYTES: u64 = 64 << 10;
/// Lines of the set-up's output in an error.
const LAST_LINES: usize = 10;

/// One worktree that is being made ready, and for whom.
#[derive(Debug, Clone)]
pub(crate) struct SetupRun {
    /// Name in `ADJUTANT_AGENT_ID`
    pub(crate) agent: String,
    /// Slug of the task
    pub(crate) task: String,
    /// Folder below which its runs are kept, as `setup-1`
    pub(crate) runs: PathBuf,
    /// Top of the worktree
    pub(crate) worktree: PathBuf,
    /// Sandbox of the agent
    pub(crate) sandbox: Sandbox,
    /// Variables that the server has for it, or that a person handed on
    pub(crate) shared: Variables,
}

/// Puts ignored files into a worktree and claims its ports. Blocks.
pub(crate) fn provide(engine: &Core, repo: &Repo, worktree: &Path) -> Result<(), ToolError> {
    let unusable = |error: host::ports::PortsError| {
        ToolError::new(Code::ExternalError, format!("the worktree has no ports: {error}"))
    };
    host::ports::claim(&engine.ports_folder(), &real(worktree)).map_err(unusable)?;
    let settings = engine.settings();
    let project = &engine.options.project;
    let Some(checkout) = Checkout::around(project) else { return Ok(()) };
    let mut copies = settings.worktrees.copy.clone();
    copies.extend(included(project));
    let of_top = if real(project) == checkout.top { Vec::new() } else { included(&checkout.top) };
    let links = &settings.worktrees.link;
    if copies.is_empty() && of_top.is_empty() && links.is_empty() {
        return Ok(());
    }
    let mut provisioner = Provisioner::new(&checkout.top, worktree).map_err(ToolError::internal)?;
    let checkouts = Checkouts { project, worktree };
    link(repo, checkouts, links, &provisioner)?;
    let lists = [
        IgnorePatterns { dir: &checkout.top, patterns: &of_top },
        IgnorePatterns { dir: project, patterns: &copies },
    ];
    let entries = usable(repo.ignored_matching(&lists)?, &provisioner);
    let ignored = repo.ignores(worktree, &entries)?;
    for entry in chosen(&entries, &ignored) {
        provisioner.copy(&entry.path).map_err(|error| refused("copied", entry, &error))?;
    }
    Ok(())
}

/// The project's own checkout, and the worktree that is made ready.
#[derive(Clone, Copy)]
struct Checkouts<'a> {
    project: &'a Path,
    worktree: &'a Path,
}

fn link(
    repo: &Repo,
    Checkouts { project, worktree }: Checkouts<'_>,
    patterns: &[String],
    provisioner: &Provisioner,
) -> Result<(), ToolError> {
    let list = IgnorePatterns { dir: project, patterns };
    let entries = usable(repo.ignored_matching(&[list])?, provisioner);
    let plain: Vec<IgnoredEntry> =
        entries.iter().map(|entry| IgnoredEntry { is_folder: false, ..entry.clone() }).collect();
    // A rule such as `node_modules/` ignores the folder and not a link in its place, which would be committed.
    let (as_link, as_folder) = (repo.ignores(worktree, &plain)?, repo.ignores(worktree, &entries)?);
    for entry in chosen(&entries, &as_link) {
        provisioner.link(&entry.path).map_err(|error| refused("linked", entry, &error))?;
    }
    let rest: Vec<bool> = as_link.iter().zip(&as_folder).map(|(link, dir)| !link && *dir).collect();
    for entry in chosen(&entries, &rest) {
        provisioner.link_entries(&entry.path).map_err(|error| refused("linked", entry, &error))?;
    }
    Ok(())
}

/// The entries that have a place in the worktree.
fn usable(entries: Vec<IgnoredEntry>, provisioner: &Provisioner) -> Vec<IgnoredEntry> {
    let is_usable = |entry: &IgnoredEntry| match provisioner.left_out(&entry.path) {
        None => true,
        Some(SkippedReason::Exists) => false,
        Some(reason) => {
            tracing::warn!(path = %entry.path.display(), %reason, "file or folder not provided to the worktree");
            false
        }
    };
    entries.into_iter().filter(is_usable).collect()
}

/// The entries that the worktree's own rules ignore; others would be committed with the agent's work.
fn chosen<'a>(
    entries: &'a [IgnoredEntry],
    ignored: &'a [bool],
) -> impl Iterator<Item = &'a IgnoredEntry> {
    entries.iter().zip(ignored).filter(|(_, ignored)| **ignored).map(|(entry, _)| entry)
}

fn refused(done: &str, entry: &IgnoredEntry, error: &host::provision::ProvisionError) -> ToolError {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    let message = format!(
        "`{}` could not be {done} into the worktree: {error}{}",
        entry.path.display(),
        cause.unwrap_or_default()
    );
    ToolError::new(Code::ExternalError, message)
        .hint("make room on the disk, or change `worktrees.copy` and `worktrees.link`")
}

/// The patterns of the include file in a folder.
fn included(folder: &Path) -> Vec<String> {
    let found = host::inside::read(folder, Path::new(INCLUDE_FILE), MAX_INCLUDE_BYTES);
    found.map(|found| ignore_patterns(&String::from_utf8_lossy(&found.bytes))).unwrap_or_default()
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Runs the set-up in an agent's new worktree, once. A request to end the agent ends it.
pub(crate) async fn set_up(engine: &Core, agent: &Agent, worktree: &Path) -> Result<(), ToolError> {
    let settings = engine.settings();
    let Some(wanted) = settings.worktrees.setup.as_ref() else { return Ok(()) };
    let checkout = Checkout::around(worktree);
    if checkout.as_ref().is_none_or(Checkout::is_set_up) {
        return Ok(());
    }
    let id = agent.id;
    let task = engine.store.read(|tx| crate::call::cx::task_of(tx, agent.task))?;
    let run = SetupRun {
        agent: id.to_string(),
        task: task.map(|task| task.slug).unwrap_or_default(),
        runs: engine.runs_dir().join(id.to_string()),
        worktree: worktree.to_owned(),
        sandbox: settings.sandbox_of(agent),
        shared: engine.shared_environment(Some(id)),
    };
    let stopped = stop_requested(engine, id);
    let never = CancellationToken::new();
    let failed = tokio::select! {
        ran = run_setup(engine, &run, wanted, &never) => ran?,
        stopped = stopped => {
            stopped?;
            end_runs(engine, &run).await?;
            return Err(ToolError::wrong_state("it was stopped while its worktree was set up"));
        }
    };
    if let Some(failure) = failed {
        return Err(ToolError::new(Code::ExternalError, failure.in_full())
            .hint("fix `worktrees.setup` in the configuration"));
    }
    let place = worktree.to_owned();
    let left = engine
        .outside(move |engine| {
            if let Some(checkout) = checkout {
                checkout.mark_set_up().map_err(ToolError::internal)?;
            }
            Ok::<_, ToolError>(engine.repo(&engine.options.project)?.state(&place)?.untracked)
        })
        .await?;
    if let Some(warning) = left_over(&left) {
        let data = EventData::AgentWarned(AgentWarned { warning });
        let event = EventDraft { agent: Some(agent.id), task: agent.task, data };
        let now = engine.now();
        let told = engine.store.write(move |tx| {
            tx.event_append(now, &event)?;
            Ok::<_, ToolError>(())
        });
        told.await?;
    }
    Ok(())
}

/// Warns of files of a set-up that git does not ignore: they would be committed with the agent's work.
fn left_over(files: &[String]) -> Option<String> {
    let (first, rest) = files.split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    Some(format!(
        "the set-up left `{first}`{more}, which git does not ignore and the agent may commit: add it to `.gitignore`"
    ))
}

/// Waits until a stop of the agent is requested.
async fn stop_requested(engine: &Core, id: AgentId) -> Result<(), ToolError> {
    let kinds = EventKinds::of(&[EventKind::AgentStopping, EventKind::AgentFinished]);
    let stopped = follow::find(&engine.store, kinds, |tx| {
        let run = tx.run_get(id)?;
        Ok(run.is_none_or(|run| run.stop.is_some()).then_some(()))
    });
    match stopped.await? {
        Some(()) => Ok(()),
        None => std::future::pending().await,
    }
}

/// Why a set-up failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetupFault {
    /// Its command reported so
    Command,
    /// It could not be started, took too long or was killed, whatever is in the worktree
    Conditions,
}

/// A set-up that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SetupFailure {
    /// Why
    pub(crate) fault: SetupFault,
    /// What failed, where and how
    pub(crate) reason: String,
    /// End of its output
    pub(crate) output: String,
}

impl SetupFailure {
    fn without_output(reason: String) -> Self {
        Self { fault: SetupFault::Conditions, reason, output: String::new() }
    }

    fn in_full(&self) -> String {
        let lines: Vec<&str> = self.output.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
        if last.is_empty() {
            return format!("{}, without output", self.reason);
        }
        format!("{}; its last lines:\n{}\n", self.reason, last.join("\n"))
    }
}

/// Runs the set-up to its end, or hears one that was begun before. Gives why it failed.
pub(crate) async fn run_setup(
    engine: &Core,
    run: &SetupRun,
    wanted: &SetupSettings,
    shutdown: &CancellationToken,
) -> Result<Option<SetupFailure>, ToolError> {
    let spec = match spec(engine, run, wanted) {
        Ok(spec) => spec,
        Err(reason) => return Ok(Some(SetupFailure::without_output(reason))),
    };
    let place = spec.directory.clone();
    for folder in setup_folders(&run.runs) {
        if !folder.path().is_dir() {
            let (path, spec) = (folder.path().to_owned(), spec.clone());
            let begun = engine
                .outside(move |engine| {
                    let folder = RunFolder::create(path, &spec).map_err(ToolError::internal)?;
                    folder
                        .start(&engine.options.adjutant, &Handover::new(&spec.environment))
                        .map_err(ToolError::internal)
                })
                .await;
            // An error means that the supervisor is gone; its folder tells the rest.
            drop(begun?.ready().await);
        }
        let exit = match supervised::end_of(&folder, shutdown).await? {
            CommandEnd::Ended(exit) => exit,
            CommandEnd::Lost => continue,
            CommandEnd::Leaving => {
                let message = "the server stopped while a worktree was set up";
                return Err(ToolError::new(Code::TransientError, message));
            }
        };
        let tail = move |_: &Core| supervised::tail(&folder).map_err(ToolError::internal);
        let output = engine.outside(tail).await?;
        let failed = judge(&exit, wanted, &place);
        return Ok(failed.map(|(fault, reason)| SetupFailure { fault, reason, output }));
    }
    let reason = format!("the set-up {} was killed again and again", shown(wanted, &place));
    Ok(Some(SetupFailure::without_output(reason)))
}

/// Ends every run of a set-up that is still under way.
pub(crate) async fn end_runs(engine: &Core, run: &SetupRun) -> Result<(), ToolError> {
    for folder in setup_folders(&run.runs) {
        supervised::stop(engine, &folder, "its agent no longer needs it").await?;
    }
    Ok(())
}

fn shown(wanted: &SetupSettings, place: &Path) -> String {
    format!("`{}` in `{}`", wanted.command.join(" "), place.display())
}

fn judge(exit: &ExitRecord, wanted: &SetupSettings, place: &Path) -> Option<(SetupFault, String)> {
    let failed = |how: String| format!("the set-up {} {how}", shown(wanted, place));
    let conditions = |how: String| Some((SetupFault::Conditions, failed(how)));
    match (exit.ended, exit.code, exit.signal) {
        (EndCause::Exited, Some(0), _) => None,
        (EndCause::Exited, Some(code), _) => {
            Some((SetupFault::Command, failed(format!("ended with {code}"))))
        }
        (EndCause::Exited, None, Some(signal)) => {
            conditions(format!("was ended by signal {signal}"))
        }
        (EndCause::Exited, None, None) => conditions("ended without an exit code".to_owned()),
        (EndCause::TimedOut, ..) => conditions(format!(
            "did not end within {} seconds (`worktrees.setupTimeout`)",
            wanted.timeout_s
        )),
        (EndCause::NotStarted, ..) => conditions(format!(
            "could not be started: {}",
            exit.why.as_deref().unwrap_or("no reason is known")
        )),
        (EndCause::Stopped, ..) => conditions("was stopped".to_owned()),
        (EndCause::LeaseLost, ..) => conditions(
            "was ended: its machine could not reach the server before its lease ended".to_owned(),
        ),
    }
}

fn spec(engine: &Core, run: &SetupRun, wanted: &SetupSettings) -> Result<Spec, String> {
    let checkout = Checkout::around(&engine.options.project);
    let project = real(&engine.options.project);
    let inside = checkout.and_then(|one| Some(project.strip_prefix(one.top).ok()?.to_owned()));
    let directory = match inside {
        Some(inside) if inside != Path::new("") => run.worktree.join(inside),
        _ => run.worktree.clone(),
    };
    let SetupRun { agent, task, shared, .. } = run;
    let caller = CommandCaller { agent, task, shared };
    let mut environment = command_environment(engine, caller, &run.worktree);
    // It makes the worktree's own; an install must not go into a person's.
    let left = engine.leave_virtual_env(&mut environment);
    let path = variable(&environment, "PATH").unwrap_or_default().to_owned();
    let missing = |name: &str| {
        let place = directory.display();
        let message = format!(
            "`{name}`, which `worktrees.setup` names, is neither in `{place}` nor on the PATH"
        );
        match left.iter().find(|venv| venv.join("bin").join(name).exists()) {
            Some(venv) => format!(
                "{message}; it is in the virtual environment `{}`, which a set-up does not use: install it outside",
                venv.display()
            ),
            None => message,
        }
    };
    let (name, arguments) =
        wanted.command.split_first().ok_or("`worktrees.setup` names no program")?;
    let mut program = host::program::find(name, &path, &directory).ok_or_else(|| missing(name))?;
    let mut arguments = arguments.to_vec();
    if run.sandbox == Sandbox::Bwrap {
        let wrapper =
            host::program::find("bwrap", &path, &directory).ok_or_else(|| missing("bwrap"))?;
        arguments = sandboxed(engine, &program, arguments);
        program = wrapper;
    }
    let limits = &engine.settings().limits;
    Ok(Spec {
        program,
        arguments,
        environment,
        directory,
        stdin: Stdin::Closed,
        time_limit_ms: Some(u64::from(wanted.timeout_s) * 1000),
        grace_ms: limits.grace_ms,
        max_output_bytes: limits.max_output_bytes,
        lease: None,
    })
}
