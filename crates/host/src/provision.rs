//! Puts ignored files of a project into a worktree: as copies, cloned where the disk can, or as links.
//!
//! Nothing outside the project is read through a link, nothing that is there is replaced, and no special file is
//! opened: both trees may have been written by agents.

use std::fs::{self, DirBuilder, File, FileTimes, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::files::{FileError, at};

/// Why a file or folder was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SkippedReason {
    /// Something is at its place, such as a tracked file
    #[error("something is there already")]
    Exists,
    /// It is a link to somewhere outside the project
    #[error("it is a link that leads out of the project")]
    LeadsOut,
    /// A folder above its place is a link
    #[error("a folder above it is a link in the worktree")]
    BelowLink,
    /// It is a pipe, a socket or a device
    #[error("it is not a file, a folder or a link")]
    Special,
}

/// Why a file or folder could not be provided.
#[derive(Debug, thiserror::Error)]
pub enum ProvisionError {
    /// There is more to copy than is reasonable.
    #[error("there is more to copy than {MAX_FILES} files or {} GiB", MAX_BYTES >> 30)]
    TooMuch,
    /// The disk refused, perhaps because it is full.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Most files that are copied into one worktree.
const MAX_FILES: u64 = 200_000;
/// Most bytes that are copied into one worktree, where the disk cannot clone them.
const MAX_BYTES: u64 = 8 << 30;

/// Copies and links from one project into one worktree, within bounds that hold for all of them together.
#[derive(Debug)]
pub struct Provisioner {
    from: PathBuf,
    to: PathBuf,
    files: u64,
    bytes: u64,
}

impl Provisioner {
    /// Takes files from the working tree at `from` to the one at `to`.
    pub fn new(from: &Path, to: &Path) -> io::Result<Self> {
        Ok(Self { from: fs::canonicalize(from)?, to: fs::canonicalize(to)?, files: 0, bytes: 0 })
    }

    /// Copies a file or a folder by its relative path. Links in a folder are copied as links.
    pub fn copy(&mut self, path: &Path) -> Result<Option<SkippedReason>, ProvisionError> {
        let (source, target) = match self.place(path)? {
            Ok(place) => place,
            Err(reason) => return Ok(Some(reason)),
        };
        let facts = fs::symlink_metadata(&source).map_err(at("look at", &source))?;
        if !(facts.is_dir() || facts.is_file() || facts.is_symlink()) {
            return Ok(Some(SkippedReason::Special));
        }
        let mut open = vec![(source, target)];
        while let Some((source, target)) = open.pop() {
            open.extend(self.copy_one(&source, &target)?);
        }
        Ok(None)
    }

    /// Copies one file, link or empty folder, and gives what is in the folder.
    fn copy_one(
        &mut self,
        source: &Path,
        target: &Path,
    ) -> Result<Vec<(PathBuf, PathBuf)>, ProvisionError> {
        let facts = fs::symlink_metadata(source).map_err(at("look at", source))?;
        self.files += 1;
        if self.files > MAX_FILES {
            return Err(ProvisionError::TooMuch);
        }
        if facts.is_symlink() {
            let leads_to = fs::read_link(source).map_err(at("read", source))?;
            symlink(leads_to, target).map_err(at("create", target))?;
        } else if facts.is_file() {
            self.copy_file(source, target)?;
        } else if facts.is_dir() {
            let mut builder = DirBuilder::new();
            // The owner must be able to write in it, whatever the project's folder allows.
            builder.mode(facts.permissions().mode() & 0o777 | 0o700);
            builder.create(target).map_err(at("create the folder", target))?;
            let mut inside = Vec::new();
            for entry in fs::read_dir(source).map_err(at("list", source))? {
                let name = entry.map_err(at("list", source))?.file_name();
                inside.push((source.join(&name), target.join(&name)));
            }
            return Ok(inside);
        }
        Ok(Vec::new())
    }

    fn copy_file(&mut self, source: &Path, target: &Path) -> Result<(), ProvisionError> {
        // A pipe put there in this moment is not waited for, and a link not followed.
        let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let open = || OpenOptions::new().read(true).custom_flags(flags).open(source);
        let mut read = open().map_err(at("read", source))?;
        let facts = read.metadata().map_err(at("read", source))?;
        if !facts.is_file() {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(facts.permissions().mode() & 0o777);
        let mut write = options.open(target).map_err(at("create", target))?;
        if !is_cloned(&read, &write) {
            self.bytes = self.bytes.saturating_add(facts.len());
            if self.bytes > MAX_BYTES {
                return Err(ProvisionError::TooMuch);
            }
            io::copy(&mut read, &mut write).map_err(at("copy to", target))?;
        }
        if let Ok(modified) = facts.modified() {
            // Build tools compare times; without it they only do more than they must.
            drop(write.set_times(FileTimes::new().set_modified(modified)));
        }
        Ok(())
    }

    /// Makes a link to a file or a folder of the project, by its relative path.
    pub fn link(&self, path: &Path) -> Result<Option<SkippedReason>, ProvisionError> {
        let (source, target) = match self.place(path)? {
            Ok(place) => place,
            Err(reason) => return Ok(Some(reason)),
        };
        symlink(&source, &target).map_err(at("create", &target))?;
        Ok(None)
    }

    /// Makes a folder with a link to each entry of the project's, for rules that ignore folders and no links.
    pub fn link_entries(&self, path: &Path) -> Result<Option<SkippedReason>, ProvisionError> {
        let (source, target) = match self.place(path)? {
            Ok(place) => place,
            Err(reason) => return Ok(Some(reason)),
        };
        fs::create_dir(&target).map_err(at("create the folder", &target))?;
        for entry in fs::read_dir(&source).map_err(at("list", &source))? {
            let name = entry.map_err(at("list", &source))?.file_name();
            let target = target.join(&name);
            symlink(source.join(&name), &target).map_err(at("create", &target))?;
        }
        Ok(None)
    }

    /// Why a relative path would be left out, if it would.
    pub fn left_out(&self, path: &Path) -> Option<SkippedReason> {
        // It may dangle: then it leads to nothing.
        let real = fs::canonicalize(self.from.join(path));
        if !real.is_ok_and(|real| real.starts_with(&self.from)) {
            return Some(SkippedReason::LeadsOut);
        }
        let is_link = |folder: &Path| {
            let facts = fs::symlink_metadata(self.to.join(folder));
            facts.is_ok_and(|facts| !facts.is_dir())
        };
        if path.ancestors().skip(1).any(is_link) {
            return Some(SkippedReason::BelowLink);
        }
        fs::symlink_metadata(self.to.join(path)).is_ok().then_some(SkippedReason::Exists)
    }

    /// The two places of a path, once it is sure that it stays in both trees; the folders above are made.
    fn place(&self, path: &Path) -> Result<Result<(PathBuf, PathBuf), SkippedReason>, FileError> {
        if let Some(reason) = self.left_out(path) {
            return Ok(Err(reason));
        }
        let target = self.to.join(path);
        if let Some(above) = target.parent() {
            fs::create_dir_all(above).map_err(at("create the folder", above))?;
        }
        Ok(Ok((self.from.join(path), target)))
    }
}

/// Has the file system share the blocks of two files until one of them is written; says whether it could.
#[cfg(target_os = "linux")]
fn is_cloned(from: &File, to: &File) -> bool {
    rustix::fs::ioctl_ficlone(to, from).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn is_cloned(_: &File, _: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Trees {
        _dir: tempfile::TempDir,
        from: PathBuf,
        to: PathBuf,
    }

    impl Trees {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            let (from, to) = (root.join("project"), root.join("worktree"));
            for folder in ["project/node_modules/.bin", "project/a/b", "worktree", "outside"] {
                fs::create_dir_all(root.join(folder)).unwrap();
            }
            fs::write(root.join("outside/secret"), "secret").unwrap();
            fs::write(from.join(".env"), "KEY=1").unwrap();
            fs::write(from.join("node_modules/tool.js"), "tool").unwrap();
            symlink("../tool.js", from.join("node_modules/.bin/tool")).unwrap();
            Self { _dir: dir, from, to }
        }

        fn provisioner(&self) -> Provisioner {
            Provisioner::new(&self.from, &self.to).unwrap()
        }
    }

    #[test]
    fn files_and_folders_are_copied_with_their_modes_times_and_links() {
        let trees = Trees::new();
        let tool = trees.from.join("node_modules/tool.js");
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        let mut provisioner = trees.provisioner();
        assert_eq!(provisioner.copy(Path::new(".env")).unwrap(), None);
        assert_eq!(provisioner.copy(Path::new("node_modules")).unwrap(), None);
        assert_eq!(fs::read_to_string(trees.to.join(".env")).unwrap(), "KEY=1");
        let copy = trees.to.join("node_modules/tool.js");
        let (was, is) = (fs::metadata(&tool).unwrap(), fs::metadata(&copy).unwrap());
        assert_eq!(is.permissions().mode() & 0o777, 0o755);
        assert_eq!(is.modified().unwrap(), was.modified().unwrap());
        let link = fs::read_link(trees.to.join("node_modules/.bin/tool")).unwrap();
        assert_eq!(link, Path::new("../tool.js"));
        // Written in the worktree, the project's file stays as it is.
        fs::write(&copy, "changed").unwrap();
        assert_eq!(fs::read_to_string(&tool).unwrap(), "tool");
    }

    #[test]
    fn links_are_made_whole_or_entry_by_entry() {
        let trees = Trees::new();
        let provisioner = trees.provisioner();
        assert_eq!(provisioner.link(Path::new("a/b")).unwrap(), None);
        assert_eq!(fs::read_link(trees.to.join("a/b")).unwrap(), trees.from.join("a/b"));
        assert_eq!(provisioner.link_entries(Path::new("node_modules")).unwrap(), None);
        assert!(!trees.to.join("node_modules").is_symlink());
        assert_eq!(fs::read_to_string(trees.to.join("node_modules/tool.js")).unwrap(), "tool");
    }

    #[test]
    fn what_is_there_stays_and_nothing_leads_out() {
        let trees = Trees::new();
        let outside = trees.from.with_file_name("outside");
        symlink(outside.join("secret"), trees.from.join("leak")).unwrap();
        symlink("nowhere", trees.from.join("dangling")).unwrap();
        fs::write(trees.to.join(".env"), "mine").unwrap();
        symlink(&outside, trees.to.join("a")).unwrap();
        let mut provisioner = trees.provisioner();
        for (path, reason) in [
            (".env", SkippedReason::Exists),
            ("leak", SkippedReason::LeadsOut),
            ("dangling", SkippedReason::LeadsOut),
            ("../outside/secret", SkippedReason::LeadsOut),
            ("a/b", SkippedReason::BelowLink),
        ] {
            assert_eq!(provisioner.copy(Path::new(path)).unwrap(), Some(reason), "{path}");
            assert_eq!(provisioner.link(Path::new(path)).unwrap(), Some(reason), "{path}");
        }
        assert_eq!(fs::read_to_string(trees.to.join(".env")).unwrap(), "mine");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1, "nothing was written outside");
    }

    #[test]
    fn a_pipe_is_not_waited_for_and_links_in_a_folder_are_not_followed() {
        let trees = Trees::new();
        let modules = trees.from.join("node_modules");
        rustix::fs::mkfifoat(rustix::fs::CWD, modules.join("pipe"), 0o600.into()).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, trees.from.join("pipe"), 0o600.into()).unwrap();
        symlink("/", modules.join("root")).unwrap();
        let mut provisioner = trees.provisioner();
        assert_eq!(provisioner.copy(Path::new("pipe")).unwrap(), Some(SkippedReason::Special));
        assert_eq!(provisioner.copy(Path::new("node_modules")).unwrap(), None);
        assert!(!trees.to.join("node_modules/pipe").exists());
        assert!(trees.to.join("node_modules/root").is_symlink());
    }

    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        // Writing to it fails as on a full disk.
        if !Path::new("/dev/full").exists() {
            return;
        }
        let error = io::copy(
            &mut &b"x"[..],
            &mut OpenOptions::new().write(true).open("/dev/full").unwrap(),
        )
        .map_err(at("copy to", Path::new("/w/.env")))
        .map_err(ProvisionError::from)
        .unwrap_err();
        let ProvisionError::File(error) = &error else { panic!("{error}") };
        assert!(error.to_string().contains("/w/.env"), "{error}");
        assert_eq!(error.source.kind(), io::ErrorKind::StorageFull);
    }
}
