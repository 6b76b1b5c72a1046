//! Files that one agent edits and others leave alone, for a while.

use model::AgentId;
use model::event::EventKind;
use serde_json::{Value, json};

use crate::support::{Who, World};

const RESERVE: &str = "mcp__files__reserve";
const RELEASE: &str = "mcp__files__release";
const LIST: &str = "mcp__files__list_reservations";

async fn reserve(world: &World, who: AgentId, paths: &[&str]) -> Vec<Value> {
    let answer = world.ok(who, RESERVE, json!({ "paths": paths })).await;
    assert_eq!(answer["conflicts"], json!([]));
    answer["reservations"].as_array().unwrap().clone()
}

/// Who holds what now, as patterns.
async fn held(world: &World, filter: Value) -> Vec<String> {
    let answer = world.ok(Who::Operator, LIST, filter).await;
    let all = answer["reservations"].as_array().unwrap().iter();
    all.map(|one| one["pattern"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_another_holds_is_refused_whole_with_who_and_until_when() {
    let world = World::new();
    let (ada, bob) = (world.enlist("worker").await, world.enlist("coding").await);
    let input = json!({ "paths": ["src/**/*.rs"], "seconds": 600, "reason": "the parser" });
    let mine = world.ok(ada, RESERVE, input).await;
    let one = &mine["reservations"][0];
    assert_eq!((&one["pattern"], &one["agentId"]), (&json!("src/**/*.rs"), &json!(ada)));
    assert_eq!((&one["reason"], &one["role"]), (&json!("the parser"), &json!("worker")));
    let until = world.engine.now().after_seconds(600);
    assert_eq!(one["expiresAt"], json!(until));

    let input = json!({ "paths": ["docs/**", "src/lib.*"] });
    let refusal = world.refused(bob, RESERVE, input, "CONFLICT").await;
    assert_eq!(
        refusal.message(),
        format!(
            "`src/lib.*` overlaps `src/**/*.rs`, which agent `{ada}` (worker) holds until {until}; \
             nothing was reserved"
        )
    );
    let conflict = json!({
        "pattern": "src/lib.*", "heldBy": ada, "role": "worker", "heldPattern": "src/**/*.rs",
        "expiresAt": until, "reason": "the parser",
    });
    assert_eq!(refusal.body["details"]["conflicts"], json!([conflict]));
    let advice = refusal.body["suggestions"].to_string();
    for word in ["only the files that you need", "mcp__mail__send", &ada.to_string(), "wait"] {
        assert!(advice.contains(word), "{word}: {advice}");
    }
    assert_eq!(held(&world, json!({})).await, ["src/**/*.rs"], "all or nothing");
    assert_eq!(reserve(&world, bob, &["docs/**", "src/*.toml"]).await.len(), 2);
    assert_eq!(reserve(&world, ada, &["src/lib.rs"]).await.len(), 1, "one's own do not collide");
    assert_eq!(world.told(EventKind::FilesReserved).len(), 3);
}

#[tokio::test]
async fn reserving_again_renews_and_time_ends_it() {
    let world = World::new();
    let (ada, bob) = (world.enlist("worker").await, world.enlist("worker").await);
    let first = reserve(&world, ada, &["src/", "./a", "a"]).await;
    assert_eq!(first.len(), 2, "the same twice is one");
    assert_eq!((&first[0]["pattern"], &first[1]["pattern"]), (&json!("src/**"), &json!("a")));
    world.clock.advance_seconds(3000);
    let again = reserve(&world, ada, &["src/**"]).await;
    assert_eq!(again[0]["id"], first[0]["id"]);
    assert_ne!(again[0]["expiresAt"], first[0]["expiresAt"]);
    world.clock.advance_seconds(599);
    world.refused(bob, RESERVE, json!({ "paths": ["a"] }), "CONFLICT").await;
    world.clock.advance_seconds(1);
    assert_eq!(held(&world, json!({})).await, ["src/**"], "an hour is over for one");
    reserve(&world, bob, &["a"]).await;
    world.refused(bob, RESERVE, json!({ "paths": ["src/x"] }), "CONFLICT").await;
    world.clock.advance_seconds(3600);
    let late = reserve(&world, bob, &["src/x"]).await;
    assert_eq!(held(&world, json!({})).await, ["src/x"]);
    // What has run out is not renewed but made anew.
    world.clock.advance_seconds(3600);
    assert_ne!(reserve(&world, bob, &["src/x"]).await[0]["id"], late[0]["id"]);
}

#[tokio::test]
async fn only_what_is_ones_own_is_released() {
    let world = World::new();
    let (ada, bob) = (world.enlist("worker").await, world.enlist("worker").await);
    let first = reserve(&world, ada, &["a", "b", "c", "d"]).await;
    let theirs = reserve(&world, bob, &["x"]).await;
    let foreign = json!({ "ids": [first[0]["id"], theirs[0]["id"]] });
    let refusal = world.refused(ada, RELEASE, foreign, "PERMISSION_DENIED").await;
    assert!(refusal.message().contains(&bob.to_string()), "{}", refusal.body);
    assert_eq!(held(&world, json!({ "agentId": ada })).await, ["a", "b", "c", "d"], "whole");
    let unknown = json!({ "ids": ["res_0000000000000000"] });
    world.refused(ada, RELEASE, unknown, "RESOURCE_NOT_FOUND").await;

    let some = json!({ "ids": [first[0]["id"]], "paths": ["b", "a", "x", "never"] });
    assert_eq!(world.ok(ada, RELEASE, some).await, json!({ "released": 2 }));
    assert_eq!(held(&world, json!({})).await, ["c", "d", "x"], "another's pattern stays");
    assert_eq!(world.ok(ada, RELEASE, json!({})).await, json!({ "released": 2 }));
    assert_eq!(world.ok(ada, RELEASE, json!({})).await, json!({ "released": 0 }));
    let told = world.told(EventKind::FilesReleased);
    assert_eq!(told.len(), 2, "nothing is told of nothing");
    assert_eq!(told[1].data["reservations"][1]["pattern"], "d");
}

#[tokio::test]
async fn the_operator_reserves_nothing_and_releases_anything() {
    let world = World::new();
    let ada = world.enlist("worker").await;
    let paths = json!({ "paths": ["a"] });
    world.refused(Who::Operator, RESERVE, paths.clone(), "INVALID_AGENT_STATE").await;
    world.ok(Who::As(ada), RESERVE, paths.clone()).await;
    let id = reserve(&world, ada, &["b"]).await[0]["id"].clone();
    world.refused(Who::Operator, RELEASE, json!({}), "INVALID_INPUT").await;
    let released = world.ok(Who::Operator, RELEASE, json!({ "ids": [id] })).await;
    assert_eq!(released, json!({ "released": 1 }));
    assert_eq!(world.ok(Who::Operator, RELEASE, paths).await, json!({ "released": 1 }));
    assert_eq!(held(&world, json!({})).await, [""; 0]);
}

#[tokio::test]
async fn a_child_is_another_agent_and_the_end_of_an_agent_frees_its_files() {
    let world = World::new();
    let parent = world.enlist("supervisor").await;
    let child = world.enlist_under("worker", parent).await;
    reserve(&world, parent, &["src", "docs"]).await;
    let input = json!({ "paths": ["src/a.rs"] });
    world.refused(child, RESERVE, input.clone(), "CONFLICT").await;
    world.discharge(parent).await;
    world.ok(child, RESERVE, input).await;
    let told = world.told(EventKind::FilesReleased);
    let data = &told[0].data["reservations"];
    assert_eq!((told[0].agent, data.as_array().unwrap().len()), (Some(parent), 2));
    world.discharge(child).await;
    assert_eq!(held(&world, json!({})).await, [""; 0]);
}

#[tokio::test]
async fn the_end_of_an_agent_frees_its_files_after_a_reload_too() {
    let world = World::new();
    let ada = world.enlist("worker").await;
    reserve(&world, ada, &["src"]).await;
    // Settings that were read from files know of no reactions.
    let mut read = (*world.engine.settings()).clone();
    read.end_reactions = engine::settings::EndReactions::default();
    world.engine.set_settings(read);
    world.discharge(ada).await;
    assert_eq!(held(&world, json!({})).await, [""; 0]);
}

#[tokio::test]
async fn a_list_says_who_holds_a_file_and_comes_in_pages() {
    let world = World::new();
    let (ada, bob) = (world.enlist("worker").await, world.enlist("worker").await);
    reserve(&world, ada, &["src/**/*.rs", "app/[id]", "docs"]).await;
    reserve(&world, bob, &["src/*.toml"]).await;
    let by = |path: &str| held(&world, json!({ "path": path }));
    assert_eq!(by("src/a/lib.rs").await, ["src/**/*.rs"]);
    assert_eq!(by("src/Cargo.toml").await, ["src/*.toml"]);
    assert_eq!(by("docs/deep/down.md").await, ["docs"]);
    assert_eq!(by("app/[id]").await, ["app/[id]"]);
    assert_eq!(by("src/*.rs").await, ["src/**/*.rs"], "it is a name here, not a pattern");
    assert_eq!(by("README.md").await, [""; 0]);
    assert_eq!(held(&world, json!({ "agentId": bob })).await, ["src/*.toml"]);
    let nobody = json!({ "agentId": "sp_0000000000000000" });
    world.refused(ada, LIST, nobody, "AGENT_NOT_FOUND").await;
    let outside = world.refused(ada, LIST, json!({ "path": "/etc/passwd" }), "INVALID_INPUT").await;
    assert_eq!(outside.body["details"]["field"], "path");

    let (mut seen, mut input) = (Vec::new(), json!({ "limit": 1 }));
    loop {
        let page = world.ok(ada, LIST, input).await;
        let found = page["reservations"].as_array().unwrap();
        assert!(found.len() <= 1);
        seen.extend(found.iter().map(|one| one["pattern"].as_str().unwrap().to_owned()));
        let Some(next) = page.get("nextCursor") else { break };
        input = json!({ "limit": 1, "cursor": next });
    }
    assert_eq!(seen, ["src/**/*.rs", "app/[id]", "docs", "src/*.toml"]);
}

#[tokio::test]
async fn patterns_and_times_that_cannot_be_are_refused() {
    let world = World::new();
    let ada = world.enlist("worker").await;
    for (paths, says) in [
        (json!(["ok", "/etc"]), "`paths[1]`: `/etc` is absolute"),
        (json!(["a/../b"]), "`..`"),
        (json!([""]), "must not be empty"),
        (json!(["a\u{7}"]), "U+0007"),
        (json!(["x".repeat(501)]), "the limit is 500"),
        (json!(["src/**.rs"]), "`**` must stand alone"),
        (json!([]), "has 0 items; it must have 1 to 50"),
        (json!(vec!["a"; 51]), "has 51 items"),
    ] {
        let refusal = world.refused(ada, RESERVE, json!({ "paths": paths }), "INVALID_INPUT").await;
        assert!(refusal.message().contains(says), "{says}: {}", refusal.body);
    }
    for seconds in [59, 86_401, -1] {
        let input = json!({ "paths": ["a"], "seconds": seconds });
        let refusal = world.refused(ada, RESERVE, input, "INVALID_INPUT").await;
        assert!(refusal.message().contains("60 to 86400"), "{}", refusal.body);
    }
    assert_eq!(held(&world, json!({})).await, [""; 0]);
}

#[tokio::test]
async fn nobody_holds_more_than_can_be_compared() {
    let world = World::new();
    let (ada, bob) = (world.enlist("worker").await, world.enlist("worker").await);
    for tens in 0..10 {
        // Long patterns, each of which could be any of the others'.
        let long = |n: usize| format!("*{}{}", "a".repeat(480), tens * 50 + n);
        let paths: Vec<String> = (0..50).map(long).collect();
        world.ok(ada, RESERVE, json!({ "paths": paths })).await;
    }
    let refusal = world.refused(ada, RESERVE, json!({ "paths": ["x"] }), "CONFLICT").await;
    assert!(refusal.message().contains("501 reservations; the limit is 500"));
    let renewed = format!("*{}0", "a".repeat(480));
    world.ok(ada, RESERVE, json!({ "paths": [renewed] })).await;
    reserve(&world, bob, &["src/**", "docs/*.md"]).await;
    let paths: Vec<String> = (0..50).map(|n| format!("*{}b{n}", "a".repeat(480))).collect();
    let refusal = world.refused(bob, RESERVE, json!({ "paths": paths }), "INVALID_INPUT").await;
    assert!(refusal.message().contains("too many or too complex"), "{}", refusal.body);
}
