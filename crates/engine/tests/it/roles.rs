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
    let request = json!({ "role": "guard", "prompt": "Stand there" });
    let drafted = world.ok(lead, "mcp__harness__draft_agent", request.clone()).await;
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
    world.refused(lead, "mcp__harness__draft_agent", request, "RESOURCE_NOT_FOUND").await;
    // A mended role counts as it is read, for those who come.
    world.engine.adopt_settings(with_guard(&world, &[])).await.unwrap();
    let new = world.enlist("guard").await;
    world.ok(new, "mcp__task__list", json!({})).await;
    holds(&world, enlisted).await;
}

#[tokio::test]
async fn the_rights_of_an_agent_that_is_there_only_shrink_also_after_a_restart() {
    let world = World::new();
    let mail = || json!({ "toHuman": true, "subject": "Hi", "body": "Hi" });
    world.engine.adopt_settings(with_guard(&world, &["mcp__mail__send"])).await.unwrap();
    let first = world.enlist("guard").await;
    // A role that allows more does so for new agents.
    world.engine.adopt_settings(with_guard(&world, &[])).await.unwrap();
    let second = world.enlist("guard").await;
    world.refused(first, "mcp__mail__send", mail(), "PERMISSION_DENIED").await;
    world.ok(second, "mcp__mail__send", mail()).await;
    // One that allows less does so for everybody, and what it took away does not come back.
    world.engine.adopt_settings(with_guard(&world, &["mcp__task__list"])).await.unwrap();
    let wide = with_guard(&world, &[]);
    world.engine.adopt_settings(wide.clone()).await.unwrap();
    let third = world.enlist("guard").await;
    let mut world = world;
    for _ in 0..2 {
        for agent in [first, second] {
            world.refused(agent, "mcp__task__list", json!({}), "PERMISSION_DENIED").await;
            world.ok(agent, "mcp__mail__list_inbox", json!({})).await;
        }
        world.refused(first, "mcp__mail__send", mail(), "PERMISSION_DENIED").await;
        world.ok(second, "mcp__mail__send", mail()).await;
        world.ok(third, "mcp__task__list", json!({})).await;
        world = world.restarted(wide.clone()).await;
    }
    // Rights that bind nobody any more are forgotten, and equal ones are kept once.
    let kept = |world: &World| world.store.read(|tx| tx.rights_snapshots()).unwrap().len();
    assert_eq!(kept(&world), 3);
    for agent in [first, second, third] {
        world.discharge(agent).await;
    }
    world.engine.adopt_settings(wide).await.unwrap();
    assert_eq!(kept(&world), 1);
}

#[tokio::test]
async fn a_category_that_reaches_further_does_so_for_new_agents() {
    let world = World::new();
    let mut narrow = (*world.engine.settings()).clone();
    narrow.default_kind = "script".into();
    world.engine.adopt_settings(narrow.clone()).await.unwrap();
    let old = world.enlist("conversational").await;
    let other = world.enlist("worker").await;
    let mut wide = narrow.clone();
    let mut category = Policy::base("conversational");
    category.reach = model::Reach::All;
    category.may_draft.push("supervisor".into());
    wide.policy.set("conversational", category);
    world.engine.adopt_settings(wide.clone()).await.unwrap();
    let new = world.enlist("conversational").await;
    let world = world.restarted(wide).await;
    let draft = json!({ "role": "supervisor", "prompt": "Lead" });
    let await_other = json!({ "agentId": other, "waitSeconds": 0 });
    world.refused(old, "mcp__harness__draft_agent", draft.clone(), "PERMISSION_DENIED").await;
    world.refused(old, "mcp__harness__await_agent", await_other.clone(), "PERMISSION_DENIED").await;
    world.ok(new, "mcp__harness__draft_agent", draft).await;
    world.ok(new, "mcp__harness__await_agent", await_other).await;
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
    let kept = world.store.read(|tx| tx.role_snapshots()).unwrap();
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
    let insert = world.store.write(move |tx| {
        inserted.iter().chain([&bare_too]).try_for_each(|new| tx.agent_insert(new, now))
    });
    insert.await.unwrap();
    let settings = (*world.engine.settings()).clone();
    let warnings = world.engine.adopt_settings(settings).await.unwrap();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings.iter().all(|said| said.contains("may use no tool")), "{warnings:?}");
    let settings = world.engine.settings();
    for new in &agents {
        let agent = world.store.read(|tx| tx.agent_get(new.id)).unwrap();
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
    // The role becomes a worker's: an agent that plays it is bound by that too.
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
