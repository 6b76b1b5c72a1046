//! The sections of the configuration and their defaults.

mod agents;
mod categories;
pub(crate) mod cluster;
mod loops;
mod plan;
mod retention;
mod review;
mod slack;
mod webhook;
mod worktrees;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use engine::HomeAddress;
use engine::settings::{Budget, ChildReserve, Limits, Price};
use model::money::Usd;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

pub(crate) use agents::{Agents, Kind, shared_environment};
pub(crate) use categories::{Categories, CategoryConfig, Pattern};
pub(crate) use cluster::{Cluster, SharedConfig};
pub(crate) use loops::Looping;
pub(crate) use plan::Plan;
pub(crate) use retention::Retention;
pub(crate) use review::{Check, Github, Office, Review, check_timeout};
pub(crate) use slack::{Routing, Slack};
pub(crate) use webhook::{Webhook, webhooks};
pub(crate) use worktrees::{Worktrees, locate_worktrees_path};

/// Where the server listens, and how long it stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Server {
    /// The address
    #[serde(deserialize_with = "address")]
    pub(crate) host: IpAddr,
    /// The port; 0 is any free one
    pub(crate) port: u16,
    /// Names beside loopback's under which clients may ask for it
    pub(crate) allowed_hosts: Vec<String>,
    /// Idle time in seconds after which a self-started server ends; 0 is never
    pub(crate) idle_seconds: u64,
    /// Maximum number of open connections; authenticated streams and waiting calls do not count
    #[serde(deserialize_with = "at_least_one")]
    pub(crate) max_connections: u32,
    /// Log level
    pub(crate) log_level: LogLevel,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 3001,
            allowed_hosts: Vec::new(),
            idle_seconds: 900,
            max_connections: 1024,
            log_level: LogLevel::Info,
        }
    }
}

/// A file, or the address of a PostgreSQL that keeps the home.
pub(super) fn database<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    if text.trim().is_empty() {
        return Err(D::Error::custom("must name a file, as `state.db`, or a PostgreSQL"));
    }
    if HomeAddress::is_meant_by(&text)
        && let Err(error) = HomeAddress::parse(&text)
    {
        return Err(D::Error::custom(error));
    }
    Ok(text)
}

fn address<'de, D: Deserializer<'de>>(from: D) -> Result<IpAddr, D::Error> {
    match String::deserialize(from)?.as_str() {
        "localhost" => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        other => other
            .parse()
            .map_err(|_| D::Error::custom(format!("`{other}` is not an address, as `127.0.0.1`"))),
    }
}

/// Log level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogLevel {
    /// Nothing
    Off,
    /// Error
    Error,
    /// Warnings
    #[serde(alias = "warning")]
    Warn,
    /// Information
    Info,
    /// Debugging
    Debug,
    /// Every step
    Trace,
}

impl LogLevel {
    /// The name, as a log filter takes it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// Model aliases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Models {
    /// Where neither the call nor the role nor the category names one
    pub(crate) default: String,
    /// By category
    pub(crate) overrides: BTreeMap<String, String>,
}

impl Default for Models {
    fn default() -> Self {
        Self { default: "sonnet".to_owned(), overrides: BTreeMap::new() }
    }
}

/// The tools' own settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Mcp {
    /// Stream timeout of Claude Code, in milliseconds
    #[serde(deserialize_with = "at_least_one")]
    pub(crate) stream_timeout: u64,
    /// Categories that may also use the tools that start agents
    pub(crate) full_access_categories: Vec<String>,
    /// Progress interval of waiting calls, in milliseconds
    #[serde(deserialize_with = "at_least_one")]
    pub(crate) progress_interval: u64,
    /// Timeout of a step of git, GitHub or tmux, in milliseconds
    #[serde(deserialize_with = "at_least_one")]
    pub(crate) tool_timeout: u64,
}

impl Default for Mcp {
    fn default() -> Self {
        Self {
            stream_timeout: 600_000,
            full_access_categories: vec!["conversational".to_owned()],
            progress_interval: 15_000,
            tool_timeout: Limits::default().tool_timeout_ms,
        }
    }
}

/// Numbers that bound things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct LimitsConfig {
    /// Maximum depth of the agent tree
    pub(crate) depth: u32,
    /// Maximum number of running agents
    #[serde(deserialize_with = "at_least_one")]
    pub(crate) running: u32,
    /// Maximum number of children per agent
    pub(crate) children: u32,
    /// Maximum prompt size
    #[serde(deserialize_with = "at_least_one")]
    pub(crate) max_prompt_bytes: u64,
    /// Maximum output kept per agent
    #[serde(deserialize_with = "at_least_one")]
    pub(crate) max_output_bytes: u64,
    /// Calls per minute and agent; 0 is no limit
    pub(crate) calls_per_minute: u32,
    /// Grace period of an agent after a request to end, in milliseconds
    pub(crate) grace: u64,
    /// Longest wait for a model's usage limit, in hours
    #[serde(deserialize_with = "limited_hours")]
    pub(crate) max_limited_hours: u32,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            depth: limits.depth,
            running: limits.running,
            children: limits.children,
            max_prompt_bytes: limits.max_prompt_bytes,
            max_output_bytes: limits.max_output_bytes,
            calls_per_minute: limits.calls_per_minute,
            grace: limits.grace_ms,
            max_limited_hours: limits.max_limited_hours,
        }
    }
}

fn limited_hours<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    review::within(from, 1..=8760)
}

/// Budgets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Budgets {
    /// By an agent that has no parent and no budget of its own
    #[serde(deserialize_with = "root_cap")]
    pub(crate) default: CapConfig,
    /// Reserved by an agent that has a parent and no cap of its own
    pub(crate) child: ChildConfig,
}

impl Default for Budgets {
    fn default() -> Self {
        Self { default: CapConfig::root(), child: ChildConfig::default() }
    }
}

/// Amount that a child without a cap reserves. `null` is a tenth of the nearest cap above it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ChildConfig {
    /// Dollars
    #[serde(deserialize_with = "money")]
    pub(crate) usd: Option<f64>,
    /// Tokens, in and out
    pub(crate) tokens: Option<u64>,
}

impl From<ChildConfig> for ChildReserve {
    fn from(ChildConfig { usd, tokens }: ChildConfig) -> Self {
        Self { usd, tokens }
    }
}

/// Caps. An absent one is no cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CapConfig {
    /// Dollars
    #[serde(deserialize_with = "money")]
    pub(crate) usd: Option<f64>,
    /// Tokens, in and out
    pub(crate) tokens: Option<u64>,
    /// Agents started
    pub(crate) agents: Option<u32>,
    /// Seconds of running
    pub(crate) seconds: Option<u64>,
}

impl CapConfig {
    const fn root() -> Self {
        Self { usd: Some(10.0), tokens: None, agents: None, seconds: Some(3600) }
    }
}

impl From<CapConfig> for Budget {
    fn from(CapConfig { usd, tokens, agents, seconds }: CapConfig) -> Self {
        Self { usd, tokens, agents, seconds }
    }
}

/// A key that is not written keeps its default; `null` takes the cap away.
fn root_cap<'de, D: Deserializer<'de>>(from: D) -> Result<CapConfig, D::Error> {
    #[derive(Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct RawBudget {
        #[serde(deserialize_with = "money")]
        usd: Option<f64>,
        tokens: Option<u64>,
        agents: Option<u32>,
        seconds: Option<u64>,
    }
    impl Default for RawBudget {
        fn default() -> Self {
            let CapConfig { usd, tokens, agents, seconds } = CapConfig::root();
            Self { usd, tokens, agents, seconds }
        }
    }
    let RawBudget { usd, tokens, agents, seconds } = RawBudget::deserialize(from)?;
    Ok(CapConfig { usd, tokens, agents, seconds })
}

fn money<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Option::<f64>::deserialize(from)?.map(dollars).transpose()
}

fn amount<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    dollars(f64::deserialize(from)?)
}

fn dollars<E: serde::de::Error>(usd: f64) -> Result<f64, E> {
    Usd::check_dollars(usd).map_err(E::custom)
}

/// A limit that would let nothing through if it were 0.
fn at_least_one<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + PartialEq + From<u8>,
{
    let number = T::deserialize(from)?;
    if number == T::from(0) {
        return Err(D::Error::custom("is 0, with which nothing could run; it must be at least 1"));
    }
    Ok(number)
}

/// Token prices, for models that do not report costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Prices {
    /// The day on which these were the prices
    pub(crate) as_of: String,
    /// By the beginning of the model's name; the longest that fits counts
    pub(crate) models: BTreeMap<String, PriceConfig>,
}

impl Default for Prices {
    fn default() -> Self {
        let flat = |input: f64, output: f64| PriceConfig {
            input,
            output,
            cache_read: None,
            cache_write: None,
        };
        let cached = |input, output, cache_read| PriceConfig {
            cache_read: Some(cache_read),
            ..flat(input, output)
        };
        let models = [
            ("claude-fable-5", flat(10.0, 50.0)),
            ("claude-fable-5-1", cached(10.0, 50.0, 0.25)),
            ("claude-fable-5-2", cached(8.0, 40.0, 0.2)),
            ("claude-haiku-4-5", flat(1.0, 5.0)),
            ("claude-haiku-5-5", flat(0.1, 0.5)),
            ("claude-mythos-5", flat(10.0, 50.0)),
            ("claude-mythos-5-1", cached(10.0, 50.0, 0.25)),
            ("claude-mythos-5-2", cached(8.0, 40.0, 0.2)),
            ("claude-opus-4", flat(15.0, 75.0)),
            ("claude-opus-4-1", flat(15.0, 75.0)),
            ("claude-opus-4-5", flat(5.0, 25.0)),
            ("claude-opus-4-6", flat(5.0, 25.0)),
            ("claude-opus-4-7", flat(5.0, 25.0)),
            ("claude-opus-4-8", flat(5.0, 25.0)),
            ("claude-opus-5", flat(5.0, 25.0)),
            ("claude-opus-5-5", cached(4.0, 20.0, 0.2)),
            ("claude-sonnet-4", flat(3.0, 15.0)),
            ("claude-sonnet-4-5", flat(3.0, 15.0)),
            ("claude-sonnet-4-6", flat(3.0, 15.0)),
            ("claude-sonnet-5", flat(2.0, 10.0)),
            ("claude-sonnet-5-5", cached(2.0, 10.0, 0.1)),
            ("gpt-5", flat(1.25, 10.0)),
            ("gpt-5-mini", flat(0.25, 2.0)),
        ];
        Self {
            as_of: "2026-11-18".to_owned(),
            models: models.map(|(name, price)| (name.to_owned(), price)).into(),
        }
    }
}

/// Price per million tokens, in dollars.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct PriceConfig {
    /// Read
    #[serde(deserialize_with = "amount")]
    pub(crate) input: f64,
    /// Written
    #[serde(deserialize_with = "amount")]
    pub(crate) output: f64,
    /// Read from a cache; a tenth of reading where absent
    #[serde(default, deserialize_with = "money", skip_serializing_if = "Option::is_none")]
    pub(crate) cache_read: Option<f64>,
    /// Written to a cache; a quarter more than reading where absent
    #[serde(default, deserialize_with = "money", skip_serializing_if = "Option::is_none")]
    pub(crate) cache_write: Option<f64>,
}

impl From<PriceConfig> for Price {
    fn from(price: PriceConfig) -> Self {
        Self {
            input: price.input,
            output: price.output,
            cache_read: price.cache_read.unwrap_or(price.input / 10.0),
            cache_write: price.cache_write.unwrap_or(price.input * 1.25),
        }
    }
}

/// Project context for agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Context {
    /// Files, in this order
    pub(crate) files: Vec<ContextFile>,
    /// Total byte limit
    pub(crate) size: u64,
}

impl Default for Context {
    fn default() -> Self {
        let file = |path: &str, lines, part| ContextFile { path: path.to_owned(), lines, part };
        Self {
            files: vec![
                file("CLAUDE.md", None, Part::Whole),
                file("AGENTS.md", None, Part::Whole),
                file("PRD.md", Some(80), Part::Whole),
                file("PLAN.md", None, Part::Unfinished),
                file("ARCHITECTURE.md", Some(60), Part::Whole),
            ],
            size: 64 << 10,
        }
    }
}

/// A file that an agent is told of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ContextFile {
    /// Where it is, relative to the project
    pub(crate) path: String,
    /// Only so many lines from its beginning
    #[serde(default)]
    pub(crate) lines: Option<u32>,
    /// Part
    #[serde(default)]
    pub(crate) part: Part,
}

/// Part of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Part {
    /// All of it
    #[default]
    Whole,
    /// The first part that is not marked as done
    Unfinished,
}
