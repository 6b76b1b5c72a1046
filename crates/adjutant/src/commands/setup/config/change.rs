//! `adjutant config set` and `unset`: changes one key in the file and reloads the server.

use engine::Code;
use serde_json::{Value, json};
use wire::server::{ReloadReport, SettingsChange};

use super::{shown, unknown};
use crate::app::App;
use crate::cli_error::CliError;
use crate::config::edit::{self, Refusal};
use crate::config::file::{self, TextFile};
use crate::config::{Config, hide, key};
use crate::home::Home;
use crate::server_process::connect::{self, ServerLocation};
use crate::terminal::render::{Page, dim, line, name, odd};
use crate::yaml::{self, Problem};

/// Requested change of a key.
#[derive(Debug)]
pub(super) enum KeyEdit {
    /// It gets this value, as it was typed
    Set(String),
    /// It goes, and its default counts
    Unset,
}

/// A change that was made.
#[derive(Debug)]
struct Change {
    key: String,
    path: Vec<String>,
    value: Value,
    previous: Value,
    /// The variable that decides the key whatever the file says
    variable: Option<String>,
}

/// Changes a key.
pub(super) fn run(app: &App, key: &str, edit: &KeyEdit) -> Result<(), CliError> {
    if app.env.agent_id.is_some() {
        return Err(CliError::new(Code::PermissionDenied, "only the operator may change settings")
            .hint("ask the operator by mail"));
    }
    let home = app.home()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // Held until the server has read the file, so that it has read the last change of several.
        let _lock = file::lock(&home).await?;
        let change = write(app, &home, key, edit)?;
        let (in_force, notes) = put_in_force(app, &change).await;
        let answer = json!({
            "key": change.key,
            "value": change.value,
            "previous": change.previous,
            "inForce": in_force,
            "notes": notes,
            "path": home.config().display().to_string(),
        });
        Ok(app.render.answer(&answer, || told(&change, &notes))?)
    })
}

fn told(change: &Change, notes: &[String]) -> String {
    let mut page = Page::default();
    let Change { key, value, previous, .. } = change;
    let was = if value == previous {
        dim("(as before)")
    } else {
        dim(format_args!("(was {})", shown(previous)))
    };
    page.line(format_args!("{}{} {} {was}", name(key), dim(":"), shown(value)));
    for note in notes {
        page.line(format_args!("  {} {note}", odd("note:")));
    }
    page.into_text()
}

/// Changes the file. Whatever is wrong leaves it as it was.
fn write(app: &App, home: &Home, key: &str, edit: &KeyEdit) -> Result<Change, CliError> {
    let file = TextFile::read(&home.config())?;
    let place = home.config().display().to_string();
    let read = Config::parse(&place, &file.text);
    // Correcting a wrong value begins with a file that cannot be used, but it must be YAML.
    let raw = yaml::parse::<Value>(&place, &file.text, &file.text);
    if let (Err(problem), Err(_)) = (&read, &raw) {
        return Err(problem.clone().into());
    }
    let config = read.as_ref().ok().cloned().unwrap_or_default();
    let path = key::path(&config, key);
    let whole = serde_json::to_value(&config).unwrap_or_default();
    let old = key::at(&whole, &path);
    let (text, after) = match edit {
        KeyEdit::Set(value) => {
            let readings = edit::readings(value, old);
            if !readings.iter().any(|new| key::is_known(&config, &path, &new.value)) {
                return Err(unknown(key, &config.leaves()));
            }
            first_that_fits(&place, readings.iter().map(|new| edit::set(&file.text, &path, new)))?
        }
        KeyEdit::Unset if !key::is_known(&config, &path, &Value::Null) => {
            return Err(unknown(key, &config.leaves()));
        }
        KeyEdit::Unset => first_that_fits(&place, std::iter::once(edit::unset(&file.text, &path)))?,
    };
    if text != file.text {
        file.write(&text)?;
    }
    let previous = match &read {
        Ok(_) => old.cloned(),
        Err(_) => raw.ok().and_then(|raw| key::at(&raw, &path).cloned()),
    };
    let value = serde_json::to_value(&after).ok().and_then(|whole| key::at(&whole, &path).cloned());
    let (mut value, mut previous) = (value.unwrap_or_default(), previous.unwrap_or_default());
    hide(&mut value);
    hide(&mut previous);
    let key = path.join(".");
    Ok(Change { variable: after.decider(&app.env, &key), key, path, value, previous })
}

/// The first text that is a whole configuration; else why the first one is none.
fn first_that_fits(
    place: &str,
    texts: impl Iterator<Item = Result<String, Refusal>>,
) -> Result<(String, Config), CliError> {
    let mut first = None;
    for text in texts {
        let problem = match text {
            Ok(text) => match Config::parse(place, &text) {
                Ok(config) => return Ok((text, config)),
                Err(problem) => problem,
            },
            Err(refusal) => Problem::of(&format!("{place}:{}", refusal.line), refusal.to_string()),
        };
        first.get_or_insert(problem);
    }
    let unchanged = "pass another value; the file is unchanged";
    Err(match first {
        Some(problem) => {
            let help = match &problem.help {
                Some(help) => format!("{help} The file is unchanged."),
                None => unchanged.to_owned(),
            };
            problem.with_help(Some(help)).into()
        }
        None => CliError::usage(unchanged),
    })
}

/// Tells the server that runs, and says whether the file's value counts from now on, and what
/// stands in the way.
async fn put_in_force(app: &App, change: &Change) -> (bool, Vec<String>) {
    let mut notes = Vec::new();
    if let Some(variable) = &change.variable {
        notes.push(format!("`{variable}` is set in the environment and overrides the file"));
    }
    let mut in_force = change.variable.is_none();
    match reload(app).await {
        Ok(None) => {}
        Ok(Some(report)) => {
            if key::is_read_at_start(&change.path) {
                in_force = false;
                let start = "the server reads this when it starts: `adjutant down`, then `up`";
                notes.push(start.to_owned());
            }
            let own = change.key.as_str();
            let others = report.changes.iter().filter(|other| !other.subject.starts_with(own));
            let also = |other: &SettingsChange| {
                format!("in force now: {}: {}", line(&other.subject), line(&other.change))
            };
            notes.extend(others.map(also));
        }
        Err(cli_error) => {
            in_force = false;
            let message = cli_error.message();
            notes.push(format!("the server did not reload: {message}; run `adjutant reload`"));
        }
    }
    (in_force, notes)
}

/// Makes the server of this home read its configuration again. Without one, the next one reads the file.
async fn reload(app: &App) -> Result<Option<ReloadReport>, CliError> {
    // The home's own server, whatever the environment names.
    let at = ServerLocation { url_override: None, ..app.place(&[])? };
    let Some(server) = connect::running(&at).await? else { return Ok(None) };
    let client = connect::client_of(&at, &server)?;
    Ok(Some(client.post::<ReloadReport>("/api/reload", &json!({})).await?.into_value()))
}
