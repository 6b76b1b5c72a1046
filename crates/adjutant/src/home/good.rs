//! A copy of the configuration, roles and templates that are in force.
//!
//! A server that starts by itself, after a crash or for another program, reads the copy: what an agent has written into
//! the files meanwhile does not count before a person's command or action has read it and shown what it changes.
//!
//! A home that was cleaned away, or never committed, keeps its rules: while nothing that people write is left in
//! its folder, the copy in the state folder is read instead. One file is enough for the folder to count again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use host::agent::PROJECT_FILE;
use host::files::{self, FileError, Mode};
use sha2::{Digest as _, Sha256};

/// Name of the copy in the state folder.
const COPY: &str = "last-good";
/// Files and folders of a home that people write.
const WRITTEN: [&str; 4] = ["config.yaml", "review.md", "roles", "templates"];
/// Folder of the copy with the files of `.claude/agents`.
pub(super) const CLAUDE_AGENTS: &str = "claude-agents";
/// Name of the file in the copy that holds the hash of the project's `.mcp.json`, which may hold secrets itself.
const SERVERS_HASH: &str = "mcp.json.sha256";
/// Upper bound on one of the files. A configuration or a role of this size is refused, so it need not be copied whole.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Beginning of the names of copies that are not in force yet.
const NEXT: &str = "last-good.new.";
/// Attempts at a commit after the first.
const COMMIT_TRIES: u32 = 3;

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

/// The copy of what is in force; none before the first start, or where an older program made it.
pub(crate) fn current(state: &Path) -> Option<PathBuf> {
    let copies = [state.join(COPY), state.join(format!("{COPY}.old"))];
    copies.into_iter().find(|copy| copy.join(CLAUDE_AGENTS).is_dir())
}

/// Returns whether a project's `.mcp.json` of this content is the one that was read when the copy was made.
pub(super) fn accepts_servers(copy: &Path, content: &[u8]) -> bool {
    let accepted = files::read_optional(&copy.join(SERVERS_HASH)).ok().flatten();
    accepted.is_some_and(|hash| hash == hash_of(content).into_bytes())
}

fn hash_of(content: &[u8]) -> String {
    super::state::hex(&Sha256::digest(content))
}

/// True for the path of a file that people write in the home's own folder.
pub(crate) fn is_written(path: &str) -> bool {
    WRITTEN.contains(&path.split('/').next().unwrap_or_default())
}

/// Files that people write, by their place in the copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WrittenFiles(BTreeMap<PathBuf, Vec<u8>>);

impl WrittenFiles {
    /// Reads what people have written for a project: its home, and Claude Code's agents.
    ///
    /// A file of a folder that cannot be read counts as an empty one. As that is no role, nothing takes its place.
    pub(crate) fn read(root: &Path, home: &Path, state: &Path) -> Result<Self, FileError> {
        let mut all = Self::read_home(&folder(home, state))?;
        all.add_folder(&root.join(".claude").join("agents"), Path::new(CLAUDE_AGENTS))?;
        let servers = root.join(PROJECT_FILE);
        if fs::symlink_metadata(&servers).is_ok() {
            // No link is followed out of the project. One that cannot be read is no list of servers.
            let found = host::inside::read(root, &servers, MAX_FILE_BYTES);
            let hash = found.map(|found| hash_of(&found.bytes)).unwrap_or_default();
            all.0.insert(SERVERS_HASH.into(), hash.into_bytes());
        }
        Ok(all)
    }

    /// Files as a home in PostgreSQL has them.
    pub(crate) fn from_rows(rows: engine::HomeFiles) -> Self {
        Self(rows.into_iter().map(|(path, bytes)| (path.into(), bytes)).collect())
    }

    /// The same as a home in PostgreSQL has them. A name that is no text is left out.
    pub(crate) fn into_rows(self) -> engine::HomeFiles {
        let text = |path: PathBuf| path.into_os_string().into_string().ok();
        self.0.into_iter().filter_map(|(path, bytes)| Some((text(path)?, bytes))).collect()
    }

    /// Writes them into a folder, in place of everything that is there.
    pub(crate) fn write_all(&self, folder: &Path) -> Result<(), FileError> {
        remove_tree(folder)?;
        self.write_into(folder)
    }

    /// Reads a copy that was made of them.
    pub(crate) fn read_copy(copy: &Path) -> Result<Self, FileError> {
        let mut all = Self::read_home(copy)?;
        if let Some(hash) = files::read_optional(&copy.join(SERVERS_HASH))? {
            all.0.insert(SERVERS_HASH.into(), hash);
        }
        all.add_folder(&copy.join(CLAUDE_AGENTS), Path::new(CLAUDE_AGENTS))?;
        Ok(all)
    }

    fn read_home(home: &Path) -> Result<Self, FileError> {
        let mut all = Self::default();
        for name in WRITTEN {
            let path = home.join(name);
            match fs::metadata(&path) {
                Ok(meta) if meta.is_dir() => all.add_folder(&path, Path::new(name))?,
                Ok(_) => {
                    let bytes = files::read_bytes(&path, MAX_FILE_BYTES);
                    all.0.insert(name.into(), bytes.map_err(files::at("read", &path))?);
                }
                Err(_) => {}
            }
        }
        Ok(all)
    }

    fn add_folder(&mut self, from: &Path, to: &Path) -> Result<(), FileError> {
        for name in files::list(from)? {
            // Links are followed; folders and what is no file are left out.
            if fs::metadata(from.join(&name)).is_ok_and(|meta| meta.is_file()) {
                let bytes = files::read_bytes(&from.join(&name), MAX_FILE_BYTES);
                self.0.insert(to.join(&name), bytes.unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Writes them beside the copy that is in force, and returns where.
    pub(crate) fn write_next(&self, state: &Path) -> Result<PathBuf, FileError> {
        remove_leftovers(state)?;
        let next = state.join(format!("{NEXT}{}", std::process::id()));
        self.write_all(&next)?;
        Ok(next)
    }

    fn write_into(&self, folder: &Path) -> Result<(), FileError> {
        files::make_dir(&folder.join(CLAUDE_AGENTS), Mode::Private)?;
        for (path, bytes) in &self.0 {
            let to = folder.join(path);
            if let Some(folder) = to.parent() {
                files::make_dir(folder, Mode::Private)?;
            }
            fs::write(&to, bytes).map_err(files::at("write", &to))?;
            files::make_private(&to)?;
        }
        Ok(())
    }
}

/// Puts what was written next in the place of the copy before. Of two programs that do so at once, one may have to do it
/// again. There is no lock, because an agent could hold it for ever.
///
/// At every moment one whole copy is there, under its own name or as the old one.
pub(crate) fn commit(state: &Path, next: &Path) -> Result<(), FileError> {
    let mut tries = COMMIT_TRIES;
    loop {
        match replace_copy(state, next) {
            Err(_) if tries > 0 => tries -= 1,
            done => return done,
        }
    }
}

fn replace_copy(state: &Path, next: &Path) -> Result<(), FileError> {
    let (copy, old) = (state.join(COPY), state.join(format!("{COPY}.old")));
    if copy.is_dir() {
        remove_tree(&old)?;
        fs::rename(&copy, &old).map_err(files::at("move", &copy))?;
    }
    fs::rename(next, &copy).map_err(files::at("replace", &copy))?;
    remove_tree(&old)
}

/// Removes what programs that have died left behind.
fn remove_leftovers(state: &Path) -> Result<(), FileError> {
    for name in files::list(state)? {
        let name = name.to_string_lossy().into_owned();
        let process = name.strip_prefix(NEXT).and_then(|id| id.parse().ok());
        if process.is_some_and(|id| !host::process::is_alive(id)) {
            remove_tree(&state.join(name))?;
        }
    }
    Ok(())
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
    fn of_the_projects_servers_only_a_hash_is_copied_and_others_do_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let (home, state) = (dir.path().join("home"), dir.path().join("state"));
        fs::create_dir_all(home.join("roles")).unwrap();
        fs::create_dir_all(&state).unwrap();
        let keep = || {
            let written = WrittenFiles::read(dir.path(), &home, &state).unwrap();
            commit(&state, &written.write_next(&state).unwrap()).unwrap();
            current(&state).unwrap()
        };
        assert!(!accepts_servers(&keep(), b"{}"), "there were none");
        let servers = br#"{"mcpServers": {"a": {"command": "a", "env": {"KEY": "secret"}}}}"#;
        fs::write(dir.path().join(PROJECT_FILE), servers).unwrap();
        let copy = keep();
        assert!(accepts_servers(&copy, servers) && !accepts_servers(&copy, b"{}"));
        let kept = fs::read_to_string(copy.join(SERVERS_HASH)).unwrap();
        assert!(!kept.contains("secret") && kept.len() == 64, "{kept}");
    }

    #[test]
    fn the_last_good_configuration_holds_while_nothing_else_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let (home, state) = (dir.path().join("home"), dir.path().join("state"));
        fs::create_dir_all(home.join("roles")).unwrap();
        fs::create_dir_all(&state).unwrap();
        fs::write(home.join("config.yaml"), "mirror: false\n").unwrap();
        fs::write(home.join("roles/coder.md"), "---\nname: coder\n---\n").unwrap();
        assert_eq!((folder(&home, &state), current(&state)), (home.clone(), None));
        let keep = || {
            let written = WrittenFiles::read(dir.path(), &home, &state).unwrap();
            commit(&state, &written.write_next(&state).unwrap()).unwrap();
            let copy = current(&state).unwrap();
            assert_eq!(WrittenFiles::read_copy(&copy).unwrap(), written);
        };
        keep();
        // A role that is gone from the home is gone from the next copy.
        fs::rename(home.join("roles/coder.md"), home.join("roles/builder.md")).unwrap();
        fs::create_dir_all(dir.path().join(".claude/agents")).unwrap();
        fs::write(dir.path().join(".claude/agents/helper.md"), "---\nname: helper\n---\n").unwrap();
        keep();

        fs::remove_dir_all(&home).unwrap();
        let copy = folder(&home, &state);
        assert_eq!(fs::read_to_string(copy.join("config.yaml")).unwrap(), "mirror: false\n");
        assert_eq!(files::list(&copy.join("roles")).unwrap(), ["builder.md"]);
        assert_eq!(files::list(&copy.join(CLAUDE_AGENTS)).unwrap(), ["helper.md"]);
        // Without anything to copy the copy stays.
        keep();
        assert!(copy.join("config.yaml").is_file());
        fs::create_dir(&home).unwrap();
        fs::write(home.join("server.json"), "{}").unwrap();
        assert_eq!(folder(&home, &state), copy, "what the program writes does not count");
        restore(&home, &state).unwrap();
        assert_eq!(folder(&home, &state), home);
        assert_eq!(fs::read_to_string(home.join("config.yaml")).unwrap(), "mirror: false\n");
    }
}
