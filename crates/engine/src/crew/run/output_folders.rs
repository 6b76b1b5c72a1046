//! An agent's output as one text: the set-ups of its worktree, then what the agent itself prints.
//!
//! Each has a run folder with positions of its own. A position in the whole has the part in the high bits of its
//! segment, so that the positions of an agent without set-ups are those of its run folder.

use std::path::Path;

use host::files::FileError;
use host::run::{OutputLine, OutputRange, Position, RunFolder};

use crate::core::redact::LineRedactor;

/// Runs of a set-up that may be lost before it counts as failed.
const MAX_LOST: u32 = 3;
/// Lines before a place that are read to know whether a private key is open there.
const KEY_LOOKBACK_LINES: usize = 128;
/// Bits of a segment below the number of its part: more segments than one run ever has.
const PART_SHIFT: u32 = 24;

/// The folders of a set-up's runs, below the folder of an agent's or a merge's runs; few of them exist.
pub(crate) fn setup_folders(runs: &Path) -> Vec<RunFolder> {
    let folder = |number| RunFolder::open(runs.join(format!("setup-{number}")));
    (1..=MAX_LOST).map(folder).collect()
}

/// The run folders of one attempt, oldest first: its set-ups, and its own once there is one.
#[derive(Debug)]
pub(crate) struct OutputFolders {
    parts: Vec<RunFolder>,
    setups: usize,
}

/// Whether anything may still be written to an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    GoesOn,
    IsOver,
}

/// A stretch of the output, which lies in one part.
#[derive(Debug)]
pub(crate) struct OutputPart {
    pub(crate) lines: Vec<OutputLine>,
    pub(crate) next: Position,
    /// True for the output of a set-up
    pub(crate) is_setup: bool,
}

impl OutputFolders {
    /// The folders of an attempt. A worktree is set up before the first attempt in it.
    pub(crate) fn of(run: RunFolder, attempt: u32) -> Self {
        // Asked first: once it is there, every set-up is over.
        let has_run = run.path().is_dir();
        let mut parts = match run.path().parent() {
            Some(runs) if attempt <= 1 => setup_folders(runs),
            _ => Vec::new(),
        };
        parts.retain(|folder| folder.path().is_dir());
        let setups = parts.len();
        if has_run || parts.is_empty() {
            parts.push(run);
        }
        Self { parts, setups }
    }

    fn split(&self, place: Position) -> (usize, Position) {
        let part = usize::try_from(place.segment >> PART_SHIFT).unwrap_or_default();
        let segment = place.segment & ((1 << PART_SHIFT) - 1);
        (part.min(self.parts.len() - 1), Position { segment, ..place })
    }

    fn join(part: usize, place: Position) -> Position {
        let part = u32::try_from(part).unwrap_or_default() << PART_SHIFT;
        Position { segment: place.segment | part, ..place }
    }

    /// Reads what is there from a place on. Blocks.
    pub(crate) fn read(
        &self,
        from: Position,
        bytes: usize,
        writing: Writing,
    ) -> Result<OutputPart, FileError> {
        let (mut part, mut place) = self.split(from);
        loop {
            let is_last = part + 1 == self.parts.len();
            // An attempt that was given up before it began has no folder, and no output.
            let folder = self.parts.get(part).filter(|folder| folder.path().is_dir());
            let (lines, next) = match folder {
                Some(folder) => {
                    read(folder, place, bytes, if is_last { writing } else { Writing::IsOver })?
                }
                None => (Vec::new(), place),
            };
            if lines.is_empty() && !is_last {
                (part, place) = (part + 1, Position::default());
                continue;
            }
            let is_setup = part < self.setups;
            return Ok(OutputPart { lines, next: Self::join(part, next), is_setup });
        }
    }

    /// Finds where about so many lines before a place begin, or before the end. Blocks.
    pub(crate) fn tail(
        &self,
        before: Option<Position>,
        lines: usize,
    ) -> Result<Option<OutputRange>, FileError> {
        let (last, mut place) = match before.map(|before| self.split(before)) {
            Some((part, place)) => (part, Some(place)),
            None => (self.parts.len() - 1, None),
        };
        for (part, folder) in self.parts.iter().enumerate().take(last + 1).rev() {
            let place = place.take();
            if folder.path().is_dir()
                && let Some(range) = folder.tail(place, lines)?
            {
                return Ok(Some(OutputRange { from: Self::join(part, range.from), ..range }));
            }
        }
        Ok(None)
    }
}

fn read(
    folder: &RunFolder,
    from: Position,
    bytes: usize,
    writing: Writing,
) -> Result<(Vec<OutputLine>, Position), FileError> {
    let mut redactor = redactor_at(folder, from)?;
    let mut reader = folder.output(from);
    let mut lines = reader.next(bytes.max(1))?;
    if writing == Writing::IsOver && lines.is_empty() {
        // A last line that a crash cut off.
        lines = reader.finish();
    }
    for line in &mut lines {
        line.text = redactor.line(std::mem::take(&mut line.text));
    }
    Ok((lines, reader.position()))
}

/// A redactor for the lines that follow a place: a key may have begun before it.
fn redactor_at(folder: &RunFolder, from: Position) -> Result<LineRedactor, FileError> {
    let mut redactor = LineRedactor::default();
    let Some(before) = folder.tail(Some(from), KEY_LOOKBACK_LINES)? else { return Ok(redactor) };
    let bytes = usize::try_from(before.bytes).unwrap_or(usize::MAX);
    for line in folder.output(before.from).next(bytes)? {
        // Only what it remembers counts here.
        drop(redactor.line(line.text));
    }
    Ok(redactor)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    struct Runs {
        dir: tempfile::TempDir,
    }

    impl Runs {
        fn new() -> Self {
            Self { dir: tempfile::tempdir().unwrap() }
        }

        /// A run that printed these lines.
        fn print(&self, run: &str, lines: &[&str]) {
            let line = |text: &&str| format!("{{\"at\":1,\"s\":\"out\",\"l\":\"{text}\"}}\n");
            fs::create_dir_all(self.folder(run)).unwrap();
            let text: String = lines.iter().map(line).collect();
            fs::write(self.folder(run).join(OUTPUT), text).unwrap();
        }

        fn folder(&self, run: &str) -> PathBuf {
            self.dir.path().join(run)
        }

        fn read(&self, from: Position) -> (Vec<String>, Position, bool) {
            let folders = OutputFolders::of(RunFolder::open(self.folder("1")), 1);
            let part = folders.read(from, 1 << 20, Writing::GoesOn).unwrap();
            let lines = part.lines.into_iter().map(|line| line.text).collect();
            (lines, part.next, part.is_setup)
        }

        fn tail(&self, before: Option<Position>) -> Option<Position> {
            let folders = OutputFolders::of(RunFolder::open(self.folder("1")), 1);
            folders.tail(before, 1).unwrap().map(|range| range.from)
        }
    }

    const OUTPUT: &str = "output.jsonl";

    #[test]
    fn set_ups_come_before_the_agent_and_are_followed_while_they_run() {
        let runs = Runs::new();
        let (nothing, start, _) = runs.read(Position::default());
        assert_eq!((nothing.len(), start), (0, Position::default()), "nothing has begun");
        runs.print("setup-1", &["one", "two"]);
        let (lines, next, is_setup) = runs.read(start);
        assert_eq!((lines, is_setup), (vec!["one".to_owned(), "two".to_owned()], true));
        let (nothing, waits, _) = runs.read(next);
        assert_eq!((nothing.len(), waits), (0, next), "it may print more");
        // It was lost, and begun again.
        runs.print("setup-2", &["three"]);
        let (lines, next, is_setup) = runs.read(waits);
        assert_eq!((lines, is_setup), (vec!["three".to_owned()], true));
        runs.print("1", &["four"]);
        let (lines, last, is_setup) = runs.read(next);
        assert_eq!((lines, is_setup), (vec!["four".to_owned()], false));
        // From the end back, one line at a time.
        let mut told = Vec::new();
        let mut before = None;
        while let Some(from) = runs.tail(before) {
            told.push(runs.read(from).0.first().cloned().unwrap_or_default());
            before = Some(from);
        }
        assert_eq!(told, ["four", "three", "two", "one"]);
        assert_eq!(runs.read(last).1, last);
    }

    #[test]
    fn positions_without_a_set_up_are_those_of_the_run() {
        let runs = Runs::new();
        runs.print("1", &["one"]);
        let (lines, next, is_setup) = runs.read(Position::default());
        assert_eq!((lines, is_setup), (vec!["one".to_owned()], false));
        assert_eq!(next, RunFolder::open(runs.folder("1")).output(next).position());
        assert_eq!(next.segment, 0);
        // A later attempt in the same worktree has no set-up of its own.
        runs.print("setup-1", &["zero"]);
        let folders = OutputFolders::of(RunFolder::open(runs.folder("1")), 2);
        let part = folders.read(Position::default(), 1 << 20, Writing::IsOver).unwrap();
        assert_eq!((part.lines.len(), part.is_setup), (1, false));
    }
}
