//! A real `PgBouncer` for tests, in front of a PostgreSQL of theirs: it gives each transaction another connection.

use std::fs;

use anyhow::{Result, bail, ensure};
use host::process::Started;
use tempfile::TempDir;

use crate::postgres::{Postgres, SystemUser, free_port, wait_for_end};

/// Time limit for it to listen.
const START_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);
const POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(20);

/// A running `PgBouncer`. It ends when this value is dropped.
#[derive(Debug)]
pub struct PgBouncer {
    _dir: TempDir,
    port: u16,
    process: Started,
}

impl PgBouncer {
    /// Starts one in front of a PostgreSQL, as its package configures it but for the mode of pooling.
    pub fn start(postgres: &Postgres) -> Result<Self> {
        let (user, dir, port) = (SystemUser::find()?, tempfile::tempdir()?, free_port()?);
        user.own(dir.path())?;
        let (config, users) = (dir.path().join("pgbouncer.ini"), dir.path().join("users.txt"));
        fs::write(&users, "\"adjutant\" \"\"\n")?;
        let text = format!(
            "[databases]\npostgres = host=127.0.0.1 port={} dbname=postgres user=adjutant\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = trust\nauth_file = {}\npool_mode = transaction\ndefault_pool_size = 4\n",
            postgres.port(),
            users.display(),
        );
        fs::write(&config, text)?;
        let launch = user.launch(dir.path(), "pgbouncer", &[&config.to_string_lossy()])?;
        let log = dir.path().join("log");
        let mut process = host::process::start_detached(&launch, &log)?;
        let until = tokio::time::Instant::now() + START_TIMEOUT;
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            let said = || fs::read_to_string(&log).unwrap_or_default();
            if process.exited()?.is_some() {
                bail!("PgBouncer ended at once: {}", said());
            }
            ensure!(tokio::time::Instant::now() < until, "PgBouncer does not listen: {}", said());
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(Self { _dir: dir, port, process })
    }

    /// The address of the database behind it.
    pub fn address(&self) -> String {
        format!("postgres://adjutant@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        // A test that fails has its own reason.
        drop(host::process::kill(self.process.pid()));
        drop(wait_for_end(&mut self.process));
    }
}
