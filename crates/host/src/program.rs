//! Finds programs, as a shell would.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The program of that name: a path as it is, relative to `directory`, or the first in `path`.
pub fn find(name: &str, path: &str, directory: &Path) -> Option<PathBuf> {
    let candidates: Vec<PathBuf> = if name.contains('/') {
        vec![directory.join(name)]
    } else {
        path.split(':')
            .filter(|part| !part.is_empty())
            .map(|part| Path::new(part).join(name))
            .collect()
    };
    candidates.into_iter().find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_for_in_the_path_and_a_path_is_not() {
        let shell = find("sh", "/nowhere:/bin", Path::new("/"));
        assert_eq!(shell.as_deref(), Some(Path::new("/bin/sh")));
        assert_eq!(find("sh", "", Path::new("/")), None);
        assert_eq!(find("./sh", "/bin", Path::new("/bin")), Some(PathBuf::from("/bin/./sh")));
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("notes"), "").unwrap();
        assert_eq!(find("./notes", "/bin", dir.path()), None, "not executable");
    }
}
