//! Templates, filled in.

use proptest::prelude::*;

use super::*;
use crate::tools::templates::name_problem;

fn required(name: &str) -> TemplateArgument {
    TemplateArgument { name: name.into(), description: format!("The {name}"), required: true }
}

fn optional(name: &str) -> TemplateArgument {
    TemplateArgument { required: false, ..required(name) }
}

fn template(text: &str) -> Template {
    Template {
        name: "look_at".into(),
        description: "Looks".into(),
        arguments: vec![required("target"), optional("focus")],
        kind: "claude".into(),
        model: None,
        tools: None,
        timeout: None,
        text: text.into(),
    }
}

fn filled(text: &str, arguments: Value) -> Result<String, ToolError> {
    let Value::Object(arguments) = arguments else { panic!("an object") };
    render(&template(text), &arguments)
}

#[test]
fn arguments_go_where_they_are_named() {
    let text = "Look at {{target}}, {{ target }}{{focus}}.";
    assert_eq!(filled(text, json!({"target": "a", "focus": "b"})).unwrap(), "Look at a, ab.");
    assert_eq!(filled(text, json!({"target": 5, "focus": null})).unwrap(), "Look at 5, 5.");
}

#[test]
fn what_is_put_in_is_not_looked_at_again() {
    let arguments = json!({"target": "{{focus}} {{target}} {% include 'x' %}", "focus": "{{"});
    assert_eq!(
        filled("{{target}}|{{focus}}target}}", arguments).unwrap(),
        "{{focus}} {{target}} {% include 'x' %}|{{target}}"
    );
}

#[test]
fn other_braces_stay_as_they_are() {
    let text =
        "{ {target} {{}} {{ a.b }} ${{ github.ref }} {{a b}} {{other}} {{{target}}} {{target";
    let wanted = "{ {target} {{}} {{ a.b }} ${{ github.ref }} {{a b}} {{other}} {X} {{target";
    assert_eq!(filled(text, json!({"target": "X"})).unwrap(), wanted);
}

#[test]
fn unknown_arguments_are_refused_with_the_nearest_name() {
    let error = filled("", json!({"target": "a", "fokus": "b"})).unwrap_err();
    assert_eq!(error.code, crate::Code::InvalidInput);
    assert_eq!(error.message, "unknown argument `fokus`");
    assert_eq!(error.suggestions, ["did you mean `focus`?"]);
    let error = filled("", json!({"target": "a", "zebra": "b"})).unwrap_err();
    assert_eq!(error.suggestions, ["the arguments are: target, focus"]);
}

#[test]
fn missing_arguments_are_named() {
    for arguments in [json!({}), json!({"target": null})] {
        let error = filled("", arguments).unwrap_err();
        assert_eq!(error.message, "missing argument `target`");
        assert_eq!(error.details["field"], "target");
    }
    let two = Template { arguments: vec![required("a"), required("b")], ..template("{{a}}{{b}}") };
    assert_eq!(render(&two, &Map::new()).unwrap_err().message, "missing arguments `a`, `b`");
}

#[test]
fn values_must_be_text_of_a_bounded_length() {
    let error = filled("", json!({"target": ["a"]})).unwrap_err();
    assert_eq!(error.message, "`target`: must be text");
    let error = filled("", json!({"target": "ü".repeat(65_537)})).unwrap_err();
    assert_eq!(error.message, "`target`: is 65537 characters long; the limit is 65536");
    assert!(filled("{{target}}", json!({"target": "ü".repeat(65_536)})).is_ok());
}

#[test]
fn the_schema_says_what_a_template_takes() {
    assert_eq!(
        Value::Object(input_schema(&template(""))),
        json!({
            "type": "object",
            "properties": {
                "target": {"type": "string", "maxLength": 65536, "description": "The target"},
                "focus": {"type": "string", "maxLength": 65536, "description": "The focus"},
            },
            "required": ["target"],
            "additionalProperties": false,
        })
    );
    let none = Template { arguments: vec![], ..template("") };
    assert_eq!(
        Value::Object(input_schema(&none)),
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    );
}

#[test]
fn a_name_must_be_a_tools_and_free() {
    for good in
        ["a", "run_tests", "x2", &format!("a{}", "b".repeat(40)), "analyze-code", "run-tests"]
    {
        assert_eq!(name_problem(good), None, "{good}");
    }
    for bad in ["", "A", "2x", "a-b", "_a", "a b", "ä", &format!("a{}", "b".repeat(41))] {
        assert!(
            name_problem(bad).unwrap().contains("must begin with a lower-case letter"),
            "{bad}"
        );
    }
    for taken in ["spawn_claude", "list_running", "list_agents", "mail_send"] {
        assert_eq!(name_problem(taken).unwrap(), format!("a tool `{taken}` already exists"));
    }
    // The name of a tool that is listed with a prefix is free without it.
    assert_eq!(name_problem("send"), None);
    assert!(is_tool(&template("")));
    assert!(!is_tool(&Template { name: "run-tests".into(), ..template("") }));
}

proptest! {
    #[test]
    fn the_pieces_are_the_text(text in "([{} a-z]|\\PC){0,60}") {
        let mut joined = String::new();
        for piece in pieces(&text) {
            match piece {
                Piece::Text(plain) => joined.push_str(plain),
                Piece::Argument(name) => joined.extend(["{{", name, "}}"]),
            }
        }
        // Only blanks inside the braces are lost.
        let without = |text: &str| text.replace(char::is_whitespace, "");
        prop_assert_eq!(without(&joined), without(&text));
    }
}
