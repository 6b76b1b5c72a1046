//! The only reader of the process's environment. It is read once; everybody else gets values.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// The variables that mean something by themselves; every other `ADJUTANT_*` is a setting.
const OWN: [&str; 12] = [
    "ADJUTANT_HOME",
    "ADJUTANT_URL",
    "ADJUTANT_TOKEN",
    "ADJUTANT_AGENT_ID",
    "ADJUTANT_TASK",
    "ADJUTANT_MCP_CONFIG",
    "ADJUTANT_ATTEMPT",
    "ADJUTANT_CRASH_AT",
    "ADJUTANT_STATE",
    "ADJUTANT_PORT",
    "ADJUTANT_INSECURE",
    NEXT_MIGRATIONS,
];

/// Names a folder with migrations of the next program, for tests of an upgrade. Only debug builds read it.
pub(crate) const NEXT_MIGRATIONS: &str = "ADJUTANT_NEXT_MIGRATIONS";

/// Environment variables. An empty variable counts as absent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// The working directory
    pub(crate) cwd: PathBuf,
    /// `ADJUTANT_HOME`: which home
    pub(crate) home: Option<PathBuf>,
    /// `ADJUTANT_STATE` or `--state`: the folder of the home's state
    pub(crate) state: Option<PathBuf>,
    /// `ADJUTANT_URL`: the server, inside an agent or on another machine
    pub(crate) url: Option<String>,
    /// `ADJUTANT_TOKEN`: the token for it, an agent's own or the operator's
    pub(crate) token: Option<String>,
    /// `ADJUTANT_INSECURE`: `1` lets the token of `ADJUTANT_URL` cross a network in the clear
    pub(crate) insecure: Option<String>,
    /// `ADJUTANT_AGENT_ID`: which agent we are inside
    pub(crate) agent_id: Option<String>,
    /// `ADJUTANT_TASK`: the slug of its task
    pub(crate) task: Option<String>,
    /// `ADJUTANT_ATTEMPT`: how often it has been started, with this time
    pub(crate) attempt: Option<u32>,
    /// `ADJUTANT_CRASH_AT`: the place in the server's work where it is to die, for tests of recovery
    pub(crate) crash_at: Option<String>,
    /// Every other `ADJUTANT_*`, by its whole name: settings, such as `ADJUTANT_LIMITS_DEPTH`
    pub(crate) settings: BTreeMap<String, String>,
    /// `MCP_SERVER_PORT`
    pub(crate) mcp_server_port: Option<String>,
    /// `MCP_DATABASE_PATH`
    pub(crate) mcp_database_path: Option<String>,
    /// `MCP_LOG_LEVEL`
    pub(crate) mcp_log_level: Option<String>,
    /// `MCP_TOOL_TIMEOUT`, in milliseconds
    pub(crate) mcp_tool_timeout: Option<String>,
    /// `XDG_STATE_HOME`, where it is absolute; the standard says to ignore any other
    pub(crate) xdg_state_home: Option<PathBuf>,
    /// `XDG_DATA_HOME`, where it is absolute
    pub(crate) xdg_data_home: Option<PathBuf>,
    /// `HOME`: the user's own folder
    pub(crate) user_home: Option<PathBuf>,
    /// `PATH`: where programs are
    pub(crate) path: Option<OsString>,
    /// All of it, for a server that we start in the background: it is the operator's own
    pub(crate) vars: Vec<(OsString, OsString)>,
}

impl Environment {
    /// Reads the process's environment.
    pub(crate) fn read() -> std::io::Result<Self> {
        Ok(Self::from_vars(std::env::current_dir()?, std::env::vars_os()))
    }

    /// A variable by its name, where it has text in it.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let found = self.vars.iter().find(|(known, _)| known == name);
        found
            .and_then(|(_, value)| value.to_str())
            .filter(|value| !value.is_empty())
            .map(str::to_owned)
    }

    /// Variables passed to every agent: paths, locale, and the
    /// way out. Nothing else: an agent's environment is built, not inherited.
    pub(crate) fn for_agents(&self) -> Vec<(String, String)> {
        let named = |name: &str| {
            const NAMES: [&str; 10] = [
                "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
                "TERM",
            ];
            const PROXIES: [&str; 5] =
                ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "ftp_proxy"];
            const TRUST: [&str; 3] = ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"];
            NAMES.contains(&name)
                || TRUST.contains(&name)
                || name.starts_with("LC_")
                || PROXIES.contains(&name.to_ascii_lowercase().as_str())
        };
        let text = |(name, value): &(OsString, OsString)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        };
        self.vars.iter().filter_map(text).filter(|(name, _)| named(name)).collect()
    }

    /// Returns whether the token may cross a network in the clear.
    pub(crate) fn is_insecure(&self) -> bool {
        self.insecure.as_deref() == Some("1")
    }

    /// Takes the variables given instead of the process's own.
    pub(crate) fn from_vars<K: Into<OsString>, V: Into<OsString>>(
        cwd: impl Into<PathBuf>,
        vars: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let all: Vec<(OsString, OsString)> =
            vars.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let mut vars: BTreeMap<String, OsString> = all
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value.clone())))
            .collect();
        let mut raw = |name: &str| vars.remove(name);
        let text = |value: OsString| value.to_string_lossy().into_owned();
        // The MCP configuration and the ports are for the agent itself.
        let [
            home,
            url,
            token,
            agent_id,
            task,
            _mcp_config,
            attempt,
            crash_at,
            state_dir,
            _port,
            insecure,
            _next_migrations,
        ] = OWN.map(&mut raw);
        let mcp_server_port = raw("MCP_SERVER_PORT").map(text);
        let mcp_database_path = raw("MCP_DATABASE_PATH").map(text);
        let mcp_log_level = raw("MCP_LOG_LEVEL").map(text);
        let mcp_tool_timeout = raw("MCP_TOOL_TIMEOUT").map(text);
        let state = raw("XDG_STATE_HOME").map(PathBuf::from);
        let data = raw("XDG_DATA_HOME").map(PathBuf::from);
        let user_home = raw("HOME").map(PathBuf::from);
        let path = raw("PATH");
        Self {
            cwd: cwd.into(),
            home: home.map(PathBuf::from),
            state: state_dir.map(PathBuf::from),
            crash_at: crash_at.map(text),
            url: url.map(text),
            token: token.map(text),
            insecure: insecure.map(text),
            agent_id: agent_id.map(text),
            task: task.map(text),
            attempt: attempt.and_then(|number| number.to_str()?.parse().ok()),
            settings: vars
                .into_iter()
                .filter(|(name, _)| name.starts_with("ADJUTANT_"))
                .map(|(name, value)| (name, text(value)))
                .collect(),
            mcp_server_port,
            mcp_database_path,
            mcp_log_level,
            mcp_tool_timeout,
            xdg_state_home: state.filter(|path| path.is_absolute()),
            xdg_data_home: data.filter(|path| path.is_absolute()),
            user_home: user_home.filter(|path| path.is_absolute()),
            path,
            vars: all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_kept_apart_from_identity() {
        let read = Environment::from_vars(
            "/project",
            [
                ("ADJUTANT_HOME", "/h"),
                ("ADJUTANT_TOKEN", "secret"),
                ("ADJUTANT_TASK", "fix-it"),
                ("ADJUTANT_ATTEMPT", "2"),
                ("ADJUTANT_LIMITS_DEPTH", "5"),
                ("MCP_SERVER_PORT", "4000"),
                ("XDG_STATE_HOME", "relative"),
                ("GITHUB_TOKEN", "x"),
                ("MCP_LOG_LEVEL", ""),
                ("SHELL", "/bin/sh"),
            ],
        );
        assert_eq!(read.home.as_deref(), Some(std::path::Path::new("/h")));
        assert_eq!(read.token.as_deref(), Some("secret"));
        assert_eq!((read.task.as_deref(), read.attempt), (Some("fix-it"), Some(2)));
        assert_eq!(read.mcp_server_port.as_deref(), Some("4000"));
        assert_eq!(
            read.settings,
            BTreeMap::from([("ADJUTANT_LIMITS_DEPTH".to_owned(), "5".to_owned())])
        );
        assert_eq!(read.variable("GITHUB_TOKEN").as_deref(), Some("x"));
        assert_eq!(read.xdg_state_home, None, "a relative one is ignored");
        assert_eq!(read.mcp_log_level, None, "an empty variable is an absent one");
    }
}
