//! Settings: the configuration, the roles, permissions, and checked changes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::settings::{Budget, Role, Sandbox, Settings, Worktree};
use engine::toolsets::TOOLSETS;
use engine::{OperatorAct, ToolError};
use model::policy::{Reach, Rules};
use serde_json::{Value, json};

use wire::server::ReloadReport;
use wire::settings::{
    CategoryReach, CategoryView, CheckedChange, EffectiveRole, FilesView, HomeFilesView,
    PushedFiles, RoleCaps, RoleSandbox, RoleView, RoleWorktree, SaveSettingsRequest, SavedSettings,
    SettingsChangeRequest, SettingsView, ToolView, ToolsetView,
};

use crate::answer::{Answer, Input};
use crate::app::{ReloadScope, reload_event};
use crate::files::{FileChange, Files};
use crate::shared::Shared;

/// As many keys are changed at once.
const MAX_CHANGES: usize = 200;

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

fn sum(role: &Role, settings: &Settings, tools: &[&'static str]) -> EffectiveRole {
    let of_category = settings.models.overrides.get(&role.category);
    let model = role.model.clone().or_else(|| of_category.cloned());
    let Budget { usd, tokens, agents, seconds } = role.budget;
    let is_fresh = settings.worktrees.fresh.contains(&role.category);
    EffectiveRole {
        display_name: role.display_name.clone(),
        description: role.description.clone(),
        category: role.category.clone(),
        kind: role.kind.clone().unwrap_or_else(|| settings.default_kind.clone()),
        model: model.or_else(|| settings.models.default.clone()),
        cwd: role.cwd.clone(),
        worktree: match role.worktree {
            Some(Worktree::Fresh) => RoleWorktree::Fresh,
            Some(Worktree::Parent) => RoleWorktree::Parent,
            None if is_fresh => RoleWorktree::Fresh,
            Some(Worktree::None) | None => RoleWorktree::None,
        },
        sandbox: match role.sandbox {
            Sandbox::None => RoleSandbox::None,
            Sandbox::Bwrap => RoleSandbox::Bwrap,
        },
        timeout: role.timeout,
        inactivity: role
            .inactivity
            .or_else(|| settings.policy.get(&role.category).map(|category| category.inactivity)),
        budget: RoleCaps { usd, tokens, agents, seconds },
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
) -> Vec<String> {
    let may = |tool: &&&'static str| settings.policy.permits(category, rules, tool);
    tools.iter().filter(may).map(|tool| (*tool).to_owned()).collect()
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
                Reach::Itself => CategoryReach::Itself,
                Reach::Descendants => CategoryReach::Descendants,
                Reach::All => CategoryReach::All,
            },
            may_draft: category.may_draft.clone(),
            inactivity: category.inactivity,
            allowed: permitted(settings, name, &Rules::default(), tools),
            denied: tools.iter().filter(denied).map(|tool| (*tool).to_owned()).collect(),
        })
    };
    policy.names().filter_map(view).collect()
}

fn toolsets(settings: &Settings) -> Vec<ToolsetView> {
    let tools = engine::tools_of(settings);
    let of = |name: &'static str| {
        let own = tools.iter().filter(|tool| tool.toolset() == name).map(|tool| ToolView {
            name: tool.name.to_owned(),
            short: engine::bare_of(tool.name).to_owned(),
            title: tool.described().title.clone(),
        });
        ToolsetView { name: name.to_owned(), tools: own.collect() }
    };
    TOOLSETS.iter().map(|name| of(name)).collect()
}

fn file_change(asked: SettingsChangeRequest) -> Result<FileChange, ToolError> {
    match (asked.changes, asked.role) {
        (Some(changes), None) if changes.len() > MAX_CHANGES => {
            Err(ToolError::invalid(format!("`changes` has more than {MAX_CHANGES} keys"))
                .detail("field", "changes"))
        }
        (Some(changes), None) => Ok(FileChange::Config(changes)),
        (None, Some(role)) => Ok(FileChange::Role(role)),
        (None, None) | (Some(_), Some(_)) => {
            Err(ToolError::invalid("pass either `changes` or `role`"))
        }
    }
}

pub(crate) async fn check(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<SettingsChangeRequest>,
) -> Answer<Json<CheckedChange>> {
    let change = file_change(asked)?;
    Ok(Json(with_files(&shared, move |files| files.check(&change)).await?))
}

pub(crate) async fn save(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<SaveSettingsRequest>,
) -> Answer<Json<SavedSettings>> {
    let SaveSettingsRequest { changes, role, was } = asked;
    let change = file_change(SettingsChangeRequest { changes, role })?;
    let (request, reload) = (change.clone(), Arc::clone(&shared.app.reload));
    let (saved, reloaded) = with_files(&shared, move |files| {
        let saved = files.save(&request, was.as_deref())?;
        if !saved.ok {
            return Err(refused(&saved));
        }
        let reloaded = reload(ReloadScope::All).map_err(|error| {
            let text = format!("it was saved, but is not in force: {}", error.message);
            ToolError::conflict(text).hint("fix the file, then run `adjutant reload`")
        })?;
        Ok((saved, reloaded))
    })
    .await?;
    record(&shared, &change, &saved, &reloaded).await?;
    let CheckedChange { diff, hash, notes, .. } = saved;
    Ok(Json(SavedSettings { diff, hash, notes, reloaded }))
}

/// Why nothing was saved.
fn refused(checked: &CheckedChange) -> ToolError {
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
    saved: &CheckedChange,
    reloaded: &ReloadReport,
) -> Result<(), ToolError> {
    let input = match change {
        FileChange::Config(changes) => {
            let keys: Vec<Value> = changes.iter().map(|change| json!(change.key)).collect();
            json!({ "keys": keys })
        }
        FileChange::Role(role) => json!({ "role": role.name }),
    };
    let output = json!({ "diff": model::redact::redact(saved.diff.clone()), "hash": saved.hash });
    let act = OperatorAct { tool: "operator__settings_save", input, output };
    shared.app.engine.record_act(act, reload_event(reloaded)).await
}

pub(crate) async fn home_files(State(shared): State<Arc<Shared>>) -> Answer<Json<HomeFilesView>> {
    Ok(Json(with_files(&shared, |files| files.home_files()).await?))
}

pub(crate) async fn push_home_files(
    State(shared): State<Arc<Shared>>,
    Input(pushed): Input<HomeFilesView>,
) -> Answer<Json<PushedFiles>> {
    let reload = Arc::clone(&shared.app.reload);
    let (changed, reloaded) = with_files(&shared, move |files| {
        let changed = files.replace_home_files(pushed)?;
        Ok((changed, reload(ReloadScope::All)?))
    })
    .await?;
    let act = OperatorAct {
        tool: "operator__home_push",
        input: json!({ "paths": changed }),
        output: json!({}),
    };
    shared.app.engine.record_act(act, reload_event(&reloaded)).await?;
    Ok(Json(PushedFiles { changed, reloaded }))
}

/// Does something with the files, on a thread on which one may wait for the disk.
async fn with_files<T: Send + 'static>(
    shared: &Shared,
    act: impl FnOnce(&dyn Files) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let files = Arc::clone(&shared.app.files);
    tokio::task::spawn_blocking(move || act(files.as_ref())).await.map_err(ToolError::internal)?
}
