//! The foreign programs that `tools/setup` installs: the only place in this crate that starts a process.

use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

/// A foreign MCP client: a small program under `tests/clients` that uses one published library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Python `mcp`.
    PythonMcp,
    /// Python `fastmcp`.
    PythonFastMcp,
    /// npm `@modelcontextprotocol/sdk`.
    JsSdk,
    /// npm `@modelcontextprotocol/client`.
    JsClient,
}

impl Client {
    /// Every client.
    pub const ALL: [Self; 4] = [Self::PythonMcp, Self::PythonFastMcp, Self::JsSdk, Self::JsClient];

    fn command(self) -> Result<Command> {
        match self {
            Self::PythonMcp => python_script("mcp_client.py"),
            Self::PythonFastMcp => python_script("fastmcp_client.py"),
            Self::JsSdk => javascript("sdk.mjs"),
            Self::JsClient => javascript("client.mjs"),
        }
    }
}

/// Runs a client to its end, with `--url URL --token TOKEN` or `--command PROGRAM ARGUMENT…`.
///
/// It prints one JSON line of what it saw and exits with 0, or says on stderr what went wrong.
pub async fn run_client<S: AsRef<str>>(
    client: Client,
    arguments: impl IntoIterator<Item = S>,
    environment: &[(&str, &str)],
) -> Result<Output> {
    let mut command = client.command()?;
    command.args(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
    command.envs(environment.iter().copied());
    command.output().await.with_context(|| format!("could not run {client:?}"))
}

/// Returns the Node that the tests use.
pub fn node() -> Result<PathBuf> {
    installed(".tools/node/bin/node")
}

/// Returns the Python that has the client libraries.
pub fn python() -> Result<PathBuf> {
    installed(".tools/python/bin/python")
}

/// Node, about to run a file of `tests/clients/js`.
pub(crate) fn javascript(file: &str) -> Result<Command> {
    Ok(quiet(&node()?, &installed(&format!("tests/clients/js/{file}"))?))
}

fn python_script(file: &str) -> Result<Command> {
    Ok(quiet(&python()?, &installed(&format!("tests/clients/python/{file}"))?))
}

/// A program that cannot outlive its test, and sees neither its terminal nor its proxies.
fn quiet(program: &Path, file: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg(file).stdin(std::process::Stdio::null()).kill_on_drop(true);
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
    {
        command.env_remove(name);
    }
    command
}

pub(crate) fn installed(path: &str) -> Result<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    ensure!(path.exists(), "`{}` is not there: please run `tools/setup`", path.display());
    Ok(path)
}
