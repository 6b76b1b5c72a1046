//! Results as agents really give them.

use proptest::prelude::*;
use serde_json::json;

use super::schema::load_schema;
use super::*;

fn done(text: &str) -> EndReport {
    EndReport { verdict: EndReportStatus::Success, text: text.to_owned(), value: None }
}

fn read(text: &str) -> AgentResult {
    read_result(Some(&done(text)), "", None)
}

/// A result with nothing but these.
fn plain(status: Status, summary: &str, text: &str) -> AgentResult {
    AgentResult {
        status,
        summary: summary.to_owned(),
        changes: vec![],
        issues: vec![],
        questions: vec![],
        pr_url: None,
        text: text.to_owned(),
        last_messages: String::new(),
        structured: None,
        problems: vec![],
    }
}

#[test]
fn the_value_that_the_kind_gave_comes_first() {
    let value = Some(json!({
        "status": "partial", "summary": "half", "changes": ["a"], "issues": ["b"], "questions": ["c"],
        "pr_url": "https://example.com/pull/1",
    }));
    let text = "words\n{\"status\": \"failed\", \"summary\": \"not this\"}";
    let done = EndReport { value, ..done(text) };
    let wanted = AgentResult {
        changes: vec!["a".into()],
        issues: vec!["b".into()],
        questions: vec!["c".into()],
        pr_url: Some("https://example.com/pull/1".into()),
        ..plain(Status::Partial, "half", text)
    };
    assert_eq!(read_result(Some(&done), "", None), wanted);
}

#[test]
fn json_is_found_where_agents_put_it() {
    let json = r#"{"status": "blocked", "summary": "it waits", "questions": ["why?"]}"#;
    let pretty = "{\n  \"status\": \"blocked\",\n  \"summary\": \"it waits\",\n  \"questions\": [\n    \"why?\"\n  ]\n}";
    for text in [
        json.to_owned(),
        pretty.to_owned(),
        format!("I looked.\n\n{json}\n\n"),
        format!("I looked.\n\n{pretty}\n"),
        format!("I looked.\n```json\n{pretty}\n```\n"),
        format!("I looked.\n```\n{json}\n```\nThat is all."),
        format!("```json\n{{\"summary\": \"an example\"}}\n```\nNo:\n````JSON\n{pretty}\n````"),
        format!("{json}\n{{\"adjutant\": {{\"usage\": {{\"input_tokens\": 1}}}}}}\n"),
        format!("```json\n{json}"),
        format!("```rust\nlet x = 1;\n```\n  {json}"),
    ] {
        let wanted = AgentResult {
            questions: vec!["why?".into()],
            ..plain(Status::Blocked, "it waits", &text)
        };
        assert_eq!(read(&text), wanted);
    }
}

proptest! {
    #[test]
    fn any_words_are_read(words in "([\\[\\]{}`\" \n:,a]|json|\"status\": \"partial\"|\\PC){0,60}") {
        for schema in [None, Some(json!(true))] {
            let result = read_result(Some(&done(&words)), "", schema.as_ref());
            prop_assert_eq!(result.text.trim(), words.trim());
        }
    }
}

#[test]
fn without_json_the_words_are_the_summary() {
    for text in [
        "All done.",
        "It answered:\n{\"ok\": true}",
        "{\"status\": 200}",
        "{\"status\": \"teapot\"}",
        "{broken\n}",
        "[1, 2]",
    ] {
        assert_eq!(read(text), plain(Status::Success, text, text));
    }
}

#[test]
fn a_result_without_a_summary_has_what_was_said_before_it() {
    let result = read("I mended it.\n{\"status\": \"success\", \"changes\": [\"x\"]}");
    assert_eq!((result.summary.as_str(), result.changes), ("I mended it.", vec!["x".to_owned()]));
}

#[test]
fn lists_are_taken_as_they_come() {
    let result = read(
        r#"{"summary": "s", "changes": "one", "issues": [" a ", 5, {"b": 1}, "", null], "questions": null}"#,
    );
    assert_eq!(result.changes, ["one"]);
    assert_eq!(result.issues, ["a", "5", r#"{"b":1}"#]);
    assert_eq!(result.questions, Vec::<String>::new());
}

#[test]
fn what_is_more_than_a_result_is_kept() {
    let text = r#"{"summary": "s", "tests": {"passed": 3}}"#;
    let structured = Some(json!({"summary": "s", "tests": {"passed": 3}}));
    assert_eq!(read(text), AgentResult { structured, ..plain(Status::Success, "s", text) });
    let bare = EndReport { value: Some(json!([1, 2])), ..done("two numbers") };
    let result = read_result(Some(&bare), "", None);
    assert_eq!((result.summary.as_str(), result.structured), ("two numbers", Some(json!([1, 2]))));
}

#[test]
fn common_words_for_a_status_are_understood_and_others_noted() {
    for (word, status) in [
        ("SUCCESS", Status::Success),
        ("completed", Status::Success),
        ("Partial", Status::Partial),
        ("error", Status::Failed),
        ("blocked", Status::Blocked),
    ] {
        let result = read(&format!("{{\"status\": \"{word}\", \"summary\": \"s\"}}"));
        assert_eq!((result.status, result.problems), (status, vec![]), "{word}");
    }
    let result = read(r#"{"status": "marvellous", "summary": "s"}"#);
    assert_eq!(result.status, Status::Success, "as the kind says");
    let noted = "its status `marvellous` is not one of success, partial, failed and blocked";
    assert_eq!(result.problems, [noted]);
}

#[test]
fn a_failed_run_is_no_success_whatever_the_agent_says() {
    let failed = |text: &str, verdict| {
        read_result(Some(&EndReport { verdict, text: text.to_owned(), value: None }), "", None)
    };
    let result = failed(
        r#"{"status": "success", "summary": "s"}"#,
        EndReportStatus::Failure("exit 3".into()),
    );
    assert_eq!((result.status, result.issues), (Status::Failed, vec!["exit 3".to_owned()]));
    let result = failed(
        r#"{"status": "partial", "summary": "s"}"#,
        EndReportStatus::Aborted("turns".into()),
    );
    assert_eq!((result.status, result.issues), (Status::Partial, vec!["turns".to_owned()]));
    let result = failed("", EndReportStatus::Failure("it crashed".into()));
    assert_eq!(result, plain(Status::Failed, "it crashed", ""));
}

#[test]
fn an_agent_that_ended_without_a_word_left_its_output() {
    let result = read_result(None, "step 1\nSegmentation fault\n", None);
    let text = "step 1\nSegmentation fault";
    assert_eq!(
        result,
        AgentResult { text: format!("{text}\n"), ..plain(Status::Failed, text, "") }
    );
    let quiet = EndReport { verdict: EndReportStatus::Success, text: "\n".into(), value: None };
    let result = read_result(Some(&quiet), "x\n{\"summary\": \"from the output\"}", None);
    assert_eq!((result.status, result.summary.as_str()), (Status::Success, "from the output"));
}

#[test]
fn everything_is_bounded() {
    // Long, and nothing but beginnings of values and ends of lines.
    let result = read(&"{\n\n\n".repeat(1 << 20));
    assert_eq!(result.summary.len(), 64 * 1024);

    let long = format!("{}end", "a ".repeat(200 * 1024));
    let result = read(&long);
    assert_eq!(result.summary.len(), 64 * 1024);
    assert!(result.summary.ends_with("end") && result.text.ends_with("end"));
    assert!(result.text.starts_with("[... truncated ...] 147459 bytes before this\n"));
    assert_eq!(result.text.lines().nth(1).unwrap().len(), 256 * 1024);

    let changes: Vec<String> = (0..300).map(|n| format!("{n} {}", "x".repeat(5000))).collect();
    let value = json!({"summary": "s".repeat(100_000), "changes": changes});
    let result = read_result(Some(&EndReport { value: Some(value), ..done("") }), "", None);
    assert!(result.summary.len() < 66_000, "{}", result.summary.len());
    assert_eq!(result.changes.len(), 201);
    assert_eq!(result.changes[200], "[... truncated ...] 100 more");
    assert!(result.changes.iter().all(|change| change.len() < 2200));

    let value = json!({"summary": "s", "more": "x".repeat(300_000)});
    let result = read_result(Some(&EndReport { value: Some(value), ..done("") }), "", None);
    assert_eq!(result.structured, None);
    assert_eq!(result.problems.len(), 1);
}

#[test]
fn what_git_says_fills_only_silence() {
    let mut result = read("All done.");
    result.complete(vec!["changed a".into()]);
    assert_eq!(result.changes, ["changed a"]);
    result.complete(vec!["changed b".into()]);
    assert_eq!(result.changes, ["changed a"]);
}

#[test]
fn the_record_has_it_in_camel_case_and_gives_it_back() {
    let text = r#"{"status": "success", "summary": "s", "prUrl": "https://example.com/1"}"#;
    let result = read(text);
    let stored = serde_json::to_value(&result).unwrap();
    assert_eq!(
        stored,
        json!({
            "status": "success", "summary": "s", "changes": [], "issues": [], "questions": [],
            "prUrl": "https://example.com/1", "text": text,
        })
    );
    assert_eq!(serde_json::from_value::<AgentResult>(stored).unwrap(), result);
    let bad = read(r#"{"summary": "s", "pr_url": "javascript:alert(1)"}"#);
    assert_eq!(bad.pr_url, None);
}

mod schemas {
    //! Schemas that agents name, and values that are held against them.

    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn person() -> Value {
        json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["name"],
            "additionalProperties": false,
        })
    }

    fn problems(schema: &Value, text: &str) -> Vec<String> {
        read_result(Some(&done(text)), "", Some(schema)).problems
    }

    fn refused(given: &str) -> String {
        let error = load_schema(std::path::Path::new("/nonexistent"), given).unwrap_err();
        assert_eq!(error.code, crate::Code::InvalidInput);
        assert_eq!(error.details["field"], "structured_output");
        error.message
    }

    #[test]
    fn a_value_that_fits_has_no_problems() {
        let text = "Here:\n{\"name\": \"Ada\"}";
        let result = read_result(Some(&done(text)), "", Some(&person()));
        let wanted = AgentResult {
            structured: Some(json!({"name": "Ada"})),
            ..plain(Status::Success, "Here:", text)
        };
        assert_eq!(result, wanted);
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_place() {
        assert_eq!(
            problems(&person(), r#"{"age": "secret", "pet": 1}"#),
            [
                "`/age`: value is not of type \"integer\"",
                "Additional properties are not allowed ('pet' was unexpected)",
                "\"name\" is a required property",
            ]
        );
        let missing = "a JSON value was requested, but its last message has none";
        assert_eq!(problems(&person(), "I forgot"), [missing]);
    }

    #[test]
    fn the_problems_told_are_few_and_short() {
        let schema = json!({"type": "array", "items": {"enum": ["x".repeat(500)]}});
        let many = problems(&schema, &json!(vec![0; 100]).to_string());
        assert_eq!(many.len(), 20);
        assert!(many.iter().all(|problem| problem.len() < 350), "{many:?}");
    }

    #[test]
    fn under_a_schema_a_status_may_mean_something_else() {
        let schema = json!({"properties": {"status": {"enum": ["open", "closed"]}}});
        let result = read_result(Some(&done(r#"{"status": "open"}"#)), "", Some(&schema));
        assert_eq!((result.status, result.problems), (Status::Success, vec![]));
        assert_eq!(result.summary, r#"{"status":"open"}"#, "no words, so the value itself");
    }

    #[test]
    fn a_schema_comes_from_a_file_of_the_project_or_as_text() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("schemas")).unwrap();
        fs::write(dir.path().join("schemas/p.json"), person().to_string()).unwrap();
        assert_eq!(load_schema(dir.path(), "schemas/p.json").unwrap(), person());
        assert_eq!(load_schema(dir.path(), &format!(" {}", person())).unwrap(), person());
    }

    #[test]
    fn a_file_that_is_no_schema_is_refused_by_name() {
        let outer = tempfile::tempdir().unwrap();
        let dir = outer.path().join("project");
        fs::create_dir_all(dir.join(".adjutant/runs")).unwrap();
        fs::write(outer.path().join("out.json"), "{}").unwrap();
        symlink("../out.json", dir.join("link.json")).unwrap();
        fs::write(dir.join("words.json"), "{\"type\":\n secret").unwrap();
        fs::write(dir.join("list.json"), "[]").unwrap();
        fs::write(dir.join("large.json"), format!("{{}}{}", " ".repeat(300_000))).unwrap();
        fs::write(dir.join(".adjutant/runs/spec.json"), "{\"token\": \"adjag_x\"}").unwrap();
        symlink(".adjutant/runs/spec.json", dir.join("token.json")).unwrap();
        let outside = "it lies outside the project";
        let private = "it is in a folder where schemas are not allowed";
        for (given, why) in [
            ("../out.json", format!("`../out.json`: {outside}")),
            ("link.json", format!("`link.json`: {outside}")),
            ("none.json", "`none.json`: there is no such file".to_owned()),
            (
                "words.json",
                "`words.json` is not JSON: expected value at line 2 column 2".to_owned(),
            ),
            (
                "list.json",
                "`list.json` cannot be used: [] is not of types \"boolean\", \"object\"".to_owned(),
            ),
            ("large.json", "`large.json`: it is larger than 262144 bytes".to_owned()),
            (".adjutant/runs/spec.json", format!("`.adjutant/runs/spec.json`: {private}")),
            ("token.json", format!("`token.json`: {private}")),
        ] {
            let error = load_schema(&dir, given).unwrap_err();
            assert_eq!(error.message, format!("`structured_output`: {why}"));
            assert_eq!(error.code, crate::Code::InvalidInput);
        }
    }

    #[test]
    fn nothing_is_fetched_for_a_schema() {
        for to in
            ["https://example.com/s.json", "file:///etc/passwd", "other.json", "other.json#/a"]
        {
            let message = refused(&json!({"items": {"$ref": to}}).to_string());
            assert_eq!(
                message,
                format!(
                    "`structured_output`: the schema cannot be used: it refers to `{to}`; external references are not supported"
                )
            );
        }
        let meta = refused(r#"{"$schema": "https://example.com/meta"}"#);
        assert!(meta.contains("Unknown meta-schema"), "{meta}");
        // The same words as a value are no reference.
        let literal = json!({"const": {"$ref": "https://example.com"}, "properties": {"$ref": {}}});
        load_schema(std::path::Path::new("/nonexistent"), &literal.to_string()).unwrap();
    }

    #[test]
    fn what_is_not_a_schema_is_refused() {
        for (given, why) in [
            (json!({"type": "objekt"}), "at `/type`, "),
            (json!({"$ref": "#/$defs/x"}), "it refers to `#/$defs/x`, which it does not have"),
            (json!({"$ref": "#anchor"}), "it refers to `#anchor`, which it does not have"),
            (json!({"pattern": "(?=x)"}), "is not a \"regex\""),
            (json!({"$dynamicRef": "#x"}), "`$dynamicRef` is not supported"),
            (json!({"items": {"$id": "x"}}), "a `$id` below the first level is not supported"),
        ] {
            let message = refused(&given.to_string());
            assert!(message.contains(why), "{message}");
        }
        assert!(refused("{\"type\"").contains("the schema is not JSON: EOF"));
    }

    #[test]
    fn references_inside_a_schema_are_followed() {
        let schema = json!({
            "$id": "https://example.com/list",
            "$defs": {"a/b %": {"type": "string"}},
            "items": {"$ref": "#/$defs/a~1b%20%25"},
        });
        assert_eq!(load_schema(std::path::Path::new("/"), &schema.to_string()).unwrap(), schema);
        assert_eq!(problems(&schema, "[\"x\"]"), Vec::<String>::new());
        assert_eq!(problems(&schema, "[5]"), ["`/0`: value is not of type \"string\""]);
    }

    /// A schema that doubles at each of so many steps.
    fn bomb(steps: usize, last: &Value) -> Value {
        let mut schemas = Map::new();
        for step in 0..steps {
            let next = json!({"$ref": format!("#/$defs/a{}", step + 1)});
            schemas.insert(format!("a{step}"), json!({"allOf": [next, next]}));
        }
        schemas.insert(format!("a{steps}"), last.clone());
        json!({"$ref": "#/$defs/a0", "$defs": schemas})
    }

    #[test]
    fn a_schema_that_grows_without_bound_is_refused() {
        for steps in [20, 30, 48] {
            let message = refused(&bomb(steps, &json!(true)).to_string());
            assert!(message.contains("more than 20000 rules"), "{message}");
        }
        let chain: Map<String, Value> = (0..5000)
            .map(|n| (format!("a{n}"), json!({"$ref": format!("#/$defs/a{}", n + 1)})))
            .chain([("a5000".to_owned(), json!(true))])
            .collect();
        let message = refused(&json!({"$ref": "#/$defs/a0", "$defs": chain}).to_string());
        assert!(message.contains("nested more than 100 levels deep"), "{message}");
        load_schema(std::path::Path::new("/"), &bomb(8, &json!(true)).to_string()).unwrap();
    }

    #[test]
    fn schemas_that_refer_to_themselves_are_checked_all_the_way_down() {
        let tree = json!({
            "type": "object",
            "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "n": {"type": "integer"}},
        });
        assert_eq!(load_schema(std::path::Path::new("/"), &tree.to_string()).unwrap(), tree);
        let deep = |leaf: Value| json!({"left": {"right": leaf}}).to_string();
        assert_eq!(problems(&tree, &deep(json!({"n": 1}))), Vec::<String>::new());
        assert_eq!(problems(&tree, r#"{"n": "x"}"#), ["`/n`: value is not of type \"integer\""]);
        // Deeper mistakes are found and not explained.
        let generic = "the value does not match its schema";
        assert_eq!(problems(&tree, &deep(json!({"n": "x"}))), [generic]);
        for endless in
            [json!({"$ref": "#"}), json!({"allOf": [{"$ref": "#"}, {"not": {"$ref": "#"}}]})]
        {
            load_schema(std::path::Path::new("/"), &endless.to_string()).unwrap();
            problems(&endless, "{}");
        }
    }

    #[test]
    fn a_value_cannot_make_a_check_endless() {
        // Each level is checked twice by the level above: 2^100 times in all, for who does not remember.
        let twice = json!({
            "$defs": {"a": {"properties": {"x": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]},
                                           "n": {"type": "integer"}}}},
            "$ref": "#/$defs/a",
        });
        let nest = |leaf: Value| (0..100).fold(leaf, |inner, _| json!({"x": inner})).to_string();
        assert_eq!(problems(&twice, &nest(json!({"n": 1}))), Vec::<String>::new());
        assert_eq!(problems(&twice, &nest(json!({"n": "x"}))).len(), 1);
        let leaves = bomb(8, &json!({"type": "string"}));
        let flat = json!({"items": {"$ref": "#/$defs/a0"}, "$defs": leaves["$defs"]});
        let large = json!(vec![0; 100_000]).to_string();
        assert_eq!(problems(&flat, &large), ["the value is too large to validate"]);
    }
}
