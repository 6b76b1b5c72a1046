//! Git as we start it: calm, that is without the hooks, monitors, filters and helpers that a repository names.
//!
//! Every git process of the product but `push` goes through an [`GitInvocation`] of this file.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::error::GitError;
use crate::files::{self, at};
use crate::process::{self, Launch, Output, RunError};
use crate::program;

/// Where programs usually are, for those who do not know better.
pub(super) const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";
/// Settings that keep a repository's configuration from running, fetching, prompting or signing.
const SAFE_SETTINGS: [&str; 23] = [
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
/// Pattern of settings that make git run programs, or that hide such settings.
const PROGRAM_SETTINGS_PATTERN: &str = r"^(filter\..*|merge\..*\.driver|core\.(bare|sparsecheckout)|extensions\.worktreeconfig|include(if)?\..*)$";
/// First delay before a held lock is tried again; each delay is twice the one before.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(5);
/// No pause is longer: all in all they are two and a half seconds.
const MAX_RETRY_DELAY: Duration = Duration::from_millis(1_280);

/// A name and its value, of the environment or of a configuration.
pub(super) type NameValue = (OsString, OsString);

/// One start of git, and all there is to say about it.
#[derive(Debug, Clone)]
pub(super) struct GitInvocation {
    path: OsString,
    limit: Duration,
    directory: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<NameValue>,
    configs: Vec<NameValue>,
    input: Vec<u8>,
}

impl GitInvocation {
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

    pub(super) fn envs(mut self, pairs: impl IntoIterator<Item = NameValue>) -> Self {
        self.environment.extend(pairs);
        self
    }

    /// Settings that hold against those of the repository.
    pub(super) fn configs(mut self, pairs: impl IntoIterator<Item = NameValue>) -> Self {
        self.configs.extend(pairs);
        self
    }

    /// Sets git's standard input.
    pub(super) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Runs it once, whatever comes of it.
    pub(super) fn run(&self) -> Result<Output, RunError> {
        let mut all: Vec<OsString> = vec!["--no-optional-locks".into(), "--no-pager".into()];
        all.extend(SAFE_SETTINGS.iter().flat_map(|setting| ["-c".into(), OsString::from(setting)]));
        all.extend(self.arguments.iter().cloned());
        let plain = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let mut environment = vec![
            ("PATH".into(), self.path.clone()),
            plain("LC_ALL", "C"),
            plain("GIT_CONFIG_NOSYSTEM", "1"),
            plain("GIT_CONFIG_GLOBAL", "/dev/null"),
            plain("GIT_NO_LAZY_FETCH", "1"),
            // Unlike `protocol.allow`, no setting of the repository holds against it.
            plain("GIT_ALLOW_PROTOCOL", "none"),
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

    /// Runs it, and retries for a while where another process holds a lock.
    pub(super) fn retry_while_locked(&self) -> Result<Output, RunError> {
        let mut pause = FIRST_RETRY_DELAY;
        loop {
            let output = self.run()?;
            let last = pause > MAX_RETRY_DELAY;
            if last || output.exit.is_success() || !is_busy(&output.stderr) {
                return Ok(output);
            }
            thread::sleep(pause);
            pause *= 2;
        }
    }

    /// Runs git and returns its output on success.
    pub(super) fn ask(&self) -> Result<Vec<u8>, GitError> {
        let output = self.retry_while_locked()?;
        if output.exit.is_success() { Ok(output.stdout) } else { Err(self.failed(&output)) }
    }

    /// The same for an answer of one line.
    pub(super) fn ask_line(&self) -> Result<String, GitError> {
        Ok(line(&self.ask()?))
    }

    /// The answer, or none where git says no without an error.
    pub(super) fn ask_maybe(&self) -> Result<Option<Vec<u8>>, GitError> {
        let output = self.retry_while_locked()?;
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
pub(super) fn numbered(configs: &[NameValue], first: usize) -> Vec<NameValue> {
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

/// True if git failed because of a held lock or a half-made worktree.
pub(super) fn is_busy(stderr: &[u8]) -> bool {
    let message = String::from_utf8_lossy(stderr);
    message.contains(".lock': File exists")
        || message.contains("could not lock config file")
        || (message.contains("failed to read") && message.contains("commondir"))
}

/// Settings of a repository that name programs.
#[derive(Debug, Clone, Default)]
pub(super) struct ProgramSettings {
    /// Overrides that disable every named program
    pub(super) off: Vec<NameValue>,
    pub(super) bare: bool,
    pub(super) sparse: bool,
}

/// Parsed facts of one configuration text.
#[derive(Debug, Clone, Default)]
struct ConfigFacts {
    off: Vec<NameValue>,
    bare: Option<bool>,
    sparse: Option<bool>,
    /// True if it includes files, of which only git in its place knows which
    has_includes: bool,
    /// True if worktrees have settings of their own
    per_worktree: Option<bool>,
}

impl ConfigFacts {
    /// Reads what `git config` has listed.
    fn read(listed: &[u8], git: &Path) -> Self {
        let mut facts = Self::default();
        for entry in split(listed) {
            let end = entry.iter().position(|byte| *byte == b'\n').unwrap_or(entry.len());
            let (name, value) = entry.split_at(end);
            let is_on = !matches!(value, b"\nfalse" | b"\nno" | b"\noff" | b"\n0" | b"\n");
            match name {
                b"core.bare" => facts.bare = Some(is_on),
                b"core.sparsecheckout" => facts.sparse = Some(is_on),
                b"extensions.worktreeconfig" => facts.per_worktree = Some(is_on),
                name if name.starts_with(b"include") => facts.has_includes = true,
                name => facts.off.push((os(name), without_programs(name, git))),
            }
        }
        facts
    }

    fn program_settings(self) -> ProgramSettings {
        let Self { off, bare, sparse, .. } = self;
        ProgramSettings { off, bare: bare.unwrap_or(false), sparse: sparse.unwrap_or(false) }
    }
}

impl ProgramSettings {
    /// Asks git in its place; it takes one process.
    pub(super) fn ask(order: GitInvocation) -> Result<Self, RunError> {
        let git = find(&order.path, &order.directory);
        // It also fails where there is nothing; if the configuration cannot be read, so fails what follows.
        let output =
            order.args(["config", "-z", "--get-regexp", PROGRAM_SETTINGS_PATTERN]).run()?.stdout;
        Ok(ConfigFacts::read(&output, &git).program_settings())
    }
}

/// The value by which a setting that names a program runs none of the repository's.
fn without_programs(name: &[u8], git: &Path) -> OsString {
    if name.starts_with(b"merge.") {
        // Git's own way to merge: with no program at all it would take one side for the whole.
        let git = git.display().to_string().replace('\'', "'\\''").replace('%', "%%");
        return format!("'{git}' merge-file --marker-size=%L %A %O %B").into();
    }
    if name.ends_with(b".required") { "false".into() } else { OsString::new() }
}

/// Cache of parsed configurations, keyed by their text, so that an agent cannot slip a setting in
/// behind what is remembered: neither a file's number nor its length nor its time is trusted.
#[derive(Debug, Default)]
pub(super) struct ConfigCache(Mutex<HashMap<Vec<u8>, ConfigFacts>>);

/// More texts than this are not worth remembering.
const MAX_CACHED_CONFIGS: usize = 64;
/// Longer texts are read anew each time.
const MAX_CACHED_CONFIG_BYTES: usize = 64 * 1024;
/// A configuration that is longer is refused.
const MAX_CONFIG_BYTES: u64 = 4 * 1024 * 1024;

impl ConfigCache {
    /// Returns the facts of a git directory's configuration; the text is read each time, git is asked only about new texts.
    pub(super) fn get(
        &self,
        common: &Path,
        git_dir: &Path,
        order: impl Fn() -> GitInvocation,
    ) -> Result<ProgramSettings, GitError> {
        let mut facts = self.facts_of(&common.join("config"), &order)?;
        if facts.per_worktree == Some(true) {
            let own = self.facts_of(&git_dir.join("config.worktree"), &order)?;
            facts.off.extend(own.off);
            facts.bare = own.bare.or(facts.bare);
            facts.sparse = own.sparse.or(facts.sparse);
            facts.has_includes |= own.has_includes;
        }
        if facts.has_includes {
            return Ok(ProgramSettings::ask(order())?);
        }
        Ok(facts.program_settings())
    }

    fn facts_of(
        &self,
        file: &Path,
        order: &impl Fn() -> GitInvocation,
    ) -> Result<ConfigFacts, GitError> {
        let text = match files::read_bytes(file, MAX_CONFIG_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(ConfigFacts::default());
            }
            Err(error) => return Err(at("read", file)(error).into()),
        };
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(facts) = known().get(&text) {
            return Ok(facts.clone());
        }
        // From this text and not from the file, which may be another one by now.
        let asked =
            order().args(["config", "-z", "--file", "-", "--get-regexp", PROGRAM_SETTINGS_PATTERN]);
        let asked = asked.input(if text.is_empty() { b"\n".to_vec() } else { text.clone() });
        let listed = asked.ask_maybe()?.unwrap_or_default();
        let facts = ConfigFacts::read(&listed, &find(&asked.path, &asked.directory));
        if text.len() <= MAX_CACHED_CONFIG_BYTES {
            let mut known = known();
            if known.len() >= MAX_CACHED_CONFIGS {
                known.clear();
            }
            known.insert(text, facts.clone());
        }
        Ok(facts)
    }
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
