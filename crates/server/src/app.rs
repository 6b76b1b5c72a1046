//! Dependencies of a server.

use std::fmt;
use std::sync::Arc;

use engine::{Engine, ToolError};
use model::Timestamp;
use tokio_util::sync::CancellationToken;
use wire::event::{ConfigReloaded, EventData};

use wire::server::{ReloadReport, SharedHomeStatus};

use crate::activity::Activity;
use crate::files::Files;

/// When the files are read again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReloadScope {
    /// In any case
    #[default]
    All,
    /// If one of them has changed since they were read last
    Changed,
}

/// Reads configuration and roles again and puts them in force.
pub type Reload = Arc<dyn Fn(ReloadScope) -> Result<ReloadReport, ToolError> + Send + Sync>;

/// Asks PostgreSQL about the home that this server owns. It may block for a moment.
pub type SharedHomeProbe = Arc<dyn Fn() -> SharedHomeStatus + Send + Sync>;

/// The event that records a reload.
pub(crate) fn reload_event(report: &ReloadReport) -> EventData {
    let ReloadReport { roles, warnings, changes, .. } = report.clone();
    let changes = changes.into_iter().map(|it| format!("{}: {}", it.subject, it.change));
    let changes = Some(changes.collect::<Vec<_>>()).filter(|changes| !changes.is_empty());
    EventData::ConfigReloaded(ConfigReloaded { roles, warnings, changes })
}

/// A home in PostgreSQL, as its owner knows it.
#[derive(Clone)]
pub struct OwnedSharedHome {
    /// Address at which clients reach the home, whichever server owns it
    pub url: String,
    /// State of the home
    pub probe: SharedHomeProbe,
}

impl fmt::Debug for OwnedSharedHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedSharedHome").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Everything a server needs to serve.
#[derive(Clone)]
pub struct App {
    /// The engine that every call goes to
    pub engine: Engine,
    /// The home, as people write it
    pub home: String,
    /// Where the server is reached, without a slash at the end
    pub url: String,
    /// Version
    pub version: String,
    /// Since when it runs
    pub started_at: Timestamp,
    /// Names beside loopback's under which it may be asked for
    pub hosts: Vec<String>,
    /// The home in PostgreSQL that it owns, where several servers share it
    pub shared_home: Option<OwnedSharedHome>,
    /// Reads configuration and roles again
    pub reload: Reload,
    /// The configuration and the roles as files
    pub files: Arc<dyn Files>,
    /// Ends the server when cancelled; `POST /api/shutdown` cancels it
    pub shutdown: CancellationToken,
    /// Use of the server
    pub activity: Arc<Activity>,
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("home", &self.home)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}
