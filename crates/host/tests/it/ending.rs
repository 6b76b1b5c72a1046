//! All of an agent ends, whatever it does against it.

use std::time::Duration;

use host::process;
use host::run::{EndCause, Stream};

use crate::support::{children, living, sh, start, texts, until};

/// Started in sessions of their own, deaf, without the run's environment, and starting more all the time.
const DEAF: &str = r#"
trap '' TERM
cat > deaf.sh <<'END'
trap '' TERM
for i in $(seq 300); do setsid sh -c 'sleep 1000; :' "$0" & sleep 0.01; done
sleep 1000
END
for i in 1 2 3; do env -i PATH="$PATH" setsid sh deaf.sh "$PWD" & done
echo ready
while :; do sleep 1000; done
"#;

#[tokio::test]
async fn a_deaf_agent_with_deaf_children_in_other_sessions_is_gone_after_the_grace() {
    let mut run = start(sh(DEAF)).await;
    run.until_it_says("ready").await;
    let mark = run.dir.path().to_owned();
    until("more are started", || living(&mark).len() > 10).await;
    run.connect().await.stop("enough", Duration::from_millis(200)).await.unwrap();
    let exit = run.exit().await;
    assert_eq!(living(&mark), [0; 0], "all are gone when it says so");
    assert_eq!((exit.ended, exit.why.as_deref()), (EndCause::Stopped, Some("enough")));
    assert_eq!((exit.code, exit.signal), (None, Some(9)));
}

#[tokio::test]
async fn kill_needs_no_grace() {
    let mut run = start(sh(DEAF)).await;
    run.until_it_says("ready").await;
    run.connect().await.kill("now").await.unwrap();
    let exit = run.exit().await;
    assert_eq!(living(run.dir.path()), [0; 0]);
    assert_eq!((exit.ended, exit.why.as_deref()), (EndCause::Stopped, Some("now")));
    assert_eq!(exit.signal, Some(9));
}

#[tokio::test]
async fn an_agent_that_was_asked_may_end_in_its_own_way() {
    let script = "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done";
    let mut run = start(sh(script)).await;
    run.until_it_says("ready").await;
    run.connect().await.stop("enough", Duration::from_secs(60)).await.unwrap();
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.code, exit.signal), (EndCause::Stopped, Some(3), None));
    assert_eq!(texts(&run.lines(), Stream::Out), ["ready", "bye"], "it was asked once");
}

#[tokio::test]
async fn a_kill_after_a_stop_does_not_wait_for_the_grace() {
    let mut run = start(sh("trap '' TERM; echo ready; while :; do sleep 1000; done")).await;
    run.until_it_says("ready").await;
    let mut control = run.connect().await;
    control.stop("please", Duration::from_secs(3600)).await.unwrap();
    control.kill("now").await.unwrap();
    let exit = run.exit().await;
    assert_eq!(exit.why.as_deref(), Some("please"), "the first wish is the reason");
}

#[tokio::test]
async fn an_agent_that_was_stopped_by_a_signal_can_still_be_asked() {
    let script = "trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done";
    let mut run = start(sh(script)).await;
    run.until_it_says("ready").await;
    let agent = rustix::process::Pid::from_raw(i32::try_from(run.agent()).unwrap()).unwrap();
    rustix::process::kill_process(agent, rustix::process::Signal::STOP).unwrap();
    run.connect().await.stop("enough", Duration::from_secs(60)).await.unwrap();
    assert_eq!(run.exit().await.code, Some(3));
}

#[tokio::test]
async fn what_an_agent_leaves_behind_is_ended_and_counted() {
    let script = "setsid sleep 1000 & sleep 1000 & exit 0";
    let mut run = start(sh(script)).await;
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.code, exit.left_behind), (EndCause::Exited, Some(0), 2));
    assert_eq!(living(run.dir.path()), [0; 0]);
}

#[tokio::test]
async fn what_is_left_behind_and_deaf_is_ended_too() {
    let mut spec = sh("trap '' TERM; setsid sh -c 'sleep 1000; :' & exit 0");
    spec.grace_ms = 50;
    let mut run = start(spec).await;
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.code), (EndCause::Exited, Some(0)));
    assert!(exit.left_behind >= 1, "{exit:?}");
    assert_eq!(living(run.dir.path()), [0; 0]);
}

#[tokio::test]
async fn an_agent_past_its_time_is_ended() {
    let mut spec = sh("trap '' TERM; while :; do sleep 1000; done");
    spec.time_limit_ms = Some(50);
    spec.grace_ms = 50;
    let mut run = start(spec).await;
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.why, exit.signal), (EndCause::TimedOut, None, Some(9)));
    assert!(exit.ended_at.millis_since(exit.started_at) >= 100);
}

#[tokio::test]
async fn a_supervisor_that_is_asked_to_end_ends_its_agent_first() {
    let mut run = start(sh("echo ready; sleep 1000")).await;
    run.until_it_says("ready").await;
    process::terminate(run.supervisor()).unwrap();
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.why.as_deref()), (EndCause::Stopped, Some("signal")));
    assert_eq!(living(run.dir.path()), [0; 0]);
}

#[tokio::test]
async fn an_agent_that_closes_its_output_and_goes_on_is_waited_for() {
    let script = "echo before; exec >&- 2>&-; while [ ! -e go ]; do sleep 0.01; done; exit 4";
    let mut run = start(sh(script)).await;
    run.until_it_says("before").await;
    let mut control = run.connect().await;
    std::fs::write(run.dir.path().join("go"), "").unwrap();
    while control.next().await.is_some() {}
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.code, exit.lines), (EndCause::Exited, Some(4), 1));
}

#[tokio::test]
async fn no_process_that_has_ended_waits_to_be_reaped() {
    let script = "i=0; while [ $i -lt 50 ]; do (true &); i=$((i+1)); done; echo ready; sleep 1000";
    let run = start(sh(script)).await;
    run.until_it_says("ready").await;
    let (supervisor, agent) = (run.supervisor(), run.agent());
    until("the orphans are reaped", || children(supervisor) == [(agent, false)]).await;
    run.connect().await.kill("the test is over").await.unwrap();
    // Nobody waits for the supervisor itself either.
    drop(run);
    until("the supervisor is reaped", || {
        !children(std::process::id()).iter().any(|(pid, _)| *pid == supervisor)
    })
    .await;
}
