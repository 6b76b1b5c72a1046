//! `adjutant doctor`.

use crate::app::App;
use crate::doctor::{self, Check, Status};
use crate::render::{bad, good, name, odd, wrapped};
use crate::trouble::Trouble;

/// Looks at everything; exits with 1 where something does not work.
pub(crate) fn run(app: &App) -> Result<(), Trouble> {
    let checks = doctor::examine(app.global.home.as_deref(), &app.env);
    let well = doctor::is_well(&checks);
    let value = serde_json::json!({ "ok": well, "checks": checks });
    app.render.answer(&value, || text(&checks))?;
    if well { Ok(()) } else { Err(Trouble::said(1)) }
}

fn text(checks: &[Check]) -> String {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for check in checks {
        let mark = match check.status {
            Status::Ok => good("ok  "),
            Status::Warn => odd("odd "),
            Status::Fail => bad("bad "),
        };
        let gap = " ".repeat(width - check.name.len());
        let margin = format!("\n{:indent$}", "", indent = width + 7);
        let set = |text: &str| wrapped(text, 73 - width).join(&margin);
        text.push_str(&format!("{mark} {}{gap}  {}\n", check.name, set(&check.message)));
        if let Some(next) = &check.next {
            let next = set(&format!("try: {next}"));
            text.push_str(&format!("     {:width$}  {}\n", "", name(next)));
        }
    }
    text
}
