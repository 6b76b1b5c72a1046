//! Commits of what an iteration changed, by the server's own git: no hooks, no signature. Made again after a crash, there is
//! still one.

use std::path::Path;

use store::{Iteration, Loop};

use super::hook::directory;
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::delivery::worktree_setup::ourselves;

/// A commit's first line is no longer.
const SUBJECT: usize = 72;
/// Maximum number of files listed.
const FILES: usize = 50;

/// The message of an iteration's commit.
fn message(session: &str, iteration: &Iteration) -> String {
    let number = iteration.number;
    let summary = iteration.summary.as_deref().unwrap_or_default().trim();
    let first = summary.lines().next().unwrap_or_default().trim();
    let whole = if summary.is_empty() {
        format!("{session}: iteration {number}")
    } else if first.chars().count() > SUBJECT {
        let cut: String = first.chars().take(SUBJECT - 1).collect();
        format!("{}…\n\n{summary}", cut.trim_end())
    } else {
        summary.to_owned()
    };
    format!("{whole}\n\n{}", trailers(session, number))
}

fn trailers(session: &str, number: u32) -> String {
    format!("Adjutant-Session: {session}\nAdjutant-Iteration: {number}\n")
}

/// Commits what is there, and gives the commit; nothing where nothing was changed.
pub(super) async fn commit(
    engine: &Core,
    row: &Loop,
    iteration: &Iteration,
) -> Result<Option<String>, ToolError> {
    let (row, iteration) = (row.clone(), iteration.clone());
    engine
        .outside(move |engine| {
            let dir = directory(engine, &row);
            let repo = engine.repo(&dir)?;
            let who = ourselves(iteration.ended_at.unwrap_or(iteration.started_at));
            let text = message(&row.session, &iteration);
            match repo.commit_all(&dir, &text, &who)? {
                Some(commit) => Ok(Some(commit)),
                None => ours_already(&repo, &row, iteration.number, &dir),
            }
        })
        .await
}

/// The commit that is checked out, where it is this iteration's: we made it, and died before it was written down.
fn ours_already(
    repo: &host::git::Repo,
    row: &Loop,
    number: u32,
    dir: &Path,
) -> Result<Option<String>, ToolError> {
    let Some(head) = repo.state(dir)?.head else { return Ok(None) };
    let output = repo.message(&head)?;
    Ok(output.trim_end().ends_with(trailers(&row.session, number).trim_end()).then_some(head))
}

/// The files in a loop's folder that are not committed, at most so many; none where there is no repository.
pub(super) async fn uncommitted(engine: &Core, row: &Loop) -> Vec<String> {
    let row = row.clone();
    let found = engine
        .outside(move |engine| {
            let dir = directory(engine, &row);
            if !host::git::is_around(&dir) {
                return Ok::<_, ToolError>(Vec::new());
            }
            let state = engine.repo(&dir)?.state(&dir)?;
            let mut files = [state.staged, state.unstaged, state.untracked].concat();
            files.sort();
            files.dedup();
            let more = files.len().saturating_sub(FILES);
            files.truncate(FILES);
            if more > 0 {
                files.push(format!("and {more} more"));
            }
            Ok(files)
        })
        .await;
    found.unwrap_or_else(|error| {
        tracing::debug!(message = error.message, "failed to read the changes in a loop's folder");
        Vec::new()
    })
}

/// Refuses a folder in which iterations cannot be committed one by one.
pub(super) fn can_commit(engine: &Core, dir: &Path) -> Result<(), ToolError> {
    let refused = |message: String| {
        ToolError::conflict(message).hint("omit `--commit`, or commit your changes first")
    };
    if !host::git::is_around(dir) {
        return Err(refused(format!("`{}` is not in a git repository", dir.display())));
    }
    let state = engine.repo(dir)?.state(dir)?;
    if let Some(what) = &state.in_progress {
        return Err(refused(format!("a {what} is in progress in `{}`", dir.display())));
    }
    if !state.is_clean() {
        let files = [state.staged, state.unstaged, state.untracked].concat();
        let first: Vec<&str> = files.iter().take(5).map(String::as_str).collect();
        let message = format!(
            "`{}` has uncommitted changes, which the first commit would include: {}",
            dir.display(),
            first.join(", ")
        );
        return Err(refused(message).detail("files", files));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_is_the_message() {
        let mut iteration = Iteration {
            number: 3,
            started_at: model::Timestamp::from_millis(0),
            summary: Some("Add the door\n\nIt opens.".into()),
            ended_at: None,
            agent: None,
            outcome: None,
            reason: None,
            spent: None,
            task: None,
            commit: None,
        };
        let trailers = "Adjutant-Session: auth\nAdjutant-Iteration: 3\n";
        let whole = format!("Add the door\n\nIt opens.\n\n{trailers}");
        assert_eq!(message("auth", &iteration), whole);
        iteration.summary = Some("Add the door".into());
        assert_eq!(message("auth", &iteration), format!("Add the door\n\n{trailers}"));
        iteration.summary = None;
        assert_eq!(message("auth", &iteration), format!("auth: iteration 3\n\n{trailers}"));
        iteration.summary = Some("x".repeat(100));
        let first = message("auth", &iteration).lines().next().unwrap().to_owned();
        assert_eq!(first.chars().count(), SUBJECT);
    }
}
