//! `adjutant serve`: serves all homes of a PostgreSQL, together with the other hosts that do so.
//!
//! Each home that this host is to own has a server process of its own below this one, so that a home that misbehaves
//! takes no other along. One listener passes requests on to them, and to the other hosts.

mod board;
mod child;
mod keeper;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use engine::{Code, HomeAddress, HomeHosts};
use host::files::{self, Mode};
use host::owner::{self, Holder};
use model::placement::HostNote;
use server::{ConnectionLimits, HomesGateway, HomesGatewayOptions};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wire::hosts::{HostStatus, HostView, HostedHome};

use crate::app::{App, now};
use crate::cli::{ServeHomesArgs, ServeVerb};
use crate::cli_error::CliError;
use crate::client::{Answer, Client, ClientError, Named};
use crate::home::ServerFile;
use crate::serve::ServerAddress;
use crate::server_process::{self, Bound};
use crate::terminal::render::{
    Page, age, bold, counted, dim, elastic, good, line, name, odd, span,
};
use crate::{logging, runtime};
use board::Board;
pub(super) use board::host_views;
use child::Launcher;
use keeper::{HomeKeeper, KeeperOrder};

/// Lock of the state folder.
const LOCK: &str = "serve.lock";
/// Where the host of a state folder listens.
const FILE: &str = "serve.json";
/// Token for its status and metrics.
const TOKEN: &str = "token";
/// Id of the host.
const ID: &str = "host";
/// Port where nobody names one.
const USUAL_PORT: u16 = 3000;
/// Connections that may be open without a request that was let in: those of all homes.
const MAX_CONNECTIONS: usize = 4096;

/// Serves homes, or shows how that goes.
pub(crate) fn run(app: &App, args: &ServeHomesArgs) -> Result<(), CliError> {
    if app.env.agent_id.is_some() {
        return Err(CliError::new(Code::PermissionDenied, "only the operator serves homes")
            .hint("ask the operator by mail"));
    }
    match &args.verb {
        Some(ServeVerb::Status { state }) => {
            let folder = folder(app, state.as_deref())?;
            runtime::one_thread()?.block_on(status(app, &folder))
        }
        None => {
            let level = app.env.settings.get("ADJUTANT_SERVER_LOG_LEVEL");
            logging::for_server(level.map_or("info", String::as_str), app.global.verbose);
            runtime::threads()?.block_on(serve(app, args))
        }
    }
}

/// The folder with the state of the homes.
fn folder(app: &App, given: Option<&Path>) -> Result<PathBuf, CliError> {
    if let Some(named) = given.or(app.env.state.as_deref()) {
        return Ok(app.env.cwd.join(named));
    }
    let user = app.env.user_home.as_ref().map(|home| home.join(".local/state"));
    let Some(base) = app.env.xdg_state_home.clone().or(user) else {
        return Err(CliError::usage("neither `XDG_STATE_HOME` nor `HOME` is set")
            .hint("name a folder for the state of the homes with `--state DIR`"));
    };
    Ok(base.join("adjutant").join("serve"))
}

async fn serve(app: &App, args: &ServeHomesArgs) -> Result<(), CliError> {
    let address = address(app, args)?;
    if let Err(error) = host::process::raise_open_files() {
        tracing::warn!(%error, "could not raise the limit of open files; fewer connections are possible");
    }
    let folder = folder(app, args.state.as_deref())?;
    let no_folder = |error: files::FileError| {
        CliError::from(error).hint("name a folder that you may write to with `--state DIR`")
    };
    files::make_dir(&folder, Mode::Private).map_err(no_folder)?;
    let lock = folder.join(LOCK);
    let Some(_lock) = owner::lock(&lock).map_err(no_folder)? else { return Err(taken(&lock)?) };
    let bound = server_process::listen_at(args.host, port(app, args)?)?;
    let place = ServerAddress::of(&bound);
    let note = HostNote {
        id: kept(&folder.join(ID), || new_id("ho_"))?,
        url: args.url.clone().unwrap_or_else(|| place.url.clone()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        leaving: false,
    };
    let token = match app.env.variable("ADJUTANT_SERVE_TOKEN") {
        Some(token) => token,
        None => kept(&folder.join(TOKEN), || {
            host::random::secret("adjhost_").map_err(|error| no_chance(&error))
        })?,
    };
    let file = ServerFile {
        url: place.url.clone(),
        pid: std::process::id(),
        version: note.version.clone(),
        started_at: now(),
    };
    let board = Arc::new(Board::new(&note, file.started_at));
    let lease = Duration::from_secs(u64::from(args.lease));
    let launcher = Launcher::new(&app.env, &folder, address.text(), &note.url, args.lease)?;
    let keeper = {
        let (board, render, note) = (Arc::clone(&board), app.render, note.clone());
        // Made on its own thread, where it may block.
        move |orders: &mpsc::Receiver<KeeperOrder>| {
            let hosts = HomeHosts::new(&address)?;
            HomeKeeper::new(hosts, launcher, board, render, note, lease).run(orders)
        }
    };
    let gateway = HomesGateway::new(HomesGatewayOptions {
        host_id: note.id.clone(),
        url: note.url.clone(),
        own_url: place.url.clone(),
        version: note.version.clone(),
        hosts: [vec![place.ip.to_string()], args.allow_host.clone()].concat(),
        token_hash: engine::hash_token(&token),
        limits: ConnectionLimits { max_connections: MAX_CONNECTIONS, ..Default::default() },
        probe: board,
    });
    let noted = folder.join(FILE);
    let text = serde_json::to_string(&file).map_err(std::io::Error::other)?;
    files::write(&noted, &format!("{text}\n"), Mode::Private)?;
    app.render.answer(&file, || welcome(&file, &note, &folder))?;
    let kept = keep(bound, gateway, keeper).await;
    files::remove(&noted)?;
    kept
}

/// Listens, and keeps the homes on a thread of their own, until a signal comes or that thread gives up.
async fn keep(
    bound: Bound,
    gateway: HomesGateway,
    keeper: impl FnOnce(&mpsc::Receiver<KeeperOrder>) -> Result<(), CliError> + Send + 'static,
) -> Result<(), CliError> {
    let (order, orders) = mpsc::channel();
    let (done, mut kept) = oneshot::channel();
    let asked = || server_process::asked_to_stop();
    let mut signal = Box::pin(asked()?);
    let work = move || {
        // Nobody waits for it any more if the runtime has ended.
        drop(done.send(keeper(&orders)));
    };
    std::thread::Builder::new().name("home-keeper".to_owned()).spawn(work)?;
    let (end, connections) = (CancellationToken::new(), TaskTracker::new());
    connections.spawn(gateway.serve(TcpListener::from_std(bound.listener)?, end.clone()));
    connections.close();
    let kept = loop {
        tokio::select! {
            kept = &mut kept => break kept,
            () = &mut signal => {
                signal = Box::pin(asked()?);
                // It may be at its end already.
                _ = order.send(KeeperOrder::Leave);
            }
        }
    };
    end.cancel();
    connections.wait().await;
    kept.unwrap_or_else(|_| {
        Err(CliError::new(Code::InternalError, "the keeper of the homes panicked"))
    })
}

/// The port that is meant.
fn port(app: &App, args: &ServeHomesArgs) -> Result<u16, CliError> {
    let configured = app.env.settings.get("ADJUTANT_SERVER_PORT");
    match (args.port, configured) {
        (Some(port), _) => Ok(port),
        (None, Some(text)) => text.parse().map_err(|_| {
            CliError::usage(format!("`ADJUTANT_SERVER_PORT`: `{text}` is not a port"))
        }),
        (None, None) => Ok(USUAL_PORT),
    }
}

/// The PostgreSQL that is meant.
fn address(app: &App, args: &ServeHomesArgs) -> Result<HomeAddress, CliError> {
    let configured = || app.env.settings.get("ADJUTANT_DATABASE").cloned();
    let Some(text) = args.database.clone().or_else(configured) else {
        return Err(CliError::usage("no PostgreSQL is named")
            .hint("name one with `--database postgres://ROLE@HOST/DATABASE`"));
    };
    if !HomeAddress::is_meant_by(&text) {
        return Err(CliError::usage(format!("`{text}` is not the address of a PostgreSQL"))
            .hint("write it as `postgres://ROLE@HOST/DATABASE`"));
    }
    // Also where there is no project.
    let config = app.home().ok().and_then(|home| app.config(&home, &[]).ok());
    Ok(config.unwrap_or_default().cluster.address(&text, &app.env)?)
}

/// The error where another process uses the state folder.
fn taken(lock: &Path) -> Result<CliError, CliError> {
    let who = match owner::holder(lock)? {
        Holder::Process(pid) => format!("process {pid}"),
        Holder::Nobody | Holder::Unknown => "another process".to_owned(),
    };
    let folder = lock.parent().unwrap_or(lock).display();
    Ok(CliError::new(Code::Conflict, format!("{who} serves homes from `{folder}` already"))
        .hint("`adjutant serve status` shows them; SIGTERM ends it")
        .hint("a second one on this machine needs a `--state DIR` and a `--port` of its own"))
}

/// The text of a file, which is made at the first start.
fn kept(path: &Path, make: impl FnOnce() -> Result<String, CliError>) -> Result<String, CliError> {
    let known = files::read(path)?.map(|text| text.trim().to_owned());
    if let Some(known) = known.filter(|text| !text.is_empty()) {
        return Ok(known);
    }
    let made = make()?;
    files::write(path, &format!("{made}\n"), Mode::Private)?;
    Ok(made)
}

fn new_id(prefix: &str) -> Result<String, CliError> {
    let bits = host::random::bits().map_err(|error| no_chance(&error))?;
    Ok(format!("{prefix}{bits:016x}"))
}

fn no_chance(error: &dyn std::fmt::Display) -> CliError {
    CliError::new(Code::InternalError, format!("the system gave no random bytes: {error}"))
}

fn welcome(file: &ServerFile, note: &HostNote, folder: &Path) -> String {
    format!(
        "{} serves the homes of PostgreSQL at {}\n  a home   {}\n  state    {}\n  {}  homes of this host, and the other hosts",
        bold(format!("Adjutant {}", file.version)),
        good(&file.url),
        name(format!("{}/homes/NAME", note.url)),
        folder.display(),
        name("adjutant serve status"),
    )
}

/// Shows the homes of the host that serves from a folder.
async fn status(app: &App, folder: &Path) -> Result<(), CliError> {
    let absent = || {
        CliError::no_server(format!("no `adjutant serve` runs in `{}`", folder.display()))
            .hint("start one with `adjutant serve --database postgres://ROLE@HOST/DATABASE`")
            .hint("name the folder of one that runs elsewhere with `--state DIR`")
    };
    if !matches!(owner::holder(&folder.join(LOCK))?, Holder::Process(_) | Holder::Unknown) {
        return Err(absent());
    }
    let text = files::read(&folder.join(FILE))?.ok_or_else(absent)?;
    let file: ServerFile = serde_json::from_str(&text).map_err(|_| absent())?;
    let token = match app.env.variable("ADJUTANT_SERVE_TOKEN") {
        Some(token) => token,
        None => files::read(&folder.join(TOKEN))?.ok_or_else(absent)?.trim().to_owned(),
    };
    let client = Client::proving(&file.url, &token, Named::ByFile)?;
    let status: Answer<HostStatus> = match client.get("/status").await {
        Err(ClientError::NoServer { .. } | ClientError::NotOurs { .. }) => return Err(absent()),
        answer => answer?,
    };
    Ok(app.render.answer(&status, || status_text(&status))?)
}

fn status_text(status: &HostStatus) -> String {
    let mut page = Page::default();
    let up = age(status.started_at, now());
    page.line(format_args!(
        "This host is at {} (process {}, up for {up})",
        good(line(&status.url)),
        status.pid
    ));
    if let Some(problem) = &status.problem {
        page.line(format_args!("{} {}", odd("homes not looked at:"), line(problem)));
    }
    if status.leaving {
        page.line(odd("It hands its homes over and ends."));
    }
    page.line("");
    if status.homes.is_empty() {
        page.line(dim("No homes are here"));
        page.line("");
    } else {
        let row = |home: &HostedHome| {
            let process = home.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string());
            let note = match (&home.last_exit, home.failures) {
                (Some(exit), failures) if failures > 0 => {
                    let said = home.last_line.as_deref().unwrap_or_default();
                    format!("{} ({exit}) {}", counted(failures, "failure"), line(said))
                }
                _ => String::new(),
            };
            let state = home.state.name().to_owned();
            [line(&home.name), state, home.epoch.to_string(), process, note]
        };
        let headings = ["HOME", "STATE", "EPOCH", "PROCESS", "LAST FAILURE"];
        page.text(&elastic(headings, status.homes.iter().map(row), "LAST FAILURE"));
        page.line("");
    }
    page.text(&hosts_text(&status.hosts));
    page.into_text().trim_end().to_owned()
}

/// A table of hosts.
pub(super) fn hosts_text(hosts: &[HostView]) -> String {
    let row = |host: &HostView| {
        let seen = match (host.is_live, host.leaving) {
            (true, false) => "live".to_owned(),
            (true, true) => "leaving".to_owned(),
            (false, _) => {
                format!("gone for {}", span(i64::try_from(host.seen_ago_ms).unwrap_or(i64::MAX)))
            }
        };
        [line(&host.url), host.homes.to_string(), seen, line(&host.version)]
    };
    elastic(["HOST", "HOMES", "STATE", "VERSION"], hosts.iter().map(row), "HOST")
}
