//! Context of every command: the environment, the home, the server.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use model::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cli::Global;
use crate::cli_error::CliError;
use crate::client::{Answer, Client, Secrecy, ToolCall};
use crate::config::{Config, Flag};
use crate::environment::Environment;
use crate::home::{FOLDER, Home, HomeError};
use crate::remote_homes::{self, RemoteHome};
use crate::serve::Stage;
use crate::serve::in_force::accepted_text;
use crate::server_process::connect::{self, NamedServer, ServerLocation, Token};
use crate::terminal::render::Render;

/// Context of a command.
#[derive(Debug, Clone)]
pub(crate) struct App {
    /// Environment
    pub(crate) env: Environment,
    /// Global flags
    pub(crate) global: Global,
    /// Output of answers
    pub(crate) render: Render,
}

impl App {
    /// Creates the context of a command with these flags.
    pub(crate) fn new(env: Environment, global: Global) -> Self {
        let render = if global.json { Render::Json } else { Render::Text };
        Self { env, global, render }
    }

    /// The home of this project.
    pub(crate) fn home(&self) -> Result<Home, CliError> {
        let found = Home::find(self.global.home.as_deref(), &self.env);
        let Err(HomeError::NotThere { path }) = &found else { return Ok(found?) };
        if let Some(remote) = self.remote_home()? {
            return Err(elsewhere(&named_server(&remote, path), "this command"));
        }
        let names = remote_homes::names(&self.env);
        let near = path.to_str().and_then(|name| {
            model::nearest::nearest(name, names.iter().map(String::as_str)).map(str::to_owned)
        });
        let error = CliError::from(found.err().unwrap_or(HomeError::NoStateFolder));
        Err(match near {
            Some(near) => error.hint(format!("homes.yaml has `{near}`")),
            None => error,
        })
    }

    /// The home of the project around the working directory, also where the server is on another machine.
    pub(crate) fn project_home(&self) -> Result<Home, CliError> {
        if self.remote_home()?.is_none() {
            return self.home();
        }
        let env = Environment { home: None, ..self.env.clone() };
        Ok(Home::find(None, &env)?)
    }

    /// The server on another machine that commands are for, if they are for one.
    pub(crate) fn remote_server(&self) -> Result<Option<NamedServer>, CliError> {
        if self.env.agent_id.is_some() {
            return Ok(None);
        }
        let named = self.global.home.as_deref().or(self.env.home.as_deref());
        if let (Some(remote), Some(name)) = (self.remote_home()?, named) {
            return Ok(Some(named_server(&remote, name)));
        }
        // With a home here the address may be that of its own server.
        Ok(self.server_of_environment().filter(|_| self.home().is_err()))
    }

    fn server_of_environment(&self) -> Option<NamedServer> {
        let secrecy = if self.env.is_insecure() { Secrecy::Waived } else { Secrecy::Required };
        Some(NamedServer { url: self.env.url.clone()?, secrecy, name: None })
    }

    /// The path of a folder that agents are to work in, as it is on the server's machine.
    pub(crate) fn folder_of_server(&self, named: &Path, flag: &str) -> Result<PathBuf, CliError> {
        let Some(server) = self.remote_server()? else { return Ok(self.env.cwd.join(named)) };
        if named.is_absolute() {
            return Ok(named.to_owned());
        }
        let url = server.url;
        Err(CliError::usage(format!("`{flag}` names a folder of the server's machine, {url}"))
            .hint("give its whole path there, from `/` on"))
    }

    /// Refuses a command that needs the machine of the server, where that is another one.
    pub(crate) fn refuse_elsewhere(&self, what: &str) -> Result<(), CliError> {
        match self.remote_server()? {
            Some(server) => Err(elsewhere(&server, what)),
            None => Ok(()),
        }
    }

    /// The configuration in force.
    pub(crate) fn config(&self, home: &Home, flags: &[Flag<'_>]) -> Result<Config, CliError> {
        let loaded = Config::load(home, &self.env, flags)?;
        for warning in &loaded.warnings {
            tracing::warn!("{warning}");
        }
        Ok(loaded.config)
    }

    /// The home on another machine that `--home` or `ADJUTANT_HOME` names, if one does. An agent has its own.
    fn remote_home(&self) -> Result<Option<RemoteHome>, CliError> {
        let named = self.global.home.as_deref().or(self.env.home.as_deref());
        match named.filter(|_| self.env.agent_id.is_none()) {
            Some(named) => Ok(remote_homes::find(named, &self.env)?),
            None => Ok(None),
        }
    }

    /// Where the server is looked for, and how one would be started: with `up` and these arguments.
    pub(crate) fn place(&self, up: &[&str]) -> Result<ServerLocation, CliError> {
        let inside_agent = self.env.agent_id.is_some();
        let remote = self.remote_home()?;
        let home = match self.home() {
            Ok(home) => home,
            // A given address needs no home.
            Err(_) if self.env.url.is_some() || remote.is_some() => {
                Home::unplaced(self.env.cwd.clone(), self.env.cwd.join(FOLDER))
            }
            Err(cli_error) => return Err(cli_error),
        };
        let token = match (&self.env.token, &self.env.agent_id) {
            (_, None) if remote.is_some() => {
                Token::choose(remote.as_ref().map(|home| home.token.as_str()), None, PathBuf::new())
            }
            (None, None) => {
                let served = home.before_rename();
                let served = served.as_ref().unwrap_or(&home);
                Token::File(served.operator_token_file(&self.env)?)
            }
            (given, agent) => Token::choose(given.as_deref(), agent.as_deref(), PathBuf::new()),
        };
        let named = self.global.home.as_deref().or(self.env.home.as_deref());
        let by_name = remote.as_ref().zip(named).map(|(remote, name)| named_server(remote, name));
        let url_override = by_name.or_else(|| self.server_of_environment());
        let mut start_args: Vec<OsString> = vec!["--home".into(), home.dir.clone().into()];
        if self.env.state.is_some() {
            start_args.extend(["--state".into(), home.state_dir().into()]);
        }
        start_args.extend(["up"].iter().chain(up).map(OsString::from));
        Ok(ServerLocation {
            server_file: home.server_file(),
            copies: home.server_file_copies(),
            lock: home.lock(),
            log: home.server_log(),
            url_override,
            token,
            inside_agent,
            exe: std::env::current_exe()?,
            start_args,
            environment: self.env.vars.clone(),
            cwd: home.root,
        })
    }

    /// A client of the server; one is started in the background where none runs. That one begins with what people have
    /// written, of which the differences are told.
    pub(crate) async fn client(&self) -> Result<Client, CliError> {
        let at = self.place(&["--background", "needed"])?;
        if !at.inside_agent && at.url_override.is_none() && !connect::is_noted(&at) {
            self.accept_files(self.home()?)?;
        }
        Ok(connect::connect(&at).await?)
    }

    /// Takes what people have written for the server that is about to start, and says what it changes.
    pub(crate) fn accept_files(&self, home: Home) -> Result<(), CliError> {
        let stage =
            Stage { home, env: self.env.clone(), host: None, port: None, shared_files: None };
        if let Some(text) = accepted_text(&stage.accept()?) {
            // With `--json` too: what agents may do is never changed in silence.
            Render::Text.aside(&text)?;
        }
        Ok(())
    }

    /// Calls a tool whose answer has a known shape, as the caller itself.
    pub(crate) async fn call_tool<T: DeserializeOwned>(
        &self,
        tool: &str,
        input: &impl Serialize,
    ) -> Result<Answer<T>, CliError> {
        call_tool(&self.client().await?, tool, input).await
    }
}

/// The server of a home of homes.yaml.
fn named_server(remote: &RemoteHome, name: &Path) -> NamedServer {
    let secrecy = if remote.insecure { Secrecy::Waived } else { Secrecy::Required };
    NamedServer { url: remote.url.clone(), secrecy, name: Some(name.display().to_string()) }
}

/// The error of a command that needs the machine of the server.
fn elsewhere(server: &NamedServer, what: &str) -> CliError {
    let NamedServer { url, .. } = server;
    let problem = format!("{what} needs the machine of the server, which is at {url}");
    CliError::usage(problem).hint(format!("run it there, or without {}", server.source())).hint(
        "commands that ask the server, such as `adjutant status` or `adjutant run`, work from here",
    )
}

/// Calls a tool, as the caller itself.
pub(crate) async fn call_tool<T: DeserializeOwned>(
    client: &Client,
    tool: &str,
    input: &impl Serialize,
) -> Result<Answer<T>, CliError> {
    let call = ToolCall { tool_name: tool, input, agent_id: None };
    client.call_tool(&call).await.map_err(|error| CliError::from(error).of_tool(tool))
}

/// Current wall-clock time.
pub(crate) fn now() -> Timestamp {
    host::clock::Clock::System.now()
}

/// Calls a tool, perhaps as an agent.
pub(crate) async fn call(
    client: &Client,
    tool: &str,
    input: &Value,
    as_agent: Option<&str>,
) -> Result<Value, CliError> {
    let call = ToolCall { tool_name: tool, input, agent_id: as_agent };
    let answer = client.call_tool::<Value>(&call).await;
    Ok(answer.map_err(|error| CliError::from(error).of_tool(tool))?.into_value())
}

/// A path with what stands behind its question mark, absent values left out.
pub(crate) fn query<const N: usize>(path: &str, pairs: [(&str, Option<String>); N]) -> String {
    let mut text = path.to_owned();
    let mut separator = '?';
    for (name, value) in pairs {
        if let Some(value) = value {
            text.push(separator);
            text.push_str(name);
            text.push('=');
            text.push_str(&escaped(&value));
            separator = '&';
        }
    }
    text
}

/// A value as it may stand in a path.
pub(crate) fn escaped(value: &str) -> String {
    value.bytes().fold(String::with_capacity(value.len()), |mut text, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte));
            }
            // Writing to a String cannot fail.
            other => _ = write!(text, "%{other:02X}"),
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_leaves_out_what_is_absent_and_escapes_the_rest() {
        let made =
            query("/api/x", [("a", Some("1 &ü".into())), ("b", None), ("c", Some("d".into()))]);
        assert_eq!(made, "/api/x?a=1%20%26%C3%BC&c=d");
    }
}
