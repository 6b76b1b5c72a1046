//! Lines in and lines out. Whatever is written is one line, whatever was in it.

use std::io;

use hyper::body::Bytes;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;

/// A longer line is not even kept to look for its id.
const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;
/// This much is written at once where much is waiting.
const BATCH: usize = 256 * 1024;

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// It was read
    Whole(Bytes),
    /// It was too long to be kept
    TooLong,
}

/// The lines of the input. What has been read of a line is kept here, so waiting for the next one
/// may be given up at any time.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    overflowed: bool,
    longest: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        let input = BufReader::with_capacity(64 * 1024, input);
        Self { input, line: Vec::new(), overflowed: false, longest: MAX_KEPT_BYTES }
    }

    /// The next line that is not empty, or nothing at the end.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let bytes = self.input.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(self.finish());
            }
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + piece.len() > self.longest {
                self.overflowed = true;
                self.line = Vec::new();
            } else if !self.overflowed {
                self.line.extend_from_slice(piece);
            }
            let used = end.map_or(bytes.len(), |end| end + 1);
            self.input.consume(used);
            if end.is_some()
                && let Some(line) = self.finish()
            {
                return Ok(Some(line));
            }
        }
    }

    fn finish(&mut self) -> Option<Line> {
        if std::mem::take(&mut self.overflowed) {
            return Some(Line::TooLong);
        }
        let line = std::mem::take(&mut self.line);
        let blank = line.iter().all(u8::is_ascii_whitespace);
        (!blank).then(|| Line::Whole(line.into()))
    }
}

/// Writes every line as it comes, until nobody can send one any more.
pub(super) async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Bytes>,
) -> io::Result<()> {
    let mut batch = Vec::new();
    while let Some(line) = lines.recv().await {
        put(&mut batch, &line);
        while batch.len() < BATCH
            && let Ok(line) = lines.try_recv()
        {
            put(&mut batch, &line);
        }
        output.write_all(&batch).await?;
        output.flush().await?;
        batch.clear();
    }
    Ok(())
}

/// In JSON a line break stands between tokens only, where a space is as good.
fn put(batch: &mut Vec<u8>, line: &[u8]) {
    batch.extend(line.iter().map(|&byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }));
    batch.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_read_whole_and_the_longest_are_passed_over() {
        let input = b"one\r\n\n  \ntwo\nabcdefghijk\nthree".as_slice();
        let mut lines = Lines { longest: 10, ..Lines::new(input) };
        let whole = |text: &'static str| Line::Whole(text.into());
        let mut read = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            read.push(line);
        }
        assert_eq!(read, [whole("one\r"), whole("two"), Line::TooLong, whole("three")]);
    }

    #[tokio::test]
    async fn a_message_is_written_as_one_line() {
        let (sender, receiver) = mpsc::channel(4);
        for line in ["{\n \"a\": 1\r\n}", "2"] {
            sender.send(Bytes::from(line)).await.unwrap();
        }
        drop(sender);
        let mut output = Vec::new();
        write(&mut output, receiver).await.unwrap();
        assert_eq!(output, b"{  \"a\": 1  }\n2\n");
    }
}
