//! Checks worktrees, and that git and the record agree on them.

use std::path::Path;
use std::time::Duration;

use host::git::{Git, GitError};
use tokio::time::timeout;
use wire::worktrees::Agreement;

use super::{Check, SETTLE_COMMAND, which};
use crate::client::{Answer, Client, Named};
use crate::environment::Environment;
use crate::home::Home;
use crate::runtime;
use crate::terminal::render::line;

/// Time limit for a git query.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit for comparing every worktree.
const COMPARE_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum number of disagreements listed.
const MAX_LISTED: usize = 3;

/// Checks that git can make worktrees of this project. A missing git is reported elsewhere.
pub(super) fn worktrees(project: &Path, env: &Environment) -> Option<Check> {
    which("git", env.path.as_deref())?;
    let git = Git::on_path(env.path.as_deref().unwrap_or_default());
    let found = git.open(project, GIT_TIMEOUT).and_then(|repo| {
        let first = repo.resolve("HEAD")?.ok_or(GitError::NoCommits)?;
        Ok((first, repo.facts().shallow))
    });
    Some(match found {
        Ok((_, false)) => Check::ok("worktrees", "agents can have worktrees of their own"),
        Ok((_, true)) => {
            let next = "run `git fetch --unshallow` if merges fail for want of history";
            Check::warn("worktrees", "the history of this repository is cut off", next)
        }
        Err(GitError::NotARepository { .. }) => {
            let next = "run `git init` and commit; until then agents work in the project itself";
            Check::warn("worktrees", "the project is not in a git repository", next)
        }
        Err(GitError::NoCommits) => {
            let next = "make a first commit; until then agents work in the project itself";
            Check::warn("worktrees", "the repository has no commits yet", next)
        }
        Err(error) => Check::warn("worktrees", error.to_string(), "install git 2.38 or newer"),
    })
}

/// Checks that git and the record agree. Needs a running server.
pub(super) fn agreement(home: &Home, env: &Environment) -> Option<Check> {
    let file = home.read_server().ok()??;
    super::is_healthy(&file.url).ok()?;
    let token = home.operator_token(env).ok()??;
    let answer = match ask(&file.url, &token) {
        Ok(answer) => answer,
        Err(why) => {
            let message =
                format!("the server could not compare git and the record: {}", line(&why));
            return Some(Check::warn("agreement", message, "see `adjutant worktrees check`"));
        }
    };
    if answer.ok {
        return Some(Check::ok("agreement", "git and the record agree"));
    }
    let all = &answer.disagreements;
    let listed = all.iter().take(MAX_LISTED);
    let told: Vec<String> =
        listed.map(|one| format!("{}: {}", line(&one.about), line(&one.what))).collect();
    let more = if all.len() > MAX_LISTED { ", …" } else { "" };
    let message = format!("git and the record do not agree: {}{more}", told.join(", "));
    let next = if all.iter().any(|one| one.can_settle) {
        format!(
            "if you removed the commits yourself, for example with `git reset`, run `{SETTLE_COMMAND}`; `git branch NAME \
             COMMIT` brings one back"
        )
    } else {
        "`adjutant worktrees check` lists everything".to_owned()
    };
    Some(Check::warn("agreement", message, next))
}

/// Has the server compare, once it has proved that it is this home's.
fn ask(url: &str, token: &str) -> Result<Answer<Agreement>, String> {
    let client = Client::proving(url, token, Named::ByFile).map_err(|error| error.to_string())?;
    let compared = async { timeout(COMPARE_TIMEOUT, client.get("/api/worktrees/check")).await };
    let runtime = runtime::one_thread().map_err(|error| error.to_string())?;
    match runtime.block_on(compared) {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(late) => Err(late.to_string()),
    }
}

/// Returns whether a server proves that it is this home's. Without a token nobody can tell.
pub(super) fn is_ours(home: &Home, env: &Environment, url: &str) -> bool {
    let Ok(Some(token)) = home.operator_token(env) else { return true };
    let proved = || {
        let client = Client::proving(url, &token, Named::ByFile).ok()?;
        runtime::one_thread().ok()?.block_on(client.prove()).ok()
    };
    proved().is_some()
}
