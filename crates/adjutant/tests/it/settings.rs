//! Settings over HTTP: what they say, what a change would come to, and that it is made whole and in force at once.

use serde_json::{Value, json};
use testkit::{Http, World};

use crate::world;

async fn stage() -> (World, testkit::Server, Http) {
    let world = world().await;
    let server = world.up().await.unwrap();
    let http = Http::new(&server.url, world.operator().await.unwrap());
    (world, server, http)
}

async fn ok(http: &Http, path: &str, body: Value) -> Value {
    let (status, answer) = http.post(path, &body).await.unwrap();
    assert_eq!(status, 200, "{answer}");
    answer
}

fn named<'a>(list: &'a Value, key: &str, name: &str) -> &'a Value {
    let found = list.as_array().unwrap().iter().find(|one| one[key] == name);
    found.unwrap_or_else(|| panic!("no `{name}` in {list}"))
}

#[tokio::test]
async fn a_change_is_checked_saved_and_in_force_and_on_record() {
    let (world, _server, http) = stage().await;
    let (_, before) = http.get("/api/settings").await.unwrap();
    let depth = named(&before["config"]["keys"], "key", "limits.depth");
    assert_eq!((&depth["value"], &depth["default"]), (&json!(3), &json!(3)));
    let request = json!({ "changes": [{ "key": "limits.depth", "value": 4 }] });
    let checked = ok(&http, "/api/settings/check", request.clone()).await;
    assert_eq!(checked["ok"], true);
    let mut save = request.clone();
    save["was"] = before["config"]["hash"].clone();
    let saved = ok(&http, "/api/settings/save", save.clone()).await;
    assert_eq!(saved["diff"], checked["diff"]);
    assert!(saved["reloaded"]["roles"].as_u64().unwrap() > 0);
    let text = std::fs::read_to_string(world.home().join("config.yaml")).unwrap();
    assert!(text.contains("  depth: 4\n"));
    let (_, after) = http.get("/api/settings").await.unwrap();
    assert_eq!(named(&after["config"]["keys"], "key", "limits.depth")["value"], 4);
    assert_eq!(after["config"]["hash"], saved["hash"]);
    // Who has read the old file is refused, and says so clearly.
    let (status, error) = http.post("/api/settings/save", &save).await.unwrap();
    assert_eq!((status.as_u16(), &error["code"]), (409, &json!("CONFLICT")), "{error}");
    assert!(error["message"].as_str().unwrap().contains("since you read it"), "{error}");
    // What does not fit is refused with everything that is known of it, and nothing is written.
    let wrong = json!({ "changes": [{ "key": "limits.depth", "value": "deep" }], "was": after["config"]["hash"] });
    let (status, error) = http.post("/api/settings/save", &wrong).await.unwrap();
    assert_eq!(
        (status.as_u16(), &error["details"]["problems"][0]["key"]),
        (422, &json!("limits.depth")),
        "{error}"
    );
    assert_eq!(std::fs::read_to_string(world.home().join("config.yaml")).unwrap(), text);
    let rows = world.run(&["audit", "list", "--json"]).await.unwrap().ok().unwrap().stdout;
    assert_eq!(rows.matches("\"tool\":\"operator__settings_save\"").count(), 1, "{rows}");
    let events = world.run(&["events", "--json"]).await.unwrap().ok().unwrap().stdout;
    assert_eq!(events.matches("config.reloaded").count(), 1, "{events}");
}

#[tokio::test]
async fn a_role_is_changed_and_counts_for_the_next_agent() {
    let (_world, _server, http) = stage().await;
    let (_, settings) = http.get("/api/settings").await.unwrap();
    let coder = named(&settings["roles"], "name", "coder");
    let sum = &coder["comesTo"];
    assert_eq!(
        (&sum["category"], &sum["worktree"], &sum["kind"]),
        (&json!("coding"), &json!("fresh"), &json!("claude"))
    );
    let tools: Vec<&str> =
        sum["tools"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(
        tools.contains(&"mcp__review__request_review") && !tools.contains(&"mcp__epic__create")
    );
    let text = coder["text"].as_str().unwrap().replacen("---\n", "---\ntimeout: 77\n", 1);
    let request = json!({ "role": { "name": "coder", "text": text } });
    assert_eq!(ok(&http, "/api/settings/check", request.clone()).await["ok"], true);
    let mut save = request;
    save["was"] = coder["hash"].clone();
    ok(&http, "/api/settings/save", save).await;
    let (_, settings) = http.get("/api/settings").await.unwrap();
    assert_eq!(named(&settings["roles"], "name", "coder")["comesTo"]["timeout"], 77);
}

#[tokio::test]
async fn the_table_of_permissions_is_the_one_that_the_door_uses() {
    let (world, _server, http) = stage().await;
    let (_, settings) = http.get("/api/settings").await.unwrap();
    let every: usize = settings["toolsets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|set| set["tools"].as_array().unwrap().len())
        .sum();
    assert_eq!(
        named(&settings["categories"], "name", "supervisor")["allowed"].as_array().unwrap().len(),
        every
    );
    let worker = named(&settings["categories"], "name", "worker");
    assert!(worker["denied"].as_array().unwrap().contains(&json!("mcp__task__create")));
    let agent = world.enlist("worker", &[]).await.unwrap();
    let (_, offered) = http.with_token(&agent.token).get("/api/tools").await.unwrap();
    for tool in offered["tools"].as_array().unwrap() {
        let name = &tool["canonicalName"];
        assert!(worker["allowed"].as_array().unwrap().contains(name), "{name}");
    }
}

#[tokio::test]
async fn only_the_operator_changes_settings_and_bad_bodies_are_refused() {
    let (world, _server, http) = stage().await;
    let agent = world.enlist("worker", &[]).await.unwrap();
    let theirs = http.with_token(&agent.token);
    for path in ["/api/settings/check", "/api/settings/save"] {
        let body = json!({ "changes": [] });
        assert_eq!(theirs.post(path, &body).await.unwrap().0, 403);
        for wrong in [
            json!({}),
            json!({ "changes": [], "role": { "name": "a", "text": "" } }),
            json!({ "changes": [{ "key": "a", "vlaue": 1 }] }),
            json!({ "changes": vec![json!({ "key": "limits.depth" }); 201] }),
        ] {
            let (status, error) = http.post(path, &wrong).await.unwrap();
            assert_eq!(
                (status.as_u16(), &error["code"]),
                (422, &json!("INVALID_INPUT")),
                "{path} {wrong}: {error}"
            );
        }
    }
    assert_eq!(theirs.get("/api/settings").await.unwrap().0, 403);
}
