//! Recorded talks, as people watch them.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::*;
use crate::agent::replay::out;

fn line(stream: Stream, text: &str) -> OutputLine {
    OutputLine { stream, ..out(text) }
}

/// Every recorded talk of a kind: its name, and every line, whichever way it went.
fn talks(kind: &str) -> Vec<(String, Vec<OutputLine>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts").join(kind);
    let talk = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().filter_map(|given| {
            let (sign, text) = given.split_once(' ')?;
            let stream = match sign {
                "<" => Stream::Out,
                ">" if text != "(closed)" => Stream::In,
                _ => return None,
            };
            Some(line(stream, text))
        });
        (path.file_stem().unwrap().to_string_lossy().into_owned(), lines.collect())
    };
    fs::read_dir(folder).unwrap().map(|file| talk(&file.unwrap().path())).collect()
}

/// Something that was said, on a line of its own.
fn shown(said: &TranscriptEntry) -> String {
    let mut text = said.kind.name().to_owned();
    let sign = if said.part { "+" } else { "" };
    text.push_str(sign);
    for part in [said.id.as_ref(), said.tool.as_ref()].into_iter().flatten() {
        text = format!("{text} {part}");
    }
    if let Some(input) = &said.input {
        text = format!("{text} {input}");
    }
    match said.ok {
        Some(true) => text.push_str(" ok"),
        Some(false) => text.push_str(" failed"),
        None => {}
    }
    if !said.text.is_empty() {
        text = format!("{text} {:?}", said.text);
    }
    if let Some(commit) = &said.commit {
        text = format!("{text} commit {commit}");
    }
    text
}

#[test]
fn every_recorded_talk_can_be_watched() {
    for kind in ["claude", "codex", "acp"] {
        for (name, lines) in talks(kind) {
            let shown: Vec<String> = lines
                .iter()
                .flat_map(|line| read_transcript(kind, line))
                .map(|said| shown(&said))
                .collect();
            insta::assert_snapshot!(format!("{kind}-{name}"), shown.join("\n"));
        }
    }
}

#[test]
fn messages_between_programs_are_not_shown_as_they_are() {
    for kind in ["claude", "codex", "acp"] {
        for (name, lines) in talks(kind) {
            for said in lines.iter().flat_map(|line| read_transcript(kind, line)) {
                // What an agent says and what a tool answers may be JSON.
                let is_own = matches!(said.kind, EntryKind::Output | EntryKind::Message);
                let is_raw = !is_own && said.text.starts_with("{\"");
                assert!(!is_raw, "{kind} {name}: {said:?}");
            }
        }
    }
    for silent in ["tool_progress", "command_lifecycle", "keep_alive"] {
        let message = json!({ "type": silent, "tool_name": "Bash", "elapsed_time_seconds": 3 });
        assert_eq!(read_transcript("claude", &out(&message.to_string())), []);
    }
    // A newer version may say more: people read its name, and `logs --raw` has the rest.
    for (kind, message) in [
        ("claude", json!({ "type": "weather", "sky": { "colour": "grey" } })),
        ("codex", json!({ "type": "weather", "sky": { "colour": "grey" } })),
    ] {
        let said: Vec<String> =
            read_transcript(kind, &out(&message.to_string())).iter().map(shown).collect();
        assert_eq!(said, [r#"system "reports `weather`""#], "{kind}");
    }
}

#[test]
fn a_call_and_what_came_of_it_have_the_same_id() {
    for kind in ["claude", "codex", "acp"] {
        for (name, lines) in talks(kind) {
            let all: Vec<TranscriptEntry> =
                lines.iter().flat_map(|line| read_transcript(kind, line)).collect();
            let calls = all.iter().filter(|said| said.kind == EntryKind::Call);
            let calls: Vec<_> = calls.map(|said| said.id.clone().unwrap()).collect();
            for came in all.iter().filter(|said| said.kind == EntryKind::Output) {
                if let Some(id) = &came.id {
                    assert!(calls.contains(id), "{kind} {name}: {came:?}");
                }
            }
        }
    }
}

#[test]
fn a_program_is_shown_as_it_prints_but_for_its_reports() {
    let lines = [
        (Stream::Out, "\u{1b}[32mPASS\u{1b}[0m one".to_owned()),
        (Stream::Err, "warning: two".to_owned()),
        (Stream::Out, "[work 1a2b3c4] Mend the parser".to_owned()),
        (Stream::Out, "[not a commit] x".to_owned()),
        (Stream::Out, r#"{"colour": "red"}"#.to_owned()),
        (
            Stream::Out,
            json!({ "adjutant": { "usage": { "input_tokens": 7, "cache_read_tokens": 3,
                "output_tokens": 2, "cost_usd": 0.5 }, "model": "m" } })
            .to_string(),
        ),
        (
            Stream::Out,
            json!({ "adjutant": { "tool": { "id": "7", "name": "grep", "input": { "q": "x" } } } })
                .to_string(),
        ),
        (
            Stream::Out,
            json!({ "adjutant": { "tool": { "id": "7", "done": true, "output": "two matches" } } })
                .to_string(),
        ),
        (
            Stream::Out,
            json!({ "adjutant": { "tool": { "id": "8", "name": "rm", "input": "x", "done": true,
                "error": "no" } } })
            .to_string(),
        ),
        (
            Stream::Out,
            json!({ "adjutant": { "message": "I **look**.", "thought": "hm" } }).to_string(),
        ),
        (Stream::Out, json!({ "status": "success", "summary": "All done" }).to_string()),
        (Stream::Out, json!({ "status": "failed", "summary": "Not done" }).to_string()),
    ];
    let of = |kind: &str| -> Vec<String> {
        let all =
            lines.iter().flat_map(|(stream, text)| read_transcript(kind, &line(*stream, text)));
        all.map(|said| shown(&said)).collect()
    };
    let told = [
        "output+ \"\\u{1b}[32mPASS\\u{1b}[0m one\\n\"",
        "output+ \"warning: two\\n\"",
        "output+ \"[work 1a2b3c4] Mend the parser\\n\" commit 1a2b3c4",
        "output+ \"[not a commit] x\\n\"",
        "output+ \"{\\\"colour\\\": \\\"red\\\"}\\n\"",
        "system \"answers as m\"",
        "system \"10 tokens read, 2 written, $0.5000\"",
        "call 7 grep {\"q\":\"x\"}",
        "output 7 ok \"two matches\"",
        "call 8 rm \"x\"",
        "output 8 failed \"no\"",
        "message \"I **look**.\"",
        "thought \"hm\"",
        "message ok \"All done\"",
        "error failed \"Not done\"",
    ];
    assert_eq!(of("command"), told);
    let script = of("script");
    assert_eq!(script.first().unwrap(), told[0], "what has colours was printed by a program");
    assert_eq!(read_transcript("script", &out("I look."))[0].kind, EntryKind::Message);
    assert_eq!(read_transcript("script", &out("  ")), []);
}

#[test]
fn what_is_too_long_or_unknown_is_not_lost() {
    let mut long =
        out(r#"{"type":"user","message":{"content":[{"tool_use_id":"toolu_1","type":"tool_resu"#);
    long.cut = 5_000_000;
    let all = read_transcript("claude", &long);
    assert_eq!((all[0].kind, all[0].id.as_deref()), (EntryKind::Output, Some("toolu_1")));
    let odd = read_transcript("claude", &out(r#"{"type":"weather","sky":"blue"}"#));
    assert_eq!((odd[0].kind, odd[0].text.as_str()), (EntryKind::System, "reports `weather`"));
    let plain = read_transcript("codex", &out("panicked at nothing"));
    assert_eq!((plain[0].kind, plain[0].part), (EntryKind::Output, true));
    let complaint = read_transcript("acp", &line(Stream::Err, "no such file"));
    assert_eq!(
        (complaint[0].kind, complaint[0].text.as_str()),
        (EntryKind::Output, "no such file\n")
    );
}
