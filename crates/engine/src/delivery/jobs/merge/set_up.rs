//! The project's set-up before its check, in the scratch worktree of the merge queue. What a merge brings may need another
//! one than the last, so that it runs for each check.
//!
//! One that fails on the work and not without it is the work's fault. Any other holds the merge: no author can mend it.

use std::path::{Path, PathBuf};

use host::git::Checkout;
use host::run::Variables;
use model::OutboxJobId;
use tokio_util::sync::CancellationToken;

use super::super::{JobError, note};
use super::check::{Checked, caller_of, scratch_with};
use super::{Job, Trial};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::settings::{Sandbox, SetupSettings};
use crate::delivery::merge_queue::Details;
use crate::delivery::outbox::params::MergeNotes;
use crate::delivery::worktree_provision::{self, SetupFailure, SetupFault, SetupRun};

/// The set-up of one merge.
#[derive(Debug, Clone, Copy)]
pub(super) struct SettingUp<'a> {
    pub(super) engine: &'a Core,
    pub(super) outbox_job: OutboxJobId,
    pub(super) job: &'a Job,
    pub(super) trial: &'a Trial,
    pub(super) wanted: &'a SetupSettings,
    /// Variables that the check gets, too
    pub(super) shared: &'a Variables,
    pub(super) shutdown: &'a CancellationToken,
}

impl SettingUp<'_> {
    /// Sets the merged work up. Says what becomes of the merge where that fails.
    pub(super) async fn run(
        &self,
        notes: &mut MergeNotes,
        place: &Path,
    ) -> Result<Option<Checked>, JobError> {
        let Some(failure) = self.once(notes, place).await? else { return Ok(None) };
        let SetupFailure { fault, reason, output } = failure;
        let details = Details { setup_output: Some(output), ..Details::default() };
        let held = |why: &str| {
            let reason = format!(
                "{reason}{why}; mend `worktrees.setup` in the configuration or what it needs, then put this back into \
                 the queue"
            );
            Ok(Some(Checked::Impossible(reason, details.clone())))
        };
        if fault == SetupFault::Conditions {
            return held("");
        }
        let target = &self.job.merge.target;
        let place = scratch_with(self.engine, self.job, &self.trial.from).await?;
        if self.once(notes, &place).await?.is_some() {
            return held(&format!(", and fails on `{target}` without this work too"));
        }
        let reason = format!("{reason}; without this work it succeeds on `{target}`");
        Ok(Some(Checked::Failed(reason, details)))
    }

    async fn once(
        &self,
        notes: &mut MergeNotes,
        place: &Path,
    ) -> Result<Option<SetupFailure>, JobError> {
        let Self { engine, outbox_job, job, wanted, shutdown, .. } = *self;
        notes.setup = first_free(notes.setup + 1, |number| runs(engine, job, number));
        note(engine, outbox_job, notes).await?;
        let run =
            SetupRun { shared: self.shared.clone(), ..setup_run(engine, job, notes.setup, place) };
        match worktree_provision::run_setup(engine, &run, wanted, shutdown).await {
            Ok(failure) => Ok(failure),
            Err(_) if shutdown.is_cancelled() => Err(JobError::Leave),
            Err(error) => Err(error.into()),
        }
    }
}

/// Ends the last set-up of a merge, if it is still under way.
pub(super) async fn end(engine: &Core, job: &Job, notes: &MergeNotes) -> Result<(), ToolError> {
    if notes.setup == 0 {
        return Ok(());
    }
    let run = setup_run(engine, job, notes.setup, &PathBuf::new());
    worktree_provision::end_runs(engine, &run).await
}

/// The first number from one on whose folder is not there. A merge that was held and is tried again has runs already.
pub(super) fn first_free(from: u32, folder: impl Fn(u32) -> PathBuf) -> u32 {
    (from..u32::MAX).find(|number| !folder(*number).exists()).unwrap_or(u32::MAX)
}

fn runs(engine: &Core, job: &Job, number: u32) -> PathBuf {
    engine.runs_dir().join(job.merge.id.to_string()).join(format!("before-{number}"))
}

/// One run of the set-up in the worktree around a folder.
fn setup_run(engine: &Core, job: &Job, number: u32, place: &Path) -> SetupRun {
    let top = Checkout::around(place).map_or_else(|| place.to_owned(), |checkout| checkout.top);
    SetupRun {
        agent: caller_of(job),
        task: job.task.slug.clone(),
        runs: runs(engine, job, number),
        worktree: top,
        sandbox: Sandbox::None,
        shared: Variables::default(),
    }
}
