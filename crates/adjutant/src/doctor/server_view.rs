//! Checks what the server sees: the programs of agents on its PATH, the variables that it hands on, the logins. A shell
//! in which a program works tells nothing of a server that was started elsewhere.

use wire::environment::{KindStatus, LoginStatus, ServerEnvironment};

use super::Check;
use crate::app::App;
use crate::client::{Answer, ClientError};
use crate::server_process::connect;

/// How closely to look at providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Providers {
    /// Without a call to them
    Offline,
    /// With the cheapest call to each
    Online,
}

/// Asks the server, and says so where none runs.
pub(crate) async fn look(app: &App, providers: Providers) -> Vec<Check> {
    let client = app.place(&[]).ok().and_then(|place| connect::locate(&place).ok().flatten());
    let Some(client) = client else {
        let next = "run `adjutant up --detach` first";
        return vec![match providers {
            Providers::Offline => Check {
                next: Some(next.to_owned()),
                ..Check::ok(
                    "agents",
                    "not asked: no server runs that could say what it sees of \
                    programs and logins",
                )
            },
            Providers::Online => {
                Check::warn("online", "no server runs that could call a provider", next)
            }
        }];
    };
    let path = match providers {
        Providers::Offline => "/api/environment?login=true",
        Providers::Online => "/api/environment?login=true&online=true",
    };
    let seen: Result<Answer<ServerEnvironment>, ClientError> = client.get(path).await;
    match seen {
        Ok(seen) => seen.kinds.iter().flat_map(|kind| of_kind(app, kind)).collect(),
        Err(error) => {
            let next = "run `adjutant down` and `adjutant up --detach`";
            vec![Check::warn("server", format!("it does not say what it sees: {error}"), next)]
        }
    }
}

fn of_kind(app: &App, kind: &KindStatus) -> Vec<Check> {
    let (name, program) = (name_of(&kind.kind), &kind.program);
    let Some(path) = &kind.path else {
        let is_here = super::which(program, app.env.path.as_deref()).is_some();
        if !is_here && kind.login_unknown.is_none() {
            // No server finds it, which was reported already.
            return Vec::new();
        }
        let message = format!("the server does not find `{program}` on its PATH");
        let start = format!(
            "start it where `{program}` is found: `adjutant down`, then `adjutant up --detach`"
        );
        let next = match &kind.login_unknown {
            Some(_) => format!("{start}; or {}", kind.install),
            None => format!("{start}; or install it: `{}`", kind.install),
        };
        return vec![Check::warn(name, message, next)];
    };
    let variables = match kind.variables.as_slice() {
        [] => "no variables of its own".to_owned(),
        names => names.join(", "),
    };
    let mut checks = vec![Check::ok(name, format!("the server starts `{path}` with {variables}"))];
    let login = kind.login.as_ref().map(|login| {
        let what = if login.ok { "is logged in" } else { "is not logged in" };
        of_login(name, what, login)
    });
    let call = kind.call.as_ref().map(|call| {
        let what = if call.ok { "answers" } else { "does not answer" };
        of_login(name, what, call)
    });
    let unknown = kind
        .login_unknown
        .as_ref()
        .map(|why| Check::ok(name, format!("whether it is logged in cannot be asked: {why}")));
    checks.extend(unknown.into_iter().chain(login).chain(call));
    checks
}

fn of_login(name: &'static str, what: &str, login: &LoginStatus) -> Check {
    let text = login.message.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let message = match text {
        "" => format!("it {what}"),
        text => format!("it {what}: {text}"),
    };
    if login.ok {
        Check::ok(name, message)
    } else {
        let next = login.advice.clone().unwrap_or_else(|| "run its program by hand".to_owned());
        Check::warn(name, message, next)
    }
}

/// Name of the checks of a kind.
fn name_of(kind: &str) -> &'static str {
    host::agent::kind(kind).map_or("agents", |kind| kind.name())
}
