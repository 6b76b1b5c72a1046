//! Where the worktrees of a home lie: outside the project, so that test runners, linters and search do not find
//! them, and outside the state folder, which sandboxes hide.

use std::path::{Component, Path, PathBuf};

use super::state::{digest, plain};
use super::{Home, canonical};
use crate::environment::Environment;

/// Longest readable part of a folder's name.
const MAX_READABLE: usize = 40;

/// Why worktrees cannot lie where they should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WorktreesPathError {
    /// The path is in the project.
    #[error("`{}` is inside the project, where your own tests would find the worktrees", .0.display())]
    Inside(PathBuf),
    /// The path is in a folder that sandboxes hide.
    #[error("`{}` is below `{}`, which a sandbox hides from agents", path.display(), hidden.display())]
    Hidden {
        /// Path of the worktrees
        path: PathBuf,
        /// Hidden folder around it
        hidden: PathBuf,
    },
    /// The path, or one above it, is a file.
    #[error("`{}` is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// There is no user's folder for data.
    #[error("neither `XDG_DATA_HOME` nor `HOME` is set, so worktrees have no place")]
    NoDataFolder,
}

impl WorktreesPathError {
    /// The way out.
    pub(crate) const fn help(&self) -> &'static str {
        match self {
            Self::NoDataFolder => "set `HOME`, or `worktrees.path` to a folder outside the project",
            _ => {
                "name a folder outside the project, as `~/worktrees`; null is the user's data folder"
            }
        }
    }
}

impl Home {
    /// The folder of this home's worktrees: of its own below the given folder, or below the user's data folder.
    pub(crate) fn worktrees(
        &self,
        given: Option<&str>,
        env: &Environment,
    ) -> Result<PathBuf, WorktreesPathError> {
        let base = match given {
            Some(given) => self.allowed(&self.named(given, env)?, env)?,
            None => canonical(&data_folder(env)?.join("adjutant").join("worktrees")),
        };
        Ok(base.join(self.folder_name()))
    }

    /// Name that no other home has: the project's, and a hash of the home's whole path.
    fn folder_name(&self) -> String {
        let project = self.root.file_name().unwrap_or_default().to_string_lossy();
        let readable: String = project.chars().map(plain).take(MAX_READABLE).collect();
        format!("{readable}-{}", digest(&[canonical(&self.dir).as_os_str()]))
    }

    /// The folder that the configuration names: absolute, below the user's own (`~`), or relative to the project.
    fn named(&self, given: &str, env: &Environment) -> Result<PathBuf, WorktreesPathError> {
        let path = match given.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                let user = env.user_home.as_ref().ok_or(WorktreesPathError::NoDataFolder)?;
                user.join(rest.trim_start_matches('/'))
            }
            _ => self.root.join(given),
        };
        Ok(canonical(&without_dots(&path)))
    }

    fn allowed(&self, path: &Path, env: &Environment) -> Result<PathBuf, WorktreesPathError> {
        if path.starts_with(canonical(&self.root)) {
            return Err(WorktreesPathError::Inside(path.to_owned()));
        }
        let hidden = [Some(self.state_dir().to_owned()), self.secrets(env).ok()];
        for hidden in hidden.into_iter().flatten().map(|hidden| canonical(&hidden)) {
            if path.starts_with(&hidden) {
                return Err(WorktreesPathError::Hidden { path: path.to_owned(), hidden });
            }
        }
        let there = path.ancestors().find(|above| above.symlink_metadata().is_ok());
        match there.filter(|above| !above.is_dir()) {
            Some(file) => Err(WorktreesPathError::NotAFolder(file.to_owned())),
            None => Ok(path.to_owned()),
        }
    }
}

fn data_folder(env: &Environment) -> Result<PathBuf, WorktreesPathError> {
    match (&env.xdg_data_home, &env.user_home) {
        (Some(data), _) => Ok(data.clone()),
        (None, Some(home)) => Ok(home.join(".local").join("share")),
        (None, None) => Err(WorktreesPathError::NoDataFolder),
    }
}

/// Takes `.` and `..` out of a path by its words; what need not exist cannot be asked.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = clean.pop(),
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct WorktreesPlace {
        _dir: tempfile::TempDir,
        root: PathBuf,
    }

    impl WorktreesPlace {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            fs::create_dir_all(root.join("shop/.adjutant")).unwrap();
            fs::create_dir(root.join("user")).unwrap();
            Self { _dir: dir, root }
        }

        fn home(&self, name: &str) -> Home {
            Home::unplaced(self.root.join(name), self.root.join(name).join(".adjutant"))
        }

        fn env(&self) -> Environment {
            Environment::from_vars(&self.root, [("HOME", self.root.join("user"))])
        }

        fn find(&self, given: Option<&str>) -> Result<PathBuf, WorktreesPathError> {
            self.home("shop").worktrees(given, &self.env())
        }
    }

    #[test]
    fn each_home_has_a_folder_of_its_own_in_the_users_data_folder() {
        let place = WorktreesPlace::new();
        let base = place.root.join("user/.local/share/adjutant/worktrees");
        let first = place.find(None).unwrap();
        assert_eq!(first.parent().unwrap(), base);
        let name = first.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("shop-") && name.len() == "shop-".len() + 8, "{name}");
        fs::create_dir_all(place.root.join("deep/shop/.adjutant")).unwrap();
        let other = place.home("deep/shop").worktrees(None, &place.env()).unwrap();
        assert!(other.parent() == first.parent() && other != first, "{}", other.display());
        let data = place.root.join("data");
        let env = Environment { xdg_data_home: Some(data.clone()), ..place.env() };
        let there = place.home("shop").worktrees(None, &env).unwrap();
        assert_eq!(there.parent().unwrap(), data.join("adjutant/worktrees"));
        let nobody = Environment::from_vars("/", std::iter::empty::<(&str, &str)>());
        let error = place.home("shop").worktrees(None, &nobody).unwrap_err();
        assert_eq!(error, WorktreesPathError::NoDataFolder);
    }

    #[test]
    fn a_path_may_be_absolute_the_users_or_beside_the_project() {
        let place = WorktreesPlace::new();
        let base = |given: &str| place.find(Some(given)).unwrap().parent().unwrap().to_owned();
        assert_eq!(base("~/trees"), place.root.join("user/trees"));
        assert_eq!(base("../trees"), place.root.join("trees"));
        let absolute = place.root.join("far/away");
        assert_eq!(base(absolute.to_str().unwrap()), absolute);
        // A project of which the name only begins the same is another one.
        assert_eq!(base("../shop-trees"), place.root.join("shop-trees"));
    }

    #[test]
    fn a_path_that_cannot_be_used_says_why() {
        let place = WorktreesPlace::new();
        std::os::unix::fs::symlink(place.root.join("shop"), place.root.join("link")).unwrap();
        for inside in ["trees", ".", "../shop/a/../b", ".adjutant/worktrees", "../link/trees"] {
            let error = place.find(Some(inside)).unwrap_err();
            assert!(matches!(error, WorktreesPathError::Inside(_)), "{inside}: {error}");
        }
        let error = place.find(Some("~/.local/state/adjutant/trees")).unwrap_err();
        assert!(error.to_string().contains("which a sandbox hides"), "{error}");
        fs::write(place.root.join("file"), "").unwrap();
        for file in ["../file", "../file/below"] {
            let error = place.find(Some(file)).unwrap_err();
            assert_eq!(error, WorktreesPathError::NotAFolder(place.root.join("file")), "{file}");
        }
    }
}
