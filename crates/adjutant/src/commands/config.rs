//! `adjutant config`: the values in force, and where the file is.

use engine::Code;
use model::nearest::nearest;
use serde_json::{Value, json};

use crate::app::App;
use crate::cli::ConfigVerb;
use crate::render::{Page, dim, plain};
use crate::trouble::Trouble;

/// Shows the configuration.
pub(crate) fn run(app: &App, verb: ConfigVerb) -> Result<(), Trouble> {
    let home = app.home()?;
    match verb {
        ConfigVerb::Path => {
            let path = home.config().display().to_string();
            Ok(app.render.answer(&json!({ "path": path }), || path.clone())?)
        }
        ConfigVerb::Get { key } => {
            let config = app.config(&home, &[])?;
            let whole = serde_json::to_value(&config)
                .map_err(|error| Trouble::new(Code::InternalError, error.to_string()))?;
            let leaves = config.leaves();
            match key {
                None => Ok(app.render.answer(&whole, || listed(&leaves))?),
                Some(key) => {
                    let value = whole
                        .pointer(&format!("/{}", key.replace('.', "/")))
                        .ok_or_else(|| unknown(&key, &leaves))?;
                    let within: Vec<_> = leaves
                        .iter()
                        .filter(|(name, _)| {
                            name.strip_prefix(&key).is_some_and(|rest| rest.starts_with('.'))
                        })
                        .cloned()
                        .collect();
                    let text = || if within.is_empty() { shown(value) } else { listed(&within) };
                    Ok(app.render.answer(value, text)?)
                }
            }
        }
    }
}

fn unknown(key: &str, leaves: &[(String, Value)]) -> Trouble {
    let trouble = Trouble::new(Code::ResourceNotFound, format!("there is no key `{key}`"));
    match nearest(key, leaves.iter().map(|(name, _)| name.as_str())) {
        Some(near) => trouble.hint(format!("did you mean `{near}`?")),
        None => trouble.hint("`adjutant config get` lists them"),
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
