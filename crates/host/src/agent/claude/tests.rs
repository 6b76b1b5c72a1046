//! Claude Code as it was recorded, line by line, and what was never recorded but may come.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use model::Timestamp;
use model::money::Usd;
use serde_json::{Value, json};

use super::super::{
    Asks, Brief, Conversation, EndReport, Event, Kind, McpServer, PermissionVerdict, Runner, Step,
    Usage, replay,
};
use super::Claude;
use crate::run::{OutputLine, Stream};

mod plan;
mod talk;

type Change = fn(&mut Brief);

/// The recorded talks, and how the brief of each differs.
const TALKS: [(&str, Change); 21] = [
    ("asks-a-person", |brief| {
        brief.tools = Some(vec!["Read".to_owned()]);
        brief.asks = Asks::Person;
    }),
    ("background-task", |_| {}),
    ("before-resume", |_| {}),
    ("denied-by-policy", |brief| {
        brief.tools = Some(vec!["Read".to_owned(), "Bash(git *)".to_owned()]);
    }),
    ("interrupted", |_| {}),
    ("interrupted-in-mid-message", |_| {}),
    ("limit-of-a-key", |_| {}),
    ("limit-of-a-subscription", |_| {}),
    ("limit-of-an-organisation", |_| {}),
    ("out-of-credit", |_| {}),
    ("overloaded", |_| {}),
    ("resume-of-nothing", |brief| brief.resume = Some("99999999".to_owned())),
    ("resumed", |brief| brief.resume = Some("00000000".to_owned())),
    ("schema", |brief| brief.schema = Some(json!({ "type": "object" }))),
    ("server-not-there", |_| {}),
    ("subagent", |brief| brief.tools = Some(vec!["Agent".to_owned(), "Bash".to_owned()])),
    ("told-in-mid-turn", |_| {}),
    ("told-too-late", |_| {}),
    ("too-many-turns", |_| {}),
    ("turn", |_| {}),
    ("wrong-key", |_| {}),
];

fn brief() -> Brief {
    let server = |name: &str| McpServer {
        name: name.to_owned(),
        url: format!("http://127.0.0.1:3001/mcp/{name}"),
    };
    Brief {
        agent: "ag_7".to_owned(),
        prompt: "Look at your mail.".to_owned(),
        servers: vec![server("mail"), server("task")],
        stream_timeout_ms: 900_000,
        run_folder: PathBuf::from("/srv/runs/7"),
        runner: Runner::default(),
        ..replay::brief()
    }
}

fn line(stream: Stream, text: &str) -> OutputLine {
    OutputLine { at: Timestamp::from_millis(0), stream, text: text.to_owned(), cut: 0 }
}

fn out(value: &Value) -> OutputLine {
    line(Stream::Out, &value.to_string())
}

/// Server behaviour in a replay: saves and restores the conversation at each line, or not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Server {
    Lives,
    DiesAtEachLine,
}

fn recorded(name: &str) -> String {
    let file = format!("{}/tests/transcripts/claude/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(file).unwrap()
}

/// Plays a recorded talk: what we say must be what was said, and where the input was closed we must
/// close it.
fn play(name: &str, server: Server) -> Vec<Step> {
    let (_, change) = TALKS.iter().find(|(talk, _)| *talk == name).unwrap();
    let mut brief = brief();
    change(&mut brief);
    let mut talk = Claude.conversation(&brief);
    let mut steps = talk.begin();
    let mut due: VecDeque<Step> = steps.clone().into();
    for (number, text) in (1..).zip(recorded(name).lines()) {
        let (way, rest) = text.split_once(' ').unwrap();
        let new = match way {
            "<" => talk.line(&line(Stream::Out, rest)),
            "!" => act(talk.as_mut(), rest),
            ">" if rest == "(closed)" => {
                assert_eq!(due.pop_front(), Some(Step::Close), "{name}:{number}");
                Vec::new()
            }
            ">" => {
                let Some(Step::Say(said)) = due.pop_front() else { panic!("{name}:{number}") };
                let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
                assert_eq!(value(&said), value(rest), "{name}:{number}");
                talk.line(&line(Stream::In, rest))
            }
            _ => panic!("{name}:{number}: {way}"),
        };
        due.extend(new.iter().filter(|step| !matches!(step, Step::Saw(_))).cloned());
        steps.extend(new);
        if server == Server::DiesAtEachLine {
            talk = Claude.restore(&talk.snapshot()).unwrap();
        }
    }
    assert!(due.is_empty(), "{name}: {due:?} was not said");
    steps
}

fn act(talk: &mut dyn Conversation, act: &str) -> Vec<Step> {
    let (verb, rest) = act.split_once(' ').unwrap_or((act, ""));
    match verb {
        "tell" => talk.tell(rest),
        "allow" => talk.answer(rest, PermissionVerdict::Allow),
        "deny" => {
            let (request, reason) = rest.split_once(' ').unwrap();
            talk.answer(request, PermissionVerdict::Deny(reason.to_owned()))
        }
        "interrupt" => talk.interrupt(),
        _ => panic!("{act}"),
    }
}

fn events(steps: &[Step]) -> impl Iterator<Item = &Event> {
    steps.iter().filter_map(|step| match step {
        Step::Saw(event) => Some(event),
        _ => None,
    })
}

fn usage(steps: &[Step]) -> Usage {
    events(steps).fold(Usage::default(), |sum, event| match event {
        Event::Usage(new) => Usage {
            input: sum.input + new.input,
            output: sum.output + new.output,
            cache_read: sum.cache_read + new.cache_read,
            cache_write: sum.cache_write + new.cache_write,
        },
        _ => sum,
    })
}

fn cost(steps: &[Step]) -> Option<Usd> {
    let costs = events(steps).filter_map(|event| match event {
        Event::Cost(cost) => Some(*cost),
        _ => None,
    });
    costs.last()
}

fn done(steps: &[Step]) -> Option<EndReport> {
    let done = events(steps).filter_map(|event| match event {
        Event::Done(done) => Some(done.clone()),
        _ => None,
    });
    done.last()
}

/// The one line that is said.
fn said(steps: &[Step]) -> Value {
    let [Step::Say(line)] = steps else { panic!("{steps:?}") };
    serde_json::from_str(line).unwrap()
}

#[test]
fn every_recorded_talk_is_played() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts/claude");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|it| it == "txt"));
    let files: BTreeSet<_> =
        files.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(files, TALKS.iter().map(|(name, _)| (*name).to_owned()).collect());
}

#[test]
fn recorded_talks_are_understood() {
    for (name, _) in TALKS {
        let steps = play(name, Server::Lives);
        let lines: Vec<_> = steps.iter().map(|step| format!("{step:?}")).collect();
        insta::assert_snapshot!(name, lines.join("\n"));
    }
}

#[test]
fn a_talk_taken_up_again_at_each_line_goes_on_the_same() {
    for (name, _) in TALKS {
        assert_eq!(play(name, Server::DiesAtEachLine), play(name, Server::Lives), "{name}");
    }
}

#[test]
fn what_is_told_adds_up_to_what_it_reports_itself() {
    for (name, _) in TALKS {
        let recorded = recorded(name);
        let lines = recorded.lines().filter_map(|line| line.strip_prefix("< "));
        let messages = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
        let results: Vec<_> = messages.filter(|message| message["type"] == "result").collect();
        let models = |result: &Value| {
            let models = &result["model_usage_since_last_result"];
            models.as_object().into_iter().flatten().map(|(_, it)| it.clone()).collect::<Vec<_>>()
        };
        let models: Vec<_> = results.iter().flat_map(models).collect();
        let sum = |field: &str| models.iter().map(|model| model[field].as_u64().unwrap()).sum();
        let mut used = Usage {
            input: sum("inputTokens"),
            output: sum("outputTokens"),
            cache_read: sum("cacheReadInputTokens"),
            cache_write: sum("cacheCreationInputTokens"),
        };
        if name == "interrupted-in-mid-message" {
            // Its reports leave out the message that was cut off.
            used = Usage { input: 500, output: 1, ..used };
        }
        let steps = play(name, Server::Lives);
        assert_eq!(usage(&steps), used, "{name}");
        let paid: f64 = models.iter().map(|model| model["costUSD"].as_f64().unwrap()).sum();
        assert_eq!(cost(&steps), Some(Usd::from_dollars(paid)), "{name}");
        let total = results.last().unwrap()["total_cost_usd"].as_f64().unwrap();
        let is_all = cost(&steps) == Some(Usd::from_dollars(total));
        assert_eq!(is_all, name != "resumed", "{name}: a resumed talk carries what was before");
    }
}

#[test]
fn a_result_outlives_a_later_turn_about_something_else() {
    let given = done(&play("schema", Server::Lives)).unwrap();
    assert_eq!(given.text, "Still about the letter.");
    assert_eq!(given.value, Some(json!({ "answer": 42 })));
}
