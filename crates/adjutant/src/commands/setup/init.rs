//! `adjutant init`.

use crate::app::App;
use crate::cli_error::CliError;
use crate::home::Home;
use crate::init::{self, Report};
use crate::terminal::render::{Page, dim, good, name, wrapped};

/// Makes a home.
pub(crate) fn run(app: &App) -> Result<(), CliError> {
    let home = Home::for_init(app.global.home.as_deref(), &app.env);
    let report = init::init(&home)?;
    Ok(app.render.answer(&report, || text(&home, &report))?)
}

fn text(home: &Home, report: &Report) -> String {
    let shown = |path: &std::path::PathBuf| {
        path.strip_prefix(&home.root).unwrap_or(path).display().to_string()
    };
    let mut page = Page::default();
    if report.written.is_empty() {
        page.line(format_args!("{} is already complete", home.dir.display()));
    } else {
        page.line(format_args!("Created a home in {}", home.dir.display()));
    }
    for path in &report.written {
        page.line(format_args!("  {}  {}", good("new "), shown(path)));
    }
    for path in &report.kept {
        page.line(format_args!("  {}  {}", dim("kept"), shown(path)));
    }
    page.line("\nNext:");
    let width = report.next.iter().map(|step| step.command.len()).max().unwrap_or_default();
    for step in &report.next {
        let gap = " ".repeat(width - step.command.len());
        let margin = format!("\n{:indent$}", "", indent = width + 4);
        let purpose = wrapped(step.purpose, 76 - width).join(&margin);
        page.line(format_args!("  {}{gap}  {purpose}", name(step.command)));
    }
    page.into_text()
}
