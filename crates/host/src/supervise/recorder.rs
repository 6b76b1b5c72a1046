//! Keeps output on disk: the head, and as much of the tail as there is room for.
//!
//! The head is the first segment and has half of the room. Behind it there are at most two segments of a
//! quarter each: when a third is begun, the oldest of them goes.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::clock::Clock;
use crate::files::{self, FileError, at};
use crate::run::{OutputPiece, Position, Stream, segment_name};

use super::lines::{LinePart, PIECE_BYTES};

/// Largest batch written at once: a chunk of empty lines takes forty times its size.
const MAX_BATCH_BYTES: usize = 256 * 1024;

/// Number of lines and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OutputCount {
    pub(super) lines: u64,
    pub(super) bytes: u64,
}

impl OutputCount {
    fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.bytes += other.bytes;
    }
}

/// Writes the segments.
#[derive(Debug)]
pub(super) struct Recorder {
    file: File,
    /// The segment, and how long it is on disk
    end: Position,
    /// Bytes of the next write
    batch: Vec<u8>,
    /// Lines and bytes in the batch
    batched: OutputCount,
    /// Lines and bytes in this segment and the one before
    kept: [OutputCount; 2],
    all: OutputCount,
    dropped: OutputCount,
    /// Dropped bytes that never reached the disk
    unwritten_bytes: u64,
    limit: u64,
}

impl Recorder {
    /// Begins the head, in the current directory.
    pub(super) fn new(limit: u64) -> Result<Self, FileError> {
        let name = segment_name(0);
        Ok(Self {
            file: open(&name).map_err(at("create", Path::new(&name)))?,
            end: Position::default(),
            batch: Vec::new(),
            batched: OutputCount::default(),
            kept: [OutputCount::default(); 2],
            all: OutputCount::default(),
            dropped: OutputCount::default(),
            unwritten_bytes: 0,
            limit,
        })
    }

    /// Where the output ends on disk.
    pub(super) fn end(&self) -> Position {
        self.end
    }

    /// Total lines and bytes, and those no longer on disk.
    pub(super) fn tally(&self) -> (OutputCount, OutputCount) {
        (self.all, self.dropped)
    }

    /// Bytes that could not be written.
    pub(super) fn unwritten_bytes(&self) -> u64 {
        self.unwritten_bytes
    }

    /// Keeps a whole line that was sent to the agent.
    pub(super) fn keep_line(&mut self, stream: Stream, line: &str) {
        let mut rest = line;
        let mut cont = false;
        loop {
            let end =
                (0..=PIECE_BYTES.min(rest.len())).rev().find(|end| rest.is_char_boundary(*end));
            let (piece, later) = rest.split_at(end.unwrap_or(0));
            let more = !later.is_empty();
            self.keep(stream, piece.as_bytes(), LinePart { more, cont });
            if !more {
                return;
            }
            (rest, cont) = (later, true);
        }
    }

    /// Keeps a line or a piece of one. It is on disk after the next [`Recorder::flush`].
    pub(super) fn keep(&mut self, stream: Stream, bytes: &[u8], part: LinePart) {
        let l = String::from_utf8_lossy(bytes);
        let piece = OutputPiece {
            at: Clock::System.now().as_millis(),
            s: stream,
            lossy: matches!(l, Cow::Owned(_)).then_some(true),
            l,
            more: part.more,
            cont: part.cont,
        };
        let tally = OutputCount {
            lines: u64::from(!part.more),
            bytes: bytes.len() as u64 + u64::from(!part.more),
        };
        self.all.add(tally);
        let before = self.batch.len();
        if serde_json::to_writer(&mut self.batch, &piece).is_err() {
            self.batch.truncate(before);
            self.dropped.add(tally);
            self.unwritten_bytes += tally.bytes;
            return;
        }
        self.batch.push(b'\n');
        let room = if self.end.segment == 0 { self.limit / 2 } else { self.limit / 4 };
        let is_first = before == 0 && self.end.offset == 0;
        if self.end.offset + self.batch.len() as u64 > room && !is_first {
            let piece = self.batch.split_off(before);
            self.flush();
            self.next_segment();
            self.batch = piece;
        }
        self.batched.add(tally);
        if self.batch.len() > MAX_BATCH_BYTES {
            self.flush();
        }
    }

    /// Writes what was kept.
    pub(super) fn flush(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        if self.file.write_all(&self.batch).is_ok() {
            self.end.offset += self.batch.len() as u64;
            self.kept[0].add(self.batched);
        } else {
            // A full disk must not hold up the agent. Half a line would spoil the next one; if it cannot
            // even be cut off, readers pass it over.
            drop(self.file.set_len(self.end.offset));
            self.dropped.add(self.batched);
            self.unwritten_bytes += self.batched.bytes;
        }
        self.batched = OutputCount::default();
        self.batch.clear();
        // Control characters take six times their size; that much is not needed again.
        self.batch.shrink_to(2 * PIECE_BYTES);
    }

    /// Begins the next segment. If that fails the present one becomes too long, and the next line tries again.
    fn next_segment(&mut self) {
        let number = self.end.segment + 1;
        let Ok(file) = open(&segment_name(number)) else { return };
        self.file = file;
        self.end = Position { segment: number, offset: 0 };
        if let Some(oldest @ 1..) = number.checked_sub(2) {
            // If it stays it takes up room, and does no other harm.
            drop(files::remove(Path::new(&segment_name(oldest))));
            self.dropped.add(self.kept[1]);
        }
        self.kept = [OutputCount::default(), self.kept[0]];
    }
}

fn open(name: &str) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(name)
}
