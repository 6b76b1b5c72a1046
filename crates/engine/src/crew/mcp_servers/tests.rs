//! Which servers an agent is given, over real files.

use std::fs;

use host::agent::read_servers;
use serde_json::json;

use super::*;
use crate::core::settings::Asks;

struct Stage {
    dir: tempfile::TempDir,
    settings: Settings,
    role: Role,
}

impl Stage {
    /// A project with two servers and Adjutant, in whose owner's folder Claude Code and Codex have servers, too.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let [project, worktree] = ["project", "worktree"].map(|name| dir.path().join(name));
        for folder in [&project, &worktree] {
            fs::create_dir_all(folder.join(".codex")).unwrap();
        }
        fs::create_dir_all(dir.path().join("home/.codex")).unwrap();
        let file = json!({ "mcpServers": {
            "github": { "command": "github-server" },
            "adjutant": { "command": "adjutant", "args": ["mcp"] },
            "crew": { "command": "sh", "args": ["-c", "exec /usr/bin/adjutant mcp"] },
            "mail": { "command": "somebody-elses-mail" },
        }});
        let claude = json!({ "mcpServers": {
            "notes": { "command": "notes" }, "mine": { "command": "/usr/bin/adjutant" },
        }});
        fs::write(dir.path().join("home/.claude.json"), claude.to_string()).unwrap();
        let codex = "[mcp_servers.docs]\ncommand='docs'\n[mcp_servers.seat]\ncommand='adjutant'\n";
        fs::write(dir.path().join("home/.codex/config.toml"), codex).unwrap();
        let settings = Settings {
            project,
            project_servers: read_servers(&file.to_string()).unwrap(),
            ..Settings::default()
        };
        Self { dir, settings, role: Role { name: "coder".to_owned(), ..Role::default() } }
    }

    fn chosen(&self, kind: &str) -> Result<ChosenServers, String> {
        let home = self.dir.path().join("home").display().to_string();
        McpChooser {
            settings: &self.settings,
            kind: host::agent::kind(kind).unwrap(),
            role: Some(&self.role),
            tools: self.role.tools.as_deref(),
            directory: &self.dir.path().join("worktree"),
            adjutant: Path::new("/usr/bin/adjutant"),
            variable: &|name| (name == "HOME").then(|| home.clone()),
        }
        .choose()
    }

    fn given(&self, kind: &str) -> Vec<String> {
        let chosen = self.chosen(kind).unwrap();
        chosen.given.into_iter().map(|server| server.name).collect()
    }
}

#[test]
fn all_servers_but_adjutant_are_given_unless_the_role_says_otherwise() {
    let mut stage = Stage::new();
    assert_eq!(stage.given("claude"), ["github", "notes"]);
    assert_eq!(stage.given("codex"), ["github"]);
    assert_eq!(stage.given("acp"), ["github"]);
    let codex = stage.chosen("codex").unwrap();
    assert_eq!((codex.own, codex.disabled), (vec!["docs".to_owned()], vec!["seat".to_owned()]));
    let program = vec!["/opt/bin/claude-agent-acp".to_owned()];
    stage.role.programs = [("acp".to_owned(), program)].into_iter().collect();
    assert_eq!(stage.given("acp"), ["github", "notes"], "it is kept to what it is given");
    stage.role.mcp = McpChoice::Names(vec!["notes".to_owned()]);
    assert_eq!(stage.given("claude"), ["notes"]);
    stage.role.mcp = McpChoice::None;
    assert_eq!(stage.given("claude"), [""; 0]);
    let codex = stage.chosen("codex").unwrap();
    assert_eq!((codex.own.len(), codex.disabled), (0, vec!["docs".to_owned(), "seat".to_owned()]));
}

#[test]
fn a_server_of_whose_tools_the_role_allows_none_is_not_given() {
    let mut stage = Stage::new();
    stage.role.tools = Some(vec!["Read".to_owned(), "mcp__notes__*".to_owned()]);
    assert_eq!(stage.given("claude"), ["notes"]);
    stage.settings.asks = Asks::Person;
    assert_eq!(stage.given("claude"), ["github", "notes"], "a person may allow it");
    stage.role.disallowed_tools = vec!["mcp__notes".to_owned()];
    assert_eq!(stage.given("claude"), ["github"]);
}

#[test]
fn a_name_that_is_no_server_is_an_error_that_says_which_there_are() {
    let mut stage = Stage::new();
    stage.role.mcp = McpChoice::Names(vec!["githup".to_owned()]);
    let why = stage.chosen("claude").unwrap_err();
    for part in ["`coder`", "`githup`", "github, mail, notes", "did you mean `github`?"] {
        assert!(why.contains(part), "{why}");
    }
    stage.role.mcp = McpChoice::Names(vec!["crew".to_owned()]);
    assert!(stage.chosen("claude").is_err(), "Adjutant itself is no such server");
}

#[test]
fn servers_that_an_agent_wrote_into_its_worktree_are_not_loaded() {
    let stage = Stage::new();
    let project = "[mcp_servers.team]\ncommand='team'\n[mcp_servers.lint]\ncommand='lint'\n";
    fs::write(stage.settings.project.join(".codex/config.toml"), project).unwrap();
    let worktree = stage.dir.path().join("worktree");
    let changed = "[mcp_servers.team]\ncommand='team'\n[mcp_servers.lint]\ncommand='evil'\n[mcp_servers.new]\ncommand='evil'\n";
    fs::write(worktree.join(".codex/config.toml"), changed).unwrap();
    let hostile = json!({ "mcpServers": { "evil": { "command": "evil" } } });
    fs::write(worktree.join(".mcp.json"), hostile.to_string()).unwrap();
    let codex = stage.chosen("codex").unwrap();
    assert_eq!(codex.own, ["docs", "team"]);
    assert_eq!(codex.disabled, ["lint", "new", "seat"]);
    assert!(!stage.given("claude").contains(&"evil".to_owned()));
}
