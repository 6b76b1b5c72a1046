//! Prints the crew's activity: a line each with the time; for programs all at once, at the end.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::story::DemoAgent;
use crate::app::App;
use crate::cli_error::CliError;
use crate::terminal::render::{bold, dim, dollars, name, print_text, shown, table, wrapped};

/// Where what was done begins on a line.
const INDENT: usize = 17;
/// Page width.
const WIDTH: usize = 80;

/// Tells the story as it happens.
#[derive(Debug)]
pub(super) struct Teller<'a> {
    app: &'a App,
    began: Instant,
    told: Vec<Value>,
}

impl<'a> Teller<'a> {
    pub(super) fn new(app: &'a App) -> Self {
        Self { app, began: Instant::now(), told: Vec::new() }
    }

    /// Elapsed time.
    pub(super) fn millis(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Prints what an agent did.
    pub(super) fn say(&mut self, who: &str, what: &str) -> Result<(), CliError> {
        let millis = self.millis();
        self.told.push(json!({ "atMs": millis, "who": who, "what": what }));
        let at = format!("{}.{:03}", millis / 1000, millis % 1000);
        let gap = " ".repeat(10_usize.saturating_sub(who.len()));
        let what = wrapped(what, WIDTH - INDENT).join(&format!("\n{:INDENT$}", ""));
        self.line(&format!("{} {}{gap} {what}", dim(at), name(who)))
    }

    /// Begins a part of the story.
    pub(super) fn part(&self, title: &str) -> Result<(), CliError> {
        self.line(&format!("\n{}", bold(title)))
    }

    /// Prints a line, or several, for people.
    pub(super) fn line(&self, text: &str) -> Result<(), CliError> {
        if self.app.render.is_json() {
            return Ok(());
        }
        Ok(print_text(text)?)
    }

    /// Shows the crew as it ended.
    pub(super) fn table(&self, crew: &[DemoAgent]) -> Result<(), CliError> {
        let rows = crew.iter().map(|agent| {
            let cost = agent.cost_usd.map_or_else(|| "-".to_owned(), dollars);
            [agent.name.clone(), agent.state.to_string(), shown(&agent.task), cost]
        });
        let spent: f64 = crew.iter().filter_map(|agent| agent.cost_usd).sum();
        let total = ["total".to_owned(), String::new(), String::new(), dollars(spent)];
        self.line(&table(["AGENT", "STATE", "TASK", "COST"], rows.chain([total])))
    }

    /// Lines so far.
    pub(super) fn told(&self) -> &[Value] {
        &self.told
    }

    /// Ends it.
    pub(super) fn end(&self, value: &Value, text: &str) -> Result<(), CliError> {
        Ok(self.app.render.answer(value, || format!("\n{text}"))?)
    }
}
