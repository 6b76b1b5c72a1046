//! A server of a home in PostgreSQL: it follows the home, takes it once nobody owns it, and ends when another server
//! has taken it.
//!
//! One listener serves all of that. While another server owns the home, requests are forwarded to it.

use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::{HomeMember, MemberOptions, Membership, OwnedRecord, Ownership as Lease, SharedHome};
use host::files::{self, Mode};
use server::{Drain, Gateway, GatewayOptions, GatewayProbe, HomeRole};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wire::server::SharedHomeStatus;

use super::server::guard;
use crate::app::App;
use crate::cli::Background;
use crate::cli_error::Trouble;
use crate::config::{Config, SharedConfig};
use crate::home::ServerFile;
use crate::home::good::WrittenFiles;
use crate::serve::{Ready, ServerAddress, Stage, hosts, limits, prepare};
use crate::server_process::{self, Ownership, Port};
use crate::terminal::render::{bold, good, name};

/// Exit code of a server whose home another one has taken. A process manager starts it again, as one that follows.
pub(crate) const FENCED: u8 = 75;
/// Folder in the state folder with the configuration, roles and templates of the home.
const FILES: &str = "home-files";
/// File in the state folder with the id of this machine.
const MACHINE: &str = "machine";
/// Time for the services to end before the home is handed over.
const SERVICES_END: Duration = Duration::from_millis(200);
/// Time for PostgreSQL to take what waits, before the home is left without a hand-over.
const APPEND_END: Duration = Duration::from_secs(10);
/// Interval at which somebody at a terminal hears that PostgreSQL is still away.
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
) -> Result<(), Trouble> {
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
    let server = SharedServer::start(stage, config, shared, &place)?;
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
    let living = server.live(stage, config, &place, &file, &ownership);
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
        Err(trouble) => Err(trouble),
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
) -> Result<Infallible, Trouble> {
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
}

/// Facts about this server that the gateway shows.
struct Facts {
    home: String,
    membership: watch::Receiver<Membership>,
    /// Number of this owner, while it owns the home
    owned: Mutex<Option<i64>>,
}

impl GatewayProbe for Facts {
    fn operator_hash(&self) -> Option<String> {
        self.membership.borrow().operator_hash.clone()
    }

    fn metrics(&self) -> String {
        let known = self.membership.borrow().clone();
        let owned = *self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        let home = &self.home;
        let lag = if owned.is_some() { 0 } else { known.log_seq.saturating_sub(known.file_seq) };
        let rows = [
            ("adjutant_owner", "1 while this server owns the home.", i64::from(owned.is_some())),
            ("adjutant_home_epoch", "Number of the home's owner.", owned.unwrap_or(known.epoch)),
            ("adjutant_replica_lag", "Commits that this server's file lacks.", lag),
            (
                "adjutant_postgres_up",
                "1 while the home is followed without an error.",
                i64::from(known.problem.is_none()),
            ),
        ];
        rows.iter().fold(String::new(), |text, (name, help, value)| {
            format!("{text}# HELP {name} {help}\n# TYPE {name} gauge\n{name}{{home=\"{home}\"}} {value}\n")
        })
    }
}

impl SharedServer {
    fn start(
        stage: &Stage,
        config: &Config,
        shared: SharedConfig,
        place: &ServerAddress,
    ) -> Result<Self, Trouble> {
        let state = stage.home.state_dir();
        let options = MemberOptions {
            address: shared.address,
            home: shared.name,
            database: config.database_path(&stage.home),
            guarded: vec![stage.home.lock()],
            server_id: new_id("sv_")?,
            machine: machine_id(state)?,
            url: shared.url.unwrap_or_else(|| place.url.clone()),
            lease: shared.lease,
        };
        let member = HomeMember::start(options.clone())?;
        let why = "this server has just started".to_owned();
        let (role, _) = watch::channel(HomeRole::Waiting { why });
        let facts = Facts {
            home: options.home.clone(),
            membership: member.state(),
            owned: Mutex::default(),
        };
        Ok(Self { options, member, role, facts: Arc::new(facts) })
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
    ) -> Result<(), Trouble> {
        let asked = server_process::asked_to_stop()?;
        tokio::pin!(asked);
        let owned = tokio::select! {
            owned = self.follow() => owned?,
            () = &mut asked => return Ok(()),
        };
        let owner = Owner::take(stage, config, place, &self, owned).await?;
        *self.facts.owned.lock().unwrap_or_else(PoisonError::into_inner) = Some(owner.epoch);
        let stop = owner.shutdown.clone();
        let over = tokio::select! {
            () = owner.keep_role(&self.role) => Over::Lost,
            () = stop.cancelled() => Over::Asked,
            () = &mut asked => Over::Asked,
            lost = guard_files(&owner, ownership, file) => Over::Replaced(lost),
        };
        match over {
            Over::Lost => {
                // Nothing of this process may go on: what it still does, the new owner does as well.
                tracing::error!(home = self.options.home, "another server has taken the home");
                host::process::exit_now(FENCED)
            }
            Over::Asked => {
                let why = "it is being handed over".to_owned();
                self.role.send_replace(HomeRole::Waiting { why });
                owner.hand_over(self.member).await;
                Ok(())
            }
            Over::Replaced(trouble) => Err(trouble),
        }
    }

    /// Follows the home until this server owns it.
    async fn follow(&mut self) -> Result<OwnedRecord, Trouble> {
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
enum Over {
    /// Another server has taken the home
    Lost,
    /// Somebody asked
    Asked,
    /// Its files are no longer those that it opened
    Replaced(Trouble),
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
    epoch: i64,
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
    ) -> Result<Self, Trouble> {
        let (record, shared, epoch) = (owned.record.clone(), owned.shared.clone(), owned.epoch);
        let folder = stage.home.state_dir().join(FILES);
        WrittenFiles::from_rows(record.home_files()?).write_all(&folder)?;
        let stage = Stage { shared_files: Some(folder), ..stage.clone() };
        let status = SharedHomeStatus {
            name: server.options.home.clone(),
            epoch,
            server_id: server.options.server_id.clone(),
            url: server.options.url.clone(),
            machine: server.options.machine.clone(),
        };
        let known = Some((shared.clone(), status));
        let mut ready = prepare(&stage, config, record, place, known).await?;
        let (owning, drain) = ready.take_server()?;
        server.role.send_replace(owning.clone());
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
        let (shutdown, keeper) = (ready.shutdown.clone(), Box::new(owned.into_keeper()));
        Ok(Self { ready, drain, owning, shared, shutdown, epoch, keeper })
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
        let Self { ready, drain, shutdown, keeper, .. } = self;
        shutdown.cancel();
        ready.tasks.close();
        if timeout(SERVICES_END, ready.tasks.wait()).await.is_err() {
            tracing::debug!("services still end while the home is handed over");
        }
        if timeout(APPEND_END, ready.record().close()).await.is_ok() {
            tracing::info!("the home is handed over");
        } else {
            // PostgreSQL is away: what was not answered is not there, and the lease runs out by itself.
            tracing::warn!("PostgreSQL cannot be reached; the home is not handed over");
            drop(member);
        }
        drop(keeper);
        drain.finish().await;
        ready.tasks.wait().await;
    }
}

/// Waits until the record or the lock is no longer the file that was opened.
async fn guard_files(owner: &Owner, ownership: &Ownership, file: &ServerFile) -> Trouble {
    let record = owner.ready.record();
    guard(&record, ownership, file).await.into()
}

/// The id of this machine: what the rows of runs say of where their folders are.
fn machine_id(state: &Path) -> Result<String, Trouble> {
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

fn new_id(prefix: &str) -> Result<String, Trouble> {
    let bits = host::random::bits().map_err(|error| {
        Trouble::new(engine::Code::InternalError, format!("could not make an id: {error}"))
    })?;
    Ok(format!("{prefix}{bits:016x}"))
}
