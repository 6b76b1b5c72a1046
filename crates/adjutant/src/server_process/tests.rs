//! Ports, the claim on a home, and the end of a server.

use std::net::Ipv4Addr;

use axum::Router;
use axum::routing::post;
use http::StatusCode;
use model::Timestamp;
use tokio::task::JoinSet;

use super::*;
use crate::client::stand_in;
use crate::server_process::connect::Token;
use host::process::{Exit, Launch, Started, start_sharing};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn at(dir: &Path) -> ServerLocation {
    ServerLocation {
        server_file: dir.join("server.json"),
        copies: vec![dir.join("copy.json")],
        lock: dir.join("server.lock"),
        log: dir.join("server.log"),
        url_override: None,
        token: Token::Given("t".to_owned()),
        inside_agent: false,
        exe: "/bin/false".into(),
        start_args: Vec::new(),
        environment: Vec::new(),
        cwd: dir.to_owned(),
    }
}

fn file(url: &str, pid: u32) -> ServerFile {
    let started_at = Timestamp::from_millis(0);
    ServerFile { url: url.to_owned(), pid, version: "0".to_owned(), started_at }
}

fn ours(claim: Claim) -> Ownership {
    match claim {
        Claim::Ours(ownership) => ownership,
        Claim::Theirs(server) => panic!("{server:?} has it"),
    }
}

fn serve(shutdown: StatusCode) -> (String, JoinSet<()>) {
    let bound = listen(HERE, Port::Chosen(0), None).unwrap();
    let url = bound.url();
    let router = Router::new()
        .merge(stand_in::proving("t", &url))
        .route("/api/shutdown", post(move || async move { shutdown }));
    let listener = tokio::net::TcpListener::from_std(bound.listener).unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    (url, tasks)
}

#[test]
fn a_taken_port_means_the_next_free_one() {
    let first = listen(HERE, Port::Chosen(0), None).unwrap();
    assert_eq!(first.instead_of, None);
    let port = first.address.port();
    for wanted in [Port::Chosen(port), Port::Usual(port)] {
        let second = listen(HERE, wanted, None).unwrap();
        assert_eq!(second.instead_of, Some(port));
        assert_ne!(second.address.port(), port);
    }
    drop(first);
    let again = listen(HERE, Port::Chosen(port), None).unwrap();
    assert_eq!((again.address.port(), again.instead_of), (port, None));
}

#[test]
fn the_last_port_is_followed_by_any() {
    let Ok(last) = TcpListener::bind((HERE, u16::MAX)) else { return };
    let bound = listen(HERE, Port::Chosen(u16::MAX), None).unwrap();
    assert_eq!(bound.instead_of, Some(u16::MAX));
    drop(last);
}

#[test]
fn a_crashed_servers_port_comes_first_unless_another_was_chosen() {
    let free = || listen(HERE, Port::Chosen(0), None).unwrap().address.port();
    let (old, new) = (free(), free());
    let port = |port| listen(HERE, port, Some(old)).unwrap();
    assert_eq!(
        (port(Port::Usual(new)).address.port(), port(Port::Usual(new)).instead_of),
        (old, None)
    );
    assert_eq!(port(Port::Chosen(0)).address.port(), old);
    assert_eq!(port(Port::Chosen(new)).address.port(), new);
}

#[tokio::test]
async fn a_port_that_agents_know_is_waited_for_and_no_other_will_do() {
    let dir = tempfile::tempdir().unwrap();
    let address = dir.path().join("runs").join("address");
    assert_eq!(remembered(&address).unwrap(), None);
    let first = listen(HERE, Port::Chosen(0), None).unwrap();
    let port = first.address.port();
    remember(&address, &first).unwrap();
    assert_eq!(remembered(&address).unwrap(), Some(port));

    let error = listen_only_within(HERE, port, Duration::from_millis(20)).await.unwrap_err();
    let cli_error = crate::cli_error::CliError::from(error);
    assert!(cli_error.message().contains(&format!("at port {port}")), "{}", cli_error.message());
    assert_eq!(cli_error.body()["code"], "CONFLICT");
    let waiting = listen_only(HERE, port);
    let (bound, ()) = tokio::join!(waiting, async { drop(first) });
    assert_eq!((bound.unwrap().address.port(), remembered(&address).unwrap()), (port, Some(port)));
}

#[tokio::test]
async fn a_home_has_one_server_and_the_second_finds_the_first() {
    let (dir, (url, mut tasks)) = (tempfile::tempdir().unwrap(), serve(StatusCode::ACCEPTED));
    let (at, lock) = (at(dir.path()), dir.path().join("server.lock"));
    let first = ours(claim(&at, &lock).await.unwrap());
    assert_eq!(first.previous_port(), None);
    // The first is not up yet: the second waits for it.
    let second = claim(&at, &lock);
    let announced = async { first.announce(&file(&url, std::process::id())).unwrap() };
    let (second, ()) = tokio::join!(second, announced);
    assert!(matches!(second.unwrap(), Claim::Theirs(server) if server.url == url));
    // A crash lets go of the lock and leaves the file.
    drop(first);
    tasks.shutdown().await;
    let third = ours(claim(&at, &lock).await.unwrap());
    assert_eq!(third.previous_port(), url.rsplit(':').next().unwrap().parse().ok());
    let server = file(&url, 7);
    third.announce(&server).unwrap();
    std::fs::remove_file(&at.copies[0]).unwrap();
    third.copy(&server).unwrap();
    assert_eq!(connect::read_note(&at.copies[0]).unwrap(), Some(server.clone()));
    third.give_up(&server).unwrap();
    assert!(!at.server_file.exists() && !at.copies[0].exists());
}

#[tokio::test]
async fn a_lock_without_a_server_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (at, lock) = (at(dir.path()), dir.path().join("server.lock"));
    let _held = files::lock(&lock).unwrap().unwrap();
    let error = claim_within(&at, &lock, Duration::from_millis(20)).await.unwrap_err();
    assert!(matches!(error, ClaimError::Stuck { .. }));
}

#[tokio::test(start_paused = true)]
async fn an_idle_server_ends_once_no_agent_lives() {
    let clock = Clock::manual(Timestamp::from_millis(1_000_000));
    let last = Arc::new(AtomicI64::new(0));
    let asked = AtomicI64::new(0);
    let ticking = async {
        let mut second = interval(Duration::from_secs(1));
        loop {
            second.tick().await;
            clock.advance_seconds(1);
            // Somebody sets the wall clock back, again and again.
            clock.step_seconds(-10);
        }
    };
    let ending = idle(Arc::clone(&last), clock.clone(), Duration::from_secs(60), || async {
        asked.fetch_add(1, Ordering::Relaxed) < 2
    });
    tokio::select! {
        () = ending => {}
        () = ticking => {}
    }
    assert_eq!(asked.load(Ordering::Relaxed), 3);
    let minutes = clock.elapsed().as_secs() / 60;
    assert_eq!(minutes, 3, "after two agents' minutes a whole one passes");
}

/// A process that stands for a server: it holds the lock, and what it does on a signal is the script's.
struct StandIn {
    process: Started,
    /// Condition to wait for
    child: u32,
}

impl StandIn {
    fn start(script: &str, dir: &Path) -> Self {
        let launch = |script: &str| Launch {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), script.into()],
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            directory: dir.to_owned(),
        };
        let made = process::run(&launch("mkfifo ready never"), Duration::from_secs(10)).unwrap();
        assert_eq!(made.exit, Exit::Code(0));
        // The lock is held by `flock` itself: whatever it starts has it closed.
        let script = format!(
            "{script}; exec flock -n -o server.lock \
             sh -c 'echo $$ > ready; while :; do read x 2> /dev/null < never; done'"
        );
        let process = start_sharing(&launch(&script)).unwrap();
        let child = std::fs::read_to_string(dir.join("ready")).unwrap().trim().parse().unwrap();
        Self { process, child }
    }

    fn end(mut self) {
        for pid in [self.process.pid(), self.child] {
            // It may have ended before.
            drop(process::kill(pid));
        }
        assert!(process::wait_gone(self.process.pid(), Duration::from_secs(10)));
        assert!(self.process.exited().unwrap().is_some());
    }
}

async fn down_of(
    script: &str,
    status: StatusCode,
    is_agent: Option<&str>,
) -> (Result<Down, DownError>, bool) {
    let (dir, (url, _tasks)) = (tempfile::tempdir().unwrap(), serve(status));
    let stand_in = StandIn::start(script, dir.path());
    let at = ServerLocation { inside_agent: is_agent.is_some(), ..at(dir.path()) };
    let server = file(&url, stand_in.process.pid());
    files::write(&at.server_file, &serde_json::to_string(&server).unwrap(), Mode::Private).unwrap();
    let short = Duration::from_millis(20);
    let patience = StopTimeouts { asked: short, signalled: Duration::from_millis(200) };
    let answer = down(&at, &at.lock, patience).await;
    stand_in.end();
    (answer, at.server_file.exists())
}

#[tokio::test]
async fn a_server_is_asked_then_told_then_killed() {
    let accepted = StatusCode::ACCEPTED;
    let (told, _) = down_of("true", accepted, None).await;
    assert!(matches!(told.unwrap(), Down::Terminated(_)));
    let (killed, file_left) = down_of("trap '' TERM", accepted, None).await;
    assert!(matches!(killed.unwrap(), Down::Killed(_)));
    assert!(!file_left, "its watcher must not start it again");
}

#[tokio::test]
async fn who_may_not_ask_does_not_send_signals_either() {
    let (refused, file_left) = down_of("true", StatusCode::FORBIDDEN, None).await;
    assert!(matches!(refused, Err(DownError::Client(ClientError::Api { .. }))));
    assert!(file_left);
    let (agent, file_left) = down_of("true", StatusCode::ACCEPTED, Some("sp_1")).await;
    assert!(matches!(agent, Err(DownError::NotAllowed)));
    assert!(file_left);
}

#[tokio::test]
async fn no_server_is_nothing_to_end() {
    let dir = tempfile::tempdir().unwrap();
    let (at, lock) = (at(dir.path()), dir.path().join("server.lock"));
    let ended = || down(&at, &lock, StopTimeouts::default());
    assert_eq!(ended().await.unwrap(), Down::NotRunning);
    let crashed = serde_json::to_string(&file("http://127.0.0.1:1", u32::MAX)).unwrap();
    files::write(&at.server_file, &crashed, Mode::Private).unwrap();
    assert_eq!(ended().await.unwrap(), Down::NotRunning);
    assert!(!at.server_file.exists(), "it is not started again");
}

#[tokio::test]
async fn a_process_that_only_a_leftover_file_names_is_sent_no_signal() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    // It holds a lock, too, but not this home's.
    let mut innocent = StandIn::start("true", elsewhere.path());
    let at = at(dir.path());
    let note = serde_json::to_string(&file("http://127.0.0.1:1", innocent.process.pid())).unwrap();
    files::write(&at.server_file, &note, Mode::Private).unwrap();
    assert_eq!(down(&at, &at.lock, StopTimeouts::default()).await.unwrap(), Down::NotRunning);
    assert_eq!(innocent.process.exited().unwrap(), None, "it lives");
    assert!(!at.server_file.exists(), "and nobody starts a server for that file again");
    innocent.end();
}

#[tokio::test]
async fn the_holder_of_the_lock_is_ended_whatever_the_file_says() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let (holder, mut innocent) =
        (StandIn::start("true", dir.path()), StandIn::start("true", elsewhere.path()));
    let at = at(dir.path());
    let note = serde_json::to_string(&file("http://127.0.0.1:1", innocent.process.pid())).unwrap();
    for text in [note.as_bytes(), &[0xff, b'{']] {
        std::fs::write(&at.server_file, text).unwrap();
    }
    let ended = down(&at, &at.lock, StopTimeouts::default()).await.unwrap();
    assert!(matches!(ended, Down::Terminated(server) if server.pid == holder.process.pid()));
    assert_eq!(innocent.process.exited().unwrap(), None, "it lives");
    holder.end();
    innocent.end();
}

#[tokio::test]
async fn a_server_of_an_older_version_is_named_and_can_be_ended() {
    let dir = tempfile::tempdir().unwrap();
    let server = StandIn::start("true", dir.path());
    // It answers, and knows nothing of proofs.
    let bound = listen(HERE, Port::Chosen(0), None).unwrap();
    let url = bound.url();
    let listener = tokio::net::TcpListener::from_std(bound.listener).unwrap();
    let mut tasks = JoinSet::new();
    let router = Router::new().fallback(|| async { StatusCode::UNAUTHORIZED });
    tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
    let at = at(dir.path());
    let note = serde_json::to_string(&file(&url, server.process.pid())).unwrap();
    files::write(&at.server_file, &note, Mode::Private).unwrap();
    for error in
        [connect::running(&at).await.unwrap_err(), connect::connect(&at).await.unwrap_err()]
    {
        let cli_error = crate::cli_error::CliError::from(error);
        assert!(cli_error.message().contains("is too old"), "{}", cli_error.message());
        assert!(cli_error.hints()[0].contains("adjutant down"), "{:?}", cli_error.hints());
    }
    let ended = down(&at, &at.lock, StopTimeouts::default()).await.unwrap();
    assert!(matches!(ended, Down::Terminated(_)), "{ended:?}");
    server.end();
}
