//! `adjutant reload`.

use serde_json::json;

use crate::app::App;
use crate::cli_error::Trouble;
use crate::terminal::render::{Page, count, line, odd};

/// Makes the server read configuration and roles again.
pub(crate) async fn run(app: &App) -> Result<(), Trouble> {
    let answer = app.client().await?.post_json("/api/reload", &json!({})).await?;
    Ok(app.render.answer(&answer, || {
        let roles = usize::try_from(answer["roles"].as_u64().unwrap_or_default()).unwrap_or(0);
        let mut page = Page::default();
        page.line(format_args!("Read again: {} in force.", count(roles, "role")));
        for warning in answer["warnings"].as_array().into_iter().flatten() {
            let warning = line(warning.as_str().unwrap_or_default());
            page.line(format_args!("  {} {warning}", odd("odd:")));
        }
        page.into_text()
    })?)
}
