//! A server of a home in PostgreSQL: it follows the home, takes it once nobody owns it, and ends when another server
//! has taken it.
//!
//! One listener serves all of that. While another server owns the home, requests are forwarded to it.

use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::{
    CommitDurations, FollowClock, HomeMember, MemberOptions, Membership, OwnedRecord,
    Ownership as Lease, SharedHome,
};
use host::files::{self, Mode};
use server::{Drain, Gateway, GatewayOptions, GatewayProbe, HomeRole};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::server::guard;
use crate::app::App;
use crate::cli::Background;
use crate::cli_error::CliError;
use crate::config::{Config, SharedConfig};
use crate::home::ServerFile;
use crate::home::good::WrittenFiles;
use crate::serve::home_probe::probe_of;
use crate::serve::{Ready, ServerAddress, Stage, crash_at, hosts, limits, prepare};
use crate::server_process::{self, FENCED, Ownership, Port};
use crate::terminal::render::{bold, good, name};

/// Folder in the state folder with the configuration, roles and templates of the home.
const FILES: &str = "home-files";
/// File in the state folder with the id of this machine.
const MACHINE: &str = "machine";
/// Time for the services to end before the home is handed over.
const SERVICES_END: Duration = Duration::from_millis(200);
/// Time for PostgreSQL to take what waits, before the home is left without a hand-over.
const APPEND_END: Duration = Duration::from_secs(10);
/// Interval at which a server that stands by reads the log.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(250);
/// The same below `adjutant serve`, where a server follows a home only to take it in a moment.
const HOSTED_FOLLOW_INTERVAL: Duration = Duration::from_millis(40);
/// Interval of the notes on a terminal that PostgreSQL is still away.
const AWAY_INTERVAL: Duration = Duration::from_secs(10);
/// Interval at which an owner looks whether a snapshot is due that no follower has made.
const SNAPSHOT_INTERVAL: Duration = Duration::from_secs(600);

/// Serves a home that several servers share, until it is told to end.
pub(crate) async fn serve(
    app: &App,
    stage: &Stage,
    config: &Config,
    shared: SharedConfig,
    background: Option<Background>,
    ownership: Ownership,
) -> Result<(), CliError> {
    // First, so that no signal ends it in the middle of anything.
    let asked = server_process::asked_to_stop()?;
    let (host, wanted) = (config.server.host, config.server.port);
    let port = match stage.port {
        Some(port) => Port::Chosen(port),
        None => Port::Usual(wanted),
    };
    // Agents of this machine know it there.
    let address = stage.home.address_file();
    let known = server_process::remembered(&address)?.or_else(|| ownership.previous_port());
    let bound = server_process::listen(host, port, known)?;
    server_process::remember(&address, &bound)?;
    let place = ServerAddress::of(&bound);
    let server = SharedServer::start(stage, config, shared, &place, background)?;
    let file = ServerFile {
        url: place.url.clone(),
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: crate::app::now(),
    };
    let gateway_end = CancellationToken::new();
    let gateway = server.gateway(config, &place);
    let listener = TcpListener::from_std(bound.listener)?;
    let connections = TaskTracker::new();
    connections.spawn(gateway.serve(listener, gateway_end.clone()));
    connections.close();
    let known = server.role.subscribe();
    let home = server.options.home.clone();
    let announcing = announce_once_known(app, known, &ownership, &file, &home, background);
    let living = server.live(stage, config, &place, &file, &ownership, asked);
    let lived = tokio::select! {
        biased;
        lived = living => lived,
        failed = announcing => failed.map(|never| match never {}),
    };
    gateway_end.cancel();
    connections.wait().await;
    match lived {
        Ok(()) => {
            ownership.give_up(&file)?;
            if background.is_none() {
                app.render.aside("The server has stopped.")?;
            }
            Ok(())
        }
        Err(cli_error) => Err(cli_error),
    }
}

/// Tells everybody where the server is once it knows who owns the home: before, it can only refuse. Never returns
/// unless that fails.
async fn announce_once_known(
    app: &App,
    mut role: watch::Receiver<HomeRole>,
    ownership: &Ownership,
    file: &ServerFile,
    home: &str,
    background: Option<Background>,
) -> Result<Infallible, CliError> {
    // It lives as long as this is waited for.
    drop(role.wait_for(|role| !matches!(role, HomeRole::Waiting { .. })).await);
    ownership.announce(file)?;
    if background.is_some() {
        tracing::info!(url = file.url, home, "serving a home in PostgreSQL");
    } else {
        app.render.answer(file, || welcome(file, home))?;
    }
    std::future::pending().await
}

fn welcome(file: &ServerFile, home: &str) -> String {
    format!(
        "{} serves the home {} of PostgreSQL at {}\n  {}   owner, standby and lag\n  {}     stop the server",
        bold(format!("Adjutant {}", file.version)),
        name(home),
        good(&file.url),
        name("adjutant status"),
        name("adjutant down"),
    )
}

/// A server and what it is to its home.
struct SharedServer {
    options: MemberOptions,
    member: HomeMember,
    role: watch::Sender<HomeRole>,
    facts: Arc<Facts>,
    /// Cancelled by an operator who asks this server to end while it does not own the home
    stop: CancellationToken,
}

/// Facts about this server that the gateway shows.
struct Facts {
    home: String,
    membership: watch::Receiver<Membership>,
    followed: FollowClock,
    /// Ownership, while it owns the home
    owned: Mutex<Option<Owned>>,
}

/// Facts about the ownership, for metrics and status.
#[derive(Clone)]
struct Owned {
    /// Number of this owner among all that the home had
    epoch: i64,
    commits: CommitDurations,
}

impl GatewayProbe for Facts {
    fn operator_hash(&self) -> Option<String> {
        self.membership.borrow().operator_hash.clone()
    }

    fn metrics(&self) -> String {
        let known = self.membership.borrow().clone();
        let owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let home = &self.home;
        let (lag, behind) = match &owned {
            Some(_) => (0, Duration::ZERO),
            None => (known.log_seq.saturating_sub(known.file_seq), self.followed.behind()),
        };
        let epoch = owned.as_ref().map_or(known.epoch, |owned| owned.epoch);
        let rows = [
            (
                "adjutant_owner",
                "1 while this server owns the home.",
                i64::from(owned.is_some()).to_string(),
            ),
            ("adjutant_home_epoch", "Number of the home's owner.", epoch.to_string()),
            ("adjutant_replica_lag", "Commits that this server's file lacks.", lag.to_string()),
            (
                "adjutant_replica_lag_seconds",
                "Time since this server's file had every commit.",
                format!("{:.3}", behind.as_secs_f64()),
            ),
            (
                "adjutant_postgres_up",
                "1 while the home is followed without an error.",
                i64::from(known.problem.is_none()).to_string(),
            ),
        ];
        let mut text = rows.iter().fold(String::new(), |text, (name, help, value)| {
            format!("{text}# HELP {name} {help}\n# TYPE {name} gauge\n{name}{{home=\"{home}\"}} {value}\n")
        });
        if let Some(owned) = &owned {
            text.push_str(&owned.commits.metrics(home));
        }
        text
    }
}

impl SharedServer {
    fn start(
        stage: &Stage,
        config: &Config,
        shared: SharedConfig,
        place: &ServerAddress,
        background: Option<Background>,
    ) -> Result<Self, CliError> {
        let state = stage.home.state_dir();
        let is_hosted = background == Some(Background::Hosted);
        let follow_interval = if is_hosted { HOSTED_FOLLOW_INTERVAL } else { FOLLOW_INTERVAL };
        let options = MemberOptions {
            address: shared.address,
            home: shared.name,
            database: config.database_path(&stage.home),
            guarded: vec![stage.home.lock()],
            server_id: new_id("sv_")?,
            machine: machine_id(state)?,
            url: shared.url.unwrap_or_else(|| place.url.clone()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            lease: shared.lease,
            follow_interval,
            crash_at: crash_at(stage)?,
        };
        let member = HomeMember::start(options.clone())?;
        let why = "this server has just started".to_owned();
        let (role, _) = watch::channel(HomeRole::Waiting { why });
        let facts = Facts {
            home: options.home.clone(),
            membership: member.state(),
            followed: member.followed(),
            owned: Mutex::default(),
        };
        Ok(Self { options, member, role, facts: Arc::new(facts), stop: CancellationToken::new() })
    }

    fn gateway(&self, config: &Config, place: &ServerAddress) -> Gateway {
        let options = GatewayOptions {
            server_id: self.options.server_id.clone(),
            url: self.options.url.clone(),
            own_url: place.url.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            hosts: hosts(config, place),
            limits: limits(config),
            probe: Arc::clone(&self.facts) as Arc<dyn GatewayProbe>,
            stop: self.stop.clone(),
        };
        Gateway::new(options, self.role.subscribe())
    }

    /// Follows the home, then owns it, until this server is told to end or another one has taken the home.
    async fn live(
        mut self,
        stage: &Stage,
        config: &Config,
        place: &ServerAddress,
        file: &ServerFile,
        ownership: &Ownership,
        asked: impl Future<Output = ()>,
    ) -> Result<(), CliError> {
        tokio::pin!(asked);
        let asked_over_http = self.stop.clone();
        let owned = tokio::select! {
            owned = self.follow() => Some(owned?),
            () = &mut asked => None,
            () = asked_over_http.cancelled() => None,
        };
        let Some(owned) = owned else {
            self.member.leave(APPEND_END).await;
            return Ok(());
        };
        let record = owned.record.clone();
        let owner = match Owner::take(stage, config, place, &self, owned).await {
            Ok(owner) => owner,
            Err(cli_error) => {
                // Another server need not wait until the lease of one that cannot serve has run out.
                record.close().await;
                return Err(cli_error);
            }
        };
        *self.facts.owned.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(owner.owned.clone());
        let stop = owner.shutdown.clone();
        let over = tokio::select! {
            () = owner.keep_role(&self.role) => OwnerEnd::Lost,
            () = stop.cancelled() => OwnerEnd::Asked,
            () = &mut asked => OwnerEnd::Asked,
            () = asked_over_http.cancelled() => OwnerEnd::Asked,
            lost = guard_files(&owner, ownership, file) => OwnerEnd::Replaced(lost),
        };
        match over {
            OwnerEnd::Lost => {
                // Nothing of this process may go on: what it still does, the new owner does as well.
                tracing::error!(
                    home = self.options.home,
                    "this server owns the home no more; ending, so that it can follow again"
                );
                host::process::exit_now(FENCED)
            }
            OwnerEnd::Asked => {
                let why = "it is being handed over".to_owned();
                self.role.send_replace(HomeRole::Waiting { why });
                owner.hand_over(self.member).await;
                Ok(())
            }
            OwnerEnd::Replaced(cli_error) => Err(cli_error),
        }
    }

    /// Follows the home until this server owns it.
    async fn follow(&mut self) -> Result<OwnedRecord, CliError> {
        let mut membership = self.member.state();
        let mut look = interval_at(Instant::now() + AWAY_INTERVAL, AWAY_INTERVAL);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                owned = self.member.owned() => return Ok(owned?),
                changed = membership.changed() => if changed.is_ok() {
                    let known = membership.borrow_and_update().clone();
                    self.role.send_replace(role_of(&known));
                },
                _ = look.tick() => {
                    let problem = membership.borrow().problem.clone();
                    if let Some(problem) = problem {
                        tracing::warn!(problem, "still waiting for PostgreSQL");
                    }
                }
            }
        }
    }
}

/// Why an owner ends.
enum OwnerEnd {
    /// Another server has taken the home
    Lost,
    /// Requested by a person
    Asked,
    /// Its files are no longer those that it opened
    Replaced(CliError),
}

/// What a follower is to its home.
fn role_of(known: &Membership) -> HomeRole {
    match (&known.owner_url, &known.problem) {
        // Also while PostgreSQL is away: the owner knows by itself for how long it may answer.
        (Some(url), _) => HomeRole::Following { owner_url: url.clone() },
        (None, Some(problem)) => HomeRole::Waiting { why: problem.clone() },
        (None, None) => HomeRole::Waiting { why: "nobody owns the home at the moment".to_owned() },
    }
}

/// The home, owned and served by this process.
struct Owner {
    ready: Ready,
    drain: Drain,
    /// What the gateway answers with while the lease is held
    owning: HomeRole,
    shared: SharedHome,
    shutdown: CancellationToken,
    owned: Owned,
    /// Keeps the lease while it is kept
    keeper: Box<dyn std::fmt::Debug + Send + Sync>,
}

impl Owner {
    /// Makes everything ready in a home that has just been taken.
    async fn take(
        stage: &Stage,
        config: &Config,
        place: &ServerAddress,
        server: &SharedServer,
        owned: OwnedRecord,
    ) -> Result<Self, CliError> {
        let began = Instant::now();
        let (record, shared, epoch) = (owned.record.clone(), owned.shared.clone(), owned.epoch);
        let folder = stage.home.state_dir().join(FILES);
        WrittenFiles::from_rows(record.home_files()?).write_all(&folder)?;
        let stage = Stage { shared_files: Some(folder), ..stage.clone() };
        let known =
            Some((shared.clone(), probe_of(&server.options, epoch, owned.may_lose.clone())));
        let mut ready = prepare(&stage, config, record, place, known).await?;
        let (owning, drain) = ready.take_server()?;
        server.role.send_replace(owning.clone());
        let prepared_ms = began.elapsed().as_millis();
        tracing::debug!(prepared_ms, "answering for the home");
        let (address, database) = (server.options.address.clone(), server.options.database.clone());
        let (home, record, end) =
            (server.options.home.clone(), ready.record(), ready.shutdown.clone());
        ready.tasks.spawn(async move {
            let mut look = interval(SNAPSHOT_INTERVAL);
            while end.run_until_cancelled(look.tick()).await.is_some() {
                let (address, home) = (address.clone(), home.clone());
                let (record, database) = (record.clone(), database.clone());
                let made = tokio::task::spawn_blocking(move || {
                    engine::snapshot_owned(&address, &home, &record, &database)
                });
                match made.await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => {
                        tracing::warn!(%error, "snapshot of the home not made; retrying");
                    }
                    Err(error) => tracing::error!(%error, "snapshot of the home panicked"),
                }
            }
        });
        let facts = Owned { epoch, commits: owned.commits.clone() };
        let (shutdown, keeper) = (ready.shutdown.clone(), Box::new(owned.into_keeper()));
        Ok(Self { ready, drain, owning, shared, shutdown, owned: facts, keeper })
    }

    /// Lets the gateway answer while the lease is held, and nothing while it is not. Returns once the home is lost.
    async fn keep_role(&self, role: &watch::Sender<HomeRole>) {
        let mut shared = self.shared.clone();
        let mut now = Lease::Held;
        loop {
            now = shared.changed(now).await;
            match now {
                Lease::Held => role.send_replace(self.owning.clone()),
                Lease::Suspended => {
                    tracing::warn!("the lease has run out; waiting for PostgreSQL");
                    let why = "PostgreSQL cannot be reached".to_owned();
                    role.send_replace(HomeRole::Suspended { why })
                }
                Lease::Lost => return,
            };
        }
    }

    /// Ends the services, appends what waits, and gives the home up, so that another server can take it at once. Then
    /// answers what is still open.
    async fn hand_over(self, member: HomeMember) {
        let Self { ready, drain, shutdown, keeper, shared, .. } = self;
        let began = Instant::now();
        shutdown.cancel();
        ready.tasks.close();
        if timeout(SERVICES_END, ready.tasks.wait()).await.is_err() {
            tracing::debug!("services still end while the home is handed over");
        }
        let services = began.elapsed();
        let is_closed = timeout(APPEND_END, ready.record().close()).await.is_ok();
        if shared.is_handed_over() {
            let (services_ms, all_ms) = (services.as_millis(), began.elapsed().as_millis());
            tracing::info!(services_ms, all_ms, "the home is handed over");
        } else {
            // What was not answered is not there.
            tracing::warn!(
                "the home is not handed over; another server takes it once the lease has run out"
            );
        }
        if !is_closed {
            // Ends the waiting for PostgreSQL.
            drop(member);
        }
        drop(keeper);
        drain.finish().await;
        ready.tasks.wait().await;
    }
}

/// Waits until the record or the lock is no longer the file that was opened.
async fn guard_files(owner: &Owner, ownership: &Ownership, file: &ServerFile) -> CliError {
    let record = owner.ready.record();
    guard(&record, ownership, file).await.into()
}

/// The id of this machine: what the rows of runs say of where their folders are.
fn machine_id(state: &Path) -> Result<String, CliError> {
    let path = state.join(MACHINE);
    if let Some(id) = files::read(&path)?.map(|text| text.trim().to_owned())
        && !id.is_empty()
    {
        return Ok(id);
    }
    let id = new_id("mc_")?;
    files::make_dir(state, Mode::Private)?;
    files::write(&path, &format!("{id}\n"), Mode::Private)?;
    Ok(id)
}

fn new_id(prefix: &str) -> Result<String, CliError> {
    let bits = host::random::bits().map_err(|error| {
        CliError::new(engine::Code::InternalError, format!("could not make an id: {error}"))
    })?;
    Ok(format!("{prefix}{bits:016x}"))
}
