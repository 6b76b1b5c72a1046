//! Values of an agent's environment reach it through its supervisor and never a file.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use host::process;
use host::run::{Handover, RunFolder, RunStatus, Spec, Stream, Variables};

use crate::support::{prepared, program, read_all, sh, socket, start, texts};

const KEY: &str = "sk-ant-s3cret-value";
const NO_FILES: [PathBuf; 0] = [];

/// A shell script as an agent that has a provider's key.
fn with_key(script: &str) -> Spec {
    let mut spec = sh(script);
    spec.environment.push(("ANTHROPIC_API_KEY".into(), KEY.into()));
    spec
}

/// The files below a folder that have the key in them.
fn files_with_key(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            found.extend(files_with_key(&path));
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap();
            if bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()) {
                found.push(path);
            }
        }
    }
    found
}

#[tokio::test]
async fn no_file_has_a_value_of_the_environment_before_during_or_after_a_run() {
    let script = "echo \"${#ANTHROPIC_API_KEY}\"; while [ ! -e go ]; do sleep 0.01; done";
    let mut run = start(with_key(script)).await;
    run.until_it_says(&KEY.len().to_string()).await;
    assert_eq!(files_with_key(run.dir.path()), NO_FILES);
    let spec = fs::read_to_string(run.folder.path().join("spec.json")).unwrap();
    assert!(spec.contains("\"ANTHROPIC_API_KEY\""), "names are recorded: {spec}");
    fs::write(run.dir.path().join("go"), "").unwrap();
    run.exit().await;
    assert_eq!(files_with_key(run.dir.path()), NO_FILES);

    let mut run = start(with_key("echo ready; sleep 1000")).await;
    run.until_it_says("ready").await;
    process::kill(run.supervisor()).unwrap();
    run.begun.ended().await.unwrap();
    assert_eq!(files_with_key(run.dir.path()), NO_FILES, "after a SIGKILL");
    run.folder.sweep().unwrap();
}

#[tokio::test]
async fn a_large_environment_is_handed_over_whole() {
    let mut spec = sh("echo \"${#ONE} ${#TWO}\"");
    for name in ["ONE", "TWO"] {
        spec.environment.push((name.into(), "x".repeat(100_000)));
    }
    let mut run = start(spec).await;
    run.exit().await;
    assert_eq!(texts(&run.lines(), Stream::Out), ["100000 100000"]);
}

/// A supervisor that is handed these bytes, as by a server that dies while it writes.
fn handed(folder: &RunFolder, bytes: &[u8]) -> process::Output {
    let launch = process::Launch {
        program: program(),
        arguments: vec!["supervise".into(), folder.path().into()],
        environment: Vec::new(),
        directory: folder.path().to_owned(),
    };
    process::run_with_input(&launch, bytes, std::time::Duration::from_secs(60)).unwrap()
}

#[tokio::test]
async fn a_run_whose_server_died_while_it_handed_over_is_never_begun() {
    let (dir, folder) = prepared(with_key("touch ran"));
    let whole = serde_json::to_vec(&Handover::new(&with_key("").environment)).unwrap();
    for bytes in [&whole[..0], &whole[..whole.len() / 2]] {
        assert!(!handed(&folder, bytes).exit.is_success());
        assert_eq!(folder.standing().unwrap(), RunStatus::NotBegun);
    }
    assert!(!dir.path().join("ran").exists());
    assert!(handed(&folder, &whole).exit.is_success(), "and can still be begun");
    assert!(dir.path().join("ran").exists());
}

/// Writes a `spec.json` as earlier versions did.
fn write_old(folder: &RunFolder, spec: &Spec) {
    let mut old = serde_json::to_value(spec).unwrap();
    old["environment"] = serde_json::to_value(&spec.environment).unwrap();
    fs::write(folder.path().join("spec.json"), old.to_string()).unwrap();
}

#[tokio::test]
async fn values_that_an_earlier_version_wrote_are_removed() {
    let (dir, folder) = prepared(with_key("true"));
    write_old(&folder, &with_key("true"));
    assert_eq!(files_with_key(dir.path()).len(), 1);
    assert!(!folder.forget_values().unwrap(), "its supervisor may not have read them yet");
    assert!(folder.give_up().unwrap());
    fs::write(folder.path().join("spec.json.new"), KEY).unwrap();
    assert!(folder.forget_values().unwrap());
    assert_eq!(files_with_key(dir.path()), NO_FILES);
    assert!(!folder.forget_values().unwrap(), "once");
    let spec = fs::read_to_string(folder.path().join("spec.json")).unwrap();
    assert!(spec.contains("ANTHROPIC_API_KEY"), "{spec}");
}

#[tokio::test]
async fn a_server_of_an_earlier_version_can_start_this_supervisor() {
    let spec = with_key("echo \"${#ANTHROPIC_API_KEY}\"");
    let (dir, folder) = prepared(spec.clone());
    write_old(&folder, &Spec { directory: dir.path().into(), ..spec });
    assert!(handed(&folder, b"").exit.is_success());
    assert_eq!(texts(&read_all(&folder), Stream::Out), [KEY.len().to_string()]);
    assert_eq!(files_with_key(dir.path()), NO_FILES);
}

#[tokio::test]
async fn only_who_has_the_key_is_given_values() {
    let (_dir, folder) = prepared(sh("sleep 1000"));
    let environment = Variables(with_key("").environment);
    let handover = Handover { environment, control_key: Some("the key".into()), cgroup: None };
    let mut begun = folder.start(&program(), &handover).unwrap();
    begun.ready().await.unwrap();
    let names = ["ANTHROPIC_API_KEY".to_owned(), "MISSING".to_owned()];
    let mut server = folder.connect().await.unwrap();
    let given = server.environment("the key", &names).await.unwrap();
    assert_eq!(given.0, [("ANTHROPIC_API_KEY".to_owned(), KEY.to_owned())]);

    let mut stranger = UnixStream::connect(socket(&folder)).unwrap();
    let asks = "{\"authenticate\":{\"key\":\"another key\"}}
        {\"environment\":{\"names\":[\"ANTHROPIC_API_KEY\"]}}
        {\"input\":{\"key\":\"a\",\"line\":\"x\"}}\n";
    stranger.write_all(asks.as_bytes()).unwrap();
    let answers: Vec<String> = BufReader::new(stranger)
        .lines()
        .map(Result::unwrap)
        .take_while(|answer| !answer.contains("\"input\""))
        .collect();
    assert!(answers.iter().all(|answer| !answer.contains("nvironment")), "{answers:?}");
    server.kill("the test is over").await.unwrap();
    begun.ended().await.unwrap();
}
