//! Pushing to real repositories, and to a server that looks at what it is sent.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;

use super::*;
use crate::git::command::USUAL_PATH;
use crate::git::support::{Repository, any, commit, executable, head, open, plain};

/// A repository, a bare clone of it as its `origin`, and the clone.
fn with_origin() -> (Repository, PathBuf) {
    let repository = Repository::with_commit();
    let origin = repository.beside("origin.git");
    repository.git(&["clone", "-q", "--bare", ".", origin.to_str().unwrap()]);
    repository.git(&["remote", "add", "origin", origin.to_str().unwrap()]);
    (repository, origin)
}

fn push(repo: &Repo, commit: &str, branch: &str) -> Push {
    Push {
        remote: "origin".into(),
        url: repo.remote_url("origin").unwrap().unwrap_or_default(),
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
        scratch: None,
    }
}

#[test]
fn a_commit_is_pushed_once() {
    let (repository, origin) = with_origin();
    let repo = repository.repo();
    let path = repository.worktree("w");
    let mine = commit(&path, "mine");
    for _ in 0..2 {
        repo.push(&push(&repo, &mine, "adjutant/w")).unwrap();
        assert_eq!(open(&origin).resolve("adjutant/w").unwrap().as_ref(), Some(&mine));
    }
    // Forward is fine.
    let more = commit(&path, "more");
    repo.push(&push(&repo, "w", "adjutant/w")).unwrap();
    assert_eq!(open(&origin).resolve("adjutant/w").unwrap(), Some(more));
}

#[test]
fn a_relative_address_begins_at_the_top_of_the_working_tree() {
    let (repository, origin) = with_origin();
    repository.git(&["remote", "set-url", "origin", "../origin.git"]);
    let mine = commit(&repository.worktree("w"), "mine");
    let sub = repository.top().join("below");
    fs::create_dir(&sub).unwrap();
    for (repo, branch) in [(repository.repo(), "top"), (open(&sub), "below")] {
        repo.push(&push(&repo, &mine, branch)).unwrap();
        assert_eq!(open(&origin).resolve(branch).unwrap().as_ref(), Some(&mine));
    }
    let repo = repository.repo();
    for url in ["https://host/a", "git@host:a/b", "/a/b", "ssh://host/../a"] {
        assert_eq!(repo.address(url), url);
    }
}

#[test]
fn what_the_remote_has_and_we_lack_is_not_overwritten() {
    let (repository, origin) = with_origin();
    let repo = repository.repo();
    let path = repository.worktree("w");
    let mine = commit(&path, "mine");
    repo.push(&push(&repo, &mine, "b")).unwrap();
    plain(&path, &["reset", "-q", "--hard", "HEAD~1"]);
    let other = commit(&path, "other");
    let error = repo.push(&push(&repo, &other, "b")).unwrap_err();
    assert!(matches!(error, GitError::Rejected { .. }), "{error}");
    assert!(error.to_string().contains("fetch them, then merge or rebase"), "{error}");
    assert_eq!(open(&origin).resolve("b").unwrap(), Some(mine));
}

#[test]
fn the_reason_of_a_refusal_is_told() {
    let (repository, origin) = with_origin();
    let hook = "#!/bin/sh\necho 'only on fridays' >&2\nexit 1\n";
    executable(&origin, "hooks/pre-receive", hook);
    let repo = repository.repo();
    let error = repo.push(&push(&repo, "main", "b")).unwrap_err().to_string();
    assert!(error.contains("refused") && error.contains("only on fridays"), "{error}");
}

#[test]
fn remotes_that_are_not_there_are_told_apart() {
    let repository = Repository::with_commit();
    let repo = repository.repo();
    let error = repo.push(&push(&repo, "main", "b")).unwrap_err();
    assert!(matches!(&error, GitError::NoRemote(name) if name == "origin"), "{error}");
    repository.git(&["remote", "add", "origin", "http://me:secret@127.0.0.1:1/x.git"]);
    let error = repo.push(&push(&repo, "main", "b")).unwrap_err();
    assert!(matches!(error, GitError::Offline { .. }) && error.is_transient(), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
    for bad in ["--exec=x", "", "ext::sh -c x", "helper::x"] {
        let push = Push { url: bad.into(), ..push(&repo, "main", "b") };
        assert!(matches!(repo.push(&push).unwrap_err(), GitError::NoRemote(_)));
    }
    assert!(matches!(repo.push(&push(&repo, "main", "-b")).unwrap_err(), GitError::BadName(_)));
    assert!(matches!(repo.push(&push(&repo, "no", "b")).unwrap_err(), GitError::NoSuchRevision(_)));
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
    // It holds for repositories in that folder, and is in another file.
    let (config, included) = (repository.beside("config"), repository.beside("included"));
    let text = format!("[url \"{}\"]\n\tinsteadOf = short:x\n", origin.display());
    fs::write(&included, text).unwrap();
    let (top, path) = (repository.top().display(), included.display());
    // A file that is named as its neighbour, as people write it, is no obstacle.
    fs::write(repository.beside("neighbour"), "[user]\n\temail = a@localhost\n").unwrap();
    let text =
        format!("[include]\n\tpath = neighbour\n[includeIf \"gitdir:{top}/\"]\n\tpath = {path}\n");
    fs::write(&config, text).unwrap();
    repository.git(&["remote", "set-url", "origin", "short:x"]);
    let mut push = push(&repository.repo(), "main", "b");
    push.environment.retain(|(name, _)| name != "GIT_CONFIG_GLOBAL");
    push.environment.push(("GIT_CONFIG_GLOBAL".into(), config.into()));
    repository.repo().push(&push).unwrap();
    assert_eq!(open(&origin).resolve("b").unwrap(), Some(head(repository.top())));
}

/// A program that leaves a trace, and the trace.
fn trap(repository: &Repository) -> (String, PathBuf) {
    let trace = repository.beside("trace");
    let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\nexit 1\n", trace.display());
    executable(repository.dir.path(), "trap", &script);
    (repository.beside("trap").display().to_string(), trace)
}

/// Has a server answer requests, and gives its address and what it was sent.
fn listen(status: &'static str) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = vec![0; 4_096];
            let read = stream.read(&mut request).unwrap();
            let text = String::from_utf8_lossy(&request[..read]).into_owned();
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            drop(stream.write_all(answer.as_bytes()));
            if tell.send(text).is_err() {
                return;
            }
        }
    });
    (address, told)
}

#[test]
fn a_push_goes_where_the_remote_is_and_runs_nothing_that_the_repository_names() {
    let (repository, origin) = with_origin();
    let (trap, trace) = trap(&repository);
    let evil = repository.beside("evil.git");
    repository.git(&["clone", "-q", "--bare", ".", evil.to_str().unwrap()]);
    let hooks = repository.beside("hooks");
    fs::create_dir(&hooks).unwrap();
    fs::copy(&trap, hooks.join("pre-push")).unwrap();
    let instead = format!("url.{}.insteadOf", evil.display());
    let push_instead = format!("url.{}.pushInsteadOf", evil.display());
    let origin_url = origin.to_str().unwrap();
    for (name, value) in [
        ("core.hooksPath", hooks.to_str().unwrap()),
        (&instead, origin_url),
        (&push_instead, origin_url),
        ("remote.origin.pushurl", evil.to_str().unwrap()),
        ("remote.origin.receivepack", &trap),
        ("remote.origin.vcs", "trap"),
        ("core.alternateRefsCommand", &trap),
        ("push.recurseSubmodules", "on-demand"),
        ("extensions.worktreeConfig", "true"),
    ] {
        repository.git(&["config", name, value]);
    }
    let repo = repository.repo();
    repo.push(&push(&repo, "main", "b")).unwrap();
    let pushed = head(repository.top());
    assert_eq!(open(&origin).resolve("b").unwrap(), Some(pushed.clone()));
    assert_eq!(open(&evil).resolve("b").unwrap(), None);
    assert!(!trace.exists(), "{}", fs::read_to_string(&trace).unwrap());
    // What git itself would have noted of it.
    assert_eq!(repo.resolve("refs/remotes/origin/b").unwrap(), Some(pushed));
    assert_eq!(repo.remote_url("origin").unwrap().as_deref(), Some(origin_url));
}

#[test]
fn a_token_is_sent_to_its_host_alone_whatever_the_repository_says() {
    let repository = Repository::with_commit();
    let (trap, trace) = trap(&repository);
    let (host, told) = listen("401 No");
    let (proxy, stolen) = listen("403 No");
    let helper = format!("!{trap}");
    let url = format!("http://{host}/x.git");
    repository.git(&["remote", "add", "origin", &url]);
    let included = repository.beside("included");
    let text = format!("[http]\n\tproxy = http://{proxy}\n[credential]\n\thelper = {helper}\n");
    fs::write(&included, &text).unwrap();
    for (name, value) in [
        ("include.path", included.to_str().unwrap()),
        ("http.proxy", &format!("http://{proxy}")),
        ("http.sslVerify", "false"),
        ("http.extraHeader", "X-Stolen: yes"),
        ("credential.helper", &helper),
        ("core.askPass", &trap),
        ("core.sshCommand", &trap),
        ("core.gitProxy", &trap),
        ("remote.origin.proxy", &format!("http://{proxy}")),
        (&format!("url.http://{proxy}/.insteadOf"), &format!("http://{host}/")),
        ("extensions.worktreeConfig", "true"),
    ] {
        repository.git(&["config", name, value]);
    }
    fs::write(repository.top().join(".git/config.worktree"), &text).unwrap();
    let repo = repository.repo();
    let header = Some((format!("http://{host}/"), "Authorization: Basic c2VjcmV0".to_owned()));
    let error = repo.push(&Push { header, ..push(&repo, "main", "b") }).unwrap_err();
    assert!(matches!(error, GitError::Denied { .. }), "{error}");
    let request = told.recv().unwrap();
    assert!(request.contains("Authorization: Basic c2VjcmV0"), "{request}");
    assert!(!request.contains("X-Stolen"), "{request}");
    // Nothing has come: what there is was sent before the push ended.
    assert!(stolen.try_recv().is_err());
    let ssh = Push { url: "ssh://nobody@127.0.0.1:1/x.git".into(), ..push(&repo, "main", "b") };
    repo.push(&ssh).unwrap_err();
    let plain = Push { url: "git://127.0.0.1:1/x.git".into(), ..push(&repo, "main", "b") };
    repo.push(&plain).unwrap_err();
    assert!(!trace.exists(), "{}", fs::read_to_string(&trace).unwrap());
    any(repository.top(), &["push", "ssh://nobody@127.0.0.1:1/x.git", "main:b"]);
    assert!(trace.exists(), "this test would notice");
}

#[test]
fn a_cut_off_history_and_other_hashes_are_pushed_too() {
    let repository = Repository::with_commit();
    repository.commit("second");
    let from = format!("file://{}", repository.top().display());
    let shallow = repository.beside("shallow");
    plain(repository.dir.path(), &["clone", "-q", "--depth=1", &from, shallow.to_str().unwrap()]);
    let new = commit(&shallow, "third");
    let repo = open(&shallow);
    repo.push(&push(&repo, "main", "b")).unwrap();
    assert_eq!(repository.repo().resolve("b").unwrap(), Some(new));
    let other = Repository::with(&["--object-format=sha256"]);
    other.write("a", "x");
    let first = other.commit("first");
    let origin = other.beside("origin.git");
    other.git(&["clone", "-q", "--bare", ".", origin.to_str().unwrap()]);
    other.git(&["remote", "add", "origin", origin.to_str().unwrap()]);
    let repo = other.repo();
    repo.push(&push(&repo, "main", "b")).unwrap();
    assert_eq!(open(&origin).resolve("b").unwrap(), Some(first));
}

#[test]
fn a_header_goes_to_its_host_and_into_no_argument() {
    let repository = Repository::with_commit();
    let (address, told) = listen("403 No");
    let url = format!("http://{address}/x.git");
    repository.git(&["remote", "add", "origin", &url]);
    let arguments = repository.beside("arguments");
    let script =
        format!("#!/bin/sh\necho \"$@\" >> '{}'\nexec /usr/bin/git \"$@\"\n", arguments.display());
    executable(repository.dir.path(), "bin/git", &script);
    let mut path = repository.dir.path().join("bin").into_os_string();
    path.push(":/usr/bin:/bin");
    let git = crate::git::Git::on_path(&path);
    let repo = git.open(repository.top(), crate::git::support::TEST_TIMEOUT).unwrap();
    let send = |prefix: &str| {
        let header = Some((prefix.to_owned(), "Authorization: Basic c2VjcmV0".to_owned()));
        let mut push = Push { header, ..push(&repo, "main", "b") };
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
    let arguments = fs::read_to_string(arguments).unwrap();
    assert!(arguments.contains("push") && !arguments.contains("c2VjcmV0"), "{arguments}");
    let header = Some((String::new(), "A: b\nC: d".to_owned()));
    assert!(repo.push(&Push { header, ..push(&repo, "main", "b") }).is_err());
}
