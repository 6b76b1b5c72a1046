//! Completions: requested by the scripts that `adjutant completions` prints, at every press of
//! Tab. It is quick, prints nothing but candidates, and starts no server; where one runs, agents and
//! tasks come from it.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use clap::{Arg, Command, CommandFactory as _};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate, complete};
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use wire::agent_details::AgentList;
use wire::tasks::Board;

use crate::app::App;
use crate::cli::{Cli, Global, Shell};
use crate::client::Answer;
use crate::crew::roles;
use crate::environment::Environment;
use crate::runtime;
use crate::server_process::connect;
use crate::terminal::render::{self, line, print_raw};

/// The word that asks for candidates: then come the shell, the number of the word, and all words.
pub(crate) const WORD: &str = "__complete";

/// Timeout for the server: nobody waits at a prompt.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(400);

/// Prints the candidates for a place of a command line, a line each. Errors are not printed: they
/// would appear in the middle of the line that is being typed.
pub(crate) fn answer(asked: &[OsString]) {
    let [shell, index, words @ ..] = asked else { return };
    let Some(shell) = shell_of(shell) else { return };
    let Some(index) = index.to_str().and_then(|index| index.parse().ok()) else { return };
    let lines = candidates(shell, index, words);
    // The caller may have gone.
    drop(print_raw(lines.as_bytes()));
}

fn shell_of(word: &OsStr) -> Option<Shell> {
    match word.to_str()? {
        "bash" => Some(Shell::Bash),
        "zsh" => Some(Shell::Zsh),
        "fish" => Some(Shell::Fish),
        _ => None,
    }
}

fn candidates(shell: Shell, index: usize, words: &[OsString]) -> String {
    let Ok(env) = Environment::read() else { return String::new() };
    let (words, index) =
        if shell == Shell::Bash { rejoined(words, index) } else { (words.to_vec(), index) };
    let mut words = words;
    // An empty word at the end may be left out.
    words.resize(words.len().max(index + 1), OsString::new());
    let current = words.get(index).map(|word| word.to_string_lossy().into_owned());
    let home = named_home(&words);
    let cwd = env.cwd.clone();
    let app = App::new(env, Global { home, json: false, verbose: 0 });
    let mut command = with_values(Cli::command(), &app);
    let found = complete(&mut command, words, index, Some(&cwd)).unwrap_or_default();
    let current = current.unwrap_or_default();
    // Flags are many: who wants one begins with a dash, unless there is nothing else.
    let is_flag = |one: &CompletionCandidate| one.get_value().to_string_lossy().starts_with('-');
    let all = current.starts_with('-') || found.iter().all(is_flag);
    let found: Vec<_> = found.into_iter().filter(|one| all || !is_flag(one)).collect();
    found.iter().filter_map(|one| shown(shell, one, &current)).collect()
}

/// The home that the command line names.
fn named_home(words: &[OsString]) -> Option<std::path::PathBuf> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--home" {
            return words.next().map(Into::into);
        }
        if let Some(dir) = word.to_str().and_then(|word| word.strip_prefix("--home=")) {
            return Some(dir.into());
        }
    }
    None
}

/// Bash cuts words at `=`: puts them together again, and says where the place is now.
fn rejoined(words: &[OsString], index: usize) -> (Vec<OsString>, usize) {
    let mut whole: Vec<OsString> = Vec::new();
    let (mut at, mut glue) = (index, false);
    for (number, word) in words.iter().enumerate() {
        let is_flag = whole.last().is_some_and(|last| last.to_string_lossy().starts_with("--"));
        let joins = glue || (word == "=" && is_flag);
        glue = word == "=" && is_flag;
        match whole.last_mut().filter(|_| joins) {
            Some(last) => last.push(word),
            None => whole.push(word.clone()),
        }
        if number == index {
            at = whole.len() - 1;
        }
    }
    (whole, at)
}

/// A candidate as the shell wants it.
fn shown(shell: Shell, candidate: &CompletionCandidate, current: &str) -> Option<String> {
    let value = candidate.get_value().to_str().filter(|value| !value.contains('\n'))?;
    let help = candidate.get_help().map(|help| line(&help.to_string())).filter(|h| !h.is_empty());
    Some(match (shell, help) {
        (Shell::Bash, _) => {
            // What stands before the `=` is a word of its own there.
            let rest = match (current.split_once('='), value.split_once('=')) {
                (Some((flag, _)), Some((same, rest))) if flag == same => rest,
                _ => value,
            };
            format!("{}\n", escaped(rest))
        }
        (Shell::Zsh, Some(help)) => format!("{}:{help}\n", colons(value)),
        (Shell::Zsh, None) => format!("{}\n", colons(value)),
        (Shell::Fish, Some(help)) => format!("{value}\t{help}\n"),
        (Shell::Fish, None) => format!("{value}\n"),
    })
}

fn colons(value: &str) -> String {
    value.replace('\\', "\\\\").replace(':', "\\:")
}

/// A value as it can be typed.
fn escaped(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:@%+,~".contains(c);
    value.chars().fold(String::new(), |mut text, c| {
        if !plain(c) {
            text.push('\\');
        }
        text.push(c);
        text
    })
}

/// The command with candidates for everything that the project has names for: what a value is called
/// in the help says what it is.
fn with_values(command: Command, app: &App) -> Command {
    let command = command.mut_args(|arg| with_value(arg, app));
    command.mut_subcommands(|below| with_values(below, app))
}

fn with_value(arg: Arg, app: &App) -> Arg {
    let Some(name) = arg.get_value_names().and_then(<[_]>::first).map(ToString::to_string) else {
        return arg;
    };
    let app = app.clone();
    match name.as_str() {
        "AGENT" => arg.add(ArgValueCandidates::new(move || agents(&app))),
        "TASK" => arg.add(ArgValueCandidates::new(move || tasks(&app))),
        "AGENT|TASK" => {
            let both = move || agents(&app).into_iter().chain(tasks(&app)).collect();
            arg.add(ArgValueCandidates::new(both))
        }
        "ROLE" => arg.add(ArgValueCandidates::new(move || role_names(&app))),
        "TOOLSET" => {
            let all = || engine::toolsets::TOOLSETS.map(CompletionCandidate::new).into();
            arg.add(ArgValueCandidates::new(all))
        }
        _ => arg,
    }
}

/// A name that can stand in a command line as it is, and what it is.
fn candidate(name: &str, help: &str) -> Option<CompletionCandidate> {
    let harmless = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let help = Some(line(help).into());
    (!name.is_empty() && name.chars().all(harmless))
        .then(|| CompletionCandidate::new(name).help(help))
}

/// The agents, those that live first.
fn agents(app: &App) -> Vec<CompletionCandidate> {
    let last = CompletionCandidate::new("last").help(Some("the newest agent".into()));
    let mut found = vec![last];
    let answer = ask::<AgentList>(app, "/api/agents?all=true");
    let mut rows = answer.map(|answer| answer.into_value().agents).unwrap_or_default();
    rows.reverse();
    rows.sort_by_key(|agent| agent.finished_at.is_some());
    for agent in &rows {
        let help = format!("{}, {}, {}", agent.role, agent.state, render::shown(&agent.task_slug));
        found.extend(candidate(&agent.id.to_string(), &help));
    }
    found
}

/// The tasks, by their slugs.
fn tasks(app: &App) -> Vec<CompletionCandidate> {
    let board = ask::<Board>(app, "/api/board?limit=100");
    let columns = board.map(|board| board.into_value().columns).unwrap_or_default();
    let tasks = columns.iter().flat_map(|column| &column.tasks);
    tasks.filter_map(|task| candidate(&task.slug, &task.title)).collect()
}

/// The roles. They are files: no server is needed.
fn role_names(app: &App) -> Vec<CompletionCandidate> {
    let Ok(home) = app.home() else { return Vec::new() };
    let policy = app.config(&home, &[]).ok().and_then(|config| config.policy().ok());
    let report = roles::load(&home, &policy.unwrap_or_default());
    let named = report.roles.values();
    named
        .filter_map(|role| candidate(&role.name, role.description.as_deref().unwrap_or("")))
        .collect()
}

/// Answer of the server, if it is up and quick.
fn ask<T: DeserializeOwned>(app: &App, path: &str) -> Option<Answer<T>> {
    let client = connect::locate(&app.place(&[]).ok()?).ok()??;
    let runtime = runtime::one_thread().ok()?;
    runtime.block_on(async { timeout(ANSWER_TIMEOUT, client.get(path)).await.ok()?.ok() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[&str]) -> Vec<OsString> {
        text.iter().map(OsString::from).collect()
    }

    #[test]
    fn what_bash_cut_at_a_sign_is_one_word_again() {
        let typed = words(&["adjutant", "mcp", "--client", "=", "cl"]);
        assert_eq!(rejoined(&typed, 4), (words(&["adjutant", "mcp", "--client=cl"]), 2));
        assert_eq!(rejoined(&typed, 3), (words(&["adjutant", "mcp", "--client=cl"]), 2));
        let plain = words(&["adjutant", "tool", "="]);
        assert_eq!(rejoined(&plain, 2), (plain, 2));
    }

    #[test]
    fn each_shell_gets_a_candidate_in_its_own_form() {
        let one = CompletionCandidate::new("a b:c").help(Some("what\nit is".into()));
        assert_eq!(shown(Shell::Bash, &one, "").unwrap(), "a\\ b:c\n");
        assert_eq!(shown(Shell::Zsh, &one, "").unwrap(), "a b\\:c:what it is\n");
        assert_eq!(shown(Shell::Fish, &one, "").unwrap(), "a b:c\twhat it is\n");
        let flag = CompletionCandidate::new("--client=claude");
        assert_eq!(shown(Shell::Bash, &flag, "--client=c").unwrap(), "claude\n");
    }

    #[test]
    fn the_home_that_is_named_counts() {
        assert_eq!(named_home(&words(&["a", "--home", "x", "ps"])), Some("x".into()));
        assert_eq!(named_home(&words(&["a", "--home=y"])), Some("y".into()));
        assert_eq!(named_home(&words(&["a", "ps"])), None);
    }

    #[test]
    fn names_that_a_shell_would_read_otherwise_are_left_out() {
        assert!(candidate("fix-the.parser_2", "").is_some());
        for odd in ["", "a b", "$(x)", "a;b", "`x`"] {
            assert!(candidate(odd, "").is_none(), "{odd}");
        }
    }
}
