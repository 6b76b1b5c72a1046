//! GitHub, as a server on loopback plays it: it holds what it is asked against GitHub's own description.

mod failures;

use std::time::Duration;

use host::clock::Clock;
use host::github::{
    GitHub, GitHubError, Issue, NewIssue, NewPull, Pull, Repository, parse_event, verify_signature,
};
use model::Timestamp;
use model::review::PullState;
use testkit::github::{Branch, FakeGitHub, Fault};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const TOKEN_EXPIRY: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// A GitHub with one repository.
async fn fake() -> FakeGitHub {
    let fake = FakeGitHub::start_at(Clock::manual(TOKEN_EXPIRY)).await.unwrap();
    fake.repo("octo", "hello", "trunk");
    fake
}

/// A client that waits long for an answer, and not at all before it asks again.
fn client(url: &str, token: &str) -> GitHub {
    GitHub::new(url, Some(token.to_owned()), Duration::from_secs(60))
        .unwrap()
        .with_backoff(Duration::ZERO)
        .with_clock(Clock::manual(TOKEN_EXPIRY))
}

fn of(fake: &FakeGitHub) -> GitHub {
    client(&fake.url(), fake.token())
}

fn hello() -> Repository {
    Repository::from_remote("git@github.com:octo/hello.git").unwrap()
}

fn new_pull(head: &str) -> NewPull {
    NewPull {
        title: "A title".to_owned(),
        body: "What it does".to_owned(),
        head: head.to_owned(),
        base: "trunk".to_owned(),
    }
}

fn new_issue(marker: &str) -> NewIssue {
    NewIssue {
        title: "Something is amiss".to_owned(),
        body: "This".to_owned(),
        labels: vec!["bug".to_owned(), "never seen".to_owned()],
        marker: marker.to_owned(),
    }
}

/// The methods of what was asked, in order.
fn methods(fake: &FakeGitHub) -> Vec<String> {
    fake.requests().into_iter().map(|seen| seen.method).collect()
}

#[tokio::test]
async fn a_repository_has_a_default_branch() {
    let fake = fake().await;
    assert_eq!(of(&fake).default_branch(&hello()).await.unwrap(), "trunk");
    fake.finish().unwrap();
}

#[tokio::test]
async fn a_pull_request_is_opened_found_and_followed_to_its_end() {
    let fake = fake().await;
    let (github, hello) = (of(&fake), hello());
    assert_eq!(github.find_pull(&hello, "adjutant/a", "trunk").await.unwrap(), None);
    let pull = github.create_pull(&hello, &new_pull("adjutant/a")).await.unwrap();
    let expected = Pull {
        number: 1,
        url: "https://github.com/octo/hello/pull/1".to_owned(),
        state: PullState::Open,
        head: "adjutant/a".to_owned(),
        base: "trunk".to_owned(),
        title: "A title".to_owned(),
    };
    assert_eq!(pull, expected);
    assert_eq!(fake.pulls()[0].body, "What it does");
    for state in [PullState::Merged, PullState::Closed, PullState::Open] {
        fake.set_pull_state(1, state);
        let expected = Pull { state, ..expected.clone() };
        assert_eq!(github.pull(&hello, 1).await.unwrap(), expected);
        let found = github.find_pull(&hello, "adjutant/a", "trunk").await.unwrap();
        assert_eq!(found, Some(expected));
    }
    for (head, base) in [("adjutant/b", "trunk"), ("adjutant/a", "stable"), ("a", "trunk")] {
        assert_eq!(github.find_pull(&hello, head, base).await.unwrap(), None, "{head} {base}");
    }
    fake.finish().unwrap();
}

#[tokio::test]
async fn an_open_pull_request_is_found_before_the_newest() {
    let fake = fake().await;
    let (github, hello) = (of(&fake), hello());
    for number in [1, 2] {
        github.create_pull(&hello, &new_pull("a")).await.unwrap();
        fake.set_pull_state(number, PullState::Closed);
    }
    let found = async || github.find_pull(&hello, "a", "trunk").await.unwrap().unwrap().number;
    assert_eq!(found().await, 2);
    fake.set_pull_state(1, PullState::Open);
    assert_eq!(found().await, 1);
    fake.finish().unwrap();
}

#[tokio::test]
async fn one_pull_request_is_opened_though_the_answer_was_lost() {
    let fake = fake().await;
    let (github, hello) = (of(&fake), hello());
    fake.fail_next(Fault::LoseAnswer);
    let lost = github.create_pull(&hello, &new_pull("a")).await.unwrap_err();
    assert!(matches!(lost, GitHubError::Unreachable { .. }) && lost.is_transient(), "{lost}");
    assert_eq!(methods(&fake), ["POST"], "GitHub may have done it");
    assert_eq!(github.create_pull(&hello, &new_pull("a")).await.unwrap().number, 1);
    assert_eq!(github.create_pull(&hello, &new_pull("a")).await.unwrap().number, 1);
    assert_eq!(fake.pulls().len(), 1);
    fake.finish().unwrap();
}

#[tokio::test]
async fn one_issue_is_opened_though_the_answer_was_lost() {
    let fake = fake().await;
    let (github, hello) = (of(&fake), hello());
    fake.fail_next(Fault::LoseAnswer);
    let lost = github.create_issue(&hello, &new_issue("issue_1")).await.unwrap_err();
    assert!(lost.is_transient(), "{lost}");
    assert_eq!(methods(&fake), ["POST"], "GitHub may have done it");
    let found = github.find_issue(&hello, "issue_1", TOKEN_EXPIRY).await.unwrap();
    let expected = Issue {
        number: 1,
        url: "https://github.com/octo/hello/issues/1".to_owned(),
        title: "Something is amiss".to_owned(),
    };
    assert_eq!(found, Some(expected));
    for other in ["issue_", "issue_11", "1"] {
        assert_eq!(github.find_issue(&hello, other, TOKEN_EXPIRY).await.unwrap(), None, "{other}");
    }
    assert_eq!(fake.issues().len(), 1);
    fake.finish().unwrap();
}

#[tokio::test]
async fn an_issue_has_its_labels_and_a_marker_that_people_do_not_see() {
    let fake = fake().await;
    let issue = of(&fake).create_issue(&hello(), &new_issue("issue_1")).await.unwrap();
    assert_eq!((issue.number, issue.title.as_str()), (1, "Something is amiss"));
    let kept = &fake.issues()[0];
    assert_eq!(kept.body, "This\n\n<!-- adjutant:issue_1 -->\n");
    assert_eq!(kept.labels, ["bug", "never seen"]);
    assert_eq!(fake.labels("octo", "hello"), ["bug", "never seen"]);
    fake.finish().unwrap();
}

#[tokio::test]
async fn an_issue_is_looked_for_on_every_page_as_far_back_as_it_can_be() {
    let clock = Clock::manual(TOKEN_EXPIRY);
    let fake = FakeGitHub::start_at(clock.clone()).await.unwrap();
    fake.repo("octo", "hello", "trunk");
    let (github, hello) = (of(&fake), hello());
    let marked = "<!-- adjutant:m -->";
    let asked = async |since: Timestamp| {
        let before = fake.requests().len();
        let found = github.find_issue(&hello, "m", since).await.unwrap();
        (found.map(|issue| issue.number), fake.requests().len() - before)
    };
    let wanted = fake.issue("octo", "hello", "Old", marked);
    for _ in 0..110 {
        fake.issue("octo", "hello", "Another", "");
    }
    assert_eq!(asked(TOKEN_EXPIRY).await, (Some(wanted), 2));
    // A day later it lies before what is asked for; what is newer fits on one page.
    clock.advance_seconds(86_400);
    fake.issue("octo", "hello", "New", "");
    assert_eq!(asked(clock.now()).await, (None, 1));
    // All of them are in the list again, but what comes after the newest is too old to be it.
    fake.touch_issues();
    assert_eq!(asked(clock.now()).await, (None, 1));
    // A pull request is in the list too, and is no issue.
    let pull = NewPull { body: marked.to_owned(), ..new_pull("a") };
    github.create_pull(&hello, &pull).await.unwrap();
    assert_eq!(asked(clock.now()).await, (None, 1));
    fake.finish().unwrap();
}

#[tokio::test]
async fn the_search_for_an_issue_has_an_end() {
    let fake = fake().await;
    for _ in 0..1001 {
        fake.issue("octo", "hello", "Another", "");
    }
    let error = of(&fake).find_issue(&hello(), "m", TOKEN_EXPIRY).await.unwrap_err();
    assert_eq!(error, GitHubError::TooMany { repository: "octo/hello".to_owned() });
    assert!(error.to_string().contains("by hand") && !error.is_transient(), "{error}");
    assert_eq!(fake.requests().len(), 10);
    fake.finish().unwrap();
}

#[tokio::test]
async fn an_enterprise_has_its_api_below_a_path() {
    let fake = fake().await;
    let hello = Repository::from_remote("https://github.example.com/octo/hello").unwrap();
    for url in [fake.enterprise_url(), format!("{}/", fake.enterprise_url())] {
        client(&url, fake.token()).create_pull(&hello, &new_pull("a")).await.unwrap();
    }
    for seen in fake.requests() {
        assert_eq!(seen.path, "/api/v3/repos/octo/hello/pulls");
    }
    assert_eq!(fake.pulls().len(), 1);
    fake.finish().unwrap();
}

#[tokio::test]
async fn a_branch_without_commits_of_its_own_makes_no_pull_request() {
    let fake = fake().await;
    let (github, hello) = (of(&fake), hello());
    for (branch, stands) in
        [("trunk", Branch::Even), ("even", Branch::Even), ("ahead", Branch::Ahead)]
    {
        fake.branch("octo", "hello", branch, stands);
    }
    let refused = async |head: &str| {
        github.create_pull(&hello, &new_pull(head)).await.unwrap_err().to_string()
    };
    assert!(refused("even").await.contains("No commits between trunk and even"));
    assert!(refused("never pushed").await.contains("`head`: invalid"));
    assert_eq!(github.create_pull(&hello, &new_pull("ahead")).await.unwrap().number, 1);
    fake.finish().unwrap();
}

#[tokio::test]
async fn what_github_delivers_is_understood_and_only_with_its_signature() {
    let fake = fake().await;
    of(&fake).create_pull(&hello(), &new_pull("a")).await.unwrap();
    for state in [PullState::Merged, PullState::Closed, PullState::Open] {
        fake.set_pull_state(1, state);
        let delivery = fake.deliver(1, b"a secret").unwrap();
        assert!(verify_signature(b"a secret", &delivery.body, &delivery.signature));
        assert!(!verify_signature(b"another", &delivery.body, &delivery.signature));
        let event = parse_event(&delivery.event, &delivery.body).unwrap();
        assert_eq!((event.number, event.state), (1, state));
        assert_eq!(event.repository, ("octo".to_owned(), "hello".to_owned()));
    }
    fake.finish().unwrap();
}

/// Sends a request as it stands, and returns the first line of the answer.
async fn raw(fake: &FakeGitHub, head: &str, body: &str) -> String {
    let host = fake.url().replace("http://", "");
    let mut stream = TcpStream::connect(&host).await.unwrap();
    let request = format!(
        "{head} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
         User-Agent: test\r\nContent-Length: {}\r\n\r\n{body}",
        fake.token(),
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_request_that_github_does_not_describe_is_caught() {
    let fake = fake().await;
    let pulls = "POST /repos/octo/hello/pulls";
    let right = r#"{"title":"t","head":"a","base":"trunk"}"#;
    assert_eq!(raw(&fake, pulls, right).await, "HTTP/1.1 201 Created");
    fake.assert_valid();
    for (head, body, words) in [
        (pulls, r#"{"title":"t","head":"b"}"#, r#""base" is a required property"#),
        (pulls, r#"{"title":"t","head":7,"base":"trunk"}"#, "`/head`: 7 is not of type"),
        (pulls, r#"{"title":"t","head":"c","base":"trunk","lables":[]}"#, "lables"),
        (pulls, "{", "body: EOF"),
        ("POST /repos/octo/hello/issues", r#"{"body":"b"}"#, r#""title" is a required property"#),
        ("POST /repos/octo/hello/issues", r#"{"title":"t","labels":"bug"}"#, "`/labels`"),
        ("GET /repos/octo/hello/pulls?state=merged", "", r#""merged" is not one of"#),
        ("GET /repos/octo/hello/pulls?headbranch=a", "", "`headbranch` is no query parameter"),
        ("GET /repos/octo/hello/pulls?page=two", "", r#""two" is not of type"#),
        ("GET /repos/octo/hello/issues?since=yesterday", "", r#""yesterday" is not a "date-time""#),
        ("GET /repos/octo/hello/pulls/first", "", r#""first" is not of type"#),
        ("GET /repos/octo/hello", "{}", "there must be none"),
        ("GET /repos/octo/hello/pull/1", "", "is not described"),
        ("DELETE /repos/octo/hello/pulls/1", "", "is not described"),
    ] {
        raw(&fake, head, body).await;
        let violations = fake.take_violations().join("\n");
        assert!(violations.contains(words), "{head} {body}: {violations}");
    }
    raw(&fake, "GET /user", "").await;
    assert!(fake.finish().unwrap_err().to_string().contains("get /user is not described"));
}
