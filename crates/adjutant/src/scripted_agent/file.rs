//! From a scenario's YAML to a scenario. Unknown keys are refused, and every mistake names its line.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::Code;
use model::nearest::nearest;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use serde_json::{Map, Value};
use serde_saphyr::{Location, Spanned};

use super::scenario::{
    Act, Call, File, FileText, Flood, Limited, Outcome, OwnTool, Run, Scenario, Step, TokenUse,
    WaitFile,
};
use super::template::Templated;
use crate::yaml::{self, Problem};

/// Names that have a meaning of their own and cannot be given to answers.
pub(super) const RESERVED: [&str; 8] =
    ["agent", "args", "attempt", "env", "i", "input", "prompt", "task"];
/// Attempts of a call, and seconds between them.
const MAX_ATTEMPTS: u64 = 100;
const DEFAULT_RETRY_SECONDS: f64 = 0.05;

/// Reads a scenario. `name` is what the file is called in messages.
pub(super) fn read(name: &str, text: &str) -> Result<File, Box<Problem>> {
    let raw: RawFile = yaml::parse(name, text, text)?;
    raw.ready().map_err(|LocatedError { location, message, help }| {
        Problem::at(name, text, location, message).with_help(help)
    })
}

type RawSteps = Vec<Spanned<RawStep>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    steps: Option<RawSteps>,
    #[serde(default)]
    attempts: BTreeMap<u32, RawSteps>,
    #[serde(default)]
    scenarios: BTreeMap<String, RawScenario>,
    patience: Option<Spanned<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScenario {
    steps: RawSteps,
    #[serde(default)]
    attempts: BTreeMap<u32, RawSteps>,
}

/// A step as it stands: one of the keys says what is done, and some take others along.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    say: Option<String>,
    call: Option<String>,
    with: Option<Map<String, Value>>,
    save: Option<String>,
    expect: Option<Value>,
    until: Option<Value>,
    tries: Option<Templated<u64>>,
    pause: Option<Templated<f64>>,
    fails: Option<String>,
    patience: Option<f64>,
    expect_tools: Option<Vec<String>>,
    expect_no_tools: Option<Vec<String>>,
    write: Option<FileText>,
    append: Option<FileText>,
    commit: Option<String>,
    run: Option<Vec<String>>,
    background: Option<bool>,
    code: Option<i32>,
    sleep: Option<Templated<f64>>,
    burn: Option<TokenUse>,
    model: Option<String>,
    limited: Option<Limited>,
    tool: Option<OwnTool>,
    wait_file: Option<WaitFile>,
    repeat: Option<RawRepeat>,
    parallel: Option<Vec<RawSteps>>,
    deaf: Option<OnlyTrue>,
    print: Option<Flood>,
    close_output: Option<OnlyTrue>,
    fail: Option<String>,
    exit: Option<Templated<u8>>,
    crash: Option<OnlyTrue>,
    result: Option<Outcome>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRepeat {
    times: Templated<u64>,
    steps: RawSteps,
}

/// `true`, and nothing else: a step that says `false` would do nothing.
#[derive(Debug, Clone, Copy)]
struct OnlyTrue;

impl<'de> Deserialize<'de> for OnlyTrue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if bool::deserialize(from)? { Ok(Self) } else { Err(D::Error::custom("expected true")) }
    }
}

/// A mistake that the grammar allows, and where it is.
#[derive(Debug)]
struct LocatedError {
    location: Location,
    message: String,
    help: Option<String>,
}

/// A mistake without its position.
struct GrammarError {
    message: String,
    help: Option<String>,
}

fn wrong(message: impl Into<String>) -> GrammarError {
    GrammarError { message: message.into(), help: None }
}

impl RawFile {
    fn ready(self) -> Result<File, LocatedError> {
        let patience = self
            .patience
            .map(|given| seconds(given.value).map_err(|wrong| slip(given.referenced, wrong)))
            .transpose()?;
        let nowhere = |message: &str| slip(Location::UNKNOWN, wrong(message));
        let main = match self.steps {
            Some(steps) => Some(RawScenario { steps, attempts: self.attempts }.ready()?),
            None if self.attempts.is_empty() => None,
            None => return Err(nowhere("`attempts` need `steps`")),
        };
        let named = self.scenarios.into_iter().map(|(name, raw)| Ok((name, raw.ready()?)));
        let named = named.collect::<Result<BTreeMap<_, _>, LocatedError>>()?;
        if main.is_none() && named.is_empty() {
            return Err(nowhere("there are neither `steps` nor `scenarios`"));
        }
        Ok(File { main, named, patience })
    }
}

impl RawScenario {
    fn ready(self) -> Result<Scenario, LocatedError> {
        let attempts = self.attempts.into_iter().map(|(number, raw)| Ok((number, steps(raw)?)));
        Ok(Scenario {
            steps: steps(self.steps)?,
            attempts: attempts.collect::<Result<_, LocatedError>>()?,
        })
    }
}

fn steps(raw: RawSteps) -> Result<Vec<Step>, LocatedError> {
    raw.into_iter()
        .map(|Spanned { value, referenced, .. }| {
            let act = value.act(referenced)?;
            Ok(Step { line: referenced.line(), act })
        })
        .collect()
}

fn slip(location: Location, mistake: GrammarError) -> LocatedError {
    let GrammarError { message, help } = mistake;
    LocatedError { location, message, help }
}

impl RawStep {
    fn act(mut self, location: Location) -> Result<Act, LocatedError> {
        let at = |wrong| slip(location, wrong);
        let strays = self.strays();
        if let [(stray, owner), ..] = strays.as_slice() {
            return Err(at(wrong(format!("`{stray}` goes with `{owner}`"))));
        }
        let mut acts: Vec<(&str, Act)> = Vec::new();
        if let Some(tool) = self.call.take() {
            acts.push(("call", Act::Call(Box::new(self.called(tool).map_err(at)?))));
        }
        if let Some(command) = self.run.take() {
            acts.push(("run", Act::Run(self.program(command).map_err(at)?)));
        }
        if let Some(RawRepeat { times, steps: raw }) = self.repeat.take() {
            acts.push(("repeat", Act::Repeat { times, steps: steps(raw)? }));
        }
        if let Some(branches) = self.parallel.take() {
            let branches = branches.into_iter().map(steps).collect::<Result<_, LocatedError>>()?;
            acts.push(("parallel", Act::Parallel(branches)));
        }
        if let Some(Limited { until: Some(_), seconds: Some(_) }) = &self.limited {
            return Err(at(wrong("`limited` has `until` or `seconds`, not both")));
        }
        acts.extend(self.simple());
        match (acts.pop(), acts.as_slice()) {
            (Some((_, act)), []) => Ok(act),
            (Some((one, _)), [(two, _), ..]) => {
                Err(at(wrong(format!("a step has one action; this one has `{two}` and `{one}`"))))
            }
            (None, _) => Err(at(wrong("this step has no action"))),
        }
    }

    /// The steps that are what they say.
    fn simple(self) -> impl Iterator<Item = (&'static str, Act)> {
        [
            ("say", self.say.map(Act::Say)),
            ("expect_tools", self.expect_tools.map(Act::ExpectTools)),
            ("expect_no_tools", self.expect_no_tools.map(Act::ExpectNoTools)),
            ("write", self.write.map(Act::Write)),
            ("append", self.append.map(Act::Append)),
            ("commit", self.commit.map(Act::Commit)),
            ("sleep", self.sleep.map(Act::Sleep)),
            ("burn", self.burn.map(Act::Burn)),
            ("model", self.model.map(Act::Model)),
            ("limited", self.limited.map(Act::Limited)),
            ("tool", self.tool.map(Act::Tool)),
            ("wait_file", self.wait_file.map(Act::WaitFile)),
            ("deaf", self.deaf.map(|OnlyTrue| Act::Deaf)),
            ("print", self.print.map(Act::Print)),
            ("close_output", self.close_output.map(|OnlyTrue| Act::CloseOutput)),
            ("fail", self.fail.map(Act::Fail)),
            ("exit", self.exit.map(Act::Exit)),
            ("crash", self.crash.map(|OnlyTrue| Act::Crash)),
            ("result", self.result.map(Act::Result)),
        ]
        .into_iter()
        .filter_map(|(name, act)| Some((name, act?)))
    }

    /// Keys that belong to a step of another kind.
    fn strays(&self) -> Vec<(&'static str, &'static str)> {
        let of_call = [
            ("with", self.with.is_some()),
            ("save", self.save.is_some()),
            ("expect", self.expect.is_some()),
            ("until", self.until.is_some()),
            ("tries", self.tries.is_some()),
            ("pause", self.pause.is_some()),
            ("fails", self.fails.is_some()),
            ("patience", self.patience.is_some()),
        ];
        let of_run = [("background", self.background.is_some()), ("code", self.code.is_some())];
        let stray = |there: bool, owner| {
            move |(name, given): (&'static str, bool)| (given && !there).then_some((name, owner))
        };
        let calls = of_call.into_iter().filter_map(stray(self.call.is_some(), "call"));
        calls.chain(of_run.into_iter().filter_map(stray(self.run.is_some(), "run"))).collect()
    }

    fn called(&mut self, tool: String) -> Result<Call, GrammarError> {
        let fails = self.fails.take().map(|name| code(&name)).transpose()?;
        if fails.is_some() && self.until.is_some() {
            return Err(wrong("a call that `fails` is not repeated: omit `until`"));
        }
        if self.until.is_none() && (self.tries.is_some() || self.pause.is_some()) {
            return Err(wrong("`tries` and `pause` go with `until`"));
        }
        if let Some(name) = &self.save
            && (RESERVED.contains(&name.as_str()) || name.is_empty() || name.contains(['.', ' ']))
        {
            return Err(wrong(format!("`{name}` cannot be the name of an answer")));
        }
        Ok(Call {
            tool,
            with: self.with.take().unwrap_or_default(),
            save: self.save.take(),
            expect: self.expect.take(),
            until: self.until.take(),
            tries: self.tries.take().unwrap_or(Templated::Known(MAX_ATTEMPTS)),
            pause: self.pause.take().unwrap_or(Templated::Known(DEFAULT_RETRY_SECONDS)),
            fails,
            patience: self.patience.map(seconds).transpose()?,
        })
    }

    fn program(&self, command: Vec<String>) -> Result<Run, GrammarError> {
        if command.is_empty() {
            return Err(wrong("`run` needs a program"));
        }
        match (self.background, self.code) {
            (Some(true), Some(_)) => Err(wrong("a `background` command has no `code`")),
            (Some(true), None) => Ok(Run { command, code: None }),
            (_, code) => Ok(Run { command, code: Some(code.unwrap_or(0)) }),
        }
    }
}

fn code(name: &str) -> Result<Code, GrammarError> {
    Code::parse(name).ok_or_else(|| {
        let known = Code::ALL.map(|(_, name, ..)| name);
        let help = match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known here: {}", known.join(", ")),
        };
        GrammarError {
            message: format!("`{name}` is not an error code of a tool"),
            help: Some(help),
        }
    })
}

fn seconds(given: f64) -> Result<Duration, GrammarError> {
    Duration::try_from_secs_f64(given).map_err(|error| wrong(format!("`patience`: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (String, Option<String>) {
        let problem = read("s.yaml", text).unwrap_err();
        (problem.to_string(), problem.help.clone())
    }

    #[test]
    fn mistakes_name_their_line_and_what_was_meant() {
        for (text, message, help) in [
            ("stpes: []", "s.yaml:1: unknown key `stpes`", Some("did you mean `steps`?")),
            (
                "steps:\n  - say: a\n  - cal: b\n",
                "s.yaml:3: unknown key `cal`",
                Some("did you mean `call`?"),
            ),
            (
                "steps:\n  - burn: {zebra: 5}\n",
                "s.yaml:2: unknown key `zebra`",
                Some(
                    "known here: input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd",
                ),
            ),
            (
                "steps:\n  - sleep: soon\n",
                "s.yaml:2: invalid type: string \"soon\", expected f64",
                None,
            ),
            ("steps:\n  - deaf: false\n", "s.yaml:2: expected true", None),
            ("attempts: {2: []}", "s.yaml: `attempts` need `steps`", None),
            ("{}", "s.yaml: there are neither `steps` nor `scenarios`", None),
            (
                "patience: -1\nsteps: []",
                "s.yaml:1: `patience`: cannot convert float seconds to Duration: value is negative",
                None,
            ),
        ] {
            assert_eq!(refused(text), (message.to_owned(), help.map(str::to_owned)), "{text}");
        }
    }

    #[test]
    fn what_does_not_go_together_is_refused_where_it_stands() {
        let step = |text: &str| {
            let text = format!(
                "scenarios:\n  x:\n    steps:\n      - repeat:\n          times: 2\n          steps:\n            - say: a\n            - {text}\n"
            );
            let (message, _) = refused(&text);
            message.strip_prefix("s.yaml:8: ").unwrap_or(&message).to_owned()
        };
        for (text, message) in [
            ("{say: a, exit: 0}", "a step has one action; this one has `say` and `exit`"),
            ("{call: a, crash: true}", "a step has one action; this one has `call` and `crash`"),
            ("{}", "this step has no action"),
            ("{say: a, save: b}", "`save` goes with `call`"),
            ("{call: a, background: true}", "`background` goes with `run`"),
            (
                "{call: a, fails: CONFLICT, until: {}}",
                "a call that `fails` is not repeated: omit `until`",
            ),
            ("{call: a, tries: 3}", "`tries` and `pause` go with `until`"),
            ("{call: a, fails: CONFLCIT}", "`CONFLCIT` is not an error code of a tool"),
            ("{call: a, save: task}", "`task` cannot be the name of an answer"),
            ("{call: a, save: a.b}", "`a.b` cannot be the name of an answer"),
            ("{run: []}", "`run` needs a program"),
            ("{run: [a], background: true, code: 1}", "a `background` command has no `code`"),
            ("{limited: {until: x, seconds: 1}}", "`limited` has `until` or `seconds`, not both"),
        ] {
            assert_eq!(step(text), message, "{text}");
        }
        assert_eq!(
            refused("steps: [{call: a, fails: CONFLCIT}]").1.as_deref(),
            Some("did you mean `CONFLICT`?")
        );
    }

    #[test]
    fn later_attempts_may_do_something_else() {
        let file =
            read("s.yaml", "steps: [{say: a}]\nattempts:\n  2: []\n  4: [{say: b}, {say: c}]\n");
        let main = file.unwrap().main.unwrap();
        let many = [1, 2, 3, 4, 9].map(|attempt| main.steps_of(attempt).len());
        assert_eq!(many, [1, 0, 0, 2, 2]);
    }
}
