//! `adjutant clean`: removes old data that is no longer needed.

use wire::cleanup::{CleanReport, CleanupRequest};

use crate::app::App;
use crate::cli::CleanArgs;
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::commands::progress::Progress;
use crate::terminal::render::{dim, line, table};

/// Cleans, or shows what would be removed.
pub(crate) async fn run(app: &App, args: CleanArgs) -> Result<(), CliError> {
    let client = app.client().await?;
    let request = CleanupRequest {
        older_than: Some(args.older_than.to_string()),
        dry_run: args.dry_run,
        only: Some(args.only).filter(|only| !only.is_empty()),
    };
    let progress = Progress::waiting(app, if args.dry_run { "counting" } else { "cleaning" });
    let report: Answer<CleanReport> = client.post("/api/clean", &request).await?;
    drop(progress);
    Ok(app.render.answer(&report, || report_text(&report))?)
}

fn report_text(report: &CleanReport) -> String {
    let verb = if report.dry_run { "WOULD GO" } else { "REMOVED" };
    let rows = report.parts.iter().map(|part| {
        let size = if part.bytes > 0 { format!("{} bytes", part.bytes) } else { String::new() };
        [part.part.name().to_owned(), part.removed.to_string(), size]
    });
    let mut lines = vec![table(["PART", verb, "SIZE"], rows)];
    for part in &report.parts {
        let archives = part.archives.iter().map(|name| format!("archived in {}", line(name)));
        let kept = part.kept.iter().map(|why| format!("kept {}", line(why)));
        lines.extend(archives.chain(kept).map(dim));
    }
    lines.join("\n")
}
