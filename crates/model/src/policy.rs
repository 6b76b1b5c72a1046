//! Permissions: categories with their allow and deny lists and their reach.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::glob::Glob;

/// The categories every home has.
pub const BUILT_IN_CATEGORIES: [&str; 7] =
    ["supervisor", "orchestrator", "worker", "conversational", "planning", "coding", "review"];

/// Whom a category may await, kill and read, the narrowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// Only itself
    Itself,
    /// Itself and those it started, and those they started
    Descendants,
    /// Everybody
    All,
}

impl Reach {
    /// The reach of that name in the configuration.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "self" => Some(Self::Itself),
            "descendants" => Some(Self::Descendants),
            "all" => Some(Self::All),
            _ => None,
        }
    }
}

/// Two lists of patterns; deny wins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Patterns of allowed tools
    pub allow: Vec<Glob>,
    /// Patterns of denied tools; they win over `allow`
    pub deny: Vec<Glob>,
}

/// A named set of permissions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// Allowed and denied tools
    pub rules: Rules,
    /// Agents that it may see and steer
    pub reach: Reach,
    /// Categories that it may draft
    pub may_draft: Vec<String>,
    /// Longest time without a sign of life, in seconds
    pub inactivity: u32,
}

/// Tools that every category may use.
const COMMON_TOOLS: &[&str] = &[
    "mcp__mail__*",
    "mcp__system__*",
    "mcp__agent__*",
    "mcp__task__get",
    "mcp__task__list",
    "mcp__harness__list_agents",
    "mcp__harness__list_tasks",
    "mcp__harness__get_task_context",
    "mcp__git__commit",
    "mcp__git__get_diff",
    "mcp__session__*",
];
const OWN_TASK_TOOLS: &[&str] = &["mcp__task__update_status", "mcp__task__add_comment"];
const PLANNING_TOOLS: &[&str] = &["mcp__task__create", "mcp__task__assign", "mcp__epic__*"];
const CREW_TOOLS: &[&str] = &["mcp__harness__*", "mcp__agents__*"];
const EDITING_TOOLS: &[&str] = &["mcp__git__rebase", "mcp__files__*"];

/// One row of the table of built-in categories.
fn built_in(name: &str) -> Category {
    let (allow, deny): (Vec<&[&str]>, &[&str]) = match name {
        "supervisor" => (vec![&["*"]], &[]),
        "orchestrator" => (
            vec![
                COMMON_TOOLS,
                OWN_TASK_TOOLS,
                PLANNING_TOOLS,
                CREW_TOOLS,
                &["mcp__orchestrator__*"],
            ],
            &["mcp__supervisor__*"],
        ),
        "conversational" => (vec![COMMON_TOOLS, OWN_TASK_TOOLS, PLANNING_TOOLS, CREW_TOOLS], &[]),
        "planning" => (
            vec![
                COMMON_TOOLS,
                OWN_TASK_TOOLS,
                PLANNING_TOOLS,
                &["mcp__review__create_pull_request", "mcp__review__create_issues"],
            ],
            &[],
        ),
        "coding" => (
            vec![
                COMMON_TOOLS,
                OWN_TASK_TOOLS,
                EDITING_TOOLS,
                &["mcp__review__request_review", "mcp__review__create_pull_request"],
            ],
            &[],
        ),
        "review" => (
            vec![
                COMMON_TOOLS,
                &[
                    "mcp__task__add_comment",
                    "mcp__review__send_feedback",
                    "mcp__review__create_pull_request",
                ],
            ],
            &[],
        ),
        // `worker`, and what a category is that the configuration makes without saying more.
        _ => (
            vec![COMMON_TOOLS, OWN_TASK_TOOLS, EDITING_TOOLS],
            &[
                "mcp__supervisor__*",
                "mcp__orchestrator__*",
                "mcp__epic__*",
                "mcp__task__create",
                "mcp__task__assign",
            ],
        ),
    };
    let all = |keep: &dyn Fn(&str) -> bool| -> Vec<String> {
        BUILT_IN_CATEGORIES.iter().filter(|name| keep(name)).map(|&name| name.to_owned()).collect()
    };
    Category {
        rules: Rules {
            allow: allow.into_iter().flatten().map(|pattern| Glob::built_in(pattern)).collect(),
            deny: deny.iter().map(|pattern| Glob::built_in(pattern)).collect(),
        },
        reach: if name == "supervisor" { Reach::All } else { Reach::Descendants },
        may_draft: match name {
            "supervisor" | "orchestrator" => all(&|_| true),
            "conversational" => all(&|name| !matches!(name, "supervisor" | "orchestrator")),
            _ => Vec::new(),
        },
        inactivity: if name == "conversational" { 180 } else { 300 },
    }
}

/// Every category of a home, and what each may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    categories: BTreeMap<String, Category>,
}

impl Default for Policy {
    fn default() -> Self {
        let categories =
            BUILT_IN_CATEGORIES.iter().map(|&name| (name.to_owned(), built_in(name))).collect();
        Self { categories }
    }
}

impl Policy {
    /// Built-in rules of a category; an unknown name gets a worker's.
    pub fn base(name: &str) -> Category {
        built_in(name)
    }

    /// Sets a category.
    pub fn set(&mut self, name: impl Into<String>, category: Category) {
        self.categories.insert(name.into(), category);
    }

    /// The category of that name.
    pub fn get(&self, name: &str) -> Option<&Category> {
        self.categories.get(name)
    }

    /// The names of all categories, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.categories.keys().map(String::as_str)
    }

    /// Gives the categories the tools that start agents, as `mcp.fullAccessCategories` says.
    pub fn grant_crew<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        for name in names {
            if let Some(category) = self.categories.get_mut(name) {
                category
                    .rules
                    .allow
                    .extend(CREW_TOOLS.iter().map(|pattern| Glob::built_in(pattern)));
            }
        }
    }

    /// True if a category with a role's own rules may use a tool. Deny wins; a tool that
    /// nothing allows is denied.
    pub fn permits(&self, category: &str, role: &Rules, tool: &str) -> bool {
        let Some(category) = self.categories.get(category) else { return false };
        let rules = [&category.rules, role];
        let any = |pick: fn(&Rules) -> &Vec<Glob>| {
            rules.iter().any(|rules| pick(rules).iter().any(|glob| glob.matches(tool)))
        };
        !any(|rules| &rules.deny) && any(|rules| &rules.allow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the specification, written out: which categories may use each tool.
    #[test]
    fn the_built_in_table_holds() {
        let table: &[(&str, &[&str])] = &[
            ("mcp__mail__send", &BUILT_IN_CATEGORIES),
            ("mcp__system__log_decision", &BUILT_IN_CATEGORIES),
            ("mcp__agent__get_task", &BUILT_IN_CATEGORIES),
            ("mcp__task__get", &BUILT_IN_CATEGORIES),
            ("mcp__harness__list_tasks", &BUILT_IN_CATEGORIES),
            ("mcp__git__commit", &BUILT_IN_CATEGORIES),
            ("mcp__git__get_diff", &BUILT_IN_CATEGORIES),
            ("mcp__session__task-add", &BUILT_IN_CATEGORIES),
            (
                "mcp__task__update_status",
                &["supervisor", "orchestrator", "worker", "conversational", "planning", "coding"],
            ),
            ("mcp__task__add_comment", &BUILT_IN_CATEGORIES),
            ("mcp__task__create", &["supervisor", "orchestrator", "conversational", "planning"]),
            ("mcp__epic__list", &["supervisor", "orchestrator", "conversational", "planning"]),
            ("mcp__harness__draft_agent", &["supervisor", "orchestrator", "conversational"]),
            ("mcp__agents__spawn_claude", &["supervisor", "orchestrator", "conversational"]),
            ("mcp__review__request_review", &["supervisor", "coding"]),
            ("mcp__review__send_feedback", &["supervisor", "review"]),
            ("mcp__review__create_pull_request", &["supervisor", "planning", "coding", "review"]),
            ("mcp__review__create_issues", &["supervisor", "planning"]),
            ("mcp__supervisor__approve_task", &["supervisor"]),
            ("mcp__orchestrator__create_supervisor", &["supervisor", "orchestrator"]),
            ("mcp__git__rebase", &["supervisor", "worker", "coding"]),
            ("mcp__files__reserve", &["supervisor", "worker", "coding"]),
        ];
        let policy = Policy::default();
        for (tool, may) in table {
            for category in BUILT_IN_CATEGORIES {
                assert_eq!(
                    policy.permits(category, &Rules::default(), tool),
                    may.contains(&category),
                    "{category} and {tool}"
                );
            }
        }
    }

    #[test]
    fn deny_wins_over_every_allow() {
        let policy = Policy::default();
        let role = Rules {
            allow: vec![Glob::built_in("*")],
            deny: vec![Glob::built_in("mcp__mail__send")],
        };
        assert!(!policy.permits("supervisor", &role, "mcp__mail__send"));
        assert!(policy.permits("review", &role, "mcp__task__create"));
        assert!(!policy.permits("worker", &role, "mcp__task__create"), "the category denies it");
        assert!(!policy.permits("nobody", &role, "mcp__mail__read"));
    }
}
