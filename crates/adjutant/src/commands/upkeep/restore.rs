//! `adjutant restore`: a home from a backup.

use std::path::Path;

use engine::{Code, Point};
use host::files::{self, Mode};
use host::owner;
use host::run::{RunFolder, RunStatus};
use serde_json::json;

use crate::app::{App, now};
use crate::backup::{self, Places, Swap};
use crate::cli::RestoreArgs;
use crate::cli_error::CliError;
use crate::commands::progress::Progress;
use crate::home::{Home, moving};
use crate::terminal::render::{dim, good, name};

/// Restores a home.
pub(crate) fn run(app: &App, args: &RestoreArgs) -> Result<(), CliError> {
    if app.env.agent_id.is_some() {
        return Err(CliError::new(Code::PermissionDenied, "only the operator may restore a home")
            .hint("ask the operator for `adjutant restore FILE`"));
    }
    let home = Home::for_init(app.global.home.as_deref(), &app.env);
    let file = app.env.cwd.join(&args.file);
    // Before anything is made: most often it is the name that is wrong.
    std::fs::File::open(&file).map_err(files::at("open", &file))?;
    files::make_dir(&home.dir, Mode::Shared)?;
    moving::make_folder(home.state_dir())?;
    let Some(_lock) = owner::lock(&home.lock())? else {
        return Err(CliError::new(Code::Conflict, "a server runs for this home")
            .hint("stop it with `adjutant down`"));
    };
    // One that was killed in the middle comes first.
    backup::finish_restore(&home, &app.env)?;
    refuse_running(&home)?;
    let progress = Progress::waiting(app, "checking the backup");
    let staging = backup::staging_dir(&home);
    files::remove_tree(&staging)?;
    files::make_dir(&staging, Mode::Private)?;
    let unpacked = backup::unpack(&file, &staging).and_then(|manifest| {
        let places = backup::staged_places(&home, &app.env, &staging)?;
        if !args.force {
            refuse_to_replace(&places, &staging)?;
        }
        Ok((manifest, places))
    });
    let (manifest, places) = match unpacked {
        Ok(unpacked) => unpacked,
        Err(cli_error) => {
            files::remove_tree(&staging)?;
            return Err(cli_error);
        }
    };
    backup::point(&app.env, Point::RestoreStaged);
    let swap = Swap::new(&places, &staging, &app.env);
    let aside = swap.decide(now())?;
    backup::point(&app.env, Point::RestoreDecided);
    swap.finish()?;
    drop(progress);
    let replaced = aside.is_dir().then(|| aside.display().to_string());
    let value = json!({
        "home": home.dir.display().to_string(), "createdAt": manifest.created_at,
        "adjutant": manifest.adjutant, "replaced": replaced,
    });
    Ok(app.render.answer(&value, || {
        let (home, at) = (home.dir.display(), manifest.created_at);
        let mut lines = vec![format!("{} {home} as it was at {at}.", good("Restored"))];
        lines.extend(replaced.iter().map(|at| dim(format!("The old content is in {at}"))));
        lines.push(format!("Start the server with {}", name("adjutant up --detach")));
        lines.join("\n")
    })?)
}

/// Refuses to replace state, or what people wrote otherwise.
fn refuse_to_replace(places: &Places, staging: &Path) -> Result<(), CliError> {
    let Some(place) = places.in_the_way(staging)? else { return Ok(()) };
    let message = format!("`{}` is there already", place.display());
    Err(CliError::new(Code::Conflict, message)
        .hint("`--force` replaces the content, and keeps the old one in a folder beside it"))
}

/// Refuses while a supervisor process works in this home: its agent would lose its folder.
fn refuse_running(home: &Home) -> Result<(), CliError> {
    let runs = backup::state_dir(home).join("runs");
    for agent in files::list(&runs)? {
        let agent_dir = runs.join(&agent);
        if !agent_dir.is_dir() {
            continue;
        }
        for attempt in files::list(&agent_dir)? {
            if RunFolder::open(agent_dir.join(attempt)).standing()? == RunStatus::Running {
                let message = format!("agent {} still runs in this home", agent.display());
                return Err(CliError::new(Code::Conflict, message)
                    .hint("start the server, then end its agents with `adjutant down --kill`"));
            }
        }
    }
    Ok(())
}
