//! `adjutant home`: makes, lists, moves and checks homes in PostgreSQL, and carries their files.

mod files;
pub(crate) mod serve;

use std::path::{Path, PathBuf};

use engine::{Code, HomeAddress, HomeAdmin, HomeAdminError, HomeDraft, HomeRow};
use host::files as disk;
use host::files::Mode;
use host::owner;
use model::placement::Placements;
use serde_json::json;

use crate::app::{App, now};
use crate::cli::{DatabaseArgs, HomeVerb};
use crate::cli_error::CliError;
use crate::commands::progress::Progress;
use crate::config::edit::{self, Written};
use crate::config::file::TextFile;
use crate::config::{self, Config, key};
use crate::home::Home;
use crate::home::good::{self, WrittenFiles};
use crate::serve::Stage;
use crate::serve::in_force::accepted_text;
use crate::terminal::render::{Page, Render, elastic, good as green, line, name, odd};

/// Does what was asked.
pub(crate) fn run(app: &App, verb: HomeVerb) -> Result<(), CliError> {
    if app.env.agent_id.is_some() {
        return Err(CliError::new(Code::PermissionDenied, "only the operator handles homes")
            .hint("ask the operator by mail"));
    }
    match verb {
        HomeVerb::Create { name, database } => make(app, Source::Nothing, name, &database),
        HomeVerb::Import { name, database } => make(app, Source::ThisMachine, name, &database),
        HomeVerb::Export { folder: Some(folder) } => export(app, &folder),
        HomeVerb::Export { folder: None } => bring_back(app),
        HomeVerb::List { database } => list(app, &database),
        HomeVerb::Check => check(app),
        HomeVerb::Push => one_thread(files::push(app)),
        HomeVerb::Pull => one_thread(files::pull(app)),
        HomeVerb::Diff => one_thread(files::diff(app)),
    }
}

fn one_thread(work: impl Future<Output = Result<(), CliError>>) -> Result<(), CliError> {
    crate::runtime::one_thread()?.block_on(work)
}

/// State that a new home begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Empty
    Nothing,
    /// Of the database of this machine
    ThisMachine,
}

/// A home in PostgreSQL, as the flags and the configuration name it.
struct Named {
    home: Home,
    config: Config,
    address: HomeAddress,
    name: String,
}

/// Finds the PostgreSQL and the name that are meant.
fn named(app: &App, given: Option<String>, database: &DatabaseArgs) -> Result<Named, CliError> {
    let home = app.home()?;
    let config = app.config(&home, &[])?;
    let text = database.database.as_deref().unwrap_or(&config.database);
    let address = address_of(app, &config, text)?;
    if let Some(problem) = given.as_deref().and_then(config::name_problem) {
        return Err(CliError::usage(problem));
    }
    let name = match given {
        Some(name) => name,
        None => config.cluster.name(&home.root),
    };
    Ok(Named { home, config, address, name })
}

fn address_of(app: &App, config: &Config, text: &str) -> Result<HomeAddress, CliError> {
    if !HomeAddress::is_meant_by(text) {
        return Err(CliError::usage("this home is on one machine, and no PostgreSQL is named")
            .hint("name one with `--database postgres://ROLE@HOST/DATABASE`")
            .hint("`adjutant home import` moves this home into it"));
    }
    Ok(config.cluster.address(text, &app.env)?)
}

/// Makes a home in PostgreSQL, and notes it in the configuration.
fn make(
    app: &App,
    source: Source,
    given: Option<String>,
    database: &DatabaseArgs,
) -> Result<(), CliError> {
    let Named { home, config, address, name: home_name } = named(app, given, database)?;
    let state = home.state_dir();
    disk::make_dir(state, Mode::Private)?;
    // Nobody may serve the home meanwhile: what it would still write would be missing.
    let Some(_lock) = owner::lock(&home.lock())? else {
        return Err(CliError::new(Code::Conflict, "a server runs for this home")
            .hint("end it first: `adjutant down`"));
    };
    let own = if HomeAddress::is_meant_by(&config.database) {
        home.database("state.db")
    } else {
        config.database_path(&home)
    };
    let from = (source == Source::ThisMachine).then_some(own.as_path());
    if let Some(path) = from.filter(|path| !path.is_file()) {
        let sentence = format!("there is no database at `{}` to import", path.display());
        return Err(CliError::new(Code::ResourceNotFound, sentence)
            .hint("`adjutant home create` makes an empty home"));
    }
    let token = home.make_operator_token(&app.env)?;
    let mut files = WrittenFiles::read(&home.root, &home.dir, state)?.into_rows();
    let text = configured(&home, &address, &home_name)?;
    files.insert("config.yaml".to_owned(), text.as_bytes().to_vec());
    let progress = Progress::waiting(app, "making the home in PostgreSQL");
    let mut admin = HomeAdmin::connect(&address)?;
    let made = admin.create(&HomeDraft {
        name: &home_name,
        from,
        operator_hash: &engine::hash_token(&token),
        files: &files,
        scratch: state,
        now: now(),
    })?;
    drop(progress);
    good::restore(&home.dir, state)?;
    TextFile::read(&home.config())?.write(&text)?;
    accept(app, home.clone())?;
    let value = json!({
        "id": made.id, "name": made.name, "database": address.text(), "seq": made.seq,
        "imported": source == Source::ThisMachine, "token": token,
    });
    Ok(app.render.answer(&value, || {
        let what = match source {
            Source::Nothing => "Created the home",
            Source::ThisMachine => "Moved this home into PostgreSQL as",
        };
        format!(
            "{} {} in {}\nStart a server with {}; another machine needs this configuration and\n\
             the operator's token in ADJUTANT_TOKEN:\n  {token}",
            green(what),
            name(&made.name),
            line(address.text()),
            name("adjutant up --detach"),
        )
    })?)
}

/// Takes the files for the next server, and says what else they change than where the home is.
fn accept(app: &App, home: Home) -> Result<(), CliError> {
    let stage = Stage { home, env: app.env.clone(), host: None, port: None, shared_files: None };
    let mut changes = stage.accept()?;
    changes.retain(|it| it.subject != "database" && !it.subject.starts_with("cluster."));
    if let Some(text) = accepted_text(&changes) {
        // With `--json` too: what agents may do is never changed in silence.
        Render::Text.aside(&text)?;
    }
    Ok(())
}

/// The configuration of a home with the PostgreSQL and the name of the home in it.
fn configured(home: &Home, address: &HomeAddress, home_name: &str) -> Result<String, CliError> {
    let text = TextFile::read(&home.config())?.text;
    let with_database = set_key(&text, "database", address.text())?;
    set_key(&with_database, "cluster.home", home_name)
}

fn set_key(text: &str, name: &str, value: &str) -> Result<String, CliError> {
    let config = Config::parse("config.yaml", text)?;
    let path = key::path(&config, name);
    let refused = |refusal: edit::Refusal| {
        CliError::usage(format!("config.yaml, line {}: {refusal}", refusal.line))
            .hint(format!("set `{name}` to `{value}` there yourself, and run this again"))
    };
    edit::set(text, &path, &Written::of(value.into())).map_err(refused)
}

/// Writes a home to a folder.
fn export(app: &App, folder: &Path) -> Result<(), CliError> {
    let Named { address, name: home_name, .. } = configured_home(app)?;
    let folder = app.env.cwd.join(folder);
    let is_empty = disk::list(&folder)?.is_empty();
    if !is_empty {
        return Err(CliError::new(Code::Conflict, format!("`{}` is not empty", folder.display()))
            .hint("name a folder that does not exist yet"));
    }
    disk::make_dir(&folder, Mode::Private)?;
    let database = folder.join("state.db");
    let progress = Progress::waiting(app, "restoring the home");
    let (seq, files) = HomeAdmin::connect(&address)?.export(&home_name, &database)?;
    drop(progress);
    WrittenFiles::from_rows(files).write_all(&folder.join("files"))?;
    let value = json!({ "name": home_name, "seq": seq, "folder": folder.display().to_string() });
    Ok(app.render.answer(&value, || {
        format!(
            "{} {} up to commit {seq} to {}",
            green("Wrote"),
            name(&home_name),
            folder.display()
        )
    })?)
}

/// Makes this machine the only one of its home again.
fn bring_back(app: &App) -> Result<(), CliError> {
    let Named { home, address, name: home_name, .. } = configured_home(app)?;
    let Some(_lock) = owner::lock(&home.lock())? else {
        return Err(CliError::new(Code::Conflict, "a server runs for this home")
            .hint("end it first: `adjutant down`"));
    };
    let progress = Progress::waiting(app, "restoring the home");
    let mut admin = HomeAdmin::connect(&address)?;
    let found = admin.home(&home_name)?;
    if let Some(url) = &found.owner_url {
        return Err(CliError::new(
            Code::Conflict,
            format!("the server at {url} owns `{home_name}`"),
        )
        .hint("stop every server of the home first: `adjutant down` on its machine"));
    }
    let (database, scratch) = (home.database("state.db"), home.database("state.db.exporting"));
    drop(std::fs::remove_file(&scratch));
    let (seq, files) = admin.export(&home_name, &scratch)?;
    let aside = move_aside(&database)?;
    std::fs::rename(&scratch, &database).map_err(disk::at("move", &scratch))?;
    drop(progress);
    let mut rows = files;
    let text = rows.remove("config.yaml").unwrap_or_default();
    let text = set_key(&String::from_utf8_lossy(&text), "database", "state.db")?;
    rows.insert("config.yaml".to_owned(), text.into_bytes());
    files::write_here(&home, &rows)?;
    // What was in force in the home is nothing new.
    let next = WrittenFiles::from_rows(rows).write_next(home.state_dir())?;
    good::commit(home.state_dir(), &next)?;
    accept(app, home)?;
    let value = json!({
        "name": home_name, "seq": seq, "database": database.display().to_string(),
        "aside": aside.as_ref().map(|path| path.display().to_string()),
    });
    Ok(app.render.answer(&value, || {
        let mut page = Page::default();
        let sentence = green("This machine has the home again,");
        page.line(format_args!("{sentence} up to commit {seq} of {}", name(&home_name)));
        if let Some(aside) = &aside {
            page.line(format_args!("The database from before is at {}", aside.display()));
        }
        page.line("The home in PostgreSQL is as it was; nothing writes to it any more.");
        page.into_text().trim_end().to_owned()
    })?)
}

/// Moves a database that is there out of the way.
fn move_aside(database: &Path) -> Result<Option<PathBuf>, CliError> {
    if !database.exists() {
        return Ok(None);
    }
    let with = |path: &Path, suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let free = (1..1000).map(|number| with(database, &format!(".before-{number}")));
    let Some(aside) = free.into_iter().find(|path| !path.exists()) else {
        return Err(CliError::new(Code::Conflict, "too many databases were moved aside")
            .hint(format!("remove some beside `{}`", database.display())));
    };
    for suffix in ["-wal", "-shm", ""] {
        let (from, to) = (with(database, suffix), with(&aside, suffix));
        if from.exists() {
            std::fs::rename(&from, &to).map_err(disk::at("move", &from))?;
        }
    }
    Ok(Some(aside))
}

/// The home that the configuration names.
fn configured_home(app: &App) -> Result<Named, CliError> {
    named(app, None, &DatabaseArgs { database: None })
}

fn list(app: &App, database: &DatabaseArgs) -> Result<(), CliError> {
    let address = match &database.database {
        Some(text) => {
            // Also where there is no project.
            let config = app.home().ok().and_then(|home| app.config(&home, &[]).ok());
            address_of(app, &config.unwrap_or_default(), text)?
        }
        None => configured_home(app)?.address,
    };
    let mut admin = HomeAdmin::connect(&address)?;
    let (homes, placements) = (admin.homes()?, admin.placements()?);
    let hosts = serve::host_views(&placements);
    let value: Vec<_> = homes.iter().map(|home| row_json(home, &placements)).collect();
    Ok(app.render.answer(&json!({ "homes": value, "hosts": hosts }), || {
        let homes = listed(&homes);
        if hosts.is_empty() { homes } else { format!("{homes}\n{}", serve::hosts_text(&hosts)) }
    })?)
}

fn row_json(home: &HomeRow, placements: &Placements) -> serde_json::Value {
    let placed = placements.homes.iter().find(|placed| placed.id == home.id);
    let host = placed.and_then(|placed| placed.host.as_deref());
    let host = placements.hosts.iter().find(|row| Some(row.note.id.as_str()) == host);
    json!({
        "id": home.id, "name": home.name, "epoch": home.epoch, "ownerUrl": home.owner_url,
        "hostUrl": host.map(|host| &host.note.url),
        "leaseLeftMs": u64::try_from(home.lease_left.as_millis()).unwrap_or(u64::MAX),
        "seq": home.seq, "queued": home.queued, "running": home.running,
    })
}

fn listed(homes: &[HomeRow]) -> String {
    if homes.is_empty() {
        return format!("No homes. Make one with {}", name("adjutant home create"));
    }
    let row = |home: &HomeRow| {
        [
            line(&home.name),
            home.owner_url.as_deref().map_or_else(|| "-".to_owned(), line),
            home.epoch.to_string(),
            home.seq.to_string(),
            home.running.to_string(),
            home.queued.to_string(),
        ]
    };
    let headings = ["HOME", "OWNER", "EPOCH", "COMMITS", "RUNNING", "QUEUED"];
    elastic(headings, homes.iter().map(row), "OWNER")
}

fn check(app: &App) -> Result<(), CliError> {
    let Named { home, address, name: home_name, .. } = configured_home(app)?;
    let state = home.state_dir();
    let own = engine::member_database(state);
    let scratch = state.join("home.db.checking");
    disk::make_dir(state, Mode::Private)?;
    drop(std::fs::remove_file(&scratch));
    let progress = Progress::waiting(app, "restoring and replaying the home");
    let mut admin = HomeAdmin::connect(&address)?;
    let verdict = admin.check(&home_name, &scratch, own.is_file().then_some(own.as_path()));
    drop((progress, std::fs::remove_file(&scratch)));
    let verdict = verdict?;
    let value = json!({
        "name": home_name, "ok": verdict.problem.is_none(), "seq": verdict.seq,
        "auditRows": verdict.audit_rows, "compared": verdict.compared, "problem": verdict.problem,
    });
    app.render.answer(&value, || {
        let mut page = Page::default();
        let rows = verdict.audit_rows;
        page.line(format_args!(
            "{} replayed to commit {}, {rows} rows of the audit chain",
            name(&home_name),
            verdict.seq
        ));
        match verdict.compared {
            Some(seq) => page.line(format_args!("This server's file was compared at commit {seq}")),
            None => page.line("This machine has no file of the home to compare"),
        }
        match &verdict.problem {
            Some(problem) => page.line(format_args!("{} {}", odd("differs:"), line(problem))),
            None => page.line(green("Everything agrees")),
        }
        page.into_text().trim_end().to_owned()
    })?;
    if verdict.problem.is_some() { Err(CliError::reported(1)) } else { Ok(()) }
}

impl From<HomeAdminError> for CliError {
    fn from(error: HomeAdminError) -> Self {
        match error {
            HomeAdminError::Record(error) => error.into(),
            HomeAdminError::Files(error) => {
                let cli_error = Self::new(error.code, error.message.clone());
                error.suggestions.iter().fold(cli_error, Self::hint)
            }
        }
    }
}
