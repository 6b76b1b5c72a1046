//! From arguments to an exit code: parses, chooses a runtime, runs the command, prints the error.

use std::ffi::OsString;
use std::panic::{UnwindSafe, catch_unwind};
#[cfg(debug_assertions)]
use std::path::PathBuf;
use std::process::ExitCode;

use clap::FromArgMatches as _;
use engine::Code;
#[cfg(debug_assertions)]
use host::files;

use crate::app::App;
use crate::cli::{self, Cli, Command, DatabaseArgs, HomeArgs, HomeVerb, McpArgs};
use crate::cli_error::CliError;
use crate::commands::setup::complete;
use crate::environment::Environment;
#[cfg(debug_assertions)]
use crate::environment::NEXT_MIGRATIONS;
use crate::runtime::one_thread;
use crate::terminal::render::Render;
use crate::terminal::usage::refused;
use crate::{commands, demo, logging, scripted_agent};

/// Exits as after any other bug where something panics; the panic was printed on stderr.
pub(crate) fn guarded(run: impl FnOnce() -> ExitCode + UnwindSafe) -> ExitCode {
    catch_unwind(run).unwrap_or_else(|_| Code::InternalError.exit().into())
}

/// Runs the program.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    // A shell wants to know what could be typed: whatever happens, it hears that and nothing else.
    if let [_, word, rest @ ..] = arguments.as_slice()
        && word == complete::WORD
    {
        complete::answer(rest);
        return ExitCode::SUCCESS;
    }
    // Also where the arguments cannot be parsed.
    let wants_json = arguments.iter().any(|argument| argument == "--json");
    let render = if wants_json { Render::Json } else { Render::Text };
    let done = match cli::command_for(&arguments)
        .try_get_matches_from(arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches))
    {
        Ok(cli) => Environment::read().map_err(CliError::from).and_then(|env| {
            let state = cli.state.or_else(|| env.state.clone());
            let app = App::new(Environment { state, ..env }, cli.global);
            perform(&app, cli.command)
        }),
        Err(error) => refused(&error, render),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(cli_error) => {
            // Where even stderr is closed the exit code still tells.
            drop(render.print_error(&cli_error));
            cli_error.exit()
        }
    }
}

/// Makes this process the next program, with a schema of its own, where a test of an upgrade asks for it.
#[cfg(debug_assertions)]
fn rehearse(env: &Environment) -> Result<(), CliError> {
    let Some(folder) = env.variable(NEXT_MIGRATIONS).map(PathBuf::from) else { return Ok(()) };
    let read = |name: OsString| files::read(&folder.join(name)).map(Option::unwrap_or_default);
    let migrations = files::list(&folder)?.into_iter().map(read).collect::<Result<_, _>>()?;
    engine::rehearse_migrations(migrations);
    Ok(())
}

fn perform(app: &App, command: Command) -> Result<(), CliError> {
    #[cfg(debug_assertions)]
    rehearse(&app.env)?;
    // Nothing may write to a screen that is drawn on.
    let is_serving = matches!(&command, Command::Serve(args) if args.verb.is_none());
    if !is_serving && !matches!(command, Command::Up(_) | Command::Top) {
        logging::for_command(app.global.verbose);
    }
    if let Some(what) = local_command(&command) {
        app.refuse_elsewhere(what)?;
    }
    match command {
        Command::Init => commands::setup::init::run(app),
        Command::Token => commands::server_process::server::token(app),
        Command::Doctor(args) => commands::setup::doctor::run(app, &args),
        Command::Config(args) => commands::setup::config::run(app, args.verb),
        Command::Completions(args) => commands::setup::completions::run(args.shell),
        Command::Home(args) => commands::homes::run(app, args.verb),
        Command::Serve(args) => commands::homes::serve::run(app, &args),
        Command::Restore(args) => commands::upkeep::restore::run(app, &args),
        Command::Up(args) => commands::server_process::server::up(app, &args),
        Command::Demo(args) => one_thread()?.block_on(demo::run(app, &args)),
        Command::Play(args) => one_thread()?.block_on(scripted_agent::run(app, &args.scenario)),
        Command::Mcp(McpArgs { verb: Some(verb), .. }) => {
            commands::call::mcp::configure(app, &verb)
        }
        // The read of the standard input cannot be given up, so nothing may wait for it.
        Command::Mcp(args) => {
            let runtime = one_thread()?;
            let done = runtime.block_on(commands::call::mcp::run(app, args.serve));
            runtime.shutdown_background();
            done
        }
        Command::Attach(args) => {
            let runtime = one_thread()?;
            let done = runtime.block_on(commands::crew::attach::run(app, &args));
            runtime.shutdown_background();
            done
        }
        Command::Top => {
            let runtime = one_thread()?;
            let done = runtime.block_on(commands::top::run(app));
            runtime.shutdown_background();
            done
        }
        other => one_thread()?.block_on(ask(app, other)),
    }
}

/// The name of a command that works on files or processes of the server's machine, or with its PostgreSQL.
const fn local_command(command: &Command) -> Option<&'static str> {
    Some(match command {
        Command::Up(_) => "`adjutant up`",
        Command::Down(_) => "`adjutant down`",
        Command::Token => "`adjutant token`",
        Command::Doctor(_) => "`adjutant doctor`",
        Command::Config(_) => "`adjutant config`",
        Command::Attach(_) => "`adjutant attach`",
        Command::Backup(_) => "`adjutant backup`",
        Command::Restore(_) => "`adjutant restore`",
        Command::Home(HomeArgs { verb }) => match verb {
            HomeVerb::Create { .. } => "`adjutant home create`",
            HomeVerb::Import { .. } => "`adjutant home import`",
            HomeVerb::Export { .. } => "`adjutant home export`",
            HomeVerb::List { database: DatabaseArgs { database: None } } => "`adjutant home list`",
            HomeVerb::Check => "`adjutant home check`",
            // The home's files go between its server and the project here.
            HomeVerb::Push | HomeVerb::Pull | HomeVerb::Diff | HomeVerb::List { .. } => {
                return None;
            }
        },
        _ => return None,
    })
}

/// The commands that ask the server for something.
async fn ask(app: &App, command: Command) -> Result<(), CliError> {
    match command {
        Command::Down(args) => commands::server_process::down::run(app, &args).await,
        Command::Status => commands::server_process::server::status(app).await,
        Command::Open(args) => commands::call::open::run(app, &args).await,
        Command::Run(args) => Box::pin(commands::crew::run::run(app, args)).await,
        Command::Draft(args) => commands::crew::run::draft(app, args).await,
        Command::Await(args) => Box::pin(commands::crew::run::wait(app, &args)).await,
        Command::Kill(args) => commands::crew::run::kill(app, &args).await,
        Command::Resume(args) => Box::pin(commands::crew::run::resume(app, args)).await,
        Command::Logs(args) => commands::crew::logs::run(app, &args).await,
        Command::Costs(args) => commands::crew::costs::run(app, &args).await,
        Command::Enlist(args) => commands::crew::enlist::run(app, args).await,
        Command::Discharge(args) => commands::crew::agents::discharge(app, args).await,
        Command::Ps(args) => commands::crew::agents::ps(app, &args).await,
        Command::Tasks(args) => commands::tasks::run(app, args).await,
        Command::Epic(args) => commands::epics::run(app, args.verb).await,
        Command::Loop(args) => Box::pin(commands::automation::loops::run(app, args)).await,
        Command::Plan(args) => Box::pin(commands::automation::plans::run(app, args)).await,
        Command::Supervisors(args) => commands::automation::office::run(app, args).await,
        Command::Mail(args) => commands::mail::run(app, args).await,
        Command::Reviews(args) => commands::delivery::reviews::list(app, &args).await,
        Command::Review(args) => commands::delivery::reviews::run(app, args.verb).await,
        Command::Worktrees(args) => commands::delivery::worktrees::run(app, args).await,
        Command::MergeQueue(args) => commands::delivery::merge_queue::run(app, args).await,
        Command::Events(args) => commands::call::events::run(app, args).await,
        Command::Decisions(args) => commands::call::decisions::run(app, args).await,
        Command::Audit(args) => commands::call::audit::run(app, args.verb).await,
        Command::Clean(args) => commands::upkeep::clean::run(app, args).await,
        Command::Backup(args) => commands::upkeep::backup::run(app, &args).await,
        Command::Tool(args) => commands::call::tool::run(app, args).await,
        Command::Webhooks(args) => commands::notify::webhooks::run(app, args).await,
        Command::Slack(args) => commands::notify::slack::run(app, args).await,
        Command::Reload => commands::server_process::reload::run(app).await,
        Command::Guard => commands::delivery::guard::run(app).await,
        Command::Init
        | Command::Up(_)
        | Command::Token
        | Command::Mcp(_)
        | Command::Attach(_)
        | Command::Top
        | Command::Doctor(_)
        | Command::Config(_)
        | Command::Completions(_)
        | Command::Home(_)
        | Command::Serve(_)
        | Command::Restore(_)
        | Command::Demo(_)
        | Command::Play(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_exits_with_70() {
        let shown = |exit: ExitCode| format!("{exit:?}");
        assert_eq!(shown(guarded(|| panic!("for a test"))), shown(70.into()));
        assert_eq!(shown(guarded(|| 3.into())), shown(3.into()));
    }
}
