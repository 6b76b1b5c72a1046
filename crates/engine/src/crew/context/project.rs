//! Project context: the configured files, verbatim, as far as there is room.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use host::inside::{self, InsideError};

use super::plan::{self, Fences};
use super::{CUT, head};
use crate::core::settings::{ContextFile, ContextSettings};

/// No file is looked into further than this; a plan's next part lies nearer to its beginning.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Excerpt of a file.
struct Chosen {
    /// Name of the part, if it is not the whole file
    part: Option<String>,
    text: String,
    /// Bytes that were left out
    rest: u64,
}

/// The project's files that the settings name, but for those that the agent reads by itself (`reads`). Files that are
/// not there are passed over; a note says what is cut or refused. Blocks while it reads.
pub(crate) fn project_context(
    project: &Path,
    settings: &ContextSettings,
    reads: &[&str],
) -> String {
    // A file may have two names, as where `CLAUDE.md` is a link to `AGENTS.md`.
    let real = |read: &&str| inside::read(project, Path::new(read), 0).ok().map(|found| found.path);
    let mut read: Vec<PathBuf> = reads.iter().filter_map(real).collect();
    let mut names: Vec<&Path> = Vec::new();
    let mut room = settings.size;
    let mut text = String::new();
    for file in &settings.files {
        let path = Path::new(&file.path);
        let is_read = reads.iter().any(|read| plain(Path::new(read)).eq(plain(path)));
        if is_read {
            continue;
        }
        let message = match inside::read(project, path, MAX_FILE_BYTES) {
            // A part of the same file under the same name was asked for beside the one before.
            Ok(found) if read.contains(&found.path) && !names.contains(&path) => continue,
            Ok(found) => {
                names.push(path);
                let unseen = found.size.saturating_sub(MAX_FILE_BYTES);
                let whole = String::from_utf8_lossy(&found.bytes);
                let chosen = choose(whole.trim_start_matches('\u{feff}'), unseen, file);
                read.push(found.path);
                section(&file.path, &chosen, &mut room)
            }
            Err(InsideError::Missing) => continue,
            Err(error) => format!("\n## {}\n\n[left out: {error}]\n", file.path),
        };
        text.push_str(&message);
    }
    if text.is_empty() { text } else { format!("# Project Context\n{text}") }
}

/// Takes from a file what the settings ask for. `unseen` is how much of it was not even read.
fn choose(whole: &str, unseen: u64, file: &ContextFile) -> Chosen {
    let mut part = None;
    let mut wanted = whole;
    if file.unfinished {
        let Some(found) = plan::first_unfinished(whole) else {
            let text = "Every part is marked as done.".to_owned();
            return Chosen { part, text, rest: unseen };
        };
        // The parts before and after it were not asked for.
        wanted = found;
        if wanted.len() < whole.len() {
            part = Some("first unfinished part".to_owned());
        }
    }
    let mut shown = wanted;
    if let Some(lines) = file.lines {
        let lines = usize::try_from(lines).unwrap_or(usize::MAX);
        let end = wanted.split_inclusive('\n').take(lines).map(str::len).sum();
        shown = wanted.get(..end).unwrap_or(wanted);
        if end < wanted.len() {
            part = Some(format!("first {lines} lines"));
        }
    }
    let unseen = if whole.ends_with(wanted) { unseen } else { 0 };
    Chosen { part, text: shown.to_owned(), rest: bytes(wanted.len() - shown.len()) + unseen }
}

/// Tells of a file as far as there is room.
fn section(path: &str, chosen: &Chosen, room: &mut u64) -> String {
    let limit = usize::try_from(*room).unwrap_or(usize::MAX);
    let shown = head(&chosen.text, limit);
    *room = room.saturating_sub(bytes(shown.len()));
    let rest = bytes(chosen.text.len() - shown.len()) + chosen.rest;
    let mut text = match &chosen.part {
        Some(part) => format!("\n## {path} ({part})\n\n"),
        None => format!("\n## {path}\n\n"),
    };
    // Writing to a String cannot fail.
    if !shown.trim().is_empty() {
        _ = writeln!(text, "{}", shown.trim_end());
        // What follows must not become part of code that was cut in the middle.
        let mut fences = Fences::default();
        for line in shown.lines() {
            fences.is_inside(line);
        }
        if let Some(fence) = fences.missing() {
            _ = writeln!(text, "{fence}");
        }
    }
    if rest > 0 {
        let room =
            if shown.len() < chosen.text.len() { "; there was no room for them" } else { "" };
        _ = writeln!(text, "{CUT} {rest} more bytes{room}");
    }
    text
}

/// The parts of a path that lead somewhere.
fn plain(path: &Path) -> impl Iterator<Item = Component<'_>> {
    path.components().filter(|part| *part != Component::CurDir)
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
