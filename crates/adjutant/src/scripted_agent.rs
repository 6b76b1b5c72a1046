//! `adjutant play`: the scripted agent. A scenario takes the place of a model, and nothing else is
//! different: a process of its own, its own token, real calls over MCP, lines on stdout.

mod file;
mod matching;
mod mcp;
mod output;
mod player;
mod scenario;
mod template;
mod work;

use std::cell::{Cell, RefCell};
use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use host::files;
use model::nearest::nearest;
use serde_json::{Map, Value};

use crate::app::App;
use crate::cli_error::CliError;
use crate::client::{Client, ClientError, Secrecy, check_secrecy};
use crate::environment::Environment;
use mcp::Mcp;
use output::ResultLine;
use player::{Player, Stop};
use scenario::{File, Scenario};
use template::Scope;
use work::Folder;

/// A longer prompt is a mistake.
const MAX_INPUT_BYTES: u64 = 64 * 1024 * 1024;
/// The line after which the prompt itself comes; what is before it is context.
const TASK: &str = "# Your Task";

/// Plays a scenario as the agent that the environment says we are.
pub(crate) async fn run(app: &App, path: &Path) -> Result<(), CliError> {
    let played = match play(app, path).await {
        Ok(played) => played,
        Err(cli_error) => {
            // It must be in the output too, for readers of the output alone.
            drop(output::json(&ResultLine::bare("failed", cli_error.message())));
            return Err(cli_error);
        }
    };
    match played {
        Ok(result) => Ok(output::json(&result)?),
        Err(Stop::Exit(0)) => Ok(()),
        Err(Stop::Exit(code)) => Err(CliError::reported(code)),
        Err(Stop::Failed(why)) => {
            // Where even this cannot be written the exit code still tells.
            drop(output::json(&ResultLine::bare("failed", why)));
            Err(CliError::reported(1))
        }
    }
}

/// Plays it to its end; what keeps it from beginning is an error.
async fn play(app: &App, path: &Path) -> Result<Result<ResultLine, Stop>, CliError> {
    let text = files::read(&app.env.cwd.join(path))?
        .ok_or_else(|| CliError::usage(format!("there is no file `{}`", path.display())))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file = file::read(&name, &text)?;
    let input = input()?;
    let prompt = prompt_of(&input);
    let scenario = chosen(&file, &name, prompt)?;
    let attempt = app.env.attempt.unwrap_or(1);
    let player = Player {
        name: name.into_owned(),
        folder: Folder::new(&app.env),
        mcp: mcp(&app.env, attempt)?,
        patience: file.patience,
        uses: Cell::new(0),
        result: RefCell::new(None),
    };
    let mut scope = scope(&app.env, attempt, prompt, &input);
    let played = player.play(scenario.steps_of(attempt), &mut scope).await;
    Ok(played.map(|()| player.good_end()))
}

/// Reads stdin, unless it is a terminal.
fn input() -> Result<String, CliError> {
    let stdin = std::io::stdin();
    let mut bytes = Vec::new();
    if !stdin.is_terminal() {
        stdin.lock().take(MAX_INPUT_BYTES).read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The prompt itself, without the context that comes before it.
fn prompt_of(input: &str) -> &str {
    let mut begins = 0;
    let (mut at, mut ruled) = (0, false);
    for line in input.split_inclusive('\n') {
        at += line.len();
        match line.trim_end() {
            // Text that was quoted from elsewhere may have the words, but not as a part of its own.
            TASK if ruled => begins = at,
            "" => {}
            other => ruled = other == "---",
        }
    }
    input.get(begins..).unwrap_or_default().trim()
}

/// The words of a prompt's first line: the first may name a scenario.
fn words(prompt: &str) -> impl Iterator<Item = &str> {
    prompt.lines().next().unwrap_or_default().split_whitespace()
}

/// The scenario that the prompt names, else the one without a name.
fn chosen<'a>(file: &'a File, name: &str, prompt: &str) -> Result<&'a Scenario, CliError> {
    let first = words(prompt).next().unwrap_or_default();
    if let Some(scenario) = file.named.get(first) {
        return Ok(scenario);
    }
    file.main.as_ref().ok_or_else(|| {
        let known: Vec<&str> = file.named.keys().map(String::as_str).collect();
        let cli_error = CliError::usage(format!("`{name}` has no scenario `{first}`"));
        cli_error.hint(match nearest(first, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("begin the prompt with one of: {}", known.join(", ")),
        })
    })
}

/// The agent's own client, where the environment names a server.
fn mcp(env: &Environment, attempt: u32) -> Result<Option<Mcp>, CliError> {
    let (Some(url), Some(token)) = (&env.url, &env.token) else { return Ok(None) };
    let secrecy = if env.is_insecure() { Secrecy::Waived } else { Secrecy::Required };
    check_secrecy(url, secrecy).map_err(ClientError::from)?;
    let client = Client::new(url, Some(token))?;
    Ok(Some(Mcp::new(client, env.agent_id.as_deref().unwrap_or("nobody"), attempt)))
}

/// Initial variables of templates.
fn scope(env: &Environment, attempt: u32, prompt: &str, input: &str) -> Scope {
    let mut scope = Scope::default();
    scope.set("attempt", attempt);
    scope.set("prompt", prompt);
    scope.set("input", input);
    scope.set("args", words(prompt).map(Value::from).collect::<Vec<_>>());
    for (name, value) in [("task", &env.task), ("agent", &env.agent_id)] {
        if let Some(value) = value {
            scope.set(name, value.as_str());
        }
    }
    let ours = env.vars.iter().filter_map(|(name, value)| {
        let name = name.to_str().filter(|name| name.starts_with("ADJUTANT_"))?;
        Some((name.to_owned(), value.to_string_lossy().into()))
    });
    scope.set("env", ours.collect::<Map<String, Value>>());
    scope
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_comes_after_the_context() {
        for (input, prompt) in [
            ("  burn 3\nand more\n", "burn 3\nand more"),
            ("role\n\n---\n\n# Your Task\n\nburn 3\n", "burn 3"),
            ("---\n# Your Task\nold\n---\n\n# Your Task\nnew", "new"),
            ("# Your Task\nno rule before it", "# Your Task\nno rule before it"),
            ("---\nwords\n# Your Task\nx", "---\nwords\n# Your Task\nx"),
            ("", ""),
        ] {
            assert_eq!(prompt_of(input), prompt, "{input:?}");
        }
        assert_eq!(words("burn  3 x\nmore").collect::<Vec<_>>(), ["burn", "3", "x"]);
        assert_eq!(words("").count(), 0);
    }

    #[test]
    fn the_first_word_chooses() {
        let text = "steps: []\nscenarios:\n  burn: {steps: [{say: a}]}\n  rest: {steps: []}\n";
        let mut file = file::read("s.yaml", text).unwrap();
        let many = |file: &File, prompt: &str| {
            chosen(file, "s.yaml", prompt).map(|scenario| scenario.steps_of(1).len())
        };
        assert_eq!(many(&file, "burn 3").unwrap(), 1);
        assert_eq!(many(&file, "anything").unwrap(), 0);
        file.main = None;
        let cli_error = many(&file, "brun").unwrap_err();
        assert_eq!(cli_error.message(), "`s.yaml` has no scenario `brun`");
        assert_eq!(cli_error.hints(), ["did you mean `burn`?"]);
        assert_eq!(
            many(&file, "").unwrap_err().hints(),
            ["begin the prompt with one of: burn, rest"]
        );
    }
}
