//! Where supervisors listen, and who can keep the server from them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;

use host::files;
use host::run::{Handover, Notice, RunFolder, Variables};

use crate::support::{prepared, program, sh, socket, start};

#[tokio::test]
async fn a_socket_is_in_a_private_folder_with_a_short_path() {
    let mut run = start(sh("sleep 1000")).await;
    let path = socket(&run.folder);
    assert!(path.as_os_str().len() < 100, "{}", path.display());
    let place = fs::symlink_metadata(path.parent().unwrap()).unwrap();
    assert!(place.is_dir());
    assert_eq!(place.permissions().mode() & 0o777, 0o700);
    assert!(!run.folder.path().join("control").exists());
    run.connect().await.kill("the test is over").await.unwrap();
    run.exit().await;
    assert!(!path.exists(), "it goes with the supervisor");
}

#[tokio::test]
async fn a_supervisor_of_an_earlier_version_is_reached_in_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    for length in [0, 300] {
        let mut path = dir.path().join("run");
        while path.as_os_str().len() < length {
            path.push("a-folder-with-a-rather-long-name");
        }
        fs::create_dir_all(&path).unwrap();
        // As it binds: by a short path of its own.
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let listener = tokio::net::UnixListener::bind(link.join("control")).unwrap();
        let _lock = files::lock(&path.join("lock")).unwrap().unwrap();
        let folder = RunFolder::open(&path);
        let (accepted, connected) = tokio::join!(listener.accept(), folder.connect());
        let (mut supervisor, _) = accepted.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut supervisor, b"{\"hello\":{\"agentPid\":7}}\n")
            .await
            .unwrap();
        let hello = connected.unwrap().next().await;
        assert_eq!(hello, Some(Notice::Hello { agent_pid: 7 }), "{length}");
        fs::remove_file(&link).unwrap();
    }
}

#[tokio::test]
async fn who_listens_in_its_place_is_not_taken_for_the_supervisor() {
    let mut run = start(sh("sleep 1000")).await;
    let (file, lock) = (run.folder.path().join("supervisor.json"), run.folder.path().join("lock"));
    let record = fs::read_to_string(&file).unwrap();
    let (own, forged) = (socket(&run.folder), run.dir.path().join("forged"));
    let _listener = tokio::net::UnixListener::bind(&forged).unwrap();
    let other = record.replace(own.to_str().unwrap(), forged.to_str().unwrap());
    fs::write(&file, other).unwrap();
    assert!(run.folder.connect().await.is_err(), "another one holds the lock");
    let away = run.folder.path().join("away");
    fs::rename(&lock, &away).unwrap();
    assert!(run.folder.connect().await.is_err(), "there is no lock");
    fs::write(&lock, "").unwrap();
    assert!(run.folder.connect().await.is_err(), "nobody holds the lock");
    fs::rename(&away, &lock).unwrap();
    fs::write(&file, record).unwrap();
    run.connect().await.kill("the test is over").await.unwrap();
    run.exit().await;
}

#[tokio::test]
async fn who_holds_every_connection_does_not_keep_the_server_out() {
    let mut run = start(sh("sleep 1000")).await;
    let path = socket(&run.folder);
    let held: Vec<UnixStream> = (0..100).map(|_| UnixStream::connect(&path).unwrap()).collect();
    let mut server = run.connect().await;
    assert_eq!(server.next().await, Some(Notice::Hello { agent_pid: run.agent() }));
    server.kill("enough").await.unwrap();
    assert_eq!(run.exit().await.why.as_deref(), Some("enough"));
    drop(held);
}

#[tokio::test]
async fn the_servers_connection_stays_when_others_crowd_the_socket() {
    let (_dir, folder) = prepared(sh("sleep 1000"));
    let environment = Variables(sh("").environment);
    let handover = Handover { environment, control_key: Some("the key".into()), cgroup: None };
    let mut begun = folder.start(&program(), &handover).unwrap();
    begun.ready().await.unwrap();
    let mut server = folder.connect().await.unwrap();
    assert_eq!(server.environment("the key", &[]).await.unwrap(), Variables::default());
    let path = socket(&folder);
    let held: Vec<UnixStream> = (0..100).map(|_| UnixStream::connect(&path).unwrap()).collect();
    assert_eq!(server.environment("the key", &[]).await.unwrap(), Variables::default());
    server.kill("enough").await.unwrap();
    while server.next().await.is_some_and(|notice| notice != Notice::Exit {}) {}
    begun.ended().await.unwrap();
    let exit = folder.exit().unwrap().unwrap();
    assert_eq!(exit.why.as_deref(), Some("enough"));
    drop(held);
}
