//! The grammar is sound, and nobody who asks for help is left without an example.

use clap::{Command, CommandFactory as _};

use super::*;

fn command() -> Command {
    command_for(&[])
}

#[test]
fn the_grammar_is_sound() {
    command().debug_assert();
}

/// Shows every command to somebody, with those below it.
fn walk(path: &str, command: &mut Command, see: &mut impl FnMut(&str, &mut Command)) {
    see(path, command);
    for below in command.get_subcommands_mut().filter(|below| below.get_name() != "help") {
        let path = format!("{path} {}", below.get_name());
        walk(&path, below, see);
    }
}

#[test]
fn every_command_and_every_tool_has_an_example_and_fits_80_columns() {
    let mut cli = command();
    cli.build();
    let mut seen = 0;
    walk("adjutant", &mut cli, &mut |path, command| {
        seen += 1;
        for help in [command.render_help(), command.render_long_help()] {
            let help = help.to_string();
            let begin = if path == "adjutant" { "Start here:\n" } else { "Example:\n  " };
            assert!(help.contains(begin), "`{path}` has no example:\n{help}");
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "`{path}` is too wide: {line}");
            }
        }
    });
    assert!(seen > engine::TOOLS.len() + 60, "only {seen} were seen");
}

#[test]
fn every_command_that_is_shown_is_in_one_group_of_the_help() {
    let cli = Cli::command();
    let shown = cli.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name);
    let mut shown: Vec<&str> = shown.chain(["help"]).collect();
    let mut grouped: Vec<&str> =
        groups::GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
    shown.sort_unstable();
    grouped.sort_unstable();
    assert_eq!(shown, grouped);
    let help = command().render_help().to_string();
    for part in ["\nBegin:\n  demo ", "\nMaintain:\n", "\nOptions:\n", "\nEverywhere:\n"] {
        assert!(help.contains(part), "{part} in {help}");
    }
    assert!(!help.contains("Commands:"), "{help}");
}

#[test]
fn an_example_can_be_typed() {
    let mut cli = command();
    cli.build();
    let mut examples = Vec::new();
    walk("adjutant", &mut cli, &mut |path, command| {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let of_tool = path.starts_with("adjutant tool ");
        let example = help.split("\n\n").find_map(|part| part.strip_prefix("Example:\n"));
        let lines = example.unwrap_or_default().lines().filter(|_| !of_tool);
        examples.extend(lines.map(str::to_owned));
    });
    let typed = examples.iter().filter_map(|line| line.trim().strip_prefix("adjutant "));
    let mut tried = 0;
    for line in typed {
        // What stands far to the right is a remark, what stands behind a pipe another program.
        let line = line.split("  ").next().unwrap_or_default();
        let line = line.split(['|', '<', '>']).next().unwrap_or_default();
        if line.contains("$(") {
            continue;
        }
        let words = shlex::split(line).unwrap();
        let parsed =
            command().try_get_matches_from(["adjutant".to_owned()].into_iter().chain(words));
        let help = parsed.as_ref().is_err_and(|error| !error.use_stderr());
        assert!(parsed.is_ok() || help, "`adjutant {line}`: {}", parsed.unwrap_err());
        tried += 1;
    }
    assert!(tried > 60, "only {tried} were tried");
}

#[test]
fn the_exit_codes_of_the_help_are_those_of_the_errors() {
    let help = command().render_help().to_string();
    let (_, told) = help.split_once("Exit codes: ").unwrap();
    let told = told.replace('\n', " ");
    let codes = told.split(',').filter_map(|one| one.split_whitespace().next()?.parse::<u8>().ok());
    let codes: Vec<u8> = codes.collect();
    assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 70]);
    for (_, name, exit, _) in engine::Code::ALL {
        assert!(codes.contains(&exit), "{name} exits with {exit}");
    }
}

#[test]
fn money_on_the_command_line_is_finite_and_not_negative() {
    let commands: [&[&str]; 4] = [
        &["run", "Do it"],
        &["loop", "night"],
        &["plan", "run", "PLAN.md"],
        &["plan", "resume", "release"],
    ];
    for words in commands {
        let tried = |amount: &str| {
            let budget = format!("--budget={amount}");
            let line = ["adjutant"].into_iter().chain(words.iter().copied()).chain([&*budget]);
            command().try_get_matches_from(line).map_err(|error| error.to_string())
        };
        for amount in ["nan", "NaN", "inf", "-inf", "infinity", "-1", "1e308", "1e999", "", "five"]
        {
            let said = tried(amount).unwrap_err();
            assert!(said.contains("--budget") && said.contains(" not a"), "{words:?}: {said}");
        }
        for amount in ["0", "0.5", "12"] {
            assert!(tried(amount).is_ok(), "{words:?} {amount}: {:?}", tried(amount).err());
        }
    }
}
