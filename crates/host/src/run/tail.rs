//! Where a run's output is to be read so that only its last lines come.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::output::segments;
use super::record::open_regular;
use super::{Position, segment_name};
use crate::files::{FileError, at};

/// As much as is looked at once, going back.
const READ_CHUNK_BYTES: u64 = 64 * 1024;
/// Nobody who asks for the end wants more than this.
const MAX_TAIL_BYTES: u64 = 4 * 1024 * 1024;

/// A stretch of one segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputRange {
    /// Where it begins
    pub from: Position,
    /// Size in bytes
    pub bytes: u64,
}

/// The stretch that has about so many lines before a place, or before the end. It lies in one segment: who wants
/// more asks for what is before it. None where there is nothing before.
pub(super) fn tail(
    folder: &Path,
    before: Option<Position>,
    lines: usize,
) -> Result<Option<OutputRange>, FileError> {
    let mut numbers = segments(folder)?;
    numbers.push(0);
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    for segment in numbers {
        let end = match before {
            Some(place) if segment > place.segment => continue,
            Some(place) if segment == place.segment => Some(place.offset),
            _ => None,
        };
        let path = folder.join(segment_name(segment));
        let Some(file) = open_regular(&path).map_err(at("open", &path))? else { continue };
        let length = file.metadata().map_err(at("look at", &path))?.len();
        let end = end.map_or(length, |end| end.min(length));
        if end > 0 {
            let offset = back(&file, end, lines.max(1)).map_err(at("read", &path))?;
            let from = Position { segment, offset };
            return Ok(Some(OutputRange { from, bytes: end - offset }));
        }
    }
    Ok(None)
}

/// Where the last lines before a place begin.
fn back(file: &File, end: u64, lines: usize) -> io::Result<u64> {
    let (mut at, mut left) = (end, lines);
    let mut buffer = Vec::new();
    while at > 0 && end - at < MAX_TAIL_BYTES {
        let step = READ_CHUNK_BYTES.min(at);
        buffer.resize(usize::try_from(step).unwrap_or(0), 0);
        file.read_exact_at(&mut buffer, at - step)?;
        // The last byte ends the line that is wanted; what counts are the ends of those before it.
        for (place, byte) in buffer.iter().enumerate().rev() {
            let here = at - step + place as u64;
            if *byte == b'\n' && here + 1 < end {
                left -= 1;
                if left == 0 {
                    return Ok(here + 1);
                }
            }
        }
        at -= step;
    }
    Ok(at)
}

#[cfg(test)]
mod tests;
