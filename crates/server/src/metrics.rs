//! What the server counts, as Prometheus reads it.
//!
//! A handful of counters is less than a library for them: one row of atomics for each tool, and text.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use engine::store::Tx;
use engine::{Code, TOOLS};
use http::header::CONTENT_TYPE;

use crate::answer::Answer;
use crate::server::Shared;

/// The upper bounds of the histogram of durations, in microseconds.
const BOUNDS: [u64; 10] =
    [250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000, 10_000_000];

/// Everything counted since the start.
#[derive(Debug)]
pub(crate) struct Metrics {
    tools: Vec<Row>,
}

/// What is counted for one tool.
#[derive(Debug, Default)]
struct Row {
    done: AtomicU64,
    failed: [AtomicU64; Code::ALL.len()],
    micros: AtomicU64,
    /// How many took at most so long, each counted in its own bucket only
    buckets: [AtomicU64; BOUNDS.len() + 1],
}

impl Metrics {
    pub(crate) fn new() -> Self {
        Self { tools: TOOLS.iter().map(|_| Row::default()).collect() }
    }

    /// Counts a call.
    pub(crate) fn count(&self, tool: usize, code: Option<Code>, took: Duration) {
        let Some(row) = self.tools.get(tool) else { return };
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let outcome = code.map_or(&row.done, |code| &row.failed[code as usize]);
        outcome.fetch_add(1, Ordering::Relaxed);
        row.micros.fetch_add(micros, Ordering::Relaxed);
        let bucket = BOUNDS.partition_point(|bound| *bound < micros);
        row.buckets[bucket].fetch_add(1, Ordering::Relaxed);
    }

    /// How many calls there were.
    pub(crate) fn calls(&self) -> u64 {
        self.tools.iter().map(Row::calls).sum()
    }

    fn write(&self, text: &mut String) {
        text.push_str("# HELP adjutant_tool_calls_total Calls of tools by outcome.\n");
        text.push_str("# TYPE adjutant_tool_calls_total counter\n");
        let used = || TOOLS.iter().zip(&self.tools).filter(|(_, row)| row.calls() > 0);
        for (tool, row) in used() {
            let failed = Code::ALL.iter().zip(&row.failed).map(|((_, name, ..), n)| (*name, n));
            for (outcome, n) in std::iter::once(("ok", &row.done)).chain(failed) {
                let n = n.load(Ordering::Relaxed);
                if n > 0 {
                    let name = tool.name;
                    line(
                        text,
                        format_args!(
                            r#"adjutant_tool_calls_total{{tool="{name}",outcome="{outcome}"}} {n}"#
                        ),
                    );
                }
            }
        }
        text.push_str("# HELP adjutant_tool_duration_seconds How long calls took.\n");
        text.push_str("# TYPE adjutant_tool_duration_seconds histogram\n");
        for (tool, row) in used() {
            row.write_durations(tool.name, text);
        }
    }
}

impl Row {
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

fn seconds(micros: u64) -> f64 {
    Duration::from_micros(micros).as_secs_f64()
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    _ = writeln!(text, "{words}");
}

fn gauge(text: &mut String, name: &str, help: &str, value: impl std::fmt::Display) {
    line(text, format_args!("# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}"));
}

/// How much memory the process holds, in bytes, where the system tells.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// `GET /metrics`.
pub(crate) async fn metrics(State(shared): State<Arc<Shared>>) -> Answer<Response> {
    let engine = &shared.app.engine;
    let live = engine.store().read(|tx: &Tx<'_>| tx.agents_live_count())?;
    let last = *engine.store().last_event().borrow();
    let mut text = String::with_capacity(4096);
    shared.metrics.write(&mut text);
    gauge(&mut text, "adjutant_agents_live", "Agents that have not ended.", live);
    gauge(&mut text, "adjutant_last_event", "The number of the last event.", last);
    gauge(
        &mut text,
        "adjutant_subscribers",
        "Who listens to resources.",
        shared.subscriptions.count(),
    );
    gauge(
        &mut text,
        "adjutant_requests_open",
        "Requests and streams that are open.",
        shared.app.activity.open.get(),
    );
    gauge(
        &mut text,
        "adjutant_answers_due",
        "Requests that are not answered yet.",
        shared.answers.get(),
    );
    let up = seconds(
        u64::try_from(engine.now().millis_since(shared.app.started_at)).unwrap_or(0) * 1000,
    );
    gauge(&mut text, "adjutant_uptime_seconds", "How long the server has run.", up);
    if let Some(bytes) = memory() {
        gauge(&mut text, "process_resident_memory_bytes", "Memory held.", bytes);
    }
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_fall_into_their_buckets() {
        let metrics = Metrics::new();
        for micros in [1, 250, 251, 20_000_000] {
            metrics.count(0, None, Duration::from_micros(micros));
        }
        metrics.count(0, Some(Code::Conflict), Duration::from_micros(600));
        let mut text = String::new();
        metrics.write(&mut text);
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
        assert_eq!(metrics.calls(), 5);
    }
}
