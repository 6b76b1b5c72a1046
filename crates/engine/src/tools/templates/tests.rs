//! Templates as tools.

use serde_json::json;

use super::*;
use crate::call::tool::Effect;
use crate::core::settings::TemplateArgument;

fn template() -> Template {
    let argument = |name: &str, required| TemplateArgument {
        name: name.into(),
        description: format!("The {name}"),
        required,
    };
    Template {
        name: "look_at".into(),
        description: "Look at something\n\nAnd say what it is.".into(),
        arguments: vec![argument("target", true), argument("focus", false)],
        kind: "claude".into(),
        model: None,
        tools: None,
        timeout: None,
        text: "Look at {{target}}: {{focus}}".into(),
    }
}

fn settings(templates: impl IntoIterator<Item = Template>) -> Settings {
    let templates = templates.into_iter().map(|template| (template.name.clone(), template));
    Settings { templates: templates.collect(), ..Settings::default() }
}

fn spawn(template: Template, raw: &Value) -> Result<Spawn, ToolError> {
    Prepared(Box::leak(Box::new(template))).spawn(raw)
}

#[test]
fn equal_templates_are_one_tool_and_others_are_not() {
    let once = template_tools(&settings([template()]));
    let again = template_tools(&settings([template()]));
    assert!(std::ptr::eq(once[0], again[0]), "it is not made twice");
    let changed = Template { text: "Look away".into(), ..template() };
    let other = template_tools(&settings([changed]));
    assert_eq!(other[0].name, once[0].name);
    assert!(!std::ptr::eq(once[0], other[0]));
    let back = template_tool(&settings([template()]), "look_at").unwrap();
    assert!(std::ptr::eq(once[0], back));
}

#[test]
fn a_template_is_a_tool_of_the_toolset_agents() {
    let tool = template_tool(&settings([template()]), "look_at").unwrap();
    assert_eq!((tool.name, tool.toolset()), ("mcp__agents__look_at", "agents"));
    assert_eq!(tool.joined(), "look_at");
    assert_eq!(tool.effect(), Effect::Outside);
    assert!(tool.starts_agents && tool.waits() && !tool.critical);
    let described = tool.described();
    assert_eq!(described.title, "Look at something");
    assert!(described.description.contains("say what it is.\n\nStarts a Claude sub-agent"));
    let fields: Vec<&String> =
        described.input["properties"].as_object().unwrap().iter().map(|(name, _)| name).collect();
    let mut wanted: Vec<&str> = ["target", "focus"].into_iter().chain(BESIDES).collect();
    let mut fields: Vec<&str> = fields.into_iter().map(String::as_str).collect();
    wanted.sort_unstable();
    fields.sort_unstable();
    assert_eq!(fields, wanted);
    assert_eq!(described.input["required"], json!(["target"]));
    assert_eq!(described.output["properties"]["spawn_id"]["type"], "string");
}

#[test]
fn what_stands_beside_the_arguments_is_what_its_type_says() {
    let schema = schema::<ContextOptions>();
    let mut fields: Vec<&str> =
        schema["properties"].as_object().unwrap().iter().map(|(name, _)| name.as_str()).collect();
    let mut besides = BESIDES;
    fields.sort_unstable();
    besides.sort_unstable();
    assert_eq!(fields, besides);
}

#[test]
fn prompts_that_are_no_tools_stay_prompts() {
    let prompt = Template { name: "run-tests".into(), ..template() };
    let settings = settings([prompt]);
    assert!(template_tools(&settings).is_empty());
    assert!(template_tool(&settings, "run-tests").is_none());
    assert_eq!(tools_of(&settings).len(), TOOLS.len());
}

#[test]
fn templates_follow_the_other_tools_of_their_toolset() {
    let second = Template { name: "aim_at".into(), ..template() };
    let names: Vec<&str> =
        tools_of(&settings([template(), second])).iter().map(|tool| tool.name).collect();
    let at = names.iter().position(|name| *name == "mcp__agents__aim_at").unwrap();
    assert_eq!(names[at - 1], "mcp__agents__get_result");
    assert_eq!(names[at + 1], "mcp__agents__look_at");
    assert_eq!(names[at + 2], "mcp__mail__list_inbox");
    assert_eq!(names.len(), TOOLS.len() + 2);
}

#[test]
fn the_agent_that_is_asked_for_is_as_the_template_says() {
    let usual = spawn(template(), &json!({ "target": "a" })).unwrap();
    assert_eq!(usual.prompt, "Look at a: ");
    assert_eq!((usual.kind, usual.model.as_deref()), ("claude", Some("sonnet")));
    assert_eq!((usual.timeout, usual.task_summary.as_deref()), (300, Some("look_at")));
    assert_eq!(usual.tools.unwrap(), ["Bash", "Read", "Glob", "Grep"]);
    let codex = spawn(
        Template { kind: "codex".into(), ..template() },
        &json!({ "target": "a", "focus": "b", "include_context": false, "notify_on_complete": true,
            "max_cost_usd": 0.5, "abort_on_budget_exceeded": false, "async": true }),
    );
    let codex = codex.unwrap();
    assert_eq!((codex.kind, codex.model, codex.timeout), ("codex", None, 120));
    assert_eq!((codex.include_context, codex.notify_on_complete), (Some(false), Some(true)));
    assert_eq!((codex.max_cost_usd, codex.abort_on_budget_exceeded), (Some(0.5), Some(false)));
    let told = Template {
        model: Some("claude-opus-4-1".into()),
        tools: Some(vec!["Read".into()]),
        timeout: Some(60),
        ..template()
    };
    let told = spawn(told, &json!({ "target": "a" })).unwrap();
    assert_eq!((told.model.as_deref(), told.timeout), (Some("claude-opus-4-1"), 60));
    assert_eq!(told.tools.unwrap(), ["Read"]);
}

#[test]
fn every_mistake_names_its_field() {
    let check = |raw: Value, message: &str, field: Option<&str>| {
        let error = spawn(template(), &raw).unwrap_err();
        assert_eq!(error.code, crate::Code::InvalidInput);
        assert_eq!(error.message, message);
        assert_eq!(error.details.get("field").and_then(Value::as_str), field);
        error.suggestions
    };
    for nothing in [Value::Null, json!({})] {
        check(nothing, "missing argument `target`", Some("target"));
    }
    let hints =
        check(json!({ "target": "a", "asnyc": true }), "unknown argument `asnyc`", Some("asnyc"));
    assert_eq!(hints, ["did you mean `async`?"]);
    check(json!({ "target": ["a"] }), "`target`: must be text", Some("target"));
    check(
        json!({ "target": "a", "async": "yes" }),
        "`async`: invalid type: string \"yes\", expected a boolean",
        Some("async"),
    );
    check(json!([]), "the input must be a JSON object", None);
}
