//! A scenario as an agent.

use super::super::command::tests::brief;
use super::*;

#[test]
fn adjutant_plays_the_scenario() {
    let plan = Script.plan(&brief(&["scenarios/one.yaml"])).unwrap();
    assert_eq!(plan.program, "/usr/bin/adjutant");
    assert_eq!(plan.arguments, ["play", "scenarios/one.yaml"]);
    let names: Vec<_> = plan.files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["prompt.md", "mcp.json"]);
    assert_eq!(Script.supports(), PLAIN_SUPPORTS);
}

#[test]
fn a_role_without_a_scenario_is_told_what_to_write() {
    let error = Script.plan(&brief(&[])).unwrap_err();
    assert!(error.problem.contains("`script: path` in the role"), "{error}");
}

#[test]
fn it_reports_like_a_command() {
    let snapshot = Script.conversation(&brief(&["x"])).snapshot();
    assert!(Script.restore(&snapshot).is_ok());
    assert!(Script.restore("").is_err());
}
