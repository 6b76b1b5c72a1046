//! `adjutant open`: the page in a browser, by a link that lets in once; and links for others, who may look.

use std::ffi::OsString;

use engine::Code;
use host::process::{self, Launch};
use host::program;
use serde_json::{Value, json};

use crate::app::{App, escaped, now, query};
use crate::cli::{OpenArgs, ShareArgs};
use crate::cli_error::Trouble;
use crate::environment::Environment;
use crate::terminal::render::{self, ago, count, dim, field, good, name, table};

/// Makes a link and opens it, or lists links, or takes one back.
pub(crate) async fn run(app: &App, args: &OpenArgs) -> Result<(), Trouble> {
    if app.env.agent_id.is_some() {
        return Err(Trouble::new(Code::PermissionDenied, "only the operator may open the page")
            .hint("use the agent's tools instead: `adjutant tool`"));
    }
    match (&args.revoke, args.links) {
        (Some(id), _) => revoke(app, id).await,
        (None, true) => list(app).await,
        (None, false) if args.share.read_only => share(app, &args.share).await,
        (None, false) => open(app, args).await,
    }
}

/// The operator's own link: into a browser where there is one and somebody looks on, else only printed.
async fn open(app: &App, args: &OpenArgs) -> Result<(), Trouble> {
    let wanted = !args.print && !app.render.is_json() && render::is_terminal();
    let link = app.client().await?.post_json("/api/links", &json!({})).await?;
    let url = field(&link, "url");
    let browser = if wanted { browser(&app.env, &url) } else { None };
    if browser.is_some_and(|launch| process::start_in_own_group(&launch).is_ok()) {
        app.render.aside(&format!("The page opens in your browser. If it does not:\n  {url}"))?;
    } else {
        app.render.answer(&link, || url)?;
    }
    Ok(app.render.aside(&dim("The link works once, within 10 minutes; then run this again."))?)
}

async fn share(app: &App, share: &ShareArgs) -> Result<(), Trouble> {
    let wish = json!({ "readOnly": true, "days": share.days });
    let link = app.client().await?.post_json("/api/links", &wish).await?;
    let (url, id) = (field(&link, "url"), field(&link, "id"));
    app.render.answer(&link, || url.clone())?;
    app.render.aside(&format!(
        "Whoever has this link can look at everything and do nothing, until {}.\n\
         They must be able to reach that address. Revoke it with {}",
        day(&link["expiresAt"]),
        name(format!("adjutant open --revoke {id}")),
    ))?;
    Ok(())
}

async fn list(app: &App) -> Result<(), Trouble> {
    let client = app.client().await?;
    let (mut links, mut after) = (Vec::new(), None);
    loop {
        let page = client.get_json(&query("/api/links", [("after", after)])).await?;
        links.extend(page["links"].as_array().cloned().unwrap_or_default());
        after = page["nextCursor"].as_str().map(str::to_owned);
        if after.is_none() {
            break;
        }
    }
    let value = json!({ "links": links });
    Ok(app.render.answer(&value, || {
        if links.is_empty() {
            return format!("No links. Create one with {}", name("adjutant open"));
        }
        let rows = links.iter().map(|link| {
            let rights = if link["readOnly"] == true { "looking" } else { "acting" };
            let uses = match link["usesLeft"].as_u64() {
                Some(0) => "used",
                Some(_) => "once",
                None => "often",
            };
            let [id, tabs] = ["id", "tabs"].map(|key| field(link, key));
            let made = format!("{} ago", ago(&link["createdAt"], now()));
            [id, rights.to_owned(), uses.to_owned(), tabs, made, day(&link["expiresAt"])]
        });
        table(["ID", "FOR", "WORKS", "TABS", "MADE", "UNTIL"], rows)
    })?)
}

async fn revoke(app: &App, id: &str) -> Result<(), Trouble> {
    let client = app.client().await?;
    let path = format!("/api/links/{}/revoke", escaped(id));
    let done = client.post_json(&path, &json!({})).await?;
    let tabs = usize::try_from(done["tabs"].as_u64().unwrap_or_default()).unwrap_or_default();
    Ok(app.render.answer(&done, || {
        let what = if id == "all" { "Every link is" } else { "The link is" };
        good(format!(
            "{what} taken back; {} put out.",
            match tabs {
                1 => "1 tab was".to_owned(),
                some => format!("{} were", count(some, "tab")),
            }
        ))
    })?)
}

/// Day and minute, as people write them.
fn day(at: &Value) -> String {
    let text = at.as_str().unwrap_or_default();
    let minute: String = text.chars().take(16).collect();
    format!("{} UTC", minute.replace('T', " "))
}

/// The program that shows an address: one of `$BROWSER`, else the system's own where there is a screen.
fn browser(env: &Environment, url: &str) -> Option<Launch> {
    let path = env.variable("PATH").unwrap_or_default();
    let find = |words: Vec<String>| {
        let (program, rest) = words.split_first()?;
        let mut arguments: Vec<OsString> =
            rest.iter().map(|word| word.replace("%s", url).into()).collect();
        if !rest.iter().any(|word| word.contains("%s")) {
            arguments.push(url.into());
        }
        Some(Launch {
            program: program::find(program, &path, &env.cwd)?,
            arguments,
            environment: env.vars.clone(),
            directory: env.cwd.clone(),
        })
    };
    let own = env.variable("BROWSER").unwrap_or_default();
    if let Some(launch) = own.split(':').find_map(|one| find(shlex::split(one)?)) {
        return Some(launch);
    }
    if cfg!(target_os = "macos") {
        return find(vec!["open".to_owned()]);
    }
    let screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env.variable(name).is_some());
    if screen { find(vec!["xdg-open".to_owned()]) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// A folder with programs of these names, and an environment that looks for them there.
    fn env(programs: &[&str], more: &[(&str, &str)]) -> (tempfile::TempDir, Environment) {
        let dir = tempfile::tempdir().unwrap();
        for program in programs {
            let path = dir.path().join(program);
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = dir.path().to_str().unwrap().to_owned();
        let vars = more.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let env = Environment::from_vars("/", vars.chain([("PATH", path)]));
        (dir, env)
    }

    fn chosen(env: &Environment) -> Option<(String, Vec<OsString>)> {
        let launch = browser(env, "URL")?;
        Some((launch.program.file_name()?.to_str()?.to_owned(), launch.arguments))
    }

    #[test]
    fn the_browser_of_the_environment_comes_first_and_gets_the_address() {
        let programs = ["chrome", "xdg-open"];
        let (_dir, set) =
            env(&programs, &[("BROWSER", "absent:chrome --app=%s -x"), ("DISPLAY", ":0")]);
        let (program, arguments) = chosen(&set).unwrap();
        assert_eq!(
            (program.as_str(), arguments),
            ("chrome", vec!["--app=URL".into(), "-x".into()])
        );
        let (_dir, bare) = env(&programs, &[("BROWSER", "chrome")]);
        assert_eq!(chosen(&bare).unwrap().1, [OsString::from("URL")]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn without_a_screen_no_browser_is_started() {
        let (_dir, none) = env(&["xdg-open"], &[]);
        assert_eq!(chosen(&none), None);
        let (_dir, screen) = env(&["xdg-open"], &[("WAYLAND_DISPLAY", "wayland-0")]);
        assert_eq!(chosen(&screen).unwrap().0, "xdg-open");
        let (_dir, bare) = env(&[], &[("DISPLAY", ":0")]);
        assert_eq!(chosen(&bare), None);
    }

    #[test]
    fn a_time_is_told_to_the_minute() {
        assert_eq!(day(&json!("2026-11-15T21:45:09.123Z")), "2026-11-15 21:45 UTC");
    }
}
