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

/// The oldest PostgreSQL that is known to work.
const MIN_VERSION: i32 = 140_000;

type Stream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// A value of a statement, with its type: statements stay unnamed, which works behind every pooler.
pub(crate) type Param<'p> = (&'p (dyn ToSql + Sync), Type);

pub(crate) struct Link {
    client: Client,
    connection: Connection<Socket, Stream>,
    timeout: Duration,
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
    pub(crate) fn into_store(self) -> StoreError {
        let why = self.to_string();
        let code = match &self {
            Self::Postgres(error) => error.code().map(|code| code.code().to_owned()),
            Self::Closed | Self::TimedOut(_) => None,
        };
        // Constraints, rights, and names that are not there; everything else may be over soon.
        let is_final =
            code.is_some_and(|code| ["22", "23", "42"].iter().any(|class| code.starts_with(class)));
        if is_final { StoreError::Unfit { why } } else { StoreError::Away { why } }
    }
}

/// The message of an error with its causes; PostgreSQL's own words, where it has any.
fn reason(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return format!("{} ({})", said.message(), said.code().code());
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let said = inner.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
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
        let mut tried = Vec::new();
        for host in address.hosts().map_err(away)? {
            match Self::open_at(&host, tls.clone(), address.statement_timeout()).await {
                Ok(mut link) => match link.look_at_settings(address.role()).await {
                    Ok(None) => return Ok(link),
                    Ok(Some(why)) | Err(StoreError::Away { why }) => {
                        tried.push(format!("{}: {why}", host.name));
                    }
                    Err(error) => return Err(error),
                },
                Err(error) => tried.push(format!("{}: {error}", host.name)),
            }
        }
        Err(away(tried.join("; ")))
    }

    async fn open_at(
        host: &LedgerHost,
        tls: MakeRustlsConnect,
        timeout: Duration,
    ) -> Result<Self, LinkError> {
        let connecting = tokio::time::timeout(timeout, host.config.connect(tls));
        let (client, connection) = connecting.await.map_err(|_| LinkError::TimedOut(timeout))??;
        Ok(Self { client, connection, timeout })
    }

    /// Says why another host has to be tried; fails where answered would not mean on disk.
    async fn look_at_settings(&mut self, role: &str) -> Result<Option<String>, StoreError> {
        const SETTINGS: &str = "SELECT current_setting('server_version_num')::INT4,
            pg_is_in_recovery() OR current_setting('transaction_read_only')::BOOL,
            current_setting('fsync')::BOOL, current_setting('full_page_writes')::BOOL,
            current_setting('synchronous_commit') IN ('on', 'remote_apply')";
        let unfit = |why| Err(StoreError::Unfit { why });
        let reply = self.ask(SETTINGS, &[]).await.map_err(LinkError::into_store)?;
        let Some(row) = reply.rows.first() else {
            return Ok(Some("it has no settings".to_owned()));
        };
        let version: i32 = get(row, 0)?;
        if version < MIN_VERSION {
            let (found, least) = (version / 10_000, MIN_VERSION / 10_000);
            return unfit(format!("it is version {found}, and {least} is the oldest that works"));
        }
        if get(row, 1)? {
            return Ok(Some("it is read-only".to_owned()));
        }
        for (column, name) in [(2, "fsync"), (3, "full_page_writes")] {
            if !get::<bool>(row, column)? {
                return unfit(format!("`{name}` is off, so what is answered may be lost"));
            }
        }
        if get(row, 4)? {
            return Ok(None);
        }
        unfit(format!(
            "`synchronous_commit` is below `on` for the role `{role}`, so what is answered may be lost; run `ALTER ROLE {role} RESET synchronous_commit`"
        ))
    }

    /// Runs one statement, which is a transaction of its own.
    pub(crate) async fn ask(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Reply, LinkError> {
        let answer = self.client.query_typed(sql, params);
        let driven = drive(&mut self.connection, answer);
        let limited = tokio::time::timeout(self.timeout, driven).await;
        limited.map_err(|_| LinkError::TimedOut(self.timeout))?
    }

    /// Runs several statements in one transaction.
    pub(crate) async fn run_script(&mut self, sql: &str) -> Result<(), LinkError> {
        let client = &self.client;
        let answer = async { client.batch_execute(sql).await.map(|()| Vec::new()) };
        let driven = drive(&mut self.connection, answer);
        let limited = tokio::time::timeout(self.timeout, driven).await;
        limited.map_err(|_| LinkError::TimedOut(self.timeout))?.map(drop)
    }
}

/// Waits for an answer, and reads everything that comes over the connection meanwhile. PostgreSQL sends what it has to
/// say about a commit before it says that the statement is over, so no notice can be missed.
async fn drive(
    connection: &mut Connection<Socket, Stream>,
    answer: impl Future<Output = Result<Vec<Row>, tokio_postgres::Error>>,
) -> Result<Reply, LinkError> {
    let mut answer = pin!(answer);
    let mut notice = None;
    poll_fn(|context| {
        let mut ended = None;
        while ended.is_none() {
            match connection.poll_message(context) {
                Poll::Ready(Some(Ok(AsyncMessage::Notice(said)))) => {
                    notice = Some(said.message().to_owned());
                }
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(error))) => ended = Some(LinkError::Postgres(error)),
                Poll::Ready(None) => ended = Some(LinkError::Closed),
                Poll::Pending => break,
            }
        }
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
