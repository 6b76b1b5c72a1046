//! The Slack client against a real server: what is read, what is refused, and what leaves the outcome unknown.

use std::time::Duration;

use host::slack::{NewMessage, Reaction, Slack, SlackError, SlackIdentity, SlackTokens};
use testkit::slack::{FakeSlack, Fault};

const TEST_TIMEOUT: Duration = Duration::from_secs(10);

fn client(server: &FakeSlack, timeout: Duration) -> Slack {
    let tokens = SlackTokens { bot: server.bot_token(), app: server.app_token() };
    Slack::new(&server.url(), tokens, timeout).unwrap()
}

fn post(thread: &str) -> NewMessage {
    NewMessage {
        key: "k1".to_owned(),
        channel: "C1".to_owned(),
        thread: thread.to_owned(),
        text: "Done.".to_owned(),
        username: Some("builder".to_owned()),
    }
}

#[tokio::test]
async fn a_message_is_said_found_again_and_marked() {
    let server = FakeSlack::start().await.unwrap();
    let slack = client(&server, TEST_TIMEOUT);
    let first = server.say("C1", "U1", "hello");
    let expected = SlackIdentity { user: "UBOT".to_owned(), team: "Crew".to_owned() };
    assert_eq!(slack.identity().await, Ok(expected));
    assert_eq!(slack.is_posted(&post(&first), &first).await, Ok(false));
    let ts = slack.say(&post(&first)).await.unwrap();
    assert_eq!(slack.is_posted(&post(&first), &first).await, Ok(true));
    let read = slack.replies("C1", &first, &first).await.unwrap();
    assert_eq!((read.messages.len(), read.messages[0].ts.as_str()), (1, ts.as_str()));
    for _ in 0..2 {
        slack.react(Reaction::Add, "C1", &first, "eyes").await.unwrap();
    }
    assert_eq!(server.reactions(&first), ["eyes"]);
}

#[tokio::test]
async fn every_page_of_a_channel_is_read() {
    let server = FakeSlack::start().await.unwrap();
    for number in 0..205 {
        server.say("C1", "U1", &number.to_string());
    }
    let read = client(&server, TEST_TIMEOUT).history("C1", "0").await.unwrap();
    assert_eq!((read.messages.len(), read.cut), (205, false));
    assert_eq!(read.messages[204].text, "204");
    assert!(server.asked("conversations.history").len() > 1);
}

#[tokio::test]
async fn refusals_pauses_and_lost_answers_are_told_apart() {
    let server = FakeSlack::start().await.unwrap();
    let slack = client(&server, TEST_TIMEOUT);
    let first = server.say("C1", "U1", "hello");
    let method = "chat.postMessage";
    server.fail_next(method, Fault::Refuse("not_in_channel"));
    let refused = SlackError::Refused { code: "not_in_channel".to_owned() };
    assert_eq!(slack.say(&post(&first)).await, Err(refused));
    server.fail_next(method, Fault::RateLimit(17));
    assert_eq!(slack.say(&post(&first)).await, Err(SlackError::RateLimited { seconds: 17 }));
    server.fail_next(method, Fault::TakeAndBreak);
    let broken = slack.say(&post(&first)).await.unwrap_err();
    assert!(matches!(broken, SlackError::Unsure { .. }), "{broken:?}");
    server.fail_next(method, Fault::TakeAndHang);
    let late = client(&server, Duration::from_millis(200)).say(&post(&first)).await.unwrap_err();
    assert_eq!(late, SlackError::Unsure { why: "no answer within 0.2 s".to_owned() });
    assert_eq!(server.asked(method).len(), 4, "nothing is sent twice");
}

#[tokio::test]
async fn tokens_are_sent_to_no_address_without_tls() {
    for url in ["http://slack.example/api", "https://a@slack.example", "ftp://x", "https://x/?a=b"]
    {
        let made = Slack::new(url, SlackTokens { bot: "xoxb-1", app: "xapp-1" }, TEST_TIMEOUT);
        assert!(matches!(made, Err(SlackError::Address)), "{url}");
    }
}
