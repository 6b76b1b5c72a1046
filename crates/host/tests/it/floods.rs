//! Agents that say too much, or what is no text: bounded memory, and a clear record.

use host::run::{EndCause, ExitRecord, Stream};

use crate::support::{Run, memory, sh, start, texts};

/// More than this the supervisor never needs, in KiB.
const MAX_MEMORY_KB: u64 = 16 * 1024;

/// Lets the agent end, and says what its supervisor needed.
async fn peak(run: &mut Run) -> (u64, ExitRecord) {
    run.until_it_says("done").await;
    let peak = memory(run.supervisor(), "VmHWM");
    std::fs::write(run.dir.path().join("go"), "").unwrap();
    (peak, run.exit().await)
}

const THEN_WAIT: &str = "echo; echo done; while [ ! -e go ]; do sleep 0.01; done";

#[tokio::test]
async fn an_agent_may_print_a_gigabyte() {
    const SIZE: u64 = 1 << 30;
    let line = "x".repeat(1023);
    let mut spec = sh(&format!("yes {line} | head -c {SIZE}; {THEN_WAIT}"));
    spec.max_output_bytes = 8 * 1024 * 1024;
    let mut run = start(spec).await;
    let (peak, exit) = peak(&mut run).await;
    assert!(peak < MAX_MEMORY_KB, "{peak} KiB");
    assert!(run.output_bytes() <= 8 * 1024 * 1024, "{}", run.output_bytes());
    assert_eq!((exit.ended, exit.bytes, exit.lines), (EndCause::Exited, SIZE + 6, SIZE / 1024 + 2));
    let lines = run.lines();
    assert_eq!(lines.len() as u64, exit.lines - exit.dropped_lines);
    let kept: u64 = lines.iter().map(|line| line.text.len() as u64 + 1).sum();
    assert_eq!(kept, exit.bytes - exit.dropped_bytes);
    assert_eq!(texts(&lines, Stream::Out)[..1], [line], "the head is there");
    assert_eq!(lines.last().unwrap().text, "done", "and so is the tail");
}

#[tokio::test]
async fn an_agent_may_print_a_line_of_fifty_megabytes() {
    const SIZE: usize = 50 * 1024 * 1024;
    let script = format!("head -c {SIZE} /dev/zero | tr '\\0' x; {THEN_WAIT}");
    let mut run = start(sh(&script)).await;
    let (peak, exit) = peak(&mut run).await;
    assert!(peak < MAX_MEMORY_KB, "{peak} KiB");
    assert_eq!((exit.lines, exit.dropped_lines), (2, 0));
    let lines = run.lines();
    assert_eq!(lines[0].text.len(), 4 * 1024 * 1024);
    assert_eq!(lines[0].cut, (SIZE - lines[0].text.len()) as u64);
    assert_eq!(lines[1].text, "done");
}

#[tokio::test]
async fn a_line_of_control_characters_takes_six_times_the_room_and_is_kept() {
    let script = format!("head -c 1000000 /dev/zero; {THEN_WAIT}");
    let mut run = start(sh(&script)).await;
    let (peak, _) = peak(&mut run).await;
    assert!(peak < MAX_MEMORY_KB, "{peak} KiB");
    assert_eq!(run.lines()[0].text, "\0".repeat(1_000_000));
}

#[tokio::test]
async fn an_agent_may_print_nothing_but_empty_lines() {
    let script = format!("yes '' | head -c 500000; {THEN_WAIT}");
    let mut run = start(sh(&script)).await;
    let (peak, exit) = peak(&mut run).await;
    assert!(peak < MAX_MEMORY_KB, "{peak} KiB");
    assert_eq!(exit.lines, 500_002);
}

#[tokio::test]
async fn what_is_not_utf8_is_replaced_and_marked() {
    let mut run = start(sh(r"printf 'a\377b\n'; printf 'gr\303\274n\n\342\202'")).await;
    run.exit().await;
    assert_eq!(texts(&run.lines(), Stream::Out), ["a\u{fffd}b", "grün", "\u{fffd}"]);
    let kept = std::fs::read_to_string(run.folder.path().join("output.jsonl")).unwrap();
    let marks: Vec<bool> = kept.lines().map(|line| line.contains("\"lossy\":true")).collect();
    assert_eq!(marks, [true, false, true]);
}

#[tokio::test]
async fn characters_are_whole_in_long_lines() {
    // Three bytes each, so that no piece ends where a character does.
    let script = "i=0; s=€; while [ $i -lt 17 ]; do s=$s$s; i=$((i+1)); done; echo \"a$s\"";
    let mut run = start(sh(script)).await;
    run.exit().await;
    let lines = run.lines();
    assert_eq!(lines[0].text, format!("a{}", "€".repeat(1 << 17)));
    let kept = std::fs::read_to_string(run.folder.path().join("output.jsonl")).unwrap();
    assert!(kept.lines().count() > 1 && !kept.contains("lossy"));
}

#[tokio::test]
async fn a_supervisor_is_small() {
    let mut run = start(sh("echo done; while [ ! -e go ]; do sleep 0.01; done")).await;
    let (peak, _) = peak(&mut run).await;
    assert!(peak < 8 * 1024, "{peak} KiB, unoptimised");
}
