//! Git as we start it: calm, that is without the hooks, monitors, filters and helpers that a repository names.
//!
//! Every git process of the product but `push` goes through an [`Order`] of this file.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::error::GitError;
use crate::process::{self, Launch, Output, RunError};
use crate::program;

/// Where programs usually are, for those who do not know better.
pub(super) const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";
/// What a repository's own configuration could have us run, fetch, ask, sign or do besides.
const CALM: [&str; 23] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "protocol.allow=never",
    "core.quotePath=false",
    "core.safecrlf=false",
    "core.filesRefLockTimeout=1000",
    "core.packedRefsTimeout=5000",
    "advice.addEmbeddedRepo=false",
    "advice.updateSparsePath=false",
    "branch.autoSetupMerge=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "log.showSignature=false",
    "maintenance.auto=false",
    "merge.conflictStyle=merge",
    "merge.verifySignatures=false",
    "rebase.autoStash=false",
    "rebase.updateRefs=false",
    "rerere.enabled=false",
    "submodule.recurse=false",
];
/// What makes a program of the repository part of git's work, and what hides such settings from us.
const ARMED: &str =
    r"^(filter\..*|merge\..*\.driver|core\.(bare|sparsecheckout)|include(if)?\..*)$";
/// The first pause before somebody's lock is tried again; each pause is twice the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// No pause is longer: all in all they are two and a half seconds.
const LAST_PAUSE: Duration = Duration::from_millis(1_280);

/// A name and its value, of the environment or of a configuration.
pub(super) type Pair = (OsString, OsString);

/// One start of git, and all there is to say about it.
#[derive(Debug, Clone)]
pub(super) struct Order {
    path: OsString,
    limit: Duration,
    directory: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<Pair>,
    configs: Vec<Pair>,
    input: Vec<u8>,
}

impl Order {
    /// Git, where `path` has it, in a directory.
    pub(super) fn new(path: &OsStr, directory: &Path, limit: Duration) -> Self {
        Self {
            path: path.to_owned(),
            limit,
            directory: directory.to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            configs: Vec::new(),
            input: Vec::new(),
        }
    }

    pub(super) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    pub(super) fn args<I: IntoIterator<Item: AsRef<OsStr>>>(mut self, arguments: I) -> Self {
        self.arguments.extend(arguments.into_iter().map(|one| one.as_ref().to_owned()));
        self
    }

    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    pub(super) fn envs(mut self, pairs: impl IntoIterator<Item = Pair>) -> Self {
        self.environment.extend(pairs);
        self
    }

    /// Settings that hold against those of the repository.
    pub(super) fn configs(mut self, pairs: impl IntoIterator<Item = Pair>) -> Self {
        self.configs.extend(pairs);
        self
    }

    /// What git reads from its standard input.
    pub(super) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Runs it once, whatever comes of it.
    pub(super) fn run(&self) -> Result<Output, RunError> {
        let mut all: Vec<OsString> = vec!["--no-optional-locks".into(), "--no-pager".into()];
        all.extend(CALM.iter().flat_map(|setting| ["-c".into(), OsString::from(setting)]));
        all.extend(self.arguments.iter().cloned());
        let plain = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let mut environment = vec![
            ("PATH".into(), self.path.clone()),
            plain("LC_ALL", "C"),
            plain("GIT_CONFIG_NOSYSTEM", "1"),
            plain("GIT_CONFIG_GLOBAL", "/dev/null"),
            plain("GIT_NO_LAZY_FETCH", "1"),
            plain("GIT_TERMINAL_PROMPT", "0"),
            plain("GIT_EDITOR", "true"),
            plain("GIT_SEQUENCE_EDITOR", "true"),
        ];
        environment.extend(numbered(&self.configs, 0));
        environment.extend(self.environment.iter().cloned());
        let launch = Launch {
            program: find(&self.path, &self.directory),
            arguments: all,
            environment,
            directory: self.directory.clone(),
        };
        process::run_with_input(&launch, &self.input, self.limit)
    }

    /// Runs it, and again for a while where somebody else holds a lock.
    pub(super) fn patiently(&self) -> Result<Output, RunError> {
        let mut pause = FIRST_PAUSE;
        loop {
            let output = self.run()?;
            let last = pause > LAST_PAUSE;
            if last || output.exit.is_success() || !is_busy(&output.stderr) {
                return Ok(output);
            }
            thread::sleep(pause);
            pause *= 2;
        }
    }

    /// What git answers, if it is content.
    pub(super) fn ask(&self) -> Result<Vec<u8>, GitError> {
        let output = self.patiently()?;
        if output.exit.is_success() { Ok(output.stdout) } else { Err(self.failed(&output)) }
    }

    /// The same for an answer of one line.
    pub(super) fn ask_line(&self) -> Result<String, GitError> {
        Ok(line(&self.ask()?))
    }

    /// The answer, or none where git says no without further trouble.
    pub(super) fn ask_maybe(&self) -> Result<Option<Vec<u8>>, GitError> {
        let output = self.patiently()?;
        match output.exit {
            process::Exit::Code(0) => Ok(Some(output.stdout)),
            process::Exit::Code(1) => Ok(None),
            _ => Err(self.failed(&output)),
        }
    }

    /// Why it failed.
    pub(super) fn failed(&self, output: &Output) -> GitError {
        let verb = self.arguments.iter().find(|one| !one.as_bytes().starts_with(b"-"));
        let command = verb.map_or_else(String::new, |verb| verb.to_string_lossy().into_owned());
        GitError::of(command, &output.stderr)
    }
}

/// Git by its path: with a name to look for, starting it costs a copy of our whole process.
pub(super) fn find(path: &OsStr, directory: &Path) -> PathBuf {
    program::find("git", &path.to_string_lossy(), directory).unwrap_or_else(|| "git".into())
}

/// Settings in the form in which the environment carries them, after `first` others.
pub(super) fn numbered(configs: &[Pair], first: usize) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(configs.len() * 2 + 1);
    for (index, (name, value)) in configs.iter().enumerate() {
        let number = first + index;
        pairs.push((format!("GIT_CONFIG_KEY_{number}").into(), name.clone()));
        pairs.push((format!("GIT_CONFIG_VALUE_{number}").into(), value.clone()));
    }
    if !configs.is_empty() {
        let count = first + configs.len();
        pairs.push(("GIT_CONFIG_COUNT".into(), count.to_string().into()));
    }
    pairs
}

/// Whether git gave way to somebody who holds a lock, or saw a worktree that was just being made.
pub(super) fn is_busy(stderr: &[u8]) -> bool {
    let said = String::from_utf8_lossy(stderr);
    said.contains(".lock': File exists")
        || said.contains("could not lock config file")
        || (said.contains("failed to read") && said.contains("commondir"))
}

/// What the configuration of a repository says that matters to us.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub(super) struct Armed {
    /// What puts every program that it names out of action
    pub(super) off: Vec<Pair>,
    pub(super) bare: bool,
    pub(super) sparse: bool,
    /// Whether it includes files of which we do not see when they change
    includes: bool,
}

impl Armed {
    /// Asks for it; it takes one process.
    pub(super) fn ask(order: Order) -> Result<Self, RunError> {
        let git = find(&order.path, &order.directory);
        // It also fails where there is nothing; if the configuration cannot be read, so fails what follows.
        let output = order.args(["config", "-z", "--get-regexp", ARMED]).run()?.stdout;
        let mut armed = Self::default();
        for entry in split(&output) {
            let end = entry.iter().position(|byte| *byte == b'\n').unwrap_or(entry.len());
            let (name, value) = entry.split_at(end);
            let is_on = !matches!(value, b"\nfalse" | b"\nno" | b"\noff" | b"\n0" | b"\n");
            match name {
                b"core.bare" => armed.bare = is_on,
                b"core.sparsecheckout" => armed.sparse = is_on,
                name if name.starts_with(b"include") => armed.includes = true,
                name => armed.off.push((os(name), disarmed(name, &git))),
            }
        }
        Ok(armed)
    }
}

/// The value by which a setting that names a program runs none of the repository's.
fn disarmed(name: &[u8], git: &Path) -> OsString {
    if name.starts_with(b"merge.") {
        // Git's own way to merge: with no program at all it would take one side for the whole.
        let git = git.display().to_string().replace('\'', "'\\''").replace('%', "%%");
        return format!("'{git}' merge-file --marker-size=%L %A %O %B").into();
    }
    if name.ends_with(b".required") { "false".into() } else { OsString::new() }
}

/// What is known of configurations, for as long as their files stay as they are.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<BTreeMap<PathBuf, (Vec<Seen>, Armed)>>);

/// By what we see that a file was replaced: its number, its length, when it was written.
type Seen = Option<(u64, u64, i64, i64)>;

/// More configurations than this are not worth remembering.
const REMEMBERED: usize = 256;

impl Known {
    /// What the configuration says that holds in a git directory; asked again only when it has changed.
    pub(super) fn get(
        &self,
        (common, git_dir): (&Path, &Path),
        order: impl FnOnce() -> Order,
    ) -> Result<Armed, RunError> {
        let own = git_dir.join("config.worktree");
        let files = [common.join("config"), own.clone()];
        let seen: Vec<Seen> = files.iter().map(|file| look(file)).collect();
        // Most worktrees have no settings of their own and share an entry.
        let key = if seen[1].is_some() { own } else { common.to_owned() };
        {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, armed)) = known.get(&key).filter(|(before, _)| *before == seen) {
                return Ok(armed.clone());
            }
        }
        let armed = Armed::ask(order())?;
        if !armed.includes {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= REMEMBERED {
                known.clear();
            }
            known.insert(key, (seen, armed.clone()));
        }
        Ok(armed)
    }
}

fn look(file: &Path) -> Seen {
    let meta = fs::metadata(file).ok()?;
    Some((meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec()))
}

/// The fields of a list that zeros end.
pub(super) fn split(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|field| !field.is_empty())
}

/// Bytes as the system has them.
pub(super) fn os(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}

/// Bytes as people read them.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An answer without the end of its line.
pub(super) fn line(bytes: &[u8]) -> String {
    text(bytes.strip_suffix(b"\n").unwrap_or(bytes))
}

/// One line, whatever is in it.
pub(super) fn readable(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, c| {
        if c.is_control() {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
        text
    })
}
