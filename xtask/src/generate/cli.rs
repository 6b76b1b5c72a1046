//! `docs/reference/cli.md`: every command's `--help`, from the program itself.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use crate::generate::Generated;
use crate::run;
use crate::tree::Tree;

/// The page.
pub(super) fn page(tree: &Tree) -> Result<Generated> {
    let program = tree.target.join("debug/adjutant");
    if !program.exists() {
        return Ok(Generated::Skipped("`adjutant` is not built"));
    }
    let Ok(help) = help(&program, &[]) else {
        return Ok(Generated::Skipped("`adjutant --help` does not work yet"));
    };
    let mut page = String::from(
        "<!-- Written by `cargo xtask generate` from `adjutant --help`. Change that, not this. -->\n\n\
         # Command line\n\n",
    );
    collect(&program, &mut Vec::new(), &help, &mut page)?;
    page.truncate(page.trim_end().len());
    page.push('\n');
    Ok(Generated::Text(page))
}

fn help(program: &Path, command: &[String]) -> Result<String> {
    let mut arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    arguments.push("--help");
    run::bare_output(program, &arguments)
}

/// Writes one command's section and those of the commands below it.
fn collect(program: &Path, command: &mut Vec<String>, help: &str, page: &mut String) -> Result<()> {
    let mut name = vec!["adjutant".to_owned()];
    name.extend(command.iter().cloned());
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    // Writing to a String cannot fail.
    _ = write!(
        page,
        "{} `{}`\n\n```text\n{}\n```\n\n",
        if command.is_empty() { "##" } else { "###" },
        name.join(" "),
        lines.join("\n").trim_end()
    );
    for below in subcommands(help) {
        command.push(below);
        let help = self::help(program, command)?;
        collect(program, command, &help, page)?;
        command.pop();
    }
    Ok(())
}

/// The names of the commands in a help text: under `Commands:`, or in the groups of the first page.
fn subcommands(help: &str) -> Vec<String> {
    let first_group = help.lines().any(|line| line == "Begin:");
    let heading = if first_group { "Begin:" } else { "Commands:" };
    help.lines()
        .skip_while(|line| *line != heading)
        .skip(1)
        .take_while(|line| *line != "Options:")
        .take_while(|line| first_group || line.is_empty() || line.starts_with(' '))
        .filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_of_a_help_text_are_found() {
        let help = "A.\n\nUsage: a <COMMAND>\n\nCommands:\n  init  Begin\n        and go on\n  up    Start\n  help  Help\n\nOptions:\n  -h, --help\n";
        assert_eq!(subcommands(help), ["init", "up"]);
        assert!(subcommands("Usage: a\n\nTools:\n  x  X\n\nOptions:\n  -h\n").is_empty());
        let first = "A.\n\nUsage: a <COMMAND>\n\nBegin:\n  up    Start\n\nWork:\n  ps    List\n  help  Help\n\nOptions:\n  -h\n";
        assert_eq!(subcommands(first), ["up", "ps"]);
    }
}
