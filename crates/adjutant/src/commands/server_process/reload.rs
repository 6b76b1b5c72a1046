//! `adjutant reload`, and the reading of changed files before a person starts an agent.

use serde_json::json;
use wire::server::ReloadReport;

use crate::app::App;
use crate::cli_error::CliError;
use crate::client::{Answer, Client};
use crate::serve::in_force::add_changes;
use crate::terminal::render::{Page, Render, count, line, odd};

/// Makes the server read configuration and roles again.
pub(crate) async fn run(app: &App) -> Result<(), CliError> {
    let report: Answer<ReloadReport> = app.client().await?.post("/api/reload", &json!({})).await?;
    Ok(app.render.answer(&report, || report_text(&report))?)
}

/// Makes the server read changed files before a person starts an agent, and says what they change.
pub(crate) async fn read_changes(app: &App, client: &Client) -> Result<(), CliError> {
    if app.env.agent_id.is_some() {
        // An agent starts others with what was read last.
        return Ok(());
    }
    let report: Answer<ReloadReport> = client.post("/api/reload?changed=true", &json!({})).await?;
    if report.read {
        // With `--json` too: what agents may do is never changed in silence.
        Render::Text.aside(report_text(&report).trim_end())?;
    }
    Ok(())
}

fn report_text(report: &ReloadReport) -> String {
    let mut page = Page::default();
    page.line(format_args!("Read again: {} in force.", count(report.roles, "role")));
    add_changes(&mut page, &report.changes);
    for warning in &report.warnings {
        page.line(format_args!("  {} {}", odd("odd:"), line(warning)));
    }
    page.into_text()
}
