//! Counters of calls, and their Prometheus text.
//!
//! A handful of counters is less than a library for them: one row of atomics for each tool, and text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::{Code, TOOLS};
use tokio::time::Instant;

use crate::registry::Entry;

/// The upper bounds of the histogram of durations, in microseconds.
const BOUNDS: [u64; 10] =
    [250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000, 10_000_000];

/// Everything counted since the start.
#[derive(Debug)]
pub(crate) struct Counters {
    tools: Vec<Row>,
    /// Those that come and go, by name; what was counted stays
    templates: Mutex<BTreeMap<&'static str, Arc<Row>>>,
    began: Instant,
}

/// Counters of one tool.
#[derive(Debug, Default)]
struct Row {
    done: AtomicU64,
    failed: [AtomicU64; Code::ALL.len()],
    micros: AtomicU64,
    /// Calls by duration bucket, not cumulative
    buckets: [AtomicU64; BOUNDS.len() + 1],
}

impl Counters {
    pub(crate) fn new() -> Self {
        let tools = TOOLS.iter().map(|_| Row::default()).collect();
        Self { tools, templates: Mutex::default(), began: Instant::now() }
    }

    /// Counts a call.
    pub(crate) fn count(&self, tool: &Entry, code: Option<Code>, took: Duration) {
        if let Some(row) = tool.index.and_then(|index| self.tools.get(index)) {
            return row.count(code, took);
        }
        let mut templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        templates.entry(tool.def.name).or_default().count(code, took);
    }

    /// Number of calls.
    pub(crate) fn calls(&self) -> u64 {
        let templates: u64 = self.templates().iter().map(|(_, row)| row.calls()).sum();
        self.tools.iter().map(Row::calls).sum::<u64>() + templates
    }

    fn templates(&self) -> Vec<(&'static str, Arc<Row>)> {
        let templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        templates.iter().map(|(name, row)| (*name, Arc::clone(row))).collect()
    }

    /// Time since the start.
    pub(crate) fn uptime(&self) -> Duration {
        self.began.elapsed()
    }

    /// Writes the counters of all tools that were called.
    pub(crate) fn write(&self, text: &mut String) {
        text.push_str("# HELP adjutant_tool_calls_total Calls of tools by outcome.\n");
        text.push_str("# TYPE adjutant_tool_calls_total counter\n");
        let templates = self.templates();
        let tools = TOOLS.iter().map(|tool| tool.name).zip(&self.tools);
        let all = tools.chain(templates.iter().map(|(name, row)| (*name, &**row)));
        let used: Vec<(&str, &Row)> = all.filter(|(_, row)| row.calls() > 0).collect();
        for (name, row) in &used {
            let failed = Code::ALL.iter().zip(&row.failed).map(|((_, name, ..), n)| (*name, n));
            for (outcome, n) in std::iter::once(("ok", &row.done)).chain(failed) {
                let n = n.load(Ordering::Relaxed);
                if n > 0 {
                    line(
                        text,
                        format_args!(
                            r#"adjutant_tool_calls_total{{tool="{name}",outcome="{outcome}"}} {n}"#
                        ),
                    );
                }
            }
        }
        text.push_str("# HELP adjutant_tool_duration_seconds Duration of calls.\n");
        text.push_str("# TYPE adjutant_tool_duration_seconds histogram\n");
        for (name, row) in used {
            row.write_durations(name, text);
        }
    }
}

impl Row {
    fn count(&self, code: Option<Code>, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let outcome = code.map_or(&self.done, |code| &self.failed[code as usize]);
        outcome.fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
        let bucket = BOUNDS.partition_point(|bound| *bound < micros);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
    }

    fn calls(&self) -> u64 {
        self.buckets.iter().map(|n| n.load(Ordering::Relaxed)).sum()
    }

    fn write_durations(&self, tool: &str, text: &mut String) {
        let mut below = 0;
        for (n, bound) in self.buckets.iter().zip(BOUNDS) {
            below += n.load(Ordering::Relaxed);
            let bound = seconds(bound);
            line(
                text,
                format_args!(
                    r#"adjutant_tool_duration_seconds_bucket{{tool="{tool}",le="{bound}"}} {below}"#
                ),
            );
        }
        let (all, sum) = (self.calls(), seconds(self.micros.load(Ordering::Relaxed)));
        line(
            text,
            format_args!(
                r#"adjutant_tool_duration_seconds_bucket{{tool="{tool}",le="+Inf"}} {all}"#
            ),
        );
        line(text, format_args!(r#"adjutant_tool_duration_seconds_sum{{tool="{tool}"}} {sum}"#));
        line(text, format_args!(r#"adjutant_tool_duration_seconds_count{{tool="{tool}"}} {all}"#));
    }
}

/// A duration in seconds.
fn seconds(micros: u64) -> f64 {
    Duration::from_micros(micros).as_secs_f64()
}

/// Writes a line.
pub(crate) fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    _ = writeln!(text, "{words}");
}

#[cfg(test)]
mod tests {
    use engine::settings::Settings;

    use super::*;

    #[test]
    fn durations_fall_into_their_buckets() {
        let counters = Counters::new();
        let first = crate::registry::entries(&Settings::default()).next().unwrap();
        for micros in [1, 250, 251, 20_000_000] {
            counters.count(first, None, Duration::from_micros(micros));
        }
        counters.count(first, Some(Code::Conflict), Duration::from_micros(600));
        let mut text = String::new();
        counters.write(&mut text);
        let tool = TOOLS[0].name;
        for expected in [
            format!(r#"adjutant_tool_calls_total{{tool="{tool}",outcome="ok"}} 4"#),
            format!(r#"adjutant_tool_calls_total{{tool="{tool}",outcome="CONFLICT"}} 1"#),
            format!(r#"adjutant_tool_duration_seconds_bucket{{tool="{tool}",le="0.00025"}} 2"#),
            format!(r#"adjutant_tool_duration_seconds_bucket{{tool="{tool}",le="0.0005"}} 3"#),
            format!(r#"adjutant_tool_duration_seconds_bucket{{tool="{tool}",le="10"}} 4"#),
            format!(r#"adjutant_tool_duration_seconds_count{{tool="{tool}"}} 5"#),
        ] {
            assert!(text.lines().any(|line| line == expected), "{expected}\n{text}");
        }
        assert_eq!(counters.calls(), 5);
    }
}
