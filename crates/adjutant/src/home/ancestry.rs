//! Keeps the operator's token from programs that an agent of the home has started.
//!
//! The environment says who the caller is, but a client may start us with a clean one: Codex starts the MCP
//! servers of its configuration so. Then the processes above us tell.

use std::path::{Path, PathBuf};

use model::AgentId;

use crate::home::{Home, HomeError};

/// Refuses where a supervised agent of this home stands above this process.
pub(crate) fn refuse_below_agent(home: &Home) -> Result<(), HomeError> {
    // All of them: where the home's state lies may have been named to its server, and not to us.
    let folders = host::run::supervisors_above(Path::new("/"));
    // `runs/<agent>/<attempt>`. Hooks and checks, which the operator configured, have folders of other names.
    let agent_of = |folder: &PathBuf| -> Option<AgentId> {
        let agent = folder.parent()?;
        let state = agent.parent()?.parent()?;
        home.has_state_at(state).then(|| agent.file_name()?.to_str()?.parse().ok())?
    };
    match folders.iter().find_map(agent_of) {
        Some(agent) => Err(HomeError::BelowAgent { agent }),
        None => Ok(()),
    }
}
