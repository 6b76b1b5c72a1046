//! `adjutant loop`: one agent after the other on the same specification, until it is done.

mod follow;
mod show;

use std::path::{Path, PathBuf};

use engine::{Code, LOOP_TEMPLATE};
use serde_json::{Map, Value, json};

use self::show::{listed, status};
use crate::app::{App, escaped, query};
use crate::cli::{LoopArgs, LoopVerb};
use crate::cli_error::Trouble;
use crate::commands::call::tool::text_or_stdin;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{bold, field, line, name};

/// The exit code where a loop did not come to a good end.
const NO_GOOD_END: u8 = 1;
/// No file that a loop is told of is larger.
const LARGEST: u64 = 512 << 10;

/// Starts a loop, or does something with one.
pub(crate) async fn run(app: &App, args: LoopArgs) -> Result<(), Trouble> {
    match args.verb {
        None => start(app, args).await,
        Some(LoopVerb::List) => list(app).await,
        Some(LoopVerb::Status { name }) => {
            let whole = app.client().await?.get_json(&path_of(&name)).await?;
            Ok(app.render.answer(&whole, || status(&whole))?)
        }
        Some(LoopVerb::Pause { name: which, now }) => {
            let body = json!({ "now": now });
            let one = act(app, &which, ("pause", &body)).await?;
            Ok(app.render.answer(&one, || {
                let when =
                    if now { "as soon as its agent is gone" } else { "when its iteration is over" };
                let how = name(format!("adjutant loop resume {}", line(&which)));
                format!("The loop {} pauses {when}.\nResume it with {how}", bold(line(&which)))
            })?)
        }
        Some(LoopVerb::Resume { name: which }) => {
            let one = act(app, &which, ("resume", &json!({}))).await?;
            Ok(app.render.answer(&one, || goes_on(&one))?)
        }
        Some(LoopVerb::Stop { name: which }) => {
            let one = act(app, &which, ("stop", &json!({}))).await?;
            Ok(app.render.answer(&one, || format!("The loop {} ends.", bold(line(&which))))?)
        }
        Some(LoopVerb::Say { name: which, text }) => {
            let body = json!({ "text": text_or_stdin(text)? });
            let said = act(app, &which, ("say", &body)).await?;
            Ok(app.render.answer(&said, || {
                format!("The next agent of {} receives it.", bold(line(&which)))
            })?)
        }
        Some(LoopVerb::Follow { name }) => {
            let mut steady = Steady::new(app).await?;
            let last = now_at(&mut steady).await?;
            follow::begin(app, &mut steady, &name).await?;
            see(app, steady, (&name, last)).await
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

async fn act(app: &App, name: &str, (what, body): (&str, &Value)) -> Result<Value, Trouble> {
    let path = format!("{}/{what}", path_of(name));
    Ok(app.client().await?.post_json(&path, body).await?)
}

/// Starts a loop or gives it more to do, and sees how it goes.
async fn start(app: &App, args: LoopArgs) -> Result<(), Trouble> {
    let named = args.name.unwrap_or_default();
    let mut wish = Map::from_iter([("name".to_owned(), Value::from(named.clone()))]);
    if let Some(file) = &args.spec {
        let text = read(app, file, "--spec")?;
        let path = app.env.cwd.join(file);
        let path = path.canonicalize().unwrap_or(path);
        wish.insert("spec".to_owned(), text.into());
        wish.insert("specPath".to_owned(), path.display().to_string().into());
    }
    if let Some(file) = &args.template {
        wish.insert("template".to_owned(), read(app, file, "--template")?.into());
    }
    // Without the `.` of `--cwd .`, for whoever reads it.
    let cwd = args.cwd.map(|dir| app.env.cwd.join(dir).components().collect::<PathBuf>());
    let cwd = cwd.map(|dir| dir.display().to_string());
    let given = [
        ("iterations", args.iterations.map(Value::from)),
        ("agent", args.agent.map(Value::from)),
        ("role", args.role.map(Value::from)),
        ("extra", args.extra.map(Value::from)),
        ("commit", args.commit.map(Value::from)),
        ("budget", args.budget.map(Value::from)),
        ("cwd", cwd.map(Value::from)),
    ];
    wish.extend(given.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    let mut steady = Steady::new(app).await?;
    let last = now_at(&mut steady).await?;
    let one = steady.client().post_json("/api/loops", &Value::Object(wish)).await?;
    if args.detach {
        return Ok(app.render.answer(&one, || goes_on(&one))?);
    }
    see(app, steady, (&named, last)).await
}

fn goes_on(one: &Value) -> String {
    let named = field(one, "name");
    let how = name(format!("adjutant loop follow {named}"));
    format!("The loop {} is running.\nFollow it with {how}", bold(&named))
}

/// The number of the last event.
async fn now_at(steady: &mut Steady<'_>) -> Result<i64, Trouble> {
    let answer = steady.get("/api/events?after=now&limit=1").await?;
    Ok(answer["last"].as_i64().unwrap_or_default())
}

/// A file that a loop is told of.
fn read(app: &App, file: &Path, flag: &str) -> Result<String, Trouble> {
    let (shown, path) = (file.display(), app.env.cwd.join(file));
    let cannot = |error: std::io::Error| {
        let code = match error.kind() {
            std::io::ErrorKind::NotFound => Code::ResourceNotFound,
            _ => Code::InvalidInput,
        };
        Trouble::new(code, format!("`{shown}` cannot be read: {error}"))
            .hint(format!("name a text file with `{flag}`"))
    };
    let about = std::fs::metadata(&path).map_err(cannot)?;
    if !about.is_file() {
        return Err(Trouble::usage(format!("`{shown}` is not a file"))
            .hint(format!("name a text file with `{flag}`")));
    }
    if about.len() > LARGEST {
        let bytes = about.len();
        return Err(Trouble::usage(format!("`{shown}` is {bytes} bytes; the limit is {LARGEST}"))
            .hint("say in it where the rest is: agents can read files themselves"));
    }
    std::fs::read_to_string(&path).map_err(cannot)
}

/// Shows how a loop goes until it waits or is over. Who looks away does not end it.
async fn see(app: &App, steady: Steady<'_>, (named, last): (&str, i64)) -> Result<(), Trouble> {
    let whole = tokio::select! {
        whole = follow::to_the_end(app, steady, (named, last)) => whole?,
        asked = tokio::signal::ctrl_c() => {
            asked?;
            return Err(Trouble::interrupted(format!("stopped waiting; the loop {named} keeps running"))
                .hint(format!("`adjutant loop follow {named}` follows it"))
                .hint(format!("`adjutant loop stop {named}` ends it")));
        }
    };
    let one = &whole["loop"];
    app.render.answer(&whole, || show::ended(one))?;
    match one["state"].as_str() {
        Some("completed" | "limit") => Ok(()),
        _ => Err(Trouble::said(NO_GOOD_END)),
    }
}

async fn list(app: &App) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let cursor = after.map(|after: i64| after.to_string());
        let mut page = steady.get(&query("/api/loops", [("after", cursor)])).await?;
        if let Value::Array(more) = page["loops"].take() {
            all.extend(more);
        }
        after = page["nextCursor"].as_i64();
        if after.is_none() {
            break;
        }
    }
    let answer = json!({ "loops": all });
    Ok(app.render.answer(&answer, || listed(&all))?)
}
