//! `adjutant init`.

use crate::app::App;
use crate::home::Home;
use crate::init::{self, Report};
use crate::render::{dim, good, name, wrapped};
use crate::trouble::Trouble;

/// Makes a home.
pub(crate) fn run(app: &App) -> Result<(), Trouble> {
    let home = Home::for_init(app.global.home.as_deref(), &app.env);
    let report = init::init(&home)?;
    Ok(app.render.answer(&report, || text(&home, &report))?)
}

fn text(home: &Home, report: &Report) -> String {
    let shown = |path: &std::path::PathBuf| {
        path.strip_prefix(&home.root).unwrap_or(path).display().to_string()
    };
    let mut text = if report.written.is_empty() {
        format!("{} has everything already\n", home.dir.display())
    } else {
        format!("Made a home in {}\n", home.dir.display())
    };
    for path in &report.written {
        text.push_str(&format!("  {}  {}\n", good("new "), shown(path)));
    }
    for path in &report.kept {
        text.push_str(&format!("  {}  {}\n", dim("kept"), shown(path)));
    }
    text.push_str("\nNext:\n");
    let width = report.next.iter().map(|step| step.command.len()).max().unwrap_or_default();
    for step in &report.next {
        let gap = " ".repeat(width - step.command.len());
        let purpose = wrapped(step.purpose, 76 - width).join(&format!("\n{:indent$}", "", indent = width + 4));
        text.push_str(&format!("  {}{gap}  {purpose}\n", name(step.command)));
    }
    text
}
