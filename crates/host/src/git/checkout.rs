//! Finds the working tree of a folder from git's files: no process, and no wait on special files.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::command::os;
use crate::files::{self, FileError, Mode, read_at_most};

/// Upper bound on what is read of a file of git's: all of them hold one path.
const MAX_POINTER_BYTES: u64 = 16 << 10;
/// Name of the file in a worktree's git directory that says whose worktree it is.
const HOME_POINTER: &str = "adjutant-home";

/// Name of the file in a worktree's git directory that says that its set-up has run.
const SET_UP: &str = "adjutant-set-up";

/// A working tree of a repository, the main one or a linked one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// Its top folder, without links
    pub top: PathBuf,
    /// The directory that all working trees of the repository share, without links
    pub common: PathBuf,
    /// The name under which the repository knows a linked worktree; none for the main one
    pub name: Option<OsString>,
    /// The git directory of this working tree alone
    git_dir: PathBuf,
}

impl Checkout {
    /// Finds the working tree around a folder, which need not exist. An empty `.git`, as sandboxes leave
    /// them, is none.
    pub fn around(dir: &Path) -> Option<Self> {
        dir.ancestors().find_map(Self::at)
    }

    fn at(top: &Path) -> Option<Self> {
        let dot = top.join(".git");
        let git_dir = if fs::metadata(&dot).ok()?.is_dir() {
            dot
        } else {
            top.join(os(read(&dot)?.strip_prefix(b"gitdir: ")?))
        };
        let git_dir = fs::canonicalize(git_dir).ok()?;
        if !git_dir.join("HEAD").exists() {
            return None;
        }
        let common = match read(&git_dir.join("commondir")) {
            Some(text) => fs::canonicalize(git_dir.join(os(&text))).ok()?,
            None => git_dir.clone(),
        };
        let name = (git_dir != common).then(|| git_dir.file_name().map(OsString::from)).flatten();
        Some(Self { top: fs::canonicalize(top).ok()?, common, name, git_dir })
    }

    /// The home that a worktree made by Adjutant belongs to.
    pub fn home(&self) -> Option<PathBuf> {
        self.name.as_ref()?;
        let noted = PathBuf::from(os(&read(&self.git_dir.join(HOME_POINTER))?));
        match noted.strip_prefix("..") {
            Ok(beside) => Some(self.common.parent()?.join(beside)),
            Err(_) => Some(noted).filter(|path| path.is_absolute()),
        }
    }

    /// Returns whether the project's set-up has run in this worktree.
    pub fn is_set_up(&self) -> bool {
        self.git_dir.join(SET_UP).exists()
    }

    /// Notes that the project's set-up has run in this linked worktree.
    pub fn mark_set_up(&self) -> Result<(), FileError> {
        match self.name {
            Some(_) => files::write(&self.git_dir.join(SET_UP), "", Mode::Private),
            None => Ok(()),
        }
    }

    /// Notes the home that this linked worktree belongs to. Written relative to the repository where the home
    /// lies beside it, so that a project can be renamed.
    pub fn set_home(&self, home: &Path) -> Result<(), FileError> {
        let beside = self.common.parent().and_then(|parent| home.strip_prefix(parent).ok());
        let noted = beside.map_or_else(|| home.to_owned(), |rest| Path::new("..").join(rest));
        let path = self.git_dir.join(HOME_POINTER);
        let wanted = noted.as_os_str().as_bytes();
        if self.name.is_none() || read(&path).is_some_and(|there| there == wanted) {
            return Ok(());
        }
        // A path that is not text cannot be noted; then the home is found as it was before there were pointers.
        let Some(text) = noted.to_str() else { return Ok(()) };
        files::write(&path, &format!("{text}\n"), Mode::Private)
    }
}

/// Reads a small regular file without its last line break; anything else is nothing.
fn read(path: &Path) -> Option<Vec<u8>> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    // Should it have become a pipe since, opening it does not wait for a writer.
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).ok()?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let bytes = read_at_most(&file, MAX_POINTER_BYTES).ok()?;
    let text = bytes.trim_ascii_end().to_vec();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::super::support::Repository;
    use super::*;

    #[test]
    fn a_linked_worktree_shares_the_directory_of_the_main_one() {
        let repository = Repository::with_commit();
        let main = Checkout::around(repository.top()).unwrap();
        assert_eq!(main.common, repository.top().join(".git").canonicalize().unwrap());
        assert_eq!((&main.name, main.home()), (&None, None));
        fs::create_dir_all(repository.top().join("a/b")).unwrap();
        assert_eq!(Checkout::around(&repository.top().join("a/b/not-there")).unwrap(), main);

        let linked = repository.worktree("feature");
        let found = Checkout::around(&linked).unwrap();
        assert_eq!(found.common, main.common);
        assert_eq!(found.top, linked.canonicalize().unwrap());
        assert_eq!(found.name.as_deref(), linked.file_name());
    }

    #[test]
    fn a_worktree_points_to_its_home_and_nothing_shows_in_its_files() {
        let repository = Repository::with_commit();
        let linked = repository.worktree("feature");
        let top = repository.top().canonicalize().unwrap();
        for home in [top.join(".adjutant"), PathBuf::from("/elsewhere/.adjutant")] {
            Checkout::around(&linked).unwrap().set_home(&home).unwrap();
            let found = Checkout::around(&linked).unwrap().home().unwrap();
            assert_eq!(found, home);
        }
        assert_eq!(super::super::support::plain(&linked, &["status", "--porcelain"]), "");
        // The main working tree belongs to its user.
        let main = Checkout::around(&top).unwrap();
        main.set_home(Path::new("/elsewhere/.adjutant")).unwrap();
        assert_eq!(main.home(), None);
    }

    #[test]
    fn what_is_no_repository_is_none_and_a_pipe_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("empty")).unwrap();
        fs::create_dir(dir.path().join("empty/.git")).unwrap();
        let pipe = dir.path().join("pipe");
        fs::create_dir(&pipe).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, pipe.join(".git"), 0o600.into()).unwrap();
        for name in ["empty", "pipe"] {
            let top = dir.path().join(name).canonicalize().unwrap();
            let found = Checkout::around(&top);
            assert!(found.is_none_or(|found| found.top != top), "`{name}`");
        }
    }
}
