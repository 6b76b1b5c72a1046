//! MCP servers in the user's and the project's configuration of Codex.
//!
//! Codex starts every server of these files, with a clean environment, for each of its sessions: there `adjutant mcp`
//! would not know that it runs inside an agent. There is no switch that leaves the files out, but a server can be
//! disabled by its name.

use std::path::{Path, PathBuf};

use serde_json::json;
use toml_edit::{DocumentMut, Item};

use crate::agent::user_servers::UserServer;

/// The file of a folder.
const USER_CONFIG_FILE: &str = ".codex/config.toml";
/// The administrator's file.
const SYSTEM_FILE: &str = "/etc/codex/config.toml";

/// The files that a session in a directory reads.
pub(super) fn files(directory: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let home = variable("CODEX_HOME").map(|home| PathBuf::from(home).join("config.toml"));
    let home =
        home.or_else(|| variable("HOME").map(|home| Path::new(&home).join(USER_CONFIG_FILE)));
    let above = directory.ancestors().map(|folder| folder.join(USER_CONFIG_FILE));
    home.into_iter().chain([SYSTEM_FILE.into()]).chain(above).collect()
}

/// The servers of such a file. One that cannot be understood has none: Codex refuses it, too.
pub(super) fn servers(text: &str) -> Vec<UserServer> {
    let Ok(document) = text.parse::<DocumentMut>() else { return Vec::new() };
    let Some(servers) = document.get("mcp_servers").and_then(Item::as_table_like) else {
        return Vec::new();
    };
    let server = |(name, server): (&str, &Item)| {
        let text = |key: &str| server.as_table_like()?.get(key)?.as_str().map(str::to_owned);
        let table = server.as_table_like();
        let arguments = table.and_then(|table| table.get("args")?.as_array());
        let arguments: Vec<&str> =
            arguments.into_iter().flatten().filter_map(|argument| argument.as_str()).collect();
        // All of it, so that two can be told apart.
        let whole = server.to_string();
        let config = json!({ "command": text("command"), "args": arguments, "url": text("url"), "toml": whole });
        UserServer { name: name.to_owned(), config }
    };
    servers.iter().map(server).collect()
}

/// The setting that disables a server. Codex splits the path at its dots, so that a name with one needs a table.
pub(super) fn disabled(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.chars().all(is_plain) {
        return format!("mcp_servers.{name}.enabled=false");
    }
    // A JSON string is a TOML string.
    format!("mcp_servers={{{}={{enabled=false}}}}", serde_json::Value::from(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_adjutant_are_found_however_they_are_started() {
        let text = r#"
            [mcp_servers.adjutant]
            command = "/opt/old/bin/other-name"
            [mcp_servers.plain]
            command = "adjutant"
            args = ["mcp"]
            [mcp_servers.path]
            command = "/opt/me/.cargo/bin/adjutant"
            [mcp_servers."with.dot"]
            command = "sh"
            args = ["-c", "exec env X=1 adjutant mcp"]
            [mcp_servers.renamed]
            command = "/usr/bin/crew"
            [mcp_servers.github]
            command = "npx"
            args = ["-y", "@modelcontextprotocol/server-github"]
            [mcp_servers.remote]
            url = "https://adjutant.example/mcp"
        "#;
        let (ours, others): (Vec<_>, Vec<_>) = servers(text)
            .into_iter()
            .partition(|server| server.is_adjutant(Path::new("/usr/bin/crew")));
        let names =
            |servers: &[UserServer]| servers.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&ours), ["adjutant", "plain", "path", "with.dot", "renamed"]);
        assert_eq!(names(&others), ["github", "remote"]);
        assert_eq!(servers("not [ toml"), []);
        assert_eq!(servers("mcp_servers = 3"), []);
    }

    #[test]
    fn every_file_that_a_session_reads_is_looked_at() {
        let variable = |name: &str| (name == "HOME").then(|| "/opt/me".to_owned());
        let all = files(Path::new("/srv/p/sub"), &variable);
        let text: Vec<_> = all.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(
            text,
            [
                "/opt/me/.codex/config.toml",
                "/etc/codex/config.toml",
                "/srv/p/sub/.codex/config.toml",
                "/srv/p/.codex/config.toml",
                "/srv/.codex/config.toml",
                "/.codex/config.toml",
            ]
        );
        let elsewhere = |name: &str| (name == "CODEX_HOME").then(|| "/c".to_owned());
        assert_eq!(files(Path::new("/"), &elsewhere)[0], Path::new("/c/config.toml"));
    }
}
