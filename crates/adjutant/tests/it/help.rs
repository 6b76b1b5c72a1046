//! Help is what people read first: it is short, whole, and fits a terminal.

use testkit::World;

use crate::BINARY;

/// A command that can be typed, and its help.
pub(crate) struct Command {
    /// Its name, as `config set`
    pub(crate) name: String,
    /// What `--help` prints
    pub(crate) help: String,
}

impl Command {
    /// Whether it does something without a verb behind it.
    pub(crate) fn acts(&self) -> bool {
        let usage = self.help.lines().find(|line| line.starts_with("Usage: ")).unwrap();
        !usage.ends_with("<COMMAND>")
    }
}

/// Every command that people are shown, with those below it: each is asked for its help.
pub(crate) async fn commands(world: &World) -> Vec<Command> {
    let (mut found, mut left) = (Vec::new(), vec![Vec::new()]);
    while let Some(path) = left.pop() {
        let help = help(world, &path, "--help").await;
        for below in subcommands(&help).iter().rev() {
            left.push([path.clone(), vec![below.clone()]].concat());
        }
        if !path.is_empty() {
            found.push(Command { name: path.join(" "), help });
        }
    }
    found
}

async fn help(world: &World, path: &[String], flag: &str) -> String {
    let mut typed: Vec<&str> = path.iter().map(String::as_str).collect();
    typed.push(flag);
    world.run(&typed).await.unwrap().ok().unwrap().stdout
}

/// The names of the commands in a help text: under `Commands:`, or in the groups of the first page.
fn subcommands(help: &str) -> Vec<String> {
    let first_group = help.lines().any(|line| line == "Begin:");
    let heading = if first_group { "Begin:" } else { "Commands:" };
    help.lines()
        .skip_while(|line| *line != heading)
        .skip(1)
        .take_while(|line| *line != "Options:")
        .take_while(|line| first_group || line.starts_with(' '))
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn the_top_level_shows_every_command() {
    let world = World::bare(BINARY).unwrap();
    let ran = world.run(&["-h"]).await.unwrap().ok().unwrap();
    insta::assert_snapshot!(ran.stdout);
    assert_eq!(world.run(&[]).await.unwrap().stderr, ran.stdout);
}

#[tokio::test]
async fn every_command_has_an_example_and_fits_80_columns() {
    let mut world = World::bare(BINARY).unwrap();
    // A wide terminal is no reason for wide lines, and colours are nobody's business in a pipe.
    world.set("COLUMNS", "200");
    let all = commands(&world).await;
    assert!(all.len() > 60, "only {} commands were found", all.len());
    for command in &all {
        let path: Vec<String> = command.name.split(' ').map(str::to_owned).collect();
        for text in [&command.help, &help(&world, &path, "-h").await] {
            let name = &command.name;
            assert!(text.contains("Example:\n"), "`{name}` has no example:\n{text}");
            let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
            assert!(wide.is_empty(), "{name}: {wide:?}");
            assert!(!text.contains('\u{1b}'), "{name} has colours in a pipe");
        }
    }
    world.set("CLICOLOR_FORCE", "1");
    let run = ["run".to_owned()];
    assert!(help(&world, &run, "-h").await.contains('\u{1b}'), "colours can be forced");
    world.set("NO_COLOR", "1");
    assert!(!help(&world, &run, "-h").await.contains('\u{1b}'), "and forbidden");
}

#[tokio::test]
async fn the_help_of_each_command_is_as_it_was_read() {
    let world = World::bare(BINARY).unwrap();
    let all = commands(&world).await;
    for top in all.iter().filter(|command| !command.name.contains(' ')) {
        let is_of = |command: &&Command| {
            command.name == top.name || command.name.starts_with(&format!("{} ", top.name))
        };
        let texts: Vec<&str> =
            all.iter().filter(is_of).map(|command| command.help.as_str()).collect();
        insta::assert_snapshot!(format!("of_{}", top.name), texts.join("\n\n"));
    }
}

#[tokio::test]
async fn what_is_mistyped_names_what_was_perhaps_meant() {
    let world = World::bare(BINARY).unwrap();
    let stderr = async |typed: &[&str]| {
        let ran = world.run(typed).await.unwrap();
        assert_eq!(ran.code, Some(2), "{ran:?}");
        ran.stderr
    };
    insta::assert_snapshot!(stderr(&["tsaks"]).await, @r"
    error: unrecognized subcommand 'tsaks'

      tip: some similar subcommands exist: 'slack', 'status', 'tasks'

    Usage: adjutant [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(stderr(&["config", "gte"]).await, @r"
    error: unrecognized subcommand 'gte'

    Usage: adjutant config [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(stderr(&["run", "--rol", "coder", "x"]).await, @r"
    error: unexpected argument '--rol' found

      tip: a similar argument exists: '--role'

    Usage: adjutant run --role <ROLE> <PROMPT>

    For more information, try '--help'.
    ");
    let error = world.run(&["tsaks", "--json"]).await.unwrap().error().unwrap();
    insta::assert_snapshot!(error.to_string(), @r#"{"code":"INVALID_INPUT","message":"unrecognized subcommand 'tsaks'","suggestions":["did you mean `slack`?","did you mean `status`?","did you mean `tasks`?","`--help` shows what can be typed"]}"#);
}

#[tokio::test]
async fn a_tools_help_comes_from_its_schema() {
    let world = World::bare(BINARY).unwrap();
    let ran = world.run(&["tool", "mcp__mail__send", "--help"]).await.unwrap().ok().unwrap();
    insta::assert_snapshot!(ran.stdout);
}

#[tokio::test]
async fn tools_are_listed_without_a_server() {
    let world = World::bare(BINARY).unwrap();
    let ran = world.run(&["tool"]).await.unwrap().ok().unwrap();
    assert!(ran.stdout.contains("  mail_send "), "{}", ran.stdout);
    let list = world.run(&["tool", "--json"]).await.unwrap().ok().unwrap().json().unwrap();
    let send = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "mail_send");
    assert_eq!(send.unwrap()["canonicalName"], "mcp__mail__send");
}
