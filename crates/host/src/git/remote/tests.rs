//! Pushing to real repositories, and to a server that looks at what it is sent.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;

use super::*;
use crate::git::command::USUAL_PATH;
use crate::git::support::{Repository, commit, executable, head, open, plain};

/// A repository, a bare clone of it as its `origin`, and the clone.
fn with_origin() -> (Repository, std::path::PathBuf) {
    let repository = Repository::with_commit();
    let origin = repository.beside("origin.git");
    repository.git(&["clone", "-q", "--bare", ".", origin.to_str().unwrap()]);
    repository.git(&["remote", "add", "origin", origin.to_str().unwrap()]);
    (repository, origin)
}

fn push(commit: &str, branch: &str) -> Push {
    Push {
        remote: "origin".into(),
        commit: commit.into(),
        branch: branch.into(),
        environment: vec![
            ("PATH".into(), USUAL_PATH.into()),
            ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()),
            // Somebody started us from a hook.
            ("GIT_DIR".into(), "/nonexistent".into()),
            ("GIT_INDEX_FILE".into(), "/nonexistent".into()),
        ],
        header: None,
    }
}

#[test]
fn a_commit_is_pushed_once() {
    let (repository, origin) = with_origin();
    let repo = repository.repo();
    let path = repository.worktree("w");
    let mine = commit(&path, "mine");
    for _ in 0..2 {
        repo.push(&push(&mine, "adjutant/w")).unwrap();
        assert_eq!(open(&origin).resolve("adjutant/w").unwrap().as_ref(), Some(&mine));
    }
    // Forward is fine.
    let more = commit(&path, "more");
    repo.push(&push("w", "adjutant/w")).unwrap();
    assert_eq!(open(&origin).resolve("adjutant/w").unwrap(), Some(more));
}

#[test]
fn what_the_remote_has_and_we_lack_is_not_overwritten() {
    let (repository, origin) = with_origin();
    let repo = repository.repo();
    let path = repository.worktree("w");
    let mine = commit(&path, "mine");
    repo.push(&push(&mine, "b")).unwrap();
    plain(&path, &["reset", "-q", "--hard", "HEAD~1"]);
    let other = commit(&path, "other");
    let error = repo.push(&push(&other, "b")).unwrap_err();
    assert!(matches!(error, GitError::Rejected { .. }), "{error}");
    assert!(error.to_string().contains("fetch them, then merge or rebase"), "{error}");
    assert_eq!(open(&origin).resolve("b").unwrap(), Some(mine));
}

#[test]
fn the_reason_of_a_refusal_is_told() {
    let (repository, origin) = with_origin();
    let hook = "#!/bin/sh\necho 'only on fridays' >&2\nexit 1\n";
    executable(&origin, "hooks/pre-receive", hook);
    let error = repository.repo().push(&push("main", "b")).unwrap_err().to_string();
    assert!(error.contains("refused") && error.contains("only on fridays"), "{error}");
}

#[test]
fn remotes_that_are_not_there_are_told_apart() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let error = repo.push(&push("main", "b")).unwrap_err();
    assert!(matches!(&error, GitError::NoRemote(name) if name == "origin"), "{error}");
    repository.git(&["remote", "add", "origin", "http://me:secret@127.0.0.1:1/x.git"]);
    let error = repo.push(&push("main", "b")).unwrap_err();
    assert!(matches!(error, GitError::Offline { .. }) && error.is_transient(), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
    for bad in ["--exec=x", ""] {
        let push = Push { remote: bad.into(), ..push("main", "b") };
        assert!(matches!(repo.push(&push).unwrap_err(), GitError::NoRemote(_)));
    }
    assert!(matches!(repo.push(&push("main", "-b")).unwrap_err(), GitError::BadName(_)));
    assert!(matches!(repo.push(&push("no", "b")).unwrap_err(), GitError::NoSuchRevision(_)));
}

#[test]
fn the_address_is_known() {
    let (repository, origin) = with_origin();
    let repo = repository.repo();
    assert_eq!(repo.remote_url("origin").unwrap().as_deref(), origin.to_str());
    assert_eq!(repo.remote_url("other").unwrap(), None);
    assert_eq!(repo.remote_url("--all").unwrap(), None);
}

#[test]
fn hooks_are_off_and_the_users_own_settings_are_on() {
    let (repository, origin) = with_origin();
    executable(repository.top(), ".git/hooks/pre-push", "#!/bin/sh\nexit 1\n");
    let config = repository.beside("config");
    let text = format!("[url \"{}\"]\n\tinsteadOf = short:x\n", origin.display());
    std::fs::write(&config, text).unwrap();
    repository.git(&["remote", "set-url", "origin", "short:x"]);
    let mut push = push("main", "b");
    push.environment.retain(|(name, _)| name != "GIT_CONFIG_GLOBAL");
    push.environment.push(("GIT_CONFIG_GLOBAL".into(), config.into()));
    repository.repo().push(&push).unwrap();
    assert_eq!(open(&origin).resolve("b").unwrap(), Some(head(repository.top())));
}

#[test]
fn a_header_goes_to_its_host_and_into_no_argument() {
    let repository = Repository::with_commit();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = vec![0; 4_096];
            let read = stream.read(&mut request).unwrap();
            let text = String::from_utf8_lossy(&request[..read]).into_owned();
            drop(stream.write_all(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"));
            if tell.send(text).is_err() {
                return;
            }
        }
    });
    let url = format!("http://{address}/x.git");
    repository.git(&["remote", "add", "origin", &url]);
    let arguments = repository.beside("arguments");
    let script =
        format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec /usr/bin/git \"$@\"\n", arguments.display());
    executable(repository.dir.path(), "bin/git", &script);
    let mut path = repository.dir.path().join("bin").into_os_string();
    path.push(":/usr/bin:/bin");
    let git = crate::git::Git::on_path(&path);
    let repo = git.open(repository.top(), crate::git::support::SOON).unwrap();
    let send = |prefix: &str| {
        let header = Some((prefix.to_owned(), "Authorization: Basic c2VjcmV0".to_owned()));
        let mut push = Push { header, ..push("main", "b") };
        // The caller may have settings of its own.
        for (name, value) in [("COUNT", "1"), ("KEY_0", "http.userAgent"), ("VALUE_0", "mine")] {
            push.environment.push((format!("GIT_CONFIG_{name}").into(), value.into()));
        }
        let error = repo.push(&push).unwrap_err();
        assert!(matches!(error, GitError::Denied { .. }), "{error}");
        told.recv().unwrap()
    };
    let request = send(&format!("http://{address}/"));
    assert!(request.contains("Authorization: Basic c2VjcmV0"), "{request}");
    assert!(request.contains("User-Agent: mine"), "{request}");
    assert!(!send("https://elsewhere.example/").contains("Authorization"));
    let arguments = std::fs::read_to_string(arguments).unwrap();
    assert!(arguments.contains("push") && !arguments.contains("c2VjcmV0"), "{arguments}");
    let header = Some((String::new(), "A: b\nC: d".to_owned()));
    assert!(repo.push(&Push { header, ..push("main", "b") }).is_err());
}
