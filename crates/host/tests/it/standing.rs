//! Who may begin a run, and how a run stands when a server comes back.

use host::process;
use host::run::{EndCause, RunFolder, RunStatus, StartedSupervisor, Stream};

use crate::support::{living, prepared, read_all, sh, start, started, texts, until};

#[tokio::test]
async fn a_run_stands_as_it_does() {
    let (_dir, folder) = prepared(sh("while [ ! -e go ]; do sleep 0.01; done"));
    assert_eq!(folder.standing().unwrap(), RunStatus::NotBegun);
    assert_eq!((folder.exit().unwrap(), folder.supervisor().unwrap()), (None, None));
    let mut begun = started(&folder).unwrap();
    begun.ready().await.unwrap();
    assert_eq!(folder.standing().unwrap(), RunStatus::Running);
    // As a server does that was started anew.
    let again = RunFolder::open(folder.path());
    assert_eq!(again.standing().unwrap(), RunStatus::Running);
    std::fs::write(folder.path().with_file_name("go"), "").unwrap();
    assert!(begun.ended().await.unwrap().is_success());
    match again.standing().unwrap() {
        RunStatus::Ended(exit) => assert_eq!((exit.ended, exit.code), (EndCause::Exited, Some(0))),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_agent_dies_with_its_supervisor_and_what_it_left_is_swept() {
    let script = "setsid sh -c 'trap \"\" TERM; sleep 1000; :' & echo ready; sleep 1000";
    let mut run = start(sh(script)).await;
    run.until_it_says("ready").await;
    let mark = run.dir.path().to_owned();
    // The supervisor's own folder is on its command line.
    until("all are there", || living(&mark).len() >= 4).await;
    let (supervisor, agent) = (run.supervisor(), run.agent());
    process::kill(supervisor).unwrap();
    run.begun.ended().await.unwrap();
    assert_eq!(run.folder.standing().unwrap(), RunStatus::Gone);
    assert!(run.folder.connect().await.is_err());
    until("the agent is gone", || !process::is_alive(agent)).await;
    assert!(!living(&mark).is_empty(), "what it had started lives");
    assert!(run.folder.sweep().unwrap() >= 1);
    assert_eq!(living(&mark), [0; 0]);
    assert_eq!(run.folder.sweep().unwrap(), 0);
    assert_eq!(texts(&run.lines(), Stream::Out), ["ready"], "what was said is kept");
}

#[tokio::test]
async fn a_run_that_was_given_up_is_never_begun() {
    let (dir, folder) = prepared(sh("touch ran"));
    assert!(folder.give_up().unwrap());
    let mut begun = started(&folder).unwrap();
    assert!(begun.ended().await.unwrap().is_success());
    assert!(!dir.path().join("ran").exists());
    assert_eq!(folder.standing().unwrap(), RunStatus::NotBegun);
    assert!(folder.give_up().unwrap(), "it still is");
}

#[tokio::test]
async fn a_claim_that_nobody_lived_to_write_is_none() {
    let (dir, folder) = prepared(sh("touch ran"));
    // As a process of an earlier version leaves it that is killed between creating and writing it.
    std::fs::write(folder.path().join("claim"), "").unwrap();
    let lock = host::files::lock(&folder.path().join("lock")).unwrap().unwrap();
    assert_eq!(folder.standing().unwrap(), RunStatus::Running, "it may be about to write it");
    assert!(!folder.give_up().unwrap());
    drop(lock);
    assert_eq!(folder.standing().unwrap(), RunStatus::NotBegun);
    assert!(folder.give_up().unwrap());
    assert!(started(&folder).unwrap().ended().await.unwrap().is_success());
    assert!(!dir.path().join("ran").exists(), "from then on nobody begins it");
}

#[tokio::test]
async fn a_claim_is_never_seen_half_written() {
    for _ in 0..20 {
        let (_dir, folder) = prepared(sh("true"));
        let mut begun = started(&folder).unwrap();
        let claim = folder.path().join("claim");
        until("it is claimed", || claim.exists()).await;
        assert_eq!(std::fs::read_to_string(&claim).unwrap(), "supervisor\n");
        begun.ended().await.unwrap();
    }
}

#[tokio::test]
async fn a_run_that_was_begun_is_not_given_up() {
    let mut run = start(sh("sleep 1000")).await;
    assert!(!run.folder.give_up().unwrap());
    assert_eq!(run.folder.standing().unwrap(), RunStatus::Running);
    run.connect().await.kill("the test is over").await.unwrap();
    run.exit().await;
    assert!(!run.folder.give_up().unwrap());
}

#[tokio::test]
async fn of_many_supervisors_one_runs_the_agent() {
    let (_dir, folder) = prepared(sh("echo once; sleep 0.05"));
    let mut all: Vec<StartedSupervisor> = (0..8).map(|_| started(&folder).unwrap()).collect();
    for begun in &mut all {
        assert!(begun.ended().await.unwrap().is_success());
    }
    assert!(started(&folder).unwrap().ended().await.unwrap().is_success());
    assert_eq!(texts(&read_all(&folder), Stream::Out), ["once"]);
}

#[tokio::test]
async fn of_giving_up_and_beginning_exactly_one_wins() {
    let (mut given_up, mut begun) = (0, 0);
    for round in 0..40_u32 {
        let (dir, folder) = prepared(sh("touch ran"));
        let mut supervisor = started(&folder).unwrap();
        // At another moment of its start each time.
        for _ in 0..round * 200 {
            std::hint::black_box(std::fs::metadata(folder.path()).unwrap());
        }
        let is_ours = folder.give_up().unwrap();
        supervisor.ended().await.unwrap();
        assert_eq!(dir.path().join("ran").exists(), !is_ours);
        match folder.standing().unwrap() {
            RunStatus::NotBegun => assert!(is_ours),
            RunStatus::Ended(_) => assert!(!is_ours),
            other => panic!("{other:?}"),
        }
        *if is_ours { &mut given_up } else { &mut begun } += 1;
    }
    assert_eq!(given_up + begun, 40);
}

#[tokio::test]
async fn a_supervisor_that_fails_says_why_in_its_log() {
    let (_dir, folder) = prepared(sh("true"));
    std::fs::create_dir(folder.path().join("output.jsonl")).unwrap();
    let mut begun = started(&folder).unwrap();
    assert!(!begun.ended().await.unwrap().is_success());
    let log = std::fs::read_to_string(folder.path().join("supervisor.log")).unwrap();
    assert!(log.contains("could not create `output.jsonl`: Is a directory"), "{log}");
    assert_eq!(folder.standing().unwrap(), RunStatus::Gone);
}

#[tokio::test]
async fn a_folder_may_have_a_long_path() {
    let dir = tempfile::tempdir().unwrap();
    let mut path = dir.path().to_owned();
    while path.as_os_str().len() < 300 {
        path.push("a-folder-with-a-rather-long-name");
    }
    let folder = RunFolder::create(&path, &sh("echo there; sleep 1000")).unwrap();
    let mut begun = started(&folder).unwrap();
    begun.ready().await.unwrap();
    let mut control = folder.connect().await.unwrap();
    assert!(control.next().await.is_some());
    control.kill("the test is over").await.unwrap();
    while control.next().await.is_some() {}
    assert!(matches!(folder.standing().unwrap(), RunStatus::Ended(_)));
}
