//! How long a client waits that starts `adjutant mcp` itself.

use anyhow::Result;
use serde_json::json;
use tokio::time::Instant;

use crate::Scale;
use crate::program::Program;
use crate::report::say;
use crate::subject::ServerUnderTest;
use crate::wire;

/// From the start of `adjutant mcp` to its answer to `tools/list`, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StartTimes {
    /// Where a server runs
    pub(crate) warm: f64,
    /// Where one must be started
    pub(crate) cold: f64,
}

/// Measures both; the server is stopped for it.
pub(crate) async fn measure(subject: ServerUnderTest, scale: &Scale) -> Result<StartTimes> {
    say("starting `adjutant mcp` again and again");
    let program = subject.program().clone();
    let mut warm = Vec::new();
    for _ in 0..scale.starts {
        warm.push(once(&program)?);
    }
    let mut cold = Vec::new();
    for _ in 0..scale.starts {
        subject.stop().await?;
        cold.push(once(&program)?);
    }
    subject.stop().await?;
    Ok(StartTimes { warm: median(warm), cold: median(cold) })
}

fn once(program: &Program) -> Result<f64> {
    let request = wire::request("tools/list", &json!({})).to_string();
    let began = Instant::now();
    let mut running = program.start(&["mcp"])?;
    running.ask(&[&request], |line| line.contains(r#""tools":["#))?;
    Ok(began.elapsed().as_secs_f64() * 1000.0)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
