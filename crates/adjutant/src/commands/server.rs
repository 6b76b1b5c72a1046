//! `adjutant up`, `down`, `status` and `token`: the server's life, as people lead it.

use std::ffi::OsString;
use std::time::Duration;

use engine::Code;
use host::process::{self, Launch};
use serde_json::{Value, json};

use crate::app::{App, now};
use crate::cli::{Background, UpArgs};
use crate::config::Config;
use crate::connect::{self, Where};
use crate::home::{Home, ServerFile};
use crate::life::{self, Claim, Down, Patience, Port};
use crate::logging;
use crate::render::{ago, bold, count, dim, field, good, name, odd};
use crate::run;
use crate::serve::{self, Stage};
use crate::trouble::Trouble;

/// Starts the server, here or in the background.
pub(crate) fn up(app: &App, args: &UpArgs) -> Result<(), Trouble> {
    if app.env.agent_id.is_some() {
        return Err(Trouble::new(Code::PermissionDenied, "an agent does not start the server")
            .hint("ask the operator for `adjutant up`"));
    }
    let home = app.home()?;
    let stage = Stage {
        home: home.clone(),
        env: app.env.clone(),
        host: args.host.clone(),
        port: args.port,
    };
    let (config, _) = stage.config()?;
    logging::for_server(config.server.log_level.as_str(), app.global.verbose);
    match args.background {
        None if args.detach => detach(app, args, config.server.port),
        Some(Background::Keeper) => keep(app, args, &home),
        Some(Background::Needed) => {
            process::own_session()?;
            run::threads()?.block_on(serve_home(app, &stage, &config, args.background))
        }
        None | Some(Background::Kept) => {
            run::threads()?.block_on(serve_home(app, &stage, &config, args.background))
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

fn place(app: &App, how: &str, args: &UpArgs) -> Result<Where, Trouble> {
    let given = handed_on(args);
    let mut up = vec!["--background", how];
    up.extend(given.iter().map(String::as_str));
    // Where a server is to run is this home's business, whatever the environment names.
    Ok(Where { url_override: None, ..app.place(&up)? })
}

fn detach(app: &App, args: &UpArgs, wanted: u16) -> Result<(), Trouble> {
    let at = place(app, "keeper", args)?;
    let runtime = run::threads()?;
    let (before, server) = runtime.block_on(async {
        let before = connect::running(&at).await?;
        Ok::<_, Trouble>((before, connect::ensure(&at).await?))
    })?;
    let how = if before.is_some() { "runs already" } else { "runs" };
    let elsewhere = wanted != 0 && life::port_of(&server) != Some(wanted);
    if before.is_none() && elsewhere {
        app.render.aside(&odd(format!("port {wanted} is taken; another one is used")))?;
    }
    Ok(app.render.answer(&server, || running_text(&server, how))?)
}

fn running_text(server: &ServerFile, how: &str) -> String {
    let ServerFile { url, pid, .. } = server;
    format!(
        "The server {how} at {} (process {pid}).\nStop it with {}",
        good(url),
        name("adjutant down")
    )
}

/// Watches over a server, and starts it again when it crashes.
fn keep(app: &App, args: &UpArgs, home: &Home) -> Result<(), Trouble> {
    let at = place(app, "kept", args)?;
    let arguments: Vec<OsString> = at.start_args;
    let (program, environment, directory) = (at.exe, at.environment, at.cwd);
    let launch = Launch { program, arguments, environment, directory };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(life::watch(&launch, &home.server_file()))?;
    Ok(())
}

/// Serves the home, unless another server does.
async fn serve_home(
    app: &App,
    stage: &Stage,
    config: &Config,
    background: Option<Background>,
) -> Result<(), Trouble> {
    let at = Where { url_override: None, ..app.place(&[])? };
    let ownership = match life::claim(&at, &stage.home.server_lock()).await? {
        Claim::Ours(ownership) => ownership,
        Claim::Theirs(server) => {
            return Ok(app.render.answer(&server, || running_text(&server, "runs already"))?);
        }
    };
    // After a crash the old port comes first: it is in the agents' configuration.
    let port = match (background, stage.port) {
        (None, Some(port)) => Port::Chosen(port),
        _ => Port::Usual(config.server.port),
    };
    let bound = life::listen(config.server.host, port, ownership.previous_port())?;
    let instead_of = bound.instead_of;
    let ready = serve::prepare(stage, config, bound)?;
    ready.end_when_asked()?;
    if background == Some(Background::Needed) && config.server.idle_seconds > 0 {
        ready.end_when_idle(Duration::from_secs(config.server.idle_seconds));
    }
    ownership.announce(&ready.file)?;
    if background.is_some() {
        tracing::info!(url = ready.file.url, home = %stage.home.dir.display(), "serving");
        if let Some(taken) = instead_of {
            tracing::warn!("port {taken} is taken; this is the next free one");
        }
    } else {
        let file = ready.file.clone();
        let token = stage.home.operator_token_file(&stage.env)?;
        app.render.answer(&file, || {
            welcome(&file, &stage.home, &token.display().to_string(), instead_of)
        })?;
    }
    let served = ready.serve().await;
    ownership.give_up()?;
    if background.is_none() {
        app.render.aside("The server has stopped.")?;
    }
    served
}

fn welcome(file: &ServerFile, home: &Home, token: &str, instead_of: Option<u16>) -> String {
    let taken = instead_of.map_or_else(String::new, |port| {
        format!("         {}\n", odd(format!("port {port} is taken; this is the next free one")))
    });
    format!(
        "\
{} serves {}
  url    {}
{taken}  MCP    {}/mcp
  token  {token}
         {}

Next, in another window:
  {}  make an agent that you run
  {}                see what happens
  {}                   stop the server, as Ctrl-C does here
",
        bold(format!("Adjutant {}", file.version)),
        home.root.display(),
        good(&file.url),
        file.url,
        dim("`adjutant token` prints it"),
        name("adjutant enlist --role worker"),
        name("adjutant events -f"),
        name("adjutant down"),
    )
}

/// Stops the server.
pub(crate) async fn down(app: &App) -> Result<(), Trouble> {
    let at = Where { url_override: None, ..app.place(&[])? };
    let lock = app.home()?.server_lock();
    let ended = life::down(&at, &lock, Patience::default()).await?;
    let (how, server) = match &ended {
        Down::NotRunning => ("not_running", None),
        Down::Asked(server) => ("asked", Some(server)),
        Down::Terminated(server) => ("terminated", Some(server)),
        Down::Killed(server) => ("killed", Some(server)),
    };
    let value = json!({ "stopped": server.is_some(), "how": how, "server": server });
    Ok(app.render.answer(&value, || match &ended {
        Down::NotRunning => "No server runs.".to_owned(),
        Down::Asked(server) => format!("The server at {} has stopped.", server.url),
        Down::Terminated(server) => {
            format!("The server at {} did not answer; a signal stopped it.", server.url)
        }
        Down::Killed(server) => {
            format!("The server at {} did not stop when told to; it was killed.", server.url)
        }
    })?)
}

/// Says whether a server runs. Starts none.
pub(crate) async fn status(app: &App) -> Result<(), Trouble> {
    let absent = || {
        Trouble::no_server("no server runs for this home")
            .hint("start one with `adjutant up --detach`")
    };
    let at = match app.place(&[]) {
        Ok(at) => at,
        // Where there is no home there is no server either; that is the question here.
        Err(trouble) => {
            let said = Trouble::no_server(trouble.message());
            return Err(trouble.hints().iter().fold(said, Trouble::hint));
        }
    };
    let client = connect::locate(&at)?.ok_or_else(absent)?;
    let status = client.get_json("/api/status").await?;
    Ok(app.render.answer(&status, || status_text(&status))?)
}

fn status_text(status: &Value) -> String {
    let [url, pid, version, home] = ["url", "pid", "version", "home"].map(|key| field(status, key));
    let number = |key: &str| usize::try_from(status[key].as_u64().unwrap_or_default()).unwrap_or(0);
    format!(
        "\
The server runs at {}
  version  {version}, process {pid}, up for {}
  home     {home}
  agents   {}
  record   {}",
        good(url),
        ago(&status["startedAt"], now()),
        count(number("agents"), "live agent"),
        count(number("calls"), "call"),
    )
}

/// Prints the operator's token.
pub(crate) fn token(app: &App) -> Result<(), Trouble> {
    if app.env.agent_id.is_some() {
        return Err(Trouble::new(
            Code::PermissionDenied,
            "the operator's token is not for agents; yours is in `ADJUTANT_TOKEN`",
        ));
    }
    let token = app.home()?.make_operator_token(&app.env)?;
    Ok(app.render.answer(&json!({ "token": token }), || token.clone())?)
}
