//! Applies an agent's events to the record.

use host::agent::{Event, Step, Usage};
use host::run::{OutputLine, Stream};
use model::habits::HabitVerdict;
use model::money::Usd;
use tokio::time::Instant;

use super::Keeper;
use crate::call::activity::{self, Span, SpanKind};
use crate::crew::run::meter::{self, MAX_MODEL_NAME};
use crate::crew::run::notes::{Limit, OpenTool};
use crate::crew::run::prices;

/// Warnings recorded per attempt; the rest stay in its output.
const WARNINGS: u32 = 20;

impl Keeper {
    /// Interprets a line, and returns the messages that answer it.
    pub(super) fn hear(&mut self, line: &OutputLine) -> Vec<Step> {
        if line.stream == Stream::Err {
            self.notes.complained(&line.text);
        }
        let steps = self.talk.line(line);
        if steps.is_empty() {
            self.plain(line);
        }
        self.take(steps, line.at.as_millis())
    }

    /// Shows those who look on what a program prints that has no words of its own for us.
    fn plain(&self, line: &OutputLine) {
        let prints = self.kind.supports().plain_output;
        if prints && line.stream == Stream::Out && !line.text.trim_start().starts_with('{') {
            self.engine.activity.record_text(self.agent.id, &line.text, line.at.as_millis());
        }
    }

    /// Records events, and returns the messages to be sent.
    pub(super) fn take(&mut self, steps: Vec<Step>, at: i64) -> Vec<Step> {
        let mut says = Vec::new();
        for step in steps {
            match step {
                Step::Saw(event) => self.saw(event, at),
                say => {
                    if say == Step::Close && self.notes.done.is_some() && !self.notes.finished {
                        self.notes.finished = true;
                        self.finished_since = Some(Instant::now());
                    }
                    says.push(say);
                }
            }
        }
        says
    }

    fn saw(&mut self, event: Event, at: i64) {
        match event {
            Event::Conversation(name) => self.seen.report.conversation = Some(name),
            Event::Model(model) => {
                let model: String = model.chars().take(MAX_MODEL_NAME).collect();
                self.notes.model = Some(model.clone());
                self.seen.report.model = Some(model);
            }
            Event::Text(text) => self.engine.activity.record_text(self.agent.id, &text, at),
            Event::ToolBegan { id, name, input } => self.tool_began(id, name, &input, at),
            Event::ToolEnded { id, error } => self.tool_ended(&id, error.as_deref()),
            Event::Usage(usage) => self.used(usage),
            Event::Cost(total) => {
                let (total, warning) = meter::bounded_cost(total);
                self.doubted(warning);
                let more = self.notes.charge_to(total);
                self.cost(more);
            }
            Event::Asked { request, tool, input } => self.asked.push((request, tool, input)),
            Event::Refused { tool } => self.seen.tools.entry(tool).or_default().1 += 1,
            Event::Limited { until } => {
                let until = until.map(model::Timestamp::as_millis);
                self.notes.limited = Some(Limit { until });
            }
            Event::Unauthorized(words) => {
                let advice = self.kind.login_advice();
                let reason = format!("its provider refuses its credentials ({words}); {advice}");
                self.notes.refused.get_or_insert(reason);
            }
            Event::Warning(text) => self.warning(&text),
            Event::Done(done) => self.notes.done = Some(done.into()),
        }
    }

    pub(super) fn warning(&mut self, text: &str) {
        self.notes.warnings += 1;
        if self.notes.warnings <= WARNINGS {
            self.seen.warnings.push(text.chars().take(1_000).collect());
        }
    }

    fn tool_began(&mut self, id: String, name: String, input: &str, at: i64) {
        // Our own tools are counted and shown where they are called.
        if !name.starts_with("mcp__") {
            self.seen.tools.entry(name.clone()).or_default().0 += 1;
            let verdict = self.notes.habits.called(&name, input);
            self.judged(verdict);
            let span = Span { from: at, to: None, kind: SpanKind::Work };
            let about = activity::about_text(input);
            self.engine.activity.called(self.agent.id, &name, about, span);
        }
        self.notes.open.insert(id, OpenTool { name, since: at });
    }

    fn tool_ended(&mut self, id: &str, error: Option<&str>) {
        let tool = self.notes.open.remove(id);
        let own = tool.filter(|tool| !tool.name.starts_with("mcp__"));
        if let (Some(tool), Some(error)) = (own, error) {
            let verdict = self.notes.habits.failed(&tool.name, error);
            self.seen.tools.entry(tool.name).or_default().1 += 1;
            self.judged(verdict);
        }
    }

    /// Warns it, or remembers that it is to be stopped.
    pub(super) fn judged(&mut self, verdict: HabitVerdict) {
        match verdict {
            HabitVerdict::Fine => {}
            HabitVerdict::Warn(why) => {
                self.warning(&format!("it repeats itself: {why}"));
                self.to_tell.push(format!(
                    "Adjutant, not your user, tells you: you repeat yourself ({why}). \
                     Try something else, or end with what you have."
                ));
            }
            HabitVerdict::Stop(why) => self.stuck = Some(format!("stuck: {why}")),
        }
    }

    fn used(&mut self, usage: Usage) {
        let (tokens, warning) = meter::bounded_tokens(usage);
        self.doubted(warning);
        self.seen.tokens += tokens;
        let model = self.model();
        let settings = self.engine.settings();
        if let Some(priced) = prices::price(&settings.prices, &model, tokens) {
            if let Some(other) = priced.price_of
                && self.notes.priced_as.as_deref() != Some(other)
            {
                self.warning(&format!(
                    "`{model}` has no price in `prices.models`; it is counted at the price of `{other}`"
                ));
                self.notes.priced_as = Some(other.to_owned());
            }
            let more = self.notes.charge(priced.cost);
            self.cost(more);
        }
        self.seen.model = model;
    }

    /// Records that a figure was out of bounds.
    fn doubted(&mut self, warning: Option<String>) {
        if let Some(warning) = warning {
            if self.notes.warnings < WARNINGS {
                tracing::warn!(id = %self.agent.id, warning, "agent reported an absurd figure");
            }
            self.warning(&warning);
        }
    }

    fn cost(&mut self, more: Usd) {
        self.seen.cost = Some(self.seen.cost.unwrap_or_default() + more);
        self.seen.model = self.model();
    }

    /// The model that answers it, else the one that it was given: not every program names its own.
    fn model(&self) -> String {
        let known = self.notes.model.clone().or_else(|| self.run.model.clone());
        let model = known.or_else(|| self.options.model.clone());
        model.unwrap_or_else(|| self.agent.kind.clone())
    }
}
