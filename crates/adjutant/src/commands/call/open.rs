//! `adjutant open`: the page in a browser, by a link that works once; and read-only links for others.

use std::ffi::OsString;

use engine::Code;
use host::process::{self, Launch};
use host::program;
use model::Timestamp;
use serde_json::{Map, json};
use wire::login::{CreatedLink, LinkList, LinkRequest, LinkView, RevokedLinks};

use crate::app::{App, escaped, now, query};
use crate::cli::{OpenArgs, ShareArgs};
use crate::cli_error::CliError;
use crate::client::{Answer, Client, all_rows};
use crate::environment::Environment;
use crate::terminal::render::{self, age, count, dim, good, line, name, table};

/// Creates a link and opens it, lists links, or revokes one.
pub(crate) async fn run(app: &App, args: &OpenArgs) -> Result<(), CliError> {
    if app.env.agent_id.is_some() {
        return Err(CliError::new(Code::PermissionDenied, "only the operator may open the page")
            .hint("use the agent's tools instead: `adjutant tool`"));
    }
    match (&args.revoke, args.links) {
        (Some(id), _) => revoke(app, id).await,
        (None, true) => list(app).await,
        (None, false) if args.share.read_only => share(app, &args.share).await,
        (None, false) => open(app, args).await,
    }
}

/// Opens the operator's own link in a browser if there is one and a person at the terminal; prints it otherwise.
async fn open(app: &App, args: &OpenArgs) -> Result<(), CliError> {
    let wanted = !args.print && !app.render.is_json() && render::is_terminal();
    let client = app.client().await?;
    let link: Answer<CreatedLink> = client.post("/api/links", &json!({})).await?;
    let link = seen_from_here(app, &client, link)?;
    let url = line(&link.url);
    let browser = if wanted { browser(&app.env, &url) } else { None };
    if browser.is_some_and(|launch| process::start_in_own_group(&launch).is_ok()) {
        app.render.aside(&format!("The page opens in your browser. If it does not:\n  {url}"))?;
    } else {
        app.render.answer(&link, || url)?;
    }
    Ok(app.render.aside(&dim("The link works once, within 10 minutes; then run this again."))?)
}

async fn share(app: &App, share: &ShareArgs) -> Result<(), CliError> {
    let request = LinkRequest { read_only: true, days: share.days };
    let client = app.client().await?;
    let link: Answer<CreatedLink> = client.post("/api/links", &request).await?;
    let link = seen_from_here(app, &client, link)?;
    app.render.answer(&link, || line(&link.url))?;
    app.render.aside(&format!(
        "Anyone with this link can see everything and change nothing, until {}.\n\
         They must be able to reach that address. Revoke it with {}",
        to_the_minute(link.expires_at),
        name(format!("adjutant open --revoke {}", link.id)),
    ))?;
    Ok(())
}

/// The link with the address under which this command line reaches the server, where that is on another machine: the
/// server itself only knows its own.
fn seen_from_here(
    app: &App,
    client: &Client,
    link: Answer<CreatedLink>,
) -> Result<Answer<CreatedLink>, CliError> {
    let code = link.url.split_once('#').filter(|_| link.url.contains("://"));
    let (Some((_, code)), true) = (code, app.remote_server()?.is_some()) else { return Ok(link) };
    let url = json!(format!("{}/#{code}", client.url()));
    let changed = link.with_fields(Map::from_iter([("url".to_owned(), url)]));
    changed.map_err(|error| CliError::new(Code::InternalError, error.to_string()))
}

async fn list(app: &App) -> Result<(), CliError> {
    let client = app.client().await?;
    let links = all_rows::<LinkList, CliError>(async |after| {
        Ok(client.get(&query("/api/links", [("after", after)])).await?)
    })
    .await?;
    Ok(app.render.answer(&json!({ "links": links }), || {
        if links.is_empty() {
            return format!("No links. Create one with {}", name("adjutant open"));
        }
        let rows = links.iter().map(|link| row(link));
        table(["ID", "FOR", "WORKS", "TABS", "MADE", "UNTIL"], rows)
    })?)
}

fn row(link: &LinkView) -> [String; 6] {
    let rights = if link.read_only { "looking" } else { "acting" };
    let uses = match link.uses_left {
        Some(0) => "used",
        Some(_) => "once",
        None => "often",
    };
    [
        link.id.to_string(),
        rights.to_owned(),
        uses.to_owned(),
        link.tabs.to_string(),
        format!("{} ago", age(link.created_at, now())),
        to_the_minute(link.expires_at),
    ]
}

async fn revoke(app: &App, id: &str) -> Result<(), CliError> {
    let client = app.client().await?;
    let path = format!("/api/links/{}/revoke", escaped(id));
    let revoked: Answer<RevokedLinks> = client.post(&path, &json!({})).await?;
    Ok(app.render.answer(&revoked, || {
        let what = if id == "all" { "Every link is" } else { "The link is" };
        let tabs = match revoked.tabs {
            1 => "1 tab was".to_owned(),
            tabs => format!("{} were", count(tabs, "tab")),
        };
        good(format!("{what} taken back; {tabs} put out."))
    })?)
}

/// Day and minute, as people write them.
fn to_the_minute(at: Timestamp) -> String {
    let minute: String = at.to_string().chars().take(16).collect();
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
        let at = "2026-11-15T21:45:09.123Z".parse().unwrap();
        assert_eq!(to_the_minute(at), "2026-11-15 21:45 UTC");
    }
}
