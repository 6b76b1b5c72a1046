//! Progress of the check of approved work.

use host::run::{RunFolder, Stream};
use model::MergeId;
use model::redact::{REDACTION_MARK, is_key_line};
use model::review::MergeState;
use wire::merges::{CheckingView, WatchedMerge};

use super::outbox_job_of;
use super::queue::one_view;
use crate::core::error::ToolError;
use crate::core::redact::LineRedactor;
use crate::delivery::outbox;
use crate::delivery::outbox::params::MergeNotes;
use crate::delivery::service::Delivery;

/// Number of last lines shown.
const LINES: usize = 12;
/// Maximum length of a shown line.
const MAX_LINE_CHARS: usize = 400;
/// Bytes read for them.
const MAX_TAIL_BYTES: usize = 256 * 1024;

impl Delivery {
    /// One merge, and the progress of its check. Blocks.
    pub fn merge_one(&self, id: MergeId) -> Result<WatchedMerge, ToolError> {
        let merge = self.store.read(|tx| {
            let merge = tx.merge_get(id)?.ok_or_else(|| {
                ToolError::not_found(format!("there is no merge `{id}`"))
                    .hint("`adjutant merge-queue --all` lists them")
            })?;
            one_view(tx, merge)
        })?;
        let checks = merge.state == MergeState::Merging;
        let checking = if checks { self.merge_checking(id)? } else { None };
        Ok(WatchedMerge { merge, checking })
    }

    /// Progress of a merge's check; `None` while it is not checked. Blocks.
    pub fn merge_checking(&self, merge: MergeId) -> Result<Option<CheckingView>, ToolError> {
        let notes = self.store.read(|tx| {
            let job =
                outbox_job_of(tx, merge)?.map(|id| tx.outbox_job_get(id)).transpose()?.flatten();
            let notes = job.map(|job| outbox::decode_notes::<MergeNotes>(&job)).transpose()?;
            Ok::<_, ToolError>(notes.flatten())
        })?;
        let number = notes.map_or(0, |notes| notes.check);
        if number == 0 {
            return Ok(None);
        }
        let home = self.options.state.join("runs").join(merge.to_string());
        let folder = RunFolder::open(home.join(number.to_string()));
        if !folder.path().is_dir() {
            return Ok(None);
        }
        let started = folder.supervisor().map_err(ToolError::internal)?;
        let output = last_lines(&folder).map_err(ToolError::internal)?;
        Ok(Some(CheckingView { started_at: started.map(|record| record.started_at), output }))
    }
}

/// The last lines of a run's output.
fn last_lines(folder: &RunFolder) -> Result<Vec<String>, host::files::FileError> {
    let Some(stretch) = folder.tail(None, LINES)? else { return Ok(Vec::new()) };
    let lines = folder.output(stretch.from).next(MAX_TAIL_BYTES)?.into_iter();
    let message = lines.filter(|line| line.stream != Stream::In);
    let mut redactor = LineRedactor::default();
    let shown = message.map(|line| {
        // A private key may have begun before the first of these lines.
        let is_key = is_key_line(&line.text);
        let clean = redactor.line(line.text);
        if is_key {
            REDACTION_MARK.to_owned()
        } else {
            clean.chars().take(MAX_LINE_CHARS).collect()
        }
    });
    let shown: Vec<String> = shown.collect();
    Ok(shown.into_iter().rev().take(LINES).rev().collect())
}
