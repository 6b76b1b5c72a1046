//! Issues from a list and from a plan, each opened once.

use std::fs;

use engine::Point;
use serde_json::{Value, json};
use testkit::Http;
use testkit::github::Fault;

use super::{Stage, as_agent, stage};
use crate::kill::{answer, draft, events};

const TOOL: &str = "mcp__review__create_issues";

const PLAN: &str = "# The plan\n\n## Background\n\nIt is old.\n\n## Issues\n\n### Read the file\n\nLabels: parser, bug\n\n\
    It must be read:\n\n```md\n### not a heading\n```\n\n### Think about it (done)\n\nThought.\n\n### Write it\n";

/// The titles and labels of what is on GitHub.
fn there(stage: &Stage) -> Vec<(String, Vec<String>)> {
    stage.github.issues().into_iter().map(|issue| (issue.title, issue.labels)).collect()
}

fn is(title: &str, labels: &[&str]) -> (String, Vec<String>) {
    (title.to_owned(), labels.iter().map(|&label| label.to_owned()).collect())
}

#[tokio::test]
async fn issues_are_opened_from_a_list_and_asking_again_opens_none() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    let planner = stage.world.enlist("planner", &[]).await.unwrap();
    let http = as_agent(&server, &planner);
    let list = json!({ "issues": [
        { "title": "One", "body": "Do it.", "labels": ["new label", "bug"] },
        { "title": "Two" },
        { "title": "Two" },
    ] });
    let first = http.call(TOOL, list.clone()).await.unwrap().unwrap();
    assert_eq!(there(&stage), [is("One", &["new label", "bug"]), is("Two", &[])]);
    let numbers: Vec<_> =
        first["issues"].as_array().unwrap().iter().map(|issue| &issue["number"]).collect();
    assert_eq!(numbers, [&json!(1), &json!(2), &json!(2)], "what is twice in the list is one");
    assert!(first["issues"][0]["url"].as_str().unwrap().contains("o/r/issues/1"), "{first}");
    assert_eq!((&first["issues"][0]["title"], &first["status"]), (&json!("One"), &json!("done")));
    assert!(stage.github.issues()[0].body.starts_with("Do it.\n\n<!-- adjutant:"));
    let asked = stage.github.requests().len();
    assert_eq!(http.call(TOOL, list).await.unwrap().unwrap(), first);
    assert_eq!(stage.github.requests().len(), asked, "the record knows them");
    // One more beside those that are there; and somebody else's are not these.
    let more = json!({ "issues": [{ "title": "Two" }, { "title": "Three" }] });
    let more_of_it = http.call(TOOL, more.clone()).await.unwrap().unwrap();
    assert_eq!(more_of_it["issues"][1]["number"], 3);
    let operator = Http::new(&server.url, stage.world.operator().await.unwrap());
    operator.call(TOOL, more).await.unwrap().unwrap();
    assert_eq!(stage.github.issues().len(), 5);
    assert_eq!(events(&stage.world, "issues.created").await.len(), 5);
    assert_eq!(stage.github.labels("o", "r"), ["bug", "new label"]);
    stage.in_order().await;
}

#[tokio::test]
async fn issues_are_read_from_a_plan_with_their_labels() {
    let stage = stage(&[]).await;
    fs::write(stage.world.project().join("PLAN.md"), PLAN).unwrap();
    stage.git("git add -A && git commit -q -m Plan").await;
    let planner = draft(&stage.world, "planner", "plan").await;
    let over = answer(&stage.world, &["await", &planner]).await;
    assert_eq!(over["result"]["summary"], "planned", "{over}");
    assert_eq!(there(&stage), [is("Read the file", &["parser", "bug"]), is("Write it", &[])]);
    let body = &stage.github.issues()[0].body;
    assert!(
        body.starts_with("It must be read:\n\n```md\n### not a heading\n```\n\n<!--"),
        "{body}"
    );
    stage.in_order().await;
}

#[tokio::test]
async fn a_plan_in_the_callers_own_worktree_comes_first() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    fs::write(stage.world.project().join("PLAN.md"), "## The project's\n").unwrap();
    stage.git("git add -A && git commit -q -m Plan").await;
    let dir = stage.world.scratch().join("own");
    stage.git(&format!("git worktree add -q '{}' -b own main", dir.display())).await;
    fs::write(dir.join("PLAN.md"), "## My own\n").unwrap();
    let cwd = dir.display().to_string();
    let planner = stage.world.enlist("planner", &["--cwd", &cwd]).await.unwrap();
    let http = as_agent(&server, &planner);
    http.call(TOOL, json!({ "document": "PLAN.md" })).await.unwrap().unwrap();
    assert_eq!(there(&stage), [is("My own", &[])]);
    stage.in_order().await;
}

#[tokio::test]
async fn what_is_wrong_with_issues_is_said_before_one_is_opened() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    let planner = stage.world.enlist("planner", &[]).await.unwrap();
    let http = as_agent(&server, &planner);
    let refused = async |input: Value| http.call(TOOL, input).await.unwrap().unwrap_err();
    for input in [json!({}), json!({ "issues": [{ "title": "x" }], "document": "PLAN.md" })] {
        assert_eq!(refused(input).await["message"], "pass either `issues` or `document`");
    }
    let error = refused(json!({ "document": "../secret.md" })).await;
    assert_eq!((&error["code"], &error["field"]), (&json!("INVALID_INPUT"), &json!("document")));
    let many: Vec<Value> = (0..51).map(|n| json!({ "title": format!("{n}") })).collect();
    assert_eq!(refused(json!({ "issues": many })).await["code"], "INVALID_INPUT");
    assert_eq!(refused(json!({ "issues": [{ "titel": "x" }] })).await["field"], "issues[0].titel");
    let coder = stage.coder("work").await;
    let http = as_agent(&server, &coder);
    let error =
        http.call(TOOL, json!({ "issues": [{ "title": "x" }] })).await.unwrap().unwrap_err();
    assert_eq!(error["code"], "PERMISSION_DENIED");
    assert_eq!(stage.github.requests(), []);
    stage.in_order().await;
}

#[tokio::test]
async fn what_was_opened_before_a_failure_is_kept_and_the_rest_follows() {
    let stage = stage(&[]).await;
    let server = stage.world.up().await.unwrap();
    let planner = stage.world.enlist("planner", &[]).await.unwrap();
    let http = as_agent(&server, &planner);
    let list = json!({ "issues": [{ "title": "One" }, { "title": "Two" }] });
    // One is looked for and opened; of the second nobody hears that it is open, and then GitHub wants to be left alone.
    let nothing = || Fault::Garbage("[]".to_owned());
    let soon = host::clock::Clock::System.now().after_seconds(1);
    stage.github.fail_next(nothing());
    stage.github.fail_next(Fault::LoseAnswer);
    stage.github.fail_next(Fault::RateLimited(soon));
    let answer = http.call(TOOL, list.clone()).await.unwrap().unwrap();
    assert_eq!((&answer["issues"][1]["number"], &answer["status"]), (&json!(2), &json!("done")));
    assert_eq!((there(&stage).len(), stage.asked()), (2, 2));
    // Refused for good: what is open is told.
    let forbidden = json!({ "issues": [{ "title": "Two" }, { "title": "Three" }] });
    stage.github.fail_next(nothing());
    stage.github.fail_next(Fault::Status(404));
    let error = http.call(TOOL, forbidden.clone()).await.unwrap().unwrap_err();
    assert_eq!(error["code"], "RESOURCE_NOT_FOUND");
    assert_eq!(error["created"][0]["number"], 2, "{error}");
    let answer = http.call(TOOL, forbidden).await.unwrap().unwrap();
    assert_eq!(answer["issues"][1]["number"], 3);
    stage.in_order().await;
}

#[tokio::test]
async fn a_crash_at_any_place_of_issues_opens_each_once() {
    for point in Point::ALL.iter().filter(|point| point.name().starts_with("issues.")) {
        let mut stage = stage(&[("ADJUTANT_CRASH_AT", point.name())]).await;
        fs::write(stage.world.project().join("PLAN.md"), PLAN).unwrap();
        stage.git("git add -A && git commit -q -m Plan").await;
        let mut server = stage.world.up().await.unwrap();
        let planner = draft(&stage.world, "planner", "plan").await;
        server.ended().await.unwrap();
        // What the plan says now is not what was asked for.
        fs::write(stage.world.project().join("PLAN.md"), format!("{PLAN}\n### Too late\n"))
            .unwrap();
        stage.git("git commit -q -a -m Later").await;
        stage.world.set("ADJUTANT_CRASH_AT", "");
        let _server = stage.world.up().await.unwrap();
        let over = answer(&stage.world, &["await", &planner]).await;
        assert_eq!(over["result"]["summary"], "planned", "{point}: {over}");
        // Unless nobody had read it yet.
        let late = *point == Point::IssuesAsked;
        let mut wanted = vec![is("Read the file", &["parser", "bug"]), is("Write it", &[])];
        wanted.extend(late.then(|| is("Too late", &[])));
        assert_eq!(there(&stage), wanted, "{point}");
        assert_eq!(stage.asked(), wanted.len(), "{point}");
        stage.in_order().await;
    }
}
