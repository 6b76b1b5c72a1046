//! What an agent says is kept, line by line.

use host::run::{EndCause, Handover, Position, RunStatus, Stdin, Stream};

use crate::support::{Run, prepared, program, sh, socket, start, started, texts};

#[tokio::test]
async fn every_line_is_kept_with_its_stream_and_time() {
    let script = "echo one; echo two >&2; printf 'three\\n\\nlast without end'";
    let mut run = start(sh(script)).await;
    let exit = run.exit().await;
    let lines = run.lines();
    assert_eq!(texts(&lines, Stream::Out), ["one", "three", "", "last without end"]);
    assert_eq!(texts(&lines, Stream::Err), ["two"]);
    for line in &lines {
        assert!(line.at >= exit.started_at && line.at <= exit.ended_at, "{line:?}");
        assert_eq!(line.cut, 0);
    }
    assert_eq!((exit.lines, exit.dropped_lines, exit.dropped_bytes), (5, 0, 0));
    let size = std::fs::metadata(run.folder.path().join("output.jsonl")).unwrap().len();
    assert_eq!(exit.last, Position { segment: 0, offset: size });
}

#[tokio::test]
async fn the_exit_code_is_kept() {
    let mut run = start(sh("exit 7")).await;
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.code, exit.signal), (EndCause::Exited, Some(7), None));
    assert_eq!((exit.why, exit.left_behind), (None, 0));
    assert!(!socket(&run.folder).exists());
}

#[tokio::test]
async fn the_signal_that_ended_it_is_kept() {
    let mut run = start(sh("kill -SEGV $$")).await;
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.code, exit.signal), (EndCause::Exited, None, Some(11)));
}

#[tokio::test]
async fn the_agent_has_the_surroundings_it_was_given() {
    let mut spec = sh("pwd; env; cat; ps -o pgid= -p $$ | tr -d ' '; echo $$");
    spec.environment.push(("GIVEN".into(), "given".into()));
    spec.stdin = Stdin::File("prompt.txt".into());
    let handover = Handover::new(&spec.environment);
    let (dir, folder) = prepared(spec);
    std::fs::write(folder.path().join("prompt.txt"), "from the file\n").unwrap();
    let mut begun = folder.start(&program(), &handover).unwrap();
    begun.ended().await.unwrap();
    let real = dir.path().canonicalize().unwrap();
    let lines = crate::support::read_all(&folder);
    let said = texts(&lines, Stream::Out);
    assert_eq!(said[0], real.display().to_string());
    let run = format!("ADJUTANT_RUN={}", real.join("run").display());
    assert!(said.contains(&"GIVEN=given") && said.contains(&run.as_str()), "{said:?}");
    assert!(!said.iter().any(|line| line.starts_with("HOME=")), "nothing is inherited: {said:?}");
    assert!(said.contains(&"from the file"));
    assert_eq!(said[said.len() - 2], said[said.len() - 1], "it leads a group of its own");
}

#[tokio::test]
async fn an_agent_that_cannot_be_started_is_named() {
    let mut missing = sh("");
    missing.program = "/nonexistent/agent".into();
    let mut outside = sh("");
    outside.stdin = Stdin::File("../prompt.txt".into());
    for (spec, why) in [
        (missing, "could not start `/nonexistent/agent` in `"),
        (outside, "could not open `../prompt.txt`: it is not in the run's folder"),
    ] {
        let mut run = start(spec).await;
        let exit = run.exit().await;
        assert_eq!((exit.ended, exit.code, exit.signal), (EndCause::NotStarted, None, None));
        assert!(exit.why.as_ref().is_some_and(|is| is.starts_with(why)), "{exit:?}");
        assert_eq!(run.folder.standing().unwrap(), RunStatus::Ended(exit));
        assert!(!run.folder.path().join("supervisor.json").exists());
    }
}

#[tokio::test]
async fn the_supervisor_says_who_it_is() {
    let run = start(sh("sleep 1000")).await;
    let record = run.folder.supervisor().unwrap().unwrap();
    assert_eq!(Some(record.pid), run.begun.pid());
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", record.pid)).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    assert_eq!(record.start_time, fields[19].parse().ok());
    assert_eq!(fields[3], record.pid.to_string(), "it leads a session of its own");
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert_eq!(record.boot_id.as_deref(), Some(boot.trim()));
    run.connect().await.kill("the test is over").await.unwrap();
}

#[tokio::test]
async fn only_the_owner_may_look() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut run = start(sh("echo secret")).await;
    run.exit().await;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(run.folder.path()), 0o700);
    for entry in std::fs::read_dir(run.folder.path()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn what_the_disk_does_not_take_is_told_apart_from_what_was_left_out() {
    let (dir, folder) = prepared(sh("echo one; echo two"));
    // A disk that is always full.
    std::os::unix::fs::symlink("/dev/full", folder.path().join("output.jsonl")).unwrap();
    let mut begun = started(&folder).unwrap();
    begun.ready().await.unwrap();
    let mut run = Run { dir, folder, begun };
    let exit = run.exit().await;
    assert_eq!((exit.ended, exit.code), (EndCause::Exited, Some(0)));
    assert_eq!((exit.bytes, exit.dropped_bytes, exit.unwritten_bytes), (8, 8, 8));
}
