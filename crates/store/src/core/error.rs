//! Errors of the store.

/// A failure of the record.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the database for the moment.
    #[error("the database is busy")]
    Busy(#[source] rusqlite::Error),
    /// There is no room to write.
    #[error("the disk is full, so nothing was written; free some space and try again")]
    Full(#[source] rusqlite::Error),
    /// Something is there already that may be there once.
    #[error("it exists already")]
    Duplicate(#[source] rusqlite::Error),
    /// The database says no.
    #[error("the database failed")]
    Database(#[source] rusqlite::Error),
    /// The file was written by a newer Adjutant.
    #[error(
        "the database has schema {found}, this Adjutant knows only up to {known}; use a newer Adjutant"
    )]
    Newer {
        /// The schema of the file
        found: i64,
        /// The newest schema known here
        known: i64,
    },
    /// The log was written by a newer Adjutant.
    #[error(
        "an entry of the log has version {found}, this Adjutant knows only up to {known}; use a newer Adjutant"
    )]
    NewerLog {
        /// The version of the entry
        found: u8,
        /// The newest version known here
        known: u8,
    },
    /// A row cannot be what it says.
    #[error("the record is damaged: {0}")]
    Corrupt(String),
    /// The file cannot be opened.
    #[error("could not open the database `{path}`")]
    Open {
        /// Path of the file
        path: String,
        /// Why
        #[source]
        source: rusqlite::Error,
    },
    /// A file of the record is no longer the file that was opened.
    #[error(
        "`{path}` was removed or replaced while the server ran ({why}), so nothing was written; the server ends, and the next command starts one where the home is now"
    )]
    Replaced {
        /// Path of the file
        path: String,
        /// Description of the file found there
        why: String,
    },
    /// A replica does not have the state that the log makes.
    #[error("the replica differs from the log at entry {seq}: {why}")]
    Diverged {
        /// Number of the entry
        seq: i64,
        /// The difference
        why: String,
    },
    /// PostgreSQL cannot be reached, or gave no answer.
    #[error("PostgreSQL cannot be reached: {why}")]
    Away {
        /// Hosts that were tried, and the error of each
        why: String,
    },
    /// PostgreSQL can be reached and cannot keep the home.
    #[error("PostgreSQL cannot be used: {why}")]
    Unfit {
        /// Reason, and what to do about it
        why: String,
    },
    /// Another server owns the home now.
    #[error("another server owns the home {home} now; this one was its owner number {epoch}")]
    Fenced {
        /// Id of the home
        home: String,
        /// Number of this owner among all that the home had
        epoch: i64,
    },
    /// A commit is in the log of its home, and this server could not take it into its own file.
    #[error("the home has the commit, and this server could not keep it ({why}); it ends")]
    NotKept {
        /// Reason
        why: String,
    },
    /// A commit does not fit into an entry of the log.
    #[error("a commit of {bytes} bytes is too large for the log; the limit is {limit}")]
    TooLarge {
        /// Size of the commit
        bytes: usize,
        /// Largest size
        limit: usize,
    },
    /// A file beside the database cannot be read or written.
    #[error("`{path}`: {why}")]
    File {
        /// Path of the file
        path: String,
        /// Why
        why: String,
    },
    /// The writer has ended.
    #[error("the store is closed")]
    Stopped,
}

impl StoreError {
    /// True if a retry may succeed.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Busy(_) | Self::Away { .. } => true,
            Self::Full(_)
            | Self::Duplicate(_)
            | Self::Database(_)
            | Self::Newer { .. }
            | Self::NewerLog { .. }
            | Self::Corrupt(_)
            | Self::Open { .. }
            | Self::Replaced { .. }
            | Self::Diverged { .. }
            | Self::Unfit { .. }
            | Self::Fenced { .. }
            | Self::NotKept { .. }
            | Self::File { .. }
            | Self::TooLarge { .. }
            | Self::Stopped => false,
        }
    }

    /// True if a file is no longer what it should be. Everything else says nothing of the file: a disk that is full, a lock
    /// of another process, a PostgreSQL that is away.
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode;
        match self {
            Self::Corrupt(_) | Self::Diverged { .. } => true,
            Self::Database(error) | Self::Open { source: error, .. } => matches!(
                error.sqlite_error_code(),
                Some(
                    ErrorCode::NotADatabase
                        | ErrorCode::DatabaseCorrupt
                        | ErrorCode::TypeMismatch
                        | ErrorCode::Unknown
                )
            ),
            _ => false,
        }
    }

    /// The same again, for everybody who shared a commit that failed.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Busy(error) => Self::Busy(copy(error)),
            Self::Full(error) => Self::Full(copy(error)),
            Self::Duplicate(error) => Self::Duplicate(copy(error)),
            Self::Database(error) => Self::Database(copy(error)),
            Self::Newer { found, known } => Self::Newer { found: *found, known: *known },
            Self::NewerLog { found, known } => Self::NewerLog { found: *found, known: *known },
            Self::Corrupt(what) => Self::Corrupt(what.clone()),
            Self::Open { path, source } => Self::Open { path: path.clone(), source: copy(source) },
            Self::Replaced { path, why } => Self::Replaced { path: path.clone(), why: why.clone() },
            Self::Diverged { seq, why } => Self::Diverged { seq: *seq, why: why.clone() },
            Self::Away { why } => Self::Away { why: why.clone() },
            Self::Unfit { why } => Self::Unfit { why: why.clone() },
            Self::Fenced { home, epoch } => Self::Fenced { home: home.clone(), epoch: *epoch },
            Self::NotKept { why } => Self::NotKept { why: why.clone() },
            Self::TooLarge { bytes, limit } => Self::TooLarge { bytes: *bytes, limit: *limit },
            Self::File { path, why } => Self::File { path: path.clone(), why: why.clone() },
            Self::Stopped => Self::Stopped,
        }
    }
}

/// `rusqlite::Error` is not `Clone`; its code and text are what matters.
fn copy(error: &rusqlite::Error) -> rusqlite::Error {
    let code = error.sqlite_error().map_or(rusqlite::ffi::SQLITE_ERROR, |e| e.extended_code);
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), Some(error.to_string()))
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(error),
            Some(ErrorCode::DiskFull) => Self::Full(error),
            Some(ErrorCode::ConstraintViolation) => Self::Duplicate(error),
            _ => Self::Database(error),
        }
    }
}
