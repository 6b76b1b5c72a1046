//! Remotes: where they are, and pushing to them.
//!
//! A push has the operator's environment, for there the credentials are, and the operator's own configuration. The
//! repository's, which agents can write, is not read: it could run programs or send a token elsewhere. So git runs in
//! a folder of its own that has nothing but the repository's objects, and hooks stay off.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::{fs, io};

use super::branch::{check_name, is_plain};
use super::command::{NameValue, find, is_busy, line, numbered, os, text};
use super::error::{error_text, without_secrets};
use super::{GitError, Repo};
use crate::files::{self, Mode, at};
use crate::process::{self, Launch, Output};
use crate::random;

/// Environment variables that would redirect git.
const REDIRECTING_VARIABLES: [&str; 9] = [
    "LC_ALL",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];
/// Settings that stay off whatever the operator configured; nobody is there to answer a prompt.
const DISABLED_SETTINGS: [(&str, &str); 5] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.askPass", ""),
    ("push.gpgSign", "false"),
    ("push.followTags", "false"),
];
/// The configuration of a bare repository whose objects have longer names.
const SHA256_CONFIG: &str =
    "[core]\n\tbare = true\n\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n";
/// Upper bound on the list of commits at which a history is cut off.
const MAX_SHALLOW_BYTES: u64 = 64 * 1024 * 1024;
/// Words by which one knows that a remote does not know us.
const AUTHENTICATION_ERRORS: [&str; 8] = [
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
const CONNECTION_ERRORS: [&str; 11] = [
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

/// Parameters of a push.
#[derive(Debug, Clone, Default)]
pub struct Push {
    /// The remote's name
    pub remote: String,
    /// The address, as [`Repo::remote_url`] says it and the caller has checked it
    pub url: String,
    /// The commit
    pub commit: String,
    /// The branch there
    pub branch: String,
    /// The whole environment, so that the user's credential helpers work
    pub environment: Vec<(OsString, OsString)>,
    /// A header for addresses that begin with the first, such as `Authorization: …`
    pub header: Option<(String, String)>,
    /// Where a folder is made that agents should not reach; the system's place for such where there is none
    pub scratch: Option<PathBuf>,
}

impl Repo {
    /// The address of a remote, as the repository says it; what the operator's `insteadOf` makes of it is not applied.
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
        if !is_plain(&push.url) || names_helper(&push.url) {
            return Err(GitError::NoRemote(without_secrets(&push.remote)));
        }
        let commit = self.commit(&push.commit)?;
        let settings = self.settings(push)?;
        let apart = self.apart(push, &settings)?;
        let options = ["--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no"];
        let mut arguments: Vec<OsString> = vec!["--no-pager".into(), "push".into()];
        arguments.extend(options.iter().map(OsString::from));
        let target = format!("{commit}:refs/heads/{}", push.branch);
        arguments.extend(["--".into(), self.address(&push.url), target.into()]);
        let launch = Launch {
            program: find(self.path(), self.common()),
            arguments,
            environment: self.surroundings(push, &settings, &apart)?,
            directory: apart.0.clone(),
        };
        let output = process::run(&launch, self.limit())?;
        if !output.exit.is_success() {
            return Err(push.failed(&output));
        }
        self.note_pushed(push, &settings, &commit);
        Ok(())
    }

    /// The address as it is from anywhere. A relative path begins at the top of the working tree, as git has it.
    fn address(&self, url: &str) -> OsString {
        let before_slash = url.split('/').next().unwrap_or_default();
        if url.starts_with('/') || before_slash.contains(':') {
            return url.into();
        }
        self.facts().top.as_deref().unwrap_or_else(|| self.common()).join(url).into()
    }

    /// Asks git which settings there are and who made them. It runs nothing that they name.
    fn settings(&self, push: &Push) -> Result<Settings, GitError> {
        let mut environment = self.given(push);
        environment.push(("GIT_DIR".into(), self.common().into()));
        let launch = Launch {
            program: find(self.path(), self.common()),
            arguments: ["--no-pager", "config", "--list", "--show-scope", "-z"]
                .map(OsString::from)
                .into(),
            environment,
            directory: self.common().to_owned(),
        };
        let output = process::run(&launch, self.limit())?;
        if !output.exit.is_success() {
            return Err(GitError::of("config".into(), &output.stderr));
        }
        let mut settings = Settings::default();
        let mut fields = output.stdout.split(|byte| *byte == 0);
        while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
            let end = entry.iter().position(|byte| *byte == b'\n');
            let (key, value) = entry.split_at(end.unwrap_or(entry.len()));
            // A key without a value means yes.
            let value = value.strip_prefix(b"\n").unwrap_or(b"true");
            // What is included is listed itself; a relative path would be refused in an environment.
            if key.starts_with(b"include.") || key.starts_with(b"includeif.") {
                continue;
            }
            let pair = (os(key), os(value));
            match scope {
                b"system" | b"global" | b"command" => settings.operators.push(pair),
                _ => settings.repositorys.push(pair),
            }
        }
        Ok(settings)
    }

    /// Makes the folder that git pushes from.
    fn apart(&self, push: &Push, settings: &Settings) -> Result<ScratchRepository, GitError> {
        let above = push.scratch.clone().unwrap_or_else(std::env::temp_dir);
        let name = random::secret("adjutant-push-").map_err(io::Error::other);
        let name = name.map_err(at("name a folder in", &above))?;
        let apart = ScratchRepository(above.join(name));
        files::make_dir(&apart.0.join("refs"), Mode::Private)?;
        files::write_quickly(&apart.0.join("HEAD"), "ref: refs/heads/none\n", Mode::Private)?;
        let config = match settings.of_repository("extensions.objectformat") {
            Some("sha256") => SHA256_CONFIG,
            _ => "[core]\n\tbare = true\n",
        };
        files::write_quickly(&apart.0.join("config"), config, Mode::Private)?;
        let shallow = files::read_bytes(&self.common().join("shallow"), MAX_SHALLOW_BYTES);
        match shallow.map(String::from_utf8) {
            Ok(Ok(text)) => files::write_quickly(&apart.0.join("shallow"), &text, Mode::Private)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ => return Err(GitError::Shallow),
        }
        Ok(apart)
    }

    /// The environment that was given, without what would lead git elsewhere.
    fn given(&self, push: &Push) -> Vec<NameValue> {
        let leads =
            |name: &OsStr| REDIRECTING_VARIABLES.iter().any(|what| name == OsStr::new(what));
        let kept = push.environment.iter().filter(|(name, _)| !leads(name));
        let mut environment: Vec<NameValue> = kept.cloned().collect();
        if !environment.iter().any(|(name, _)| name == "PATH") {
            environment.push(("PATH".into(), self.path().clone()));
        }
        environment.push(("LC_ALL".into(), "C".into()));
        environment
    }

    /// Builds git's environment: the operator's variables and settings, our own settings, and the objects.
    fn surroundings(
        &self,
        push: &Push,
        settings: &Settings,
        apart: &ScratchRepository,
    ) -> Result<Vec<NameValue>, GitError> {
        let mut environment = self.given(push);
        // They are among the settings already.
        environment.retain(|(name, _)| !name.as_bytes().starts_with(b"GIT_CONFIG"));
        let plain = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let mut configs = settings.operators.clone();
        configs.extend(DISABLED_SETTINGS.iter().map(|(name, value)| plain(name, value)));
        if let Some((prefix, header)) = &push.header {
            if header.contains(['\n', '\r', '\0']) || prefix.contains(['\n', '\0']) {
                let message = "the header has more than one line; check the token".to_owned();
                return Err(GitError::Failed { command: "push".into(), message });
            }
            configs.push((format!("http.{prefix}.extraHeader").into(), header.into()));
        }
        environment.extend(numbered(&configs, 0));
        environment.extend([
            plain("GIT_CONFIG_NOSYSTEM", "1"),
            plain("GIT_CONFIG_GLOBAL", "/dev/null"),
            plain("GIT_TERMINAL_PROMPT", "0"),
            plain("GIT_NO_LAZY_FETCH", "1"),
        ]);
        environment.push(("GIT_DIR".into(), apart.0.clone().into()));
        environment.push(("GIT_OBJECT_DIRECTORY".into(), self.common().join("objects").into()));
        Ok(environment)
    }

    /// Notes where the remote's branch stands now, as git does for a remote that it fetches from. Best effort.
    fn note_pushed(&self, push: &Push, settings: &Settings, commit: &str) {
        let remote = &push.remote;
        let usual = format!("+refs/heads/*:refs/remotes/{remote}/*");
        if !is_plain(remote)
            || settings.of_repository(&format!("remote.{remote}.fetch")) != Some(usual.as_str())
        {
            return;
        }
        let branch = format!("refs/remotes/{remote}/{}", push.branch);
        // The next fetch records it, too.
        drop(self.git().and_then(|git| git.args(["update-ref", &branch, commit]).ask()));
    }
}

/// Returns whether an address has git start a helper of that name, such as `ext::`, which runs any program.
fn names_helper(url: &str) -> bool {
    url.split_once("::").is_some_and(|(name, _)| !name.contains(['/', '[']))
}

/// Settings of git by who made them.
#[derive(Debug, Default)]
struct Settings {
    /// Those of the system, the user and the environment
    operators: Vec<NameValue>,
    /// Those of the repository and its worktrees, where agents can write
    repositorys: Vec<NameValue>,
}

impl Settings {
    /// The value that holds in the repository.
    fn of_repository(&self, key: &str) -> Option<&str> {
        let found = self.repositorys.iter().rev().find(|(name, _)| name == key);
        found.and_then(|(_, value)| value.to_str())
    }
}

/// A folder that git takes for a repository; gone when this is dropped.
#[derive(Debug)]
struct ScratchRepository(PathBuf);

impl Drop for ScratchRepository {
    fn drop(&mut self) {
        // Best effort: it holds nothing but a few settings.
        drop(fs::remove_dir_all(&self.0));
    }
}

impl Push {
    /// Why it failed.
    fn failed(&self, output: &Output) -> GitError {
        let (told, words) = (text(&output.stdout), text(&output.stderr));
        let (remote, branch) = (without_secrets(&self.remote), self.branch.clone());
        let reason = error_text(&output.stderr);
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
        if has(&AUTHENTICATION_ERRORS) {
            return GitError::Denied { remote, message: reason };
        }
        if refusal.starts_with("[remote rejected]") {
            let message = words.lines().filter_map(|line| line.strip_prefix("remote: "));
            let message: Vec<&str> =
                message.map(str::trim).filter(|line| !line.is_empty()).collect();
            let message = format!("{refusal} {}", message.join(" "));
            let message = without_secrets(&super::command::readable(message.trim()));
            return GitError::Refused { remote, branch, message };
        }
        if words.contains("does not appear to be a git repository") {
            return GitError::NoRemote(remote);
        }
        if has(&CONNECTION_ERRORS) {
            return GitError::Offline { remote, message: reason };
        }
        GitError::Failed { command: "push".into(), message: reason }
    }
}

#[cfg(test)]
mod tests;
