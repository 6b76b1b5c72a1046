//! Dependencies: what needs what, and never in a circle.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use crate::support::{Who, World};

const ADD: &str = "mcp__session__task-add";
const UPDATE: &str = "mcp__session__task-update";

#[tokio::test]
async fn a_cycle_is_refused_by_name() {
    let world = World::new();
    let tasks = json!({ "tasks": [{ "content": "a" }, { "content": "b" }, { "content": "c" }] });
    world.ok(Who::Operator, ADD, tasks).await;
    let need = |id, on| json!({ "id": id, "depends_on": on });
    world.ok(Who::Operator, UPDATE, need("TAS-2", "TAS-3")).await;
    world.ok(Who::Operator, UPDATE, need("TAS-3", "TAS-1")).await;
    let refusal = world.refused(Who::Operator, UPDATE, need("TAS-1", "TAS-2"), "CONFLICT").await;
    assert_eq!(refusal.message(), "TAS-1 → TAS-2 → TAS-3 → TAS-1 would be a cycle");
    let own = world.refused(Who::Operator, UPDATE, need("TAS-1", "TAS-1"), "CONFLICT").await;
    assert_eq!(own.message(), "TAS-1 → TAS-1 would be a cycle");
    let unknown = need("TAS-1", "TAS-9");
    world.refused(Who::Operator, UPDATE, unknown, "RESOURCE_NOT_FOUND").await;
    // A refused update leaves nothing behind, not even the part that was in order.
    let half = json!({ "id": "TAS-1", "priority": 0, "depends_on": "TAS-1" });
    world.refused(Who::Operator, UPDATE, half, "CONFLICT").await;
    let task = world.ok(Who::Operator, UPDATE, json!({ "id": "TAS-1" })).await;
    assert_eq!((&task["priority"], &task["depends_on"]), (&json!(2), &json!([])));
}

#[tokio::test]
async fn dependencies_add_up_in_every_form() {
    let world = World::new();
    let content: Vec<Value> = "abcde".chars().map(|c| json!({ "content": c })).collect();
    world.ok(Who::Operator, ADD, json!({ "tasks": content })).await;
    for (on, sum) in [
        (json!("TAS-2"), json!(["TAS-2"])),
        (json!(""), json!(["TAS-2"])),
        (json!("TAS-3, TAS-2"), json!(["TAS-2", "TAS-3"])),
        (json!(["tas-5", "TAS-4"]), json!(["TAS-2", "TAS-3", "TAS-4", "TAS-5"])),
        (json!([]), json!(["TAS-2", "TAS-3", "TAS-4", "TAS-5"])),
    ] {
        let task =
            world.ok(Who::Operator, UPDATE, json!({ "id": "TAS-1", "depends_on": on })).await;
        assert_eq!(task["depends_on"], sum);
    }
    let added = json!({ "tasks": [{ "content": "f", "depends_on": "TAS-1,TAS-2" }] });
    let added = world.ok(Who::Operator, ADD, added).await;
    assert_eq!(added["tasks"][0]["depends_on"], json!(["TAS-1", "TAS-2"]));
}

/// Whether something can be reached from itself.
fn circular(needs: &HashMap<String, Vec<String>>) -> bool {
    needs.keys().any(|start| {
        let mut open: Vec<&String> = needs[start].iter().collect();
        let mut seen = Vec::new();
        while let Some(at) = open.pop() {
            if at == start {
                return true;
            }
            if !seen.contains(&at) {
                seen.push(at);
                open.extend(&needs[at]);
            }
        }
        false
    })
}

async fn play(requests: Vec<(usize, Vec<usize>)>) -> (bool, bool) {
    let world = World::new();
    let content: Vec<Value> = (0..8).map(|n| json!({ "content": format!("t{n}") })).collect();
    world.ok(Who::Operator, ADD, json!({ "tasks": content })).await;
    let name = |n: usize| format!("TAS-{}", n + 1);
    // The model: an edge set to which whole requests are added or not at all.
    let mut expected: HashMap<String, Vec<String>> =
        (0..8).map(|n| (name(n), Vec::new())).collect();
    let mut agrees = true;
    for (task, on) in requests {
        let on: Vec<String> = on.into_iter().map(name).collect();
        let mut tried = expected.clone();
        let needs = tried.get_mut(&name(task)).unwrap();
        needs.extend(on.clone());
        needs.sort();
        needs.dedup();
        let input = json!({ "id": name(task), "depends_on": on });
        let taken = world.ask(Who::Operator, UPDATE, input).await.is_ok();
        agrees &= taken != circular(&tried);
        if taken {
            expected = tried;
        }
    }
    let listed = world.ok(Who::Operator, "mcp__session__task-list", json!({})).await;
    let stored: HashMap<String, Vec<String>> = listed["remaining"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| {
            let needs = serde_json::from_value(task["depends_on"].clone()).unwrap();
            (task["id"].as_str().unwrap().to_owned(), needs)
        })
        .collect();
    (agrees && stored == expected, circular(&stored))
}

proptest! {
    #![proptest_config(Config { cases: 24, ..Config::default() })]

    /// Whatever is requested, in whatever order, no task ever needs itself.
    #[test]
    fn no_request_makes_a_circle(
        requests in prop::collection::vec((0..8_usize, prop::collection::vec(0..8_usize, 1..4)), 0..24)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (as_expected, circular) = runtime.block_on(play(requests));
        prop_assert!(!circular);
        prop_assert!(as_expected);
    }
}
