//! The reader: from any position, while the file grows, across segments and over those that are gone.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use host::run::{OutputLine, OutputReader, Position, Stream};

use crate::support::{sh, start, until};

/// Long lines lie in pieces, with others between them; one began before another ended.
const MIXED: &str = r#"{"at":1,"s":"out","l":"one"}
{"at":2,"s":"out","l":"lo","more":true}
{"at":3,"s":"err","l":"two"}
{"at":4,"s":"out","l":"ng","more":true,"cont":true}
{"at":5,"s":"err","l":"al","more":true}
{"at":6,"s":"out","l":"er","cont":true}
{"at":7,"s":"in","l":"three"}
{"at":8,"s":"err","l":"so","cont":true,"lossy":true}
{"at":9,"s":"out","l":"four"}
"#;

const ORDER: [&str; 6] = ["one", "longer", "two", "also", "three", "four"];

fn append(folder: &Path, name: &str, text: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(folder.join(name)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn said(lines: &[OutputLine]) -> Vec<&str> {
    lines.iter().map(|line| line.text.as_str()).collect()
}

#[test]
fn lines_come_in_the_order_in_which_they_began() {
    let dir = tempfile::tempdir().unwrap();
    append(dir.path(), "output.jsonl", MIXED);
    let mut reader = OutputReader::new(dir.path(), Position::default());
    let lines = reader.next(usize::MAX).unwrap();
    assert_eq!(said(&lines), ORDER);
    assert_eq!((lines[1].at.as_millis(), lines[1].stream), (2, Stream::Out));
    assert_eq!(reader.position(), Position { segment: 0, offset: MIXED.len() as u64 });
    assert_eq!(reader.next(usize::MAX).unwrap(), []);
    assert_eq!(reader.lost(), None);
}

#[test]
fn a_reader_that_is_restarted_after_every_byte_has_every_line_once() {
    let dir = tempfile::tempdir().unwrap();
    let (mut position, mut lines) = (Position::default(), Vec::new());
    for byte in MIXED.split_inclusive(|_| true) {
        append(dir.path(), "output.jsonl", byte);
        let mut reader = OutputReader::new(dir.path(), position);
        lines.extend(reader.next(usize::MAX).unwrap());
        assert!(reader.position() >= position);
        position = reader.position();
    }
    assert_eq!(said(&lines), ORDER);
}

#[test]
fn little_is_read_at_a_time_on_request() {
    let dir = tempfile::tempdir().unwrap();
    append(dir.path(), "output.jsonl", MIXED);
    append(dir.path(), "output.1.jsonl", MIXED);
    let mut reader = OutputReader::new(dir.path(), Position::default());
    let (mut lines, mut calls) = (Vec::new(), 0);
    while reader.position() != (Position { segment: 1, offset: MIXED.len() as u64 }) {
        lines.extend(reader.next(1).unwrap());
        calls += 1;
    }
    assert_eq!(said(&lines), [ORDER, ORDER].concat());
    assert!(calls >= 4, "{calls}");
}

#[test]
fn a_segment_that_is_followed_is_read_to_its_end_first() {
    let dir = tempfile::tempdir().unwrap();
    append(dir.path(), "output.jsonl", "{\"at\":1,\"s\":\"out\",\"l\":\"lo\",\"more\":true}\n");
    let mut reader = OutputReader::new(dir.path(), Position::default());
    assert_eq!(reader.next(usize::MAX).unwrap(), []);
    assert_eq!(reader.position(), Position::default(), "its line is not whole");
    append(dir.path(), "output.jsonl", "{\"at\":1,\"s\":\"err\",\"l\":\"x\"}\n");
    append(dir.path(), "output.1.jsonl", "{\"at\":2,\"s\":\"out\",\"l\":\"ng\",\"cont\":true}\n");
    assert_eq!(said(&reader.next(usize::MAX).unwrap()), ["long", "x"]);
    assert_eq!(reader.position().segment, 1);
}

#[test]
fn segments_that_are_gone_are_skipped_and_reported_once() {
    let dir = tempfile::tempdir().unwrap();
    append(dir.path(), "output.jsonl", "{\"at\":1,\"s\":\"out\",\"l\":\"he\",\"more\":true}\n");
    append(dir.path(), "output.4.jsonl", "{\"at\":2,\"s\":\"out\",\"l\":\"re\",\"cont\":true}\n");
    append(dir.path(), "output.4.jsonl", "{\"at\":3,\"s\":\"out\",\"l\":\"a\"}\n");
    append(dir.path(), "output.5.jsonl", "{\"at\":3,\"s\":\"out\",\"l\":\"b\"}\n");
    let mut reader = OutputReader::new(dir.path(), Position::default());
    let lines = reader.next(usize::MAX).unwrap();
    assert_eq!(
        said(&lines),
        ["he", "a", "b"],
        "a line without its end is none without its beginning"
    );
    assert!(lines[0].cut > 0 && lines[1].cut == 0);
    assert_eq!((reader.lost(), reader.lost()), (Some(3), None));
    // It stands in a segment that is dropped before it reads on.
    append(dir.path(), "output.7.jsonl", "{\"at\":4,\"s\":\"out\",\"l\":\"c\"}\n");
    fs::remove_file(dir.path().join("output.4.jsonl")).unwrap();
    fs::remove_file(dir.path().join("output.5.jsonl")).unwrap();
    assert_eq!(said(&reader.next(usize::MAX).unwrap()), ["c"]);
    assert_eq!(reader.lost(), Some(2));
}

#[test]
fn what_is_damaged_is_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    append(dir.path(), "output.jsonl", "{\"at\":1,\"s\":\"out\",\"l\":\"a\"}\n{\"at\":1,\"s\"\n\n");
    append(dir.path(), "output.jsonl", &format!("{}\n", "\0".repeat(3_000_000)));
    append(dir.path(), "output.jsonl", "{\"at\":1,\"s\":\"out\",\"l\":\"b\"}\n{\"at\":");
    let mut reader = OutputReader::new(dir.path(), Position::default());
    assert_eq!(said(&reader.next(usize::MAX).unwrap()), ["a", "b"]);
}

#[test]
fn a_line_that_never_ends_holds_up_only_so_much() {
    let dir = tempfile::tempdir().unwrap();
    append(dir.path(), "output.jsonl", "{\"at\":1,\"s\":\"out\",\"l\":\"be\",\"more\":true}\n");
    let line = format!("{{\"at\":1,\"s\":\"err\",\"l\":\"{}\"}}\n", "x".repeat(60_000));
    append(dir.path(), "output.jsonl", &line.repeat(200));
    let mut reader = OutputReader::new(dir.path(), Position::default());
    let lines = reader.next(usize::MAX).unwrap();
    assert_eq!((lines.len(), lines[0].text.as_str(), lines[0].cut), (201, "be", 1));
    append(
        dir.path(),
        "output.jsonl",
        "{\"at\":1,\"s\":\"out\",\"l\":\"gin\",\"more\":true,\"cont\":true}\n",
    );
    assert_eq!(reader.next(usize::MAX).unwrap(), []);
    assert_eq!(reader.finish(), []);
}

#[test]
fn what_was_held_back_is_handed_out_when_nothing_more_will_come() {
    let dir = tempfile::tempdir().unwrap();
    append(dir.path(), "output.jsonl", "{\"at\":1,\"s\":\"out\",\"l\":\"be\",\"more\":true}\n");
    append(dir.path(), "output.jsonl", "{\"at\":1,\"s\":\"err\",\"l\":\"x\"}\n");
    let mut reader = OutputReader::new(dir.path(), Position::default());
    assert_eq!(reader.next(usize::MAX).unwrap(), []);
    assert_eq!(said(&reader.finish()), ["be", "x"]);
    assert_eq!(
        reader.position().offset,
        fs::metadata(dir.path().join("output.jsonl")).unwrap().len()
    );
}

#[tokio::test]
async fn a_reader_follows_a_run_across_its_segments() {
    let mut spec = sh("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; sleep 1000");
    // Enough for three segments, so that nothing is dropped.
    spec.max_output_bytes = 1_300_000;
    let mut run = start(spec).await;
    let mut reader = run.folder.output(Position::default());
    let mut lines = Vec::new();
    until("all lines are read", || {
        lines.extend(reader.next(10_000).unwrap());
        // As if the server were started anew.
        reader = run.folder.output(reader.position());
        lines.len() >= 20_000
    })
    .await;
    assert!(reader.position().segment >= 1);
    for (number, line) in lines.iter().enumerate() {
        assert_eq!(line.text, format!("line {number}"));
    }
    run.connect().await.kill("the test is over").await.unwrap();
    assert_eq!(run.exit().await.dropped_lines, 0);
}

#[test]
fn beyond_the_end_there_is_nothing_however_far() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("output.jsonl"), "{\"at\":1,\"s\":\"out\",\"l\":\"x\"}\n").unwrap();
    for offset in [1_000, 1 << 62, u64::MAX >> 1, u64::MAX] {
        let place = Position { segment: 0, offset };
        let mut reader = OutputReader::new(dir.path(), place);
        assert!(reader.next(1_000).unwrap().is_empty(), "{offset}");
        assert_eq!(reader.position(), place, "{offset}");
    }
}
