//! Remotes: where they are, and pushing to them. Pushing alone is done in the surroundings of the user, for there
//! the credentials are; hooks stay off.

use std::ffi::{OsStr, OsString};

use super::branch::{check_name, is_plain};
use super::command::{Pair, find, is_busy, line, numbered, text};
use super::error::{said, without_secrets};
use super::{GitError, Repo};
use crate::process::{self, Launch, Output};

/// What would lead git elsewhere, were it in the environment we were given.
const LEADING: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CONFIG_COUNT",
];
/// What stays off even here.
const OFF: [&str; 4] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "push.gpgSign=false",
    "push.followTags=false",
];
/// Words by which one knows that a remote does not know us.
const STRANGER: [&str; 8] = [
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "Permission denied",
    "Permission to ",
    "returned error: 401",
    "returned error: 403",
    "Host key verification failed",
];
/// Words by which one knows that a remote does not answer.
const SILENT: [&str; 11] = [
    "Could not resolve host",
    "Temporary failure in name resolution",
    "Failed to connect",
    "Connection refused",
    "Connection reset",
    "Connection timed out",
    "Operation timed out",
    "timed out",
    "Network is unreachable",
    "returned error: 5",
    "returned error: 429",
];

/// What is pushed where, and in which surroundings.
#[derive(Debug, Clone, Default)]
pub struct Push {
    /// The remote's name, or its address
    pub remote: String,
    /// The commit
    pub commit: String,
    /// The branch there
    pub branch: String,
    /// The whole environment, so that the user's credential helpers work
    pub environment: Vec<(OsString, OsString)>,
    /// A header for addresses that begin with the first, such as `Authorization: …`
    pub header: Option<(String, String)>,
}

impl Repo {
    /// The address of a remote.
    pub fn remote_url(&self, remote: &str) -> Result<Option<String>, GitError> {
        if !is_plain(remote) {
            return Ok(None);
        }
        let order = self.git()?.args(["config", "--get", &format!("remote.{remote}.url")]);
        Ok(order.ask_maybe()?.map(|url| line(&url)))
    }

    /// Pushes a commit to a branch of a remote, never by force. Where it is there already, nothing happens.
    pub fn push(&self, push: &Push) -> Result<(), GitError> {
        check_name(&push.branch)?;
        if !is_plain(&push.remote) {
            return Err(GitError::NoRemote(push.remote.clone()));
        }
        let commit = self.commit(&push.commit)?;
        let options = ["--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"];
        let mut arguments: Vec<OsString> = vec!["--no-pager".into()];
        arguments.extend(OFF.iter().flat_map(|setting| ["-c".into(), OsString::from(setting)]));
        arguments.push("push".into());
        arguments.extend(options.iter().map(OsString::from));
        let target = format!("{commit}:refs/heads/{}", push.branch);
        arguments.extend(["--".into(), OsString::from(&push.remote), target.into()]);
        let launch = Launch {
            program: find(self.path(), self.common()),
            arguments,
            environment: self.surroundings(push)?,
            directory: self.common().to_owned(),
        };
        let output = process::run(&launch, self.limit())?;
        if output.exit.is_success() { Ok(()) } else { Err(push.failed(&output)) }
    }

    /// The environment that was given, pointed at this repository and with the header added.
    fn surroundings(&self, push: &Push) -> Result<Vec<Pair>, GitError> {
        let is = |name: &OsStr, what: &str| name == OsStr::new(what);
        let given = push.environment.iter().find(|(name, _)| is(name, "GIT_CONFIG_COUNT"));
        let given = given.and_then(|(_, count)| count.to_str()?.parse::<usize>().ok()).unwrap_or(0);
        let leads = |name: &OsStr| LEADING.iter().any(|what| is(name, what));
        let kept = push.environment.iter().filter(|(name, _)| !leads(name));
        let mut environment: Vec<Pair> = kept.cloned().collect();
        if !environment.iter().any(|(name, _)| is(name, "PATH")) {
            environment.push(("PATH".into(), self.path().clone()));
        }
        let mut configs: Vec<Pair> = Vec::new();
        if let Some((prefix, header)) = &push.header {
            if header.contains(['\n', '\r', '\0']) || prefix.contains(['\n', '\0']) {
                let said = "the header has more than one line; check the token".to_owned();
                return Err(GitError::Failed { command: "push".into(), said });
            }
            configs.push((format!("http.{prefix}.extraHeader").into(), header.into()));
        }
        // Nobody is there to answer; and with at least one, those given before are counted again.
        configs.push(("core.askPass".into(), OsString::new()));
        environment.extend(numbered(&configs, given));
        let plain = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        environment.extend([plain("LC_ALL", "C"), plain("GIT_TERMINAL_PROMPT", "0")]);
        environment.push(("GIT_DIR".into(), self.common().into()));
        Ok(environment)
    }
}

impl Push {
    /// Why it failed.
    fn failed(&self, output: &Output) -> GitError {
        let (told, words) = (text(&output.stdout), text(&output.stderr));
        let (remote, branch) = (without_secrets(&self.remote), self.branch.clone());
        let reason = said(&output.stderr);
        let has = |signs: &[&str]| signs.iter().any(|sign| words.contains(sign));
        // A line such as `!`, what was pushed where, and why not.
        let refusal = told.lines().find(|line| line.starts_with("!\t"));
        let refusal = refusal.and_then(|line| line.split('\t').nth(2)).unwrap_or_default();
        if refusal.starts_with("[rejected]") {
            return GitError::Rejected { remote, branch };
        }
        if is_busy(&output.stderr) {
            return GitError::Busy(reason);
        }
        if has(&STRANGER) {
            return GitError::Denied { remote, said: reason };
        }
        if refusal.starts_with("[remote rejected]") {
            let said = words.lines().filter_map(|line| line.strip_prefix("remote: "));
            let said: Vec<&str> = said.map(str::trim).filter(|line| !line.is_empty()).collect();
            let said = format!("{refusal} {}", said.join(" "));
            let said = without_secrets(&super::command::readable(said.trim()));
            return GitError::Refused { remote, branch, said };
        }
        if words.contains("does not appear to be a git repository") {
            return GitError::NoRemote(remote);
        }
        if has(&SILENT) {
            return GitError::Offline { remote, said: reason };
        }
        GitError::Failed { command: "push".into(), said: reason }
    }
}

#[cfg(test)]
mod tests;
