//! Reads what was kept of an agent's output, from any position, while it is being written.
//!
//! A line is handed out once it is whole. A long one lies there in pieces, between which lines of the
//! other streams may stand: lines come in the order in which they *began*, so that what has been handed
//! out is always everything before one position. A reader that begins there skips the rest of lines that
//! began before.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use model::Timestamp;
use serde::{Deserialize, Serialize};

use super::record::open_regular;
use super::{OutputLine, Position, Stream, segment_name};
use crate::files::{FileError, at};

/// As much as is read at once.
const READ_CHUNK_BYTES: usize = 64 * 1024;
/// No piece is longer than this on disk: 64 KiB of which every byte needs six.
const MAX_PIECE_BYTES: usize = 512 * 1024;
/// As much of a line as is joined.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;
/// As much as waits for the end of a line that began before it.
const MAX_HELD_BYTES: usize = 8 * 1024 * 1024;

/// Beyond this offset nothing is looked for: far more than any file has, and the system takes offsets
/// only as far as a read from there stays below 2^63.
const MAX_OFFSET: u64 = 1 << 62;

/// A line, or a piece of a long one, as it is on disk.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OutputPiece<'a> {
    /// When it came, in milliseconds
    pub(crate) at: i64,
    /// Direction
    pub(crate) s: Stream,
    /// Content
    #[serde(borrow)]
    pub(crate) l: Cow<'a, str>,
    /// True if the line continues in another piece
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) more: bool,
    /// True if the line began in an earlier piece
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) cont: bool,
    /// Present and true if invalid UTF-8 was replaced
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lossy: Option<bool>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Reads a run's output from a position on. Cheap to make; it holds no file open.
///
/// Keep it as long as the run is followed: a new one reads a line that is not whole from its beginning.
#[derive(Debug)]
pub struct OutputReader {
    folder: PathBuf,
    /// Where the next piece is
    next: Position,
    /// Lines not handed out yet, in the order in which they began; the first is not whole
    held: VecDeque<HeldLine>,
    /// Bytes of text held
    held_bytes: usize,
    buffer: Vec<u8>,
    /// Number of segments lost before they were read
    lost: Option<u32>,
}

/// A line that is not whole, or that comes after one.
#[derive(Debug)]
struct HeldLine {
    from: Position,
    line: OutputLine,
    is_whole: bool,
}

impl OutputReader {
    /// Reads the output of the run in that folder.
    pub fn new(folder: &Path, from: Position) -> Self {
        Self {
            folder: folder.to_owned(),
            next: from,
            held: VecDeque::new(),
            held_bytes: 0,
            buffer: Vec::new(),
            lost: None,
        }
    }

    /// Where to go on after a restart: the beginning of the first line that was not handed out.
    pub fn position(&self) -> Position {
        self.held.front().map_or(self.next, |first| first.from)
    }

    /// Number of segments dropped before they were read, if any; reported once.
    pub fn lost(&mut self) -> Option<u32> {
        self.lost.take()
    }

    /// The lines that are there by now, after reading about so many bytes, or as many as the first line
    /// needs; none only when there is nothing new.
    pub fn next(&mut self, max_bytes: usize) -> Result<Vec<OutputLine>, FileError> {
        let mut lines = Vec::new();
        let mut left = max_bytes.max(1);
        loop {
            // Asked first: whatever is in this segment was written before the next was begun.
            let later = self.later()?;
            let path = self.folder.join(segment_name(self.next.segment));
            let file = open_regular(&path).map_err(at("open", &path))?;
            if let Some(file) = &file {
                let taken = self.take(file, left, &mut lines).map_err(at("read", &path))?;
                left = left.saturating_sub(taken);
            }
            if left == 0 && !lines.is_empty() {
                return Ok(lines);
            }
            // Here is the end of what this segment has.
            let Some(later) = later else {
                // It may be long until there is more.
                self.buffer = Vec::new();
                return Ok(lines);
            };
            self.miss(later - self.next.segment - u32::from(file.is_some()), &mut lines);
            self.next = Position { segment: later, offset: 0 };
        }
    }

    /// Everything that was held back for the end of a line, once it is certain that none will come.
    pub fn finish(&mut self) -> Vec<OutputLine> {
        let mut lines = Vec::new();
        self.let_go(&mut lines, 0);
        lines
    }

    /// The oldest segment after this one.
    fn later(&self) -> Result<Option<u32>, FileError> {
        let numbers = segments(&self.folder)?;
        Ok(numbers.into_iter().filter(|number| *number > self.next.segment).min())
    }

    /// Records dropped segments, and with them the ends of lines.
    fn miss(&mut self, segments: u32, lines: &mut Vec<OutputLine>) {
        if segments > 0 {
            self.lost = Some(self.lost.unwrap_or(0).saturating_add(segments));
            self.let_go(lines, 1);
        }
    }

    /// Takes whole pieces from the file until there are so many bytes of them and a line, or no more of them;
    /// says how many bytes they had.
    fn take(&mut self, file: &File, most: usize, lines: &mut Vec<OutputLine>) -> io::Result<usize> {
        if self.next.offset >= MAX_OFFSET {
            // No file is so long, and the system refuses to look there.
            return Ok(0);
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize(buffer.len().max(READ_CHUNK_BYTES), 0);
        let mut taken = 0;
        while taken < most || lines.is_empty() {
            let read = file.read_at(&mut buffer, self.next.offset)?;
            let before = taken;
            for piece in whole_lines(buffer.get(..read).unwrap_or_default()) {
                self.piece(piece, lines);
                taken += piece.len();
                self.next.offset += piece.len() as u64;
                if taken >= most && !lines.is_empty() {
                    break;
                }
            }
            if taken > before {
                continue;
            }
            if read < buffer.len() {
                // The end, or a piece that is being written.
                break;
            }
            if buffer.len() >= MAX_PIECE_BYTES {
                // Nobody writes such a piece: the file is damaged. The next end of a line is a beginning.
                taken += read;
                self.next.offset += read as u64;
            } else {
                buffer.resize(buffer.len() * 2, 0);
            }
        }
        self.buffer = buffer;
        Ok(taken)
    }

    /// One piece, as it is on disk. What cannot be understood is passed over.
    fn piece(&mut self, bytes: &[u8], lines: &mut Vec<OutputLine>) {
        let Ok(piece) = serde_json::from_slice::<OutputPiece<'_>>(bytes) else { return };
        let stream = piece.s;
        let open = self.held.iter().rposition(|held| !held.is_whole && held.line.stream == stream);
        match (open.and_then(|open| self.held.get_mut(open)), piece.cont) {
            // The rest of a line that began before our beginning.
            (None, true) => return,
            (Some(held), true) => {
                self.held_bytes += held.add(&piece.l);
                held.is_whole = !piece.more;
            }
            (open, false) => {
                // Its end was dropped: this is another line.
                if let Some(open) = open {
                    open.give_up();
                }
                let mut held = HeldLine {
                    from: self.next,
                    line: OutputLine {
                        at: Timestamp::from_millis(piece.at),
                        stream,
                        text: piece.l.into_owned(),
                        cut: 0,
                    },
                    is_whole: !piece.more,
                };
                if self.held.is_empty() && held.is_whole {
                    lines.push(held.line);
                    return;
                }
                held.line.text.shrink_to_fit();
                self.held_bytes += held.line.text.len();
                self.held.push_back(held);
            }
        }
        self.hand_out(lines);
        if self.held_bytes > MAX_HELD_BYTES {
            self.let_go(lines, 1);
        }
    }

    /// Hands out whole lines from the front.
    fn hand_out(&mut self, lines: &mut Vec<OutputLine>) {
        let whole = self.held.iter().take_while(|held| held.is_whole).count();
        for held in self.held.drain(..whole) {
            self.held_bytes -= held.line.text.len();
            lines.push(held.line);
        }
    }

    /// Hands out everything. What is missing of the lines that are not whole counts as so much at least.
    fn let_go(&mut self, lines: &mut Vec<OutputLine>, missing: u64) {
        for mut held in self.held.drain(..) {
            if !held.is_whole {
                held.line.cut += missing;
            }
            lines.push(held.line);
        }
        self.held_bytes = 0;
    }
}

impl HeldLine {
    /// Adds the next piece, as far as there is room; says how much it took.
    fn add(&mut self, text: &str) -> usize {
        let room = MAX_LINE_BYTES.saturating_sub(self.line.text.len());
        let end = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        let kept = text.get(..end.unwrap_or(0)).unwrap_or_default();
        // Once something was left out, what follows would not belong there.
        let kept = if self.line.cut == 0 { kept } else { "" };
        self.line.text.push_str(kept);
        self.line.cut += (text.len() - kept.len()) as u64;
        kept.len()
    }

    fn give_up(&mut self) {
        self.is_whole = true;
        self.line.cut += 1;
    }
}

/// The segments after the head that are there, in no order.
pub(super) fn segments(folder: &Path) -> Result<Vec<u32>, FileError> {
    let failed = at("list", folder);
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder).map_err(&failed)? {
        let name = entry.map_err(&failed)?.file_name();
        let number =
            |name: &str| name.strip_prefix("output.")?.strip_suffix(".jsonl")?.parse::<u32>().ok();
        numbers.extend(name.to_str().and_then(number));
    }
    Ok(numbers)
}

/// The lines that have an end, with it.
fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
}
