//! When GitHub does not do it: what is tried again, what is followed, and what is said.

use std::time::Duration;

use host::github::{GitHub, GitHubError, NewIssue, NewPull, Repository};
use testkit::github::Fault;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{TOKEN_EXPIRY, client, fake, hello, methods, new_issue, new_pull, of};

#[tokio::test]
async fn an_endless_answer_is_not_read_to_its_end() {
    let fake = fake().await;
    fake.fail_next(Fault::Garbage("x".repeat(33 << 20)));
    let error = of(&fake).default_branch(&hello()).await.unwrap_err();
    assert_eq!(error, GitHubError::Unreadable { why: "it is too long".to_owned() });
    assert_eq!(fake.requests().len(), 1, "it would be as long again");
    fake.finish().unwrap();
}

#[tokio::test]
async fn what_only_looks_is_tried_four_times() {
    let fake = fake().await;
    let (github, hello) = (of(&fake), hello());
    for fault in [Fault::Status(502), Fault::HangUp, Fault::Status(503)] {
        fake.fail_next(fault);
    }
    assert_eq!(github.default_branch(&hello).await.unwrap(), "trunk");
    assert_eq!(fake.requests().len(), 4);
    for _ in 0..4 {
        fake.fail_next(Fault::Status(502));
    }
    let error = github.default_branch(&hello).await.unwrap_err();
    assert_eq!(error, GitHubError::Failing { status: 502 });
    assert!(error.is_transient() && error.retry_at().is_none());
    assert_eq!(fake.requests().len(), 8);
    fake.finish().unwrap();
}

#[tokio::test]
async fn what_changes_something_is_not_sent_twice() {
    let fake = fake().await;
    let (github, hello) = (of(&fake), hello());
    for (fault, count) in [(Fault::Status(502), 1), (Fault::HangUp, 2)] {
        fake.fail_next(fault.clone());
        let error = github.create_issue(&hello, &new_issue("m")).await.unwrap_err();
        assert!(error.is_transient(), "{fault:?}: {error}");
        assert_eq!(fake.requests().len(), count, "{fault:?}");
    }
    assert!(fake.issues().is_empty());
    fake.finish().unwrap();
}

#[tokio::test]
async fn what_changes_something_is_sent_again_if_there_was_no_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    // TLS is begun with somebody who hangs up, so no request can have left.
    let github = client(&format!("https://{}", listener.local_addr().unwrap()), "token");
    let (accepted, stop) = (TaskTracker::new(), CancellationToken::new());
    let until = stop.clone();
    let counting = accepted.spawn(async move {
        let mut count = 0;
        while let Some(Ok(_)) = until.run_until_cancelled(listener.accept()).await {
            count += 1;
        }
        count
    });
    let error = github.create_issue(&hello(), &new_issue("m")).await.unwrap_err();
    assert!(matches!(error, GitHubError::Unreachable { .. }), "{error}");
    stop.cancel();
    assert_eq!(counting.await.unwrap(), 4);
}

#[tokio::test]
async fn a_silent_github_is_not_waited_for_for_ever() {
    let fake = fake().await;
    let short = Duration::from_millis(20);
    let github = GitHub::new(&fake.url(), Some(fake.token().to_owned()), short).unwrap();
    let github = github.with_backoff(Duration::ZERO);
    for _ in 0..5 {
        fake.fail_next(Fault::Hang);
    }
    let error = github.default_branch(&hello()).await.unwrap_err();
    assert_eq!(error, GitHubError::TooSlow { after: short });
    assert!(error.is_transient() && error.to_string().contains("20ms"), "{error}");
    let error = github.create_pull(&hello(), &new_pull("a")).await.unwrap_err();
    assert_eq!(error, GitHubError::TooSlow { after: short });
    // A request may be given up before it is even read; the one that changes something was sent once at most.
    assert!(methods(&fake).iter().filter(|method| *method == "POST").count() <= 1);
    fake.finish().unwrap();
}

#[tokio::test]
async fn a_rate_limit_says_when_it_ends_and_nobody_waits_for_it_here() {
    let fake = fake().await;
    let (github, hello) = (of(&fake), hello());
    let until = TOKEN_EXPIRY.after_seconds(1234);
    let cases = [
        (Fault::RateLimited(until), until),
        (Fault::TooFast(30), TOKEN_EXPIRY.after_seconds(30)),
        (Fault::Refuse(429, "Slow down".to_owned()), TOKEN_EXPIRY.after_seconds(60)),
        (Fault::Refuse(403, "a secondary rate limit".to_owned()), TOKEN_EXPIRY.after_seconds(60)),
    ];
    for (fault, until) in cases {
        let before = fake.requests().len();
        for _ in 0..2 {
            fake.fail_next(fault.clone());
        }
        let looked = github.pull(&hello, 1).await.unwrap_err();
        let changed = github.create_pull(&hello, &new_pull("a")).await.unwrap_err();
        for error in [looked, changed] {
            assert_eq!(error, GitHubError::RateLimited { until }, "{fault:?}");
            assert!(error.is_transient() && error.retry_at() == Some(until), "{fault:?}");
            assert!(error.to_string().contains(&until.to_string()), "{error}");
        }
        assert_eq!(fake.requests().len() - before, 2, "{fault:?}");
    }
    fake.finish().unwrap();
}

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed() {
    let (fake, other) = (fake().await, fake().await);
    let (github, hello) = (of(&fake), hello());
    for status in [301, 302, 307, 308] {
        let to = format!("{}/repos/octo/hello", other.url());
        for _ in 0..2 {
            fake.fail_next(Fault::Redirect(status, to.clone()));
        }
        let looked = github.default_branch(&hello).await.unwrap_err();
        let changed = github.create_pull(&hello, &new_pull("a")).await.unwrap_err();
        assert_eq!((&looked, &changed), (&GitHubError::Moved { to: to.clone() }, &looked));
        assert!(looked.to_string().contains(&to) && !looked.is_transient(), "{looked}");
    }
    assert!(other.requests().is_empty(), "neither the token nor anything else went there");
    let told = format!("Bearer {}", fake.token());
    assert!(fake.requests().iter().all(|seen| seen.authorization.as_ref() == Some(&told)));
    fake.finish().unwrap();
    other.finish().unwrap();
}

#[tokio::test]
async fn a_redirect_on_the_same_host_is_followed_where_that_is_safe() {
    let fake = fake().await;
    let old = Repository::from_remote("git@github.com:octo/old.git").unwrap();
    let github = of(&fake);
    for to in [format!("{}/repos/octo/hello", fake.url()), "/repos/octo/hello".to_owned()] {
        fake.fail_next(Fault::Redirect(301, to));
        assert_eq!(github.default_branch(&old).await.unwrap(), "trunk");
    }
    let pulls = format!("{}/repos/octo/hello/pulls", fake.url());
    fake.fail_next(Fault::Redirect(301, pulls.clone()));
    let moved = github.create_pull(&old, &new_pull("a")).await.unwrap_err();
    assert_eq!(moved, GitHubError::Moved { to: pulls.clone() });
    fake.fail_next(Fault::Redirect(307, pulls.clone()));
    assert_eq!(github.create_pull(&old, &new_pull("a")).await.unwrap().number, 1);
    let before = fake.requests().len();
    for _ in 0..4 {
        fake.fail_next(Fault::Redirect(302, "/repos/octo/hello".to_owned()));
    }
    let round = github.default_branch(&old).await.unwrap_err();
    assert!(matches!(round, GitHubError::Moved { .. }), "{round}");
    assert_eq!(fake.requests().len() - before, 4);
    fake.finish().unwrap();
}

#[tokio::test]
async fn each_error_says_what_to_do() {
    let fake = fake().await;
    let (github, hello) = (of(&fake), hello());
    let says = |error: GitHubError, words: &[&str]| {
        let text = error.to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
        assert!(!error.is_transient() && error.retry_at().is_none(), "{text}");
    };
    let nobody = GitHub::new(&fake.url(), Some("  ".to_owned()), Duration::from_secs(60)).unwrap();
    says(nobody.default_branch(&hello).await.unwrap_err(), &["no GitHub token", "`GITHUB_TOKEN`"]);
    assert!(fake.requests().is_empty(), "nothing is asked without a token");
    let stranger = client(&fake.url(), "ghp_expired");
    says(stranger.pull(&hello, 1).await.unwrap_err(), &["401", "expired", "`GITHUB_TOKEN`"]);
    let reader = client(&fake.url(), fake.read_only_token());
    let refused = reader.create_pull(&hello, &new_pull("a")).await.unwrap_err();
    says(refused, &["403", "Resource not accessible", "write access"]);
    let missing = Repository::from_remote("git@github.com:octo/missing.git").unwrap();
    let unseen = github.find_pull(&missing, "a", "trunk").await.unwrap_err();
    says(unseen, &["octo/missing", "404", "token cannot see it"]);
    says(github.pull(&hello, 7).await.unwrap_err(), &["pull request 7 of octo/hello"]);
    let untitled = NewPull { title: " ".to_owned(), ..new_pull("a") };
    let refused = github.create_pull(&hello, &untitled).await.unwrap_err();
    says(refused, &["422", "`title`: missing_field"]);
    let long = NewIssue { title: "x".repeat(300), body: "y".repeat(70_000), ..new_issue("m") };
    let refused = github.create_issue(&hello, &long).await.unwrap_err();
    says(refused, &["title is too long (maximum is 256 characters); body is too long"]);
    fake.fail_next(Fault::Refuse(410, "Issues are disabled for this repo".to_owned()));
    let refused = github.create_issue(&hello, &new_issue("m")).await.unwrap_err();
    says(refused, &["410", "Issues are disabled"]);
    fake.fail_next(Fault::Garbage("<html>A proxy</html>".to_owned()));
    says(github.default_branch(&hello).await.unwrap_err(), &["understood", "`github.api_url`"]);
    fake.finish().unwrap();
    let gone = client("http://127.0.0.1:1", "token").default_branch(&hello).await.unwrap_err();
    let text = gone.to_string();
    assert!(text.contains("http://127.0.0.1:1") && text.contains("network"), "{text}");
}

#[tokio::test]
async fn the_token_is_in_no_text() {
    let fake = fake().await;
    let (github, hello) = (of(&fake), hello());
    let token = fake.token().to_owned();
    assert!(!format!("{github:?}").contains(&token));
    for fault in [
        Fault::Refuse(403, format!("{token} may not do this")),
        Fault::Refuse(422, format!("{token} is odd")),
        Fault::Redirect(301, format!("https://elsewhere.example/{token}")),
        Fault::Garbage(format!("\"{token}\"")),
        Fault::Garbage(format!("{{\"default_branch\": [\"{token}\"]}}")),
    ] {
        fake.fail_next(fault.clone());
        let error = github.default_branch(&hello).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains(&token), "{fault:?}: {error:?}");
    }
    let odd = GitHub::new(&fake.url(), Some("secret\nvalue".to_owned()), Duration::from_secs(1));
    let odd = odd.unwrap_err();
    assert!(odd.to_string().contains("`GITHUB_TOKEN`") && !format!("{odd:?}").contains("secret"));
    fake.finish().unwrap();
}
