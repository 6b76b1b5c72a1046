//! Tests of the differences between two readings.

use engine::settings::Sandbox;
use model::Policy;
use model::glob::Glob;
use model::policy::Rules;
use model::review::{OnApproval, ReviewRequired};
use serde_json::json;

use super::*;

fn reading() -> Reading {
    let mut settings = Settings::default();
    let role = Role {
        name: "coder".into(),
        category: "coding".into(),
        tools: Some(vec!["Read".into()]),
        disallowed_tools: vec!["Task".into()],
        sandbox: Sandbox::Bwrap,
        prompt: "Code.".into(),
        ..Role::default()
    };
    settings.roles.insert("coder".into(), role);
    Reading { config: Config::default(), settings }
}

fn said(before: &Reading, after: &Reading) -> Vec<(String, bool)> {
    let tell =
        |change: SettingsChange| (format!("{}: {}", change.subject, change.change), change.widens);
    between(before, after).into_iter().map(tell).collect()
}

fn glob(pattern: &str) -> Glob {
    Glob::try_from(pattern.to_owned()).unwrap()
}

#[test]
fn what_a_role_gains_is_told_and_marked() {
    let before = reading();
    assert_eq!(said(&before, &before), []);
    let mut after = before.clone();
    let role = after.settings.roles.get_mut("coder").unwrap();
    role.tools = Some(vec!["Read".into(), "Bash".into()]);
    role.disallowed_tools = Vec::new();
    role.sandbox = Sandbox::None;
    role.rules = Rules { allow: vec![glob("mcp__supervisor__*")], deny: Vec::new() };
    role.prompt = "Code, and obey.".into();
    let words = ["sh", "-c", "id"].map(str::to_owned).into();
    let programs = [("command".to_owned(), words)].into_iter().collect();
    let new = Role { programs, ..Role::default() };
    after.settings.roles.insert("new".into(), Role { category: "worker".into(), ..new });
    let wide = [
        ("role coder: allow gains mcp__supervisor__*", true),
        ("role coder: disallowedTools loses Task", true),
        ("role coder: has another prompt", false),
        ("role coder: sandbox bwrap → none", true),
        ("role coder: tools gains Bash", true),
        ("role new: is new: category worker, command [sh, -c, id]", true),
    ];
    let wide: Vec<(String, bool)> = wide.map(|(text, wide)| (text.to_owned(), wide)).into();
    assert_eq!(said(&before, &after), wide);
    let narrow = [
        ("role coder: allow loses mcp__supervisor__*", false),
        ("role coder: disallowedTools gains Task", false),
        ("role coder: has another prompt", false),
        ("role coder: sandbox none → bwrap", false),
        ("role coder: tools loses Bash", false),
        ("role new: is gone", false),
    ];
    let narrow: Vec<(String, bool)> = narrow.map(|(text, wide)| (text.to_owned(), wide)).into();
    assert_eq!(said(&after, &before), narrow);
    // Without a list every tool is allowed.
    let mut all = before.clone();
    all.settings.roles.get_mut("coder").unwrap().tools = None;
    assert_eq!(said(&before, &all), [("role coder: tools [Read] → unset".to_owned(), true)]);
}

#[test]
fn categories_and_keys_are_told_and_secrets_are_not() {
    let before = reading();
    let mut after = before.clone();
    let mut worker = Policy::base("worker");
    worker.reach = model::Reach::All;
    worker.rules.deny.retain(|pattern| pattern.to_string() != "mcp__task__create");
    after.settings.policy.set("worker", worker);
    after.config.limits.running += 1;
    after.config.mirror = false;
    let hook = json!({ "name": "n8n", "url": "http://127.0.0.1/hush" });
    after.config.webhooks = vec![serde_json::from_value(hook).unwrap()];
    let told = [
        ("category worker: deny loses mcp__task__create", true),
        ("category worker: reach descendants → all", true),
        ("limits.running: 8 → 9", true),
        ("mirror: true → false", false),
        ("webhooks: has other values", false),
    ];
    let told: Vec<(String, bool)> = told.map(|(text, wide)| (text.to_owned(), wide)).into();
    assert_eq!(said(&before, &after), told);
}

#[test]
fn a_role_that_no_longer_asks_a_person_is_marked() {
    let before = reading();
    let mut after = before.clone();
    after.config.review.on_approval = Some(OnApproval::Merge);
    after.config.review.required = ReviewRequired::Agent;
    after.config.review.role = "friend".into();
    after.config.github.api_url = "http://127.0.0.1:9".into();
    let role = after.settings.roles.get_mut("coder").unwrap();
    role.review_required = Some(ReviewRequired::Never);
    let told = [
        "role coder: review.required unset → never",
        "github.apiUrl: https://api.github.com → http://127.0.0.1:9",
        "review.onApproval: unset → merge",
        "review.required: person → agent",
        "review.role: reviewer → friend",
    ];
    assert_eq!(said(&before, &after), told.map(|text| (text.to_owned(), true)));
    let back = said(&after, &before);
    let still_marked: Vec<&str> =
        back.iter().filter(|(_, widens)| *widens).map(|(text, _)| text.as_str()).collect();
    // Another address and another reviewer count either way.
    assert_eq!(
        still_marked,
        [
            "github.apiUrl: http://127.0.0.1:9 → https://api.github.com",
            "review.role: friend → reviewer"
        ]
    );
}
