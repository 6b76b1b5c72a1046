//! The project's check, run on merged work before the branch moves: supervised as an agent is, with what the author's
//! environment had, what the person handed on who approved it, and nobody's token. It outlives the server; the next one
//! hears how it ended.

use std::path::{Path, PathBuf};

use host::run::{EndCause, ExitRecord, Handover, RunFolder, Spec, Stdin, Variables};
use model::task::TaskRef;
use model::{MergeId, OutboxJobId};
use tokio_util::sync::CancellationToken;

use super::super::{JobError, Point, note};
use super::{Job, Trial, set_up};
use crate::call::identity::hash_token;
use crate::core::error::{Code, ToolError};
use crate::core::handed_on::variable;
use crate::core::handle::Core;
use crate::core::settings::{CheckSettings, Settings};
use crate::core::virtual_env::SetUp;
use crate::delivery::check_environment::{self, CheckVariables};
use crate::delivery::command_environment::{CommandCaller, command_environment};
use crate::delivery::merge_queue::Details;
use crate::delivery::outbox::params::MergeNotes;
use crate::delivery::supervised::{self, CommandEnd};
use crate::delivery::worktree_provision;
use crate::delivery::worktree_setup::point_to_home;

/// A check that is lost so often is not begun again.
const MAX_LOST_CHECKS: u32 = 3;

/// Outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Checked {
    /// It was passed, or there is none
    Passed,
    /// It was not, for this reason
    Failed(String, Details),
    /// It cannot be run at all
    Impossible(String, Details),
}

/// Runs the check on merged work, or hears how one ended that was begun before.
pub(super) async fn check(
    engine: &Core,
    outbox_job: OutboxJobId,
    notes: &mut MergeNotes,
    job: &Job,
    trial: &Trial,
    shutdown: &CancellationToken,
) -> Result<Checked, JobError> {
    let settings = engine.settings();
    if notes.merged.as_ref() != Some(&trial.merged) {
        give_up(engine, job.merge.id, notes.check, shutdown).await?;
        *notes = MergeNotes { merged: Some(trial.merged.clone()), lost: 0, ..notes.clone() };
        note(engine, outbox_job, notes).await?;
    } else if let Some(wanted) = settings.check.as_ref().filter(|_| notes.check > 0) {
        // It was begun before, by us or by a server before us.
        match hear(engine, job.merge.id, notes.check, wanted, shutdown).await? {
            Some(checked) => return Ok(checked),
            None => notes.lost += 1,
        }
    }
    let Some(wanted) = settings.check.as_ref().filter(|check| !check.command.is_empty()) else {
        engine.point(Point::MergeTried);
        return Ok(Checked::Passed);
    };
    let CheckVariables { shared, missing } =
        check_environment::find(engine, job.merge.agent, job.task.id).await?;
    if !missing.is_empty() {
        let (task, merge) = (TaskRef::Number(job.task.number), job.merge.id.to_string());
        let why = check_environment::why_missing(engine, &task, &merge, &missing);
        let details = Details { missing_variables: missing, ..Details::default() };
        return Ok(Checked::Impossible(why, details));
    }
    while notes.lost <= MAX_LOST_CHECKS {
        // A server before us may have left a set-up under way in the same worktree.
        set_up::end(engine, job, notes).await?;
        let place = scratch_with(engine, job, &trial.merged).await?;
        engine.point(Point::MergeTried);
        if let Some(wanted) = settings.worktrees.setup.as_ref() {
            let shared = &shared;
            let setting =
                set_up::SettingUp { engine, outbox_job, job, trial, wanted, shared, shutdown };
            if let Some(checked) = setting.run(notes, &place).await? {
                return Ok(checked);
            }
        }
        let path = |number| folder(engine, job.merge.id, number).path().to_owned();
        notes.check = set_up::first_free(notes.check + 1, path);
        note(engine, outbox_job, notes).await?;
        let spec = match spec(engine, job, &shared, &settings, wanted, place) {
            Ok(spec) => spec,
            Err(why) => return Ok(Checked::Impossible(why, Details::default())),
        };
        begin(engine, folder(engine, job.merge.id, notes.check), spec).await?;
        match hear(engine, job.merge.id, notes.check, wanted, shutdown).await? {
            Some(checked) => return Ok(checked),
            None => notes.lost += 1,
        }
    }
    Ok(Checked::Impossible(
        "the check was killed again and again before it ended; look whether the machine has enough \
         memory, then put this back into the queue"
            .to_owned(),
        Details::default(),
    ))
}

/// The folder of the project in the scratch worktree of the target branch, with a commit checked out.
pub(super) async fn scratch_with(
    engine: &Core,
    job: &Job,
    commit: &str,
) -> Result<PathBuf, JobError> {
    let (target, commit) = (job.merge.target.clone(), commit.to_owned());
    engine.outside(move |engine| scratch(engine, &target, &commit)).await
}

/// Name in `ADJUTANT_AGENT_ID` of what is run for a merge.
pub(super) fn caller_of(job: &Job) -> String {
    job.merge.agent.map_or_else(|| job.merge.id.to_string(), |agent| agent.to_string())
}

/// The folder of one run of the check.
fn folder(engine: &Core, merge: MergeId, number: u32) -> RunFolder {
    let home = engine.options.state.join("runs").join(merge.to_string());
    RunFolder::open(home.join(number.to_string()))
}

/// The scratch worktree of a branch, with the merged work in it. It is kept for the next one, so that what a
/// build leaves there is of use again.
fn scratch(engine: &Core, target: &str, merged: &str) -> Result<PathBuf, JobError> {
    let repo = engine.repo(&engine.options.project)?;
    let name: String = hash_token(target).chars().take(12).collect();
    engine.make_worktrees_folder()?;
    let name = format!("merge-{name}");
    let path = engine.worktrees().join(&name);
    for before in engine.worktree_folders().into_iter().map(|folder| folder.join(&name)) {
        // Made before worktrees were somewhere else; nobody works in it.
        if before != path && before.exists() {
            repo.worktree_remove(&before)?;
        }
    }
    repo.worktree_add_detached(&path, merged)?;
    point_to_home(engine, &path)?;
    if engine.settings().worktrees.submodules && repo.facts().has_submodules {
        let left = repo.submodules_init(&path)?;
        if !left.is_empty() {
            tracing::warn!(?left, "submodules left empty: the project has no local copy");
        }
    }
    worktree_provision::provide(engine, &repo, &path)?;
    let project = engine.options.project.canonicalize().unwrap_or_default();
    let top = repo.facts().top.as_deref();
    let inside = top.and_then(|top| project.strip_prefix(top).ok()).unwrap_or(Path::new(""));
    Ok(path.join(inside))
}

/// Starts the check.
async fn begin(engine: &Core, folder: RunFolder, spec: Spec) -> Result<(), JobError> {
    let begun = engine
        .outside(move |engine| {
            let folder = RunFolder::create(folder.path(), &spec).map_err(ToolError::internal)?;
            folder.start(&engine.options.adjutant, &Handover::new(&spec.environment)).map_err(
                |error| {
                    let message =
                        format!("the check could not be supervised: {error}: {}", error.source);
                    ToolError::new(Code::ExternalError, message)
                },
            )
        })
        .await;
    let mut begun = begun.map_err(JobError::Never)?;
    // An error means that the supervisor is gone; its folder tells the rest.
    drop(begun.ready().await);
    Ok(())
}

/// Builds the run of the check, or says why it cannot run.
fn spec(
    engine: &Core,
    job: &Job,
    shared: &Variables,
    settings: &Settings,
    wanted: &CheckSettings,
    directory: PathBuf,
) -> Result<Spec, String> {
    let agent = caller_of(job);
    let caller = CommandCaller { agent: &agent, task: &job.task.slug, shared };
    let mut environment = command_environment(engine, caller, &directory);
    let set_up = settings.worktrees.setup.as_ref().map_or(SetUp::None, |_| SetUp::Ran);
    engine.enter_virtual_env(&mut environment, &directory, set_up);
    let path = variable(&environment, "PATH").unwrap_or_default();
    let (name, arguments) =
        wanted.command.split_first().ok_or_else(|| "`check` names no program".to_owned())?;
    let program = host::program::find(name, path, &directory);
    let program = program.ok_or_else(|| not_found(engine, name, &directory))?;
    Ok(Spec {
        program,
        arguments: arguments.to_vec(),
        environment,
        directory,
        stdin: Stdin::Closed,
        time_limit_ms: Some(u64::from(wanted.timeout_s) * 1000),
        grace_ms: settings.limits.grace_ms,
        max_output_bytes: settings.limits.max_output_bytes,
        lease: None,
    })
}

/// Says where the program of the check was looked for, and how it gets there.
fn not_found(engine: &Core, name: &str, directory: &Path) -> String {
    let folder = directory.display();
    let is_absolute = name.starts_with('/');
    let (place, advice) = if is_absolute {
        ("is not a program".to_owned(), "install it or mend the configuration".to_owned())
    } else if !name.contains('/') {
        ("is not on the PATH".to_owned(), "install it or mend the configuration".to_owned())
    } else {
        let first = name.split('/').find(|part| *part != ".").unwrap_or(name);
        let advice = if engine.options.project.join(name).exists() {
            format!(
                "it is in the project, but not committed: bring it with `worktrees.link: [{first}]`, or make it with \
                 `worktrees.setup`"
            )
        } else {
            "make it with `worktrees.setup`, or mend the configuration".to_owned()
        };
        (format!("is not a program in `{folder}`, the worktree of the merge queue"), advice)
    };
    format!(
        "`{name}`, which `check` in the configuration names, {place}; {advice}; then put this back into the queue"
    )
}

/// Waits until a check that was begun is over, and says what it came to; nothing where it was lost.
async fn hear(
    engine: &Core,
    merge: MergeId,
    number: u32,
    wanted: &CheckSettings,
    shutdown: &CancellationToken,
) -> Result<Option<Checked>, JobError> {
    let folder = folder(engine, merge, number);
    let Some(exit) = end_of(&folder, shutdown).await? else { return Ok(None) };
    let output =
        engine.outside(move |_| supervised::tail(&folder).map_err(ToolError::internal)).await?;
    Ok(judge(&exit, wanted, output))
}

/// Exit record of a run; `None` if it never started or its end is unknown.
async fn end_of(
    folder: &RunFolder,
    shutdown: &CancellationToken,
) -> Result<Option<ExitRecord>, JobError> {
    match supervised::end_of(folder, shutdown).await? {
        CommandEnd::Ended(exit) => Ok(Some(exit)),
        CommandEnd::Lost => Ok(None),
        CommandEnd::Leaving => Err(JobError::Leave),
    }
}

/// Ends a check that nobody wants to hear of any more.
async fn give_up(
    engine: &Core,
    merge: MergeId,
    number: u32,
    shutdown: &CancellationToken,
) -> Result<(), JobError> {
    let folder = folder(engine, merge, number);
    if number == 0 || !folder.path().is_dir() {
        return Ok(());
    }
    supervised::stop(engine, &folder, "the branch has moved").await?;
    end_of(&folder, shutdown).await.map(drop)
}

/// Judges a check's end; `None` if it was ended early.
fn judge(exit: &ExitRecord, wanted: &CheckSettings, output: String) -> Option<Checked> {
    let name = wanted.command.join(" ");
    let failed = |how: String| {
        let details = Details { check_output: Some(output), ..Details::default() };
        Some(Checked::Failed(format!("the check `{name}` {how}"), details))
    };
    match (exit.ended, exit.code, exit.signal) {
        (EndCause::Exited, Some(0), _) => Some(Checked::Passed),
        (EndCause::Exited, Some(code), _) => failed(format!("ended with {code}")),
        (EndCause::Exited, None, Some(signal)) => failed(format!("was ended by signal {signal}")),
        (EndCause::Exited, None, None) => failed("ended without an exit code".to_owned()),
        (EndCause::TimedOut, ..) => {
            failed(format!("did not end within {} seconds", wanted.timeout_s))
        }
        (EndCause::NotStarted, ..) => {
            let why = exit.why.as_deref().unwrap_or("no reason is known");
            let reason = format!(
                "the check `{name}` could not be started: {why}; mend `check` in the configuration, then put this \
                 back into the queue"
            );
            Some(Checked::Impossible(reason, Details::default()))
        }
        // It says nothing about the work: the check runs again.
        (EndCause::Stopped | EndCause::LeaseLost, ..) => None,
    }
}
