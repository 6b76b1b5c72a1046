//! Files that are whole or not there, private where they hold secrets.
//!
//! Most of them lie where agents can write. So nothing here waits for another process: what is opened is a regular
//! file, or it is refused, and what is read has a limit.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

/// Upper bound on a file that is read into memory as a whole.
const MAX_WHOLE_FILE: u64 = 64 * 1024 * 1024;

/// A file operation that failed.
#[derive(Debug, thiserror::Error)]
#[error("could not {doing} `{}`", path.display())]
pub struct FileError {
    /// Attempted operation
    pub doing: &'static str,
    /// On which file
    pub path: PathBuf,
    /// Why it failed
    #[source]
    pub source: io::Error,
}

/// Names the file in an error.
pub fn at<'a>(doing: &'static str, path: &'a Path) -> impl Fn(io::Error) -> FileError + 'a {
    move |source| FileError { doing, path: path.to_owned(), source }
}

/// File permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Everybody the folder lets in
    Shared,
    /// The owner alone
    Private,
}

/// Reads a regular file of at most 64 MiB, or nothing where there is none.
pub fn read(path: &Path) -> Result<Option<String>, FileError> {
    let text = read_bytes(path, MAX_WHOLE_FILE).and_then(|bytes| {
        String::from_utf8(bytes)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
    });
    match text {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at("read", path)(error)),
    }
}

/// Reads a file that need not be text, or nothing where there is none.
pub fn read_optional(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match read_bytes(path, MAX_WHOLE_FILE) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at("read", path)(error)),
    }
}

/// Removes the permissions of group and others from a file or folder. A missing one is no error.
pub fn make_private(path: &Path) -> Result<(), FileError> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(at("look at", path)(error)),
    };
    let mode = meta.permissions().mode();
    let others = mode & 0o077;
    if meta.is_symlink() || others == 0 {
        return Ok(());
    }
    let private = fs::Permissions::from_mode(mode & 0o700);
    fs::set_permissions(path, private).map_err(at("change the permissions of", path))
}

/// Reads a regular file of at most `limit` bytes; a longer one is an error. Links are followed.
pub fn read_bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let bytes = read_at_most(&open_regular(path)?, limit.saturating_add(1))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > limit) {
        let problem = format!("it is larger than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}

/// Reads the first `limit` bytes of a file, a small one in one go.
pub(crate) fn read_at_most(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    /// A size is only a hint: an agent can name any.
    const MAX_CAPACITY: u64 = 1024 * 1024;
    let expected = file.metadata()?.len().min(limit).min(MAX_CAPACITY);
    // One more, so that the end is seen without growing.
    let mut bytes = Vec::with_capacity(usize::try_from(expected + 1).unwrap_or_default());
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file for reading. A pipe, a socket, a device or a folder is an error, and is never waited for.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_with(OpenOptions::new().read(true), path)
}

/// Opens a file with these options if it is a regular one, or becomes one. Never waits for another process.
pub fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

/// Makes a folder and those above it; new ones are the owner's alone if `mode` says so.
pub fn make_dir(path: &Path, mode: Mode) -> Result<(), FileError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    if mode == Mode::Private {
        builder.mode(0o700);
    }
    builder.create(path).map_err(at("create the folder", path))
}

/// Writes a file so that a reader sees the old text or the new one and never half of it.
pub fn write(path: &Path, text: &str, mode: Mode) -> Result<(), FileError> {
    write_renamed(path, text, mode, File::sync_all)
}

/// Writes a file that can be made again, so that a reader sees the old text or the new one. It does not
/// wait for the disk, and leaves a file alone that says the same already.
pub fn write_derived(path: &Path, text: &str, mode: Mode) -> Result<(), FileError> {
    let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let is_open_to_others = |meta: fs::Metadata| meta.permissions().mode() & 0o077 != 0;
    let is_exposed =
        mode == Mode::Private && fs::symlink_metadata(path).is_ok_and(is_open_to_others);
    if !is_exposed && read_bytes(path, length).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    write_renamed(path, text, mode, |_| Ok(()))
}

fn write_renamed(
    path: &Path,
    text: &str,
    mode: Mode,
    sync: impl FnOnce(&File) -> io::Result<()>,
) -> Result<(), FileError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    // The process id keeps two writers from sharing a scratch file.
    name.push(format!(".{}.new", std::process::id()));
    let scratch = path.with_file_name(name);
    let written = (|| {
        // Agents can write where most of these files lie, and can tell this name. A pipe that they put there would be
        // waited for and a link followed, so what is there goes, and nothing but a new file is opened.
        drop(fs::remove_file(&scratch));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if mode == Mode::Private {
            options.mode(0o600);
        }
        let mut file = options.open(&scratch)?;
        file.write_all(text.as_bytes())?;
        sync(&file)?;
        fs::rename(&scratch, path)
    })();
    written.map_err(|error| {
        // Best effort: the scratch file may not even be there.
        drop(fs::remove_file(&scratch));
        at("write", path)(error)
    })
}

/// Writes a file that is of no use after a power cut, and so does not wait for the disk.
pub fn write_quickly(path: &Path, text: &str, mode: Mode) -> Result<(), FileError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    if mode == Mode::Private {
        options.mode(0o600);
    }
    let opened = open_with(&mut options, path);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(at("write", path))
}

/// Writes a file unless there is one, and says whether it did. Of two writers one wins, whole.
pub fn create(path: &Path, text: &str, mode: Mode) -> Result<bool, FileError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.first", std::process::id()));
    let scratch = path.with_file_name(name);
    write(&scratch, text, mode)?;
    // A link, unlike a rename, does not replace what is there.
    let linked = fs::hard_link(&scratch, path);
    remove(&scratch)?;
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(at("create", path)(error)),
    }
}

/// Free bytes on the path's file system.
pub fn free_bytes(path: &Path) -> Result<u64, FileError> {
    let room = rustix::fs::statvfs(path).map_err(|error| at("measure", path)(error.into()))?;
    Ok(room.f_bavail.saturating_mul(room.f_frsize))
}

/// Returns whether this process may write in a folder.
pub fn is_writable(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Makes a folder that is there the owner's alone.
pub fn restrict_dir(path: &Path) -> Result<(), FileError> {
    match fs::set_permissions(path, fs::Permissions::from_mode(0o700)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at("restrict", path)(error)),
        _ => Ok(()),
    }
}

/// Adds to the end of a file in one write, so that entries of two writers do not mix.
pub fn append(path: &Path, text: &str) -> Result<(), FileError> {
    append_as(path, text, Mode::Shared)
}

/// The same; a new file gets that mode.
pub fn append_as(path: &Path, text: &str, mode: Mode) -> Result<(), FileError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    if mode == Mode::Private {
        options.mode(0o600);
    }
    let mut file = open_with(&mut options, path).map_err(at("open", path))?;
    file.write_all(text.as_bytes()).map_err(at("write", path))
}

/// The names in a folder, in order; none where there is no folder.
pub fn list(path: &Path) -> Result<Vec<OsString>, FileError> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(at("read", path)(error)),
    };
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    let mut names = names.collect::<Result<Vec<_>, _>>().map_err(at("read", path))?;
    names.sort_unstable();
    Ok(names)
}

/// Removes a file; one that is not there is no error.
pub fn remove(path: &Path) -> Result<(), FileError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Removes a folder with all that is in it, and says how many bytes its files had. Links are removed and
/// not followed; what is not a folder is left alone, and one that is not there is no error.
pub fn remove_tree(path: &Path) -> Result<u64, FileError> {
    let bytes = tree_bytes(path)?;
    if !fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir()) {
        return Ok(0);
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at("remove", path)(error)),
        _ => Ok(bytes),
    }
}

/// Sums the bytes of all files below a folder. Links are not followed.
pub fn tree_bytes(path: &Path) -> Result<u64, FileError> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(at("measure", path)(error)),
    };
    if !meta.is_dir() {
        return Ok(if meta.is_file() { meta.len() } else { 0 });
    }
    let names = list(path)?;
    names.iter().try_fold(0_u64, |sum, name| Ok(sum.saturating_add(tree_bytes(&path.join(name))?)))
}

/// A lock that is held as long as this value lives, and let go by the kernel if the process dies.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held for its drop")] File);

impl Lock {
    /// A file that was locked elsewhere.
    pub(crate) fn of(file: File) -> Self {
        Self(file)
    }
}

/// Takes the lock, or returns that another process holds it.
pub fn lock(path: &Path) -> Result<Option<Lock>, FileError> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(at("open", path))?;
    Ok(lock_exclusive(&file).map_err(at("lock", path))?.then_some(Lock(file)))
}

/// Locks a file, or says that another process owns it.
///
/// Asking whether a file is locked holds a shared lock for a moment. That is no owner: it is waited for.
pub(crate) fn lock_exclusive(file: &File) -> io::Result<bool> {
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(error.into()),
        }
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => std::thread::yield_now(),
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_pipe(path: &Path) {
        let launch = crate::process::Launch {
            program: "mkfifo".into(),
            arguments: vec![path.into()],
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            directory: "/".into(),
        };
        let made = crate::process::run(&launch, std::time::Duration::from_secs(60)).unwrap();
        assert!(made.exit.is_success());
    }

    #[test]
    fn what_was_put_in_the_place_of_a_scratch_file_is_neither_waited_for_nor_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("server.json"), dir.path().join("other"));
        fs::write(&other, "precious").unwrap();
        let scratch = dir.path().join(format!("server.json.{}.new", std::process::id()));
        make_pipe(&scratch);
        write(&path, "one", Mode::Private).unwrap();
        std::os::unix::fs::symlink(&other, &scratch).unwrap();
        write(&path, "two", Mode::Private).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_to_string(&other).unwrap(), "precious");
    }

    #[test]
    fn a_private_file_is_the_owners_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        write(&path, "s", Mode::Private).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read(&path).unwrap().as_deref(), Some("s"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no scratch file is left");
    }

    #[test]
    fn a_derived_file_that_says_the_same_is_left_alone() {
        use std::os::unix::fs::MetadataExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("page.md");
        let inode = || fs::metadata(&path).unwrap().ino();
        write_derived(&path, "one", Mode::Shared).unwrap();
        let first = inode();
        write_derived(&path, "one", Mode::Shared).unwrap();
        assert_eq!(inode(), first);
        write_derived(&path, "two", Mode::Shared).unwrap();
        // One that an earlier version left open to others is written again.
        write_derived(&path, "two", Mode::Private).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read(&path).unwrap().as_deref(), Some("two"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_tree_is_removed_and_a_link_out_of_it_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, other) = (dir.path().join("tree"), dir.path().join("other"));
        fs::create_dir_all(tree.join("deep")).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("kept"), "kept").unwrap();
        fs::write(tree.join("deep/file"), "12345").unwrap();
        std::os::unix::fs::symlink(&other, tree.join("link")).unwrap();
        assert_eq!(tree_bytes(&tree).unwrap(), 5);
        assert_eq!(remove_tree(&tree).unwrap(), 5);
        assert!(!tree.exists() && other.join("kept").exists());
        assert_eq!(remove_tree(&tree).unwrap(), 0, "gone already");
        std::os::unix::fs::symlink(&other, &tree).unwrap();
        assert_eq!(remove_tree(&tree).unwrap(), 0);
        assert!(other.join("kept").exists(), "a link in its place is not followed either");
    }

    #[test]
    fn what_is_there_is_not_created_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        assert!(create(&path, "first", Mode::Private).unwrap());
        assert!(!create(&path, "second", Mode::Private).unwrap());
        assert_eq!(read(&path).unwrap().as_deref(), Some("first"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no scratch file is left");
    }

    #[test]
    fn what_is_no_regular_file_is_refused_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        make_pipe(&pipe);
        let refused = |error: FileError| error.source.to_string();
        assert_eq!(refused(read(&pipe).unwrap_err()), "it is not a regular file");
        assert_eq!(refused(read(dir.path()).unwrap_err()), "it is not a regular file");
        // Nobody reads it, and then somebody does.
        append(&pipe, "x").unwrap_err();
        let _reader = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        assert_eq!(refused(append(&pipe, "x").unwrap_err()), "it is not a regular file");
        let error = write_quickly(&pipe, "x", Mode::Private).unwrap_err();
        assert_eq!(refused(error), "it is not a regular file");
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("large");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let error = read_bytes(&path, 10).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 10 bytes");
        File::create(&path).unwrap().set_len(10).unwrap();
        assert_eq!(read_bytes(&path, 10).unwrap().len(), 10);
        let link = dir.path().join("loop");
        std::os::unix::fs::symlink(&link, &link).unwrap();
        read(&link).unwrap_err();
    }

    #[test]
    fn an_error_names_the_file() {
        let error = write(Path::new("/nonexistent/x"), "", Mode::Shared).unwrap_err();
        assert_eq!(error.to_string(), "could not write `/nonexistent/x`");
    }

    #[test]
    fn a_lock_is_held_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let first = lock(&path).unwrap();
        assert!(first.is_some());
        assert!(lock(&path).unwrap().is_none());
        drop(first);
        assert!(lock(&path).unwrap().is_some());
    }
}
