//! The lease of a run: its supervisor ends the agent when nobody renews it, whatever became of those who should.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::time::Duration;

use host::boot_clock::BootTime;
use host::run::{EndCause, Handover, RunFolder, Spec, Stdin, Stream};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{
    Run, example, living, prepared, sh, socket, start, start_with, started, texts, until,
};

const HOUR: Duration = Duration::from_secs(3600);
const TEST_KEY: &str = "k3y";

/// An agent with a lease of so long.
fn leased(script: &str, lease: Duration) -> Spec {
    Spec { lease: Some(BootTime::now().after(lease)), ..sh(script) }
}

/// Starts an agent whose supervisor knows the server by [`TEST_KEY`].
async fn start_with_key(spec: Spec) -> Run {
    let handover =
        Handover { control_key: Some(TEST_KEY.to_owned()), ..Handover::new(&spec.environment) };
    start_with(spec, &handover).await
}

/// The end of the lease in force.
async fn lease_of(folder: &RunFolder) -> Option<BootTime> {
    let mut control = folder.connect().await.unwrap();
    control.renew_lease(TEST_KEY, BootTime::now()).await.unwrap()
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
}

#[tokio::test]
async fn an_agent_whose_lease_nobody_renews_is_asked_to_end() {
    let script = "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done";
    let spec = Spec { grace_ms: 3_600_000, ..leased(script, Duration::from_millis(500)) };
    let mut run = start(spec).await;
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.why, exit.code), (EndCause::LeaseLost, None, Some(3)));
    assert_eq!(texts(&run.lines(), Stream::Out), ["ready", "bye"]);
}

#[tokio::test]
async fn a_deaf_agent_without_a_lease_is_ended_after_the_grace() {
    let script =
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 1000; :' & while :; do sleep 1000; done";
    let spec = Spec { grace_ms: 100, ..leased(script, Duration::from_millis(300)) };
    let mut run = start(spec).await;
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.why, exit.signal), (EndCause::LeaseLost, None, Some(9)));
    assert_eq!(living(run.dir.path()), [0; 0], "all it started is gone too");
}

#[tokio::test]
async fn a_lease_that_is_renewed_is_kept_and_never_shortened() {
    let first = Duration::from_secs(3);
    let spec = Spec { stdin: Stdin::Open, ..leased("read line; echo $line", first) };
    let ends_first = spec.lease.unwrap();
    let mut run = start_with_key(spec).await;
    let mut control = run.connect().await;
    let later = BootTime::now().after(HOUR);
    assert_eq!(control.renew_lease(TEST_KEY, later).await.unwrap(), Some(later));
    let earlier = BootTime::now().after(first);
    assert_eq!(control.renew_lease(TEST_KEY, earlier).await.unwrap(), Some(later));
    until("the first lease is over", || BootTime::now() > earlier.max(ends_first)).await;
    assert_eq!(lease_of(&run.folder).await, Some(later));
    assert!(control.input("a", "alive").await.unwrap());
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.code), (EndCause::Exited, Some(0)));
    assert_eq!(texts(&run.lines(), Stream::Out), ["alive"]);
}

#[tokio::test]
async fn an_agent_does_not_prolong_its_own_lease() {
    let spec = leased("sleep 1000", HOUR);
    let lease = spec.lease;
    let mut run = start_with_key(spec).await;
    let mut stream = UnixStream::connect(socket(&run.folder)).unwrap();
    let wanted = serde_json::to_string(&BootTime::now().after(2 * HOUR)).unwrap();
    writeln!(stream, r#"{{"lease":{{"until":{wanted}}}}}"#).unwrap();
    writeln!(stream, r#"{{"authenticate":{{"key":"guessed"}}}}"#).unwrap();
    writeln!(stream, r#"{{"lease":{{"until":{wanted}}}}}"#).unwrap();
    writeln!(stream, r#"{{"input":{{"key":"heard","line":""}}}}"#).unwrap();
    until("it has read them", || {
        let mut heard = [0; 4096];
        let read = std::io::Read::read(&mut stream, &mut heard).unwrap();
        String::from_utf8_lossy(&heard[..read]).contains("heard")
    })
    .await;
    assert_eq!(lease_of(&run.folder).await, lease);
    run.connect().await.kill("the test is over").await.unwrap();
    run.exit().await;
}

#[tokio::test]
async fn a_run_without_a_lease_gets_none() {
    let mut run = start_with_key(sh("sleep 1000")).await;
    assert_eq!(lease_of(&run.folder).await, None);
    run.connect().await.kill("the test is over").await.unwrap();
    assert_eq!(run.exit().await.ended, EndCause::Stopped);
}

#[tokio::test]
async fn an_agent_that_was_frozen_past_its_lease_is_ended_without_grace() {
    let script = "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done";
    let lease = Duration::from_secs(3);
    let spec = Spec { grace_ms: 3_600_000, ..leased(script, lease) };
    let ends = spec.lease.unwrap();
    let mut run = start(spec).await;
    run.until_it_says("ready").await;
    let (supervisor, agent) = (run.supervisor(), run.agent());
    signal(supervisor, Signal::STOP);
    signal(agent, Signal::STOP);
    let late = ends.after(Duration::from_millis(1_500));
    until("the lease is over for more than a second", || BootTime::now() > late).await;
    // The agent first: it has that long before the supervisor is at work.
    signal(agent, Signal::CONT);
    signal(supervisor, Signal::CONT);
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.code, exit.signal), (EndCause::LeaseLost, None, Some(9)));
    let why = exit.why.unwrap();
    assert!(why.starts_with("noticed") && why.ends_with("s after its lease had ended"), "{why}");
    assert_eq!(texts(&run.lines(), Stream::Out), ["ready"]);
    assert_eq!(living(run.dir.path()), [0; 0]);
}

#[tokio::test]
async fn a_renewal_that_came_while_the_supervisor_was_stopped_counts() {
    let mut run = start_with_key(leased("sleep 1000", Duration::from_secs(3))).await;
    let mut control = run.connect().await;
    let supervisor = run.supervisor();
    signal(supervisor, Signal::STOP);
    let (now, later) = (BootTime::now(), BootTime::now().after(HOUR));
    let over = now.after(Duration::from_secs(5));
    let go_on = async {
        until("the first lease is over", || BootTime::now() > over).await;
        signal(supervisor, Signal::CONT);
    };
    let (renewed, ()) = tokio::join!(control.renew_lease(TEST_KEY, later), go_on);
    assert_eq!(renewed.unwrap(), Some(later));
    run.connect().await.kill("the test is over").await.unwrap();
    assert_eq!(run.exit().await.ended, EndCause::Stopped);
}

#[tokio::test]
async fn nothing_is_begun_when_the_lease_is_over() {
    let (dir, folder) = prepared(leased("touch ran", Duration::ZERO));
    let mut begun = started(&folder).unwrap();
    begun.ready().await.unwrap();
    begun.ended().await.unwrap();
    let exit = folder.exit().unwrap().unwrap();
    assert_eq!((exit.ended, exit.lines, exit.code), (EndCause::LeaseLost, 0, None));
    assert!(!dir.path().join("ran").exists());
    assert_eq!(folder.supervisor().unwrap(), None);
}

/// A process that renews the lease of a run as long as it lives.
struct Daemon(Child);

impl Daemon {
    /// Starts one, and waits until it has renewed the lease of `run`.
    #[expect(clippy::disallowed_methods, reason = "a process that nobody supervises")]
    async fn start(run: &Run, lease: Duration) -> Self {
        let first = lease_of(&run.folder).await;
        let mut command = Command::new(example("hold_lease"));
        command.arg(run.folder.path()).args([TEST_KEY, &lease.as_millis().to_string()]);
        let daemon = Self(command.spawn().unwrap());
        while lease_of(&run.folder).await <= first {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        daemon
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[tokio::test]
async fn the_lease_ends_although_its_daemon_is_only_stopped() {
    let lease = Duration::from_secs(3);
    let mut run = start_with_key(leased("sleep 1000", lease)).await;
    let daemon = Daemon::start(&run, lease).await;
    signal(daemon.0.id(), Signal::STOP);
    let exit = run.exit().await;
    assert_eq!(exit.ended, EndCause::LeaseLost);
    assert_eq!(living(run.dir.path()), [daemon.0.id()], "of the run nothing is left");
}

#[tokio::test]
async fn the_lease_ends_when_its_daemon_is_killed_and_goes_on_with_another() {
    let lease = Duration::from_secs(3);
    let mut run = start_with_key(leased("sleep 1000", lease)).await;
    drop(Daemon::start(&run, lease).await);
    let next = Daemon::start(&run, lease).await;
    let held = lease_of(&run.folder).await;
    until("the first daemon's lease is over", || Some(BootTime::now()) > held).await;
    assert!(lease_of(&run.folder).await > held);
    drop(next);
    assert_eq!(run.exit().await.ended, EndCause::LeaseLost);
    assert_eq!(living(run.dir.path()), [0; 0]);
}
