//! The README's five minutes and the tutorial, typed word for word into a shell, and what they say one
//! would see.

use std::path::Path;

use testkit::World;

/// A command, and the lines shown under it.
struct Typed<'a> {
    command: String,
    shown: Vec<&'a str>,
}

/// Every command of every `console` block, in order.
fn typed(readme: &str) -> Vec<Typed<'_>> {
    let mut commands: Vec<Typed<'_>> = Vec::new();
    for block in readme.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            // As a shell asks: with `$` for a command, and with `>` for its further lines.
            match (line.strip_prefix("$ "), line.strip_prefix("> "), commands.last_mut()) {
                (Some(command), _, _) => {
                    commands.push(Typed { command: command.to_owned(), shown: Vec::new() });
                }
                (None, Some(more), Some(last)) => {
                    last.command.push('\n');
                    last.command.push_str(more);
                }
                (None, None, Some(last)) => last.shown.push(line),
                (None, _, None) => panic!("`{line}` stands before any command"),
            }
        }
    }
    commands
}

/// Takes out what differs from one time to the next.
fn steady(text: &str) -> String {
    let mut text = text.to_owned();
    for (found, instead) in [
        (r"(sp|mail|task)_[0-9a-f]{16}", "${1}_ID"),
        (r"\b[0-9a-f]{64}\b", "HASH"),
        (r"127\.0\.0\.1:\d+", "ADDRESS"),
        (r"process \d+", "process PID"),
        (r"ok \d+ rows", "ok COUNT rows"),
        (r"\b[0-9.]+m?s\b", "TIME"),
        (r"-\d{4}-\d{4}\b", "-DATE"),
        // A table is as wide as what is in it.
        (r"  +", " "),
    ] {
        text = regex_lite::Regex::new(found).unwrap().replace_all(&text, instead).into_owned();
    }
    text.trim_end().to_owned()
}

/// Types everything, and holds what comes against what is shown.
async fn holds(page: &str) {
    let commands = typed(page);
    assert!(commands.len() >= 10, "the tour is there");
    let mut world = World::bare(crate::BINARY).unwrap();
    let folder = Path::new(crate::BINARY).parent().unwrap().display().to_string();
    world.set("PATH", format!("{folder}:/usr/local/bin:/usr/bin:/bin"));
    let mark = "\u{1e}";
    let lines: Vec<String> =
        commands.iter().map(|typed| format!("printf '{mark}'\n{}", typed.command)).collect();

    let ran = world.shell(&lines.join("\n")).await.unwrap();

    let answers: Vec<&str> = ran.stdout.split(mark).skip(1).collect();
    assert_eq!(answers.len(), commands.len(), "{}", ran.stdout);
    for (typed, answer) in commands.iter().zip(answers) {
        // Where the page shows nothing, it leaves out what is printed.
        if !typed.shown.is_empty() {
            assert_eq!(steady(answer), steady(&typed.shown.join("\n")), "$ {}", typed.command);
        }
    }
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
}

#[tokio::test]
async fn five_minutes_are_as_the_readme_says() {
    holds(include_str!("../../../../README.md")).await;
}

#[tokio::test]
async fn the_first_crew_is_as_the_tutorial_says() {
    holds(include_str!("../../../../docs/tutorial/first-crew.md")).await;
}
