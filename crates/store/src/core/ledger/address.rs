//! The address of a PostgreSQL that keeps homes, and the password that belongs to it.
//!
//! The address carries no password, because it stands in a file that is read and copied. The password comes from the
//! environment or from a password file as `psql` has one.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// Time limit for one attempt to connect to one host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Time after which data that nobody acknowledges ends a connection.
const UNACKNOWLEDGED_TIMEOUT: Duration = Duration::from_secs(5);
/// Time without traffic after which the system looks whether the other side is still there.
const IDLE_BEFORE_PROBE: Duration = Duration::from_secs(5);
/// Time limit for one statement.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);
const DEFAULT_PORT: u16 = 5432;

/// Address of a PostgreSQL database: `postgres://role@host/database`, with several hosts after each other.
#[derive(Clone)]
pub struct LedgerAddress {
    config: Config,
    tls: TlsMode,
    credentials: Credentials,
    statement_timeout: Duration,
    allow_loss: bool,
}

/// Sources of the password, in the order in which they are asked.
#[derive(Clone, Default)]
pub struct Credentials {
    /// `PGPASSWORD`
    pub password: Option<String>,
    /// `PGPASSFILE`
    pub password_file: Option<PathBuf>,
}

/// Encryption of connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TlsMode {
    /// None
    Off,
    /// Required, with a certificate that the machine trusts
    MachineRoots,
    /// Required, with a certificate that one of this file signed
    RootsFrom(PathBuf),
}

/// An address that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It carries a password
    #[error(
        "the address has a password, and files are copied; remove it and set `PGPASSWORD`, or name a file in `PGPASSFILE`"
    )]
    Password,
    /// It has an option that means nothing here
    #[error("the address has the option `{0}`; there are `sslmode`, `sslrootcert` and `options`")]
    UnknownOption(String),
    /// An option has a value that it cannot have
    #[error("`sslmode={0}` is not known; write `verify-full` or `disable`")]
    SslMode(String),
    /// It is not an address
    #[error("the address cannot be read ({0}); write `postgres://ROLE@HOST/DATABASE`")]
    Invalid(String),
}

/// One host of an address, ready to be connected to.
#[derive(Debug)]
pub(crate) struct LedgerHost {
    /// Host and port, for messages
    pub(crate) name: String,
    pub(crate) config: Config,
    /// The same without settings of the session, for a pooler that refuses them
    pub(crate) bare: Config,
}

impl LedgerAddress {
    /// Reads an address.
    pub fn parse(address: &str) -> Result<Self, AddressError> {
        let invalid = |why: &str| AddressError::Invalid(why.to_owned());
        let (base, query) = address.split_once('?').unwrap_or((address, ""));
        if !base.starts_with("postgres://") && !base.starts_with("postgresql://") {
            return Err(invalid("it does not begin with `postgres://`"));
        }
        let (mut tls, mut roots, mut kept) = (None, None, String::new());
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match (name, value) {
                ("password", _) => return Err(AddressError::Password),
                ("sslmode", "disable") => tls = Some(TlsMode::Off),
                // Certificates are always verified, so these say the same.
                ("sslmode", "require" | "verify-ca" | "verify-full") => {
                    tls = Some(TlsMode::MachineRoots);
                }
                ("sslmode", other) => return Err(AddressError::SslMode(other.to_owned())),
                ("sslrootcert", file) => roots = Some(PathBuf::from(file)),
                // Anyone who is connected to can write, or another host is tried.
                ("target_session_attrs", "read-write") => {}
                ("options", value) => kept = format!("?options={value}"),
                (other, _) => return Err(AddressError::UnknownOption(other.to_owned())),
            }
        }
        let config: Config = format!("{base}{kept}")
            .parse()
            .map_err(|error: tokio_postgres::Error| AddressError::Invalid(error.to_string()))?;
        if config.get_password().is_some() {
            return Err(AddressError::Password);
        }
        if config.get_hosts().is_empty() {
            return Err(invalid("it names no host"));
        }
        if config.get_user().is_none() {
            return Err(invalid("it names no role"));
        }
        let tls = match (tls, roots) {
            (Some(TlsMode::Off), _) => TlsMode::Off,
            (_, Some(file)) => TlsMode::RootsFrom(file),
            (Some(tls), None) => tls,
            (None, None) if config.get_hosts().iter().all(is_local) => TlsMode::Off,
            (None, None) => TlsMode::MachineRoots,
        };
        let credentials = Credentials::default();
        let statement_timeout = STATEMENT_TIMEOUT;
        Ok(Self { config, tls, credentials, statement_timeout, allow_loss: false })
    }

    /// The same address with the sources of its password.
    #[must_use]
    pub fn with_credentials(self, credentials: Credentials) -> Self {
        Self { credentials, ..self }
    }

    /// The same address with another time limit for one statement.
    #[must_use]
    pub fn with_statement_timeout(self, statement_timeout: Duration) -> Self {
        Self { statement_timeout, ..self }
    }

    /// The same address, for which a PostgreSQL will do that may lose what was answered.
    #[must_use]
    pub fn allowing_loss(self) -> Self {
        Self { allow_loss: true, ..self }
    }

    /// True if a PostgreSQL will do that may lose what was answered.
    pub(crate) const fn allows_loss(&self) -> bool {
        self.allow_loss
    }

    /// Time limit for one statement.
    pub(crate) const fn statement_timeout(&self) -> Duration {
        self.statement_timeout
    }

    pub(crate) const fn tls(&self) -> &TlsMode {
        &self.tls
    }

    /// The role that is connected as, for messages.
    pub(crate) fn role(&self) -> &str {
        self.config.get_user().unwrap_or_default()
    }

    pub(crate) fn database(&self) -> &str {
        self.config.get_dbname().unwrap_or_else(|| self.role())
    }

    /// The hosts in the order in which they are tried.
    pub(crate) fn hosts(&self) -> Result<Vec<LedgerHost>, String> {
        let ports = self.config.get_ports();
        let hosts = self.config.get_hosts().iter().enumerate();
        hosts
            .map(|(at, host)| {
                let port = ports.get(at).or(ports.first()).copied().unwrap_or(DEFAULT_PORT);
                let name = match host {
                    Host::Tcp(name) => name.clone(),
                    Host::Unix(folder) => folder.display().to_string(),
                };
                let mut config = Config::new();
                config
                    .user(self.role())
                    .dbname(self.database())
                    .application_name("adjutant")
                    .port(port)
                    .connect_timeout(CONNECT_TIMEOUT)
                    .tcp_user_timeout(UNACKNOWLEDGED_TIMEOUT)
                    .keepalives_idle(IDLE_BEFORE_PROBE)
                    .ssl_mode(if self.tls == TlsMode::Off {
                        SslMode::Disable
                    } else {
                        SslMode::Require
                    });
                match host {
                    Host::Tcp(name) => config.host(name),
                    Host::Unix(folder) => config.host_path(folder),
                };
                // PostgreSQL gives up before this side does: a statement that waits for a lock would otherwise go on
                // waiting for nobody. A commit that waits for a standby is not cut short by this.
                let limit = (self.statement_timeout / 5 * 4).as_millis();
                let options = self.config.get_options().unwrap_or_default();
                let mut bare = config.clone();
                config.options(format!("{options} -c statement_timeout={limit}"));
                if let Some(password) = self.password(&name, port)? {
                    bare.password(&password);
                    config.password(password);
                }
                Ok(LedgerHost { name: format!("{name}:{port}"), config, bare })
            })
            .collect()
    }

    fn password(&self, host: &str, port: u16) -> Result<Option<String>, String> {
        if self.credentials.password.is_some() {
            return Ok(self.credentials.password.clone());
        }
        let Some(file) = &self.credentials.password_file else { return Ok(None) };
        let text = read_password_file(file)?;
        let port = port.to_string();
        let wanted = [host, &port, self.database(), self.role()];
        Ok(text.lines().find_map(|line| password_in(line, &wanted)))
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost"
                || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

/// Reads a password file, unless others can read it too.
fn read_password_file(file: &Path) -> Result<String, String> {
    let named = |why: &dyn fmt::Display| format!("the password file `{}`: {why}", file.display());
    let mode = fs::metadata(file).map_err(|error| named(&error))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(named(&"others can read it; run `chmod 600` on it"));
    }
    fs::read_to_string(file).map_err(|error| named(&error))
}

/// The password of a line `host:port:database:role:password`, if it is for what is wanted. `*` fits everything, and
/// `\` takes the meaning from the next character.
fn password_in(line: &str, wanted: &[&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => field.extend(characters.next()),
            ':' if fields.len() < wanted.len() => fields.push(std::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    let fits = |(given, wanted): (&String, &&str)| given == "*" || given == wanted;
    (fields.len() == wanted.len() && fields.iter().zip(wanted).all(fits)).then_some(field)
}

impl fmt::Debug for LedgerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hosts, ports) = (self.config.get_hosts(), self.config.get_ports());
        f.debug_struct("LedgerAddress")
            .field("hosts", &hosts)
            .field("ports", &ports)
            .field("role", &self.role())
            .field("database", &self.database())
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("password_file", &self.password_file)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
