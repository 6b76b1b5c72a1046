//! Settings: what the configuration and the roles say, who may do what, and changes with a check before them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::settings::{Budget, Role, Sandbox, Settings, Worktree};
use engine::store::EventDraft;
use engine::toolsets::TOOLSETS;
use engine::{ToolError, WebhookView};
use model::policy::{Reach, Rules};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::answer::{Answer, Input};
use crate::app::ReloadReport;
use crate::files::{
    Checked, ConfigView, FileChange, Files, FilesView, KeyChange, RoleChange, RoleFile,
};
use crate::server::Shared;

/// As many keys are changed at once.
const MOST_CHANGES: usize = 200;

/// The settings.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SettingsView {
    /// The configuration
    config: ConfigView,
    /// The roles
    roles: Vec<RoleView>,
    /// Permissions by category
    categories: Vec<CategoryView>,
    /// Every tool, by toolset
    toolsets: Vec<ToolsetView>,
    /// Webhook endpoints
    webhooks: Vec<WebhookView>,
}

/// A role: its file, and what it comes to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoleView {
    #[serde(flatten)]
    file: RoleFile,
    /// Effective settings; null if its file is not used
    comes_to: Option<RoleSum>,
}

/// Effective settings of a role, with defaults.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoleSum {
    /// Its name for people
    display_name: Option<String>,
    /// Purpose
    description: Option<String>,
    /// Its category
    category: String,
    /// The kind of agent that plays it
    kind: String,
    /// The model
    model: Option<String>,
    /// Where it works, from the project's root
    cwd: Option<String>,
    /// Worktree: `none`, `fresh` or `parent`
    worktree: &'static str,
    /// Sandbox: `none` or `bwrap`
    sandbox: &'static str,
    /// Time limit in seconds
    timeout: Option<u32>,
    /// Allowed silence in seconds
    inactivity: Option<u32>,
    /// Budget
    budget: CapsView,
    /// The agent's own tools that it may use; null is all
    own_tools: Option<Vec<String>>,
    /// Those that it may not
    own_tools_denied: Vec<String>,
    /// The tools of ours that it may use, by their canonical names
    tools: Vec<&'static str>,
}

/// Caps on spending. Null is unlimited.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CapsView {
    /// Dollars
    usd: Option<f64>,
    /// Tokens, in and out
    tokens: Option<u64>,
    /// Agents started
    agents: Option<u32>,
    /// Seconds of running
    seconds: Option<u64>,
}

/// Permissions of a category.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CategoryView {
    /// Its name
    name: String,
    /// The patterns that allow
    allow: Vec<String>,
    /// The patterns that deny, whatever allows
    deny: Vec<String>,
    /// Agents it may await, kill and read: `self`, `descendants` or `all`
    reach: &'static str,
    /// Categories it may draft
    may_draft: Vec<String>,
    /// Allowed silence in seconds
    inactivity: u32,
    /// The tools that it may use, by their canonical names
    allowed: Vec<&'static str>,
    /// The tools that a pattern denies it
    denied: Vec<&'static str>,
}

/// A toolset.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolsetView {
    /// Its name
    name: &'static str,
    /// Its tools
    tools: Vec<ToolView>,
}

/// A tool.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolView {
    /// Its canonical name
    name: &'static str,
    /// Its name in its toolset
    short: &'static str,
    /// Purpose, one line
    title: &'static str,
}

pub(crate) async fn show(State(shared): State<Arc<Shared>>) -> Answer<Json<SettingsView>> {
    let FilesView { config, roles } = with_files(&shared, |files| files.read()).await?;
    let engine = &shared.app.engine;
    let settings = engine.settings();
    let tools: Vec<&'static str> =
        engine::tools_of(&settings).into_iter().map(|tool| tool.name).collect();
    let roles = roles.into_iter().map(|file| {
        let used = file.problems.is_empty();
        let role = settings.roles.get(&file.name).filter(|_| used);
        RoleView { comes_to: role.map(|role| sum(role, &settings, &tools)), file }
    });
    Ok(Json(SettingsView {
        config,
        roles: roles.collect(),
        categories: categories(&settings, &tools),
        toolsets: toolsets(&settings),
        webhooks: engine.webhooks().await?,
    }))
}

fn sum(role: &Role, settings: &Settings, tools: &[&'static str]) -> RoleSum {
    let of_category = settings.models.overrides.get(&role.category);
    let model = role.model.clone().or_else(|| of_category.cloned());
    let Budget { usd, tokens, agents, seconds } = role.budget;
    let is_fresh = settings.worktrees.fresh.contains(&role.category);
    RoleSum {
        display_name: role.display_name.clone(),
        description: role.description.clone(),
        category: role.category.clone(),
        kind: role.kind.clone().unwrap_or_else(|| settings.default_kind.clone()),
        model: model.or_else(|| settings.models.default.clone()),
        cwd: role.cwd.clone(),
        worktree: match role.worktree {
            Some(Worktree::Fresh) => "fresh",
            Some(Worktree::Parent) => "parent",
            None if is_fresh => "fresh",
            Some(Worktree::None) | None => "none",
        },
        sandbox: match role.sandbox {
            Sandbox::None => "none",
            Sandbox::Bwrap => "bwrap",
        },
        timeout: role.timeout,
        inactivity: role
            .inactivity
            .or_else(|| settings.policy.get(&role.category).map(|category| category.inactivity)),
        budget: CapsView { usd, tokens, agents, seconds },
        own_tools: role.tools.clone(),
        own_tools_denied: role.disallowed_tools.clone(),
        tools: permitted(settings, &role.category, &role.rules, tools),
    }
}

fn permitted(
    settings: &Settings,
    category: &str,
    rules: &Rules,
    tools: &[&'static str],
) -> Vec<&'static str> {
    let may = |tool: &&&'static str| settings.policy.permits(category, rules, tool);
    tools.iter().filter(may).copied().collect()
}

fn categories(settings: &Settings, tools: &[&'static str]) -> Vec<CategoryView> {
    let policy = &settings.policy;
    let view = |name: &str| {
        let category = policy.get(name)?;
        let Rules { allow, deny } = &category.rules;
        let denied = |tool: &&&'static str| deny.iter().any(|glob| glob.matches(tool));
        Some(CategoryView {
            name: name.to_owned(),
            allow: allow.iter().map(ToString::to_string).collect(),
            deny: deny.iter().map(ToString::to_string).collect(),
            reach: match category.reach {
                Reach::Itself => "self",
                Reach::Descendants => "descendants",
                Reach::All => "all",
            },
            may_draft: category.may_draft.clone(),
            inactivity: category.inactivity,
            allowed: permitted(settings, name, &Rules::default(), tools),
            denied: tools.iter().filter(denied).copied().collect(),
        })
    };
    policy.names().filter_map(view).collect()
}

fn toolsets(settings: &Settings) -> Vec<ToolsetView> {
    let tools = engine::tools_of(settings);
    let of = |name: &'static str| {
        let own = tools.iter().filter(|tool| tool.toolset() == name).map(|tool| ToolView {
            name: tool.name,
            short: engine::bare_of(tool.name),
            title: &tool.described().title,
        });
        ToolsetView { name, tools: own.collect() }
    };
    TOOLSETS.iter().map(|name| of(name)).collect()
}

/// Requested change: either `changes` or `role`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Change {
    /// Keys of the configuration
    changes: Option<Vec<KeyChange>>,
    /// A role's whole text
    role: Option<RoleChange>,
}

impl Change {
    fn read(self) -> Result<FileChange, ToolError> {
        match (self.changes, self.role) {
            (Some(changes), None) if changes.len() > MOST_CHANGES => {
                Err(ToolError::invalid(format!("`changes` has more than {MOST_CHANGES} keys"))
                    .detail("field", "changes"))
            }
            (Some(changes), None) => Ok(FileChange::Config(changes)),
            (None, Some(role)) => Ok(FileChange::Role(role)),
            (None, None) | (Some(_), Some(_)) => {
                Err(ToolError::invalid("give either `changes` or `role`"))
            }
        }
    }
}

pub(crate) async fn check(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<Change>,
) -> Answer<Json<Checked>> {
    let change = asked.read()?;
    Ok(Json(with_files(&shared, move |files| files.check(&change)).await?))
}

/// Requested change, with the hash of the file it is based on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Save {
    /// Keys of the configuration
    changes: Option<Vec<KeyChange>>,
    /// A role's whole text
    role: Option<RoleChange>,
    /// The file's hash as it was read; absent for a role that has no file yet
    was: Option<String>,
}

/// Outcome of saving.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Saved {
    /// Change of the file, as a patch
    diff: String,
    /// New hash of the file
    hash: Option<String>,
    /// Notes
    notes: Vec<String>,
    /// Outcome of the reload
    reloaded: ReloadReport,
}

pub(crate) async fn save(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<Save>,
) -> Answer<Json<Saved>> {
    let Save { changes, role, was } = asked;
    let change = Change { changes, role }.read()?;
    let (wish, reload) = (change.clone(), Arc::clone(&shared.app.reload));
    let (saved, reloaded) = with_files(&shared, move |files| {
        let saved = files.save(&wish, was.as_deref())?;
        if !saved.ok {
            return Err(refused(&saved));
        }
        let reloaded = reload().map_err(|error| {
            let said = format!("it is saved and not in force: {}", error.message);
            ToolError::conflict(said).hint("mend the file, then `adjutant reload`")
        })?;
        Ok((saved, reloaded))
    })
    .await?;
    record(&shared, &change, &saved, &reloaded).await?;
    let Checked { diff, hash, notes, .. } = saved;
    Ok(Json(Saved { diff, hash, notes, reloaded }))
}

/// Why nothing was saved.
fn refused(checked: &Checked) -> ToolError {
    let first = checked.problems.first();
    let message = first.map_or("this cannot be saved", |problem| problem.message.as_str());
    let mut error = ToolError::invalid(message).detail("problems", json!(checked.problems));
    if let Some(hint) = first.and_then(|problem| problem.hint.clone()) {
        error = error.hint(hint);
    }
    error.hint("nothing was written")
}

/// Writes down that the operator has changed the settings, without secrets.
async fn record(
    shared: &Shared,
    change: &FileChange,
    saved: &Checked,
    reloaded: &ReloadReport,
) -> Result<(), ToolError> {
    let input = match change {
        FileChange::Config(changes) => {
            let keys: Vec<Value> = changes.iter().map(|change| json!(change.key)).collect();
            json!({ "keys": keys })
        }
        FileChange::Role(role) => json!({ "role": role.name }),
    };
    let output = json!({ "diff": engine::redact(saved.diff.clone()), "hash": saved.hash });
    let engine = &shared.app.engine;
    let now = engine.now();
    let event = EventDraft { agent: None, task: None, data: reloaded.event() };
    let row = engine.operator_act("operator__settings_save", &input, &output);
    let told = engine.store().write(move |tx| {
        tx.event_append(now, &event)?;
        tx.audit_append(&row)?;
        Ok::<_, ToolError>(())
    });
    told.await
}

/// Does something with the files, on a thread on which one may wait for the disk.
async fn with_files<T: Send + 'static>(
    shared: &Shared,
    act: impl FnOnce(&dyn Files) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let files = Arc::clone(&shared.app.files);
    tokio::task::spawn_blocking(move || act(files.as_ref())).await.map_err(ToolError::internal)?
}
