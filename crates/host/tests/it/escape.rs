//! An agent that works against its supervisor is ended all the same.

use std::fs;
use std::path::Path;

use host::process;
use host::run::{EndCause, RunStatus};

use crate::support::{living, sh, start, until};

#[tokio::test]
async fn a_supervisor_without_a_socket_is_found_by_its_lock() {
    let script = "until rm \"$ADJUTANT_RUN\"/supervisor.json; do :; done; echo ready; sleep 1000";
    let mut run = start(sh(script)).await;
    run.until_it_says("ready").await;
    assert!(run.folder.connect().await.is_err());
    assert!(run.folder.terminate_supervisor().unwrap());
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.why.as_deref()), (EndCause::Stopped, Some("signal")));
    assert!(!run.folder.terminate_supervisor().unwrap(), "nobody is there any more");
}

#[tokio::test]
async fn a_forged_process_id_is_not_signalled() {
    let mut run = start(sh("echo ready; sleep 1000")).await;
    run.until_it_says("ready").await;
    let supervisor = run.supervisor();
    let mut bystander = start(sh("sleep 1000")).await;
    let file = run.folder.path().join("supervisor.json");
    let text = fs::read_to_string(&file).unwrap();
    let forged = text.replace(&supervisor.to_string(), &bystander.supervisor().to_string());
    assert_ne!(text, forged);
    fs::write(&file, forged).unwrap();
    assert!(run.folder.kill_supervisor().unwrap());
    run.begun.ended().await.unwrap();
    assert_eq!(run.folder.standing().unwrap(), RunStatus::Gone);
    assert_eq!(bystander.folder.standing().unwrap(), RunStatus::Running);
    run.folder.sweep().unwrap();
    bystander.connect().await.kill("the test is over").await.unwrap();
    bystander.exit().await;
}

#[tokio::test]
async fn what_an_agent_left_is_swept_though_its_folder_is_gone() {
    let script = "setsid sh -c 'trap \"\" TERM; sleep 1000; :' & echo ready; sleep 1000";
    let mut run = start(sh(script)).await;
    run.until_it_says("ready").await;
    let mark = run.dir.path().to_owned();
    process::kill(run.supervisor()).unwrap();
    run.begun.ended().await.unwrap();
    fs::remove_dir_all(run.folder.path()).unwrap();
    run.folder.sweep().unwrap();
    assert_eq!(living(&mark), [0; 0]);
}

/// The living processes that were told their number in this file.
fn told(file: &Path) -> Option<u32> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[tokio::test]
async fn who_cleared_its_environment_is_swept_by_the_session() {
    let script = "env -i PATH=\"$PATH\" sh -c 'trap \"\" TERM; echo $$ > pid; sleep 1000; :' &
                  while [ ! -s pid ]; do sleep 0.01; done; echo ready; sleep 1000";
    let mut run = start(sh(script)).await;
    run.until_it_says("ready").await;
    let hidden = told(&run.dir.path().join("pid")).unwrap();
    process::kill(run.supervisor()).unwrap();
    run.begun.ended().await.unwrap();
    assert!(process::is_alive(hidden), "it survives its supervisor");
    assert!(run.folder.sweep().unwrap() >= 1);
    until("it is gone", || !process::is_alive(hidden)).await;
}

#[tokio::test]
async fn who_hides_in_every_other_way_is_swept_by_the_control_group() {
    let script =
        "env -i PATH=\"$PATH\" setsid sh -c 'trap \"\" TERM; echo $$ > pid; sleep 1000; :' &
                  while [ ! -s pid ]; do sleep 0.01; done; echo ready; sleep 1000";
    let mut run = start(sh(script)).await;
    run.until_it_says("ready").await;
    let hidden = told(&run.dir.path().join("pid")).unwrap();
    let group = run.folder.supervisor().unwrap().unwrap().cgroup;
    let Some(group) = group else {
        // No control group is delegated here: this is what the documents say remains.
        run.connect().await.kill("the test is over").await.unwrap();
        run.exit().await;
        assert!(!process::is_alive(hidden), "its supervisor ends it");
        return;
    };
    process::kill(run.supervisor()).unwrap();
    run.begun.ended().await.unwrap();
    assert!(process::is_alive(hidden), "it survives its supervisor");
    assert!(run.folder.sweep().unwrap() >= 1);
    assert!(!process::is_alive(hidden));
    assert!(!group.exists(), "its group goes with it");
}

#[tokio::test]
async fn files_that_an_agent_replaced_neither_block_nor_mislead() {
    let forge = "cd \"$ADJUTANT_RUN\"; rm -f supervisor.json claim exit.json;
                 mkfifo supervisor.json claim exit.json; echo ready; sleep 1000";
    let mut run = start(sh(forge)).await;
    run.until_it_says("ready").await;
    assert_eq!(run.folder.standing().unwrap(), RunStatus::Running);
    assert!(!run.folder.give_up().unwrap());
    fs::remove_file(run.folder.path().join("exit.json")).unwrap();
    fs::create_dir(run.folder.path().join("exit.json")).unwrap();
    assert_eq!(run.folder.standing().unwrap(), RunStatus::Running);
    assert!(run.folder.kill_supervisor().unwrap());
    run.begun.ended().await.unwrap();
    assert_eq!(run.folder.standing().unwrap(), RunStatus::Gone);
    run.folder.sweep().unwrap();
    assert_eq!(living(run.dir.path()), [0; 0]);
}
