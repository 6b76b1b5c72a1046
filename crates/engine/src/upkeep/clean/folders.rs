//! Run folders of agents, merges and loops that are over.

use std::collections::HashSet;
use std::path::Path;

use host::files;
use host::run::{RunFolder, RunStatus};
use model::{AgentId, Timestamp};
use store::Tx;
use wire::cleanup::{CleanPart, CleanedPart};

use super::Mode;
use crate::automation::loops::hook_folder_name;
use crate::core::error::ToolError;
use crate::core::handle::Core;

/// Removes run folders, or only the output in them. Blocks.
pub(super) fn clean(
    engine: &Core,
    part: CleanPart,
    before: Timestamp,
    mode: Mode,
) -> Result<CleanedPart, ToolError> {
    let mut done = CleanedPart::new(part);
    let runs = engine.runs_dir();
    let loops = engine.store.read(|tx| ended_loops(tx, before))?;
    for name in files::list(&runs).map_err(ToolError::internal)? {
        let Some(name) = name.to_str() else { continue };
        let folder = runs.join(name);
        // Never through a link: an agent could have made one.
        if !std::fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_dir()) {
            continue;
        }
        let is_over = match name.parse::<AgentId>() {
            Ok(agent) => engine.store.read(|tx| tx.agent_ended_before(agent, before))?,
            Err(_) if part == CleanPart::Output => false,
            Err(_) => {
                loops.contains(name)
                    || engine.store.read(|tx| tx.merge_ended_before(name, before))?
            }
        };
        if !is_over {
            continue;
        }
        match is_running(&folder) {
            Ok(false) => {}
            Ok(true) => {
                done.kept.push(format!("{name}: its supervisor process still runs"));
                continue;
            }
            // An agent can make its own folder unreadable: no reason to keep the others.
            Err(error) => {
                done.kept.push(format!("{name}: {error}: {}", error.source));
                continue;
            }
        }
        let cleaned = match part {
            CleanPart::Output => clean_output(&folder, mode),
            _ => clean_folder(&folder, mode).map(|bytes| (1, bytes)),
        };
        match cleaned {
            Ok((removed, bytes)) => {
                done.removed = done.removed.saturating_add(removed);
                done.bytes = done.bytes.saturating_add(bytes);
            }
            Err(error) => done.kept.push(format!("{name}: {error}: {}", error.source)),
        }
    }
    Ok(done)
}

fn clean_folder(folder: &Path, mode: Mode) -> Result<u64, files::FileError> {
    if mode == Mode::Count { files::tree_bytes(folder) } else { files::remove_tree(folder) }
}

/// Removes the output files of every attempt, and says how many and how large they were.
fn clean_output(folder: &Path, mode: Mode) -> Result<(u64, u64), files::FileError> {
    let (mut removed, mut bytes) = (0, 0);
    for attempt in attempts(folder)? {
        for name in files::list(&attempt)? {
            let is_output = name.to_str().is_some_and(|name| {
                name.starts_with("output")
                    && Path::new(name).extension().is_some_and(|e| e == "jsonl")
            });
            if is_output {
                let file = attempt.join(&name);
                bytes += files::tree_bytes(&file)?;
                removed += 1;
                if mode == Mode::Remove {
                    files::remove(&file)?;
                }
            }
        }
    }
    Ok((removed, bytes))
}

fn attempts(folder: &Path) -> Result<Vec<std::path::PathBuf>, files::FileError> {
    let all = files::list(folder)?.into_iter().map(|name| folder.join(name));
    Ok(all.filter(|dir| std::fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_dir())).collect())
}

/// Returns whether the supervisor of one of its attempts lives, whatever the record says.
fn is_running(folder: &Path) -> Result<bool, files::FileError> {
    for attempt in attempts(folder)? {
        if RunFolder::open(attempt).standing()? == RunStatus::Running {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The folders' names of loops that ended before a time.
fn ended_loops(tx: &Tx<'_>, before: Timestamp) -> Result<HashSet<String>, ToolError> {
    let sessions = tx.loops_ended_before(before)?;
    Ok(sessions.iter().map(|session| hook_folder_name(session)).collect())
}
