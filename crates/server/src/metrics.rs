//! `GET /metrics`: counters and gauges in Prometheus text format.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;

use crate::answer::Answer;
use crate::counters::line;
use crate::shared::Shared;

/// Type of Prometheus text.
pub(crate) const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

fn gauge(text: &mut String, name: &str, help: &str, value: impl std::fmt::Display) {
    line(text, format_args!("# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}"));
}

/// Resident memory in bytes, where available.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// `GET /metrics`.
pub(crate) async fn metrics(State(shared): State<Arc<Shared>>) -> Answer<Response> {
    let engine = &shared.app.engine;
    let live = engine.live_agents()?.all;
    let last = *engine.last_event().borrow();
    let mut text = String::with_capacity(4096);
    shared.counters.write(&mut text);
    gauge(&mut text, "adjutant_agents_live", "Live agents.", live);
    gauge(&mut text, "adjutant_last_event", "The number of the last event.", last);
    gauge(
        &mut text,
        "adjutant_subscribers",
        "Subscriptions to resources.",
        shared.subscriptions.count(),
    );
    gauge(
        &mut text,
        "adjutant_requests_open",
        "Open requests and streams.",
        shared.app.activity.open.get(),
    );
    gauge(&mut text, "adjutant_answers_due", "Requests in progress.", shared.answers.get());
    let up = shared.counters.uptime().as_secs_f64();
    gauge(&mut text, "adjutant_uptime_seconds", "Uptime of the server in seconds.", up);
    if let Some(bytes) = memory() {
        gauge(&mut text, "process_resident_memory_bytes", "Memory held.", bytes);
    }
    Ok(([(CONTENT_TYPE, METRICS_TYPE)], text).into_response())
}
