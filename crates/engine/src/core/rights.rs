//! Rights of agents: what the settings permit now, and what bounds an agent from earlier settings.
//!
//! A reload may give new agents more than before, but never an agent that is there already. Therefore each version of
//! the rights that comes into force is recorded, an agent keeps the number of the version at its beginning, and it may
//! do only what that version and all later ones permit. So it stays after a restart.

use std::collections::BTreeMap;

use model::Policy;
use model::policy::{Reach, Rules};
use serde::{Deserialize, Serialize};
use store::{Agent, RightsSnapshot};

use crate::core::durable;
use crate::core::error::ToolError;
use crate::core::settings::{Asks, McpChoice, Role, Sandbox, Settings, is_bare};

/// What agents may do, as the settings say it at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rights {
    policy: Policy,
    #[serde(default)]
    asks: Asks,
    roles: BTreeMap<String, RoleRights>,
}

/// What a role permits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RoleRights {
    category: String,
    rules: Rules,
    tools: Option<Vec<String>>,
    disallowed_tools: Vec<String>,
    sandbox: Sandbox,
    #[serde(default)]
    mcp: McpChoice,
}

impl From<&Role> for RoleRights {
    fn from(role: &Role) -> Self {
        Self {
            category: role.category.clone(),
            rules: role.rules.clone(),
            tools: role.tools.clone(),
            disallowed_tools: role.disallowed_tools.clone(),
            sandbox: role.sandbox,
            mcp: role.mcp.clone(),
        }
    }
}

impl Rights {
    /// The rights that settings give, without those of roles that cannot be read.
    pub(crate) fn of(settings: &Settings) -> Self {
        let roles = settings.roles.iter();
        Self {
            policy: settings.policy.clone(),
            asks: settings.asks,
            roles: roles.map(|(name, role)| (name.clone(), role.into())).collect(),
        }
    }

    /// Adds the last readable version of roles that cannot be read any more.
    pub(crate) fn add_last_good(&mut self, roles: &BTreeMap<String, Role>) {
        for (name, role) in roles {
            self.roles.entry(name.clone()).or_insert_with(|| role.into());
        }
    }

    fn permits(&self, agent: &Agent, tool: &str) -> bool {
        let role = self.roles.get(&agent.role).map(|role| (role.category.as_str(), &role.rules));
        permits(&self.policy, role, agent, tool)
    }
}

/// Rights that were in force since an agent began, and their place among them.
#[derive(Debug, Clone, PartialEq)]
pub struct EarlierRights {
    number: i64,
    /// `None` if this program cannot read them: then they permit nothing
    rights: Option<Rights>,
}

impl EarlierRights {
    /// Decodes recorded rights, and returns the error about those that cannot be read beside them.
    pub(crate) fn of(RightsSnapshot { number, body }: RightsSnapshot) -> (Self, Option<ToolError>) {
        match durable::decode(&body, format_args!("rights {number}"), "body") {
            Ok(rights) => (Self { number, rights: Some(rights) }, None),
            Err(error) => (Self { number, rights: None }, Some(error)),
        }
    }
}

/// Returns whether a policy and a role permit a tool to an agent. One whose role could never be read may use none.
fn permits(policy: &Policy, role: Option<(&str, &Rules)>, agent: &Agent, tool: &str) -> bool {
    match role {
        // A role may have got another category since the agent began: both bound it.
        Some((category, rules)) => {
            policy.permits(&agent.category, rules, tool)
                && (category == agent.category || policy.permits(category, rules, tool))
        }
        None => {
            is_bare(&agent.role, &agent.kind)
                && policy.permits(&agent.category, &Rules::default(), tool)
        }
    }
}

/// Own tools of an agent's program, and what it does about the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnTools {
    /// Those it may use; all of them where absent
    pub(crate) allowed: Option<Vec<String>>,
    /// Those it may not use
    pub(crate) denied: Vec<String>,
    /// Policy for the others
    pub(crate) others: host::agent::Asks,
}

impl Settings {
    /// Returns whether an agent may use a tool.
    pub(crate) fn permits(&self, agent: &Agent, tool: &str) -> bool {
        let role = self.role_of(&agent.role).map(|role| (role.category.as_str(), &role.rules));
        permits(&self.policy, role, agent, tool)
            && self.earlier_of(agent).all(|rights| rights.is_some_and(|it| it.permits(agent, tool)))
    }

    /// Whom an agent may await, kill and read.
    pub(crate) fn reach_of(&self, agent: &Agent) -> Reach {
        let of = |policy: &Policy| policy.get(&agent.category).map(|category| category.reach);
        let earlier = self.earlier_of(agent).map(|rights| rights.and_then(|it| of(&it.policy)));
        let all = std::iter::once(of(&self.policy)).chain(earlier);
        all.map(|reach| reach.unwrap_or(Reach::Itself)).min().unwrap_or(Reach::Itself)
    }

    /// Categories that an agent may draft.
    pub(crate) fn may_draft_of(&self, agent: &Agent) -> Vec<String> {
        let of = |policy: &Policy| {
            policy.get(&agent.category).map(|own| own.may_draft.clone()).unwrap_or_default()
        };
        let mut may = of(&self.policy);
        for rights in self.earlier_of(agent) {
            let then = rights.map(|rights| of(&rights.policy)).unwrap_or_default();
            may.retain(|name| then.contains(name));
        }
        may
    }

    /// Sandbox of an agent: what it began in, it does not leave.
    pub(crate) fn sandbox_of(&self, agent: &Agent) -> Sandbox {
        let now = self.role_of(&agent.role).map_or(Sandbox::None, |role| role.sandbox);
        let earlier = self.roles_of(agent).map(|role| role.sandbox);
        let is_confined = std::iter::once(now).chain(earlier).any(|it| it == Sandbox::Bwrap);
        if is_confined { Sandbox::Bwrap } else { Sandbox::None }
    }

    /// The MCP servers of the project and the client that an agent is given, by its role.
    pub(crate) fn mcp_of(&self, agent: &Agent) -> McpChoice {
        let now = self.role_of(&agent.role).map(|role| role.mcp.clone()).unwrap_or_default();
        self.roles_of(agent).fold(now, |choice, earlier| match (choice, &earlier.mcp) {
            (McpChoice::All, earlier) => earlier.clone(),
            (McpChoice::None, _) | (_, McpChoice::None) => McpChoice::None,
            (choice, McpChoice::All) => choice,
            (McpChoice::Names(mut names), McpChoice::Names(earlier)) => {
                names.retain(|name| earlier.contains(name));
                if names.is_empty() { McpChoice::None } else { McpChoice::Names(names) }
            }
        })
    }

    /// The agent's own tools. `given` are those that were named when it was drafted, in place of its role's.
    pub(crate) fn own_tools_of(&self, agent: &Agent, given: Option<&[String]>) -> OwnTools {
        let role = self.role_of(&agent.role);
        let mut allowed = role.and_then(|role| role.tools.clone());
        let mut denied = role.map(|role| role.disallowed_tools.clone()).unwrap_or_default();
        for earlier in self.roles_of(agent) {
            allowed = narrowed(allowed, earlier.tools.as_ref());
            let more = earlier.disallowed_tools.iter().filter(|tool| !denied.contains(tool));
            let more: Vec<String> = more.cloned().collect();
            denied.extend(more);
        }
        let allowed = given.map(<[String]>::to_vec).or(allowed);
        let earlier = self.earlier_of(agent).flatten().map(|rights| rights.asks);
        let asks_a_person = std::iter::once(self.asks).chain(earlier).any(|it| it == Asks::Person);
        let others = match (asks_a_person, &allowed) {
            (true, _) => host::agent::Asks::Person,
            (false, None) => host::agent::Asks::Allow,
            (false, Some(_)) => host::agent::Asks::Deny,
        };
        OwnTools { allowed, denied, others }
    }

    /// Recorded rights that bound an agent: those at its beginning and all later ones.
    fn earlier_of(&self, agent: &Agent) -> impl Iterator<Item = Option<&Rights>> {
        let bounding = self.earlier_rights.iter().filter(|it| it.number >= agent.rights);
        bounding.map(|earlier| earlier.rights.as_ref())
    }

    /// The agent's role as the recorded rights have it.
    fn roles_of(&self, agent: &Agent) -> impl Iterator<Item = &RoleRights> {
        self.earlier_of(agent).flatten().filter_map(|rights| rights.roles.get(&agent.role))
    }
}

/// The tools that both lists allow; an absent list allows all.
fn narrowed(one: Option<Vec<String>>, other: Option<&Vec<String>>) -> Option<Vec<String>> {
    let (Some(one), Some(other)) = (&one, other) else { return one.or_else(|| other.cloned()) };
    let covered = |tool: &&String, by: &[String]| by.iter().any(|pattern| covers(pattern, tool));
    let mut both: Vec<String> = one.iter().filter(|tool| covered(tool, other)).cloned().collect();
    let rest = other.iter().filter(|tool| covered(tool, one) && !both.contains(tool));
    let rest: Vec<String> = rest.cloned().collect();
    both.extend(rest);
    Some(both)
}

/// Returns whether a pattern allows all that another one does, as far as that can be told: `Bash` covers `Bash(git log)`,
/// and `mcp__github__*` covers `mcp__github__search`.
fn covers(pattern: &str, tool: &str) -> bool {
    let name = tool.split_once('(').map_or(tool, |(name, _)| name);
    match pattern.strip_suffix('*') {
        _ if pattern == tool => true,
        _ if pattern.contains('(') => false,
        Some(prefix) => name.starts_with(prefix),
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Tools = Option<Vec<String>>;

    fn tools<const N: usize>(names: [&str; N]) -> Vec<String> {
        names.map(str::to_owned).into()
    }

    #[test]
    fn two_lists_of_tools_allow_what_both_allow() {
        let both = |one: Tools, other: Tools| {
            let there = narrowed(one.clone(), other.as_ref());
            let back = narrowed(other, one.as_ref());
            let sorted = |list: Tools| {
                list.map(|mut list| {
                    list.sort();
                    list
                })
            };
            assert_eq!(sorted(there.clone()), sorted(back));
            there
        };
        assert_eq!(both(None, None), None);
        assert_eq!(both(Some(tools(["Read"])), None), Some(tools(["Read"])));
        assert_eq!(
            both(Some(tools(["Read", "Bash"])), Some(tools(["Read", "Edit"]))),
            Some(tools(["Read"]))
        );
        assert_eq!(
            both(Some(tools(["Bash(git log)", "Edit"])), Some(tools(["Bash", "Read"]))),
            Some(tools(["Bash(git log)"]))
        );
        assert_eq!(
            both(Some(tools(["Bash(git *)"])), Some(tools(["Bash(git log)"]))),
            Some(tools([]))
        );
        assert_eq!(
            both(
                Some(tools(["mcp__github__*"])),
                Some(tools(["mcp__github__search", "mcp__jira__get"]))
            ),
            Some(tools(["mcp__github__search"]))
        );
        assert_eq!(both(Some(tools([])), Some(tools(["Bash"]))), Some(tools([])));
    }
}
