//! `adjutant home push`, `pull` and `diff`: configuration, roles and templates between this folder and the home.

use engine::{Code, HomeFiles};
use host::files::{self as disk, Mode};
use serde_json::json;
use similar::TextDiff;
use wire::settings::{HomeFileView, HomeFilesView, PushedFiles};

use crate::app::App;
use crate::cli_error::Trouble;
use crate::client::Answer;
use crate::home::Home;
use crate::home::good::{self, WrittenFiles};
use crate::serve::in_force::add_changes;
use crate::terminal::render::{Page, count, dim, good as green, line};

/// Path of the files of the home.
const FILES: &str = "/api/home/files";

/// Writes this folder's files into the home.
pub(super) async fn push(app: &App) -> Result<(), Trouble> {
    let files = here(app)?;
    let mut sent = Vec::new();
    for (path, body) in files {
        let text = String::from_utf8(body).map_err(|_| {
            Trouble::usage(format!("`{path}` is not UTF-8 text, and only text is pushed"))
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

/// Writes the home's files into this folder.
pub(super) async fn pull(app: &App) -> Result<(), Trouble> {
    let home = app.home()?;
    let rows = there(app).await?;
    let before = here(app)?;
    let changed: Vec<&String> = rows
        .iter()
        .filter(|(path, body)| before.get(*path) != Some(*body))
        .map(|it| it.0)
        .collect();
    write_here(&home, &rows)?;
    let value = json!({ "changed": changed });
    Ok(app.render.answer(&value, || {
        if changed.is_empty() {
            return "This folder has the files of the home already".to_owned();
        }
        let mut page = Page::default();
        page.line(format_args!("{} {}", green("Pulled"), count(changed.len(), "file")));
        for path in &changed {
            page.line(format_args!("  {}", line(path)));
        }
        page.into_text().trim_end().to_owned()
    })?)
}

/// Shows how this folder differs from the home.
pub(super) async fn diff(app: &App) -> Result<(), Trouble> {
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
fn here(app: &App) -> Result<HomeFiles, Trouble> {
    let home = app.home()?;
    Ok(WrittenFiles::read(&home.root, &home.dir, home.state_dir())?.into_rows())
}

/// Files of the home, as its owner has them.
async fn there(app: &App) -> Result<HomeFiles, Trouble> {
    let files: Answer<HomeFilesView> = app.client().await?.get(FILES).await?;
    let files = files.into_value().files.into_iter();
    Ok(files.map(|file| (file.path, file.text.into_bytes())).collect())
}

/// Writes the home's own files into its folder. What belongs to the project is in the project's repository.
pub(super) fn write_here(home: &Home, rows: &HomeFiles) -> Result<(), Trouble> {
    disk::make_dir(&home.dir, Mode::Shared)?;
    for (path, body) in rows.iter().filter(|(path, _)| good::is_written(path)) {
        let to = home.dir.join(path);
        let text = std::str::from_utf8(body).map_err(|_| {
            Trouble::new(Code::InternalError, format!("`{path}` of the home is not UTF-8 text"))
        })?;
        if let Some(folder) = to.parent() {
            disk::make_dir(folder, Mode::Shared)?;
        }
        disk::write(&to, text, Mode::Shared)?;
    }
    Ok(())
}
