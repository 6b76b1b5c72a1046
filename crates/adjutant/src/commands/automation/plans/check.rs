//! `adjutant plan check`: shows the parsed steps of a plan, without a server.

use std::path::Path;

use engine::Code;
use model::money::Usd;
use model::plan::{EXAMPLE_PLAN, MAX_PLAN_BYTES, ParsedPlan, ParsedStep};
use serde_json::{Value, json};

use crate::app::App;
use crate::cli_error::CliError;
use crate::terminal::render::{Page, bold, count, dim, good, line, short};

/// A line of a terminal.
const WIDTH: usize = 80;

/// Shows the steps of a plan.
pub(super) fn run(app: &App, file: &Path) -> Result<(), CliError> {
    let text = read_file(app, file)?;
    let plan = parse(file, &text)?;
    let steps: Vec<Value> = plan.steps.iter().map(shown).collect();
    let path = file.display().to_string();
    let value = json!({ "path": path, "title": plan.title, "steps": steps });
    Ok(app.render.answer(&value, || told(&path, &plan))?)
}

/// Reads a plan from a file.
pub(super) fn read_file(app: &App, file: &Path) -> Result<String, CliError> {
    let (named, path) = (file.display(), app.env.cwd.join(file));
    let cannot = |error: std::io::Error| {
        let code = match error.kind() {
            std::io::ErrorKind::NotFound => Code::ResourceNotFound,
            _ => Code::InvalidInput,
        };
        CliError::new(code, format!("`{named}` cannot be read: {error}"))
            .hint("name a file in Markdown, as `adjutant plan run PLAN.md`")
    };
    let meta = std::fs::metadata(&path).map_err(cannot)?;
    if !meta.is_file() {
        return Err(CliError::usage(format!("`{named}` is not a file"))
            .hint("name a file in Markdown, as `adjutant plan run PLAN.md`"));
    }
    if meta.len() > u64::try_from(MAX_PLAN_BYTES).unwrap_or(u64::MAX) {
        return Err(CliError::usage(format!(
            "`{named}` is not a plan: it is {} bytes; the limit is {MAX_PLAN_BYTES}",
            meta.len()
        ))
        .hint("put what is long into files that the plan names"));
    }
    let bytes = std::fs::read(&path).map_err(cannot)?;
    String::from_utf8(bytes).map_err(|_| {
        CliError::usage(format!("`{named}` is not a plan: it is not text"))
            .hint("a plan is a file in Markdown, in UTF-8")
    })
}

/// The plan that a text is, or why it is none and what one looks like.
pub(super) fn parse(file: &Path, text: &str) -> Result<ParsedPlan, CliError> {
    model::plan::read(text).map_err(|error| {
        let cli_error = CliError::usage(format!("`{}` is not a plan: {error}", file.display()));
        if error.line.is_some() {
            return cli_error.hint("`adjutant plan run --help` describes the format");
        }
        let line =
            |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("\n    {line}") };
        let example: String = EXAMPLE_PLAN.lines().map(line).collect();
        cli_error.hint(format!("a plan such as\n{example}"))
    })
}

fn shown(step: &ParsedStep) -> Value {
    json!({
        "number": step.number, "title": step.title, "line": step.line, "text": step.text,
        "dependsOn": step.needs, "done": step.is_done, "role": step.role,
        "budgetUsd": step.budget.map(Usd::dollars),
    })
}

fn told(path: &str, plan: &ParsedPlan) -> String {
    let mut page = Page::default();
    let steps = count(plan.steps.len(), "step");
    page.line(match &plan.title {
        Some(title) => format!("{}  {}", bold(line(title)), dim(format!("{steps} in {path}"))),
        None => format!("{}  {}", bold(path), dim(steps)),
    });
    for step in &plan.steps {
        let title = short(&step.title, WIDTH - 8);
        page.line(format_args!("{:>3}  {title}", step.number));
        let mut facts = Vec::new();
        if step.is_done {
            facts.push(good("done"));
        }
        if !step.needs.is_empty() {
            let needs: Vec<String> = step.needs.iter().map(u32::to_string).collect();
            facts.push(dim(format!("after {}", needs.join(", "))));
        }
        facts.extend(step.role.as_ref().map(|role| dim(format!("role {}", line(role)))));
        facts.extend(
            step.budget.map(|budget| dim(format!("at most ${:.2} an agent", budget.dollars()))),
        );
        if !facts.is_empty() {
            page.line(format_args!("     {}", facts.join(&dim(", "))));
        }
    }
    page.into_text()
}
