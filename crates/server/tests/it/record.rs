//! The record as people look at it.

use engine::Opened;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::world::{Member, OPERATOR, World};

const DECIDE: &str = "mcp__system__log_decision";

/// Calls that go well, fail and are refused: seven rows beside those of joining.
async fn busy(world: &World) -> Member {
    let member = world.enlist("worker").await;
    for title in ["one", "two", "three"] {
        let input = json!({ "title": title, "body": "Why not" });
        world.execute(&member.token, DECIDE, input).await;
    }
    world.execute(&member.token, "mcp__epic__create", json!({ "title": "x" })).await;
    world.execute(&member.token, DECIDE, json!({})).await;
    world.execute(OPERATOR, "mcp__mail__list_inbox", json!({})).await;
    // What only looked is written with the next commit.
    world.enlist("worker").await;
    member
}

fn numbers(list: &Value) -> Vec<i64> {
    list["rows"].as_array().unwrap().iter().map(|row| row["number"].as_i64().unwrap()).collect()
}

fn words(list: &Value, key: &str) -> Vec<String> {
    let rows = list["rows"].as_array().unwrap();
    rows.iter().map(|row| row[key].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_newest_calls_come_first_and_light() {
    let world = World::new();
    let member = busy(&world).await;
    let list = world.get("/api/record?tool=mcp__*").await;
    assert_eq!(
        words(&list, "outcome"),
        ["done", "failed", "denied", "done", "done", "done"],
        "{list}"
    );
    let row = &list["rows"][3];
    let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
    let expected =
        ["at", "code", "durationMs", "input", "number", "outcome", "taskId", "tool", "who"];
    assert_eq!(keys, expected);
    let short = member.id.to_string().split_off(14);
    let who = json!({ "agentId": member.id, "role": "worker", "short": short, "operator": false });
    assert_eq!(row["who"], who);
    assert!(row["input"].as_str().unwrap().contains("three"), "{row}");
    assert!(row["durationMs"].is_f64(), "{row}");
    assert_eq!(list["rows"][0]["who"]["operator"], true);
    assert_eq!(list["rows"][2]["code"], "PERMISSION_DENIED");
    let newest = world.get("/api/record?limit=1").await;
    assert_eq!(newest["last"], newest["rows"][0]["number"]);
    assert_eq!(newest["nextCursor"], newest["rows"][0]["number"]);
}

#[tokio::test]
async fn the_record_is_searched_the_same_way_in_both_lists() {
    let world = World::new();
    let member = busy(&world).await;
    let (id, short) = (member.id.to_string(), member.id.to_string().split_off(14));
    for (query, found) in [
        ("outcome=done&tool=mcp__*".to_owned(), 4),
        ("outcome=failed".to_owned(), 1),
        ("outcome=denied".to_owned(), 1),
        ("q=why+three".to_owned(), 1),
        ("q=%22why+not%22&tool=*log_*".to_owned(), 3),
        ("q=PERMISSION_DENIED".to_owned(), 1),
        ("tool=mcp__epic__*".to_owned(), 1),
        ("since=2000-01-01T00:00:00Z&until=2001-01-01T00:00:00Z".to_owned(), 0),
        ("since=2000-01-01T00:00:00Z&tool=mcp__*".to_owned(), 6),
        ("commit=abcdef0".to_owned(), 0),
    ] {
        let list = world.get(&format!("/api/record?{query}")).await;
        assert_eq!(list["rows"].as_array().unwrap().len(), found, "{query}: {list}");
        let mut other = numbers(&world.get(&format!("/api/audit?{query}&order=desc")).await);
        assert_eq!(other, numbers(&list), "{query}");
        other.reverse();
        assert_eq!(numbers(&world.get(&format!("/api/audit?{query}")).await), other, "{query}");
    }
    for (agent, found) in [(id.as_str(), 5), (short.as_str(), 5), ("worker", 5), ("operator", 1)] {
        let list = world.get(&format!("/api/record?tool=mcp__*&agent={agent}")).await;
        assert_eq!(list["rows"].as_array().unwrap().len(), found, "{agent}: {list}");
        let path = format!("/api/audit?order=desc&tool=mcp__*&agent={agent}");
        assert_eq!(numbers(&world.get(&path).await), numbers(&list), "{agent}");
    }
    // From either end, page by page, everything comes once.
    let all = numbers(&world.get("/api/record").await);
    for order in ["asc", "desc"] {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = world.get(&format!("/api/record?limit=2&order={order}{cursor}")).await;
            found.extend(numbers(&page));
            let Some(next) = page["nextCursor"].as_i64() else { break };
            let side = if order == "asc" { "after" } else { "before" };
            cursor = format!("&{side}={next}");
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(found, all, "{order}");
    }
}

#[tokio::test]
async fn a_task_s_calls_are_those_of_its_agents_and_those_about_it() {
    let world = World::new();
    let run = json!({ "role": "worker", "kind": "command", "prompt": "Mend the parser" });
    let (_, started) = world.ask(Method::POST, "/api/runs", OPERATOR, Some(run)).await;
    let slug = started["taskSlug"].as_str().unwrap();
    let comment = json!({ "taskId": "TAS-1", "comment": "look" });
    world.execute(OPERATOR, "mcp__task__add_comment", comment).await;
    world.enlist("worker").await;
    let list = world.get(&format!("/api/record?taskId={slug}")).await;
    assert_eq!(words(&list, "tool"), ["mcp__task__add_comment", "operator__run"], "{list}");
    assert_eq!(world.get("/api/record?taskId=TAS-1").await["rows"], list["rows"]);
    let (status, error) = world.ask(Method::GET, "/api/record?taskId=TAS-99", OPERATOR, None).await;
    assert_eq!((status.as_u16(), &error["code"]), (404, &"RESOURCE_NOT_FOUND".into()));
}

#[tokio::test]
async fn the_histogram_adds_up_to_what_the_list_shows() {
    let world = World::new();
    busy(&world).await;
    for query in ["", "&tool=mcp__*", "&outcome=failed", "&agent=operator", "&q=why"] {
        let path = format!("/api/record/histogram?buckets=7{query}");
        let histogram = world.get(&path).await;
        let list = world.get(&format!("/api/record?{}", query.trim_start_matches('&'))).await;
        let outcomes = words(&list, "outcome");
        let count = |word: &str| outcomes.iter().filter(|found| *found == word).count();
        let told = |key: &str| histogram[key].as_u64().unwrap();
        assert_eq!(told("calls"), u64::try_from(outcomes.len()).unwrap(), "{query}: {histogram}");
        assert_eq!(told("failed"), u64::try_from(count("failed")).unwrap(), "{query}");
        assert_eq!(told("denied"), u64::try_from(count("denied")).unwrap(), "{query}");
        let buckets = histogram["buckets"].as_array().unwrap();
        assert_eq!(buckets.len(), 7);
        for key in ["calls", "failed", "denied"] {
            let sum: u64 = buckets.iter().map(|bucket| bucket[key].as_u64().unwrap()).sum();
            assert_eq!(sum, told(key), "{key} {query}");
        }
        assert_eq!(histogram["estimate"], false);
    }
}

#[tokio::test]
async fn one_call_is_opened_with_its_place_in_the_chain() {
    let world = World::new();
    let member = busy(&world).await;
    let denied = numbers(&world.get("/api/record?outcome=denied").await)[0];
    let call = world.get(&format!("/api/record/{denied}")).await;
    assert_eq!((&call["number"], &call["outcome"]), (&json!(denied), &"denied".into()));
    assert_eq!(call["wholeInput"], r#"{"title":"x"}"#);
    assert_eq!(call["error"]["code"], "PERMISSION_DENIED");
    assert!(call["error"]["message"].as_str().unwrap().contains("not allowed"), "{call}");
    assert_eq!(call["who"]["agentId"], json!(member.id));
    assert_eq!(call["standing"], json!({ "category": "worker", "depth": 0 }));
    assert_eq!(call["chain"]["fits"], true);
    let rows = world.get("/api/audit").await;
    let row = |number: i64| {
        let rows = rows["rows"].as_array().unwrap();
        rows.iter().find(|row| row["number"] == number).unwrap().clone()
    };
    assert_eq!(call["chain"]["this"], row(denied)["hash"]);
    assert_eq!(call["chain"]["before"], row(denied - 1)["hash"]);
    let near = call["near"].as_array().unwrap();
    assert_eq!(near.len(), 5, "{call}");
    assert!(near.iter().any(|other| other["number"] == denied));
    let first = world.get("/api/record/1").await;
    assert_eq!(first["chain"]["before"], "0".repeat(64));
    for (path, status) in
        [("/api/record/9999", 404), ("/api/record/x", 422), ("/api/record/-1", 404)]
    {
        let (found, error) = world.ask(Method::GET, path, OPERATOR, None).await;
        assert_eq!(found.as_u16(), status, "{path}: {error}");
    }
}

#[tokio::test]
async fn the_chain_is_followed_on_from_where_it_was_good() {
    let world = World::new();
    busy(&world).await;
    let full = world.get("/api/audit/verify").await;
    assert_eq!((&full["ok"], &full["rows"]), (&true.into(), &full["of"]));
    let member = world.enlist("worker").await;
    let on = world.get("/api/audit/verify?full=false").await;
    assert_eq!((&on["ok"], &on["rows"]), (&true.into(), &on["of"]));
    assert!(on["rows"].as_i64() > full["rows"].as_i64(), "{on}");
    assert_eq!(on["fromFirstAt"], full["fromFirstAt"], "what was good is not followed again");
    assert_eq!(on["head"], world.get("/api/audit/verify?full=true").await["head"]);

    let input = json!({ "title": "late", "body": "b" });
    world.execute(&member.token, DECIDE, input).await;
    let file = rusqlite::Connection::open(world.project().join("state.db")).unwrap();
    let bad = on["rows"].as_i64().unwrap() + 1;
    let sql = "UPDATE audit SET body = replace(body, 'late', 'lath') WHERE number = ?1";
    assert_eq!(file.execute(sql, [bad]).unwrap(), 1);
    let broken = world.get("/api/audit/verify?full=false").await;
    assert_eq!((&broken["ok"], &broken["brokenAt"]), (&false.into(), &bad.into()), "{broken}");
    assert_eq!(world.get("/api/audit/verify").await["brokenAt"], bad);
    let call = world.get(&format!("/api/record/{bad}")).await;
    assert_eq!(call["chain"]["fits"], false, "{call}");
}

#[tokio::test]
async fn who_may_only_look_may_look_at_the_record() {
    let world = World::new();
    busy(&world).await;
    let link = world.engine().link_make(Opened::ToLook { days: None }).await.unwrap();
    let viewer = world.engine().log_in(&link.code).await.unwrap().token;
    for path in [
        "/api/record",
        "/api/record/1",
        "/api/record/histogram",
        "/api/audit?order=desc",
        "/api/audit/verify?full=false",
        "/api/costs/series",
        "/api/costs/summary",
        "/api/costs/lineage",
        "/api/usage/tools",
    ] {
        let (status, body) = world.ask(Method::GET, path, &viewer, None).await;
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        let member = world.enlist("worker").await;
        let (status, _) = world.ask(Method::GET, path, &member.token, None).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{path}");
    }
}

#[tokio::test]
async fn bad_searches_are_answered_in_one_shape() {
    let world = World::new();
    let long = format!("/api/record?q={}", "x".repeat(201));
    for (path, field) in [
        ("/api/record?order=up", "order"),
        ("/api/record?outcome=good", "outcome"),
        ("/api/record?q=+", "q"),
        (&long, "q"),
        ("/api/record?tool=a%25", "tool"),
        ("/api/record?commit=xyz", "commit"),
        ("/api/record?commit=abc", "commit"),
        ("/api/record?limit=0", "limit"),
        ("/api/record?taskId=TAS-", "taskId"),
        ("/api/record?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "until"),
        ("/api/record/histogram?buckets=0", "buckets"),
        ("/api/record/histogram?buckets=501", "buckets"),
        ("/api/record/histogram?until=2001-01-01T00:00:00Z&since=2002-01-01T00:00:00Z", "until"),
        ("/api/audit?order=newest", "order"),
        ("/api/costs/series?by=colour", "by"),
        ("/api/costs/series?since=1990-01-01T00:00:00Z", "since"),
        ("/api/costs/summary?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "until"),
    ] {
        let (status, error) = world.ask(Method::GET, path, OPERATOR, None).await;
        assert_eq!((status.as_u16(), &error["code"]), (422, &"INVALID_INPUT".into()), "{path}");
        assert_eq!(error["details"]["field"], field, "{path}: {error}");
    }
    for path in [
        "/api/record?colour=red",
        "/api/record?since=yesterday",
        "/api/record/histogram?after=1",
        "/api/audit/verify?full=perhaps",
        "/api/costs/lineage?agent=x",
        "/api/usage/tools?since=x",
    ] {
        let (status, error) = world.ask(Method::GET, path, OPERATOR, None).await;
        assert_eq!((status.as_u16(), &error["code"]), (422, &"INVALID_INPUT".into()), "{path}");
    }
    let nobody = "/api/costs/lineage?agent=sp_0000000000000000";
    let (status, error) = world.ask(Method::GET, nobody, OPERATOR, None).await;
    assert_eq!((status.as_u16(), &error["code"]), (404, &"AGENT_NOT_FOUND".into()));
}
