//! `adjutant home push`, `pull` and `diff`: configuration, roles and templates between this folder and the home.

use std::path::PathBuf;

use engine::{Code, HomeFiles};
use host::files::{self as disk, Mode};
use serde_json::json;
use similar::TextDiff;
use wire::settings::{HomeFileView, HomeFilesView, PushedFiles};

use crate::app::App;
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::home::Home;
use crate::home::good::{self, WrittenFiles};
use crate::serve::in_force::add_changes;
use crate::terminal::render::{Page, count, dim, good as green, line};

/// Path of the files of the home.
const FILES: &str = "/api/home/files";

/// Writes this folder's files into the home.
pub(super) async fn push(app: &App) -> Result<(), CliError> {
    let files = here(app)?;
    let mut sent = Vec::new();
    for (path, body) in files {
        let text = String::from_utf8(body).map_err(|_| {
            CliError::usage(format!("`{path}` is not UTF-8 text, and only text is pushed"))
        })?;
        sent.push(HomeFileView { path, text });
    }
    let client = app.client().await?;
    let body = HomeFilesView { files: sent };
    let pushed: Answer<PushedFiles> = client.post(FILES, &body).await?;
    Ok(app.render.answer(&pushed, || {
        let mut page = Page::default();
        if pushed.changed.is_empty() {
            page.line("The home has these files already");
        } else {
            let changed = count(pushed.changed.len(), "file");
            page.line(format_args!("{} {changed} to the home", green("Pushed")));
            for path in &pushed.changed {
                page.line(format_args!("  {}", line(path)));
            }
        }
        add_changes(&mut page, &pushed.reloaded.changes);
        page.into_text().trim_end().to_owned()
    })?)
}

/// Makes this folder's files those of the home. What they replace is kept in the state folder.
pub(super) async fn pull(app: &App) -> Result<(), CliError> {
    let home = app.project_home()?;
    let rows = there(app).await?;
    let before = here(app)?;
    let changed: Vec<&String> = rows
        .iter()
        .filter(|(path, body)| before.get(*path) != Some(*body))
        .map(|it| it.0)
        .collect();
    // Without a configuration this folder would not know its home.
    let is_gone = |path: &&String| {
        good::is_written(path) && *path != "config.yaml" && !rows.contains_key(*path)
    };
    let removed: Vec<&String> = before.keys().filter(is_gone).collect();
    let replaced = changed.iter().filter(|path| good::is_written(path)).chain(&removed);
    let kept = keep_aside(&home, &before, replaced.copied())?;
    write_here(&home, &rows)?;
    for path in &removed {
        disk::remove(&home.dir.join(path))?;
    }
    let kept = kept.map(|folder| folder.display().to_string());
    let value = json!({ "changed": changed, "removed": removed, "kept": kept });
    Ok(app.render.answer(&value, || {
        if changed.is_empty() && removed.is_empty() {
            return "This folder has the files of the home already".to_owned();
        }
        let mut page = Page::default();
        let pulled = count(changed.len() + removed.len(), "file");
        page.line(format_args!("{} {pulled}", green("Pulled")));
        for path in &changed {
            page.line(format_args!("  {}", line(path)));
        }
        for path in &removed {
            page.line(format_args!("  {} (removed: the home has it no more)", line(path)));
        }
        if let Some(kept) = &kept {
            page.line(format_args!("What was here before is in {}", line(kept)));
        }
        page.into_text().trim_end().to_owned()
    })?)
}

/// Copies files that are about to be replaced or removed into a new folder of the state folder.
fn keep_aside<'a>(
    home: &Home,
    files: &HomeFiles,
    paths: impl Iterator<Item = &'a String>,
) -> Result<Option<PathBuf>, CliError> {
    let mut replaced = HomeFiles::new();
    for path in paths {
        if let Some(body) = files.get(path) {
            replaced.insert(path.clone(), body.clone());
        }
    }
    if replaced.is_empty() {
        return Ok(None);
    }
    let mut folders =
        (1..10_000).map(|number| home.state_dir().join(format!("pulled-over-{number}")));
    let Some(folder) = folders.find(|folder| !folder.exists()) else {
        return Err(CliError::new(Code::Conflict, "too many folders `pulled-over-…` were kept")
            .hint(format!("remove some in `{}`", home.state_dir().display())));
    };
    WrittenFiles::from_rows(replaced).write_all(&folder)?;
    Ok(Some(folder))
}

/// Shows how this folder differs from the home.
pub(super) async fn diff(app: &App) -> Result<(), CliError> {
    let (mine, theirs) = (here(app)?, there(app).await?);
    let paths: std::collections::BTreeSet<&String> = mine.keys().chain(theirs.keys()).collect();
    let text = |files: &HomeFiles, path: &String| {
        files.get(path).map(|body| String::from_utf8_lossy(body).into_owned())
    };
    let mut patch = String::new();
    let mut changed = Vec::new();
    for path in paths {
        let (old, new) = (text(&theirs, path), text(&mine, path));
        if old == new {
            continue;
        }
        changed.push(path.clone());
        let label = |side: &str, text: &Option<String>| match text {
            Some(_) => format!("{side}/{path}"),
            None => "/dev/null".to_owned(),
        };
        let (a, b) = (label("home", &old), label("here", &new));
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        let diff = TextDiff::from_lines(&old, &new);
        patch.push_str(&diff.unified_diff().header(&a, &b).to_string());
    }
    let value = json!({ "changed": changed, "diff": patch });
    Ok(app.render.answer(&value, || {
        if patch.is_empty() {
            dim("This folder and the home have the same files")
        } else {
            patch.trim_end().to_owned()
        }
    })?)
}

/// Files of this folder.
fn here(app: &App) -> Result<HomeFiles, CliError> {
    let home = app.project_home()?;
    Ok(WrittenFiles::read(&home.root, &home.dir, home.state_dir())?.into_rows())
}

/// Files of the home, as its owner has them.
async fn there(app: &App) -> Result<HomeFiles, CliError> {
    let files: Answer<HomeFilesView> = app.client().await?.get(FILES).await?;
    let files = files.into_value().files.into_iter();
    Ok(files.map(|file| (file.path, file.text.into_bytes())).collect())
}

/// Writes the home's own files into its folder. What belongs to the project is in the project's repository.
pub(super) fn write_here(home: &Home, rows: &HomeFiles) -> Result<(), CliError> {
    disk::make_dir(&home.dir, Mode::Shared)?;
    for (path, body) in rows.iter().filter(|(path, _)| good::is_written(path)) {
        let to = home.dir.join(path);
        let text = std::str::from_utf8(body).map_err(|_| {
            CliError::new(Code::InternalError, format!("`{path}` of the home is not UTF-8 text"))
        })?;
        if let Some(folder) = to.parent() {
            disk::make_dir(folder, Mode::Shared)?;
        }
        disk::write(&to, text, Mode::Shared)?;
    }
    Ok(())
}
