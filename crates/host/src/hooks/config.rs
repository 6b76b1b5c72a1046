//! Git's configuration files, one at a time, through git itself.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::HooksError;
use crate::process::{self, Launch, Output};
use crate::program;

/// Timeout of one step.
const STEP_TIMEOUT: Duration = Duration::from_secs(10);
/// First delay before a held lock is tried again; each delay is twice the one before.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(5);
/// No pause is longer: all in all they are more than two seconds.
const MAX_RETRY_DELAY: Duration = Duration::from_millis(1_280);
/// Git's exit code when there is nothing to unset.
const EXIT_NOTHING_TO_UNSET: i32 = 5;

/// Git, in one worktree, as its user has set it up.
pub(super) struct Git<'a> {
    directory: &'a Path,
    environment: Vec<(OsString, OsString)>,
    program: PathBuf,
}

impl<'a> Git<'a> {
    pub(super) fn new(directory: &'a Path, environment: &[(OsString, OsString)]) -> Self {
        let is_kept = |name: &OsStr| {
            let name = name.as_bytes();
            // A process that git started is told of another repository than this one.
            !name.starts_with(b"GIT_")
                || [b"GIT_CONFIG_GLOBAL".as_slice(), b"GIT_CONFIG_SYSTEM", b"GIT_CONFIG_NOSYSTEM"]
                    .contains(&name)
        };
        let kept = environment.iter().filter(|(name, _)| is_kept(name) && name != "LC_ALL");
        let mut environment: Vec<(OsString, OsString)> = kept.cloned().collect();
        let path = environment.iter().find(|(name, _)| name == "PATH");
        let path = path.map(|(_, path)| path.to_string_lossy().into_owned()).unwrap_or_default();
        let found = program::find("git", &path, directory);
        // What it complains of is looked at.
        environment.push(("LC_ALL".into(), "C".into()));
        Self { directory, environment, program: found.unwrap_or_else(|| PathBuf::from("git")) }
    }

    pub(super) fn run(&self, arguments: &[&OsStr]) -> Result<Output, HooksError> {
        let launch = Launch {
            program: self.program.clone(),
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: self.environment.clone(),
            directory: self.directory.to_owned(),
        };
        Ok(process::run(&launch, STEP_TIMEOUT)?)
    }

    /// The worktree's own git directory and the one that all share, if this is one.
    pub(super) fn dirs(&self) -> Option<(PathBuf, PathBuf)> {
        let ask = ["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"];
        let output = self.run(&ask.map(OsStr::new)).ok()?;
        let mut lines = output.stdout.split(|byte| *byte == b'\n');
        let mut path = || {
            let line = lines.next().filter(|line| line.starts_with(b"/"))?;
            PathBuf::from(OsString::from_vec(line.to_vec())).canonicalize().ok()
        };
        let dirs = (path()?, path()?);
        output.exit.is_success().then_some(dirs)
    }

    pub(super) fn set(&self, file: &Path, key: &str, value: &OsStr) -> Result<(), HooksError> {
        self.change(&[
            OsStr::new("config"),
            OsStr::new("--file"),
            file.as_os_str(),
            OsStr::new("--replace-all"),
            OsStr::new(key),
            value,
        ])
    }

    pub(super) fn unset(&self, file: &Path, key: &str) -> Result<(), HooksError> {
        self.change(&[
            OsStr::new("config"),
            OsStr::new("--file"),
            file.as_os_str(),
            OsStr::new("--unset-all"),
            OsStr::new(key),
        ])
    }

    /// Changes something, as soon as nobody else does.
    fn change(&self, arguments: &[&OsStr]) -> Result<(), HooksError> {
        let mut pause = FIRST_RETRY_DELAY;
        loop {
            let output = self.run(arguments)?;
            if output.exit.is_success() || output.exit == process::Exit::Code(EXIT_NOTHING_TO_UNSET)
            {
                return Ok(());
            }
            let message = String::from_utf8_lossy(&output.stderr);
            if message.contains("could not lock config file") && pause <= MAX_RETRY_DELAY {
                thread::sleep(pause);
                pause *= 2;
                continue;
            }
            return Err(failed(arguments, &message));
        }
    }
}

fn failed(arguments: &[&OsStr], message: &str) -> HooksError {
    let command: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    HooksError::Failed {
        command: command.join(" "),
        message: message.lines().last().unwrap_or("no word").escape_debug().to_string(),
    }
}

/// Settings of one file, with its includes.
#[derive(Debug, Default)]
pub(super) struct Config {
    file: PathBuf,
    /// Key, value, and the file that has it
    entries: Vec<(String, OsString, PathBuf)>,
}

impl Config {
    /// Reads a file. One that is not there says nothing.
    pub(super) fn read(git: &Git<'_>, file: &Path) -> Result<Self, HooksError> {
        let mut config = Self { file: file.to_owned(), entries: Vec::new() };
        if !file.exists() {
            return Ok(config);
        }
        let ask = [
            OsStr::new("config"),
            OsStr::new("--file"),
            file.as_os_str(),
            OsStr::new("--includes"),
            OsStr::new("--show-origin"),
            OsStr::new("--list"),
            OsStr::new("-z"),
        ];
        let output = git.run(&ask)?;
        if !output.exit.is_success() {
            return Err(failed(&ask, &String::from_utf8_lossy(&output.stderr)));
        }
        let mut fields = output.stdout.split(|byte| *byte == 0);
        while let (Some(origin), Some(entry)) = (fields.next(), fields.next()) {
            let end = entry.iter().position(|byte| *byte == b'\n');
            let (key, value) = entry.split_at(end.unwrap_or(entry.len()));
            // A key without a value means yes.
            let value = value.strip_prefix(b"\n").unwrap_or(b"true");
            let from = origin.strip_prefix(b"file:").unwrap_or(origin);
            config.entries.push((
                String::from_utf8_lossy(key).into_owned(),
                OsString::from_vec(value.to_vec()),
                PathBuf::from(OsString::from_vec(from.to_vec())),
            ));
        }
        Ok(config)
    }

    /// Every key in lower case, with its value.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        self.entries.iter().map(|(key, value, _)| (key.as_str(), value.as_os_str()))
    }

    /// The value that holds.
    pub(super) fn get(&self, key: &str) -> Option<&OsStr> {
        self.entries().filter(|(known, _)| *known == key).last().map(|(_, value)| value)
    }

    pub(super) fn is_true(&self, key: &str) -> bool {
        self.get(key).and_then(OsStr::to_str).is_some_and(|value| {
            !matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0" | "")
        })
    }

    /// The other file in which a key is set, if there is one.
    pub(super) fn included(&self, key: &str) -> Option<String> {
        let mut found = self.entries.iter().filter(|(known, _, _)| known == key);
        found.find(|(_, _, from)| *from != self.file).map(|(_, _, from)| from.display().to_string())
    }
}
