//! One server from its start to its end: opens the record, then starts the engine, the mirror and the interfaces.

mod files;
pub(crate) mod home_probe;
pub(crate) mod in_force;

use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use engine::{
    Engine, GithubSecrets, Options, Point, Record, ServiceOptions, SharedHome, SlackSecrets,
    ToolError,
};
use host::clock::Clock;
use server::{Activity, Drain, HomeRole, OwnedSharedHome, ReloadScope};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wire::server::ReloadReport;

use crate::cli_error::CliError;
use crate::config::changes::Reading;
use crate::config::{Config, Flag, SettingsInput};
use crate::crew::mcp_servers;
use crate::crew::roles;
use crate::crew::templates;
use crate::environment::Environment;
use crate::home::{Home, ServerFile};
use crate::server_process::{self, Bound};
use files::Editor;
use in_force::InForce;

/// Home to serve, with its options.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    /// The home
    pub(crate) home: Home,
    /// Environment
    pub(crate) env: Environment,
    /// The address that was given on the command line
    pub(crate) host: Option<String>,
    /// The port that was given on the command line
    pub(crate) port: Option<u16>,
    /// Folder with the configuration, roles and templates of a home in PostgreSQL
    pub(crate) shared_files: Option<PathBuf>,
}

impl Stage {
    /// Flags given on the command line.
    pub(crate) fn flags(&self) -> Vec<Flag<'static>> {
        let mut flags: Vec<Flag<'static>> = Vec::new();
        flags.extend(self.host.clone().map(|host| ("server.host", host)));
        flags.extend(self.port.map(|port| ("server.port", port.to_string())));
        flags
    }

    /// The configuration in force, and what is odd about it.
    pub(crate) fn config(&self) -> Result<(Config, Vec<String>), CliError> {
        let loaded = Config::load(&self.home, &self.env, &self.flags())?;
        Ok((loaded.config, loaded.warnings))
    }

    /// The same home with its files read from a copy.
    pub(crate) fn reading(&self, copy: PathBuf) -> Self {
        Self { home: self.home.reading(copy), ..self.clone() }
    }

    /// Configuration and settings of the engine, with warnings.
    pub(crate) fn read(&self) -> Result<(Reading, Vec<String>), CliError> {
        let (config, mut warnings) = self.config()?;
        let policy = config.policy().map_err(|error| CliError::usage(error.to_string()))?;
        let report = roles::load(&self.home, &policy);
        warnings.extend(report.errors.iter().chain(&report.warnings).map(ToString::to_string));
        let (templates, problems) = templates::load(&self.home);
        warnings.extend(problems.iter().map(ToString::to_string));
        let told =
            SettingsInput { home: &self.home, env: &self.env, roles: report.roles, templates };
        let mut settings =
            config.settings(told).map_err(|error| CliError::usage(error.to_string()))?;
        settings.review_template = host::files::read(&self.home.review_template())?;
        match mcp_servers::load(&self.home) {
            Ok(servers) => settings.project_servers = servers,
            Err(problem) => warnings.push(problem),
        }
        Ok((Reading { config, settings }, warnings))
    }
}

/// Where a server listens.
#[derive(Debug, Clone)]
pub(crate) struct ServerAddress {
    /// Its address, for everybody on this machine
    pub(crate) url: String,
    /// The host that it listens at
    pub(crate) ip: IpAddr,
}

impl ServerAddress {
    /// Of a port that is ours.
    pub(crate) fn of(bound: &Bound) -> Self {
        Self { url: url_of(bound), ip: bound.address.ip() }
    }
}

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub(crate) struct Ready {
    /// Content of `server.json`
    pub(crate) file: ServerFile,
    /// Ends the server when cancelled
    pub(crate) shutdown: CancellationToken,
    engine: Engine,
    activity: Arc<Activity>,
    /// Gone once a gateway serves its router
    server: Option<server::Server>,
    /// Its services
    pub(crate) tasks: TaskTracker,
}

/// Opens the record.
pub(crate) fn open(stage: &Stage, config: &Config) -> Result<Record, CliError> {
    let path = config.database_path(&stage.home);
    if let Some(folder) = path.parent().filter(|folder| folder.starts_with(stage.home.state_dir()))
    {
        host::files::make_dir(folder, host::files::Mode::Private)?;
    }
    Ok(Record::open_guarded(&path, &[&stage.home.lock()])?)
}

/// The one port that will do, if agents run that know the server there. Enlisted agents were told how to find it
/// again.
pub(crate) fn only_port(stage: &Stage, record: &Record) -> Result<Option<u16>, CliError> {
    if record.has_running_agents()? {
        Ok(server_process::remembered(&stage.home.address_file())?)
    } else {
        Ok(None)
    }
}

/// Makes everything ready. To be called inside a runtime.
pub(crate) async fn prepare(
    stage: &Stage,
    config: &Config,
    record: Record,
    place: &ServerAddress,
    shared: Option<(SharedHome, OwnedSharedHome)>,
) -> Result<Ready, CliError> {
    let (shared_home, status) = shared.unzip();
    let operator_hash = match record.operator_hash()? {
        Some(hash) => hash,
        None => engine::hash_token(&stage.home.make_operator_token(&stage.env)?),
    };
    let in_force = first_reading(stage)?;
    for warning in &in_force.warnings {
        tracing::warn!("{warning}");
    }
    let settings = in_force.reading.settings.clone();
    // The same as this machine's, unless several servers share the home.
    let common = in_force.reading.config.clone();
    let options = Options {
        // Nought would report without end.
        progress_every: Duration::from_millis(common.mcp.progress_interval.max(10)),
        home: stage.home.dir.clone(),
        state: stage.home.state_dir().to_owned(),
        url: place.url.clone(),
        shared_home,
        adjutant: std::env::current_exe()?,
        agent_environment: stage.env.for_agents(),
        operator_environment: stage.env.vars.clone(),
        secrets: stage.home.secrets(&stage.env)?,
        github: GithubSecrets {
            token: stage.env.variable(&common.github.token_variable),
            webhook: stage.env.variable(&common.github.webhook_secret_variable),
        },
        slack: SlackSecrets {
            bot: stage.env.variable(&common.slack.bot_token_variable),
            app: stage.env.variable(&common.slack.app_token_variable),
        },
        ..Options::new(stage.home.root.clone(), operator_hash)
    };
    let options = Options { crash_at: crash_at(stage)?, ..options };
    let engine = Engine::new(record, settings.clone(), options);
    for warning in engine.adopt_settings(settings).await? {
        tracing::warn!("{warning}");
    }
    let started_at = engine.now();
    let (shutdown, activity) = (CancellationToken::new(), Arc::new(Activity::default()));
    activity.touch(engine.elapsed());
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let url = place.url.clone();
    let app = server::App {
        engine: engine.clone(),
        home: stage.home.dir.display().to_string(),
        url: url.clone(),
        version: version.clone(),
        started_at,
        hosts: hosts(config, place),
        shared_home: status,
        reload: reload(stage.clone(), engine.clone(), in_force),
        files: Arc::new(Editor::new(stage.clone(), &engine)),
        shutdown: shutdown.clone(),
        activity: Arc::clone(&activity),
    };
    let tasks = TaskTracker::new();
    // Of several servers each has a project folder of its own: mirrors in one of them would be of little use.
    let mirror = common.mirror && stage.shared_files.is_none();
    let services = ServiceOptions { mirror: mirror.then(|| stage.home.dir.clone()) };
    engine.start_services(services, &tasks, &shutdown, Ready::end_after_panic);
    let server = Some(server::Server::new(app).with_limits(limits(config)));
    let file = ServerFile { url, pid: std::process::id(), version, started_at };
    Ok(Ready { file, shutdown, engine, activity, server, tasks })
}

/// Names beside loopback's under which the server may be asked for.
pub(crate) fn hosts(config: &Config, place: &ServerAddress) -> Vec<String> {
    [vec![place.ip.to_string()], config.server.allowed_hosts.clone()].concat()
}

pub(crate) fn limits(config: &Config) -> server::ConnectionLimits {
    let max_connections = usize::try_from(config.server.max_connections).unwrap_or(usize::MAX);
    server::ConnectionLimits { max_connections, ..Default::default() }
}

/// Point at which the server kills itself, in tests of crashes.
pub(crate) fn crash_at(stage: &Stage) -> Result<Option<Point>, CliError> {
    let Some(name) = &stage.env.crash_at else { return Ok(None) };
    let point = Point::parse(name).ok_or_else(|| {
        CliError::usage(format!("`ADJUTANT_CRASH_AT`: there is no place `{name}`"))
    })?;
    Ok(Some(point))
}

/// Where the server is reached: one that listens everywhere is reached from here by loopback.
fn url_of(bound: &Bound) -> String {
    let port = bound.address.port();
    match bound.address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => format!("http://127.0.0.1:{port}"),
        IpAddr::V6(ip) if ip.is_unspecified() => format!("http://[::1]:{port}"),
        _ => bound.url(),
    }
}

/// Reads the settings that a server starts with: those that were in force last, else the files.
fn first_reading(stage: &Stage) -> Result<InForce, CliError> {
    // The copy of this machine may be older than the rows that the home has now.
    if stage.shared_files.is_none()
        && let Some(in_force) = InForce::from_copy(stage)?
    {
        return Ok(in_force);
    }
    let mut first = InForce::prepare(stage, stage.written()?)?;
    first.commit(stage)?;
    Ok(first)
}

/// Reads configuration and roles again and puts them in force.
fn reload(stage: Stage, engine: Engine, in_force: InForce) -> server::Reload {
    // One after the other, so that what was read first does not take effect last.
    let in_force = std::sync::Mutex::new(in_force);
    Arc::new(move |which| {
        let mut in_force = in_force.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (report, next) = read_again(&stage, &engine, &in_force, which)?;
        if let Some(next) = next {
            *in_force = next;
        }
        Ok(report)
    })
}

/// Reads the files, all of them or only if one has changed, and puts them in force.
fn read_again(
    stage: &Stage,
    engine: &Engine,
    in_force: &InForce,
    which: ReloadScope,
) -> Result<(ReloadReport, Option<InForce>), ToolError> {
    let told = |cli_error: CliError| {
        let error = ToolError::invalid(cli_error.message());
        cli_error.hints().iter().fold(error, ToolError::hint)
    };
    let files = stage.written().map_err(told)?;
    if which == ReloadScope::Changed && files == in_force.files {
        let roles = in_force.reading.settings.roles.len();
        return Ok((ReloadReport { roles, ..ReloadReport::default() }, None));
    }
    let mut next = InForce::prepare(stage, files).map_err(told)?;
    let changes = in_force.changes_to(&next);
    let settings = next.reading.settings.clone();
    let roles = settings.roles.len();
    // Called on a thread for blocking work, which has the runtime at hand.
    let kept = tokio::runtime::Handle::current().block_on(engine.adopt_settings(settings))?;
    next.warnings.extend(kept);
    next.commit(stage).map_err(ToolError::internal)?;
    let warnings = next.warnings.clone();
    Ok((ReloadReport { roles, warnings, read: true, changes }, Some(next)))
}

impl Ready {
    /// Ends the process as for every bug; a watcher starts the server again.
    fn end_after_panic() {
        std::process::exit(70);
    }

    /// The role of a server that owns its home, and what drains it at the end. To be taken once.
    pub(crate) fn take_server(&mut self) -> io::Result<(HomeRole, Drain)> {
        let server = self.server.take().ok_or_else(|| io::Error::other("it is served already"))?;
        let (router, drain) = server.into_parts();
        Ok((HomeRole::Owning(router), drain))
    }

    /// The record.
    pub(crate) fn record(&self) -> Record {
        self.engine.record()
    }

    /// Ends the server once nobody has needed it for that long.
    pub(crate) fn end_when_idle(&self, limit: Duration) {
        let (engine, activity) = (self.engine.clone(), Arc::clone(&self.activity));
        let shutdown = self.shutdown.clone();
        let idle = async move {
            let is_busy = || {
                let quiet = activity
                    .idle_since()
                    .is_some_and(|since| engine.elapsed().saturating_sub(since) >= limit);
                // Agents that others run may come back at any time, and know only this address.
                let alone = engine.live_agents().is_ok_and(|live| live.all == 0);
                // A loop may be between two agents.
                let looping = engine.loops_live().map_or(true, |live| !live.is_empty());
                std::future::ready(!(quiet && alone) || looping)
            };
            let now = i64::try_from(engine.elapsed().as_millis()).unwrap_or(i64::MAX);
            let last = Arc::new(AtomicI64::new(now));
            server_process::idle(last, Clock::System, limit, is_busy).await;
            tracing::info!("no client or agent needs the server; stopping");
            shutdown.cancel();
        };
        let stop = self.shutdown.clone();
        self.tasks.spawn(async move {
            // SettingsInput to end before it was idle.
            _ = stop.run_until_cancelled(idle).await;
        });
    }

    /// Ends the server when it is asked to from a terminal or by a signal.
    pub(crate) fn end_when_asked(&self) -> io::Result<()> {
        let (shutdown, asked) = (self.shutdown.clone(), server_process::asked_to_stop()?);
        self.tasks.spawn(async move {
            // SettingsInput to end in another way, it has ended already.
            _ = shutdown.run_until_cancelled(asked).await;
            shutdown.cancel();
        });
        Ok(())
    }

    /// Serves until the end, and leaves everything written.
    pub(crate) async fn serve(self, listener: TcpListener) -> Result<(), CliError> {
        let served = match self.server {
            Some(server) => server.serve(listener).await,
            None => Ok(()),
        };
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.engine.record().close().await;
        Ok(served?)
    }
}
