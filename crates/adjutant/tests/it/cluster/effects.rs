//! Effects on the outside that are under way when the owner is killed: the next owner does them once, or again under the
//! same id where the contract says so.

use serde_json::json;
use testkit::github::FakeGitHub;
use testkit::{Agent, Http, Reaction, Receiver, World};

use super::Cluster;
use super::drills::rounds;
use crate::crew::{repository, sh};
use crate::slack::{USER, ran, until_mark, until_said};
use crate::webhooks::{SECRET, configure, hook, titles};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stdout, reason = "the figures are the point")]
async fn a_webhook_under_way_when_the_owner_is_killed_comes_again_under_the_same_id() {
    let receiver = Receiver::start().await.unwrap();
    let world = async || {
        let mut world = crate::world().await;
        world.set("HOOK_KEY", SECRET);
        world
    };
    let first = world().await;
    configure(&first, &hook(&receiver, ""));
    let mut cluster = Cluster::import(first, 1).await;
    cluster.join(world().await);
    let mut cluster = cluster.serve().await;
    for round in 0..rounds() {
        let before = receiver.got().len();
        receiver.react(|_| Reaction::Hang);
        let owner = cluster.owner().await;
        let task = json!({ "title": format!("round {round}") });
        cluster.http(owner).call("mcp__task__create", task).await.unwrap().unwrap();
        receiver.until(|got| got.len() == before + 1).await.unwrap();
        cluster.machines[owner].kill().await;
        receiver.react(|_| Reaction::Status(200));
        let got = receiver.until(|got| got.len() == before + 2).await.unwrap();
        let [one, other] = &got[before..] else { panic!("two messages: {got:?}") };
        assert_eq!(one.header("webhook-id"), other.header("webhook-id"));
        assert_eq!(one.body, other.body);
        other.verify(SECRET).unwrap();
        cluster.machines[owner].up().await;
    }
    // What was written down is sent to nobody again.
    let owner = cluster.owner().await;
    let task = json!({ "title": "last" });
    cluster.http(owner).call("mcp__task__create", task).await.unwrap().unwrap();
    let got = receiver.until(|got| titles(got).contains(&"\"last\"".to_owned())).await.unwrap();
    assert_eq!(got.len(), rounds() * 2 + 1);
    println!(
        "webhook under way at a kill: {} kills, each message twice under one id, 0 lost",
        rounds()
    );
    cluster.expect_whole().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stdout, reason = "the figures are the point")]
async fn a_slack_message_under_way_when_the_owner_is_killed_is_said_once() {
    let default = "  default: mender\n  # Rules";
    let (first, slack) = crate::slack::stage(&[("  default: null\n  # Rules", default)]).await;
    let mut cluster = Cluster::import(first, 1).await;
    let mut second = crate::world().await;
    for (name, value) in [
        ("SLACK_BOT_TOKEN", slack.bot_token()),
        ("SLACK_APP_TOKEN", slack.app_token()),
        ("ADJUTANT_SLACK_API_URL", &slack.url()),
        ("ADJUTANT_SLACK_DEBOUNCE_MS", "1"),
    ] {
        second.set(name, value);
    }
    cluster.join(second);
    let mut cluster = cluster.serve().await;
    let mut said = 0;
    for _ in 0..rounds() {
        slack.until("connected", |slack| slack.open_connections() == 1).await.unwrap();
        let owner = cluster.owner().await;
        slack.fail_next("chat.postMessage", testkit::slack::Fault::TakeAndHang);
        let ts = slack.say("D1", USER, "Mend it");
        until_said(&slack, &ts, 1).await;
        cluster.machines[owner].kill().await;
        until_mark(&slack, &ts, &["white_check_mark"]).await;
        assert_eq!(slack.said_in(&ts).len(), 1, "it was said once");
        slack.until("acknowledged", |slack| slack.unacknowledged() == 0).await.unwrap();
        said += 1;
        let ran: usize = cluster.machines.iter().map(|machine| ran(&machine.world).len()).sum();
        assert_eq!(ran, said, "each was done once");
        cluster.machines[owner].up().await;
    }
    println!("slack message under way at a kill: {said} kills, {said} messages, 0 lost, 0 twice");
    cluster.expect_whole().await;
}

/// A project with a remote that git takes for one on GitHub.
async fn with_remote(world: &mut World, github: &FakeGitHub) {
    let (api, token) = (github.url(), github.token());
    for (name, value) in [
        ("ADJUTANT_GITHUB_API_URL", api.as_str()),
        ("ADJUTANT_GITHUB_POLL_SECONDS", "0"),
        ("GITHUB_TOKEN", token),
    ] {
        world.set(name, value);
    }
    repository(world).await;
    sh(world, "git remote add origin https://github.com/o/r.git").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stdout, reason = "the figures are the point")]
async fn an_outbox_job_under_way_when_the_owner_dies_is_done_once_by_the_next() {
    let github = FakeGitHub::start().await.unwrap();
    github.repo("o", "r", "main");
    let mut worlds = Vec::new();
    for _ in 0..2 {
        let mut world = crate::world().await;
        with_remote(&mut world, &github).await;
        worlds.push(world);
    }
    let second = worlds.pop().unwrap();
    let mut cluster = Cluster::import(worlds.pop().unwrap(), 1).await;
    cluster.join(second);
    let mut cluster = cluster.serve().await;
    let planner = cluster.machines[0].world.enlist("planner", &[]).await.unwrap();
    let Agent { token, .. } = planner;
    let mut wanted = Vec::new();
    for round in 0..rounds() {
        let owner = cluster.owner().await;
        let next = cluster.others(owner)[0];
        // It dies with one of two issues open, and nothing of it on record.
        cluster.machines[owner].world.set("ADJUTANT_CRASH_AT", "issues.opened");
        cluster.machines[next].stop().await;
        cluster.machines[owner].stop().await;
        cluster.machines[owner].up().await;
        cluster.until_is(owner, "owner").await;
        cluster.machines[next].up().await;
        let titles = [format!("One of {round}"), format!("Two of {round}")];
        let list = json!({ "issues": titles.each_ref().map(|title| json!({ "title": title })) });
        let http = Http::new(&cluster.machines[owner].url, &token);
        let mut server = cluster.machines[owner].server.take().unwrap();
        let called = http.call("mcp__review__create_issues", list.clone());
        let (_, ended) = tokio::join!(called, server.ended());
        assert_eq!(ended.unwrap().code(), None, "it died of a signal");
        wanted.extend(titles);
        assert_eq!(github.issues().len(), wanted.len() - 1, "one of the two is open");

        cluster.until_is(next, "owner").await;
        let http = Http::new(&cluster.machines[next].url, &token);
        let answer = http.call("mcp__review__create_issues", list).await.unwrap().unwrap();
        assert_eq!(answer["status"], "done", "{answer}");
        cluster.machines[owner].world.set("ADJUTANT_CRASH_AT", "");
        cluster.machines[owner].up().await;
    }
    let open: Vec<String> = github.issues().into_iter().map(|issue| issue.title).collect();
    assert_eq!(open, wanted, "each is open once");
    github.finish().unwrap();
    let (kills, issues) = (rounds(), open.len());
    println!("outbox job under way at a kill: {kills} kills, {issues} issues, 0 lost, 0 twice");
    cluster.expect_whole().await;
}
