//! A copy of the last configuration, roles and templates that could be read.
//!
//! A home that was cleaned away, or never committed, keeps its rules: while nothing that people write is left in
//! its folder, the copy in the state folder is read instead. One file is enough for the folder to count again.

use std::fs;
use std::path::{Path, PathBuf};

use host::files::{self, FileError, Mode};

/// Name of the copy in the state folder.
const COPY: &str = "last-good";
/// Files and folders of a home that people write.
const WRITTEN: [&str; 4] = ["config.yaml", "review.md", "roles", "templates"];

/// The folder that configuration, roles and templates are read from.
pub(super) fn folder(home: &Path, state: &Path) -> PathBuf {
    let is_written = WRITTEN.iter().any(|name| home.join(name).exists());
    let copies = [state.join(COPY), state.join(format!("{COPY}.old"))];
    let copy = copies.into_iter().find(|copy| !is_written && copy.is_dir());
    copy.unwrap_or_else(|| home.to_owned())
}

/// Writes the copy back into the folder of a home that has nothing left, before something is changed there.
pub(crate) fn restore(home: &Path, state: &Path) -> Result<(), FileError> {
    let copy = folder(home, state);
    if copy == home {
        return Ok(());
    }
    files::make_dir(home, Mode::Shared)?;
    for name in WRITTEN {
        copy_all(&copy.join(name), &home.join(name), Mode::Shared)?;
    }
    Ok(())
}

/// Copies what could be read, in place of the copy before. To be called with the lock of the home held.
///
/// At every moment one whole copy is there, under its own name or as the old one.
pub(crate) fn keep(home: &Path, state: &Path) -> Result<(), FileError> {
    if folder(home, state) != home {
        return Ok(());
    }
    let copy = state.join(COPY);
    let (scratch, old) = (state.join(format!("{COPY}.new")), state.join(format!("{COPY}.old")));
    remove_tree(&scratch)?;
    files::make_dir(&scratch, Mode::Private)?;
    for name in WRITTEN {
        copy_all(&home.join(name), &scratch.join(name), Mode::Private)?;
    }
    if copy.is_dir() {
        remove_tree(&old)?;
        fs::rename(&copy, &old).map_err(files::at("move", &copy))?;
    }
    fs::rename(&scratch, &copy).map_err(files::at("replace", &copy))?;
    remove_tree(&old)
}

fn remove_tree(path: &Path) -> Result<(), FileError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(files::at("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Copies a file, or the files of a folder. Links are read; anything else is left out.
fn copy_all(from: &Path, to: &Path, mode: Mode) -> Result<(), FileError> {
    let Ok(meta) = fs::metadata(from) else { return Ok(()) };
    if meta.is_dir() {
        files::make_dir(to, mode)?;
        for name in files::list(from)? {
            let (from, to) = (from.join(&name), to.join(&name));
            if fs::metadata(&from).is_ok_and(|meta| meta.is_file()) {
                copy_all(&from, &to, mode)?;
            }
        }
    } else if meta.is_file() {
        let bytes = fs::read(from).map_err(files::at("read", from))?;
        fs::write(to, bytes).map_err(files::at("write", to))?;
        if mode == Mode::Private {
            files::make_private(to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_good_configuration_holds_while_nothing_else_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let (home, state) = (dir.path().join("home"), dir.path().join("state"));
        fs::create_dir_all(home.join("roles")).unwrap();
        fs::create_dir_all(&state).unwrap();
        fs::write(home.join("config.yaml"), "mirror: false\n").unwrap();
        fs::write(home.join("roles/coder.md"), "---\nname: coder\n---\n").unwrap();
        assert_eq!(folder(&home, &state), home);
        keep(&home, &state).unwrap();
        // A role that is gone from the home is gone from the next copy.
        fs::rename(home.join("roles/coder.md"), home.join("roles/builder.md")).unwrap();
        keep(&home, &state).unwrap();

        fs::remove_dir_all(&home).unwrap();
        let copy = folder(&home, &state);
        assert_eq!(fs::read_to_string(copy.join("config.yaml")).unwrap(), "mirror: false\n");
        assert_eq!(files::list(&copy.join("roles")).unwrap(), ["builder.md"]);
        // Without anything to copy the copy stays.
        keep(&home, &state).unwrap();
        assert!(copy.join("config.yaml").is_file());
        fs::create_dir(&home).unwrap();
        fs::write(home.join("server.json"), "{}").unwrap();
        assert_eq!(folder(&home, &state), copy, "what the program writes does not count");
        restore(&home, &state).unwrap();
        assert_eq!(folder(&home, &state), home);
        assert_eq!(fs::read_to_string(home.join("config.yaml")).unwrap(), "mirror: false\n");
    }
}
