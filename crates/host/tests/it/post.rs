//! The poster against a real server: what comes back, and what is not waited for, read or followed.

use std::time::Duration;

use host::post::{PostError, PostResponse, Poster};
use testkit::{Reaction, Receiver};
use tokio::net::TcpListener;

const TEST_TIMEOUT: Duration = Duration::from_secs(5);

async fn post(url: &str) -> Result<PostResponse, PostError> {
    let headers = [("webhook-id", "msg_1".to_owned())];
    Poster::new(TEST_TIMEOUT).post(url, &headers, r#"{"a":1}"#.to_owned()).await
}

#[tokio::test]
async fn a_document_arrives_with_its_headers() {
    let receiver = Receiver::start().await.unwrap();
    let reply = post(&receiver.url("/x?y=z")).await.unwrap();
    assert_eq!(
        reply,
        PostResponse { status: 204, retry_after: None, location: None, body: String::new() }
    );
    let got = receiver.got();
    assert_eq!(
        (got.len(), got[0].path.as_str(), got[0].body.as_str()),
        (1, "/x?y=z", r#"{"a":1}"#)
    );
    assert_eq!(got[0].header("webhook-id"), "msg_1");
    assert_eq!(got[0].header("content-type"), "application/json");
    assert!(got[0].header("user-agent").starts_with("adjutant/"));
}

#[tokio::test]
async fn a_redirect_is_told_and_not_followed() {
    let receiver = Receiver::start().await.unwrap();
    let elsewhere = receiver.url("/elsewhere");
    receiver
        .react(move |_| Reaction::With(307, vec![("location", elsewhere.clone())], String::new()));
    let reply = post(&receiver.url("/here")).await.unwrap();
    assert_eq!((reply.status, reply.location), (307, Some(receiver.url("/elsewhere"))));
    assert_eq!(receiver.got().len(), 1);
}

#[tokio::test]
async fn a_pause_that_is_asked_for_is_told() {
    let receiver = Receiver::start().await.unwrap();
    receiver
        .react(|_| Reaction::With(429, vec![("retry-after", "17".to_owned())], "slowly".into()));
    let reply = post(&receiver.url("/")).await.unwrap();
    assert_eq!((reply.status, reply.retry_after, reply.body.as_str()), (429, Some(17), "slowly"));
}

#[tokio::test]
async fn a_long_answer_is_read_no_further_than_64_kib() {
    let receiver = Receiver::start().await.unwrap();
    receiver.react(|_| Reaction::With(200, Vec::new(), "x".repeat(5 << 20)));
    let reply = post(&receiver.url("/")).await.unwrap();
    assert_eq!((reply.status, reply.body.len()), (200, 64 << 10));
}

#[tokio::test]
async fn nobody_is_waited_for_without_end() {
    let receiver = Receiver::start().await.unwrap();
    receiver.react(|_| Reaction::Hang);
    let limit = Duration::from_millis(50);
    let poster = Poster::new(limit);
    let late = poster.post(&receiver.url("/"), &[], String::new()).await;
    assert_eq!(late, Err(PostError::Late(limit)));
    // Anyone who takes the connection and then says nothing is no better.
    let deaf = TcpListener::bind("127.0.0.1:0").await.unwrap();
    for scheme in ["http", "https"] {
        let url = format!("{scheme}://{}/", deaf.local_addr().unwrap());
        assert_eq!(poster.post(&url, &[], String::new()).await, Err(PostError::Late(limit)));
    }
}

#[tokio::test]
async fn a_connection_that_breaks_or_is_none_is_said_in_words() {
    let receiver = Receiver::start().await.unwrap();
    receiver.react(|_| Reaction::HangUp);
    let broken = post(&receiver.url("/")).await.unwrap_err();
    assert!(matches!(broken, PostError::Broken { .. }), "{broken}");
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let refused = post(&format!("http://{closed}/")).await.unwrap_err();
    assert!(refused.to_string().contains("refused"), "{refused}");
    assert_eq!(post("ftp://127.0.0.1/").await, Err(PostError::Address));
}
