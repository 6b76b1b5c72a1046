//! The configuration: typed, with a default for every key. Flags win over the environment, the
//! environment over the file, the file over the defaults.

pub(crate) mod changes;
pub(crate) mod describe;
pub(crate) mod edit;
pub(crate) mod file;
pub(crate) mod key;
pub(crate) mod overlay;
mod permissions;
mod sections;

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::HomeAddressError;
use engine::settings::{CheckSettings, Limits, Role, Settings, Template};
use model::Policy;
use serde::{Deserialize, Serialize};

pub(crate) use permissions::PolicyError;
#[cfg(test)]
pub(crate) use sections::Check as CheckCommand;
pub(crate) use sections::cluster::name_problem;
use sections::{
    Agents, Budgets, Categories, Check, Cluster, Context, ContextFile, Github, LimitsConfig,
    Looping, Mcp, Models, Office, Part, Plan, Prices, Retention, Review, Routing, Server, Slack,
    Worktrees,
};
pub(crate) use sections::{CapConfig, Kind, Pattern, SharedConfig, Webhook};

use crate::environment::Environment;
use crate::home::Home;
use crate::home::worktrees::WorktreesPathError;
use crate::yaml::{self, Problem};

/// Everything that can be set. `init/config.yaml` explains every key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Config {
    /// Where the server listens, and how long it stays
    pub(crate) server: Server,
    /// The database, a path relative to the state folder, or the PostgreSQL that keeps the home
    #[serde(deserialize_with = "sections::database")]
    pub(crate) database: String,
    /// A home in PostgreSQL that several servers share
    pub(crate) cluster: Cluster,
    /// Model aliases
    pub(crate) models: Models,
    /// Settings of each kind of agent
    pub(crate) agents: Agents,
    /// Permissions by category
    pub(crate) categories: Categories,
    /// The tools' own settings
    pub(crate) mcp: Mcp,
    /// Numbers that bound things
    pub(crate) limits: LimitsConfig,
    /// Budgets
    pub(crate) budget: Budgets,
    /// Price per million tokens, by model
    pub(crate) prices: Prices,
    /// Project context for agents
    pub(crate) context: Context,
    /// The review loop
    pub(crate) review: Review,
    /// Worktree settings
    pub(crate) worktrees: Worktrees,
    /// The office
    pub(crate) office: Office,
    /// Loops
    #[serde(rename = "loop")]
    pub(crate) looping: Looping,
    /// Plans
    pub(crate) plan: Plan,
    /// Routing of messages to roles
    pub(crate) routing: Routing,
    /// Slack
    pub(crate) slack: Slack,
    /// GitHub
    pub(crate) github: Github,
    /// Webhook endpoints
    #[serde(deserialize_with = "sections::webhooks")]
    pub(crate) webhooks: Vec<Webhook>,
    /// Ages at which old data is removed
    pub(crate) retention: Retention,
    /// True if mirror files are written
    pub(crate) mirror: bool,
    /// The command that a branch must pass before it is merged
    pub(crate) check: Option<Check>,
    /// Time limit in seconds
    #[serde(deserialize_with = "sections::check_timeout")]
    pub(crate) check_timeout: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            server: Server::default(),
            database: "state.db".to_owned(),
            cluster: Cluster::default(),
            models: Models::default(),
            agents: Agents::default(),
            categories: Categories::default(),
            mcp: Mcp::default(),
            limits: LimitsConfig::default(),
            budget: Budgets::default(),
            prices: Prices::default(),
            context: Context::default(),
            review: Review::default(),
            worktrees: Worktrees::default(),
            office: Office::default(),
            looping: Looping::default(),
            plan: Plan::default(),
            routing: Routing::default(),
            slack: Slack::default(),
            github: Github::default(),
            webhooks: Vec::new(),
            retention: Retention::default(),
            mirror: true,
            check: None,
            check_timeout: CheckSettings::TIMEOUT_S,
        }
    }
}

/// Inputs of the engine beside the configuration.
#[derive(Debug)]
pub(crate) struct SettingsInput<'a> {
    /// The home
    pub(crate) home: &'a Home,
    /// Our own environment, of which agents get a part
    pub(crate) env: &'a Environment,
    /// The roles
    pub(crate) roles: BTreeMap<String, Role>,
    /// The prepared prompts
    pub(crate) templates: BTreeMap<String, Template>,
}

/// A configuration in force, and what was odd about it.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    /// The configuration
    pub(crate) config: Config,
    /// Warnings: variables that set nothing
    pub(crate) warnings: Vec<String>,
}

/// A value given on the command line: the key's path, as `server.port`, and the value as text.
pub(crate) type Flag<'a> = (&'a str, String);

impl Config {
    /// Reads a home's configuration with what the environment and the flags say on top.
    pub(crate) fn load(
        home: &Home,
        env: &Environment,
        flags: &[Flag<'_>],
    ) -> Result<Loaded, Box<Problem>> {
        let path = home.config();
        let name = home.original(&path).display().to_string();
        let text = host::files::read(&path)
            .map_err(|error| Problem::of(&name, format!("cannot be read: {}", error.source)))?
            .unwrap_or_default();
        let config = Self::parse(&name, &text)?;
        let (config, warnings) = overlay::apply(&config, env, flags)?;
        config.policy().map_err(|error| {
            let variable = config.decider(env, &error.key());
            let said_by = variable.as_deref().unwrap_or("the environment");
            Problem::of(said_by, error.to_string()).with_help(error.known(&config.categories))
        })?;
        if config.worktrees.path.is_some() {
            config.worktrees_folder(home, env).map_err(|error| {
                let help = Some(error.help().to_owned());
                let problem = match config.decider(env, "worktrees.path") {
                    Some(variable) => Problem::of(&variable, error.to_string()),
                    None => sections::locate_worktrees_path(&name, &text, &error),
                };
                problem.with_help(help)
            })?;
        }
        Ok(Loaded { config, warnings })
    }

    /// Reads a configuration from its text alone.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, Box<Problem>> {
        let config: Self =
            if says_nothing(text) { Self::default() } else { yaml::parse(name, text, text)? };
        match config.policy() {
            Ok(_) => Ok(config),
            Err(error) => {
                Err(permissions::locate(name, text, &error)
                    .with_help(error.known(&config.categories)))
            }
        }
    }

    /// Converts to the engine's settings.
    pub(crate) fn settings(&self, told: SettingsInput<'_>) -> Result<Settings, PolicyError> {
        let LimitsConfig { depth, running, children, .. } = self.limits;
        let limits = Limits {
            depth,
            running,
            children,
            max_prompt_bytes: self.limits.max_prompt_bytes,
            max_output_bytes: self.limits.max_output_bytes,
            calls_per_minute: self.limits.calls_per_minute,
            tool_timeout_ms: self.mcp.tool_timeout,
            grace_ms: self.limits.grace,
            max_limited_hours: self.limits.max_limited_hours,
        };
        let runners = Kind::all().map(|kind| {
            (
                kind.name().to_owned(),
                self.agents.runner(kind).settings(told.env, &self.agents.environment),
            )
        });
        let file = |file: &ContextFile| engine::settings::ContextFile {
            path: file.path.clone(),
            lines: file.lines,
            unfinished: file.part == Part::Unfinished,
        };
        Ok(Settings {
            project: told.home.root.clone(),
            policy: self.policy()?,
            roles: told.roles,
            end_reactions: engine::settings::EndReactions::default(),
            // From the record, which the engine reads.
            last_good_roles: BTreeMap::new(),
            earlier_rights: Vec::new(),
            limits,
            models: engine::settings::Models {
                default: Some(self.models.default.clone()).filter(|model| !model.is_empty()),
                overrides: self.models.overrides.clone(),
            },
            default_kind: self.agents.default.name().to_owned(),
            runners: runners.collect(),
            // A file of the project, which others read.
            project_servers: Vec::new(),
            environment: sections::shared_environment(&self.agents.environment, told.env),
            asks: self.agents.asks.into(),
            root_budget: self.budget.default.into(),
            child_reserve: self.budget.child.into(),
            prices: self
                .prices
                .models
                .iter()
                .map(|(name, price)| (name.clone(), (*price).into()))
                .collect(),
            context: engine::settings::ContextSettings {
                files: self.context.files.iter().map(file).collect(),
                size: self.context.size,
            },
            stream_timeout_ms: self.mcp.stream_timeout,
            templates: told.templates,
            review: (&self.review).into(),
            // A file of the home, which others read.
            review_template: None,
            worktrees: self.worktrees.settings(self.worktrees_folder(told.home, told.env).ok()),
            github: (&self.github).into(),
            office: (&self.office).into(),
            loops: (&self.looping).into(),
            plan: (&self.plan).into(),
            check: self.check.as_ref().map(|check| check.settings(self.check_timeout)),
            webhooks: self.webhooks.iter().map(|hook| hook.settings(told.env)).collect(),
            slack: (&self.slack).into(),
            routing: (&self.routing).into(),
            retention: (&self.retention).into(),
        })
    }

    /// Permissions by category.
    pub(crate) fn policy(&self) -> Result<Policy, PolicyError> {
        let policy = permissions::policy(&self.categories, &self.mcp.full_access_categories)?;
        permissions::known(&self.worktrees.fresh, "worktrees.fresh", &self.categories)?;
        Ok(policy)
    }

    /// The folder of a home's worktrees.
    pub(crate) fn worktrees_folder(
        &self,
        home: &Home,
        env: &Environment,
    ) -> Result<PathBuf, WorktreesPathError> {
        home.worktrees(self.worktrees.path.as_deref(), env)
    }

    /// Where the database is. A server of a home in PostgreSQL has its own file with the same state.
    pub(crate) fn database_path(&self, home: &Home) -> PathBuf {
        if engine::HomeAddress::is_meant_by(&self.database) {
            return engine::member_database(home.state_dir());
        }
        home.database(&self.database)
    }

    /// The home in PostgreSQL that this configuration names, if it names one.
    pub(crate) fn shared(
        &self,
        home: &Home,
        env: &Environment,
    ) -> Result<Option<SharedConfig>, HomeAddressError> {
        self.cluster.shared(&self.database, &home.root, env)
    }

    /// The variable that decides a key, or a part of it, whatever the file says.
    pub(crate) fn decider(&self, env: &Environment, key: &str) -> Option<String> {
        overlay::decider(self, env, key)
    }

    /// Every key that can be set, as `limits.depth`, with its value now.
    pub(crate) fn leaves(&self) -> Vec<(String, serde_json::Value)> {
        overlay::leaves(self)
    }
}

/// Takes secrets out of values that are to be shown.
pub(crate) fn hide(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    serde_json::Value::String(text) if key == "secret" => "…".clone_into(text),
                    other => hide(other),
                }
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(hide),
        _ => {}
    }
}

/// True if a file has only comments.
fn says_nothing(text: &str) -> bool {
    text.lines().all(|line| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#') || line == "---"
    })
}

#[cfg(test)]
mod price_tests;
#[cfg(test)]
mod tests;
