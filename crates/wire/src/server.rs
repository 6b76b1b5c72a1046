//! The server itself: status, reload, proof of its token, and webhooks from GitHub.

use model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Status of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Status")]
pub struct ServerStatus {
    /// Its address
    pub url: String,
    /// Id of its process
    pub pid: u32,
    /// Its version
    pub version: String,
    /// Since when it runs
    pub started_at: Timestamp,
    /// The home it serves
    pub home: String,
    /// Number of live agents
    pub agents: i64,
    /// Number of running agents that are working
    pub running: usize,
    /// Number of running agents that wait for a place, an answer, a review or their model
    pub waiting: usize,
    /// Number of calls answered since the start
    pub calls: u64,
    /// Numbers of rows on record
    #[serde(default)]
    pub record: RecordCounts,
    /// True if the caller is the operator
    pub operator: bool,
    /// The home in PostgreSQL that this server owns; absent on one machine
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_home: Option<SharedHomeStatus>,
}

/// A home in PostgreSQL, and the server that owns it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SharedHomeStatus {
    /// Name of the home
    pub name: String,
    /// Number of this owner among all that the home had
    pub epoch: i64,
    /// Id of this start of the server
    pub server_id: String,
    /// Address under which other servers reach it
    pub url: String,
    /// Id of the machine that has the run folders of its agents
    pub machine: String,
    /// The standby that a commit waits for; absent while PostgreSQL cannot be asked
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standby: Option<StandbyStatus>,
    /// The servers that follow the home, by address
    #[serde(default)]
    pub followers: Vec<FollowerStatus>,
    /// Why PostgreSQL cannot be asked
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Why what is answered may be lost with this PostgreSQL, which `cluster.allowLoss` allows
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_lose: Option<String>,
}

/// Standbys of a PostgreSQL, and its replication mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StandbyStatus {
    /// Replication mode
    pub mode: StandbyMode,
    /// The standbys that a commit waits for, as PostgreSQL's setting names them
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited: Option<String>,
    /// Standbys that are connected, as far as this role of PostgreSQL may see them
    pub connected: i64,
}

/// Replication mode of a PostgreSQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StandbyMode {
    /// Nowhere: what its disk loses is lost
    None,
    /// To a standby that no commit waits for: a failover loses the newest commits
    Asynchronous,
    /// To a standby that every commit waits for: a failover loses nothing
    Synchronous,
}

/// A server that follows a home.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FollowerStatus {
    /// Address under which other servers reach it
    pub url: String,
    /// Id of its machine
    pub machine: String,
    /// Its version
    pub version: String,
    /// Commits that its file lacks
    pub missing_commits: i64,
    /// Seconds since the oldest of them
    pub late_seconds: f64,
    /// Seconds since it was heard of
    pub seen_seconds: f64,
}

/// Answer of `/healthz` and `/readyz`, which need no token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerHealth {
    /// State of the server
    pub status: HealthStatus,
    /// Why it is not `ok`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What the server is to a home that several servers share
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<ServerRole>,
    /// Its version
    pub version: String,
}

/// State of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum HealthStatus {
    /// Healthy; for `/readyz`: it can answer requests
    Ok,
    /// It runs and cannot answer requests
    Unready,
    /// It should be restarted
    Unhealthy,
}

/// What a server is to a home that several servers share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ServerRole {
    /// It owns the home and answers requests
    Owner,
    /// Another server owns the home; requests are forwarded to it
    Follower,
    /// It does not know an owner, or may not answer
    Waiting,
}

/// Numbers of rows on record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordCounts {
    /// Tasks
    pub tasks: u64,
    /// Agents, live and ended
    pub agents: u64,
    /// Messages
    pub mails: u64,
    /// Calls, without those that were moved into archives
    pub calls: u64,
}

/// A difference between the settings before and after a reload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsChange {
    /// What changed: `role NAME`, `category NAME`, or a key of the configuration
    pub subject: String,
    /// How it changed, in words
    pub change: String,
    /// True if agents may do more, also without a person, or if what runs, who decides or where secrets go is another
    pub widens: bool,
}

/// Outcome of a reload.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReloadReport {
    /// Number of roles in force
    pub roles: usize,
    /// Warnings
    pub warnings: Vec<String>,
    /// False if only changed files were to be read, and none had changed
    pub read: bool,
    /// What the files change
    pub changes: Vec<SettingsChange>,
}

/// The proof, and the address that it is bound to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerProof {
    /// Address of the server
    pub url: String,
    /// Its version
    pub version: String,
    /// Keyed hash over the nonce and the address
    pub proof: String,
}

/// Outcome of a webhook from GitHub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Heard")]
pub struct GithubHookOutcome {
    /// Effect
    pub status: GithubHookStatus,
}

/// Effect of a webhook from GitHub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GithubHookStatus {
    /// A pull request changed here too
    Changed,
    /// The state was known already
    Unchanged,
    /// It concerns no pull request of ours
    Ignored,
}
