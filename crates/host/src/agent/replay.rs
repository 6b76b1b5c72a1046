//! Plays recorded talks again, for tests.
//!
//! A recording is a file of lines: `# ` what the agent was run with, `< ` what it printed, `> ` what we
//! said (`> (closed)` for the end of it), `! ` what was requested meanwhile. It was made by the code under
//! test with the real program on the other side, so that both sides can be compared.

use std::fs;
use std::path::Path;

use model::Timestamp;
use serde_json::Value;

use super::{
    Asks, Brief, Conversation, Event, McpServer, PermissionVerdict, Runner, Step, TOKEN, Usage,
    kind,
};
use crate::run::{OutputLine, Stream, Variables};

/// A recorded talk.
pub(super) struct Recording {
    pub(super) name: String,
    pub(super) brief: Brief,
    kind: String,
    lines: Vec<String>,
}

/// Every recording of a kind.
pub(super) fn recordings(kind: &str) -> Vec<Recording> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts").join(kind);
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| Recording::read(path)).collect()
}

/// The recording of that name.
pub(super) fn recording(kind: &str, name: &str) -> Recording {
    recordings(kind).into_iter().find(|recording| recording.name == name).unwrap()
}

/// A brief with nothing special in it.
pub(super) fn brief() -> Brief {
    Brief {
        agent: "agent_1".to_owned(),
        prompt: "Do the thing".to_owned(),
        system_prompt: None,
        model: None,
        tools: None,
        disallowed_tools: Vec::new(),
        asks: Asks::Deny,
        servers: vec![McpServer {
            name: "h".to_owned(),
            url: "http://127.0.0.1:4000/mcp".to_owned(),
        }],
        user_servers: Vec::new(),
        own_servers: Vec::new(),
        disabled_servers: Vec::new(),
        variables: Variables::default(),
        call_timeout_ms: 600_000,
        stream_timeout_ms: 600_000,
        schema: None,
        resume: None,
        directory: "/srv/dev/project".into(),
        run_folder: "/srv/dev/run".into(),
        runner: Runner { steer: true, ..Runner::default() },
        command: Vec::new(),
        own_sandbox: None,
        adjutant: "/usr/bin/adjutant".into(),
    }
}

/// A line of output.
pub(super) fn out(text: &str) -> OutputLine {
    OutputLine {
        at: Timestamp::from_millis(1_794_757_000_000),
        stream: Stream::Out,
        text: text.to_owned(),
        cut: 0,
    }
}

/// Steps that follow from these lines.
pub(super) fn hear(talk: &mut dyn Conversation, lines: &[Value]) -> Vec<Step> {
    lines.iter().flat_map(|line| talk.line(&out(&line.to_string()))).collect()
}

/// Lines sent in these steps.
pub(super) fn said(steps: &[Step]) -> Vec<Value> {
    let said = steps.iter().filter_map(|step| match step {
        Step::Say(line) | Step::Whisper(line) => Some(serde_json::from_str(line).unwrap()),
        Step::Close => Some(Value::from("(closed)")),
        Step::Saw(_) => None,
    });
    said.collect()
}

/// Events in these steps.
pub(super) fn seen(steps: &[Step]) -> Vec<&Event> {
    let seen = steps.iter().filter_map(|step| match step {
        Step::Saw(event) => Some(event),
        Step::Say(_) | Step::Whisper(_) | Step::Close => None,
    });
    seen.collect()
}

/// All tokens told of in these steps.
pub(super) fn spent(steps: &[Step]) -> Usage {
    seen(steps).into_iter().fold(Usage::default(), |sum, event| match event {
        Event::Usage(usage) => Usage {
            input: sum.input + usage.input,
            output: sum.output + usage.output,
            cache_read: sum.cache_read + usage.cache_read,
            cache_write: sum.cache_write + usage.cache_write,
        },
        _ => sum,
    })
}

impl Recording {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let mut lines = text.lines().map(str::to_owned);
        let head = lines.next().unwrap();
        let head: Value = serde_json::from_str(head.strip_prefix("# ").unwrap()).unwrap();
        let words = |key: &str| head[key].as_str().map(str::to_owned);
        let mut brief = brief();
        brief.prompt = words("prompt").unwrap_or(brief.prompt);
        brief.system_prompt = words("system");
        brief.model = words("model");
        brief.resume = words("resume");
        brief.schema = head.get("schema").cloned();
        brief.runner.steer = head["steer"] != false;
        brief.tools = serde_json::from_value(head["tools"].clone()).unwrap();
        brief.asks = match head["asks"].as_str() {
            Some("allow") => Asks::Allow,
            Some("person") => Asks::Person,
            _ => Asks::Deny,
        };
        if let Some(url) = words("url") {
            brief.servers[0].url = url;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Self { name, brief, kind: words("kind").unwrap(), lines: lines.collect() }
    }

    /// Plays it; `pause` may put the conversation down and take it up again after each line.
    pub(super) fn play(&self, pause: impl Fn(&mut Box<dyn Conversation>)) -> Vec<Step> {
        let mut talk = kind(&self.kind).unwrap().conversation(&self.brief);
        let mut steps = talk.begin();
        for line in &self.lines {
            pause(&mut talk);
            let (sign, text) = line.split_at(2);
            steps.extend(match sign {
                "< " => talk.line(&out(text)),
                "! " => act(talk.as_mut(), text),
                _ => Vec::new(),
            });
        }
        steps.extend(talk.end());
        steps
    }

    /// Lines sent in the recording.
    pub(super) fn said(&self) -> Vec<Value> {
        let said = self.lines.iter().filter_map(|line| line.strip_prefix("> "));
        let said = said.map(|line| serde_json::from_str(line).unwrap_or_else(|_| line.into()));
        said.map(with_version).collect()
    }

    /// Puts it down and takes it up again.
    pub(super) fn restore(&self, talk: &mut Box<dyn Conversation>) {
        let snapshot = talk.snapshot();
        *talk = kind(&self.kind).unwrap().restore(&snapshot).unwrap();
        assert_eq!(talk.snapshot(), snapshot);
    }
}

/// A recording does not age with the program.
fn with_version(mut line: Value) -> Value {
    if let Some(version) = line.pointer_mut("/params/clientInfo/version") {
        *version = env!("CARGO_PKG_VERSION").into();
    }
    line
}

fn act(talk: &mut dyn Conversation, act: &str) -> Vec<Step> {
    let words: Vec<_> = act.splitn(2, ' ').collect();
    match words[..] {
        ["tell", text] => talk.tell(text),
        ["interrupt"] => talk.interrupt(),
        ["answer", answer] => match answer.rsplit_once(' ').unwrap() {
            (request, "allow") => talk.answer(request, PermissionVerdict::Allow),
            (request, _) => talk.answer(request, PermissionVerdict::Deny("no".to_owned())),
        },
        _ => panic!("`{act}` is no wish"),
    }
}

/// Checks every recording of a kind: we send the recorded lines, survive an interruption after
/// any line, and the token is only whispered. What it means is a snapshot.
pub(super) fn check(kind: &str) {
    for recording in recordings(kind) {
        let name = &recording.name;
        let steps = recording.play(|_| {});
        assert_eq!(said(&steps), recording.said(), "{name}");
        assert_eq!(recording.play(|talk| recording.restore(talk)), steps, "{name}");
        let is_said = |step: &Step| matches!(step, Step::Say(line) if line.contains(TOKEN));
        assert!(!steps.iter().any(is_said), "{name}: the token would be said aloud");
        let events: Vec<_> = seen(&steps).iter().map(|event| format!("{event:?}")).collect();
        insta::assert_snapshot!(format!("{kind}-{name}"), events.join("\n"));
    }
}

impl Recording {
    /// Plays it with one line cut short and another one left out.
    pub(super) fn play_spoilt(&self, at: usize, cut: usize, skip: usize) -> Vec<Step> {
        let mut talk = kind(&self.kind).unwrap().conversation(&self.brief);
        let mut steps = talk.begin();
        let heard: Vec<_> = self.lines.iter().filter_map(|line| line.strip_prefix("< ")).collect();
        for (number, line) in heard.iter().enumerate() {
            let length = line.chars().count().max(1);
            let kept = if number == at % heard.len() { cut % length } else { length };
            if number != skip % heard.len() {
                steps.extend(talk.line(&out(&line.chars().take(kept).collect::<String>())));
            }
        }
        steps.extend(talk.end());
        steps
    }
}
