//! Target and level of the log: stderr, which in the background is `server.log`.

use std::io::{self, IsTerminal as _, Write};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// A command says only what went wrong, unless it is asked for more.
pub(crate) fn for_command(verbose: u8) {
    begin(match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    });
}

/// A server says what its configuration wants to hear; `-v` may want more.
pub(crate) fn for_server(level: &str, verbose: u8) {
    let level = level.parse().unwrap_or(LevelFilter::INFO);
    begin(match verbose {
        0 => level,
        1 => level.max(LevelFilter::DEBUG),
        _ => LevelFilter::TRACE,
    });
}

fn begin(level: LevelFilter) {
    // Libraries tell their own stories, and headers with them: ours is enough.
    let others = level.min(LevelFilter::WARN);
    let ours = ["adjutant", "engine", "server", "store", "host"].map(|name| (name, level));
    let targets = Targets::new()
        .with_default(others)
        .with_targets(ours)
        // A client that leaves before its answer comes is not an error.
        .with_target("rmcp::service", LevelFilter::OFF);
    let colour = io::stderr().is_terminal()
        && anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
    let layer = tracing_subscriber::fmt::layer().with_writer(RedactedStderr).with_ansi(colour);
    // A second beginning, as in a demo that serves, changes nothing.
    drop(tracing_subscriber::registry().with(layer).with(targets).try_init());
}

/// The standard error, without secrets: an error may quote what an agent or a remote side wrote.
#[derive(Debug, Clone, Copy)]
struct RedactedStderr;

impl<'a> MakeWriter<'a> for RedactedStderr {
    type Writer = RedactedLine<io::Stderr>;

    fn make_writer(&'a self) -> Self::Writer {
        RedactedLine(io::stderr())
    }
}

/// Redacts each write. The subscriber writes a whole line at once.
#[derive(Debug)]
struct RedactedLine<W>(W);

impl<W: Write> Write for RedactedLine<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match model::redact::scrub(&String::from_utf8_lossy(line)) {
            Some(clean) => self.0.write_all(clean.as_bytes())?,
            None => self.0.write_all(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_line_has_no_secrets() {
        let mut line = RedactedLine(Vec::new());
        line.write_all(b"refused: Bearer abcdefghijklmnop123\n").unwrap();
        assert_eq!(line.0, b"refused: Bearer [redacted]\n");
    }
}
