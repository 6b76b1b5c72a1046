//! What is said to a supervisor, and what it says.

use std::time::Duration;

use host::boot_clock::BootTime;
use host::run::{EndCause, Notice, Position, Stdin, Stream};

use crate::support::{sh, socket, start, texts, until};

fn listening(script: &str) -> host::run::Spec {
    host::run::Spec { stdin: Stdin::Open, ..sh(script) }
}

#[tokio::test]
async fn lines_reach_the_agent_in_order_and_once() {
    let mut run = start(listening("cat; echo over")).await;
    let mut control = run.connect().await;
    assert!(control.input("a", "first").await.unwrap());
    assert!(control.input("b", "second").await.unwrap());
    assert!(control.input("a", "first").await.unwrap(), "it was taken before");
    // Another server, after a crash, says it again.
    assert!(run.connect().await.input("b", "second").await.unwrap());
    control.close_input("end").await.unwrap();
    let exit = run.exit().await;
    let lines = run.lines();
    assert_eq!(texts(&lines, Stream::Out), ["first", "second", "over"]);
    assert_eq!(texts(&lines, Stream::In), ["first", "second"]);
    assert_eq!((exit.ended, exit.code), (EndCause::Exited, Some(0)));
}

#[tokio::test]
async fn a_secret_is_whispered_and_not_kept() {
    let mut spec = listening("read line; [ \"$line\" = \"I am s3cret\" ] && echo understood");
    spec.environment.push(("ADJUTANT_TOKEN".into(), "s3cret".into()));
    let mut run = start(spec).await;
    let (mut sender, _receiver) = run.connect().await.split();
    assert!(sender.input_with_token("a", &format!("I am {}", host::agent::TOKEN)).await.unwrap());
    run.exit().await;
    let lines = run.lines();
    assert_eq!(texts(&lines, Stream::Out), ["understood"]);
    assert_eq!(texts(&lines, Stream::In), [format!("I am {}", host::agent::TOKEN)]);
}

#[tokio::test]
async fn a_request_is_heard_though_its_sender_has_gone() {
    for _ in 0..20 {
        let mut run = start(sh("sleep 1000")).await;
        run.connect().await.kill("and away").await.unwrap();
        assert_eq!(run.exit().await.why.as_deref(), Some("and away"));
    }
}

#[tokio::test]
async fn a_line_that_nobody_will_read_is_refused() {
    let mut run = start(sh("sleep 1000")).await;
    let mut control = run.connect().await;
    assert!(!control.input("a", "hello").await.unwrap(), "its input is closed");
    control.kill("the test is over").await.unwrap();
    run.exit().await;

    let mut run = start(listening("exec <&-; echo deaf; sleep 1000")).await;
    run.until_it_says("deaf").await;
    let mut control = run.connect().await;
    assert!(!control.input("b", "hello").await.unwrap(), "it has closed its input");
    control.kill("the test is over").await.unwrap();
    run.exit().await;
    assert_eq!(texts(&run.lines(), Stream::In), [""; 0]);
}

#[tokio::test]
async fn no_more_waits_for_the_agent_than_fits() {
    let mut run = start(listening("while [ ! -e go ]; do sleep 0.01; done; wc -c")).await;
    let mut control = run.connect().await;
    let line = "x".repeat(1024 * 1024 - 1);
    let mut taken = 0;
    while control.input(&taken.to_string(), &line).await.unwrap() {
        taken += 1;
    }
    assert!((7..=8).contains(&taken), "{taken}");
    assert!(!control.input("large", &"\u{1}".repeat(4 * 1024 * 1024)).await.unwrap());
    std::fs::write(run.dir.path().join("go"), "").unwrap();
    control.close_input("end").await.unwrap();
    run.exit().await;
    let lines = run.lines();
    assert_eq!(texts(&lines, Stream::Out), [(taken * 1024 * 1024).to_string()]);
    assert_eq!(texts(&lines, Stream::In), vec![line.as_str(); taken], "long ones are joined again");
}

#[tokio::test]
async fn a_connected_client_hears_of_output_and_of_the_end() {
    let mut run = start(sh("echo one; while [ ! -e go ]; do sleep 0.01; done; echo two")).await;
    run.until_it_says("one").await;
    let (mut first, mut second) = (run.connect().await, run.connect().await);
    let hello = Notice::Hello { agent_pid: run.agent() };
    assert_eq!(first.next().await, Some(hello.clone()));
    assert_eq!(second.next().await, Some(hello));
    let size = || run.folder.path().join("output.jsonl").metadata().unwrap().len();
    let early = Notice::Output { segment: 0, bytes: size() };
    assert_eq!(first.next().await, Some(early.clone()));
    assert_eq!(second.next().await, Some(early));
    std::fs::write(run.dir.path().join("go"), "").unwrap();
    let (mut heard, mut last) = (Position::default(), None);
    while let Some(notice) = first.next().await {
        if let Notice::Output { segment, bytes } = notice {
            heard = Position { segment, offset: bytes };
        }
        last = Some(notice);
    }
    assert_eq!(last, Some(Notice::Exit {}));
    let exit = run.exit().await;
    assert_eq!(heard, exit.last, "the last word was told");
}

#[tokio::test]
async fn who_does_not_read_holds_up_nobody() {
    let script =
        "head -c 50000000 /dev/zero | tr '\\0' 'x' | fold -w 500; echo; echo done; sleep 1000";
    let mut run = start(listening(script)).await;
    let stuck: Vec<_> = (0..4).map(|_| connected(&run.folder)).collect();
    run.until_it_says("done").await;
    let mut control = run.connect().await;
    assert!(control.input("a", "hello").await.unwrap());
    control.stop("enough", Duration::from_secs(10)).await.unwrap();
    run.exit().await;
    drop(stuck);
}

/// Somebody who connects, asks and never reads.
fn connected(folder: &host::run::RunFolder) -> std::os::unix::net::UnixStream {
    use std::io::Write as _;
    let mut stream = std::os::unix::net::UnixStream::connect(socket(folder)).unwrap();
    for number in 0..1000 {
        let request = format!("{{\"input\":{{\"key\":\"{number}\",\"line\":\"x\"}}}}\n");
        stream.set_nonblocking(true).unwrap();
        if stream.write_all(request.as_bytes()).is_err() {
            break;
        }
    }
    stream
}

#[tokio::test]
async fn nonsense_is_passed_over() {
    use std::io::Write as _;
    let mut run = start(sh("sleep 1000")).await;
    let mut stream = std::os::unix::net::UnixStream::connect(socket(&run.folder)).unwrap();
    stream.write_all(b"\n{\"dance\":{}}\n{\"stop\":1}\n\xff\n").unwrap();
    stream.write_all(b"{\"kill\":{\"why\":\"enough\"}}\n").unwrap();
    assert_eq!(run.exit().await.why.as_deref(), Some("enough"));
}

#[tokio::test]
async fn a_supervisor_at_rest_does_nothing() {
    let lease = Some(BootTime::now().after(Duration::from_secs(3600)));
    let mut run = start(host::run::Spec { lease, ..listening("echo ready; cat") }).await;
    run.until_it_says("ready").await;
    let mut control = run.connect().await;
    assert!(control.input("a", "hello").await.unwrap());
    run.until_it_says("hello").await;
    let switches = || {
        let path = format!("/proc/{}/status", run.supervisor());
        let status = std::fs::read_to_string(path).unwrap();
        let mut lines = status.lines().filter(|line| line.contains("_switches"));
        (lines.next().map(str::to_owned), lines.next().map(str::to_owned))
    };
    // It ran as often as it did many looks before: no timer and no loop wakes it.
    let (mut before, mut quiet) = (switches(), 0);
    until("it comes to rest", || {
        let now = switches();
        quiet = if now == before { quiet + 1 } else { 0 };
        before = now;
        quiet == 100
    })
    .await;
    control.kill("the test is over").await.unwrap();
    run.exit().await;
}
