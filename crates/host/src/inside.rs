//! Files that must lie inside a folder, no matter which caller names them: a path that leads out is refused.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;

use crate::files::read_at_most;

/// A file inside a folder, or its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsideFile {
    /// Where it really is, relative to the folder
    pub path: PathBuf,
    /// Its first bytes, as many as were asked for
    pub bytes: Vec<u8>,
    /// Total size
    pub size: u64,
}

/// Why a file inside a folder was not read.
#[derive(Debug, thiserror::Error)]
pub enum InsideError {
    /// There is none
    #[error("there is no such file")]
    Missing,
    /// The path, or a link on it, leads out of the folder
    #[error("it lies outside the project")]
    Outside,
    /// It is a folder, a pipe or a device
    #[error("it is not a plain file")]
    NotAFile,
    /// It is not a folder
    #[error("it is not a folder")]
    NotAFolder,
    /// The system refused
    #[error("it could not be read")]
    Unreadable(#[from] io::Error),
}

/// Reads up to `limit` bytes of a file that must lie inside `folder`; links are followed to where they lead.
pub fn read(folder: &Path, path: &Path, limit: u64) -> Result<InsideFile, InsideError> {
    // First by the words alone, so that nobody learns what exists outside.
    if leads_out(folder, path) {
        return Err(InsideError::Outside);
    }
    // Most files that are asked for are not there, and resolving a path takes a call for each of its parts.
    fs::symlink_metadata(folder.join(path)).map_err(missing)?;
    let folder = fs::canonicalize(folder).map_err(missing)?;
    let real = fs::canonicalize(folder.join(path)).map_err(missing)?;
    let inside = real.strip_prefix(&folder).map_err(|_| InsideError::Outside)?.to_owned();
    // A pipe must not make us wait, and a link put there in this moment is not followed.
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    let file = options.open(&real).map_err(missing)?;
    let facts = file.metadata()?;
    if !facts.is_file() {
        return Err(InsideError::NotAFile);
    }
    let bytes = read_at_most(&file, limit)?;
    Ok(InsideFile { path: inside, bytes, size: facts.len() })
}

/// Resolves a folder that must lie inside one of `folders`; links are followed to where they lead. A relative path is
/// relative to the first of them. Returns the path without links.
pub fn folder(folders: &[&Path], path: &Path) -> Result<PathBuf, InsideError> {
    let base = folders.first().ok_or(InsideError::Outside)?;
    // First by the words alone, so that nobody learns what exists outside.
    if folders.iter().all(|folder| leads_out(folder, path)) {
        return Err(InsideError::Outside);
    }
    let real = fs::canonicalize(base.join(path)).map_err(missing)?;
    let is_inside =
        |folder: &&Path| fs::canonicalize(folder).is_ok_and(|folder| real.starts_with(folder));
    if !folders.iter().any(is_inside) {
        return Err(InsideError::Outside);
    }
    if !real.is_dir() {
        return Err(InsideError::NotAFolder);
    }
    Ok(real)
}

fn missing(error: io::Error) -> InsideError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => InsideError::Missing,
        _ => InsideError::Unreadable(error),
    }
}

/// True if a path is absolute or leaves the folder.
fn leads_out(folder: &Path, path: &Path) -> bool {
    if path.is_absolute() {
        return !path.starts_with(folder)
            || path.components().any(|part| part == Component::ParentDir);
    }
    let mut depth = 0_usize;
    for part in path.components() {
        match part {
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn refused(folder: &Path, path: &str) -> String {
        read(folder, Path::new(path), 100).unwrap_err().to_string()
    }

    #[test]
    fn a_file_inside_is_read_up_to_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("sub/a.md"), b"hello\xff").unwrap();
        symlink("sub/a.md", dir.path().join("link.md")).unwrap();
        let found =
            |bytes: &[u8]| InsideFile { path: "sub/a.md".into(), bytes: bytes.into(), size: 6 };
        let read = |path: &str, limit| read(dir.path(), Path::new(path), limit).unwrap();
        assert_eq!(read("sub/a.md", 3), found(b"hel"));
        assert_eq!(read("./sub/../sub/a.md", 100), found(b"hello\xff"));
        assert_eq!(read("link.md", 100), found(b"hello\xff"), "a link that stays inside is one");
        let absolute = dir.path().join("sub/a.md");
        assert_eq!(read(absolute.to_str().unwrap(), 100), found(b"hello\xff"));
    }

    #[test]
    fn what_leads_out_is_refused() {
        let outer = tempfile::tempdir().unwrap();
        let dir = outer.path().join("project");
        fs::create_dir(&dir).unwrap();
        fs::write(outer.path().join("secret"), "s").unwrap();
        symlink(outer.path().join("secret"), dir.join("link")).unwrap();
        symlink("..", dir.join("up")).unwrap();
        let absolute = outer.path().join("secret");
        let around = format!("{}/../secret", dir.display());
        for path in ["../secret", "a/../../secret", "link", "up/secret", "../nothing"] {
            assert_eq!(refused(&dir, path), "it lies outside the project", "{path}");
        }
        for path in [absolute.to_str().unwrap(), around.as_str()] {
            assert_eq!(refused(&dir, path), "it lies outside the project", "{path}");
        }
    }

    #[test]
    fn a_folder_must_lie_inside_wherever_links_lead() {
        let outer = tempfile::tempdir().unwrap();
        let outer = outer.path().canonicalize().unwrap();
        let (dir, other) = (outer.join("project"), outer.join("other"));
        fs::create_dir_all(dir.join("sub/deep")).unwrap();
        fs::create_dir_all(other.join("place")).unwrap();
        fs::write(dir.join("file"), "").unwrap();
        symlink("sub", dir.join("inner")).unwrap();
        symlink(&outer, dir.join("out")).unwrap();
        symlink(&other, dir.join("sub/other")).unwrap();
        let find = |path: &str| folder(&[&dir], Path::new(path)).map_err(|error| error.to_string());
        let whole = |path: &str| dir.join(path).display().to_string();
        for path in ["sub", "./sub", "sub/deep/..", "inner", "out/project/sub", &whole("sub")] {
            assert_eq!(find(path).unwrap(), dir.join("sub"), "{path}");
        }
        assert_eq!(find(".").unwrap(), dir);
        for path in
            ["..", "out", "out/other", "sub/other", "inner/other/place", "/", "/etc", &whole("out")]
        {
            assert_eq!(find(path).unwrap_err(), "it lies outside the project", "{path}");
        }
        assert_eq!(find("file").unwrap_err(), "it is not a folder");
        assert_eq!(find("nothing").unwrap_err(), "there is no such file");
        let both = folder(&[&dir, &other], &other.join("place")).unwrap();
        assert_eq!(both, other.join("place"));
        assert_eq!(folder(&[&dir, &other], Path::new("sub/other")).unwrap(), other);
    }

    #[test]
    fn only_plain_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        let launch = crate::process::Launch {
            program: "mkfifo".into(),
            arguments: vec!["pipe".into()],
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            directory: dir.path().to_owned(),
        };
        crate::process::run(&launch, std::time::Duration::from_secs(10)).unwrap();
        assert_eq!(refused(dir.path(), "sub"), "it is not a plain file");
        assert_eq!(
            refused(dir.path(), "pipe"),
            "it is not a plain file",
            "and nobody waited for it"
        );
        assert_eq!(refused(dir.path(), "nothing"), "there is no such file");
        assert_eq!(refused(dir.path(), "file/below"), "there is no such file");
    }
}
