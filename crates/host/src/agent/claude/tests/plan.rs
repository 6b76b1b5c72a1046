//! Builds the plan to start it.

use super::super::super::{Kind as _, Plan, Runner, UserServer};
use super::super::plan::{DISABLED_TOOLS, disallowed};
use super::{Brief, Claude, brief, json};

fn full() -> Brief {
    Brief {
        system_prompt: Some("You review code.\n".to_owned()),
        model: Some("sonnet".to_owned()),
        tools: Some(vec!["Read".to_owned(), "Bash(git *)".to_owned()]),
        disallowed_tools: vec!["WebFetch".to_owned()],
        schema: Some(json!({ "type": "object", "required": ["answer"] })),
        resume: Some("0b8a6b8e-7a0f-4e0e-9d6e-000000000000".to_owned()),
        runner: Runner {
            binary: Some("/opt/claude/bin/claude".to_owned()),
            arguments: vec!["--max-turns=40".to_owned()],
            steer: false,
        },
        ..brief()
    }
}

fn show(plan: &Plan) -> String {
    let mut lines = vec![plan.program.clone()];
    lines.extend(plan.arguments.iter().map(|argument| format!("  {argument}")));
    lines.extend(plan.environment.iter().map(|(name, value)| format!("{name}={value}")));
    lines.extend(plan.files.iter().map(|(name, text)| format!("--- {name}\n{text}")));
    lines.join("\n")
}

#[test]
fn a_brief_becomes_arguments_environment_and_files() {
    insta::assert_snapshot!("plan", show(&Claude.plan(&full()).unwrap()));
    insta::assert_snapshot!("plan-bare", show(&Claude.plan(&brief()).unwrap()));
}

#[test]
fn the_token_is_named_and_not_written() {
    let plan = Claude.plan(&full()).unwrap();
    assert!(!plan.arguments.iter().any(|argument| argument.contains("TOKEN")));
    let (_, config) = plan.files.iter().find(|(name, _)| name == "mcp.json").unwrap();
    assert!(config.contains(r#""Authorization": "Bearer ${ADJUTANT_TOKEN}""#));
}

#[test]
fn servers_of_the_project_stand_in_the_private_file_as_they_were_written() {
    let config = json!({ "command": "gh", "env": { "TOKEN": "${GH_TOKEN}", "OTHER": "s3cret" } });
    let own = json!({ "command": "not-ours" });
    let server = |name: &str, config| UserServer { name: name.to_owned(), config };
    let user_servers = vec![server("github", config.clone()), server("mail", own)];
    let plan = Claude.plan(&Brief { user_servers, ..brief() }).unwrap();
    let (_, text) = plan.files.iter().find(|(name, _)| name == "mcp.json").unwrap();
    let file: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(file["mcpServers"]["github"], config);
    assert_eq!(file["mcpServers"]["mail"]["type"], "http", "ours is ours");
    assert!(plan.arguments.contains(&"--strict-mcp-config".to_owned()), "nothing else is loaded");
    assert!(!plan.arguments.join(" ").contains("s3cret"));
}

#[test]
fn what_begins_with_a_dash_is_no_flag() {
    let flag = "--dangerously-skip-permissions".to_owned();
    let brief = Brief {
        model: Some(flag.clone()),
        tools: Some(vec![flag.clone()]),
        disallowed_tools: vec![flag.clone()],
        resume: Some(flag.clone()),
        ..brief()
    };
    let plan = Claude.plan(&brief).unwrap();
    assert!(!plan.arguments.contains(&flag));
}

#[test]
fn tools_that_escape_the_record_are_kept_back_unless_listed() {
    assert_eq!(disallowed(&brief()), DISABLED_TOOLS);
    let tools = Some(vec!["Task(reviewer)".to_owned(), "CronList".to_owned()]);
    let left = disallowed(&Brief { tools, ..brief() });
    for tool in ["Agent", "Task", "CronList"] {
        assert!(!left.contains(&tool.to_owned()), "{tool}");
    }
    assert_eq!(left.len(), DISABLED_TOOLS.len() - 3);
}
