//! Rows that cannot be decoded are errors that name them, and permit nothing.

use engine::Principal;
use engine::settings::{Role, Settings};
use serde_json::{Value, json};

use crate::support::World;

/// Changes a value behind the engine's back.
fn damage(world: &World, sql: &str) {
    let file = rusqlite::Connection::open(world.database()).unwrap();
    assert!(file.execute(sql, []).unwrap() > 0, "{sql}");
}

/// The usual roles, and `guard`.
fn with_guard(world: &World) -> Settings {
    let mut settings = (*world.engine.settings()).clone();
    let role = Role { name: "guard".into(), category: "worker".into(), ..Role::default() };
    settings.roles.insert("guard".into(), role);
    settings
}

#[tokio::test]
async fn a_session_whose_owner_or_opening_cannot_be_read_is_nobodys() {
    let world = World::new();
    let opening = json!({ "initialize_params": {} }).to_string();
    for id in ["sound", "unowned", "mute"] {
        let owner = Principal::Operator;
        world.engine.mcp_session_save(id, owner, opening.clone()).await.unwrap();
    }
    damage(&world, "UPDATE mcp_session SET principal = 'sp_' WHERE id = 'unowned'");
    damage(&world, "UPDATE mcp_session SET opening = '{' WHERE id = 'mute'");
    let unowned = world.engine.mcp_session_owner("unowned").unwrap_err();
    assert!(
        unowned.message.starts_with(
            "the record of MCP session `unowned` is damaged: its owner cannot be read"
        ),
        "{}",
        unowned.message
    );
    assert!(unowned.suggestions.contains(&"initialize a new session".to_owned()));
    let mute = world.engine.mcp_session_opening::<Value>("mute").unwrap_err();
    assert!(
        mute.message
            .starts_with("the record of MCP session `mute` is damaged: its opening cannot be read"),
        "{}",
        mute.message
    );
    assert_eq!(
        world.engine.mcp_session_opening::<Value>("sound").unwrap().unwrap().to_string(),
        opening
    );
    let ids: Vec<String> =
        world.engine.mcp_sessions().unwrap().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["mute", "sound"], "the others are known");
}

#[tokio::test]
async fn rights_that_cannot_be_read_permit_nothing_and_are_reported() {
    let world = World::new();
    let settings = with_guard(&world);
    assert_eq!(world.engine.adopt_settings(settings.clone()).await.unwrap(), Vec::<String>::new());
    let guard = world.enlist("guard").await;
    world.ok(guard, "mcp__mail__list_inbox", json!({})).await;
    damage(&world, "UPDATE rights SET body = '{\"policy\":'");
    let warnings = world.engine.adopt_settings(settings).await.unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("the record of rights 1 is damaged: its body cannot be read")
            && warnings[0].ends_with("agents that began under them may use no tool"),
        "{warnings:?}"
    );
    world.refused(guard, "mcp__mail__list_inbox", json!({}), "PERMISSION_DENIED").await;
    let new = world.enlist("guard").await;
    world.ok(new, "mcp__mail__list_inbox", json!({})).await;
}

#[tokio::test]
async fn a_last_good_role_that_cannot_be_read_is_reported() {
    let world = World::new();
    world.engine.adopt_settings(with_guard(&world)).await.unwrap();
    world.enlist("guard").await;
    damage(&world, "UPDATE role_snapshot SET body = '[]' WHERE name = 'guard'");
    let mut gone = (*world.engine.settings()).clone();
    gone.roles.remove("guard");
    let warnings = world.engine.adopt_settings(gone).await.unwrap();
    let named = "the record of role `guard` is damaged: its last good version cannot be read";
    assert!(warnings.iter().any(|warning| warning.starts_with(named)), "{warnings:?}");
}
