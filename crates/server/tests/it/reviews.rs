//! `/api/reviews`, `/api/worktrees` and `/api/merge-queue`: pages, refusals, and what one agent's view adds.

use http::{Method, StatusCode};
use model::review::ReviewState;
use model::{AgentId, Timestamp};
use serde_json::{Value, json};
use store::{NewReview, NewWorktree, ReviewChange, StoreError};

use crate::world::{OPERATOR, World};

/// Puts reviews of one coder's work on record, all but the last of them over.
async fn reviewed(world: &World, coder: AgentId, reviewers: &[AgentId]) {
    let (reviewers, now) = (reviewers.to_vec(), Timestamp::from_millis(1000));
    let recorded = world.store.write(move |tx| {
        for (reviewer, iteration) in reviewers.iter().zip(1..) {
            let new = NewReview {
                coder,
                reviewer: *reviewer,
                iteration,
                branch: "work".to_owned(),
                commit: "0".repeat(40),
                message: None,
            };
            tx.review_insert(&new, now)?;
            let last = Some(reviewer) == reviewers.last();
            let state = if last { ReviewState::Open } else { ReviewState::Silent };
            tx.review_set(*reviewer, ReviewChange { state, failed: !last }, now)?;
        }
        Ok::<_, StoreError>(())
    });
    recorded.await.unwrap();
}

#[tokio::test]
async fn reviews_come_in_pages_and_by_name() {
    let world = World::new();
    let coder = world.enlist("worker").await;
    let mut reviewers = Vec::new();
    for _ in 0..3 {
        reviewers.push(world.enlist("worker").await.id);
    }
    reviewed(&world, coder.id, &reviewers).await;

    let open = world.get("/api/reviews").await;
    assert_eq!(open["reviews"].as_array().unwrap().len(), 1, "{open}");
    assert_eq!(open["reviews"][0]["reviewerId"], reviewers[2].to_string());
    let (mut seen, mut after) = (Vec::new(), Some(0));
    while let Some(from) = after {
        let page = world.get(&format!("/api/reviews?all=true&limit=2&after={from}")).await;
        seen.extend(page["reviews"].as_array().unwrap().clone());
        after = page["nextCursor"].as_i64();
        let limited = page["limited"].as_array().unwrap().len();
        assert_eq!(
            limited,
            usize::from(from == 0),
            "only the first page says who is limited: {page}"
        );
    }
    let order: Vec<Value> = seen.iter().map(|review| review["iteration"].clone()).collect();
    assert_eq!(order, [1, 2, 3]);
    let told = (&seen[0]["state"], &seen[0]["failed"], &seen[0]["maxIterations"]);
    assert_eq!(told, (&json!("silent"), &json!(true), &json!(3)));
    assert_eq!(seen[0]["instanceStatus"], "STARTED");

    let story = world.get(&format!("/api/reviews/{}", coder.id)).await;
    assert_eq!(story["reviews"], json!(seen));
    assert_eq!((&story["iterations"], &story["failures"]), (&json!(3), &json!(2)));
    assert_eq!(story["suggestions"].as_array().unwrap().len(), 4, "{story}");
    let id = reviewers[0].to_string();
    let end = id.get(11..).unwrap();
    assert_eq!(world.get(&format!("/api/reviews/{end}")).await, story, "by its reviewer");

    let path = format!("/api/reviews/{}/allow-more", coder.id);
    let (status, allowed) = world.ask(Method::POST, &path, OPERATOR, None).await;
    assert_eq!(status, StatusCode::OK, "{allowed}");
    let expected = json!({ "agentId": coder.id, "iterations": 3, "maxIterations": 4, "left": 1 });
    assert_eq!(allowed, expected);
    assert_eq!(world.get("/api/reviews").await["limited"], json!([]));
}

#[tokio::test]
async fn an_agents_own_view_has_its_worktree_and_its_relations() {
    let world = World::new();
    let coder = world.enlist("worker").await.id;
    let reviewer = world.enlist("worker").await.id;
    reviewed(&world, coder, &[reviewer]).await;
    let new = NewWorktree {
        agent: coder,
        path: "/somewhere".to_owned(),
        branch: "work".to_owned(),
        base: "0".repeat(40),
        target: Some("main".to_owned()),
    };
    let store = &world.store;
    store.write(move |tx| tx.worktree_insert(&new, Timestamp::from_millis(0))).await.unwrap();
    let shown = world.get(&format!("/api/agents/{coder}")).await;
    assert_eq!(
        shown["worktree"],
        json!({ "path": "/somewhere", "branch": "work", "target": "main", "state": "wanted" })
    );
    let relation = json!([{
        "type": "spawned_review", "parentId": coder, "childId": reviewer, "reviewIteration": 1,
    }]);
    assert_eq!((&shown["relations"], &shown["reviewStatus"]), (&relation, &json!("STARTED")));
    let shown = world.get(&format!("/api/agents/{reviewer}")).await;
    assert_eq!((&shown["relations"], &shown["worktree"]), (&relation, &Value::Null));
    let listed = world.get("/api/worktrees").await;
    assert_eq!(
        listed["worktrees"][0]["git"],
        Value::Null,
        "what is not there yet is not looked at"
    );
    assert_eq!(listed["worktrees"][0]["agentState"], "running");
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused() {
    let world = World::new();
    let agent = world.enlist("worker").await.id;
    let cases = [
        (Method::GET, "/api/reviews?al=true".to_owned(), Value::Null, 422),
        (Method::GET, "/api/reviews?limit=0".to_owned(), Value::Null, 422),
        (Method::GET, "/api/reviews/sp_0000000000000000".to_owned(), Value::Null, 404),
        (Method::GET, "/api/reviews/no-such-task".to_owned(), Value::Null, 404),
        (Method::GET, "/api/reviews/a%20b".to_owned(), Value::Null, 422),
        (Method::POST, format!("/api/reviews/{agent}/allow-more"), json!({ "more": 101 }), 422),
        (Method::POST, format!("/api/reviews/{agent}/allow-more"), json!({ "moer": 1 }), 422),
        (
            Method::POST,
            format!("/api/reviews/{agent}/abandon"),
            json!({ "reason": "x".repeat(2001) }),
            422,
        ),
        (Method::POST, "/api/reviews/nobody/abandon".to_owned(), json!({}), 422),
        (Method::GET, "/api/worktrees?limit=1001".to_owned(), Value::Null, 422),
        (Method::POST, format!("/api/worktrees/{agent}/prune"), json!({}), 409),
        (Method::POST, "/api/worktrees/sp_0000000000000000/prune".to_owned(), json!({}), 404),
        (Method::GET, "/api/merge-queue?after=x".to_owned(), Value::Null, 422),
        (Method::GET, "/api/merge-queue/x".to_owned(), Value::Null, 422),
        (Method::GET, "/api/merge-queue/merge_0000000000000000".to_owned(), Value::Null, 404),
        (Method::POST, "/api/merge-queue/merge_0000000000000000/retry".to_owned(), json!({}), 404),
        (Method::GET, "/api/tasks/review-queue?cursor=7".to_owned(), Value::Null, 422),
        (Method::GET, "/api/tasks/review-queue?epicId=x".to_owned(), Value::Null, 422),
    ];
    for (method, path, body, expected) in cases {
        let (status, answer) = world.ask(method, &path, OPERATOR, Some(body.clone())).await;
        assert_eq!(status.as_u16(), expected, "{path} {body}: {answer}");
        assert!(answer["code"].is_string() && answer["message"].is_string(), "{path}: {answer}");
    }
    // Without a repository there is nothing to disagree with, and nothing to look at.
    assert_eq!(world.get("/api/worktrees/check").await, json!({ "ok": true, "disagreements": [] }));
    assert_eq!(world.get("/api/merge-queue").await, json!({ "merges": [] }));
    assert_eq!(world.get("/api/tasks/review-queue").await, json!({ "tasks": [], "queue": [] }));
}
