//! `adjutant loop`: one agent after the other on the same specification, until it is done.

mod follow;
mod show;

use std::path::{Path, PathBuf};

use engine::{Code, LOOP_TEMPLATE};
use model::session::LoopState;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use wire::loops::{LoopDetails, LoopList, LoopMessageView, LoopView};

use self::show::{listed, status};
use super::event_log::EventLog;
use crate::app::{App, escaped, query};
use crate::cli::{LoopArgs, LoopVerb};
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::commands::call::tool::text_or_stdin;
use crate::commands::reconnect::Steady;
use crate::commands::server_process::reload::read_changes;
use crate::terminal::render::{bold, line, name};

/// Exit code of a loop that failed, was stopped or went over its budget.
const NO_GOOD_END: u8 = 1;
/// Upper bound on the size of a specification or template, in bytes.
const MAX_FILE: u64 = 512 << 10;

/// Starts a loop, or does something with one.
pub(crate) async fn run(app: &App, args: LoopArgs) -> Result<(), CliError> {
    match args.verb {
        None => start(app, args).await,
        Some(LoopVerb::List) => list(app).await,
        Some(LoopVerb::Status { name }) => {
            let details = app.client().await?.get::<LoopDetails>(&path_of(&name)).await?;
            Ok(app.render.answer(&details, || status(&details))?)
        }
        Some(LoopVerb::Pause { name: which, now }) => {
            let body = json!({ "now": now });
            let one: Answer<LoopView> = act(app, &which, "pause", &body).await?;
            Ok(app.render.answer(&one, || {
                let when =
                    if now { "as soon as its agent is gone" } else { "when its iteration is over" };
                let how = name(format!("adjutant loop resume {}", line(&which)));
                format!("The loop {} pauses {when}.\nResume it with {how}", bold(line(&which)))
            })?)
        }
        Some(LoopVerb::Resume { name: which }) => {
            let one: Answer<LoopView> = act(app, &which, "resume", &json!({})).await?;
            Ok(app.render.answer(&one, || goes_on(&one))?)
        }
        Some(LoopVerb::Stop { name: which }) => {
            let one: Answer<LoopView> = act(app, &which, "stop", &json!({})).await?;
            Ok(app.render.answer(&one, || format!("The loop {} ends.", bold(line(&which))))?)
        }
        Some(LoopVerb::Say { name: which, text }) => {
            let body = json!({ "text": text_or_stdin(text)? });
            let entry: Answer<LoopMessageView> = act(app, &which, "say", &body).await?;
            Ok(app.render.answer(&entry, || {
                format!("The next agent of {} receives it.", bold(line(&which)))
            })?)
        }
        Some(LoopVerb::Follow { name }) => {
            let mut steady = Steady::new(app).await?;
            let log = EventLog::from_now(&mut steady, follow::KINDS).await?;
            follow::begin(app, &mut steady, &name).await?;
            watch(app, steady, &name, log).await
        }
        Some(LoopVerb::Template) => {
            let value = json!({ "template": LOOP_TEMPLATE });
            Ok(app.render.answer(&value, || LOOP_TEMPLATE.to_owned())?)
        }
    }
}

fn path_of(name: &str) -> String {
    format!("/api/loops/{}", escaped(name))
}

/// Asks a loop to do something: `pause`, `resume`, `stop` or `say`.
async fn act<T: DeserializeOwned>(
    app: &App,
    name: &str,
    action: &str,
    body: &Value,
) -> Result<Answer<T>, CliError> {
    let path = format!("{}/{action}", path_of(name));
    Ok(app.client().await?.post(&path, body).await?)
}

/// Starts a loop or gives it more to do, and watches it unless it is detached.
async fn start(app: &App, args: LoopArgs) -> Result<(), CliError> {
    let named = args.name.unwrap_or_default();
    let mut request = Map::from_iter([("name".to_owned(), Value::from(named.clone()))]);
    if let Some(file) = &args.spec {
        let text = read(app, file, "--spec")?;
        let path = app.env.cwd.join(file);
        let path = path.canonicalize().unwrap_or(path);
        request.insert("spec".to_owned(), text.into());
        request.insert("specPath".to_owned(), path.display().to_string().into());
    }
    if let Some(file) = &args.template {
        request.insert("template".to_owned(), read(app, file, "--template")?.into());
    }
    // Without the `.` of `--cwd .`, for its reader.
    let cwd = args.cwd.map(|dir| app.folder_of_server(&dir, "--cwd")).transpose()?;
    let cwd = cwd.map(|dir| dir.components().collect::<PathBuf>().display().to_string());
    let given = [
        ("iterations", args.iterations.map(Value::from)),
        ("agent", args.agent.map(Value::from)),
        ("role", args.role.map(Value::from)),
        ("extra", args.extra.map(Value::from)),
        ("commit", args.commit.map(Value::from)),
        ("budget", args.budget.map(Value::from)),
        ("cwd", cwd.map(Value::from)),
    ];
    request.extend(given.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    let mut steady = Steady::new(app).await?;
    read_changes(app, steady.client()).await?;
    let log = EventLog::from_now(&mut steady, follow::KINDS).await?;
    let one = steady.client().post::<LoopView>("/api/loops", &request).await?;
    if args.detach {
        return Ok(app.render.answer(&one, || goes_on(&one))?);
    }
    watch(app, steady, &named, log).await
}

fn goes_on(one: &LoopView) -> String {
    let named = line(&one.name);
    let how = name(format!("adjutant loop follow {named}"));
    format!("The loop {} is running.\nFollow it with {how}", bold(&named))
}

/// Reads a specification or a template.
fn read(app: &App, file: &Path, flag: &str) -> Result<String, CliError> {
    let (shown, path) = (file.display(), app.env.cwd.join(file));
    let cannot = |error: std::io::Error| {
        let code = match error.kind() {
            std::io::ErrorKind::NotFound => Code::ResourceNotFound,
            _ => Code::InvalidInput,
        };
        CliError::new(code, format!("`{shown}` cannot be read: {error}"))
            .hint(format!("name a text file with `{flag}`"))
    };
    let about = std::fs::metadata(&path).map_err(cannot)?;
    if !about.is_file() {
        return Err(CliError::usage(format!("`{shown}` is not a file"))
            .hint(format!("name a text file with `{flag}`")));
    }
    if about.len() > MAX_FILE {
        let bytes = about.len();
        return Err(CliError::usage(format!(
            "`{shown}` is {bytes} bytes; the limit is {MAX_FILE}"
        ))
        .hint("say in it where the rest is: agents can read files themselves"));
    }
    std::fs::read_to_string(&path).map_err(cannot)
}

/// Shows how a loop goes until it waits or is over. An interrupt ends the watching, not the loop.
async fn watch(app: &App, steady: Steady<'_>, name: &str, log: EventLog) -> Result<(), CliError> {
    let details = tokio::select! {
        details = follow::to_the_end(app, steady, name, log) => details?,
        asked = tokio::signal::ctrl_c() => {
            asked?;
            return Err(CliError::interrupted(format!("stopped waiting; the loop {name} keeps running"))
                .hint(format!("`adjutant loop follow {name}` follows it"))
                .hint(format!("`adjutant loop stop {name}` ends it")));
        }
    };
    let one = &details.about;
    app.render.answer(&details, || show::ended(one))?;
    match one.state {
        LoopState::Completed | LoopState::Limit => Ok(()),
        _ => Err(CliError::reported(NO_GOOD_END)),
    }
}

async fn list(app: &App) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let all = steady.fetch_all::<LoopList>(|after| query("/api/loops", [("after", after)])).await?;
    let answer = json!({ "loops": all });
    Ok(app.render.answer(&answer, || listed(&all))?)
}
