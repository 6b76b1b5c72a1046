//! `adjutant config`: the values in force, where the file is, and how it is changed.

mod change;

use engine::Code;
use model::nearest::nearest;
use serde_json::{Value, json};

use self::change::KeyEdit;
use crate::app::App;
use crate::cli::ConfigVerb;
use crate::cli_error::CliError;
use crate::config::{hide, key};
use crate::terminal::render::{Page, dim, plain};

/// Shows or changes the configuration.
pub(crate) fn run(app: &App, verb: ConfigVerb) -> Result<(), CliError> {
    match verb {
        ConfigVerb::Path => {
            let path = app.home()?.config().display().to_string();
            Ok(app.render.answer(&json!({ "path": path }), || path.clone())?)
        }
        ConfigVerb::Get { key } => get(app, key.as_deref()),
        ConfigVerb::Set { key, value } => change::run(app, &key, &KeyEdit::Set(value)),
        ConfigVerb::Unset { key } => change::run(app, &key, &KeyEdit::Unset),
    }
}

fn get(app: &App, key: Option<&str>) -> Result<(), CliError> {
    let config = app.config(&app.home()?, &[])?;
    let mut whole = serde_json::to_value(&config)
        .map_err(|error| CliError::new(Code::InternalError, error.to_string()))?;
    let mut leaves = config.leaves();
    hide(&mut whole);
    for (_, value) in &mut leaves {
        hide(value);
    }
    let Some(key) = key else { return Ok(app.render.answer(&whole, || listed(&leaves))?) };
    let path = key::path(&config, key);
    let value = key::at(&whole, &path).ok_or_else(|| unknown(key, &leaves))?;
    let section = path.join(".");
    let is_in = |name: &str| name != section && key::within(name, &section);
    let within: Vec<_> = leaves.iter().filter(|(name, _)| is_in(name)).cloned().collect();
    let text = || if within.is_empty() { shown(value) } else { listed(&within) };
    Ok(app.render.answer(value, text)?)
}

fn unknown(key: &str, leaves: &[(String, Value)]) -> CliError {
    let cli_error = CliError::new(Code::ResourceNotFound, format!("there is no key `{key}`"));
    match nearest(key, leaves.iter().map(|(name, _)| name.as_str())) {
        Some(near) => cli_error.hint(format!("did you mean `{near}`?")),
        None => cli_error.hint("`adjutant config get` lists them"),
    }
}

fn listed(leaves: &[(String, Value)]) -> String {
    let mut page = Page::default();
    for (name, value) in leaves {
        page.line(format_args!("{name}{} {}", dim(":"), shown(value)));
    }
    page.into_text()
}

/// A value as YAML has it, on a line.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => plain(text),
        other => plain(&other.to_string()),
    }
}
