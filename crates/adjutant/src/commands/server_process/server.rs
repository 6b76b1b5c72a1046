//! `adjutant up`, `down`, `status` and `token`: the server's life, as people lead it.

use std::ffi::OsString;
use std::time::Duration;

use engine::{Code, HomeAdmin};
use engine::{Record, RecordError};
use host::files::{self, FileError};
use host::process::{self, Launch};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::error::Elapsed;
use tokio::time::{MissedTickBehavior, timeout};
use wire::server::{RecordCounts, ServerStatus, SharedHomeStatus};

use crate::app::{App, now};
use crate::cli::{Background, UpArgs};
use crate::cli_error::CliError;
use crate::client::{Answer, Client, ClientError};
use crate::commands::progress::Progress;
use crate::config::Config;
use crate::home::moving::{self, Moved};
use crate::home::{Home, ServerFile};
use crate::logging;
use crate::runtime;
use crate::serve::home_probe::{follower_words, standby_words};
use crate::serve::in_force::accepted_text;
use crate::serve::{self, ServerAddress, Stage};
use crate::server_process::connect::{self, ConnectError, ServerLocation};
use crate::server_process::{self, Bound, Claim, ClaimError, Ownership, Port};
use crate::terminal::render::{Page, Render, age, bold, counted, dim, good, line, name, odd};

/// Interval at which a server looks whether its files are still there.
const GUARD_INTERVAL: Duration = Duration::from_secs(1);
/// Time limit for the server's answer to `status`.
const STATUS_TIMEOUT: Duration = Duration::from_millis(1500);

/// Time limit for PostgreSQL to say why a server waits for it.
const POSTGRES_TIMEOUT: Duration = Duration::from_secs(2);

/// Starts the server, here or in the background.
pub(crate) fn up(app: &App, args: &UpArgs) -> Result<(), CliError> {
    if app.env.agent_id.is_some() {
        return Err(CliError::new(
            Code::PermissionDenied,
            "only the operator may start the server",
        )
        .hint("ask the operator for `adjutant up`"));
    }
    let mut app = app.clone();
    app.env.state = args.state.clone().or(app.env.state);
    let app = &app;
    let home = app.home()?;
    let stage = Stage {
        home: home.clone(),
        env: app.env.clone(),
        host: args.host.clone(),
        port: args.port,
        shared_files: None,
    };
    // One that starts by itself goes on with what was in force.
    let read = if args.background.is_some() { stage.accepted() } else { stage.clone() };
    let (config, _) = read.config()?;
    logging::for_server(config.server.log_level.as_str(), app.global.verbose);
    match args.background {
        None if args.detach => detach(app, args, &home, &config),
        Some(Background::Keeper) => keep(app, args, &home),
        Some(Background::Needed) => {
            process::own_session()?;
            runtime::threads()?.block_on(serve_home(app, &stage, &config, args.background))
        }
        None | Some(Background::Kept | Background::Hosted) => {
            if args.background == Some(Background::Hosted) {
                process::end_with_starter()?;
            }
            runtime::threads()?.block_on(serve_home(app, &stage, &config, args.background))
        }
    }
}

/// The arguments of `up` that choose where it listens.
fn handed_on(args: &UpArgs) -> Vec<String> {
    let mut given = Vec::new();
    given.extend(args.port.map(|port| format!("--port={port}")));
    given.extend(args.host.as_ref().map(|host| format!("--host={host}")));
    given
}

fn place(app: &App, how: &str, args: &UpArgs) -> Result<ServerLocation, CliError> {
    let given = handed_on(args);
    let mut up = vec!["--background", how];
    up.extend(given.iter().map(String::as_str));
    // Where a server is to run is this home's business, whatever the environment names.
    Ok(ServerLocation { url_override: None, ..app.place(&up)? })
}

fn detach(app: &App, args: &UpArgs, home: &Home, config: &Config) -> Result<(), CliError> {
    let wanted = config.server.port;
    let at = place(app, "keeper", args)?;
    let old = server_process::remembered(&home.address_file())?;
    let runtime = runtime::threads()?;
    let progress = Progress::waiting(app, "waiting for the server");
    let (before, server) = runtime.block_on(async {
        let before = connect::running(&at).await?;
        if before.is_none() {
            app.accept_files(home.clone())?;
        }
        Ok::<_, CliError>((before, connect::ensure(&at).await))
    })?;
    drop(progress);
    let server = server.map_err(|error| not_ready(app, home, config, error))?;
    let how = if before.is_some() { "runs already" } else { "runs" };
    let port = server_process::port_of(&server);
    if before.is_none() && wanted != 0 && port != Some(wanted) {
        let why = match port.filter(|port| Some(*port) == old) {
            Some(port) => format!("port {port} is used again: there others know the server"),
            None => format!("port {wanted} is taken; another one is used"),
        };
        app.render.aside(&odd(why))?;
    }
    Ok(app.render.answer(&server, || running_text(&server, how))?)
}

/// The error of a server in the background that did not answer. Why one waits for a home in PostgreSQL is asked there.
fn not_ready(app: &App, home: &Home, config: &Config, error: ConnectError) -> CliError {
    let ConnectError::TooSlow { after, .. } = &error else { return error.into() };
    let Ok(Some(shared)) = config.shared(home, &app.env) else { return error.into() };
    let found = HomeAdmin::look(&shared.address, POSTGRES_TIMEOUT)
        .and_then(|mut admin| admin.home(&shared.name));
    let Err(why) = found else { return error.into() };
    let (name, seconds) = (&shared.name, after.as_secs());
    CliError::no_server(format!("the home `{name}` was not ready within {seconds} s: {why}"))
        .hint("the server goes on trying, and serves the home as soon as it can")
        .hint("`adjutant down` ends it; `adjutant doctor` looks at PostgreSQL")
}

fn running_text(server: &ServerFile, how: &str) -> String {
    let ServerFile { url, pid, .. } = server;
    format!(
        "The server {how} at {} (process {pid}).\nOpen its page with {}, stop it with {}",
        good(url),
        name("adjutant open"),
        name("adjutant down")
    )
}

/// Watches over a server, and starts it again when it crashes.
fn keep(app: &App, args: &UpArgs, home: &Home) -> Result<(), CliError> {
    let at = place(app, "kept", args)?;
    let arguments: Vec<OsString> = at.start_args;
    let (program, environment, directory) = (at.exe, at.environment, at.cwd);
    let launch = Launch { program, arguments, environment, directory };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let files = [vec![home.server_file()], home.server_file_copies()].concat();
    runtime.block_on(server_process::watch(&launch, &files))?;
    Ok(())
}

/// Serves the home, unless another server does.
async fn serve_home(
    app: &App,
    stage: &Stage,
    config: &Config,
    background: Option<Background>,
) -> Result<(), CliError> {
    if let Err(error) = process::raise_open_files() {
        tracing::warn!(%error, "could not raise the limit of open files; fewer connections are possible");
    }
    let at = ServerLocation { url_override: None, ..app.place(&[])? };
    if stage.home.wanted_state_dir().is_none() {
        moving::make_folder(stage.home.state_dir()).map_err(no_state_folder)?;
    }
    let ownership = match server_process::claim(&at, &stage.home.lock()).await? {
        Claim::Ours(ownership) => ownership,
        Claim::Theirs(server) => {
            return Ok(app.render.answer(&server, || running_text(&server, "runs already"))?);
        }
    };
    let (stage, ownership) = settle(stage, config, ownership)?;
    let stage = &stage;
    // A restore that was killed in the middle is brought to its end, and its configuration counts.
    let restored = crate::backup::finish_restore(&stage.home, &stage.env)?;
    let is_asked = restored || background.is_none();
    if is_asked && let Some(text) = accepted_text(&stage.accept()?) {
        Render::Text.aside(&text)?;
    }
    let (config, _) = stage.accepted().config()?;
    let config = &config;
    if let Some(shared) = config.shared(&stage.home, &stage.env)? {
        return super::shared::serve(app, stage, config, shared, background, ownership).await;
    }
    let record = serve::open(stage, config)?;
    let (bound, note) = listen(stage, config, &record, background, &ownership).await?;
    // Before any agent is told of it.
    server_process::remember(&stage.home.address_file(), &bound)?;
    let ready = serve::prepare(stage, config, record, &ServerAddress::of(&bound), None).await?;
    ready.end_when_asked()?;
    if background == Some(Background::Needed) && config.server.idle_seconds > 0 {
        ready.end_when_idle(Duration::from_secs(config.server.idle_seconds));
    }
    ownership.announce(&ready.file)?;
    if background.is_some() {
        tracing::info!(url = ready.file.url, home = %stage.home.dir.display(), "serving");
        if let Some(note) = note {
            tracing::warn!("{note}");
        }
    } else {
        let file = ready.file.clone();
        let token = stage.home.operator_token_file(&stage.env)?;
        app.render.answer(&file, || {
            welcome(&file, &stage.home, &token.display().to_string(), note.as_deref())
        })?;
    }
    let (file, shutdown, record) = (ready.file.clone(), ready.shutdown.clone(), ready.record());
    let listener = TcpListener::from_std(bound.listener)?;
    let (served, lost) = tokio::join!(ready.serve(listener), async {
        let lost = shutdown.run_until_cancelled(guard(&record, &ownership, &file)).await;
        shutdown.cancel();
        lost
    });
    ownership.give_up(&file)?;
    if let Some(lost) = lost {
        return Err(lost.into());
    }
    if background.is_none() {
        app.render.aside("The server has stopped.")?;
    }
    served
}

/// Moves the state to where it belongs, unless agents run from where it lies.
fn settle(
    stage: &Stage,
    config: &Config,
    ownership: Ownership,
) -> Result<(Stage, Ownership), CliError> {
    let mut stage = stage.clone();
    let mut ownership = ownership;
    match (stage.home.wanted_state_dir(), stage.home.state_dir()) {
        (None, _) => moving::finish(&stage.home, &config.database)?,
        (Some(to), from) => match moving::begin(&stage.home, &config.database)? {
            Moved::Done(home, lock) => {
                tracing::info!(from = %from.display(), to = %to.display(), "moved the state of this home");
                ownership = ownership.moved(home.server_file(), lock);
                stage.home = home;
            }
            Moved::Later => {
                let why = "agents are running; the next start without agents moves it";
                tracing::warn!(from = %from.display(), to = %to.display(), "state not moved: {why}");
            }
            Moved::Busy => return Err(ClaimError::Stuck { lock: to.join("server.lock") }.into()),
        },
    }
    ownership = ownership.with_copies(stage.home.own_copy().into_iter().collect());
    stage.home.note_place()?;
    for entry in ["runs", "server.log", "server.log.1", "server.lock"] {
        files::make_private(&stage.home.state_dir().join(entry))?;
    }
    Ok((stage, ownership))
}

fn no_state_folder(error: FileError) -> CliError {
    CliError::from(error).hint("name a folder that you may write to with `adjutant up --state DIR`")
}

/// Waits until the record or the lock is no longer the file that was opened. Meanwhile the copy of `server.json`
/// is written again whenever it is missing.
pub(super) async fn guard(
    record: &Record,
    ownership: &Ownership,
    file: &ServerFile,
) -> RecordError {
    let mut look = tokio::time::interval(GUARD_INTERVAL);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        look.tick().await;
        if let Err(error) = record.check_files() {
            tracing::error!(%error, "state files were replaced; stopping, because changes would be lost");
            return error;
        }
        if let Err(error) = ownership.copy(file) {
            tracing::debug!(%error, "failed to restore the copy of server.json");
        }
    }
}

/// Listens where agents know the server, else where it was asked for. Says what is odd about that.
async fn listen(
    stage: &Stage,
    config: &Config,
    record: &Record,
    background: Option<Background>,
    ownership: &Ownership,
) -> Result<(Bound, Option<String>), CliError> {
    let (host, wanted) = (config.server.host, config.server.port);
    if let Some(port) = serve::only_port(stage, record)? {
        let bound = server_process::listen_only(host, port).await?;
        let note = format!("port {port} is used again: agents that run know the server there");
        return Ok((bound, (wanted != 0 && wanted != port).then_some(note)));
    }
    // After a crash the old port comes first: those who were enlisted look for it there.
    let port = match (background, stage.port) {
        (None, Some(port)) => Port::Chosen(port),
        _ => Port::Usual(wanted),
    };
    let bound = server_process::listen(host, port, ownership.previous_port())?;
    let taken = |port| format!("port {port} is taken; this is the next free one");
    let note = bound.instead_of.map(taken);
    Ok((bound, note))
}

fn welcome(file: &ServerFile, home: &Home, token: &str, note: Option<&str>) -> String {
    let note = note.map_or_else(String::new, |note| format!("         {}\n", odd(note)));
    format!(
        "\
{} serves {}
  url    {}
{note}  MCP    {}/mcp
  token  {token}
         {}

Next, in another window:
  {}                     see and steer the crew in your browser
  {}  run an agent
  {}     make an agent that you run yourself
  {}                see what happens
  {}                     stop the server
",
        bold(format!("Adjutant {}", file.version)),
        home.root.display(),
        good(&file.url),
        file.url,
        dim("`adjutant token` prints it"),
        name("adjutant open"),
        name("adjutant run --role coder PROMPT"),
        name("adjutant enlist --role worker"),
        name("adjutant events -f"),
        name("adjutant down"),
    )
}

/// Says whether a server runs. Starts none.
pub(crate) async fn status(app: &App) -> Result<(), CliError> {
    let absent = || {
        CliError::no_server("no server runs for this home")
            .hint("start one with `adjutant up --detach`")
    };
    let at = match app.place(&[]) {
        Ok(at) => at,
        // Where there is no home there is no server either; that is the question here.
        Err(cli_error) => {
            let output = CliError::no_server(cli_error.message());
            return Err(cli_error.hints().iter().fold(output, CliError::hint));
        }
    };
    let client = connect::locate(&at)?.ok_or_else(absent)?;
    let asked = ask_status(&client).await;
    let status = match asked.map_err(|_| silent(&at, client.url()))? {
        // A server that listens there now is not ours.
        Err(ClientError::NotOurs { .. }) if at.url_override.is_none() => {
            connect::refuse_older(&at, client.url())?;
            return Err(absent());
        }
        Err(ClientError::UnknownToken { .. }) => {
            connect::refuse_token(&at, client.url())?;
            return Err(absent());
        }
        answer => answer?,
    };
    let asked = client.url().to_owned();
    let follows = status.shared_home.is_some() && at.url_override.is_none() && asked != status.url;
    Ok(app.render.answer(&status, || {
        let text = status_text(&status);
        if follows {
            return format!(
                "The server at {} follows; the owner of its home says:\n{text}",
                good(&asked)
            );
        }
        text
    })?)
}

/// Asks a server for its status, and gives up soon: one that is stopped takes connections and answers nobody.
async fn ask_status(client: &Client) -> Result<Result<Answer<ServerStatus>, ClientError>, Elapsed> {
    timeout(STATUS_TIMEOUT, client.get("/api/status")).await
}

/// That a server does not answer, and what can be done about it.
fn silent(at: &ServerLocation, url: &str) -> CliError {
    let seconds = STATUS_TIMEOUT.as_secs_f64();
    let Some(pid) = connect::note(at).filter(|server| server.url == url).map(|server| server.pid)
    else {
        return CliError::no_server(format!("`{url}` did not answer within {seconds} s"));
    };
    if process::is_stopped(pid) {
        let message = format!("the server (process {pid}) is stopped and answers nobody");
        return CliError::no_server(message).hint(format!("`kill -CONT {pid}` lets it go on"));
    }
    CliError::no_server(format!("the server (process {pid}) did not answer within {seconds} s"))
        .hint("the machine may be busy: try again, and look into `server.log` in the state folder")
        .hint(format!("if it stays silent, `kill {pid}` ends it and `adjutant up --detach` starts another; agents go on"))
}

fn status_text(status: &ServerStatus) -> String {
    format!(
        "\
The server runs at {}
  version  {}, process {}, up for {}
  home     {}
  agents   {} ({} at work, {} waiting)
  record   {}
{}  page     {}",
        good(line(&status.url)),
        line(&status.version),
        status.pid,
        age(status.started_at, now()),
        line(&status.home),
        counted(status.agents, "live agent"),
        status.running,
        status.waiting,
        recorded_text(&status.record),
        status.shared_home.as_ref().map(shared_text).unwrap_or_default(),
        name("adjutant open"),
    )
}

/// The home in PostgreSQL, and which of its servers answers.
fn shared_text(home: &SharedHomeStatus) -> String {
    let SharedHomeStatus { name, epoch, url, standby, followers, problem, may_lose, .. } = home;
    let mut page = Page::default();
    page.line(format_args!(
        "  shared   {} in PostgreSQL, owned by {} (owner number {epoch})",
        line(name),
        line(url)
    ));
    if let Some(standby) = standby {
        page.line(format_args!("  standby  {}", line(&standby_words(standby))));
    }
    for follower in followers {
        page.line(format_args!("  follows  {}", line(&follower_words(follower))));
    }
    if followers.is_empty() && problem.is_none() {
        page.line("  follows  no other server: nobody goes on when this one dies");
    }
    if let Some(problem) = problem {
        page.line(format_args!("  {} {}", odd("PostgreSQL cannot be asked:"), line(problem)));
    }
    if let Some(why) = may_lose {
        page.line(format_args!("  {} {}", odd("what is answered may be lost:"), line(why)));
    }
    page.into_text()
}

/// What is on record, in words.
fn recorded_text(record: &RecordCounts) -> String {
    let RecordCounts { tasks, agents, mails, calls } = *record;
    let counts = [(tasks, "task"), (agents, "agent"), (mails, "message"), (calls, "call")];
    counts.map(|(number, thing)| counted(number, thing)).join(", ")
}

/// Prints the operator's token.
pub(crate) fn token(app: &App) -> Result<(), CliError> {
    if app.env.agent_id.is_some() {
        return Err(CliError::new(
            Code::PermissionDenied,
            "the operator's token is not for agents; yours is in `ADJUTANT_TOKEN`",
        ));
    }
    let token = app.home()?.make_operator_token(&app.env)?;
    Ok(app.render.answer(&json!({ "token": token }), || token.clone())?)
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::client::Named;

    /// The clock goes on by itself here while everybody waits, so the time is that of the limits alone.
    #[tokio::test(start_paused = true)]
    async fn a_server_that_answers_nobody_is_asked_for_less_than_two_seconds() {
        // The system takes the connection, as it does for a process that is stopped.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let client = Client::proving(&url, "t", Named::ByFile).unwrap();
        let began = Instant::now();
        let asked = ask_status(&client).await;
        assert!(asked.is_err(), "{asked:?}");
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
}
