//! Tests of reading and refusing templates.

use std::path::Path;

use engine::settings::TemplateArgument;

use proptest::prelude::*;

use super::*;
use crate::environment::Environment;

struct World {
    dir: tempfile::TempDir,
    home: Home,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let env = Environment::from_vars(dir.path(), std::iter::empty::<(&str, &str)>());
        let home = Home::for_init(Some(dir.path()), &env);
        fs::create_dir_all(home.templates()).unwrap();
        for (name, text) in files {
            fs::write(home.templates().join(name), text).unwrap();
        }
        Self { dir, home }
    }

    fn load(&self) -> (BTreeMap<String, Template>, Vec<String>) {
        let (templates, problems) = load(&self.home);
        (templates, problems.iter().map(ToString::to_string).collect())
    }
}

fn problem(text: &str) -> String {
    let (_, problems) = World::new(&[("mine.md", text)]).load();
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].strip_prefix(".adjutant/templates/mine.md").unwrap().to_owned()
}

fn argument(name: &str, description: &str) -> TemplateArgument {
    TemplateArgument { name: name.into(), description: description.into(), required: false }
}

#[test]
fn the_built_in_templates_are_there() {
    let (templates, problems) = World::new(&[]).load();
    assert_eq!(problems, Vec::<String>::new());
    let facts: Vec<_> = templates
        .values()
        .map(|t| (t.name.as_str(), t.kind.as_str(), engine::templates::is_tool(t)))
        .collect();
    assert_eq!(
        facts,
        [
            ("analyze-code", "claude", false),
            ("analyze_deps", "claude", true),
            ("review_code", "claude", true),
            ("run-tests", "codex", false),
            ("run_tests", "codex", true),
        ]
    );
    let tools: Vec<String> = ["Read", "Glob", "Grep"].map(str::to_owned).into();
    assert_eq!(templates["review_code"].tools, Some(tools));
    for template in templates.values() {
        assert!(template.text.len() > 100, "`{}`", template.name);
        assert!(!template.arguments.is_empty(), "`{}`", template.name);
        for argument in &template.arguments {
            assert!(!argument.description.is_empty(), "`{}`", template.name);
            assert!(template.text.contains(&format!("{{{{{}}}}}", argument.name)));
        }
    }
}

#[test]
fn every_key_is_read() {
    let text = "---
description: Looks at things
arguments:
  - {name: target, description: What, required: true}
  - focus
agent: codex
model: gpt-5
tools: Read, Bash(git log, git diff)
timeout: 60
---

Look at {{target}}.
---
{{ focus }}
";
    let (templates, problems) = World::new(&[("mine.md", text)]).load();
    assert_eq!(problems, Vec::<String>::new());
    let wanted = Template {
        name: "mine".into(),
        description: "Looks at things".into(),
        arguments: vec![
            TemplateArgument { required: true, ..argument("target", "What") },
            argument("focus", ""),
        ],
        kind: "codex".into(),
        model: Some("gpt-5".into()),
        tools: Some(vec!["Read".into(), "Bash(git log, git diff)".into()]),
        timeout: Some(60),
        text: "Look at {{target}}.\n---\n{{ focus }}".into(),
    };
    assert_eq!(templates["mine"], wanted);
}

#[test]
fn a_description_and_a_text_are_enough() {
    let (templates, problems) =
        World::new(&[("mine.md", "\u{feff}---\ndescription: x\n---\nDo it with ${{ a.b }}.")])
            .load();
    assert_eq!(problems, Vec::<String>::new());
    let mine = &templates["mine"];
    assert_eq!((mine.kind.as_str(), mine.text.as_str()), ("claude", "Do it with ${{ a.b }}."));
    assert_eq!((&mine.model, &mine.tools, mine.timeout), (&None, &None, None));
}

#[test]
fn a_file_stands_in_for_the_built_in_one_of_its_name() {
    let own = "---\ndescription: ours\n---\nOurs.";
    let world = World::new(&[("run_tests.md", own), ("analyze-code.md", own)]);
    let (templates, problems) = world.load();
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(templates.len(), 5);
    for name in ["run_tests", "analyze-code"] {
        assert_eq!(templates[name].text, "Ours.", "{name}");
    }
}

#[test]
fn a_broken_file_names_its_line_and_does_not_stop_the_others() {
    let good = "---\ndescription: good\n---\nGood.";
    let bad = "---\ndescription: bad\ntimeout: soon\n---\nBad.";
    let world = World::new(&[("a.md", good), ("run_tests.md", bad), ("z.md", good), ("x.txt", "")]);
    fs::create_dir(world.home.templates().join("folder.md")).unwrap();
    let (templates, problems) = world.load();
    assert_eq!(
        problems,
        [".adjutant/templates/run_tests.md:3: expected a whole number, not negative"]
    );
    assert!(templates.contains_key("a") && templates.contains_key("z"));
    assert_ne!(templates["run_tests"].text, "Bad.", "the built-in one stays");
}

#[test]
fn mistakes_are_named_with_their_line() {
    let with = |front: &str| problem(&format!("---\ndescription: x\n{front}\n---\nText.\n"));
    assert_eq!(
        problem("No front matter"),
        ":1: must begin with `---`, YAML with at least a `description`, and `---`"
    );
    assert!(problem("---\nmodel: x\n---\nText.").ends_with("`description` is missing"));
    assert_eq!(problem("---\ndescription: ' '\n---\nText."), ":2: `description` is empty");
    assert_eq!(problem("---\ndescription: x\n---\n\n"), ":4: has no text under its front matter");
    assert_eq!(with("descripton: y"), ":3: unknown key `descripton`");
    assert_eq!(with("agent: gemini"), ":3: `gemini` is not known here");
    assert_eq!(with("timeout: 29"), ":3: `timeout` is 29; it must be 30 to 1800 seconds");
    assert_eq!(with("timeout: 1801"), ":3: `timeout` is 1801; it must be 30 to 1800 seconds");
    assert_eq!(
        with("arguments: [a b]"),
        ":3: the argument `a b` must be a letter and then letters, digits or `_`"
    );
    assert_eq!(with("arguments: [a, {name: a}]"), ":3: the argument `a` is there twice");
    assert_eq!(with("arguments: [async]"), ":3: every template's tool takes `async` already");
    assert!(with("arguments:\n- {nam: a}").contains("unknown key `nam`"));
    assert!(with("arguments: [[a]]").starts_with(":3: "));
}

#[test]
fn an_argument_that_was_not_announced_is_found() {
    let text =
        "---\ndescription: x\narguments: [target]\n---\n\nLook at\n{{target}} and\n{{ targte }}.";
    let world = World::new(&[("mine.md", text)]);
    let (_, problems) = load(&world.home);
    assert_eq!(
        problems[0].to_string(),
        ".adjutant/templates/mine.md:8: `{{targte}}` is not one of its arguments"
    );
    assert_eq!(problems[0].help.as_deref(), Some("did you mean `target`?"));
}

#[test]
fn a_name_must_be_a_tools_and_free() {
    let good = "---\ndescription: x\n---\nText.";
    let world = World::new(&[("Bad-Name.md", good), ("spawn_claude.md", good)]);
    let (templates, problems) = world.load();
    assert_eq!(templates.len(), 5);
    assert_eq!(
        problems,
        [
            ".adjutant/templates/Bad-Name.md: the name `Bad-Name` must begin with a lower-case letter, then up to 40 lower-case \
             letters, digits or `_`",
            ".adjutant/templates/spawn_claude.md: a tool `spawn_claude` already exists",
        ]
    );
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(---|\n|description: x|arguments:|- a|[{]{2}|a[}]{2}|\\PC){0,30}") {
        drop(front::read("mine", "mine.md", &text));
    }
}

#[test]
fn a_home_without_the_folder_has_the_built_in_ones() {
    let world = World::new(&[]);
    fs::remove_dir(world.home.templates()).unwrap();
    assert_eq!(world.load().0.len(), 5);
    assert!(Path::new(&world.dir.path()).is_dir());
}
