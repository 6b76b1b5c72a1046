//! `homes.yaml` in the user's configuration folder: homes on other machines, by name.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use host::files;
use serde::Deserialize;

use crate::environment::Environment;
use crate::yaml::{self, Problem};

/// A home on another machine.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct RemoteHome {
    /// Address of one of its servers
    pub(crate) url: String,
    /// Token for it
    pub(crate) token: String,
    /// True if the token may go to that address in the clear
    #[serde(default)]
    pub(crate) insecure: bool,
}

impl fmt::Debug for RemoteHome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteHome").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Finds the home that is called by its name, unless a folder is meant.
pub(crate) fn find(named: &Path, env: &Environment) -> Result<Option<RemoteHome>, Box<Problem>> {
    let Some(name) = named.to_str().filter(|name| !name.is_empty() && !name.contains(['/', '.']))
    else {
        return Ok(None);
    };
    if env.cwd.join(named).is_dir() {
        return Ok(None);
    }
    Ok(read(env)?.remove(name))
}

/// Names of the homes on other machines; none where the file cannot be read.
pub(crate) fn names(env: &Environment) -> Vec<String> {
    read(env).unwrap_or_default().into_keys().collect()
}

fn read(env: &Environment) -> Result<BTreeMap<String, RemoteHome>, Box<Problem>> {
    let Some(path) = path_of(env) else { return Ok(BTreeMap::new()) };
    let place = path.display().to_string();
    let failed = |why: &dyn fmt::Display| Problem::of(&place, format!("cannot be read: {why}"));
    let Some(text) = files::read(&path).map_err(|error| failed(&error.source))? else {
        return Ok(BTreeMap::new());
    };
    let mode = std::fs::metadata(&path).map_err(|error| failed(&error))?.permissions().mode();
    if mode & 0o077 != 0 {
        let help = format!("run `chmod 600 {place}`");
        return Err(Problem::of(&place, "it has tokens, and others can read it".to_owned())
            .with_help(Some(help)));
    }
    yaml::parse(&place, &text, &text)
}

fn path_of(env: &Environment) -> Option<PathBuf> {
    let named =
        env.variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = named.or_else(|| Some(env.user_home.as_ref()?.join(".config")));
    Some(folder?.join("adjutant").join("homes.yaml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_found_by_its_name_in_a_file_that_only_its_owner_reads() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("adjutant");
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("homes.yaml");
        let config = dir.path().to_str().unwrap();
        let env = Environment::from_vars(dir.path(), [("XDG_CONFIG_HOME", config)]);
        let look = |name: &str| find(Path::new(name), &env);
        assert_eq!(look("shop").unwrap(), None, "there is no file");
        std::fs::write(&file, "shop:\n  url: http://crew-1:3001\n  token: adjop_1\n").unwrap();
        let mode = |mode| {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&file, mode).unwrap();
        };
        mode(0o644);
        let refused = look("shop").unwrap_err();
        assert!(refused.help.as_deref().unwrap().contains("chmod 600"), "{refused:?}");
        mode(0o600);
        let found = look("shop").unwrap().unwrap();
        assert_eq!((found.url.as_str(), found.token.as_str()), ("http://crew-1:3001", "adjop_1"));
        assert!(!format!("{found:?}").contains("adjop_1"));
        assert!(!found.insecure);
        assert_eq!(names(&env), ["shop"]);
        assert_eq!(look("other").unwrap(), None);
        // A folder wins, and a path is never a name.
        std::fs::create_dir(dir.path().join("shop")).unwrap();
        assert_eq!(look("shop").unwrap(), None);
        assert_eq!(look("./shop").unwrap(), None);
        let text = "shop:\n  url: http://crew-1:3001\n  token: t\n  insecure: true\n";
        std::fs::write(&file, text).unwrap();
        assert!(find(Path::new("other-shop"), &env).unwrap().is_none());
        std::fs::remove_dir(dir.path().join("shop")).unwrap();
        assert!(look("shop").unwrap().unwrap().insecure);
        std::fs::write(&file, "shop:\n  adress: x\n").unwrap();
        let refused = find(Path::new("crew"), &env).unwrap_err();
        assert_eq!(refused.line, Some(2), "{refused:?}");
    }
}
