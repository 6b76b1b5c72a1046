//! A home that is well, and homes that are not.

use super::*;
use crate::home::ServerFile;
use crate::init;
use model::Timestamp;

fn world() -> (tempfile::TempDir, Home, Environment) {
    let dir = tempfile::tempdir().unwrap();
    let env = Environment::from_vars(
        dir.path(),
        [("XDG_STATE_HOME", dir.path().join("state")), ("PATH", dir.path().join("bin"))],
    );
    let home = Home::for_init(None, &env);
    init::init(&home).unwrap();
    (dir, home, env)
}

fn find(checks: &[Check], name: &str, status: Status) -> Vec<String> {
    checks
        .iter()
        .filter(|check| check.name == name && check.status == status)
        .map(|check| check.message.clone())
        .collect()
}

#[test]
fn a_new_home_is_well() {
    let (dir, home, env) = world();
    fs::create_dir(dir.path().join("bin")).unwrap();
    let tmux = dir.path().join("bin/tmux");
    fs::write(&tmux, "").unwrap();
    fs::write(dir.path().join("bin/git"), "").unwrap();
    fs::set_permissions(&tmux, fs::Permissions::from_mode(0o755)).unwrap();
    home.make_operator_token(&env).unwrap();
    let checks = examine(None, &env);
    assert!(is_well(&checks), "{checks:#?}");
    for name in ["home", "config", "roles", "token", "database", "server", "tmux"] {
        assert!(!find(&checks, name, Status::Ok).is_empty(), "{name}");
    }
    assert_eq!(
        find(&checks, "git", Status::Warn),
        ["`git` is not on the PATH"],
        "one that cannot be run is none"
    );
    let every = checks.iter().all(|check| check.status == Status::Ok || check.next.is_some());
    assert!(every, "what is not well has a next step");
}

#[test]
fn what_is_wrong_is_named() {
    let (_dir, home, env) = world();
    home.make_operator_token(&env).unwrap();
    let token = home.operator_token_file(&env).unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(home.config(), "limits: {dept: 1}\n").unwrap();
    fs::write(home.roles().join("broken.md"), "nothing").unwrap();
    fs::create_dir_all(home.state_dir()).unwrap();
    fs::write(
        home.state_dir().join("state.db"),
        "not a database, but long enough to be looked at. ".repeat(3),
    )
    .unwrap();
    let checks = examine(None, &env);
    assert!(!is_well(&checks));
    for name in ["config", "roles", "token", "database"] {
        assert_eq!(find(&checks, name, Status::Fail).len(), 1, "{name}: {checks:#?}");
    }
    assert!(find(&checks, "config", Status::Fail)[0].contains(":1: unknown key `dept`"));
}

#[test]
fn without_a_home_the_programs_are_still_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    let env = Environment::from_vars(dir.path(), [("NO_COLOR", "1")]);
    let checks = examine(None, &env);
    assert_eq!(find(&checks, "home", Status::Fail).len(), 1);
    assert_eq!(find(&checks, "node", Status::Warn).len(), 1);
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    fs::write(&path, "").unwrap();
    assert_eq!(database(&path).status, Status::Ok);
    let store = store::Store::open(&path).unwrap();
    let live = database(&path);
    assert_eq!(live.status, Status::Ok);
    let current = format!("schema {0} of {0}", engine::SCHEMA_VERSION);
    assert!(live.message.ends_with(&current), "{}", live.message);
    store.close().await;
    drop(store);
    // The first byte of the number of the schema.
    let mut bytes = fs::read(&path).unwrap();
    bytes[60] = 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(database(&path).status, Status::Fail);
    fs::write(&path, "no database at all, but long enough for one".repeat(9)).unwrap();
    assert_eq!(database(&path).status, Status::Fail);
}

#[test]
fn a_server_is_asked() {
    let (_dir, home, env) = world();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let started_at = Timestamp::from_millis(0);
    let file = ServerFile { url, pid: 1, version: "0.1.0".into(), started_at };
    fs::create_dir_all(home.state_dir()).unwrap();
    fs::write(home.server_file(), serde_json::to_string(&file).unwrap()).unwrap();
    let answer = std::thread::spawn(move || {
        for status in ["200 OK", "500 Internal Server Error"] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0_u8; 512];
            let read = stream.read(&mut request).unwrap();
            assert!(request[..read].starts_with(b"GET /healthz HTTP/1.1\r\n"));
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").unwrap();
        }
    });
    assert_eq!(server(&home, &env).status, Status::Ok);
    assert_eq!(server(&home, &env).status, Status::Warn);
    answer.join().unwrap();
    assert_eq!(server(&home, &env).status, Status::Warn, "nobody listens now");
}

#[test]
fn a_project_that_was_renamed_under_its_server_is_reported() {
    let (dir, home, env) = world();
    fs::create_dir_all(home.state_dir()).unwrap();
    home.note_place().unwrap();
    assert_eq!(server(&home, &env).status, Status::Ok, "none runs");
    fs::write(home.state_dir().join("home"), "/srv/before/.adjutant\n").unwrap();
    assert_eq!(server(&home, &env).status, Status::Ok, "nor now");
    // Another process, for the kernel does not tell us of our own locks.
    let hold = format!("exec flock -n -o '{}' cat", home.lock().display());
    let launch = host::process::Launch {
        program: "/bin/sh".into(),
        arguments: vec![
            "-c".into(),
            format!("mkfifo '{0}/over'; {hold} '{0}/over'", dir.path().display()).into(),
        ],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        directory: dir.path().to_owned(),
    };
    let mut holder = host::process::start_sharing(&launch).unwrap();
    while host::owner::holder(&home.lock()).unwrap() == host::owner::Holder::Nobody {
        std::thread::yield_now();
    }
    let check = server(&home, &env);
    assert_eq!(check.status, Status::Fail);
    assert!(check.message.contains("was at `/srv/before`"), "{}", check.message);
    assert!(check.next.unwrap().contains("adjutant down"));
    fs::write(dir.path().join("over"), "").unwrap();
    assert!(host::process::wait_gone(holder.pid(), Duration::from_secs(10)));
    assert!(holder.exited().unwrap().is_some());
}
