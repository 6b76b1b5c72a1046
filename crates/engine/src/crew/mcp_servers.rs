//! The project's and the user's MCP servers: which of them an agent is given.
//!
//! The project's file is read with the configuration, from the project itself and never from a worktree, so that what an
//! agent writes there gives nobody a server. Adjutant itself is never given: through it an agent would come in as the
//! operator.

use std::path::{Path, PathBuf};

use host::agent::{ConfigPlace, Kind, OwnServers, UserServer, may_use};

use crate::call::toolsets::TOOLSETS;
use crate::core::settings::{McpChoice, Role, Settings};

/// No configuration of an agent's program is longer.
const MAX_CONFIG_BYTES: u64 = 16 * 1024 * 1024;

/// The servers of one agent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ChosenServers {
    /// Those that it is given
    pub(crate) given: Vec<UserServer>,
    /// Those that its program loads itself, and may
    pub(crate) own: Vec<String>,
    /// Those that its program must not load
    pub(crate) disabled: Vec<String>,
}

/// For whom servers are chosen.
#[derive(Clone, Copy)]
pub(crate) struct McpChooser<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) kind: &'a dyn Kind,
    pub(crate) role: Option<&'a Role>,
    /// Its own tools it may use; all of them where absent
    pub(crate) tools: Option<&'a [String]>,
    /// Where it works
    pub(crate) directory: &'a Path,
    /// Adjutant itself
    pub(crate) adjutant: &'a Path,
    /// Finds a variable of its environment
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
}

/// A server of the files that an agent's program knows.
struct OwnServer {
    server: UserServer,
    /// Whether it stands in a file of the project or the user, and not in the worktree's alone
    is_trusted: bool,
}

impl McpChooser<'_> {
    /// Chooses the servers. Reads files, so it is not for a transaction. An error names what the role asks for in vain.
    pub(crate) fn choose(self) -> Result<ChosenServers, String> {
        let role = self.role;
        let choice = role.map(|role| role.mcp.clone()).unwrap_or_default();
        let disallowed = role.map(|role| role.disallowed_tools.as_slice()).unwrap_or_default();
        let asks_person = self.settings.asks == crate::core::settings::Asks::Person;
        let is_ours = |server: &UserServer| server.is_adjutant(self.adjutant);
        let own = self.own();
        let own_use = self.kind.own_servers_use();
        let mut known: Vec<UserServer> = self.settings.project_servers.clone();
        known.retain(|server| !is_ours(server));
        for own in own.iter().filter(|own| own.is_trusted && !is_ours(&own.server)) {
            if known.iter().all(|server| server.name != own.server.name) {
                known.push(own.server.clone());
            }
        }
        if let (McpChoice::Names(names), Some(role)) = (&choice, role) {
            check_names(names, &known, role)?;
        }
        let is_chosen = |name: &str| {
            let tools = self.tools.filter(|_| !asks_person);
            choice.takes(name) && !TOOLSETS.contains(&name) && may_use(tools, disallowed, name)
        };
        let mut chosen = ChosenServers::default();
        let is_project = |name: &str| {
            self.settings
                .project_servers
                .iter()
                .any(|server| server.name == name && !is_ours(server))
        };
        if own_use == OwnServers::Loaded {
            for OwnServer { server, is_trusted } in own {
                let name = server.name.clone();
                let is_left = is_trusted && !is_ours(&server) && is_chosen(&name);
                match (is_left, is_project(&name)) {
                    // The project's definition takes the place of the user's.
                    (true, true) => {}
                    (true, false) => chosen.own.push(name),
                    (false, _) => chosen.disabled.push(name),
                }
            }
            known.retain(|server| is_project(&server.name));
        }
        chosen.given = known.into_iter().filter(|server| is_chosen(&server.name)).collect();
        chosen.disabled.retain(|name| chosen.given.iter().all(|server| server.name != *name));
        for names in [&mut chosen.own, &mut chosen.disabled] {
            names.sort();
            names.dedup();
        }
        // One that is defined twice is loaded only if both definitions may be.
        chosen.own.retain(|name| !chosen.disabled.contains(name));
        Ok(chosen)
    }

    /// The servers in the files that the agent's program knows.
    fn own(&self) -> Vec<OwnServer> {
        let role_command = self.role.map(|role| role.program_of(self.kind)).unwrap_or_default();
        let project = &self.settings.project;
        let files_at = |directory: &Path| {
            let place = ConfigPlace { directory, command: role_command, variable: self.variable };
            self.kind.config_files(&place)
        };
        let read = |path: &PathBuf| {
            // Agents can write some of them: no pipe is waited for, and nothing endless is read.
            let found = host::inside::read(Path::new("/"), path, MAX_CONFIG_BYTES).ok()?;
            Some(self.kind.own_servers(&String::from_utf8_lossy(&found.bytes), project))
        };
        let trusted: Vec<PathBuf> = files_at(project);
        let known: Vec<UserServer> = trusted.iter().filter_map(read).flatten().collect();
        let of_worktree =
            files_at(self.directory).into_iter().filter(|path| !trusted.contains(path));
        let foreign: Vec<UserServer> =
            of_worktree.filter_map(|path| read(&path)).flatten().collect();
        // A worktree has the project's files as they were committed; what differs is an agent's.
        let foreign = foreign.into_iter().filter(|server| !known.contains(server));
        let foreign: Vec<OwnServer> =
            foreign.map(|server| OwnServer { server, is_trusted: false }).collect();
        known
            .into_iter()
            .map(|server| OwnServer { server, is_trusted: true })
            .chain(foreign)
            .collect()
    }
}

fn check_names(names: &[String], known: &[UserServer], role: &Role) -> Result<(), String> {
    let known: Vec<&str> = known.iter().map(|server| server.name.as_str()).collect();
    let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) else {
        return Ok(());
    };
    let near = model::nearest::nearest(unknown, known.iter().copied());
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    let list = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(format!(
        "the role `{}` names the MCP server `{unknown}` in `mcp`, and there is no such server; there are: {list}{near}",
        role.name
    ))
}

impl McpChoice {
    /// Returns whether it takes a server of that name.
    fn takes(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Names(names) => names.iter().any(|chosen| chosen == name),
        }
    }
}

#[cfg(test)]
mod tests;
