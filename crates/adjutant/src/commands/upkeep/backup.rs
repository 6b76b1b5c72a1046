//! `adjutant backup`: one file with everything that makes up a home.

use std::path::{Path, PathBuf};

use engine::{Code, Point};
use serde_json::json;
use wire::cleanup::SnapshotFile;

use crate::app::App;
use crate::backup::{self, Backup, Places};
use crate::cli::BackupArgs;
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::commands::progress::Progress;
use crate::terminal::render::{count, good};

/// A copy of the record that is removed with this value.
struct Snapshot(PathBuf);

impl Drop for Snapshot {
    fn drop(&mut self) {
        // The server removes what is left here, after an hour.
        drop(std::fs::remove_file(&self.0));
    }
}

/// Writes a backup.
pub(crate) async fn run(app: &App, args: &BackupArgs) -> Result<(), CliError> {
    if app.env.agent_id.is_some() {
        return Err(CliError::new(
            Code::PermissionDenied,
            "only the operator may back up the home",
        )
        .hint("ask the operator for `adjutant backup FILE`"));
    }
    let home = app.home()?;
    let places = Places::to_read(&home, &app.config(&home, &[])?);
    let file = app.env.cwd.join(&args.file);
    if file.is_dir() {
        let message = format!("`{}` is a folder; name a file in it", args.file.display());
        return Err(CliError::usage(message));
    }
    let client = app.client().await?;
    let progress = Progress::waiting(app, "copying the record");
    let copy: Answer<SnapshotFile> = client.post("/api/snapshot", &json!({})).await?;
    let snapshot = Snapshot(PathBuf::from(&copy.file));
    backup::point(&app.env, Point::BackupSnapshot);
    progress.say("writing the backup");
    let to_write = Backup {
        places: &places,
        snapshot: Path::new(&snapshot.0),
        with_output: args.with_output,
        env: &app.env,
    };
    let written = to_write.write(&file)?;
    drop((snapshot, progress));
    let value = json!({
        "file": file.display().to_string(), "files": written.files, "bytes": written.bytes,
    });
    Ok(app.render.answer(&value, || {
        let files = count(written.files, "file");
        format!("{} {files} to {}", good("Wrote"), file.display())
    })?)
}
