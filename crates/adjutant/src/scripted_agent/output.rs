//! The only writer of the scripted agent's output: whole lines, each out before the next step.

use std::fs::OpenOptions;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

/// Bytes of a flood written at once.
const CHUNK: usize = 64 * 1024;

/// The agent's own result, as its last line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ResultLine {
    pub(super) status: String,
    pub(super) summary: String,
    pub(super) changes: Vec<Value>,
    pub(super) issues: Vec<Value>,
    pub(super) questions: Vec<Value>,
}

impl ResultLine {
    /// An end with nothing but a word on it.
    pub(super) fn bare(status: &str, summary: impl Into<String>) -> Self {
        let (status, summary) = (status.to_owned(), summary.into());
        Self { status, summary, changes: Vec::new(), issues: Vec::new(), questions: Vec::new() }
    }
}

/// A report to the process that runs the agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    /// It used so much since the last such report
    Usage(Usage),
    /// Its model does not answer it for a while
    Limited {
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<String>,
    },
    /// Reported model
    Model(String),
    /// It uses a tool of its own, or has done so
    Tool(ToolUse),
}

/// Tokens and money.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Usage {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_read_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_write_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_usd: Option<f64>,
}

/// One of the two ends of a use of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct ToolUse {
    /// The same at both
    pub(super) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    /// True at the end
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) done: Option<bool>,
}

/// Prints a line.
pub(super) fn line(text: &str) -> io::Result<()> {
    // In one piece: what others write to the same pipe comes before or after it.
    let text = format!("{text}\n");
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints a value as a line.
pub(super) fn json(value: &impl Serialize) -> io::Result<()> {
    line(&serde_json::to_string(value)?)
}

/// Prints a report.
pub(super) fn report(report: &Report) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        adjutant: &'a Report,
    }
    json(&Line { adjutant: report })
}

/// Content of a flood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filler {
    Text,
    /// It has bytes that no text has
    Binary,
}

/// Prints so many bytes in lines of a length; the last one may be shorter.
pub(super) fn flood(bytes: u64, line: u64, filler: Filler) -> io::Result<()> {
    let mut out = io::stdout().lock();
    pour(&mut out, bytes, line, filler)?;
    out.flush()
}

fn pour(out: &mut impl Write, bytes: u64, line: u64, filler: Filler) -> io::Result<()> {
    let fill: Vec<u8> = (0..CHUNK)
        .map(|at| if filler == Filler::Binary && at % 8 == 7 { 0xff } else { b'x' })
        .collect();
    let size = |many: u64| usize::try_from(many).unwrap_or(usize::MAX).min(CHUNK);
    let mut left = bytes;
    // As many whole lines as fit are written at once: a flood should be quick.
    if let Some(with_end) = line.checked_add(1).filter(|&length| size(length) < CHUNK) {
        let length = size(with_end);
        let mut block = [fill.get(..length - 1).unwrap_or_default(), b"\n"].concat();
        block = block.repeat(CHUNK / length);
        let whole = u64::try_from(block.len()).unwrap_or(u64::MAX);
        while left >= whole {
            out.write_all(&block)?;
            left -= whole;
        }
    }
    while left > 0 {
        let mut inner = line.min(left - 1);
        left -= inner + 1;
        while inner > 0 {
            let piece = fill.get(..size(inner)).unwrap_or_default();
            out.write_all(piece)?;
            inner = inner.saturating_sub(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Closes stdout and stderr, so that their readers see the end.
pub(super) fn close() -> io::Result<()> {
    io::stdout().flush()?;
    // Something must have these numbers, or the next file that is opened gets them.
    let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    rustix::stdio::dup2_stderr(&nowhere)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poured(bytes: u64, line: u64, filler: Filler) -> Vec<u8> {
        let mut out = Vec::new();
        pour(&mut out, bytes, line, filler).unwrap();
        out
    }

    #[test]
    fn a_flood_has_the_size_and_the_lines_that_were_asked_for() {
        assert_eq!(poured(10, 3, Filler::Text), b"xxx\nxxx\nx\n");
        assert_eq!(poured(1, 3, Filler::Text), b"\n");
        assert_eq!(poured(0, 3, Filler::Text), b"");
        assert_eq!(poured(3, 0, Filler::Text), b"\n\n\n");
        for (bytes, line) in
            [(200_003_u64, 80_u64), (200_000, 65_535), (300_000, 150_000), (9, u64::MAX)]
        {
            let out = poured(bytes, line, Filler::Text);
            assert_eq!(out.len(), usize::try_from(bytes).unwrap());
            assert_eq!(out.last(), Some(&b'\n'));
            let mut lines: Vec<u64> =
                out.split(|&byte| byte == b'\n').map(|line| line.len() as u64).collect();
            lines.pop();
            let last = lines.pop().unwrap();
            assert!(last <= line && lines.iter().all(|&length| length == line), "{bytes} {line}");
        }
        assert!(String::from_utf8(poured(100, 50, Filler::Binary)).is_err());
        assert!(String::from_utf8(poured(200_000, 100_000, Filler::Binary)).is_err());
    }

    #[test]
    fn reports_are_exact() {
        let shown = |report: Report| serde_json::to_string(&report).unwrap();
        let whole = Usage {
            input_tokens: Some(1),
            output_tokens: Some(2),
            cache_read_tokens: Some(3),
            cache_write_tokens: Some(4),
            cost_usd: Some(0.02),
        };
        assert_eq!(
            shown(Report::Usage(whole)),
            r#"{"usage":{"input_tokens":1,"output_tokens":2,"cache_read_tokens":3,"cache_write_tokens":4,"cost_usd":0.02}}"#
        );
        assert_eq!(shown(Report::Usage(Usage::default())), r#"{"usage":{}}"#);
        assert_eq!(shown(Report::Limited { until: None }), r#"{"limited":{}}"#);
        assert_eq!(shown(Report::Model("m".into())), r#"{"model":"m"}"#);
    }
}
