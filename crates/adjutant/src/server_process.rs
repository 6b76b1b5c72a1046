//! The server as a process: one per home, found by its file, supervised, and stopped by its lock's holder.
//!
//! The lock says whether a server runs and which process it is. `server.json` says where, and that it is wanted: a
//! server that crashed leaves its file behind and is started again; one that was ended takes it along. A signal goes
//! only to the process that holds the lock.

pub(crate) mod connect;
mod watch;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use host::clock::Clock;
use host::files::{self, FileError, Lock, Mode};
use host::owner::{self, Holder};
use host::process;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, interval, sleep, timeout};

use crate::client::ClientError;
use crate::home::ServerFile;
use connect::{ConnectError, ServerLocation};
pub(crate) use watch::{WatchError, watch};

/// Poll interval for a held lock.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Wait for a server that is starting or stopping.
const SETTLE: Duration = Duration::from_secs(10);
/// Ports tried above the requested one.
const NEIGHBOURS: u16 = 100;
/// Wait for a taken port that has no substitute.
const ONLY_PORT: Duration = Duration::from_secs(10);
/// Timeout for a server to acknowledge its end.
const ASK: Duration = Duration::from_secs(5);

/// Exit code of a server whose home another one has taken. A process manager starts it again, as one that follows.
pub(crate) const FENCED: u8 = 75;

/// Requested port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    /// Nobody chose one: this is the usual one
    Usual(u16),
    /// Chosen by a person; 0 is any
    Chosen(u16),
}

/// A port that is ours.
#[derive(Debug)]
pub(crate) struct Bound {
    /// The socket, ready for an asynchronous runtime
    pub(crate) listener: TcpListener,
    /// Where it listens
    pub(crate) address: SocketAddr,
    /// The port that was asked for and is taken
    pub(crate) instead_of: Option<u16>,
}

impl Bound {
    /// The address as `server.json` has it.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// No port could be had.
#[derive(Debug, thiserror::Error)]
#[error("could not listen on `{address}`")]
pub(crate) struct ListenError {
    /// Where
    address: SocketAddr,
    /// Why not
    #[source]
    source: io::Error,
}

/// Listens on the wanted port, else on the next free one.
///
/// `previous` is the port of a server that crashed: its clients still look for it there.
pub(crate) fn listen(
    host: IpAddr,
    port: Port,
    previous: Option<u16>,
) -> Result<Bound, ListenError> {
    let (wanted, previous) = match port {
        Port::Usual(wanted) => (wanted, previous),
        Port::Chosen(0) => (0, previous),
        Port::Chosen(wanted) => (wanted, None),
    };
    let neighbours = match wanted {
        0 => 0..=0,
        wanted => wanted..=wanted.saturating_add(NEIGHBOURS),
    };
    for port in previous.into_iter().chain(neighbours) {
        match bind(host, port) {
            Ok((listener, address)) => {
                let expected = wanted == 0 || Some(port) == previous || port == wanted;
                return Ok(Bound { listener, address, instead_of: (!expected).then_some(wanted) });
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(source) => {
                return Err(ListenError { address: SocketAddr::new(host, port), source });
            }
        }
    }
    bind(host, 0)
        .map(|(listener, address)| Bound { listener, address, instead_of: Some(wanted) })
        .map_err(|source| ListenError { address: SocketAddr::new(host, 0), source })
}

/// Listens on this port and no other.
pub(crate) fn listen_at(host: IpAddr, port: u16) -> Result<Bound, ListenError> {
    let failed = |source| ListenError { address: SocketAddr::new(host, port), source };
    let (listener, address) = bind(host, port).map_err(failed)?;
    Ok(Bound { listener, address, instead_of: None })
}

/// Agents know the server under a port that another program holds.
#[derive(Debug, thiserror::Error)]
#[error("running agents need the server at port {port}, and another program listens there")]
pub(crate) struct PortTaken {
    /// The port
    pub(crate) port: u16,
}

/// Why the one port that will do could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OnlyPortError {
    /// Another program holds it.
    #[error(transparent)]
    Taken(#[from] PortTaken),
    /// It cannot be listened on at all.
    #[error(transparent)]
    Listen(#[from] ListenError),
}

/// Listens on this port and no other: it is in the configuration of agents that run. Waits while
/// another program holds it.
pub(crate) async fn listen_only(host: IpAddr, port: u16) -> Result<Bound, OnlyPortError> {
    listen_only_within(host, port, ONLY_PORT).await
}

async fn listen_only_within(
    host: IpAddr,
    port: u16,
    patience: Duration,
) -> Result<Bound, OnlyPortError> {
    let deadline = Instant::now() + patience;
    let mut message = false;
    let mut look = interval(LOCK_POLL_INTERVAL);
    loop {
        look.tick().await;
        match bind(host, port) {
            Ok((listener, address)) => return Ok(Bound { listener, address, instead_of: None }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(source) => {
                return Err(ListenError { address: SocketAddr::new(host, port), source }.into());
            }
        }
        if Instant::now() >= deadline {
            return Err(PortTaken { port }.into());
        }
        if !std::mem::replace(&mut message, true) {
            tracing::warn!(
                "port {port} is taken, and running agents know no other; waiting for it"
            );
        }
    }
}

/// Remembers where the server listens, for as long as agents know it there.
pub(crate) fn remember(address: &Path, bound: &Bound) -> Result<(), FileError> {
    if let Some(folder) = address.parent() {
        files::make_dir(folder, Mode::Private)?;
    }
    files::write(address, &format!("{}\n", bound.url()), Mode::Private)
}

/// The port that was remembered last.
pub(crate) fn remembered(address: &Path) -> Result<Option<u16>, FileError> {
    let port = |url: String| url.trim().parse::<http::Uri>().ok()?.port_u16();
    Ok(files::read(address)?.and_then(port))
}

fn bind(host: IpAddr, port: u16) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((host, port))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// The port in a server's address.
pub(crate) fn port_of(server: &ServerFile) -> Option<u16> {
    server.url.parse::<http::Uri>().ok()?.port_u16()
}

/// Ownership of the home.
#[derive(Debug)]
pub(crate) enum Claim {
    /// Ours from now on
    Ours(Ownership),
    /// That of a server which runs
    Theirs(ServerFile),
}

/// The right to serve a home, held until it is abandoned or the process ends.
#[derive(Debug)]
pub(crate) struct Ownership {
    server_file: PathBuf,
    /// Where scripts read the same
    copies: Vec<PathBuf>,
    /// Server file of a crashed server
    crashed: Option<ServerFile>,
    _lock: Lock,
}

/// Why a home could not be claimed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClaimError {
    /// Another process holds the lock and does not answer.
    #[error("another server holds `{}` and does not answer", lock.display())]
    Stuck {
        /// The lock
        lock: PathBuf,
    },
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The other server's address is of no use.
    #[error(transparent)]
    Connect(#[from] ConnectError),
}

/// Takes the home, or finds the server that has it. Waits while another starts or stops.
pub(crate) async fn claim(at: &ServerLocation, lock: &Path) -> Result<Claim, ClaimError> {
    claim_within(at, lock, SETTLE).await
}

async fn claim_within(
    at: &ServerLocation,
    lock: &Path,
    patience: Duration,
) -> Result<Claim, ClaimError> {
    // One whose state lies in a folder that was named holds another lock, and is known by its file.
    if let Some(server) = connect::running(at).await? {
        return Ok(Claim::Theirs(server));
    }
    let deadline = Instant::now() + patience;
    let mut look = interval(LOCK_POLL_INTERVAL);
    loop {
        look.tick().await;
        if let Some(held) = owner::lock(lock)? {
            let crashed = connect::note(at);
            let (server_file, copies) = (at.server_file.clone(), at.copies.clone());
            return Ok(Claim::Ours(Ownership { server_file, copies, crashed, _lock: held }));
        }
        if let Some(server) = connect::running(at).await? {
            return Ok(Claim::Theirs(server));
        }
        if Instant::now() >= deadline {
            return Err(ClaimError::Stuck { lock: lock.to_owned() });
        }
    }
}

impl Ownership {
    /// The port of a server that crashed, to be tried first.
    pub(crate) fn previous_port(&self) -> Option<u16> {
        self.crashed.as_ref().and_then(port_of)
    }

    /// The same right, after the state was moved: another lock and another file.
    pub(crate) fn moved(self, server_file: PathBuf, lock: Lock) -> Self {
        Self { server_file, _lock: lock, ..self }
    }

    /// The same right, with these copies to be written.
    pub(crate) fn with_copies(self, copies: Vec<PathBuf>) -> Self {
        Self { copies, ..self }
    }

    /// Tells everybody where the server is. To be called once it listens.
    pub(crate) fn announce(&self, server: &ServerFile) -> Result<(), FileError> {
        files::write(&self.server_file, &text_of(server), Mode::Private)?;
        for path in &self.copies {
            files::remove(path)?;
        }
        self.copy(server)
    }

    /// Writes the copies that scripts read, where there is none. What an agent may have put there is not read.
    pub(crate) fn copy(&self, server: &ServerFile) -> Result<(), FileError> {
        for path in self.copies.iter().filter(|path| path.symlink_metadata().is_err()) {
            if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
                // Only the folder itself: a project that was renamed is not made again where it was.
                std::fs::create_dir(folder).map_err(files::at("create the folder", folder))?;
            }
            files::write(path, &text_of(server), Mode::Private)?;
        }
        Ok(())
    }

    /// Releases the home: clients find no server from now on, and may start the next one.
    pub(crate) fn give_up(self, server: &ServerFile) -> Result<(), FileError> {
        // A file that names another server is that one's: the home may have been taken away from under us.
        for path in std::iter::once(&self.server_file).chain(&self.copies) {
            if connect::read_note(path)?.is_none_or(|noted| noted.pid == server.pid) {
                files::remove(path)?;
            }
        }
        Ok(())
    }
}

fn text_of(server: &ServerFile) -> String {
    // Plain fields always make JSON.
    let text = serde_json::to_string(server).unwrap_or_default();
    format!("{text}\n")
}

/// Listens from now on for the request to end, from a terminal or from another process, and gives what
/// waits for it. Clients that learn of the server may call at once, so it listens before it is announced.
pub(crate) fn asked_to_stop() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let (mut end, mut interrupt) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = end.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Waits until nobody has needed the server for that long.
///
/// `last_activity` holds the time of the last request, in milliseconds of the monotonic `clock`; `is_busy` says
/// true while an agent lives or a client is connected, and is asked only when the time is up.
pub(crate) async fn idle<F: Future<Output = bool>>(
    last_activity: Arc<AtomicI64>,
    clock: Clock,
    limit: Duration,
    is_busy: impl Fn() -> F,
) {
    let limit_ms = i64::try_from(limit.as_millis()).unwrap_or(i64::MAX);
    // A wall clock that is set back would keep the server for ever.
    let now = || i64::try_from(clock.elapsed().as_millis()).unwrap_or(i64::MAX);
    loop {
        let quiet = now().saturating_sub(last_activity.load(Ordering::Relaxed));
        let left = limit_ms.saturating_sub(quiet);
        if left <= 0 {
            if !is_busy().await {
                return;
            }
            // The time counts from when the last agent is gone.
            last_activity.fetch_max(now(), Ordering::Relaxed);
        }
        let left = if left <= 0 { limit_ms } else { left };
        sleep(Duration::from_millis(u64::try_from(left).unwrap_or_default())).await;
    }
}

/// Way in which a server ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Down {
    /// There was none
    NotRunning,
    /// It ended when asked
    Asked(ServerFile),
    /// It had to be sent a signal
    Terminated(ServerFile),
    /// It had to be killed
    Killed(ServerFile),
}

/// Why a server was not ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DownError {
    /// It refused, or its address is of no use.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// It does not answer, and an agent sends no signals.
    #[error("the server does not answer, and only the operator may end it by force")]
    NotAllowed,
    /// It does not answer, and nobody can tell which process it is.
    #[error("the server does not answer, and the system does not say which process holds `{}`", lock.display())]
    UnknownHolder {
        /// The lock
        lock: PathBuf,
    },
    /// The other server's files are of no use.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// It could not be sent a signal.
    #[error("could not send a signal to process {pid}")]
    Signal {
        /// The server's process
        pid: u32,
        /// Why not
        #[source]
        source: io::Error,
    },
    /// It is still there.
    #[error("process {pid} is still there after it was killed")]
    StillThere {
        /// The server's process
        pid: u32,
    },
    /// A file could not be used.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Timeouts of the steps of ending.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StopTimeouts {
    /// After it was asked
    pub(crate) asked: Duration,
    /// After each signal
    pub(crate) signalled: Duration,
}

impl Default for StopTimeouts {
    fn default() -> Self {
        Self { asked: Duration::from_secs(10), signalled: Duration::from_secs(5) }
    }
}

/// Ends the server: asks it, then sends a signal, then kills it. What `server.json` says of its process is not
/// believed: only the process that holds the lock is sent a signal.
pub(crate) async fn down(
    at: &ServerLocation,
    lock: &Path,
    patience: StopTimeouts,
) -> Result<Down, DownError> {
    let note = connect::note(at);
    let holder = if at.inside_agent { Holder::Unknown } else { owner::holder(lock)? };
    if holder == Holder::Nobody {
        return down_elsewhere(at, lock, note, patience).await;
    }
    let server = match (note, holder) {
        (Some(server), Holder::Unknown | Holder::Nobody) => server,
        (Some(server), Holder::Process(pid)) if server.pid == pid => server,
        (_, Holder::Process(pid)) => ServerFile::unknown(pid),
        (None, _) if at.inside_agent => return Ok(Down::NotRunning),
        (None, _) => return Err(DownError::UnknownHolder { lock: lock.to_owned() }),
    };
    if ask(at, &server).await? && gone(server.pid, patience.asked).await {
        return Ok(Down::Asked(server));
    }
    if at.inside_agent {
        return Err(DownError::NotAllowed);
    }
    // It may have ended since, and its number may be another process's by now.
    let pid = match owner::holder(lock)? {
        Holder::Process(pid) if pid == server.pid => pid,
        Holder::Nobody => return Ok(Down::Asked(server)),
        _ => return Err(DownError::UnknownHolder { lock: lock.to_owned() }),
    };
    let failed = |source| DownError::Signal { pid, source };
    process::terminate(pid).map_err(failed)?;
    if gone(pid, patience.signalled).await {
        return Ok(Down::Terminated(server));
    }
    // Its watcher starts it again as long as the file is there.
    forget(at)?;
    process::kill(pid).map_err(failed)?;
    if gone(pid, patience.signalled).await {
        return Ok(Down::Killed(server));
    }
    Err(DownError::StillThere { pid })
}

/// Ends a server that does not hold this lock, because its state lies in a folder that was named: it is asked,
/// once it has proved who it is, and never sent a signal. Whatever else is noted has crashed, and is forgotten.
async fn down_elsewhere(
    at: &ServerLocation,
    lock: &Path,
    note: Option<ServerFile>,
    patience: StopTimeouts,
) -> Result<Down, DownError> {
    let Some(server) = note else { return Ok(Down::NotRunning) };
    if process::is_alive(server.pid) && ask(at, &server).await? {
        let ended = gone(server.pid, patience.asked).await;
        let unknown = || DownError::UnknownHolder { lock: lock.to_owned() };
        return ended.then_some(Down::Asked(server)).ok_or_else(unknown);
    }
    // Without its file it is not started again either.
    if !lock.exists() || files::lock(lock)?.is_some() {
        forget(at)?;
    }
    Ok(Down::NotRunning)
}

/// Removes what is noted of a server.
fn forget(at: &ServerLocation) -> Result<(), FileError> {
    for path in std::iter::once(&at.server_file).chain(&at.copies) {
        files::remove(path)?;
    }
    Ok(())
}

/// Asks a server to end, and says whether it has agreed. One that hangs, that does not listen, or that does not
/// prove who it is has not.
async fn ask(at: &ServerLocation, server: &ServerFile) -> Result<bool, DownError> {
    if server.is_unknown() {
        return Ok(false);
    }
    let client = connect::client_of(at, server)?;
    match timeout(ASK, client.post::<()>("/api/shutdown", &json!({}))).await {
        Ok(Ok(_) | Err(ClientError::Undecodable { .. })) => Ok(true),
        Ok(Err(
            error @ (ClientError::Api { .. }
            | ClientError::Unusable { .. }
            | ClientError::Address(_)),
        )) => Err(error.into()),
        Err(_)
        | Ok(Err(
            ClientError::NoServer { .. }
            | ClientError::Broken { .. }
            | ClientError::NotOurs { .. }
            | ClientError::Tls { .. }
            | ClientError::UnknownToken { .. },
        )) => Ok(false),
    }
}

async fn gone(pid: u32, patience: Duration) -> bool {
    let waited = tokio::task::spawn_blocking(move || process::wait_gone(pid, patience));
    waited.await.unwrap_or_else(|_| !process::is_alive(pid))
}

#[cfg(test)]
mod tests;
