//! What breaks in between.

use testkit::slack::Fault;

use super::*;

/// That an order was done once, and was answered once.
async fn once(world: &World, slack: &FakeSlack, ts: &str) {
    slack.until("acknowledged", |slack| slack.unacknowledged() == 0).await.unwrap();
    assert_eq!(ran(world).len(), 1, "{:?}", ran(world));
    assert_eq!(slack.said_in(ts).len(), 1, "{:?}", slack.said_in(ts));
    assert_eq!(slack.marks(ts), ["eyes", "hammer", "white_check_mark"]);
}

#[tokio::test]
async fn what_slack_tells_twice_is_done_once() {
    let (world, slack, _server) = served("mender").await;
    // A mention is told as a message and as a mention.
    let ts = slack.say("C1", USER, "<@UBOT> Mend it");
    slack.tell_again("C1", &ts);
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    slack.tell_again("C1", &ts);
    slack.disconnect("warning");
    slack.until("again", |slack| slack.open_connections() == 1).await.unwrap();
    slack.until("acknowledged", |slack| slack.unacknowledged() == 0).await.unwrap();
    let next = slack.say("C1", USER, "<@UBOT> status");
    until_said(&slack, &next, 1).await;
    once(&world, &slack, &ts).await;
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_acknowledgement_loses_and_doubles_nothing() {
    let (world, slack, _server) = served("mender").await;
    slack.drop_before_acknowledgement();
    let ts = slack.say("D1", USER, "Mend it");
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    slack.until("acknowledged", |slack| slack.unacknowledged() == 0).await.unwrap();
    assert!(slack.connections() >= 2);
    once(&world, &slack, &ts).await;
}

#[tokio::test]
async fn a_connection_that_breaks_after_the_acknowledgement_does_neither() {
    let (world, slack, _server) = served("mender").await;
    slack.drop_after_acknowledgement();
    let ts = slack.say("D1", USER, "Mend it");
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    slack.until("again", |slack| slack.connections() >= 2).await.unwrap();
    slack.until("acknowledged", |slack| slack.unacknowledged() == 0).await.unwrap();
    once(&world, &slack, &ts).await;
}

#[tokio::test]
async fn what_was_said_while_nobody_listened_is_read_afterwards() {
    let (world, slack, _server) = served("mender").await;
    let ts = slack.say("C1", USER, "<@UBOT> First");
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    // Slack tells of none of these.
    slack.say_unheard("C1", Some(&ts), USER, "In the thread");
    let other = slack.say_unheard("C1", None, USER, "<@UBOT> In the channel");
    slack.say_unheard("C1", None, USER, "To others");
    slack.say_unheard("C1", None, "U9", "<@UBOT> From a stranger");
    slack.break_connections();
    until_said(&slack, &other, 1).await;
    until_said(&slack, &ts, 2).await;
    // A second time there is nothing new in them.
    slack.disconnect("refresh_requested");
    slack.until("again", |slack| slack.connections() >= 3).await.unwrap();
    let last = slack.say("D1", USER, "Last");
    until_mark(&slack, &last, &["white_check_mark"]).await;
    let mut all = ran(&world);
    all.sort();
    assert_eq!(all, ["First", "In the channel", "In the thread", "Last"]);
    assert_eq!(slack.said().len(), 4);
}

#[tokio::test]
async fn an_answer_whose_receipt_is_lost_is_said_once() {
    let (world, slack, _server) = served("mender").await;
    slack.fail_next("chat.postMessage", Fault::TakeAndBreak);
    let ts = slack.say("D1", USER, "Mend it");
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    once(&world, &slack, &ts).await;
    assert!(!slack.asked("conversations.replies").is_empty(), "it was looked for");
    // And one that was not taken is said again.
    slack.fail_next("chat.postMessage", Fault::Break);
    slack.reply("D1", &ts, USER, "Again");
    until_said(&slack, &ts, 2).await;
    let last = slack.say("D1", USER, "status");
    until_said(&slack, &last, 1).await;
    assert_eq!(slack.said_in(&ts).len(), 2);
}

#[tokio::test]
async fn a_server_that_is_killed_while_it_speaks_says_it_once() {
    let (world, slack, server) = served("mender").await;
    slack.fail_next("chat.postMessage", Fault::TakeAndHang);
    let ts = slack.say("D1", USER, "Mend it");
    until_said(&slack, &ts, 1).await;
    server.kill().await.unwrap();
    let _server = world.up().await.unwrap();
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    once(&world, &slack, &ts).await;
}

#[tokio::test]
async fn a_server_that_is_killed_before_or_after_it_acknowledges_does_it_once() {
    let (world, slack, server) = served("waiter").await;
    let ts = slack.say("D1", USER, "Wait for it");
    server.kill().await.unwrap();
    let server = world.up().await.unwrap();
    until_mark(&slack, &ts, &["hammer"]).await;
    server.kill().await.unwrap();
    go(&world);
    let _server = world.up().await.unwrap();
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    slack.until("acknowledged", |slack| slack.unacknowledged() == 0).await.unwrap();
    once(&world, &slack, &ts).await;
}

#[tokio::test]
async fn slack_is_left_alone_for_as_long_as_it_says() {
    let (world, slack, _server) = served("mender").await;
    slack.fail_next("chat.postMessage", Fault::RateLimit(1));
    slack.fail_next("reactions.add", Fault::RateLimit(1));
    slack.fail_next("chat.postMessage", Fault::Refuse("internal_error"));
    let ts = slack.say("D1", USER, "Mend it");
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    once(&world, &slack, &ts).await;
    assert_eq!(slack.asked("chat.postMessage").len(), 3);
}

#[tokio::test]
async fn an_app_that_may_not_choose_its_name_speaks_under_its_own() {
    let (world, slack, _server) = served("mender").await;
    slack.fail_next("chat.postMessage", Fault::Refuse("missing_scope"));
    let ts = slack.say("D1", USER, "Mend it");
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    once(&world, &slack, &ts).await;
    assert_eq!(slack.said()[0].username, None);
    slack.reply("D1", &ts, USER, "Again");
    until_said(&slack, &ts, 2).await;
    assert_eq!(slack.asked("chat.postMessage").len(), 3, "it does not try a name again");
}

#[tokio::test]
async fn what_slack_refuses_is_kept_shown_and_said_again() {
    let (world, slack, server) = served("mender").await;
    slack.refuse("chat.postMessage", Some("not_in_channel"));
    let ts = slack.say("C1", USER, "<@UBOT> Mend it");
    // The reaction after it does not wait for it.
    until_mark(&slack, &ts, &["white_check_mark"]).await;
    let http = client(&world, &server).await;
    // Slack has the reaction a moment before the record says so.
    let status = loop {
        let status = get(&http, "/api/slack").await;
        if status["waiting"] == 0 {
            break status;
        }
    };
    assert_eq!(status["failed"], 1, "{status}");
    assert_eq!(status["failures"][0]["error"], "Slack says `not_in_channel`");
    let text = world.run(&["slack"]).await.unwrap().ok().unwrap().stdout;
    assert!(text.contains("1 message not taken") && text.contains("not_in_channel"), "{text}");
    slack.refuse("chat.postMessage", None);
    let again = world.run(&["slack", "retry"]).await.unwrap().ok().unwrap();
    assert_eq!(again.stdout, "Retrying 1 message.\n");
    until_said(&slack, &ts, 1).await;
    once(&world, &slack, &ts).await;
}
