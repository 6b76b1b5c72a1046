//! Real PostgreSQL servers for tests: each with a folder and a port of its own, as an unprivileged user.

use std::ffi::OsString;
use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use host::process::{Launch, Started};
use tempfile::TempDir;

use crate::tls::{self, CertificateRequest};

/// Time limit for making a database cluster or a copy of one.
const SETUP_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit for a server to answer, and to end.
const START_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A running PostgreSQL. It ends when this value is dropped.
#[derive(Debug)]
pub struct Postgres {
    dir: TempDir,
    port: u16,
    user: SystemUser,
    process: Option<Started>,
}

/// The user that the server runs as: PostgreSQL refuses to be started by root.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemUser {
    /// User and group to change to; none where the test itself is unprivileged
    change_to: Option<(u32, u32)>,
}

impl SystemUser {
    pub(crate) fn find() -> Result<Self> {
        let own = fs::metadata("/proc/self").context("no /proc")?;
        if std::os::unix::fs::MetadataExt::uid(&own) != 0 {
            return Ok(Self { change_to: None });
        }
        let users = fs::read_to_string("/etc/passwd").context("no /etc/passwd")?;
        let user = |wanted: &str| {
            let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
            let mut found = fields.filter(|fields| fields.first() == Some(&wanted));
            let fields = found.next()?;
            Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?))
        };
        let change_to = user("postgres").or_else(|| user("nobody"));
        ensure!(change_to.is_some(), "there is neither a user `postgres` nor `nobody`");
        Ok(Self { change_to })
    }

    /// A program of PostgreSQL, about to be run as this user.
    pub(crate) fn launch(
        self,
        directory: &Path,
        program: &str,
        arguments: &[&str],
    ) -> Result<Launch> {
        let program = installed(program)?;
        let mut all: Vec<OsString> = Vec::new();
        let program = match self.change_to {
            None => program,
            Some((user, group)) => {
                all.push(format!("--reuid={user}").into());
                all.push(format!("--regid={group}").into());
                all.push("--clear-groups".into());
                all.push(program.into());
                PathBuf::from("/usr/bin/setpriv")
            }
        };
        all.extend(arguments.iter().map(OsString::from));
        let environment = [("PATH", "/usr/bin:/bin"), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC")];
        let environment = environment.map(|(name, value)| (name.into(), value.into()));
        let directory = directory.to_owned();
        Ok(Launch { program, arguments: all, environment: environment.into(), directory })
    }

    /// Gives a folder to this user.
    pub(crate) fn own(self, folder: &Path) -> Result<()> {
        if let Some((owner, group)) = self.change_to {
            chown(folder, Some(owner), Some(group))?;
        }
        Ok(())
    }

    fn run(self, directory: &Path, program: &str, arguments: &[&str]) -> Result<()> {
        let launch = self.launch(directory, program, arguments)?;
        let output = host::process::run(&launch, SETUP_TIMEOUT)?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.exit.is_success(), "{program} failed: {said}");
        Ok(())
    }
}

/// The path of a program of PostgreSQL: Debian keeps those of each version in a folder of its own.
fn installed(program: &str) -> Result<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    folders.extend(["/usr/local/bin", "/usr/bin", "/usr/sbin"].map(PathBuf::from));
    let found = folders.into_iter().map(|folder| folder.join(program)).find(|path| path.exists());
    found.with_context(|| format!("`{program}` is not installed; run tools/setup"))
}

impl Postgres {
    /// Starts a new, empty server with these lines in its configuration.
    pub fn start(settings: &[&str]) -> Result<Self> {
        Self::start_with(settings, &[])
    }

    /// The same with these lines before the others of `pg_hba.conf`, which say who is let in, and how.
    pub fn start_with(settings: &[&str], rules: &[&str]) -> Result<Self> {
        let mut server = Self::stopped(SystemUser::find()?)?;
        let arguments = ["-U", "adjutant", "-A", "trust", "-E", "UTF8", "--no-sync"];
        server.run_on_data("initdb", &arguments)?;
        let file = server.data().join("pg_hba.conf");
        let usual = fs::read_to_string(&file)?;
        fs::write(&file, format!("{}\n{usual}", rules.join("\n")))?;
        server.configure(settings)?;
        server.run()?;
        Ok(server)
    }

    /// Starts a standby that copies this server, and that this one's commits wait for if it says so.
    pub fn standby(&self, settings: &[&str]) -> Result<Self> {
        let mut server = Self::stopped(self.user)?;
        server.copy_from(self, settings)?;
        Ok(server)
    }

    /// Makes this server, which must not run, a standby that copies another one, and starts it. What it had is gone.
    pub fn follow(&mut self, primary: &Self) -> Result<()> {
        fs::remove_dir_all(self.data())?;
        self.copy_from(primary, &[])
    }

    fn copy_from(&mut self, primary: &Self, settings: &[&str]) -> Result<()> {
        let from = format!("host=127.0.0.1 port={} user=adjutant", primary.port);
        self.run_on_data(
            "pg_basebackup",
            &["-R", "-X", "stream", "-c", "fast", "--no-sync", "-d", &from],
        )?;
        self.configure(settings)?;
        self.run()
    }

    /// A server without data, in a folder of its own.
    fn stopped(user: SystemUser) -> Result<Self> {
        let dir = match memory_folder() {
            Some(folder) => tempfile::tempdir_in(folder)?,
            None => tempfile::tempdir()?,
        };
        user.own(dir.path())?;
        Ok(Self { dir, port: free_port()?, user, process: None })
    }

    /// Runs a program on the folder of the data.
    fn run_on_data(&self, program: &str, arguments: &[&str]) -> Result<()> {
        let data = self.data_name()?;
        self.user.run(self.dir.path(), program, &[arguments, &["-D", &data]].concat())
    }

    fn data_name(&self) -> Result<String> {
        let data = self.data();
        Ok(data.to_str().context("the folder has a strange name")?.to_owned())
    }

    /// Its port on the loopback interface.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The address of its database, as a home names it.
    pub fn address(&self) -> String {
        format!("postgres://adjutant@127.0.0.1:{}/postgres", self.port)
    }

    /// The address of this server's database, with another server that is asked where this one cannot write.
    pub fn address_with(&self, other: &Self) -> String {
        format!("postgres://adjutant@127.0.0.1:{},127.0.0.1:{}/postgres", self.port, other.port)
    }

    fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Appends lines to the configuration. The last line for a setting counts.
    ///
    /// A standby that is promoted just after it has lost its primary may first wait for WAL for
    /// `wal_retrieve_retry_interval`, which is five seconds unless it is set.
    pub fn configure(&self, settings: &[&str]) -> Result<()> {
        let file = self.data().join("postgresql.conf");
        let text = fs::read_to_string(&file)?;
        let mut text = format!(
            "{text}\nlisten_addresses = '127.0.0.1'\nport = {}\nunix_socket_directories = ''\nmax_connections = 20\n\
             shared_buffers = '16MB'\nwal_sender_timeout = '2s'\n\
             wal_retrieve_retry_interval = '100ms'\nmax_wal_senders = 4\nlogging_collector = off\n",
            self.port
        );
        for setting in settings {
            text.push_str(setting);
            text.push('\n');
        }
        Ok(fs::write(&file, text)?)
    }

    /// Starts the server, which must not run, and waits until it answers.
    pub fn run(&mut self) -> Result<()> {
        let data = self.data_name()?;
        let launch = self.user.launch(self.dir.path(), "postgres", &["-D", &data])?;
        let log = self.dir.path().join("log");
        let mut process = host::process::start_detached(&launch, &log)?;
        let until = tokio::time::Instant::now() + START_TIMEOUT;
        while !self.is_ready()? {
            let said = || fs::read_to_string(&log).unwrap_or_default();
            if process.exited()?.is_some() {
                bail!("PostgreSQL ended at once: {}", said());
            }
            ensure!(tokio::time::Instant::now() < until, "PostgreSQL does not answer: {}", said());
            std::thread::sleep(POLL_INTERVAL);
        }
        self.process = Some(process);
        Ok(())
    }

    fn is_ready(&self) -> Result<bool> {
        let port = self.port.to_string();
        let arguments = ["-q", "-h", "127.0.0.1", "-p", &port, "-U", "adjutant", "-d", "postgres"];
        let launch = self.user.launch(self.dir.path(), "pg_isready", &arguments)?;
        Ok(host::process::run(&launch, START_TIMEOUT)?.exit.is_success())
    }

    /// Makes a standby the server that writes.
    pub fn promote(&self) -> Result<()> {
        self.run_on_data("pg_ctl", &["promote", "-w"])
    }

    /// Changes a setting of the running server, if it needs no restart. Returns once it is in force.
    pub fn set(&self, name: &str, value: &str) -> Result<()> {
        self.sql(&format!("ALTER SYSTEM SET {name} = '{value}'"))?;
        self.sql("SELECT pg_reload_conf()")?;
        // A new connection is only let in after the reload was passed on to every process. The checkpointer, which
        // decides for all whether commits wait for a standby, reads it before it begins the second checkpoint.
        self.sql("CHECKPOINT; CHECKPOINT")?;
        Ok(())
    }

    /// Makes a key and a certificate of its own for `localhost`, which the server presents once it is started again,
    /// and returns the file of the certificate.
    pub fn make_certificate(&self) -> Result<PathBuf> {
        let extensions = tls::extensions_of("localhost");
        let request = CertificateRequest::write(&self.data(), "server", "localhost", &extensions)?;
        let arguments: Vec<&str> = request.arguments.iter().map(String::as_str).collect();
        self.user.run(self.dir.path(), "openssl", &arguments)?;
        Ok(request.certificate)
    }

    /// Runs statements as the superuser, and returns what they print, a row a line.
    pub fn sql(&self, statements: &str) -> Result<String> {
        let port = self.port.to_string();
        let arguments = [
            "-h",
            "127.0.0.1",
            "-p",
            &port,
            "-U",
            "adjutant",
            "-d",
            "postgres",
            "-X",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-c",
            statements,
        ];
        let launch = self.user.launch(self.dir.path(), "psql", &arguments)?;
        let output = host::process::run(&launch, START_TIMEOUT)?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.exit.is_success(), "psql failed: {said}");
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Kills the server and all its processes, as the loss of its machine does.
    pub fn kill(&mut self) -> Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        // The processes of connections end by themselves once they miss their parent; these end at once.
        let children = children_of(process.pid());
        host::process::kill(process.pid())?;
        for child in children {
            // It may have ended by itself.
            drop(host::process::kill(child));
            ensure!(host::process::wait_gone(child, START_TIMEOUT), "{child} does not end");
        }
        wait_for_end(&mut process)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // A test that fails has its own reason; what is left ends with its folder.
        drop(self.kill());
    }
}

pub(crate) fn wait_for_end(process: &mut Started) -> Result<()> {
    let until = tokio::time::Instant::now() + START_TIMEOUT;
    while process.exited()?.is_none() {
        ensure!(tokio::time::Instant::now() < until, "PostgreSQL does not end");
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// The processes that one has started.
fn children_of(parent: u32) -> Vec<u32> {
    let tasks = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let pids = tasks.unwrap_or_default();
    pids.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// A folder in memory, if there is one with room. A server that was killed finds all there that it wrote, as on a disk,
/// and does not wait for the disk of a busy machine.
fn memory_folder() -> Option<&'static Path> {
    const ROOM: u64 = 2 << 30;
    let folder = Path::new("/dev/shm");
    (host::files::free_bytes(folder).ok()? > ROOM).then_some(folder)
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
