//! Any program as an agent.

use std::path::PathBuf;

use model::Timestamp;
use proptest::prelude::*;
use serde_json::json;

use super::super::{Runner, Usage, replay};
use super::*;

pub(in super::super) fn brief(command: &[&str]) -> Brief {
    Brief {
        prompt: "Look at your mail.".to_owned(),
        directory: PathBuf::from("/srv/project"),
        run_folder: PathBuf::from("/srv/runs/7"),
        runner: Runner::default(),
        command: command.iter().map(|&word| word.to_owned()).collect(),
        ..replay::brief()
    }
}

fn line(stream: Stream, text: &str) -> OutputLine {
    OutputLine { at: Timestamp::from_millis(0), stream, text: text.to_owned(), cut: 0 }
}

/// Interprets an output.
fn read(lines: &[&str]) -> (Vec<Step>, EndReport) {
    let mut reader = Command.conversation(&brief(&["x"]));
    let mut steps = reader.begin();
    for text in lines {
        steps.extend(reader.line(&line(Stream::Out, text)));
        reader = Command.restore(&reader.snapshot()).unwrap();
    }
    match reader.end().pop() {
        Some(Step::Saw(Event::Done(done))) => (steps, done),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_role_names_the_program_and_what_it_is_given() {
    let words = ["worker", "--prompt={prompt_file}", "{cwd}/{mcp_config}", "{other}"];
    let plan = Command.plan(&brief(&words)).unwrap();
    assert_eq!(plan.program, "worker");
    assert_eq!(
        plan.arguments,
        ["--prompt=/srv/runs/7/prompt.md", "/srv/project//srv/runs/7/mcp.json", "{other}"]
    );
    assert_eq!(plan.stdin, Stdin::File("prompt.md".to_owned()));
    assert_eq!(plan.environment, []);
    let names: Vec<_> = plan.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["prompt.md", "mcp.json"]);
    assert_eq!(plan.files[0].1, "Look at your mail.");
    assert!(plan.files[1].1.contains("${ADJUTANT_TOKEN}"));
}

#[test]
fn the_configuration_may_put_a_program_in_front() {
    let runner = |binary: Option<&str>| Runner {
        binary: binary.map(str::to_owned),
        arguments: vec!["-n".to_owned(), "{cwd}".to_owned()],
        steer: false,
    };
    let words = |binary| {
        let plan =
            Command.plan(&Brief { runner: runner(binary), ..brief(&["worker", "x"]) }).unwrap();
        [vec![plan.program], plan.arguments].concat()
    };
    assert_eq!(words(Some("nice")), ["nice", "-n", "/srv/project", "worker", "x"]);
    assert_eq!(words(None), ["worker", "-n", "/srv/project", "x"]);
}

#[test]
fn a_path_that_looks_like_a_place_is_left_as_it_is() {
    let run_folder = PathBuf::from("/srv/{cwd}");
    let plan = Command.plan(&Brief { run_folder, ..brief(&["x", "{prompt_file}{cwd}"]) }).unwrap();
    assert_eq!(plan.arguments, ["/srv/{cwd}/prompt.md/srv/project"]);
}

#[test]
fn a_role_without_a_command_is_told_what_to_write() {
    let error = Command.plan(&brief(&[])).unwrap_err();
    assert!(error.problem.contains("`command: [program, argument]` in the role"), "{error}");
}

#[test]
fn the_last_line_is_the_result_where_it_is_one() {
    let result = json!({ "status": "partial", "summary": "half of it", "changes": ["a"] });
    let (_, done) = read(&["{\"summary\": \"not yet\"}", "working", &result.to_string(), "", "  "]);
    assert_eq!(done.text, "half of it");
    assert_eq!(done.verdict, EndReportStatus::Success);
    assert_eq!(done.value, Some(result));
    let (_, done) = read(&["{\"status\": \"blocked\", \"summary\": \"no key\"}"]);
    assert_eq!(done.verdict, EndReportStatus::Failure("no key".to_owned()));
    // A report is not output.
    let (_, done) = read(&["{\"summary\": \"done\"}", "{\"adjutant\": {\"model\": \"x\"}}"]);
    assert_eq!(done.text, "done");
}

#[test]
fn without_a_result_the_end_of_the_output_is_the_summary() {
    let (_, done) = read(&["{\"summary\": \"not yet\"}", "one", "", "two", "{\"other\": 1}"]);
    assert_eq!(done.text, "{\"summary\": \"not yet\"}\none\n\ntwo\n{\"other\": 1}");
    assert_eq!((done.verdict, done.value), (EndReportStatus::Success, None));
    assert_eq!(read(&[]).1.text, "");

    let long = "é".repeat(100 * 1024);
    let (_, done) = read(&["first", &long]);
    assert_eq!(done.text.len(), 64 * 1024 - 2);
    let lines: Vec<_> = (0..20_000).map(|number| format!("line {number}")).collect();
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let mut reader = Reader::default();
    for text in lines {
        reader.line(&line(Stream::Out, text));
    }
    assert!(reader.tail.len() <= 128 * 1024, "it is cut now and then");
    let last = reader.last();
    assert!(last.len() <= 64 * 1024 && last.len() > 63 * 1024);
    assert!(last.starts_with("line ") && last.ends_with("line 19999\n"));
}

#[test]
fn the_end_can_be_asked_for_again() {
    let mut reader = Reader::default();
    reader.line(&line(Stream::Out, r#"{"status": "failed", "summary": "no"}"#));
    let first = reader.end();
    assert_eq!(reader.end(), first);
    assert!(format!("{first:?}").contains("Failure"), "{first:?}");
}

#[test]
fn usage_adds_up_and_errors_are_for_people() {
    let used = json!({ "input_tokens": 5, "output_tokens": 1, "cost_usd": 0.25 });
    let used = &json!({ "adjutant": { "usage": used } }).to_string();
    let (steps, done) = read(&[used, "text", used]);
    let usage = Step::Saw(Event::Usage(Usage { input: 5, output: 1, ..Usage::default() }));
    let cost = |dollars| Step::Saw(Event::Cost(Usd::from_dollars(dollars)));
    assert_eq!(steps, [usage.clone(), cost(0.25), usage, cost(0.5)]);
    assert_eq!(done.text, "text");
    let mut reader = Reader::default();
    assert_eq!(reader.line(&line(Stream::Err, used)), []);
    assert_eq!(reader.tail, "");
}

#[test]
fn nothing_can_be_said_to_it() {
    let mut reader = Reader::default();
    assert_eq!(reader.begin(), []);
    assert_eq!(reader.tell("hello"), []);
    assert_eq!(reader.answer("r1", PermissionVerdict::Allow), []);
    assert_eq!(reader.interrupt(), []);
}

proptest! {
    #[test]
    fn no_output_can_break_it(lines in proptest::collection::vec(any::<String>(), 0..20)) {
        let mut reader = Reader::default();
        for text in lines {
            for text in [text.clone(), format!("{{\"adjutant\": {{{text}}}}}")] {
                let mut again = restore(&reader.snapshot()).unwrap();
                let line = line(Stream::Out, &text);
                prop_assert_eq!(reader.line(&line), again.line(&line));
                prop_assert_eq!(reader.snapshot(), again.snapshot());
            }
        }
    }
}
