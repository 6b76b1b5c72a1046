//! A project's home, the folder `.adjutant`: how it is found, and the paths of everything in it.
//!
//! The folder holds what people write (configuration, roles, templates) and the mirrors. What the program
//! writes is in the home's state folder, see `state.rs`; the operator's token is outside the project.

mod ancestry;
pub(crate) mod good;
pub(crate) mod moving;
pub(crate) mod state;
pub(crate) mod worktrees;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use host::files::{self, FileError, Mode};
use host::git::Checkout;
use host::owner::{self, Holder};
use miette::Diagnostic;
use model::{AgentId, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::environment::Environment;
use state::Placement;

/// File in the state folder that says where the home was when its server started.
const PLACE: &str = "home";

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
        /// Given path
        path: PathBuf,
    },
    /// The record of one home was found twice.
    #[error(
        "this home has two states: `{}` and `{}`",
        first.display(),
        second.display()
    )]
    #[diagnostic(help(
        "move away the one that you do not want, or name the one that counts with `--state DIR`"
    ))]
    TwoStates {
        /// One folder
        first: PathBuf,
        /// The other one
        second: PathBuf,
    },
    /// There is no place outside the project.
    #[error("neither `XDG_STATE_HOME` nor `HOME` is set, so the operator's token has no place")]
    #[diagnostic(help("set `HOME` to your own folder"))]
    NoStateFolder,
    /// `server.json` holds something else.
    #[error("`{}` is not a server's file", path.display())]
    #[diagnostic(help("remove it and run `adjutant up`"))]
    ServerFile {
        /// Path of the file
        path: PathBuf,
        /// Problem, if any
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
    /// Where its state lies
    state: Placement,
    /// The copy of configuration, roles and templates that is read in place of the files
    copy: Option<PathBuf>,
}

impl Home {
    /// Finds the home: the one `--home` names, else `ADJUTANT_HOME`, else upwards as git does.
    pub(crate) fn find(flag: Option<&Path>, env: &Environment) -> Result<Self, HomeError> {
        match flag.or(env.home.as_deref()) {
            Some(named) => {
                let (root, dir) = named_folders(&env.cwd.join(named));
                // Cleaned away or never committed, the folder may be missing: the state is what counts.
                if dir.is_dir() || state::remains(&dir, env) {
                    Self::placed(root, dir, env)
                } else {
                    Err(HomeError::NotThere { path: named.to_owned() })
                }
            }
            None => match above(env) {
                Some((root, dir)) => Self::placed(root, dir, env),
                None => Err(HomeError::NotFound { from: env.cwd.clone() }),
            },
        }
    }

    /// Where `init` makes a home: as named, else where one is, else at the top of the repository,
    /// else here.
    pub(crate) fn for_init(flag: Option<&Path>, env: &Environment) -> Self {
        let (root, dir) = if let Some(named) = flag.or(env.home.as_deref()) {
            named_folders(&env.cwd.join(named))
        } else if let Some(found) = above(env) {
            found
        } else {
            let here = canonical(&env.cwd);
            let root = here.ancestors().find(|dir| is_repository(dir)).unwrap_or(&here);
            (root.to_owned(), root.join(FOLDER))
        };
        // What is wrong with its state is reported by the command that uses it.
        let fallback = Self::unplaced(root.clone(), dir.clone());
        Self::placed(root, dir, env).unwrap_or(fallback)
    }

    fn placed(root: PathBuf, dir: PathBuf, env: &Environment) -> Result<Self, HomeError> {
        let state = state::place(&dir, env)?;
        Ok(Self { root, dir, state, copy: None })
    }

    /// A home of which only the folders are known, with its state where it usually is.
    pub(crate) fn unplaced(root: PathBuf, dir: PathBuf) -> Self {
        let state = Placement { dir: state::usual(&dir), wanted: None };
        Self { root, dir, state, copy: None }
    }

    /// The same home, with configuration, roles and templates read from a copy.
    pub(crate) fn reading(&self, copy: PathBuf) -> Self {
        Self { copy: Some(copy), ..self.clone() }
    }

    /// The file of which a file of the copy is one: what people are told of.
    pub(crate) fn original(&self, path: &Path) -> PathBuf {
        let inside = self.copy.as_ref().and_then(|copy| path.strip_prefix(copy).ok());
        match inside.map(|inside| (inside, inside.strip_prefix(good::CLAUDE_AGENTS))) {
            Some((_, Ok(agent))) => self.root.join(".claude").join("agents").join(agent),
            Some((inside, Err(_))) => self.dir.join(inside),
            None => path.to_owned(),
        }
    }

    /// The folder of the record, the lock, the run folders, the log and `server.json`.
    pub(crate) fn state_dir(&self) -> &Path {
        &self.state.dir
    }

    /// The folder that the next start moves the state to, where that is another one.
    pub(crate) fn wanted_state_dir(&self) -> Option<&Path> {
        self.state.wanted.as_deref()
    }

    /// The record, by its name in the configuration: relative to the state folder.
    pub(crate) fn database(&self, name: &str) -> PathBuf {
        self.state.dir.join(name)
    }

    /// The run folders.
    pub(crate) fn runs(&self) -> PathBuf {
        self.state.dir.join("runs")
    }

    /// The folder that configuration, roles and templates are read from: the home's, or the copy of what
    /// was good last where nothing of it is left there.
    pub(crate) fn written(&self) -> PathBuf {
        self.copy.clone().unwrap_or_else(|| good::folder(&self.dir, &self.state.dir))
    }

    /// The configuration.
    pub(crate) fn config(&self) -> PathBuf {
        self.written().join("config.yaml")
    }

    /// The home's own roles.
    pub(crate) fn roles(&self) -> PathBuf {
        self.written().join("roles")
    }

    /// Claude Code's roles, read after the home's own.
    pub(crate) fn claude_agents(&self) -> PathBuf {
        match &self.copy {
            Some(copy) => copy.join(good::CLAUDE_AGENTS),
            None => self.root.join(".claude").join("agents"),
        }
    }

    /// Returns whether a `.mcp.json` of this content counts. While the copy is read, only the one that was read with it.
    pub(crate) fn accepts_servers(&self, content: &[u8]) -> bool {
        self.copy.as_deref().is_none_or(|copy| good::accepts_servers(copy, content))
    }

    /// Path of the home's review template.
    pub(crate) fn review_template(&self) -> PathBuf {
        self.written().join("review.md")
    }

    /// The templates.
    pub(crate) fn templates(&self) -> PathBuf {
        self.written().join("templates")
    }

    /// Where the running server is.
    pub(crate) fn server_file(&self) -> PathBuf {
        self.state.dir.join("server.json")
    }

    /// The copy of `server.json` that scripts read; none where the state still lies in the home's folder.
    pub(crate) fn own_copy(&self) -> Option<PathBuf> {
        Some(self.dir.join("server.json")).filter(|copy| *copy != self.server_file())
    }

    /// Everywhere else that the running server may be noted.
    pub(crate) fn server_file_copies(&self) -> Vec<PathBuf> {
        let wanted = self.wanted_state_dir().map(|dir| dir.join("server.json"));
        wanted.into_iter().chain(self.own_copy()).collect()
    }

    /// The lock of the running server.
    pub(crate) fn lock(&self) -> PathBuf {
        self.state.dir.join("server.lock")
    }

    /// Where the last server was, as the agents that it started know it.
    pub(crate) fn address_file(&self) -> PathBuf {
        self.runs().join("address")
    }

    /// Path of the background server's log.
    pub(crate) fn server_log(&self) -> PathBuf {
        self.state.dir.join("server.log")
    }

    /// Path of the home's `.gitignore`.
    pub(crate) fn gitignore(&self) -> PathBuf {
        self.dir.join(".gitignore")
    }

    /// The operator's token: outside the project, where no agent has business.
    ///
    /// Nor has a program that an agent of this home started, whatever its environment says.
    pub(crate) fn operator_token_file(&self, env: &Environment) -> Result<PathBuf, HomeError> {
        ancestry::refuse_below_agent(self)?;
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

    /// Where the command line notes which mail it has shown to the operator.
    pub(crate) fn shown_mail_file(&self, env: &Environment) -> Result<PathBuf, HomeError> {
        Ok(self.operator_token_file(env)?.with_file_name("mail.shown"))
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
        // The first writer wins; the other reads what it wrote.
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

    /// Records where the home is, to find it from its state after the project was renamed.
    pub(crate) fn note_place(&self) -> Result<(), FileError> {
        let Some(path) = self.dir.to_str() else { return Ok(()) };
        files::write(&self.state.dir.join(PLACE), &format!("{path}\n"), Mode::Private)
    }

    /// Returns whether this folder holds the state of this home, by its place or by what is noted there.
    pub(crate) fn has_state_at(&self, state: &Path) -> bool {
        let noted = files::read_optional(&state.join(PLACE)).ok().flatten();
        let noted = noted.and_then(|bytes| String::from_utf8(bytes).ok());
        let is_noted =
            |text: String| Path::new(text.trim_end_matches('\n')) == canonical(&self.dir);
        canonical(&self.state.dir) == canonical(state) || noted.is_some_and(is_noted)
    }

    /// The home as the server that runs knows it, if the project was renamed under it: its token lies where the
    /// old path says. Only a server that holds this home's lock counts.
    pub(crate) fn before_rename(&self) -> Option<Self> {
        let noted = files::read_optional(&self.state.dir.join(PLACE)).ok().flatten()?;
        let place = PathBuf::from(std::str::from_utf8(&noted).ok()?.trim_end_matches('\n'));
        let held = matches!(owner::holder(&self.lock()), Ok(Holder::Process(_)));
        if !held || place == self.dir || !place.is_absolute() {
            return None;
        }
        let root = place.parent()?.to_owned();
        Some(Self { root, dir: place, state: self.state.clone(), copy: None })
    }

    /// Reads where the running server is. What is written there may be out of date.
    pub(crate) fn read_server(&self) -> Result<Option<ServerFile>, HomeError> {
        let path = self.server_file();
        let Some(bytes) = files::read_optional(&path)? else { return Ok(None) };
        serde_json::from_slice(&bytes)
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

impl ServerFile {
    /// A server of which the system names the process and nobody the address.
    pub(crate) fn unknown(pid: u32) -> Self {
        let started_at = Timestamp::from_millis(0);
        Self { url: String::new(), pid, version: String::new(), started_at }
    }

    /// Returns whether no listening address is configured.
    pub(crate) fn is_unknown(&self) -> bool {
        self.url.is_empty()
    }

    /// The server as people are told of it.
    pub(crate) fn shown(&self) -> String {
        if self.is_unknown() { format!("process {}", self.pid) } else { format!("at {}", self.url) }
    }
}

/// The project and the home's folder, by the path of either: people mean either.
fn named_folders(path: &Path) -> (PathBuf, PathBuf) {
    let path = canonical(path);
    let is_home = path.file_name().is_some_and(|name| name == FOLDER)
        || (path.join("config.yaml").is_file() && !path.join(FOLDER).is_dir());
    match path.parent() {
        Some(root) if is_home => (root.to_owned(), path),
        _ => (path.clone(), path.join(FOLDER)),
    }
}

/// Finds a home from the working directory: by the pointer of a worktree that Adjutant made, else upwards, by
/// its folder or by what it left in the repository.
fn above(env: &Environment) -> Option<(PathBuf, PathBuf)> {
    let here = canonical(&env.cwd);
    if let Some(home) = Checkout::around(&here).and_then(|checkout| checkout.home())
        && (home.is_dir() || state::remains(&home, env))
    {
        return Some(named_folders(&home));
    }
    here.ancestors()
        // A worktree has the project's files, its `.adjutant` too; the home is outside it.
        .filter(|dir| !dir.components().any(|part| part.as_os_str() == FOLDER))
        .find(|dir| dir.join(FOLDER).is_dir() || state::remains(&dir.join(FOLDER), env))
        .map(|root| (root.to_owned(), root.join(FOLDER)))
}

/// True for a repository's root; an empty `.git`, as sandboxes leave it, does not count.
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

    fn in_project(root: &Path) -> Home {
        Home::unplaced(root.to_owned(), root.join(FOLDER))
    }

    #[test]
    fn it_is_found_upwards_and_by_name() {
        let (_dir, root) = project();
        let home = in_project(&root);
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

    fn git(dir: &Path, arguments: &[&str]) {
        let launch = host::process::Launch {
            program: "git".into(),
            arguments: arguments.iter().map(Into::into).collect(),
            environment: [
                ("PATH", "/usr/local/bin:/usr/bin:/bin"),
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ]
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
            directory: dir.to_owned(),
        };
        let ran = host::process::run(&launch, std::time::Duration::from_secs(60)).unwrap();
        assert!(ran.exit.is_success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }

    #[test]
    fn each_checkout_and_subfolder_has_a_state_of_its_own_in_the_common_directory() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        let me = ["-c", "user.name=A", "-c", "user.email=a@localhost", "commit", "-q"];
        git(&root, &[&me[..], &["--allow-empty", "-m", "Begin"]].concat());
        git(&root, &["worktree", "add", "-q", "../linked"]);
        let linked = root.with_file_name("linked");
        let homes = [root.clone(), root.join("packages/web"), linked.clone()];
        let common = root.join(".git/adjutant");
        let mut seen = Vec::new();
        for root in &homes {
            fs::create_dir_all(root.join(FOLDER)).unwrap();
            let home = Home::find(None, &at(root)).unwrap();
            assert_eq!(&home.root, root);
            assert_eq!(home.state_dir().parent(), Some(&*common), "{home:?}");
            assert!(!seen.contains(&home.state_dir().to_owned()), "{seen:?}");
            seen.push(home.state_dir().to_owned());
        }
        let names = seen.iter().map(|state| state.file_name().unwrap().to_str().unwrap());
        let readable: Vec<&str> = names.map(|name| name.rsplit_once('-').unwrap().0).collect();
        assert_eq!(readable, ["main", "main-packages-web", "worktree-linked"]);

        // Cleaned away, a home is found by what it left.
        for (root, state) in homes.iter().zip(&seen) {
            fs::remove_dir_all(root.join(FOLDER)).unwrap();
            fs::create_dir_all(state.join("runs")).unwrap();
        }
        for root in &homes {
            assert_eq!(&Home::find(None, &at(root)).unwrap().root, root);
        }
        // A worktree that Adjutant made belongs to the home it points to, whatever is in it.
        fs::create_dir_all(linked.join(FOLDER)).unwrap();
        Checkout::around(&linked).unwrap().set_home(&root.join(FOLDER)).unwrap();
        assert_eq!(Home::find(None, &at(&linked)).unwrap().root, root);
        // A renamed project keeps its state.
        let renamed = root.with_file_name("renamed");
        fs::rename(&root, &renamed).unwrap();
        let state = Home::find(None, &at(&renamed)).unwrap().state_dir().to_owned();
        assert_eq!(state.file_name(), seen[0].file_name());
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
        let (home, env) = (in_project(&root), at(&root));
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
        let home = in_project(&root);
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
        fs::create_dir_all(home.state_dir()).unwrap();
        fs::write(home.server_file(), text).unwrap();
        assert_eq!(home.read_server().unwrap(), Some(server));
        fs::write(home.server_file(), "{").unwrap();
        assert!(home.read_server().is_err());
    }
}
