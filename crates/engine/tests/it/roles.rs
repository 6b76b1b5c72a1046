//! Permissions never grow because a role cannot be read.

use engine::Caller;
use engine::settings::{Role, Settings};
use model::agent::AgentState;
use model::glob::Glob;
use model::policy::Rules;
use model::{AgentId, Policy};
use serde_json::json;
use store::NewAgent;

use crate::support::World;

fn globs(patterns: &[&str]) -> Vec<Glob> {
    patterns.iter().map(|pattern| Glob::try_from((*pattern).to_owned()).unwrap()).collect()
}

/// The usual roles, and `guard`, a worker that is denied some tools.
fn with_guard(world: &World, deny: &[&str]) -> Settings {
    let mut settings = (*world.engine.settings()).clone();
    let rules = Rules { allow: Vec::new(), deny: globs(deny) };
    let role = Role { name: "guard".into(), category: "worker".into(), rules, ..Role::default() };
    settings.roles.insert("guard".into(), role);
    settings.default_kind = "script".into();
    settings
}

fn without_guard(world: &World) -> Settings {
    let mut settings = (*world.engine.settings()).clone();
    settings.roles.remove("guard");
    settings.last_good_roles.clear();
    settings
}

/// Calls what a guard may, what it may not since the beginning, and what it may not since the last change.
async fn holds(world: &World, guard: AgentId) {
    world.ok(guard, "mcp__mail__list_inbox", json!({})).await;
    let letter = json!({ "toHuman": true, "subject": "Hi", "body": "Hi" });
    world.refused(guard, "mcp__mail__send", letter, "PERMISSION_DENIED").await;
    let tasks = json!({});
    world.refused(guard, "mcp__task__list", tasks, "PERMISSION_DENIED").await;
    let category = json!({ "title": "New" });
    world.refused(guard, "mcp__task__create", category, "PERMISSION_DENIED").await;
}

#[tokio::test]
async fn a_role_that_cannot_be_read_keeps_its_last_good_rules_also_after_a_restart() {
    let world = World::new();
    world.engine.adopt_settings(with_guard(&world, &["mcp__mail__send"])).await.unwrap();
    let lead = world.enlist("conversational").await;
    let enlisted = world.enlist("guard").await;
    let wish = json!({ "role": "guard", "prompt": "Stand there" });
    let drafted = world.ok(lead, "mcp__harness__draft_agent", wish.clone()).await;
    let drafted: AgentId = drafted["agentId"].as_str().unwrap().parse().unwrap();
    // The last good rules are those of the last reload, not those at the draft.
    let stricter = with_guard(&world, &["mcp__mail__send", "mcp__task__list"]);
    assert_eq!(world.engine.adopt_settings(stricter).await.unwrap(), Vec::<String>::new());
    let gone = without_guard(&world);
    let warnings = world.engine.adopt_settings(gone.clone()).await.unwrap();
    assert_eq!(warnings.len(), 2, "one of each kind: {warnings:?}");
    assert!(warnings.iter().all(|said| said.contains("`guard`") && said.contains("last good")));
    for guard in [enlisted, drafted] {
        holds(&world, guard).await;
    }
    // A second reload with the file still broken, and a restart, change nothing.
    world.engine.adopt_settings(gone.clone()).await.unwrap();
    let world = world.restarted(gone.clone()).await;
    let world = world.restarted(gone).await;
    for guard in [enlisted, drafted] {
        holds(&world, guard).await;
    }
    // Nobody new gets a role that is not there.
    world.refused(lead, "mcp__harness__draft_agent", wish, "RESOURCE_NOT_FOUND").await;
    // A mended role counts as it is read.
    world.engine.adopt_settings(with_guard(&world, &[])).await.unwrap();
    world.ok(enlisted, "mcp__task__list", json!({})).await;
}

#[tokio::test]
async fn a_role_without_live_agents_is_forgotten() {
    let world = World::new();
    world.engine.adopt_settings(with_guard(&world, &[])).await.unwrap();
    let guard = world.enlist("guard").await;
    let gone = without_guard(&world);
    world.engine.adopt_settings(gone.clone()).await.unwrap();
    world.discharge(guard).await;
    world.engine.adopt_settings(gone).await.unwrap();
    let kept = world.engine.store().read(|tx| tx.role_snapshots()).unwrap();
    assert!(kept.iter().all(|role| role.name != "guard"), "{kept:?}");
}

#[tokio::test]
async fn an_agent_whose_role_could_never_be_read_may_use_no_tool() {
    let world = World::new();
    let ghost = |bits: u64, role: &str, kind: &str| NewAgent {
        id: AgentId::from_bits(bits),
        role: role.into(),
        category: "supervisor".into(),
        kind: kind.into(),
        parent: None,
        depth: 0,
        task: None,
        epic: None,
        session: None,
        iteration: None,
        state: AgentState::Running,
        cwd: None,
        token_hash: None,
    };
    let agents = [ghost(901, "ghost", "enlisted"), ghost(902, "ghost", "script")];
    let bare = ghost(903, "claude", "claude");
    let now = world.engine.now();
    let (inserted, bare_too) = (agents.clone(), bare.clone());
    let insert = world.engine.store().write(move |tx| {
        inserted.iter().chain([&bare_too]).try_for_each(|new| tx.agent_insert(new, now))
    });
    insert.await.unwrap();
    let settings = (*world.engine.settings()).clone();
    let warnings = world.engine.adopt_settings(settings).await.unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings.iter().all(|said| said.contains("may use no tool")), "{warnings:?}");
    let settings = world.engine.settings();
    for new in &agents {
        let agent = world.engine.store().read(|tx| tx.agent_get(new.id)).unwrap();
        let caller = Caller { agent, by_operator: false };
        for tool in engine::tools_of(&settings) {
            assert!(!caller.may(&settings, tool.name), "{} and {}", new.role, tool.name);
        }
    }
    // An agent of a bare prompt has no role to be read.
    world.ok(bare.id, "mcp__mail__list_inbox", json!({})).await;
}

#[tokio::test]
async fn a_role_whose_category_is_gone_or_changed_gives_no_more_than_before() {
    let world = World::new();
    let mut settings = with_guard(&world, &["mcp__mail__send", "mcp__task__list"]);
    settings.policy.set("watch", Policy::base("supervisor"));
    settings.roles.get_mut("guard").unwrap().category = "watch".into();
    world.engine.adopt_settings(settings.clone()).await.unwrap();
    let guard = world.enlist("guard").await;
    world.ok(guard, "mcp__task__create", json!({ "title": "One" })).await;
    // The role becomes a worker's: whoever plays it is bound by that too.
    settings.roles.get_mut("guard").unwrap().category = "worker".into();
    world.engine.adopt_settings(settings).await.unwrap();
    holds(&world, guard).await;
    // The category is gone from the configuration, and so the role cannot be read: nothing is left.
    world
        .engine
        .adopt_settings(Settings { policy: Policy::default(), ..without_guard(&world) })
        .await
        .unwrap();
    world.refused(guard, "mcp__mail__list_inbox", json!({}), "PERMISSION_DENIED").await;
}
