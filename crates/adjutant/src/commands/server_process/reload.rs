//! `adjutant reload`.

use serde_json::json;
use wire::server::ReloadReport;

use crate::app::App;
use crate::cli_error::Trouble;
use crate::client::Answer;
use crate::terminal::render::{Page, count, line, odd};

/// Makes the server read configuration and roles again.
pub(crate) async fn run(app: &App) -> Result<(), Trouble> {
    let report: Answer<ReloadReport> = app.client().await?.post("/api/reload", &json!({})).await?;
    Ok(app.render.answer(&report, || {
        let mut page = Page::default();
        page.line(format_args!("Read again: {} in force.", count(report.roles, "role")));
        for warning in &report.warnings {
            page.line(format_args!("  {} {}", odd("odd:"), line(warning)));
        }
        page.into_text()
    })?)
}
