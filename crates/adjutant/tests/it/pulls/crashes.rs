//! A server that dies between any two steps of a pull request.

use engine::Point;
use serde_json::{Value, json};

use super::{Stage, stage};
use crate::kill::{answer, draft, events, until_is};

/// Lets the server die at a place while a coder plays, brings it back, and looks whether there is one pull request, as
/// if nothing had happened.
async fn dies_at(point: Point, scenario: &str) -> (Stage, String) {
    let mut stage = stage(&[]).await;
    stage.world.set("ADJUTANT_CRASH_AT", point.name());
    let mut server = stage.world.up().await.unwrap();
    let coder = draft(&stage.world, "coder", scenario).await;
    server.ended().await.unwrap();
    stage.world.set("ADJUTANT_CRASH_AT", "");
    stage.world.run(&["up", "--detach"]).await.unwrap().ok().unwrap();
    let over = answer(&stage.world, &["await", &coder]).await;
    assert_eq!(over["state"], "succeeded", "{point}: {over}");
    stage.settled().await;
    let branch = format!("adjutant/{coder}");
    let [pull] = &stage.github.pulls()[..] else { panic!("{point}: one pull request") };
    assert_eq!((pull.head.as_str(), stage.asked()), (branch.as_str(), 1), "{point}");
    let there = stage.there(&branch).await;
    assert_eq!(there, stage.git(&format!("git rev-parse {branch}")).await, "{point}");
    let log = stage
        .git(&format!("git log --format=%s {there} | grep -c 'Remove REVIEW_FEEDBACK.md'"))
        .await;
    assert_eq!(log, "1", "{point}");
    assert_eq!(events(&stage.world, "pull.opened").await.len(), 1, "{point}");
    (stage, coder)
}

fn points() -> impl Iterator<Item = Point> {
    Point::ALL.iter().copied().filter(|point| point.name().starts_with("pull."))
}

#[tokio::test]
async fn a_crash_at_any_place_of_a_pull_request_leaves_one() {
    for point in points() {
        dies_at(point, "deliver").await.0.in_order().await;
    }
}

#[tokio::test]
async fn a_crash_at_any_place_of_an_approval_leaves_one_pull_request_and_the_review_approved() {
    for point in points() {
        let (stage, coder) = dies_at(point, "reviewed").await;
        let over = events(&stage.world, "review.ended").await;
        let states: Vec<&Value> = over.iter().map(|event| &event["data"]["state"]).collect();
        assert_eq!(states, ["feedback", "approved"], "{point}");
        until_is(&stage.world, over[1]["data"]["reviewerId"].as_str().unwrap(), "succeeded").await;
        assert_eq!(over[1]["agentId"], json!(coder), "{point}");
        stage.in_order().await;
    }
}
