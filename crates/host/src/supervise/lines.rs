//! Cuts a stream of bytes into lines, and lines that are too long into pieces.

use std::io::BufRead as _;

use crate::run::Stream;

use super::recorder::Recorder;

/// As much of a line as is kept in one piece, and in memory.
pub(super) const PIECE_BYTES: usize = 64 * 1024;

/// Where in its line a piece stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinePart {
    /// The line goes on in another piece
    pub(super) more: bool,
    /// The line began in an earlier piece
    pub(super) cont: bool,
}

/// The lines of one stream.
#[derive(Debug)]
pub(super) struct Lines {
    stream: Stream,
    /// The beginning of a line whose end is not there yet; never longer than a piece
    held: Vec<u8>,
    /// True if earlier pieces of this line were passed on
    cont: bool,
}

impl Lines {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, held: Vec::new(), cont: false }
    }

    /// Takes what came, and hands on every line that is whole.
    pub(super) fn take(&mut self, mut bytes: &[u8], recorder: &mut Recorder) {
        while !bytes.is_empty() {
            // In memory it cannot fail. It is here because the library's search is fast in every build.
            let length = (&mut &*bytes).skip_until(b'\n').unwrap_or(bytes.len());
            let (line, rest) = bytes.split_at(length);
            bytes = rest;
            match line.split_last() {
                Some((b'\n', line)) => self.end_line(line, recorder),
                _ => self.add(line, recorder),
            }
        }
    }

    /// There is nothing more: what is held is the last line.
    pub(super) fn end(&mut self, recorder: &mut Recorder) {
        if self.cont || !self.held.is_empty() {
            self.end_line(&[], recorder);
        }
    }

    fn end_line(&mut self, rest: &[u8], recorder: &mut Recorder) {
        let part = LinePart { more: false, cont: self.cont };
        if self.held.is_empty() && rest.len() <= PIECE_BYTES {
            recorder.keep(self.stream, rest, part);
        } else {
            self.add(rest, recorder);
            let part = LinePart { more: false, cont: self.cont };
            recorder.keep(self.stream, &self.held, part);
        }
        self.held.clear();
        self.cont = false;
    }

    /// Adds to the line, and hands on a piece each time there is more than one.
    fn add(&mut self, mut bytes: &[u8], recorder: &mut Recorder) {
        while self.held.len() + bytes.len() > PIECE_BYTES {
            let (now, later) = bytes.split_at(PIECE_BYTES - self.held.len());
            self.held.extend_from_slice(now);
            let whole = whole_characters(&self.held);
            let (piece, rest) = self.held.split_at(whole);
            recorder.keep(self.stream, piece, LinePart { more: true, cont: self.cont });
            self.held = rest.to_vec();
            self.cont = true;
            bytes = later;
        }
        self.held.extend_from_slice(bytes);
    }
}

/// Length of the prefix that ends at a character boundary.
fn whole_characters(bytes: &[u8]) -> usize {
    for (behind, byte) in (1..=3).zip(bytes.iter().rev()) {
        let length = match byte {
            0x80..=0xBF => continue,
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            _ => 1,
        };
        return if length > behind { bytes.len() - behind } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_not_cut() {
        for (bytes, whole) in [
            (&b"ab"[..], 2),
            ("aä".as_bytes(), 3),
            (&"aä".as_bytes()[..2], 1),
            (&"a€".as_bytes()[..3], 1),
            (&"a😀".as_bytes()[..4], 1),
            ("a😀".as_bytes(), 5),
            (&[b'a', 0x80, 0x80, 0x80, 0x80], 5),
            (&[0xFF], 1),
            (&[], 0),
        ] {
            assert_eq!(whole_characters(bytes), whole, "{bytes:?}");
        }
    }
}
