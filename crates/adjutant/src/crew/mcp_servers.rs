//! The MCP servers of the project's `.mcp.json`.

use host::agent::{PROJECT_FILE, UserServer, read_servers};

use crate::home::Home;

/// No such file is longer.
const MAX_BYTES: u64 = 1024 * 1024;

/// Reads the servers; none where there is no file. An error says what is wrong with it.
pub(crate) fn load(home: &Home) -> Result<Vec<UserServer>, String> {
    let path = home.root.join(PROJECT_FILE);
    if std::fs::symlink_metadata(&path).is_err() {
        return Ok(Vec::new());
    }
    // Agents that work in the project can write it: no link is followed out of it, and no pipe is waited for.
    let found = host::inside::read(&home.root, &path, MAX_BYTES);
    let found = found.map_err(|error| format!("`{PROJECT_FILE}` cannot be read: {error}"))?;
    if !home.accepts_servers(&found.bytes) {
        return Err(format!(
            "`{PROJECT_FILE}` has changed since your last command read it; no server of it is given to agents \
             before `adjutant reload`"
        ));
    }
    let text = String::from_utf8_lossy(&found.bytes);
    read_servers(&text).map_err(|problem| {
        format!("`{PROJECT_FILE}` {problem}; no server of it is given to agents")
    })
}
