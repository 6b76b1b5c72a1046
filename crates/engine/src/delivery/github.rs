//! GitHub as the engine sees it: a client from the settings and the operator's secrets, what its errors mean to
//! the caller of a tool, and where the token may go. [`follow`] learns what becomes of pull requests.

pub(crate) mod follow;

use std::ffi::OsString;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use host::git::Repo;
use host::github::{GitHub, GitHubError, Repository};

use crate::core::error::{Code, ToolError};
use crate::core::handle::Core;
use crate::core::settings::WebhookKey;

pub use follow::GithubHookEffect;

/// Minimum length of a secret; shorter ones match by chance.
const SECRET: usize = 16;

/// A remote on GitHub.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    /// Name of the remote
    pub(crate) name: String,
    /// Its address
    pub(crate) url: String,
    /// Repository on GitHub
    pub(crate) repository: Repository,
}

/// As a repository stands in the record: to GitHub large and small letters are the same.
pub(crate) fn key_of(repository: &Repository) -> String {
    repository.to_string().to_ascii_lowercase()
}

impl From<GitHubError> for ToolError {
    fn from(error: GitHubError) -> Self {
        let message = error.to_string();
        let code = match &error {
            GitHubError::RateLimited { .. } => Code::RateLimited,
            _ if error.is_transient() => Code::TransientError,
            GitHubError::NoToken => return no_token(),
            GitHubError::BadToken | GitHubError::Forbidden { .. } => Code::PermissionDenied,
            GitHubError::NotFound { .. } => Code::ResourceNotFound,
            _ => Code::ExternalError,
        };
        Self::new(code, message)
    }
}

/// There is no token. The caller of a tool cannot change that; only the operator can.
fn no_token() -> ToolError {
    ToolError::denied("the server has no GitHub token")
        .hint(
            "the operator sets the variable that `github.tokenVariable` names (`GITHUB_TOKEN`, unless it was \
             changed) and starts the server again",
        )
        .hint("`adjutant doctor` says whether it is set")
}

/// A client of GitHub, or that there is no token. To be made inside a runtime.
pub(crate) fn client(core: &Core) -> Result<GitHub, ToolError> {
    let token = core.options.github.token.clone().filter(|token| !token.trim().is_empty());
    let token = token.ok_or_else(no_token)?;
    let settings = core.settings();
    let timeout = Duration::from_millis(settings.limits.tool_timeout_ms);
    let github = GitHub::new(&settings.github.api_url, Some(token), timeout)?;
    Ok(github.with_backoff(core.options.retry_after).with_clock(core.options.clock.clone()))
}

/// The remote that is on the GitHub that we speak to. Blocks.
pub(crate) fn remote(core: &Core, repo: &Repo) -> Result<Remote, ToolError> {
    let settings = core.settings();
    let (name, api) = (settings.github.remote.clone(), &settings.github.api_url);
    let url = repo.remote_url(&name)?.ok_or_else(|| {
        ToolError::conflict(format!("the project has no remote `{name}`"))
            .hint(format!("add it: `git remote add {name} <address>`"))
            .hint("`github.remote` in the configuration names the one that is on GitHub")
    })?;
    let elsewhere = |what: &str| {
        ToolError::conflict(format!("the remote `{name}` is {what}, not on the GitHub at `{api}`"))
            .hint("`github.remote` in the configuration names the remote that is on GitHub")
            .hint("`github.apiUrl` is the address of its API, as `https://HOST/api/v3`")
    };
    let repository =
        Repository::from_remote(&url).ok_or_else(|| elsewhere("no repository on a server"))?;
    if !repository.matches_api(api) {
        return Err(elsewhere(&format!("on `{}`", repository.host())));
    }
    Ok(Remote { name, url, repository })
}

/// The header that lets git in at a remote, and the beginning of the addresses that it is for. Only a remote
/// that git reaches safely, on the host to which the token belongs, gets one.
pub(crate) fn push_header(core: &Core, url: &str) -> Option<(String, String)> {
    let token = core.options.github.token.as_deref()?.trim();
    let (authority, _) = url.strip_prefix("https://")?.split_once('/')?;
    let repository = Repository::from_remote(url)?;
    let settings = core.settings();
    let (_, api) = settings.github.api_url.split_once("://")?;
    let api = api.split(['/', ':']).next()?.to_ascii_lowercase();
    let own = api == repository.host() || api.strip_prefix("api.") == Some(repository.host());
    // A name in the address is sent too, and GitHub refuses who says twice who they are.
    if token.is_empty() || !own || authority.contains('@') {
        return None;
    }
    let basic = BASE64_STANDARD.encode(format!("x-access-token:{token}"));
    Some((format!("https://{authority}/"), format!("Authorization: Basic {basic}")))
}

/// Environment of the operator's git, without the secrets that we keep.
pub(crate) fn git_environment(core: &Core) -> Vec<(OsString, OsString)> {
    let (secrets, settings) = (&core.options.github, core.settings());
    let keys = settings.webhooks.iter().filter_map(|hook| match &hook.key {
        WebhookKey::Secret(secret) => Some(secret.reveal()),
        WebhookKey::None | WebhookKey::Missing(_) | WebhookKey::Wrong(..) => None,
    });
    let secrets: Vec<&str> = [secrets.token.as_deref(), secrets.webhook.as_deref()]
        .into_iter()
        .flatten()
        .chain(keys)
        .map(str::trim)
        .filter(|secret| !secret.is_empty())
        .collect();
    // A short one may stand in anything by chance.
    let has = |value: &str, secret: &str| {
        value == secret || (secret.len() >= SECRET && value.contains(secret))
    };
    let is_secret = |value: &OsString| {
        value.to_str().is_some_and(|value| secrets.iter().any(|secret| has(value, secret)))
    };
    let all = core.options.operator_environment.iter();
    all.filter(|(_, value)| !is_secret(value)).cloned().collect()
}

#[cfg(test)]
mod tests;
