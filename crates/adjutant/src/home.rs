//! A project's home, the folder `.adjutant`: how it is found, and where everything in it lies.
//!
//! The operator's token is the one thing that belongs to a home and does not lie in it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use host::files::{self, FileError, Mode};
use miette::Diagnostic;
use model::{AgentId, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::environment::Environment;

/// The name of the folder.
pub(crate) const FOLDER: &str = ".adjutant";

/// Why a home could not be found or used.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum HomeError {
    /// There is none from here upwards.
    #[error("there is no `{FOLDER}` folder in `{}` or above it", from.display())]
    #[diagnostic(help("run `adjutant init` in your project, or name a home with `--home DIR`"))]
    NotFound {
        /// Where the search began
        from: PathBuf,
    },
    /// The one that was named is not there.
    #[error("there is no home at `{}`", path.display())]
    #[diagnostic(help("run `adjutant init --home {}` to make one", path.display()))]
    NotThere {
        /// What was named
        path: PathBuf,
    },
    /// There is no place outside the project.
    #[error("neither `XDG_STATE_HOME` nor `HOME` is set, so the operator's token has no place")]
    #[diagnostic(help("set `HOME` to your own folder"))]
    NoStateFolder,
    /// `server.json` holds something else.
    #[error("`{}` is not a server's file", path.display())]
    #[diagnostic(help("remove it and run `adjutant up`"))]
    ServerFile {
        /// Which file
        path: PathBuf,
        /// What is wrong with it
        #[source]
        source: serde_json::Error,
    },
    /// An agent of this home has started this program.
    #[error("agent `{agent}` started this program, and an agent may not use the operator's token")]
    #[diagnostic(help(
        "use the agent's own tools; a command of the agent needs its `ADJUTANT_AGENT_ID` and \
         `ADJUTANT_TOKEN` in the environment, and an MCP client that starts `adjutant mcp` must hand both on"
    ))]
    BelowAgent {
        /// The agent
        agent: AgentId,
    },
    /// The system gave no random bytes.
    #[error("could not make a token: {0}")]
    Random(String),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A home and the project it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Home {
    /// The project
    pub(crate) root: PathBuf,
    /// The folder itself
    pub(crate) dir: PathBuf,
}

impl Home {
    /// Finds the home: the one `--home` names, else `ADJUTANT_HOME`, else upwards as git does.
    pub(crate) fn find(flag: Option<&Path>, env: &Environment) -> Result<Self, HomeError> {
        match flag.or(env.home.as_deref()) {
            Some(named) => {
                let home = Self::named(&env.cwd.join(named));
                if home.dir.is_dir() {
                    Ok(home)
                } else {
                    Err(HomeError::NotThere { path: named.to_owned() })
                }
            }
            None => {
                Self::above(&env.cwd).ok_or_else(|| HomeError::NotFound { from: env.cwd.clone() })
            }
        }
    }

    /// Where `init` makes a home: as named, else where one is, else at the top of the repository,
    /// else here.
    pub(crate) fn for_init(flag: Option<&Path>, env: &Environment) -> Self {
        if let Some(named) = flag.or(env.home.as_deref()) {
            return Self::named(&env.cwd.join(named));
        }
        Self::above(&env.cwd).unwrap_or_else(|| {
            let here = canonical(&env.cwd);
            let root = here.ancestors().find(|dir| is_repository(dir)).unwrap_or(&here);
            Self::in_project(root)
        })
    }

    /// The home of a project.
    fn in_project(root: &Path) -> Self {
        Self { root: root.to_owned(), dir: root.join(FOLDER) }
    }

    /// A home by its own path or by its project's: people mean either.
    fn named(path: &Path) -> Self {
        let path = canonical(path);
        let is_home = path.file_name().is_some_and(|name| name == FOLDER)
            || (path.join("config.yaml").is_file() && !path.join(FOLDER).is_dir());
        match path.parent() {
            Some(root) if is_home => Self { root: root.to_owned(), dir: path },
            _ => Self::in_project(&path),
        }
    }

    fn above(cwd: &Path) -> Option<Self> {
        let here = canonical(cwd);
        here.ancestors()
            // A worktree has the project's files, its `.adjutant` too; the home is outside it.
            .filter(|dir| !dir.components().any(|part| part.as_os_str() == FOLDER))
            .find(|dir| dir.join(FOLDER).is_dir())
            .map(Self::in_project)
    }

    /// The configuration.
    pub(crate) fn config(&self) -> PathBuf {
        self.dir.join("config.yaml")
    }

    /// The home's own roles.
    pub(crate) fn roles(&self) -> PathBuf {
        self.dir.join("roles")
    }

    /// Claude Code's roles, read after the home's own.
    pub(crate) fn claude_agents(&self) -> PathBuf {
        self.root.join(".claude").join("agents")
    }

    /// What a reviewer is asked, if the home says so.
    pub(crate) fn review_template(&self) -> PathBuf {
        self.dir.join("review.md")
    }

    /// The templates.
    pub(crate) fn templates(&self) -> PathBuf {
        self.dir.join("templates")
    }

    /// Where the running server is.
    pub(crate) fn server_file(&self) -> PathBuf {
        self.dir.join("server.json")
    }

    /// The lock of the running server.
    pub(crate) fn server_lock(&self) -> PathBuf {
        self.dir.join("server.lock")
    }

    /// Where the last server was, as the agents that it started know it.
    pub(crate) fn address_file(&self) -> PathBuf {
        self.dir.join("runs").join("address")
    }

    /// What a server in the background says.
    pub(crate) fn server_log(&self) -> PathBuf {
        self.dir.join("server.log")
    }

    /// What git is told to ignore.
    pub(crate) fn gitignore(&self) -> PathBuf {
        self.dir.join(".gitignore")
    }

    /// The operator's token: outside the project, where no agent has business.
    ///
    /// Nor has a program that an agent of this home started, whatever its environment says.
    pub(crate) fn operator_token_file(&self, env: &Environment) -> Result<PathBuf, HomeError> {
        crate::ancestry::refuse_below_agent(self)?;
        let state = match (&env.xdg_state_home, &env.user_home) {
            (Some(state), _) => state.clone(),
            (None, Some(home)) => home.join(".local").join("state"),
            (None, None) => return Err(HomeError::NoStateFolder),
        };
        let digest = Sha256::digest(canonical(&self.dir).as_os_str().as_encoded_bytes());
        let name = digest.iter().take(8).fold(String::new(), |mut name, byte| {
            // Writing to a String cannot fail.
            _ = write!(name, "{byte:02x}");
            name
        });
        Ok(state.join("adjutant").join(name).join("operator.token"))
    }

    /// Where the operator's secrets are, which a sandbox hides.
    pub(crate) fn secrets(&self, env: &Environment) -> Result<PathBuf, HomeError> {
        let token = self.operator_token_file(env)?;
        Ok(token.ancestors().nth(2).unwrap_or(&token).to_owned())
    }

    /// Reads the operator's token, if one was made.
    pub(crate) fn operator_token(&self, env: &Environment) -> Result<Option<String>, HomeError> {
        let text = files::read(&self.operator_token_file(env)?)?;
        Ok(text.map(|text| text.trim().to_owned()).filter(|token| !token.is_empty()))
    }

    /// Reads the operator's token, and makes it first where there is none.
    pub(crate) fn make_operator_token(&self, env: &Environment) -> Result<String, HomeError> {
        let path = self.operator_token_file(env)?;
        if let Some(token) = self.operator_token(env)? {
            return Ok(token);
        }
        if let Some(dir) = path.parent() {
            files::make_dir(dir, Mode::Private)?;
        }
        let token =
            host::random::secret("adjop_").map_err(|error| HomeError::Random(error.to_string()))?;
        // Whoever is first wins; the other reads what the first one wrote.
        if files::create(&path, &format!("{token}\n"), Mode::Private)? {
            return Ok(token);
        }
        if let Some(first) = self.operator_token(env)? {
            return Ok(first);
        }
        // An empty file was in the way.
        files::write(&path, &format!("{token}\n"), Mode::Private)?;
        Ok(token)
    }

    /// Reads where the running server is. What is written there may be out of date.
    pub(crate) fn read_server(&self) -> Result<Option<ServerFile>, HomeError> {
        let path = self.server_file();
        let Some(text) = files::read(&path)? else { return Ok(None) };
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|source| HomeError::ServerFile { path, source })
    }
}

/// `server.json`: a contract with scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerFile {
    /// Where it listens, as `http://127.0.0.1:3001`
    pub(crate) url: String,
    /// Its process
    pub(crate) pid: u32,
    /// Its version
    pub(crate) version: String,
    /// When it started
    pub(crate) started_at: Timestamp,
}

/// Whether a repository's root is here: an empty `.git`, as sandboxes leave them, is none.
fn is_repository(dir: &Path) -> bool {
    let git = dir.join(".git");
    git.is_file() || git.join("HEAD").exists()
}

/// The real path, as far as there is one: `init` names folders that are not there yet.
fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !parent.as_os_str().is_empty() => {
            canonical(parent).join(name)
        }
        _ => path.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn at(cwd: &Path) -> Environment {
        Environment::from_vars(cwd, [("XDG_STATE_HOME", cwd.join("state"))])
    }

    fn project() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(".adjutant/worktrees/one/.adjutant")).unwrap();
        fs::create_dir_all(root.join("src/deep")).unwrap();
        (dir, root)
    }

    #[test]
    fn it_is_found_upwards_and_by_name() {
        let (_dir, root) = project();
        let home = Home::in_project(&root);
        for cwd in ["", "src/deep", ".adjutant", ".adjutant/worktrees/one"] {
            assert_eq!(Home::find(None, &at(&root.join(cwd))).unwrap(), home, "from `{cwd}`");
        }
        let elsewhere = at(Path::new("/"));
        for named in [&home.root, &home.dir] {
            assert_eq!(Home::find(Some(named), &elsewhere).unwrap(), home);
        }
        let env = Environment { home: Some(home.dir.clone()), ..elsewhere };
        assert_eq!(Home::find(None, &env).unwrap(), home);
        assert_eq!(Home::for_init(None, &at(&root.join("src"))), home);
    }

    #[test]
    fn where_there_is_none_the_next_step_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = Home::find(None, &at(dir.path())).unwrap_err();
        assert!(error.help().unwrap().to_string().contains("adjutant init"));
        let error = Home::find(Some(Path::new("nowhere")), &at(dir.path())).unwrap_err();
        assert_eq!(error.to_string(), "there is no home at `nowhere`");
        fs::create_dir_all(dir.path().join(".git")).unwrap();
        fs::create_dir_all(dir.path().join("sub")).unwrap();
        let home = Home::for_init(None, &at(&dir.path().join("sub")));
        assert_eq!(home.root, dir.path().join("sub").canonicalize().unwrap(), "an empty `.git`");
        fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let home = Home::for_init(None, &at(&dir.path().join("sub")));
        assert_eq!(home.root, dir.path().canonicalize().unwrap());
    }

    #[test]
    fn the_operators_token_is_made_once_and_is_private() {
        let (_dir, root) = project();
        let (home, env) = (Home::in_project(&root), at(&root));
        assert_eq!(home.operator_token(&env).unwrap(), None);
        let token = home.make_operator_token(&env).unwrap();
        assert!(token.starts_with("adjop_"));
        assert_eq!(home.make_operator_token(&env).unwrap(), token);
        assert_eq!(home.operator_token(&env).unwrap(), Some(token));
        let path = home.operator_token_file(&env).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert!(matches!(
            home.operator_token_file(&Environment::default()),
            Err(HomeError::NoStateFolder)
        ));
    }

    #[test]
    fn the_servers_file_is_what_scripts_read() {
        let (_dir, root) = project();
        let home = Home::in_project(&root);
        assert_eq!(home.read_server().unwrap(), None);
        let server = ServerFile {
            url: "http://127.0.0.1:3001".into(),
            pid: 7,
            version: "0.1.0".into(),
            started_at: Timestamp::from_millis(0),
        };
        let text = serde_json::to_string(&server).unwrap();
        assert_eq!(
            text,
            r#"{"url":"http://127.0.0.1:3001","pid":7,"version":"0.1.0","startedAt":"1970-01-01T00:00:00.000Z"}"#
        );
        fs::create_dir_all(&home.dir).unwrap();
        fs::write(home.server_file(), text).unwrap();
        assert_eq!(home.read_server().unwrap(), Some(server));
        fs::write(home.server_file(), "{").unwrap();
        assert!(home.read_server().is_err());
    }
}
