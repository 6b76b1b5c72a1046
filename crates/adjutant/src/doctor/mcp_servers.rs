//! Checks the MCP servers that agents are given: the project's file, and what roles ask for.

use std::collections::BTreeMap;

use engine::settings::{McpChoice, Role};
use host::agent::{ConfigPlace, may_use};

use super::Check;
use crate::config::Config;
use crate::crew::mcp_servers;
use crate::environment::Environment;
use crate::home::Home;

/// Looks at the file and at each role.
pub(super) fn look(
    home: &Home,
    config: &Config,
    roles: &BTreeMap<String, Role>,
    env: &Environment,
) -> Vec<Check> {
    let mut checks = Vec::new();
    let project = mcp_servers::load(home).unwrap_or_else(|problem| {
        checks.push(Check::warn("mcp", problem, "mend the file, then run `adjutant reload`"));
        Vec::new()
    });
    let adjutant = std::env::current_exe().unwrap_or_default();
    let is_other = |server: &host::agent::UserServer| !server.is_adjutant(&adjutant);
    let variable = |name: &str| env.variable(name);
    let project: Vec<String> =
        project.into_iter().filter(is_other).map(|server| server.name).collect();
    if !project.is_empty() {
        let message = format!("agents are given {} of `.mcp.json`", project.join(", "));
        checks.push(Check::ok("mcp", message));
    }
    for role in roles.values() {
        let McpChoice::Names(names) = &role.mcp else { continue };
        let kind = role.kind.as_deref().unwrap_or_else(|| config.agents.default.name());
        let Some(kind) = host::agent::kind(kind) else { continue };
        let command = role.program_of(kind);
        let place = ConfigPlace { directory: &home.root, command, variable: &variable };
        let files = kind.config_files(&place);
        let texts = files.iter().filter_map(|path| host::files::read(path).ok().flatten());
        let own = texts.flat_map(|text| kind.own_servers(&text, &home.root)).filter(is_other);
        let known: Vec<String> =
            project.iter().cloned().chain(own.map(|server| server.name)).collect();
        for name in names {
            let (problem, next) = if !known.contains(name) {
                let there = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                ("there is no such server", format!("there are: {there}"))
            } else if !may_use(role.tools.as_deref(), &role.disallowed_tools, name) {
                let next = format!("add `mcp__{name}__*` to its `tools`");
                ("its `tools` allow none of that server's", next)
            } else {
                continue;
            };
            let message = format!("the role `{}` names `{name}` in `mcp`; {problem}", role.name);
            checks.push(Check::warn("mcp", message, next));
        }
    }
    checks
}
