//! Cases that need no server: addresses, remotes, webhooks.

use super::*;

fn remote(url: &str) -> Option<String> {
    Repository::from_remote(url).map(|one| format!("{} {one}", one.host()))
}

#[test]
fn a_remote_means_a_repository_in_each_way_of_writing() {
    for url in [
        "https://github.com/octo-org/hello.world",
        "https://github.com/octo-org/hello.world.git",
        "https://github.com/octo-org/hello.world/",
        "https://GitHub.com:443/octo-org/hello.world.git",
        "https://someone:secret@github.com/octo-org/hello.world.git",
        "ssh://git@github.com/octo-org/hello.world.git",
        "ssh://git@github.com:22/octo-org/hello.world.git",
        "ssh://git@ssh.github.com:443/octo-org/hello.world.git",
        "git@github.com:octo-org/hello.world.git",
        "git@github.com:/octo-org/hello.world.git",
        "github.com:octo-org/hello.world",
        "git://github.com/octo-org/hello.world.git\n",
    ] {
        assert_eq!(remote(url).as_deref(), Some("github.com octo-org/hello.world"), "{url}");
    }
}

#[test]
fn a_path_means_no_repository() {
    for url in [
        "",
        "/srv/git/hello.git",
        "./hello",
        "../octo/hello.git",
        "./a:octo/hello",
        "C:/octo/hello",
        "C:\\octo\\hello",
        "file:///octo/hello.git",
        "https://github.com/hello",
        "https://github.com/a/b/c",
        "https://github.com/octo/..",
        "https://github.com/octo/he llo",
        "https:///octo/hello",
        "git@github.com:hello.git",
        "git@-oProxyCommand=x:octo/hello",
        "ext::sh -c octo/hello",
    ] {
        assert_eq!(remote(url), None, "{url}");
    }
}

#[test]
fn a_repository_belongs_to_the_api_of_its_own_server() {
    let on = |host: &str| Repository::new(host, "o", "r").unwrap();
    let public = "https://api.github.com";
    assert!(on("github.com").matches_api(public));
    assert!(!on("github.example.com").matches_api(public));
    assert!(!on("gitlab.com").matches_api(public));
    assert!(on("github.example.com").matches_api("https://GitHub.example.com/api/v3"));
    assert!(on("octo.ghe.com").matches_api("https://api.octo.ghe.com/"));
    assert!(!on("github.com").matches_api("https://github.example.com/api/v3"));
    for here in ["http://127.0.0.1:8080", "http://localhost:1/api/v3", "http://[::1]:9"] {
        assert!(on("github.com").matches_api(here), "{here}");
    }
    assert!(!on("github.com").matches_api("nonsense"));
}

#[test]
fn an_address_that_would_betray_the_token_is_refused() {
    let refused = |url: &str| Api::parse(url).unwrap_err().to_string();
    for url in [
        "",
        "api.github.com",
        "http://api.github.com",
        "ftp://api.github.com",
        "https://github.com",
        "https://api.github.com?x=1",
        "/api/v3",
    ] {
        assert!(refused(url).contains("https://api.github.com"), "{url}");
    }
    let secret = refused("https://me:hunter2@github.example.com/api/v3");
    assert!(!secret.contains("hunter2") && secret.contains("github.example.com"), "{secret}");
    let shown = |url: &str| Api::parse(url).unwrap().to_string();
    assert_eq!(shown("https://api.github.com/"), "https://api.github.com");
    assert_eq!(shown("https://ghe.example.com/api/v3/"), "https://ghe.example.com/api/v3");
    assert_eq!(shown("http://127.0.0.1:81"), "http://127.0.0.1:81");
}

#[test]
fn a_marker_cannot_end_the_comment_it_stands_in() {
    assert_eq!(comment("task_1.2"), "<!-- adjutant:task_1.2 -->");
    let odd = comment("--> <script> é");
    assert_eq!(odd.matches("-->").count(), 1, "{odd}");
    assert_ne!(comment("a b"), comment("a_b"));
}

#[test]
fn a_signature_is_that_of_the_secret_over_the_body() {
    // The example in GitHub's own documentation.
    let (secret, body) = (b"It's a Secret to Everybody", b"Hello, World!");
    let signature = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    let header = format!("sha256={signature}");
    assert!(verify_signature(secret, body, &header));
    assert!(!verify_signature(b"another secret", body, &header));
    assert!(!verify_signature(secret, b"Hello, World?", &header));
    for odd in ["", "sha256=", "sha256=zz", signature, &format!("sha1={signature}")] {
        assert!(!verify_signature(secret, body, odd), "{odd}");
    }
    let cut = header.strip_suffix("17").unwrap();
    assert!(!verify_signature(secret, body, cut));
}

#[test]
fn without_a_secret_nobody_can_have_signed() {
    // The signature with an empty key, which anybody can make.
    let signature = "2bbcfa9524f3218c7a34b30e6936f8b1a4516cb097f1a85a1c7d98b5977ec769";
    assert!(!verify_signature(b"", b"Hello, World!", &format!("sha256={signature}")));
}

#[test]
fn only_a_change_of_a_pull_requests_state_is_an_event() {
    let event = |name: &str, action: &str, merged: &str| {
        let body = format!(
            r#"{{"action":"{action}","number":7,"pull_request":{{"merged":{merged}}},
                "repository":{{"name":"hello","owner":{{"login":"octo"}}}}}}"#
        );
        parse_event(name, body.as_bytes())
    };
    let state = |action: &str, merged: &str| {
        let event = event("pull_request", action, merged)?;
        assert_eq!(event.repository, ("octo".to_owned(), "hello".to_owned()));
        assert_eq!(event.number, 7);
        Some(event.state)
    };
    assert_eq!(state("closed", "true"), Some(PullState::Merged));
    assert_eq!(state("closed", "false"), Some(PullState::Closed));
    assert_eq!(state("reopened", "false"), Some(PullState::Open));
    assert_eq!(state("reopened", "null"), Some(PullState::Open));
    assert_eq!(state("labeled", "false"), None);
    assert_eq!(event("issues", "closed", "true"), None);
    assert_eq!(parse_event("pull_request", b"{"), None);
    let closed = event("pull_request", "closed", "true").unwrap();
    let about = |owner: &str, name: &str| {
        closed.is_about(&Repository::new("github.com", owner, name).unwrap())
    };
    assert!(about("octo", "hello") && about("Octo", "HELLO"));
    assert!(!about("octo", "other") && !about("other", "hello"));
}

#[test]
fn the_waits_before_another_try_grow_from_a_second() {
    let seconds = send::waits(FIRST_RETRY_DELAY).map(|wait| wait.as_secs());
    assert_eq!(seconds, [1, 2, 4]);
}
