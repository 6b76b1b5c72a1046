//! Tests of reading roles, refusals and warnings.

use engine::settings::{Budget, McpChoice, Programs, Sandbox, Worktree};
use proptest::prelude::*;

use super::*;

fn read(text: &str) -> (Role, Vec<String>) {
    let (role, warnings) = parse("r.md", Source::Home, text, &Policy::default()).unwrap();
    (role, warnings.iter().map(ToString::to_string).collect())
}

fn refused(text: &str) -> String {
    parse("r.md", Source::Home, text, &Policy::default()).unwrap_err().to_string()
}

fn home_in(dir: &Path) -> Home {
    Home::unplaced(dir.to_owned(), dir.join(".adjutant"))
}

fn programs<const N: usize>(programs: [(&str, &[&str]); N]) -> Programs {
    let owned = |words: &[&str]| words.iter().copied().map(str::to_owned).collect();
    programs.into_iter().map(|(key, words)| (key.to_owned(), owned(words))).collect()
}

#[test]
fn a_name_is_enough() {
    let (role, warnings) = read("---\nname: helper\n---\n\nYou help.\n");
    let wanted = Role {
        name: "helper".into(),
        category: "worker".into(),
        prompt: "You help.".into(),
        ..Role::default()
    };
    assert_eq!((role, warnings), (wanted, vec![]));
}

#[test]
fn every_key_is_read() {
    let (role, warnings) = read(
        "---
name: coder
category: coding
displayName: The Coder
description: Writes code
agent: command
command: [run-me, '{prompt_file}']
acp: [goose, acp]
script: scenario.yaml
model: inherit
tools: Read, Bash(git log, git diff), Edit
disallowedTools: [Task]
mcp: github, docs
allow: ['mcp__review__*']
deny: [mcp__mail__send]
cwd: web
timeout: 60
inactivity: 30
budget: {usd: 1.5, tokens: 1000, agents: 2, seconds: 60}
worktree: fresh
tmux: true
sandbox: bwrap
review: {required: agent}
---
Code.
---
More.",
    );
    assert_eq!(warnings, Vec::<String>::new());
    let globs =
        |globs: &[model::glob::Glob]| globs.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(globs(&role.rules.allow), ["mcp__review__*"]);
    assert_eq!(globs(&role.rules.deny), ["mcp__mail__send"]);
    let wanted = Role {
        name: "coder".into(),
        category: "coding".into(),
        display_name: Some("The Coder".into()),
        description: Some("Writes code".into()),
        kind: Some("command".into()),
        programs: programs([
            ("command", &["run-me", "{prompt_file}"]),
            ("acp", &["goose", "acp"]),
            ("script", &["scenario.yaml"]),
        ]),
        model: Some("inherit".into()),
        tools: Some(vec!["Read".into(), "Bash(git log, git diff)".into(), "Edit".into()]),
        disallowed_tools: vec!["Task".into()],
        mcp: McpChoice::Names(vec!["github".into(), "docs".into()]),
        cwd: Some("web".into()),
        timeout: Some(60),
        inactivity: Some(30),
        budget: Budget { usd: Some(1.5), tokens: Some(1000), agents: Some(2), seconds: Some(60) },
        worktree: Some(Worktree::Fresh),
        tmux: true,
        sandbox: Sandbox::Bwrap,
        review_required: Some(model::review::ReviewRequired::Agent),
        rules: role.rules.clone(),
        other: BTreeMap::new(),
        prompt: "Code.\n---\nMore.".into(),
    };
    assert_eq!(role, wanted);
}

#[test]
fn an_unknown_key_is_refused_and_one_of_claude_codes_is_let_pass() {
    let (role, warnings) = read("---\nname: a\ncolor: blue\n---\n");
    assert_eq!(role.other, BTreeMap::from([("color".into(), "blue".into())]));
    assert_eq!(warnings, ["r.md:3: key `color` has no effect in Adjutant"]);
    // Taken for nothing, it would deny nothing.
    assert_eq!(
        refused("---\nname: a\ndenny: [mcp__mail__send]\n---\n"),
        "r.md:3: unknown key `denny`"
    );
    assert_eq!(refused("---\nname: a\nzebra: 1\n---\n"), "r.md:3: unknown key `zebra`");
    // Claude Code's own files may have keys that we have never heard of, but no mistyped ones of ours.
    let theirs = |text: &str| parse("r.md", Source::Claude, text, &Policy::default());
    for near_nothing_that_bounds in
        ["zebra: 1", "descripton: Helps", "modle: opus", "scripts: a.yaml"]
    {
        let (_, warnings) =
            theirs(&format!("---\nname: a\n{near_nothing_that_bounds}\n---\n")).unwrap();
        let warned: Vec<String> = warnings.iter().map(ToString::to_string).collect();
        let key = near_nothing_that_bounds.split(':').next().unwrap();
        assert_eq!(warned, [format!("r.md:3: key `{key}` has no effect in Adjutant")]);
    }
    for near_one in ["disalowedTools: Bash", "tool: Read", "sandbx: bwrap", "bugdet: {usd: 1}"] {
        let problem = theirs(&format!("---\nname: a\n{near_one}\n---\n")).unwrap_err();
        assert_eq!(problem.line, Some(3), "{near_one}");
        assert!(problem.help.as_ref().unwrap().starts_with("did you mean"), "{near_one}");
    }
}

#[test]
fn a_broken_role_is_not_replaced_by_another_file_of_its_name() {
    let broken = [
        "---\nname: guard\ndeny: [mcp__mial__*]\n---\n",
        "---\nname: guard\ncategory: wroker\n---\n",
        "---\nname: guard\ndenny: [mcp__mail__send]\n---\n",
        "---\nname: 'guard'\ntools: {a: 1\n---\n",
        "---\nname: guard\nno end",
    ];
    for text in broken {
        let dir = tempfile::tempdir().unwrap();
        let home = home_in(dir.path());
        fs::create_dir_all(home.roles()).unwrap();
        fs::create_dir_all(home.claude_agents()).unwrap();
        fs::write(home.roles().join("a.md"), text).unwrap();
        fs::write(home.roles().join("b.md"), "---\nname: guard\n---\nsecond").unwrap();
        fs::write(home.claude_agents().join("c.md"), "---\nname: guard\n---\ntheirs").unwrap();
        let report = load(&home, &Policy::default());
        assert!(report.roles.is_empty(), "{text}: {:?}", report.roles);
        assert_eq!(report.errors.len(), 1, "{text}: {:?}", report.errors);
    }
    // Bytes that are no text: the file's own name counts.
    let dir = tempfile::tempdir().unwrap();
    let home = home_in(dir.path());
    fs::create_dir_all(home.roles()).unwrap();
    fs::create_dir_all(home.claude_agents()).unwrap();
    fs::write(home.roles().join("guard.md"), b"\xff\xfe").unwrap();
    fs::write(home.claude_agents().join("guard.md"), "---\nname: guard\n---\ntheirs").unwrap();
    assert!(load(&home, &Policy::default()).roles.is_empty());
}

#[test]
fn what_claude_code_takes_is_taken() {
    let (role, warnings) = read(
        "---\r\nname: reviewer-x\r\ndescription: Use it when: the user's done. Examples: <example>Context: x</example>\r\ntools: Read, Grep\r\nmodel: sonnet\r\n---\r\nPrompt\r\n",
    );
    assert_eq!(
        role.description.as_deref(),
        Some("Use it when: the user's done. Examples: <example>Context: x</example>")
    );
    assert_eq!(role.tools.unwrap(), ["Read", "Grep"]);
    assert_eq!(role.prompt, "Prompt");
    assert_eq!(warnings, ["r.md:3: `description` is not valid YAML and was read as plain text"]);
}

#[test]
fn a_broken_file_names_its_line() {
    assert_eq!(
        refused("---\ncategory: worker\n---\n").split(": ").nth(1),
        Some("`name` is missing")
    );
    assert_eq!(
        refused("no front matter"),
        "r.md:1: must begin with `---`, YAML with at least a `name`, and `---`"
    );
    assert_eq!(
        refused("---\nname: a\ncategory: wroker\n---\n"),
        "r.md:3: unknown category `wroker`"
    );
    assert_eq!(
        refused("---\nname: a\n\nallow:\n  - mcp__mial__*\n---\n"),
        "r.md:5: `mcp__mial__*` names the unknown toolset `mial`; did you mean `mail`?"
    );
    assert_eq!(
        refused("---\nname: a\ntimeout: soon\n---\n"),
        "r.md:3: expected a whole number, not negative"
    );
    assert_eq!(
        refused("---\nname: a\nagent: command\n---\n"),
        "r.md:3: an agent of kind `command` needs `command`"
    );
    assert!(refused("---\nname: a\nagent: clod\n---\n").starts_with("r.md:3: "));
    assert!(refused("---\nname: a\ntools: {a: 1\n---\n").starts_with("r.md:"));
}

#[test]
fn a_broken_file_does_not_stop_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let home = home_in(dir.path());
    assert!(load(&home, &Policy::default()).roles.is_empty(), "no folder is no role");
    fs::create_dir_all(home.roles()).unwrap();
    fs::create_dir_all(home.claude_agents()).unwrap();
    let write =
        |dir: std::path::PathBuf, file: &str, text: &[u8]| fs::write(dir.join(file), text).unwrap();
    write(home.roles(), "a.md", b"---\nname: one\n---\nours");
    write(home.roles(), "b.md", b"---\nname: [\n---\n");
    write(home.roles(), "c.md", b"---\nname: one\n---\ntwice");
    write(home.roles(), "d.md", b"\xff\xfe");
    write(home.roles(), "notes.txt", b"not a role");
    write(home.claude_agents(), "one.md", b"---\nname: one\n---\ntheirs");
    write(home.claude_agents(), "two.md", b"---\nname: two\n---\ntheirs");
    let report = load(&home, &Policy::default());
    let prompts: Vec<_> =
        report.roles.iter().map(|(name, role)| (name.as_str(), role.prompt.as_str())).collect();
    assert_eq!(prompts, [("one", "ours"), ("two", "theirs")]);
    let said: Vec<_> = report.errors.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with(".adjutant/roles/b.md:"), "{said:?}");
    assert!(said[1].starts_with(".adjutant/roles/d.md: cannot be read"), "{said:?}");
    let said: Vec<_> = report.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(said, [".adjutant/roles/c.md: another file is the role `one` already"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}", matter in proptest::collection::vec(
        "(name|tools|allow|budget|x|-)?: ?[\\[{&*!|>'\"a-zé0-9:,.# ]{0,12}", 0..8,
    )) {
        let matter = matter.join("\n");
        for text in [text.clone(), format!("---\n{text}\n---\n"), format!("---\n{matter}\n---\nx")] {
            if let Err(problem) = parse("r.md", Source::Home, &text, &Policy::default()) {
                prop_assert!(problem.to_string().starts_with("r.md"));
            }
        }
    }
}

#[test]
fn a_budget_that_is_no_amount_and_a_timeout_of_nought_are_refused() {
    for amount in [".nan", ".inf", "-1", "1e308"] {
        let said = refused(&format!("---\nname: a\nbudget: {{usd: {amount}}}\n---\n"));
        let is_told = said.contains("amount of dollars") || said.contains("non-finite");
        assert!(said.starts_with("r.md:3: ") && is_told, "{said}");
    }
    let said = refused("---\nname: a\ntimeout: 0\n---\n");
    assert!(said.starts_with("r.md:3: is 0, "), "{said}");
    assert_eq!(read("---\nname: a\n---\n").0.timeout, None);
    assert_eq!(read("---\nname: a\ntimeout: null\n---\n").0.timeout, None);
}

#[test]
fn the_mcp_servers_of_a_role_are_all_or_none_or_named() {
    let choice = |line: &str| {
        let text = format!("---\nname: a\n{line}\n---\n");
        parse("r.md", Source::Home, &text, &Policy::default()).unwrap().0.mcp
    };
    assert_eq!(choice(""), McpChoice::All);
    assert_eq!(choice("mcp: all"), McpChoice::All);
    assert_eq!((choice("mcp: none"), choice("mcp: []")), (McpChoice::None, McpChoice::None));
    assert_eq!(choice("mcp: [github]"), McpChoice::Names(vec!["github".to_owned()]));
}
