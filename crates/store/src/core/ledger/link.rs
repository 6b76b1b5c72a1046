//! One connection to PostgreSQL, driven by the thread that uses it. Each wait has a limit.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Connection, Row, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::core::error::StoreError;
use crate::core::ledger::address::{LedgerAddress, LedgerHost, TlsMode};

/// The driver's words for a password that it was not given.
const NO_PASSWORD: &str = "password missing";
/// The oldest PostgreSQL that is known to work.
const MIN_VERSION: i32 = 140_000;

type Stream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// A value of a statement, with its type: statements stay unnamed, which works behind every pooler.
pub(crate) type Param<'p> = (&'p (dyn ToSql + Sync), Type);

pub(crate) struct Link {
    client: Client,
    connection: Connection<Socket, Stream>,
    timeout: Duration,
    /// Why what is answered may be lost, where that was allowed
    may_lose: Option<String>,
}

/// The rows of a statement.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) rows: Vec<Row>,
    /// A notice that came before the end: the commit of the statement may not be on the standby
    pub(crate) notice: Option<String>,
}

/// A statement without an answer, or with an error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    #[error("PostgreSQL closed the connection")]
    Closed,
    #[error("PostgreSQL did not answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("{}", reason(.0))]
    Postgres(#[from] tokio_postgres::Error),
}

impl LinkError {
    /// The error for the store: what PostgreSQL refuses for good is no reason to try again.
    pub(crate) fn into_store(self, address: &LedgerAddress) -> StoreError {
        let why = self.explained(address);
        // Constraints, rights, and names that are not there; everything else may be over soon.
        let is_final = self
            .code()
            .is_some_and(|code| ["22", "23", "42"].iter().any(|it| code.starts_with(it)));
        if is_final { StoreError::Unfit { why } } else { StoreError::Away { why } }
    }

    /// The message, with what somebody has to do.
    fn explained(&self, address: &LedgerAddress) -> String {
        match self.advice(address) {
            Some(advice) => format!("{self}; {advice}"),
            None => self.to_string(),
        }
    }

    fn advice(&self, address: &LedgerAddress) -> Option<String> {
        // The driver asks for a password that PostgreSQL wants before that refuses anything.
        let is_missing =
            matches!(self, Self::Postgres(error) if reason(error).contains(NO_PASSWORD));
        let code = if is_missing { "28P01" } else { self.code()? };
        advice(code, address.role(), address.database())
    }

    /// PostgreSQL's code for it.
    fn code(&self) -> Option<&str> {
        match self {
            Self::Postgres(error) => error.code().map(tokio_postgres::error::SqlState::code),
            Self::Closed | Self::TimedOut(_) => None,
        }
    }

    /// True for a pooler that takes no settings of a session.
    fn is_of_settings(&self) -> bool {
        matches!(self, Self::Postgres(error) if error.as_db_error().is_some_and(|said| {
            said.code().code() == "08P01" && said.message().contains("startup parameter")
        }))
    }
}

/// Advice for a role that may not use a database, by PostgreSQL's code for the refusal.
fn advice(code: &str, role: &str, database: &str) -> Option<String> {
    let [role_name, database_name] = [role, database].map(quoted);
    Some(match code {
        "28P01" | "28000" => format!(
            "set `PGPASSWORD`, or name a file in `PGPASSFILE`, for the role `{role}`, and see that pg_hba.conf lets it in"
        ),
        "3D000" => format!("run `CREATE DATABASE {database_name} OWNER {role_name}`"),
        "42501" => format!(
            "run `GRANT CONNECT, CREATE ON DATABASE {database_name} TO {role_name}`; where another role has made the \
             schema `adjutant`, also `GRANT USAGE ON SCHEMA adjutant TO {role_name}` and \
             `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA adjutant TO {role_name}`"
        ),
        _ => return None,
    })
}

/// A name as SQL has it.
fn quoted(name: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == '_';
    let is_word = name.starts_with(|sign: char| sign.is_ascii_lowercase() || sign == '_');
    if is_word && name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Says what is wrong with a version of PostgreSQL, as `server_version_num` has it.
fn version_problem(version: i32) -> Option<String> {
    let (found, least) = (version / 10_000, MIN_VERSION / 10_000);
    (version < MIN_VERSION)
        .then(|| format!("it is version {found}, and {least} is the oldest that works"))
}

/// The message of an error with its causes; PostgreSQL's own words, where it has any.
fn reason(error: &tokio_postgres::Error) -> String {
    if let Some(message) = error.as_db_error() {
        return format!("{} ({})", message.message(), message.code().code());
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let message = inner.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = inner.source();
    }
    text
}

impl Link {
    /// Connects to the first host that can write.
    pub(crate) async fn open(address: &LedgerAddress) -> Result<Self, StoreError> {
        let away = |why| StoreError::Away { why };
        let tls = MakeRustlsConnect::new(client_config(address.tls()).map_err(away)?);
        let (mut tried, mut is_refused) = (Vec::new(), false);
        for host in address.hosts().map_err(away)? {
            match Self::open_at(&host, tls.clone(), address.statement_timeout()).await {
                Ok(mut link) => match link.look_at_settings(address).await {
                    Ok(None) => return Ok(link),
                    Ok(Some(why)) | Err(StoreError::Away { why }) => {
                        tried.push(format!("{}: {why}", host.name));
                    }
                    Err(error) => return Err(error),
                },
                Err(error) => {
                    is_refused |= error.advice(address).is_some();
                    tried.push(format!("{}: {}", host.name, error.explained(address)));
                }
            }
        }
        let why = tried.join("; ");
        // One that lets nobody in is there; trying again helps no more than with rights that are missing.
        Err(if is_refused { StoreError::Unfit { why } } else { StoreError::Away { why } })
    }

    async fn open_at(
        host: &LedgerHost,
        tls: MakeRustlsConnect,
        timeout: Duration,
    ) -> Result<Self, LinkError> {
        let connect = async |config: &tokio_postgres::Config| {
            let connecting = tokio::time::timeout(timeout, config.connect(tls.clone()));
            let connected = connecting.await.map_err(|_| LinkError::TimedOut(timeout))?;
            connected.map_err(LinkError::Postgres)
        };
        let (client, connection) = match connect(&host.config).await {
            // A pooler whose sessions are not ours: statements then have no limit of PostgreSQL's own.
            Err(error) if error.is_of_settings() => connect(&host.bare).await?,
            connected => connected?,
        };
        Ok(Self { client, connection, timeout, may_lose: None })
    }

    /// Why what is answered may be lost, where that was allowed.
    pub(crate) fn may_lose(&self) -> Option<&str> {
        self.may_lose.as_deref()
    }

    /// Says why another host has to be tried; fails where answered would not mean on disk, unless that is allowed.
    async fn look_at_settings(
        &mut self,
        address: &LedgerAddress,
    ) -> Result<Option<String>, StoreError> {
        const SETTINGS: &str = "SELECT current_setting('server_version_num')::INT4,
            pg_is_in_recovery() OR current_setting('transaction_read_only')::BOOL,
            current_setting('fsync')::BOOL, current_setting('full_page_writes')::BOOL,
            current_setting('synchronous_commit') IN ('on', 'remote_apply')";
        let unfit = |why| Err(StoreError::Unfit { why });
        let role = address.role();
        let reply = self.ask(SETTINGS, &[], || ()).await;
        let reply = reply.map_err(|error| error.into_store(address))?;
        let Some(row) = reply.rows.first() else {
            return Ok(Some("it has no settings".to_owned()));
        };
        let version: i32 = get(row, 0)?;
        if let Some(why) = version_problem(version) {
            return unfit(why);
        }
        if get(row, 1)? {
            return Ok(Some("it is read-only".to_owned()));
        }
        let mut loose = Vec::new();
        for (column, name) in [(2, "fsync"), (3, "full_page_writes")] {
            if !get::<bool>(row, column)? {
                loose.push((format!("`{name}` is off"), format!("set `{name} = on`")));
            }
        }
        if !get::<bool>(row, 4)? {
            let what = format!("`synchronous_commit` is below `on` for the role `{role}`");
            let advice = format!("run `ALTER ROLE {} RESET synchronous_commit`", quoted(role));
            loose.push((what, advice));
        }
        let all = |part: fn(&(String, String)) -> &str| {
            loose.iter().map(part).collect::<Vec<_>>().join(" and ")
        };
        let what = all(|it| it.0.as_str());
        if loose.is_empty() {
            return Ok(None);
        }
        if address.allows_loss() {
            self.may_lose = Some(what);
            return Ok(None);
        }
        unfit(format!(
            "{what}, so what is answered may be lost; {}, or allow it with `cluster.allowLoss: true`",
            all(|it| it.1.as_str())
        ))
    }

    /// Runs one statement, which is a transaction of its own. `on_sent` is called when it has left.
    pub(crate) async fn ask(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
        on_sent: impl FnOnce(),
    ) -> Result<Reply, LinkError> {
        let answer = self.client.query_typed(sql, params);
        let driven = drive(&mut self.connection, answer, on_sent);
        let limited = tokio::time::timeout(self.timeout, driven).await;
        limited.map_err(|_| LinkError::TimedOut(self.timeout))?
    }

    /// Runs several statements in one transaction.
    pub(crate) async fn run_script(&mut self, sql: &str) -> Result<(), LinkError> {
        let client = &self.client;
        let answer = async { client.batch_execute(sql).await.map(|()| Vec::new()) };
        let driven = drive(&mut self.connection, answer, || ());
        let limited = tokio::time::timeout(self.timeout, driven).await;
        limited.map_err(|_| LinkError::TimedOut(self.timeout))?.map(drop)
    }
}

/// Waits for an answer, and reads everything that comes over the connection meanwhile. PostgreSQL sends what it has to
/// say about a commit before it says that the statement is over, so no notice can be missed.
async fn drive(
    connection: &mut Connection<Socket, Stream>,
    answer: impl Future<Output = Result<Vec<Row>, tokio_postgres::Error>>,
    on_sent: impl FnOnce(),
) -> Result<Reply, LinkError> {
    let mut answer = pin!(answer);
    let mut notice = None;
    let (mut on_sent, mut is_handed_in) = (Some(on_sent), false);
    poll_fn(|context| {
        let mut ended = None;
        while ended.is_none() {
            match connection.poll_message(context) {
                Poll::Ready(Some(Ok(AsyncMessage::Notice(message)))) => {
                    notice = Some(message.message().to_owned());
                }
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(error))) => ended = Some(LinkError::Postgres(error)),
                Poll::Ready(None) => ended = Some(LinkError::Closed),
                Poll::Pending => break,
            }
        }
        // The turn before handed the statement in, and this one has written it.
        if is_handed_in && let Some(on_sent) = on_sent.take() {
            on_sent();
        }
        is_handed_in = true;
        if let Poll::Ready(answered) = answer.as_mut().poll(context) {
            return Poll::Ready(match answered {
                Ok(rows) => Ok(Reply { rows, notice: notice.take() }),
                Err(error) => Err(ended.unwrap_or(LinkError::Postgres(error))),
            });
        }
        ended.map_or(Poll::Pending, |error| Poll::Ready(Err(error)))
    })
    .await
}

/// A column of a row.
pub(crate) fn get<'r, T: tokio_postgres::types::FromSql<'r>>(
    row: &'r Row,
    column: usize,
) -> Result<T, StoreError> {
    row.try_get(column).map_err(|error| StoreError::Corrupt(format!("ledger: {error}")))
}

fn client_config(tls: &TlsMode) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    match tls {
        TlsMode::Off => {}
        TlsMode::MachineRoots => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
        }
        TlsMode::RootsFrom(file) => {
            let named =
                |why: &dyn std::fmt::Display| format!("`sslrootcert`: `{}`: {why}", file.display());
            let certificates =
                CertificateDer::pem_file_iter(file).map_err(|error| named(&error))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| named(&error))?;
                roots.add(certificate).map_err(|error| named(&error))?;
            }
            if roots.is_empty() {
                return Err(named(&"it has no certificate"));
            }
        }
    }
    let provider = Arc::new(ring::default_provider());
    let versions =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = versions.map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_below_the_oldest_that_works_is_refused_with_both_numbers() {
        // `server_version_num` of 9.6.24, 10.23, 13.22 and 13.0.
        for (version, found) in [(90_624, "9"), (100_023, "10"), (130_022, "13"), (130_000, "13")] {
            let problem = version_problem(version).unwrap();
            let both = format!("it is version {found}, and 14 is the oldest");
            assert!(problem.starts_with(&both), "{version}: {problem}");
        }
        for version in [140_000, 140_019, 150_018, 180_000] {
            assert_eq!(version_problem(version), None, "{version}");
        }
    }

    #[test]
    fn names_are_quoted_where_sql_wants_it() {
        for (name, sql) in [("crew", "crew"), ("my-crew", "\"my-crew\""), ("Crew", "\"Crew\"")] {
            assert_eq!(quoted(name), sql);
        }
        assert_eq!(quoted("a\"b"), "\"a\"\"b\"");
        assert_eq!(quoted("1st"), "\"1st\"");
        assert_eq!(advice("57P03", "crew", "shop"), None, "it starts; that is over soon");
        let advice = advice("42501", "crew", "my-shop").unwrap();
        assert!(advice.contains("CREATE ON DATABASE \"my-shop\" TO crew"), "{advice}");
    }
}
