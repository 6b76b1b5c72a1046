//! Finding, verifying and starting servers.

use super::*;
use crate::client::stand_in;
use axum::Router;

fn at(dir: &Path, script: &str) -> ServerLocation {
    ServerLocation {
        server_file: dir.join("server.json"),
        copies: vec![dir.join("copy.json")],
        lock: dir.join("server.lock"),
        log: dir.join("server.log"),
        url_override: None,
        token: Token::Given("t".to_owned()),
        inside_agent: false,
        exe: "/bin/sh".into(),
        start_args: vec!["-c".into(), script.into()],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: dir.to_owned(),
    }
}

/// A server that proves who it is.
async fn well() -> (String, tokio::task::JoinSet<()>) {
    serve(|url| stand_in::proving("t", url)).await
}

/// A stranger that answers everything with this.
async fn stranger(answer: &'static str) -> (String, tokio::task::JoinSet<()>) {
    serve(|_| Router::new().fallback(move || async move { answer })).await
}

async fn serve(router: impl FnOnce(&str) -> Router) -> (String, tokio::task::JoinSet<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = router(&url);
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    (url, tasks)
}

fn note_of(url: &str, pid: u32) -> String {
    let started_at = model::Timestamp::from_millis(0);
    let server = ServerFile { url: url.into(), pid, version: "0".into(), started_at };
    serde_json::to_string(&server).unwrap()
}

#[test]
fn an_agent_never_falls_back_to_the_operators_token() {
    let file = PathBuf::from("/operator.token");
    assert_eq!(Token::choose(Some("t"), Some("sp_1"), file.clone()), Token::Given("t".into()));
    assert_eq!(Token::choose(None, Some("sp_1"), file.clone()), Token::Missing);
    assert_eq!(Token::choose(None, None, file.clone()), Token::File(file));
    assert_eq!(format!("{:?}", Token::Given("secret".into())), "Given(..)");
}

#[tokio::test]
async fn a_running_server_is_found_and_none_is_started() {
    let (dir, (url, _tasks)) = (tempfile::tempdir().unwrap(), well().await);
    let at = at(dir.path(), "exit 1");
    std::fs::write(&at.server_file, note_of(&url, std::process::id())).unwrap();
    assert_eq!(connect(&at).await.unwrap().url(), url);
    assert_eq!(ensure(&at).await.unwrap().url, url);
    assert!(!at.log.exists());
}

#[tokio::test]
async fn a_file_of_a_dead_server_is_not_believed() {
    let (dir, (url, _tasks)) = (tempfile::tempdir().unwrap(), well().await);
    let new = note_of(&url, std::process::id());
    // Anyone who listens on the dead server's port is not our server.
    let at = at(dir.path(), &format!("echo '{new}' > next; mv next server.json"));
    std::fs::write(&at.server_file, note_of(&url, u32::MAX)).unwrap();
    assert_eq!(running(&at).await.unwrap(), None);
    assert!(locate(&at).unwrap().is_none());
    assert_eq!(ensure(&at).await.unwrap().pid, std::process::id());
}

#[tokio::test]
async fn a_failed_start_shows_its_own_log() {
    let dir = tempfile::tempdir().unwrap();
    let at = at(dir.path(), "echo 'port on fire' >&2; exit 4");
    std::fs::write(&at.log, "an older story\n").unwrap();
    let error = connect(&at).await;
    assert_eq!(
        error.unwrap_err().to_string(),
        "the server ended at its start (exit code 4); its log says:\nport on fire"
    );
}

fn named(url: &str) -> NamedServer {
    NamedServer { url: url.to_owned(), secrecy: Secrecy::Required, name: None }
}

#[tokio::test]
async fn an_agent_waits_and_starts_nothing() {
    let (dir, (url, _tasks)) = (tempfile::tempdir().unwrap(), well().await);
    let at = ServerLocation {
        url_override: Some(named("http://127.0.0.1:1")),
        inside_agent: true,
        ..at(dir.path(), "echo started")
    };
    let error = await_for_agent(&at, Duration::from_millis(20)).await.unwrap_err();
    assert!(matches!(error, ConnectError::NoneForAgent { .. }));
    // The process number is of another namespace.
    std::fs::write(&at.server_file, note_of(&url, u32::MAX)).unwrap();
    assert_eq!(connect(&at).await.unwrap().url(), url);
    assert!(!at.log.exists());
}

#[tokio::test]
async fn a_named_server_that_is_not_there_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let url = Some(named("http://127.0.0.1:1"));
    let at = ServerLocation { url_override: url, ..at(dir.path(), "echo started") };
    assert!(matches!(connect(&at).await, Err(ConnectError::NoServer { .. })));
    assert!(!at.log.exists());
}

#[tokio::test]
async fn a_stranger_at_the_noted_address_is_no_server_and_one_is_started() {
    for answer in ["{}", "{\"status\":\"ok\"}", "<!doctype html>"] {
        let (dir, (strange, _stranger)) = (tempfile::tempdir().unwrap(), stranger(answer).await);
        let (url, _tasks) = well().await;
        let new = note_of(&url, std::process::id());
        let at = at(dir.path(), &format!("echo '{new}' > next; mv next server.json"));
        std::fs::write(&at.server_file, note_of(&strange, std::process::id())).unwrap();
        assert_eq!(running(&at).await.unwrap(), None, "{answer}");
        assert_eq!(connect(&at).await.unwrap().url(), url);
    }
}

#[tokio::test]
async fn what_is_no_text_in_the_servers_file_is_no_obstacle() {
    let (dir, (url, _tasks)) = (tempfile::tempdir().unwrap(), well().await);
    let new = note_of(&url, std::process::id());
    let at = at(dir.path(), &format!("echo '{new}' > next; mv next server.json"));
    std::fs::write(&at.server_file, [0xff, 0xfe, b'{', 0x80]).unwrap();
    assert!(locate(&at).unwrap().is_none());
    assert_eq!(ensure(&at).await.unwrap().url, url);
}

#[tokio::test]
async fn a_server_is_found_by_the_copy_of_its_file_too() {
    let (dir, (url, _tasks)) = (tempfile::tempdir().unwrap(), well().await);
    let at = at(dir.path(), "exit 1");
    std::fs::write(&at.copies[0], note_of(&url, std::process::id())).unwrap();
    assert_eq!(connect(&at).await.unwrap().url(), url);
}
