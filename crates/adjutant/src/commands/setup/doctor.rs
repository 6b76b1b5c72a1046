//! `adjutant doctor`.

use crate::app::App;
use crate::cli::DoctorArgs;
use crate::cli_error::CliError;
use crate::doctor::server_view::{self, Providers};
use crate::doctor::{self, Check, Status};
use crate::runtime::one_thread;
use crate::terminal::render::{Page, bad, good, name, odd, wrapped};

/// Looks at everything; exits with 1 where something does not work.
pub(crate) fn run(app: &App, args: &DoctorArgs) -> Result<(), CliError> {
    let providers = if args.online { Providers::Online } else { Providers::Offline };
    let home = app.global.home.as_deref();
    // Some of these checks wait on a runtime of their own.
    let mut checks = doctor::examine(home, &app.env);
    checks.extend(one_thread()?.block_on(async {
        let mut asked = server_view::look(app, providers).await;
        asked.extend(doctor::slack::look(home, &app.env).await);
        asked
    }));
    let well = doctor::is_well(&checks);
    let value = serde_json::json!({ "ok": well, "checks": checks });
    app.render.answer(&value, || text(&checks))?;
    if well { Ok(()) } else { Err(CliError::reported(1)) }
}

fn text(checks: &[Check]) -> String {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
    let mut page = Page::default();
    for check in checks {
        let mark = match check.status {
            Status::Ok => good("ok  "),
            Status::Warn => odd("odd "),
            Status::Fail => bad("bad "),
        };
        let gap = " ".repeat(width - check.name.len());
        let margin = format!("\n{:indent$}", "", indent = width + 7);
        let set = |text: &str| wrapped(text, 73 - width).join(&margin);
        page.line(format_args!("{mark} {}{gap}  {}", check.name, set(&check.message)));
        for line in check.excerpt.iter().flat_map(|excerpt| excerpt.lines()) {
            page.line(format_args!("     {:width$}  {line}", ""));
        }
        if let Some(next) = &check.next {
            let next = set(&format!("try: {next}"));
            page.line(format_args!("     {:width$}  {}", "", name(next)));
        }
    }
    page.into_text()
}
