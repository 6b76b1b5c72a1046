//! A plan: a document in Markdown that is read into steps, and what becomes of it when its coordinator ends.
//!
//! Steps are headings (`## ParsedStep 3: Title`, `### 3. Title`) or, where there is none such, the items of a numbered list or
//! of a list with boxes. Code is never read as either. What is wrong is told with its line, and nothing is guessed.

mod find;

use std::collections::HashMap;
use std::convert::Infallible;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::Outcome;
use crate::graph;
use crate::markdown::{self, Line, field};
use crate::money::Usd;
use crate::nearest::nearest;

/// A plan may be so long, in bytes.
pub const MAX_PLAN_BYTES: usize = 256 * 1024;
/// A plan may have so many steps.
pub const MAX_PLAN_STEPS: usize = 200;
/// A heading may be so long, in characters.
const MAX_TITLE_CHARS: usize = 200;

/// Example of a plan, shown with errors.
pub const EXAMPLE_PLAN: &str = "\
# Release 1.0

## Step 1: Write the notes
What changed, for people who use it.

## Step 2: Build the packages
Depends on: 1
Role: coder
";

/// A plan, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedPlan {
    /// Its first heading of the first rank, if it has one that is no step
    pub title: Option<String>,
    /// The steps, in their order
    pub steps: Vec<ParsedStep>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedStep {
    /// Step number; greater than that of the step before
    pub number: u32,
    /// Title, one line
    pub title: String,
    /// Text below its heading, or its whole list item, verbatim
    pub text: String,
    /// The line on which it begins, from 1
    pub line: usize,
    /// The numbers of the steps that must be done before it, each once
    pub needs: Vec<u32>,
    /// True if it is marked as done
    pub is_done: bool,
    /// Role, if the step names one
    pub role: Option<String>,
    /// Budget, if the step sets one
    pub budget: Option<Usd>,
}

/// Why a text is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct PlanError {
    /// The line that is wrong, from 1
    pub line: Option<usize>,
    /// Description of the problem
    pub problem: String,
}

impl PlanError {
    fn whole(problem: impl Into<String>) -> Self {
        Self { line: None, problem: problem.into() }
    }

    fn at(line: usize, problem: impl Into<String>) -> Self {
        Self { line: Some(line), problem: problem.into() }
    }
}

/// Where a step stands in a plan, before its own words are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StepHeading {
    number: u32,
    title: String,
    is_done: bool,
    /// The index of its first line
    first: usize,
    /// The index of the first line of its text, and of the one after its last
    lines: (usize, usize),
}

/// References to other steps, as a step's own line has them.
#[derive(Debug, Clone, Copy)]
struct StepReferences<'a> {
    /// Number of the line, from 1
    line: usize,
    /// Text after `Depends on:`
    text: &'a str,
}

/// Reads a plan.
pub fn read(text: &str) -> Result<ParsedPlan, PlanError> {
    if text.len() > MAX_PLAN_BYTES {
        let bytes = text.len();
        return Err(PlanError::whole(format!(
            "it is {bytes} bytes; the limit is {MAX_PLAN_BYTES}"
        )));
    }
    if text.contains('\0') {
        return Err(PlanError::whole("it is no text"));
    }
    if text.trim().is_empty() {
        return Err(PlanError::whole("it is empty"));
    }
    let lines: Vec<Line<'_>> = markdown::lines(text).collect();
    let (found, rank) = find::steps(&lines)?;
    if found.is_empty() {
        return Err(PlanError::whole("there is no step in it"));
    }
    if let Some(more) = found.get(MAX_PLAN_STEPS) {
        return Err(PlanError::at(
            more.first + 1,
            format!("a plan has at most {MAX_PLAN_STEPS} steps"),
        ));
    }
    let mut steps = Vec::new();
    let mut wanted = Vec::new();
    for one in found {
        let (step, needs) = step(text, &lines, one)?;
        steps.push(step);
        wanted.push(needs);
    }
    refuse_namesakes(&steps)?;
    for (index, needs) in wanted.into_iter().enumerate() {
        for StepReferences { line, text } in needs {
            let named =
                named(&steps, index, text).map_err(|problem| PlanError::at(line, problem))?;
            for number in named {
                add_need(&mut steps, index, number)
                    .map_err(|problem| PlanError::at(line, problem))?;
            }
        }
    }
    let title = lines
        .iter()
        .filter_map(|line| line.heading)
        .find(|(own, says)| *own == 1 && rank != Some(1) && !says.is_empty());
    Ok(ParsedPlan { title: title.map(|(_, says)| find::clean(says)), steps })
}

/// A step with what its own lines say, and what they say of others: the line, and the words.
fn step<'a>(
    text: &'a str,
    lines: &[Line<'a>],
    found: StepHeading,
) -> Result<(ParsedStep, Vec<StepReferences<'a>>), PlanError> {
    let (from, to) = found.lines;
    let own = lines.get(from..to).unwrap_or_default();
    let begins = |index: usize| lines.get(index).map_or(text.len(), |line| line.from);
    let whole = text.get(begins(from)..begins(to)).unwrap_or_default();
    let mut step = ParsedStep {
        number: found.number,
        title: found.title,
        text: whole.trim_end().trim_start_matches(['\r', '\n']).to_owned(),
        line: found.first + 1,
        needs: Vec::new(),
        is_done: found.is_done,
        role: None,
        budget: None,
    };
    let mut needs = Vec::new();
    for (index, line) in own.iter().enumerate().filter(|(_, line)| !line.is_code) {
        let number = from + index + 1;
        let says = |word: &str| field(line.text, word).filter(|message| !message.is_empty());
        if let Some(message) = ["depends on", "depends", "after"].iter().find_map(|word| says(word))
        {
            needs.push(StepReferences { line: number, text: message });
        } else if let Some(role) = says("role") {
            step.role = Some(role.trim_matches('`').to_owned());
        } else if let Some(message) = says("budget") {
            step.budget = Some(budget(message).ok_or_else(|| {
                PlanError::at(
                    number,
                    format!("`{message}` is not an amount of dollars such as `2.50`"),
                )
            })?);
        } else if let Some(message) = says("status") {
            let message = message.trim_end_matches('.').to_lowercase();
            step.is_done |=
                matches!(message.as_str(), "done" | "complete" | "completed" | "✅" | "[x]");
        }
    }
    Ok((step, needs))
}

/// An amount of dollars as people write it.
fn budget(message: &str) -> Option<Usd> {
    let message = message.trim_matches('`').trim_start_matches('$').trim();
    let message = message.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '$').trim();
    let dollars: f64 = message.parse().ok()?;
    (dollars.is_finite() && dollars > 0.0 && dollars <= 1e6).then(|| Usd::from_dollars(dollars))
}

/// Two steps of one name could not be told apart by steps that depend on one.
fn refuse_namesakes(steps: &[ParsedStep]) -> Result<(), PlanError> {
    let mut seen: HashMap<String, &ParsedStep> = HashMap::new();
    for step in steps {
        if let Some(other) = seen.insert(folded(&step.title), step) {
            let problem =
                format!("`{}` is the title of a step on line {} too", step.title, other.line);
            return Err(PlanError::at(step.line, problem));
        }
    }
    Ok(())
}

/// A title as it is compared with others.
fn folded(title: &str) -> String {
    title.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// The numbers of the steps in a list of dependencies, by numbers or titles; or the one that does not exist.
fn named(steps: &[ParsedStep], own: usize, message: &str) -> Result<Vec<u32>, String> {
    let bare = |text: &str| text.trim().trim_matches(['`', '"', '*', '_']).trim().to_owned();
    let of_title = |text: &str| {
        let wanted = folded(text);
        steps.iter().find(|step| folded(&step.title) == wanted).map(|step| step.number)
    };
    let whole = bare(message.trim_end_matches('.'));
    // A title may have commas of its own.
    if let Some(number) = of_title(&whole) {
        return Ok(vec![number]);
    }
    if matches!(folded(&whole).as_str(), "none" | "nothing" | "-" | "–" | "—" | "n/a") {
        return Ok(Vec::new());
    }
    let mut numbers = Vec::new();
    let words = whole.replace(" and ", ",");
    for word in words.split([',', ';', '&']).map(bare).filter(|word| !word.is_empty()) {
        let number = find::reference(&word).filter(|n| steps.iter().any(|step| step.number == *n));
        let Some(number) = number.or_else(|| of_title(&word)) else {
            let asks =
                steps.get(own).map(|step| format!("step {}", step.number)).unwrap_or_default();
            let titles = steps.iter().map(|step| step.title.as_str());
            // A wrong number is near to nothing.
            let near = nearest(&word, titles).filter(|_| find::reference(&word).is_none());
            let near = near.map(|near| format!("; did you mean `{near}`?"));
            return Err(format!(
                "{asks} depends on `{word}`, which is not a step{}",
                near.unwrap_or_default()
            ));
        };
        numbers.push(number);
    }
    Ok(numbers)
}

/// Makes a step need another, or says which ring that would close.
fn add_need(steps: &mut [ParsedStep], own: usize, number: u32) -> Result<(), String> {
    let Some(from) = steps.get(own).map(|step| step.number) else { return Ok(()) };
    let needs = |at: u32| {
        let found = steps.iter().find(|step| step.number == at);
        Ok::<_, Infallible>(found.map(|step| step.needs.clone()).unwrap_or_default())
    };
    let Ok(ring) = graph::cycle(from, number, needs);
    if let Some(ring) = ring {
        let names: Vec<String> = ring.iter().map(|number| format!("step {number}")).collect();
        return Err(format!("{}: each would wait for the other", names.join(" → ")));
    }
    if let Some(step) = steps.get_mut(own).filter(|step| !step.needs.contains(&number)) {
        step.needs.push(number);
    }
    Ok(())
}

/// State of a plan that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum PlanState {
    /// It is being run
    Running,
    /// All its steps are done
    Completed,
    /// Steps failed, or nobody could get it any further
    Failed,
    /// A person ended it
    Stopped,
    /// It has spent what it may
    OverBudget,
}

impl PlanState {
    /// Every state.
    pub const ALL: [Self; 5] =
        [Self::Running, Self::Completed, Self::Failed, Self::Stopped, Self::OverBudget];

    /// Its name, as it is stored and sent.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::OverBudget => "over_budget",
        }
    }

    /// The state of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// Cause of a coordinator's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoordinatorEndCause {
    /// Requested by a person or an agent
    Request,
    /// Not requested: it ended by itself or failed
    Itself,
}

/// The end of a plan's coordinator, as far as it concerns the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoordinatorEnd {
    /// Outcome of the coordinator
    pub outcome: Outcome,
    /// Cause of its end
    pub by: CoordinatorEndCause,
    /// Number of open steps
    pub open: usize,
    /// Number of failed steps
    pub failed: usize,
    /// Coordinators in a row, this one too, under whom no step was closed
    pub tries: u32,
    /// Number of such coordinators after which the plan fails
    pub most: u32,
}

/// Consequence of a coordinator's end for its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanAction {
    /// The plan ends
    Over(PlanState),
    /// A successor continues it
    Another,
}

impl CoordinatorEnd {
    /// Decides how the plan continues.
    pub const fn next(self) -> PlanAction {
        match (self.outcome, self.by) {
            (Outcome::Succeeded, _) if self.open == 0 && self.failed == 0 => {
                PlanAction::Over(PlanState::Completed)
            }
            (Outcome::Succeeded, _) if self.open == 0 => PlanAction::Over(PlanState::Failed),
            // A requested end of the coordinator ends the plan, however the coordinator then ended.
            (_, CoordinatorEndCause::Request) => PlanAction::Over(PlanState::Stopped),
            (Outcome::OverBudget, _) => PlanAction::Over(PlanState::OverBudget),
            _ if self.tries >= self.most => PlanAction::Over(PlanState::Failed),
            _ => PlanAction::Another,
        }
    }
}

#[cfg(test)]
mod tests;
