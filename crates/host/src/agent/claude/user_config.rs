//! MCP servers in the user's own file of Claude Code: those of every project, and those of one.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::agent::user_servers::{UserServer, servers_in};

/// The file, in the user's folder or in the one that a variable names.
const FILE: &str = ".claude.json";

/// The file, should it be there.
pub(in crate::agent) fn files(variable: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let folder = variable("CLAUDE_CONFIG_DIR").or_else(|| variable("HOME"));
    folder.map(|folder| Path::new(&folder).join(FILE)).into_iter().collect()
}

/// Its servers for a project; the project's own entry comes first. What cannot be understood has none, as for Claude
/// Code.
pub(in crate::agent) fn servers(config: &str, project: &Path) -> Vec<UserServer> {
    let Ok(config) = serde_json::from_str::<Value>(config) else { return Vec::new() };
    let project = project.to_string_lossy();
    let of_project = &config["projects"][project.as_ref()]["mcpServers"];
    let lists = [of_project, &config["mcpServers"]].map(servers_in);
    let mut found: Vec<UserServer> = Vec::new();
    for server in lists.into_iter().flatten().flatten() {
        if found.iter().all(|known| known.name != server.name) {
            found.push(server);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_the_user_and_of_the_project_are_found() {
        let text = r#"{
            "mcpServers": {"github": {"url": "http://a"}, "notes": {"command": "notes"}},
            "projects": {
                "/srv/p": {"mcpServers": {"github": {"url": "http://b"}}},
                "/srv/q": {"mcpServers": {"other": {"command": "x"}}}
            }
        }"#;
        let found = servers(text, Path::new("/srv/p"));
        let names: Vec<&str> = found.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["github", "notes"]);
        assert_eq!(found[0].config["url"], "http://b", "the project's own wins");
        assert_eq!(servers("{", Path::new("/srv/p")), []);
        let home = |name: &str| (name == "HOME").then(|| "/opt/me".to_owned());
        assert_eq!(files(&home), [Path::new("/opt/me/.claude.json")]);
    }
}
