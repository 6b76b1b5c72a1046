//! The address of a PostgreSQL that keeps homes, as people configure it.

use std::path::PathBuf;
use std::time::Duration;

use store::{AddressError, Credentials, LedgerAddress, LedgerClient};

use crate::core::record_file::RecordError;

/// Address of a PostgreSQL database that keeps homes: `postgres://role@host/database`. It never has a password.
#[derive(Debug, Clone)]
pub struct HomeAddress {
    address: LedgerAddress,
    text: String,
}

/// An address that cannot be used; its message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct HomeAddressError(#[from] AddressError);

impl HomeAddress {
    /// True if a `database` of the configuration is meant to be such an address.
    pub fn is_meant_by(database: &str) -> bool {
        database.contains("://")
    }

    /// Reads an address.
    pub fn parse(text: &str) -> Result<Self, HomeAddressError> {
        Ok(Self { address: LedgerAddress::parse(text)?, text: text.to_owned() })
    }

    /// The same address with the sources of its password: `PGPASSWORD`, and the file of `PGPASSFILE`.
    #[must_use]
    pub fn with_password(self, password: Option<String>, password_file: Option<PathBuf>) -> Self {
        let credentials = Credentials { password, password_file };
        Self { address: self.address.with_credentials(credentials), ..self }
    }

    /// The same address, for which a PostgreSQL will do that may lose what was answered.
    #[must_use]
    pub fn allowing_loss(self) -> Self {
        Self { address: self.address.allowing_loss(), ..self }
    }

    /// The address as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A client that connects when it first has to. It blocks, and belongs to one thread outside of a runtime.
    pub(crate) fn client(&self) -> Result<LedgerClient, RecordError> {
        Ok(LedgerClient::new(self.address.clone())?)
    }

    /// The same, with a time limit for each statement.
    pub(crate) fn client_within(&self, limit: Duration) -> Result<LedgerClient, RecordError> {
        Ok(LedgerClient::new(self.address.clone().with_statement_timeout(limit))?)
    }
}
