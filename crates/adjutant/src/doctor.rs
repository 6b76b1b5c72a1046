//! `adjutant doctor`: checks everything that Adjutant depends on, changes nothing, and advises.

mod git;
mod mcp_servers;
mod postgres;
mod provision;
pub(crate) mod server_view;
pub(crate) mod slack;
mod webhooks;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::Policy;
use serde::Serialize;

use crate::config::{Config, Kind, Loaded};
use crate::crew::roles;
use crate::environment::Environment;
use crate::home::Home;
use crate::yaml::Problem;

/// The command that accepts that commits are gone.
pub(crate) const SETTLE_COMMAND: &str = "adjutant worktrees check --settle";
/// Timeout of a health check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);
/// Less free than this, and the record may soon not be written.
const MIN_FREE_BYTES: u64 = 1 << 30;
/// Less free than this, and it is about to stop.
const EMPTY: u64 = 100 << 20;

/// Status of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// As it should be
    Ok,
    /// Something will not work, but Adjutant does
    Warn,
    /// Adjutant does not work
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Check {
    /// Name of the check
    pub(crate) name: &'static str,
    /// Health
    pub(crate) status: Status,
    /// Finding
    pub(crate) message: String,
    /// Advice
    pub(crate) next: Option<String>,
    /// The lines of the file that is at fault, for people
    #[serde(skip)]
    pub(crate) excerpt: Option<String>,
}

impl Check {
    fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, message: message.into(), next: None, excerpt: None }
    }

    fn warn(name: &'static str, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self { status: Status::Warn, next: Some(next.into()), ..Self::ok(name, message) }
    }

    fn fail(name: &'static str, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self { status: Status::Fail, next: Some(next.into()), ..Self::ok(name, message) }
    }

    /// The same, with the lines that it is about.
    fn showing(self, problem: &Problem) -> Self {
        Self { excerpt: crate::terminal::render::excerpt(problem), ..self }
    }
}

/// True if nothing failed.
pub(crate) fn is_well(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.status != Status::Fail)
}

/// Looks at everything.
pub(crate) fn examine(flag: Option<&Path>, env: &Environment) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut config = Config::default();
    match Home::find(flag, env) {
        Ok(home) => {
            checks.push(Check::ok("home", home.dir.display().to_string()));
            config = settings(&home, env, &mut checks);
            checks.extend(secrets(&home, env));
            checks.push(database(&config.database_path(&home)));
            checks.extend(postgres::look(&home, &config, env));
            checks.extend(state(&home));
            checks.push(server(&home, env));
            checks.push(room(&home.dir));
            checks.extend(git::worktrees(&home.root, env));
            checks.extend(provision::look(&home, &config, env));
            checks.extend(git::agreement(&home, env));
        }
        Err(error) => {
            let next = "run `adjutant init` in your project, or name a home with `--home DIR`";
            checks.push(Check::fail("home", error.to_string(), next));
        }
    }
    checks.extend(webhooks::look(&config, env));
    checks.extend(programs(&config, env));
    let token = &config.github.token_variable;
    checks.push(if env.variable(token).is_some() {
        Check::ok("github", format!("`{token}` is set"))
    } else {
        let next = "set it before `adjutant up` to open pull requests and issues";
        Check::warn("github", format!("`{token}` is not set"), next)
    });
    checks
}

/// The configuration and the roles. Gives the configuration for the other checks.
fn settings(home: &Home, env: &Environment, checks: &mut Vec<Check>) -> Config {
    let config = match Config::load(home, env, &[]) {
        Ok(Loaded { config, warnings }) => {
            let path = home.config().display().to_string();
            checks.push(if warnings.is_empty() {
                Check::ok("config", path)
            } else {
                Check::warn("config", warnings.join("; "), "unset or rename it")
            });
            config
        }
        Err(problem) => {
            let next = problem.help.clone().unwrap_or_else(|| "mend that line".to_owned());
            let check = Check::fail("config", problem.to_string(), next);
            checks.push(check.showing(&problem));
            Config::default()
        }
    };
    // One that makes no policy was refused above; the built-in one lets us look at the roles.
    let policy = config.policy().unwrap_or_else(|_| Policy::default());
    let report = roles::load(home, &policy);
    let next = |problem: &Problem, or: &str| problem.help.clone().unwrap_or_else(|| or.to_owned());
    for problem in &report.errors {
        let next = next(problem, "mend the file; until then the role is not there");
        checks.push(Check::fail("roles", problem.to_string(), next).showing(problem));
    }
    for problem in &report.warnings {
        let next = next(problem, "rename or remove it");
        checks.push(Check::warn("roles", problem.to_string(), next).showing(problem));
    }
    for (key, name) in [("review.role", &config.review.role), ("plan.role", &config.plan.role)] {
        if !report.roles.contains_key(name) {
            let message = format!("`{key}` names `{name}`, and there is no such role");
            checks.push(Check::warn("roles", message, format!("write `roles/{name}.md`")));
        }
    }
    checks.extend(mcp_servers::look(home, &config, &report.roles, env));
    checks.push(match report.roles.len() {
        0 => Check::warn("roles", "there is none", "run `adjutant init` for examples"),
        many => Check::ok("roles", format!("{many} can be used")),
    });
    config
}

/// Files that only their owner may read.
fn secrets(home: &Home, env: &Environment) -> Vec<Check> {
    let mut checks = Vec::new();
    match home.operator_token_file(env) {
        Ok(path) if path.exists() => {
            checks.push(private("token", &path, 0o600));
            checks.extend(path.parent().map(|dir| private("token", dir, 0o700)));
        }
        Ok(_) => checks.push(Check::ok("token", "not made yet; the first `adjutant up` makes it")),
        Err(error) => checks.push(Check::fail("token", error.to_string(), "set `HOME`")),
    }
    let server = home.server_file();
    if server.exists() {
        checks.push(private("server.json", &server, 0o600));
    }
    checks
}

/// Where the record and the run folders are, and who may read them.
fn state(home: &Home) -> Vec<Check> {
    let dir = home.state_dir();
    let mut checks = Vec::new();
    if let Some(wanted) = home.wanted_state_dir() {
        let message = format!("`{}` is moved to `{}`", dir.display(), wanted.display());
        let next = "run `adjutant down` and `adjutant up`, once no agent runs";
        checks.push(Check::warn("state", message, next));
    } else if dir.exists() {
        checks.push(private("state", dir, 0o700));
    }
    checks
}

/// Checks that only the owner can access a file or folder.
fn private(name: &'static str, path: &Path, wanted: u32) -> Check {
    let shown = path.display();
    match fs::metadata(path).map(|meta| meta.permissions().mode() & 0o777) {
        // Nothing beyond what the owner needs: no bit for group and others.
        Ok(mode) if mode & !0o700 == 0 => Check::ok(name, format!("`{shown}` is yours alone")),
        Ok(mode) => {
            let message = format!("others can read `{shown}` (mode {mode:o})");
            Check::fail(name, message, format!("run `chmod {wanted:o} '{shown}'`"))
        }
        Err(error) => {
            Check::fail(name, format!("cannot look at `{shown}`: {error}"), "check its folder")
        }
    }
}

/// Checks that the database is readable and its schema is known.
pub(crate) fn database(path: &Path) -> Check {
    let shown = path.display();
    let mut header = [0_u8; 100];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    match read {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Check::ok("database", "not made yet; the first `adjutant up` makes it");
        }
        // An empty file is what a database is before its first page.
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            return match fs::metadata(path) {
                Ok(meta) if meta.len() == 0 => Check::ok("database", format!("`{shown}` is empty")),
                _ => not_a_database(path),
            };
        }
        Err(error) => {
            let next = "check who owns it and its folder";
            return Check::fail("database", format!("cannot read `{shown}`: {error}"), next);
        }
        Ok(()) => {}
    }
    if !header.starts_with(b"SQLite format 3\0") {
        return not_a_database(path);
    }
    let found = match engine::schema_version(path) {
        Ok(found) => found,
        Err(error) => {
            let next = "stop the server and look at it with `sqlite3`, or restore a copy";
            return Check::fail("database", format!("cannot open `{shown}`: {error}"), next);
        }
    };
    let known = engine::SCHEMA_VERSION;
    if found > known {
        let message = format!("`{shown}` has schema {found}, and this Adjutant knows {known}");
        return Check::fail("database", message, "install the newer Adjutant that made it");
    }
    Check::ok("database", format!("`{shown}`, schema {found} of {known}"))
}

fn not_a_database(path: &Path) -> Check {
    let message = format!("`{}` is not a database", path.display());
    Check::fail("database", message, "move it away, or set `database` to another file")
}

/// Checks that a server runs and answers.
fn server(home: &Home, env: &Environment) -> Check {
    if let Some(before) = home.before_rename() {
        let message = format!(
            "the project was at `{}` when its server was started, and is at `{}` now",
            before.root.display(),
            home.root.display()
        );
        let next = "run `adjutant down`, then `adjutant up --detach`";
        return Check::fail("server", message, next);
    }
    let file = match home.read_server() {
        Ok(Some(file)) => file,
        Ok(None) => return Check::ok("server", "none runs; it starts when it is needed"),
        Err(error) => {
            return Check::fail("server", error.to_string(), "remove it and run `adjutant up`");
        }
    };
    match is_healthy(&file.url) {
        Ok(()) if git::is_ours(home, env, &file.url) => {
            Check::ok("server", format!("{} answers (process {})", file.url, file.pid))
        }
        Ok(()) => Check::warn(
            "server",
            format!("what listens at {} is not the server of this home", file.url),
            "run `adjutant down`, then `adjutant up`",
        ),
        Err(why) => Check::warn(
            "server",
            format!("{} does not answer: {why}", file.url),
            format!("run `adjutant up`; `{}` says what happened", home.server_log().display()),
        ),
    }
}

/// Asks `/healthz`. One request needs no client library and no runtime.
fn is_healthy(url: &str) -> Result<(), String> {
    let host = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/');
    let ask = || -> std::io::Result<String> {
        let address = host.to_socket_addrs()?.next().ok_or(std::io::ErrorKind::NotFound)?;
        let mut stream = TcpStream::connect_timeout(&address, CHECK_TIMEOUT)?;
        stream.set_read_timeout(Some(CHECK_TIMEOUT))?;
        stream.set_write_timeout(Some(CHECK_TIMEOUT))?;
        let request = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        // The first line tells; a stranger on that port may never stop talking.
        let mut status = String::new();
        BufReader::new(stream.take(4096)).read_line(&mut status)?;
        Ok(status)
    };
    let status = ask().map_err(|error| error.to_string())?;
    if status.split(' ').nth(1) == Some("200") {
        Ok(())
    } else {
        Err(format!("`{}`", status.trim_end()))
    }
}

/// Checks the free disk space.
fn room(path: &Path) -> Check {
    let free = match host::files::free_bytes(path) {
        Ok(free) => free,
        Err(error) => return Check::warn("disk", error.to_string(), "check the folder"),
    };
    let message = format!("{} MiB free", free >> 20);
    match free {
        0..EMPTY => Check::fail("disk", message, "make room: the record must be written"),
        EMPTY..MIN_FREE_BYTES => Check::warn("disk", message, "make room soon"),
        MIN_FREE_BYTES.. => Check::ok("disk", message),
    }
}

/// The programs that agents and tools use.
fn programs(config: &Config, env: &Environment) -> Vec<Check> {
    let known = |name: &'static str, next: &str| (name, name.to_owned(), next.to_owned());
    let mut wanted = vec![
        known("git", "worktrees, diffs and reviews need it: install `git`"),
        known("tmux", "roles with `tmux: true` need it: install `tmux`"),
    ];
    for kind in Kind::all() {
        let Some(install) = kind.install() else { continue };
        let name = kind.name();
        let program = config.agents.runner(kind).binary.unwrap_or_else(|| name.to_owned());
        wanted.push((name, program, format!("agents of kind `{name}` need it: `{install}`")));
    }
    wanted.push(known("node", "many agents need it: install Node.js 22 or newer"));
    wanted
        .into_iter()
        .map(|(name, program, next)| match which(&program, env.path.as_deref()) {
            Some(path) => Check::ok(name, path.display().to_string()),
            None => Check::warn(name, format!("`{program}` is not on the PATH"), next),
        })
        .collect()
}

/// Where a program is.
fn which(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        fs::metadata(path)
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(runs);
    }
    std::env::split_paths(path?).map(|dir| dir.join(program)).find(runs)
}

#[cfg(test)]
mod tests;
