//! Git's hooks in an agent's worktree: our own first, and the repository's as before.
//!
//! Git knows one folder of hooks. [`install`] writes one in which every hook passes on to the
//! repository's own, and `pre-commit` asks `adjutant guard` before it does; [`enable`] makes one worktree
//! use it, and no other. Here git is asked with the user's configuration, as an agent would ask it.

mod config;

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::files::{self, FileError, Mode, at};
use crate::process::RunError;

use self::config::{Config, Git};

/// No hook that we wrote is longer.
const MAX_HOOK_BYTES: u64 = 1024 * 1024;

/// Every hook that git runs for work in a working tree. Those of a server are not among
/// them: some of them change what git does merely by being there.
const HOOK_NAMES: [&str; 21] = [
    "applypatch-msg",
    "commit-msg",
    "p4-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "p4-prepare-changelist",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "prepare-commit-msg",
    "reference-transaction",
    "sendemail-validate",
];

/// Keeps scratch files of this process apart.
static SCRATCH_FILE_COUNTER: AtomicU64 = AtomicU64::new(0);

/// Hooks that could not be put into a worktree, and why.
#[derive(Debug, thiserror::Error)]
pub enum HooksError {
    /// The folder is no worktree beside the main one
    #[error("`{}` is not a worktree made by `git worktree add`; the guard is only for those", .0.display())]
    NotALinkedWorktree(PathBuf),
    /// The folder of hooks would mean another one in each worktree
    #[error("`{}` is not an absolute path; give the folder of hooks by its whole path", .0.display())]
    Relative(PathBuf),
    /// Git writes into the shared configuration of a submodule
    #[error(
        "`{}` belongs to a submodule, whose shared configuration git rewrites; turn the guard off with \
         `worktrees.guard: false`", .0.display()
    )]
    Submodule(PathBuf),
    /// A setting that must not be shared comes from a file that is not the repository's
    #[error(
        "`{key}` is set in `{from}`, which the repository's configuration includes; set it in the \
         repository's own, or turn the guard off with `worktrees.guard: false`"
    )]
    Included {
        /// The setting
        key: &'static str,
        /// Where it is set
        from: String,
    },
    /// Settings that nobody uses would come into force
    #[error(
        "`{}` holds settings that are not in force, and would be; remove the file, or run \
         `git config extensions.worktreeConfig true` if they are wanted", .0.display()
    )]
    Unused(PathBuf),
    /// A file could not be read or written
    #[error(transparent)]
    File(#[from] FileError),
    /// Git did not start or did not end
    #[error(transparent)]
    Run(#[from] RunError),
    /// Git ended with an error
    #[error("`git {command}` failed: {message}")]
    Failed {
        /// Command
        command: String,
        /// Message of the command
        message: String,
    },
}

/// The folder of hooks that a worktree would use if it were not for `folder`: what `core.hooksPath` says, for
/// the repository or for the user. A relative one counts from the top of each worktree. Without a setting
/// it is the repository's own, and the answer is nothing. Blocks.
pub fn original(
    worktree: &Path,
    folder: &Path,
    environment: &[(OsString, OsString)],
) -> Result<Option<PathBuf>, HooksError> {
    let git = Git::new(worktree, environment);
    let all = ["config", "-z", "--type=path", "--get-all", "core.hooksPath"];
    let output = git.run(&all.map(OsStr::new))?;
    // It also fails where there is none.
    let values = output.stdout.split(|byte| *byte == 0).filter(|value| !value.is_empty());
    let mut others = values.map(|value| PathBuf::from(OsString::from_vec(value.to_vec())));
    // Hooks of ours were kept in the home before.
    let is_ours = |path: &PathBuf| path == folder || path.ends_with(".adjutant/hooks");
    Ok(others.rfind(|path| !is_ours(path)))
}

/// Writes the folder of hooks, whole or as it was. What is there already stays.
///
/// `adjutant` is our program, `original` what [`original`] said. A hook of the repository that is not there,
/// or not executable, is passed over as git does; so is our program, should it be gone.
pub fn install(folder: &Path, adjutant: &Path, original: Option<&Path>) -> Result<(), FileError> {
    files::make_dir(folder, Mode::Shared)?;
    for name in HOOK_NAMES {
        let path = folder.join(name);
        let text = script(name, adjutant, original.filter(|original| *original != folder));
        if is_current(&path, &text) {
            continue;
        }
        // Worktrees are made side by side, and two writers must not share a scratch file.
        let turn = SCRATCH_FILE_COUNTER.fetch_add(1, Ordering::Relaxed);
        let scratch = folder.join(format!(".{name}.{}.{turn}.new", std::process::id()));
        let written = (|| {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o755);
            let mut file = options.open(&scratch)?;
            // What was asked for at its making went through the user's mask.
            file.set_permissions(fs::Permissions::from_mode(0o755))?;
            file.write_all(&text)?;
            drop(file);
            fs::rename(&scratch, &path)
        })();
        written.map_err(|error| {
            // Best effort: the scratch file may not even be there.
            drop(fs::remove_file(&scratch));
            at("write", &path)(error)
        })?;
    }
    Ok(())
}

fn is_current(path: &Path, text: &[u8]) -> bool {
    let executable =
        fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o777 == 0o755);
    executable && files::read_bytes(path, MAX_HOOK_BYTES).is_ok_and(|there| there == text)
}

/// Script of a hook. Input and arguments are passed on to the repository's own hook.
fn script(name: &str, adjutant: &Path, original: Option<&Path>) -> Vec<u8> {
    let mut text =
        b"#!/bin/sh\n# Written by Adjutant: passes on to the repository's own hook.\n".to_vec();
    if name == "pre-commit" {
        let program = quoted(adjutant.as_os_str());
        text.extend_from_slice(
            b"# Only a clear no stops a commit: a guard that cannot ask does not block work.\n",
        );
        text.extend([b"if [ -x ", &program[..], b" ]; then\n    "].concat());
        text.extend([&program[..], b" guard </dev/null\n"].concat());
        text.extend_from_slice(b"    if [ $? -eq 1 ]; then exit 1; fi\nfi\n");
    }
    let hooks = match original {
        Some(folder) if folder.is_absolute() => quoted(folder.as_os_str()),
        // With something before it a name cannot be taken for an option.
        Some(folder) => quoted(Path::new(".").join(folder).as_os_str()),
        None => b"\"$(git rev-parse --git-common-dir)\"/hooks".to_vec(),
    };
    text.extend([b"own=", &hooks[..], b"/", name.as_bytes(), b"\n"].concat());
    text.extend_from_slice(
        b"if [ -f \"$own\" ] && [ -x \"$own\" ]; then exec \"$own\" \"$@\"; fi\nexit 0\n",
    );
    text
}

/// A word that a shell takes as it is.
fn quoted(word: &OsStr) -> Vec<u8> {
    let mut text = vec![b'\''];
    for byte in word.as_bytes() {
        match byte {
            b'\'' => text.extend_from_slice(b"'\\''"),
            other => text.push(*other),
        }
    }
    text.push(b'\'');
    text
}

/// Makes one worktree use the folder of hooks. May be repeated; what a killed server left half done is
/// then whole. Blocks.
///
/// Git keeps settings of one worktree apart once `extensions.worktreeConfig` is on. What then must not be
/// shared any more, `core.bare` and `core.worktree`, goes to the main worktree's own settings.
pub fn enable(
    worktree: &Path,
    folder: &Path,
    environment: &[(OsString, OsString)],
) -> Result<(), HooksError> {
    if !folder.is_absolute() {
        return Err(HooksError::Relative(folder.to_owned()));
    }
    let git = Git::new(worktree, environment);
    let (own, common) =
        git.dirs().ok_or_else(|| HooksError::NotALinkedWorktree(worktree.into()))?;
    if own == common {
        return Err(HooksError::NotALinkedWorktree(worktree.to_owned()));
    }
    let shared = Config::read(&git, &common.join("config"))?;
    separate(&git, &common, &shared)?;
    let own = own.join("config.worktree");
    if Config::read(&git, &own)?.get("core.hookspath") != Some(folder.as_os_str()) {
        git.set(&own, "core.hooksPath", folder.as_os_str())?;
    }
    Ok(())
}

/// Lets every worktree have settings of its own, without a change to any of them.
fn separate(git: &Git<'_>, common: &Path, shared: &Config) -> Result<(), HooksError> {
    let is_on = shared.is_true("extensions.worktreeconfig");
    let mut moved: Vec<(&'static str, OsString)> = Vec::new();
    for key in ["core.bare", "core.worktree"] {
        let Some(value) = shared.get(key) else { continue };
        // Said of every worktree that it is not bare, it does no harm.
        if key == "core.bare" && !shared.is_true(key) {
            continue;
        }
        if let Some(from) = shared.included(key) {
            return Err(HooksError::Included { key, from });
        }
        moved.push((key, value.to_owned()));
    }
    if is_on && moved.is_empty() {
        return Ok(());
    }
    let mut parts = common.components().map(|part| part.as_os_str());
    if parts.any(|part| part == ".git") && parts.next().is_some_and(|part| part == "modules") {
        return Err(HooksError::Submodule(common.to_owned()));
    }
    if !is_on && let Err(refusal) = refuse_what_is_unused(git, common, &moved) {
        // Unless it was turned on again since, and these are in force.
        let now = Config::read(git, &common.join("config"))?;
        if !now.is_true("extensions.worktreeconfig") {
            return Err(refusal);
        }
    }
    // In this order, so that after a crash the repository is as it was, or becomes whole when this is repeated.
    let main = common.join("config.worktree");
    for (key, value) in &moved {
        git.set(&main, key, value)?;
    }
    let shared = common.join("config");
    if !is_on {
        git.set(&shared, "extensions.worktreeConfig", OsStr::new("true"))?;
    }
    for (key, _) in &moved {
        git.unset(&shared, key)?;
    }
    Ok(())
}

/// Refuses where settings of worktrees lie about that are not in force and would come into force.
fn refuse_what_is_unused(
    git: &Git<'_>,
    common: &Path,
    moved: &[(&'static str, OsString)],
) -> Result<(), HooksError> {
    let main = common.join("config.worktree");
    let worktrees = common.join("worktrees");
    let folders = fs::read_dir(&worktrees).into_iter().flatten().flatten();
    let others = folders.map(|folder| folder.path().join("config.worktree"));
    for file in others.chain([main.clone()]).filter(|file| file.exists()) {
        let config = Config::read(git, &file)?;
        // What we are about to write there we may have written already.
        let ours = |(key, value): (&str, &OsStr)| {
            file == main && moved.iter().any(|(known, new)| *known == key && new == value)
        };
        if !config.entries().all(ours) {
            return Err(HooksError::Unused(file));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
