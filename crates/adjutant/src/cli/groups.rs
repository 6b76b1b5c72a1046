//! The commands of `adjutant --help`, grouped by what they are for. `clap` knows one list only.

use clap::Command;

use crate::terminal::render::wrapped;

/// Every command that is shown, by group.
pub(super) const GROUPS: [(&str, &[&str]); 7] = [
    ("Begin", &["demo", "init", "doctor", "up", "down", "status", "open", "token"]),
    (
        "Agents",
        &[
            "run",
            "draft",
            "await",
            "resume",
            "kill",
            "ps",
            "top",
            "logs",
            "attach",
            "enlist",
            "discharge",
        ],
    ),
    ("Work", &["tasks", "epic", "loop", "plan", "supervisors", "mail"]),
    ("Review", &["reviews", "review", "merge-queue", "worktrees"]),
    ("Record", &["events", "decisions", "audit", "costs"]),
    ("Connect", &["mcp", "tool", "webhooks", "slack"]),
    (
        "Maintain",
        &["config", "reload", "home", "serve", "clean", "backup", "restore", "completions", "help"],
    ),
];
/// Columns before what a command does.
const INDENT: usize = 15;
/// Columns of the help.
const WIDTH: usize = 80;

/// Replaces the one list of commands in the help.
pub(super) fn grouped(command: Command) -> Command {
    let mut built = command.clone();
    built.build();
    let help = built.render_long_help().ansi().to_string();
    let is_heading = |line: &&str, name: &str| line.contains(name) && !line.starts_with(' ');
    let mut lines = help.lines();
    let before: Vec<&str> =
        lines.by_ref().take_while(|line| !is_heading(line, "Commands:")).collect();
    let after: Vec<&str> = lines.skip_while(|line| !is_heading(line, "Options:")).collect();
    let text = format!("{}\n{}{}\n", before.join("\n"), groups(&built), after.join("\n"));
    // It is the same for both flags.
    command.override_help(text.replace(" (see a summary with '-h')", ""))
}

fn groups(command: &Command) -> String {
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let mut lines = Vec::new();
    for (group, names) in GROUPS {
        lines.push(format!("{header}{group}:{header:#}"));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let mut parts = wrapped(&about, WIDTH - INDENT).into_iter();
            let first = parts.next().unwrap_or_default();
            let space = " ".repeat(INDENT.saturating_sub(name.len() + 2));
            lines.push(format!("  {literal}{name}{literal:#}{space}{first}"));
            lines.extend(parts.map(|part| format!("{}{part}", " ".repeat(INDENT))));
        }
        lines.push(String::new());
    }
    lines.push(String::new());
    lines.join("\n")
}
