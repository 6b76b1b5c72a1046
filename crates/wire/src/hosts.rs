//! A host that serves many homes of one PostgreSQL: its homes, and the other hosts.

use model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Answer of `/status` of `adjutant serve`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostStatus {
    /// Id of this host, the same after a restart
    pub id: String,
    /// Address under which other hosts reach it
    pub url: String,
    /// Id of its process
    pub pid: u32,
    /// Its version
    pub version: String,
    /// Since when it runs
    pub started_at: Timestamp,
    /// True once it hands its homes over and ends
    pub leaving: bool,
    /// Why it does not know how the homes stand, if it does not
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Homes of which a server runs here, or should run
    pub homes: Vec<HostedHome>,
    /// All hosts of this PostgreSQL, this one included
    pub hosts: Vec<HostView>,
}

/// A home of which a server runs on this host, or should run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostedHome {
    /// Name
    pub name: String,
    /// State of its server
    pub state: HostedState,
    /// Number of the home's owner among all that it had
    pub epoch: i64,
    /// Id of the server's process
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Address of the server on this machine, once it knows who owns the home
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Times in a row that it has failed
    pub failures: u32,
    /// Its last failure, if it failed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_exit: Option<String>,
    /// The last line that it wrote before that
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<String>,
}

/// State of the server of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HostedState {
    /// It owns the home
    Owner,
    /// It follows the home, and takes it once nobody owns it
    Follower,
    /// It is starting
    Starting,
    /// It has failed, and is started again later
    Failing,
}

impl HostedState {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Follower => "follower",
            Self::Starting => "starting",
            Self::Failing => "failing",
        }
    }
}

/// A host that serves homes with `adjutant serve`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostView {
    /// Id
    pub id: String,
    /// Address under which other hosts reach it
    pub url: String,
    /// Its version
    pub version: String,
    /// True if it was heard of lately
    pub is_live: bool,
    /// True once it ends
    pub leaving: bool,
    /// Milliseconds since it was heard of
    pub seen_ago_ms: u64,
    /// Number of homes that it is to own
    pub homes: usize,
}
