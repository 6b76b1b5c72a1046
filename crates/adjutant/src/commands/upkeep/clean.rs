//! `adjutant clean`: what is over and old goes.

use serde_json::{Value, json};

use crate::app::App;
use crate::cli::CleanArgs;
use crate::cli_error::Trouble;
use crate::terminal::progress::Progress;
use crate::terminal::render::{dim, field, line, table};

/// Cleans, or says what would go.
pub(crate) async fn run(app: &App, args: CleanArgs) -> Result<(), Trouble> {
    let client = app.client().await?;
    let mut body = json!({ "olderThan": args.older_than, "dryRun": args.dry_run });
    if !args.only.is_empty() {
        body["only"] = json!(args.only);
    }
    let progress = Progress::waiting(app, if args.dry_run { "counting" } else { "cleaning" });
    let report = client.post_json("/api/clean", &body).await?;
    drop(progress);
    Ok(app.render.answer(&report, || shown(&report))?)
}

fn shown(report: &Value) -> String {
    let parts: Vec<&Value> = report["parts"].as_array().into_iter().flatten().collect();
    let verb = if report["dryRun"] == true { "WOULD GO" } else { "REMOVED" };
    let rows = parts.iter().map(|part| {
        let bytes = part["bytes"].as_u64().filter(|bytes| *bytes > 0);
        let size = bytes.map_or_else(String::new, |bytes| format!("{bytes} bytes"));
        [field(part, "part"), field(part, "removed"), size]
    });
    let mut lines = vec![table(["PART", verb, "SIZE"], rows)];
    for part in &parts {
        let said = |key: &str| part[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        lines.extend(said("archives").map(|name| dim(format!("archived in {}", line(name)))));
        lines.extend(said("kept").map(|why| dim(format!("kept {}", line(why)))));
    }
    lines.join("\n")
}
