//! Ends of real files.

use std::fs;

use super::*;
use crate::run::{OutputReader, RunFolder};

fn line(number: u32) -> String {
    format!("{{\"at\":{number},\"s\":\"out\",\"l\":\"line {number}\"}}\n")
}

fn write(folder: &Path, segment: u32, lines: std::ops::Range<u32>) {
    let text: String = lines.map(line).collect();
    fs::write(folder.join(segment_name(segment)), text).unwrap();
}

/// The lines of a stretch.
fn read(folder: &Path, stretch: OutputRange) -> Vec<String> {
    let mut reader = OutputReader::new(folder, stretch.from);
    let lines = reader.next(usize::try_from(stretch.bytes).unwrap()).unwrap();
    lines.into_iter().map(|line| line.text).collect()
}

#[test]
fn the_last_lines_come_and_then_those_before_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert_eq!(tail(path, None, 10).unwrap(), None, "nothing was said yet");
    write(path, 0, 0..5);
    write(path, 3, 5..5_000);
    let run = RunFolder::open(path);
    let last = run.tail(None, 2).unwrap().unwrap();
    assert_eq!(read(path, last), ["line 4998", "line 4999"]);
    let before = tail(path, Some(last.from), 3).unwrap().unwrap();
    assert_eq!(read(path, before), ["line 4995", "line 4996", "line 4997"]);
    let first = tail(path, None, 100_000).unwrap().unwrap();
    assert_eq!((first.from, read(path, first).len()), (Position { segment: 3, offset: 0 }, 4_995));
    let head = tail(path, Some(first.from), 2).unwrap().unwrap();
    assert_eq!(read(path, head), ["line 3", "line 4"], "the segments between were dropped");
    let all = tail(path, Some(head.from), 9).unwrap().unwrap();
    assert_eq!((all.from, read(path, all).len()), (Position::default(), 3));
    assert_eq!(tail(path, Some(Position::default()), 9).unwrap(), None);
    assert_eq!(tail(path, Some(Position { segment: 9, offset: 9 }), 1).unwrap().unwrap(), {
        tail(path, None, 1).unwrap().unwrap()
    });
}

#[test]
fn a_piece_that_is_being_written_is_no_line_yet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join(segment_name(0)), format!("{}{}", line(1), r#"{"at":2,"s":"ou"#)).unwrap();
    let last = tail(path, None, 5).unwrap().unwrap();
    assert_eq!(read(path, last), ["line 1"]);
}
