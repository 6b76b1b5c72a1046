//! Where secrets may go, and what GitHub's errors are called here.

use store::Store;
use tempfile::TempDir;

use super::*;
use crate::core::options::{GithubSecrets, Options};
use crate::core::settings::Settings;
use crate::engine::Engine;

const TOKEN: &str = "ghp_0123456789abcdef";

fn engine(api_url: &str, secrets: GithubSecrets) -> (Engine, TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("state.db")).unwrap();
    let mut settings = Settings::default();
    settings.github.api_url = api_url.to_owned();
    let environment = [
        ("PATH", "/usr/bin"),
        ("GITHUB_TOKEN", TOKEN),
        ("OTHER", "https://x:ghp_0123456789abcdef@github.com"),
        ("HOOK", "short"),
        ("SHORTER", "a short word"),
    ];
    let options = Options {
        github: secrets,
        operator_environment: environment.map(|(name, value)| (name.into(), value.into())).into(),
        ..Options::new(dir.path().to_owned(), String::new())
    };
    (Engine::new(store, settings, options), dir)
}

fn with_token() -> GithubSecrets {
    GithubSecrets { token: Some(TOKEN.to_owned()), webhook: Some("short".to_owned()) }
}

#[tokio::test]
async fn the_token_goes_to_its_own_host_over_a_safe_connection_and_nowhere_else() {
    let (engine, _dir) = engine("https://api.github.com", with_token());
    let (prefix, header) = push_header(&engine, "https://github.com/o/r.git").unwrap();
    assert_eq!(prefix, "https://github.com/");
    // `printf x-access-token:ghp_0123456789abcdef | base64`
    assert_eq!(header, "Authorization: Basic eC1hY2Nlc3MtdG9rZW46Z2hwXzAxMjM0NTY3ODlhYmNkZWY=");
    for url in [
        "https://gitlab.com/o/r.git",
        "https://github.com.evil.example/o/r.git",
        "http://github.com/o/r.git",
        "git@github.com:o/r.git",
        "ssh://git@github.com/o/r.git",
        "https://me:secret@github.com/o/r.git",
        "/srv/git/r.git",
    ] {
        assert_eq!(push_header(&engine, url), None, "{url}");
    }
}

#[tokio::test]
async fn an_enterprise_and_a_stand_in_get_no_token_of_another_host() {
    let (own, _dir) = engine("https://ghe.example.com/api/v3", with_token());
    let (prefix, _) = push_header(&own, "https://ghe.example.com:8443/o/r.git").unwrap();
    assert_eq!(prefix, "https://ghe.example.com:8443/");
    assert_eq!(push_header(&own, "https://github.com/o/r.git"), None);
    let (stand_in, _dir) = engine("http://127.0.0.1:4567", with_token());
    assert_eq!(push_header(&stand_in, "https://github.com/o/r.git"), None);
    let (poor, _dir) = engine("https://api.github.com", GithubSecrets::default());
    assert_eq!(push_header(&poor, "https://github.com/o/r.git"), None);
}

#[tokio::test]
async fn the_operators_git_sees_everything_but_the_secrets() {
    let names = |engine: &Engine| -> Vec<String> {
        git_environment(engine).iter().map(|(name, _)| name.to_str().unwrap().to_owned()).collect()
    };
    let (own, _dir) = engine("https://api.github.com", with_token());
    assert_eq!(names(&own), ["PATH", "SHORTER"]);
    let (poor, _dir) = engine("https://api.github.com", GithubSecrets::default());
    assert_eq!(names(&poor).len(), 5);
}

#[tokio::test]
async fn without_a_token_one_is_told_which_variable_to_set() {
    for token in [None, Some(" ".to_owned())] {
        let secrets = GithubSecrets { token, webhook: None };
        let error = client(&engine("https://api.github.com", secrets).0).unwrap_err();
        assert_eq!(error.code, Code::PermissionDenied);
        assert!(error.suggestions[0].contains("`GITHUB_TOKEN`"), "{error:?}");
    }
    assert_eq!(ToolError::from(GitHubError::NoToken).code, Code::PermissionDenied);
}

#[test]
fn each_error_of_githubs_has_the_code_that_says_whose_turn_it_is() {
    let text = || "x".to_owned();
    let until = model::Timestamp::from_millis(0);
    for (error, code) in [
        (GitHubError::RateLimited { until }, Code::RateLimited),
        (GitHubError::Failing { status: 502 }, Code::TransientError),
        (GitHubError::Unreachable { api: text(), why: text() }, Code::TransientError),
        (GitHubError::BadToken, Code::PermissionDenied),
        (GitHubError::Forbidden { message: text() }, Code::PermissionDenied),
        (GitHubError::NotFound { what: text() }, Code::ResourceNotFound),
        (GitHubError::Refused { status: 422, messages: vec![text()] }, Code::ExternalError),
        (GitHubError::Unreadable { why: text() }, Code::ExternalError),
    ] {
        let shown = error.to_string();
        assert_eq!(ToolError::from(error).code, code, "{shown}");
    }
}
