//! From the record to a process: what an agent is told, with what, and where. Blocks for as long as it
//! takes to read and write a few files.

use std::path::{Path, PathBuf};

use host::agent::{Brief, Conversation, Kind, MCP_CONFIG, McpServer, Plan};
use host::files::{self, FileError, Mode};
use host::run::{Handover, RunFolder, Spec, Variables};
use model::Timestamp;
use store::{Agent, Recipient, Run};

use super::environment::{self, StartGrant};
use super::options::{Confinement, RunOptions};
use crate::call::cx::{Caller, task_of};
use crate::call::toolsets::TOOLSETS;
use crate::core::error::ToolError;
use crate::core::handed_on::{set_variable, variable};
use crate::core::handle::Core;
use crate::core::machine::{directory_of, folder_of};
use crate::core::rights::OwnTools;
use crate::core::settings::{Role, Runner, Sandbox, Settings};
use crate::core::virtual_env::SetUp;
use crate::crew::context::{self, MailTools, PromptParts};
use crate::crew::mcp_servers::{ChosenServers, McpChooser};
use crate::crew::service::Crew;

/// No call of ours waits longer than 240 s; a client that notices a lost server late loses only this.
const CALL_TIMEOUT_MS: u64 = 300_000;
/// Prompt for an agent that continues after a usage limit.
const GO_ON: &str = "Your work was interrupted because the model's usage limit was reached. \
    The limit is over. Go on where you stopped.";

/// An agent that is ready to be started.
#[derive(Debug)]
pub(crate) struct Launch {
    /// Its folder
    pub(crate) folder: RunFolder,
    /// The talk with it
    pub(crate) talk: Box<dyn Conversation>,
    /// Options it was started with
    pub(crate) options: RunOptions,
    /// Where it works
    pub(crate) directory: PathBuf,
    /// Secrets for its supervisor, never written to disk
    pub(crate) handover: Handover,
    /// What it does not get of what it was to be given, and why
    pub(crate) warnings: Vec<String>,
}

/// Why an agent could not be started. It is the reason of its end, so it says what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    #[error("{0}")]
    Unfit(String),
    #[error("its files could not be written")]
    File(#[from] FileError),
    #[error("the record could not be read: {}", .0.message)]
    Record(ToolError),
}

impl LaunchError {
    /// Why its place could not be made ready.
    pub(crate) fn of(error: ToolError) -> Self {
        let mut message = error.message;
        for hint in error.suggestions {
            message = format!("{message}; {hint}");
        }
        Self::Unfit(message)
    }
}

impl From<ToolError> for LaunchError {
    fn from(error: ToolError) -> Self {
        Self::Record(error)
    }
}

/// Where an agent works, once it is sure to be a folder. Nobody is led out by a link: neither out of the project by an
/// agent that named a folder of it, nor out of a worktree by what is committed there.
fn work_directory(
    engine: &Crew,
    agent: &Agent,
    options: &RunOptions,
) -> Result<PathBuf, LaunchError> {
    let directory = directory_of(engine, agent);
    let unfit = |why: &str| {
        let place = directory.display();
        LaunchError::Unfit(format!("`{place}`, where it should work, cannot be used: {why}"))
    };
    let project = engine.options.project.as_path();
    let worktree = engine.store.read(|tx| Ok::<_, ToolError>(tx.worktree_of(agent.id)?))?;
    let inside = match &worktree {
        Some(worktree) if directory.starts_with(&worktree.path) => {
            host::inside::folder(&[Path::new(&worktree.path), project], &directory)
        }
        _ if options.confinement == Confinement::Project => {
            host::inside::folder(&[project, &engine.worktrees()], &directory)
        }
        _ if directory.is_dir() => return Ok(directory),
        _ => return Err(unfit("it is not a folder")),
    };
    inside.map(|_| directory.clone()).map_err(|error| unfit(&error.to_string()))
}

/// Makes everything ready.
pub(crate) fn launch(
    engine: &Crew,
    agent: &Agent,
    run: &Run,
    grant: &StartGrant,
    now: Timestamp,
) -> Result<Launch, LaunchError> {
    let settings = engine.settings();
    let role = settings.role_of(&agent.role);
    if role.is_none() && !crate::core::settings::is_bare(&agent.role, &agent.kind) {
        // Without its role it would run without its sandbox and with tools that the role denies.
        return Err(LaunchError::Unfit(format!(
            "its role `{}` cannot be read; mend the role's file, run `adjutant reload` and draft it again",
            agent.role
        )));
    }
    let kind = host::agent::kind(&agent.kind)
        .ok_or_else(|| LaunchError::Unfit(format!("there is no kind `{}`", agent.kind)))?;
    let options = RunOptions::of(run).map_err(LaunchError::of)?;
    let directory = work_directory(engine, agent, &options)?;
    let folder = folder_of(engine, agent);
    let brief = brief(
        engine,
        &settings,
        Parts {
            inherited: &grant.inherited,
            unknown_servers: UnknownServers::Refuse,
            agent,
            run,
            options: &options,
            role,
            kind,
        },
    )?;
    let plan = kind.plan(&brief).map_err(|error| LaunchError::Unfit(error.problem))?;
    let spec = spec(
        engine,
        &settings,
        &brief,
        plan.clone(),
        Bounds { agent, run, options: &options, grant, now },
    )?;
    let folder = RunFolder::create(folder.path(), &spec)?;
    let write = |name: &str, text: &str| {
        files::write_quickly(&folder.path().join(name), text, Mode::Private)
    };
    if plan.files.iter().all(|(name, _)| name != MCP_CONFIG) {
        write(MCP_CONFIG, &host::agent::mcp_config(&brief.servers, &[], brief.call_timeout_ms))?;
    }
    for (name, text) in &plan.files {
        write(name, text)?;
    }
    let talk = kind.conversation(&brief);
    let handover = Handover {
        control_key: Some(environment::control_key(engine, &folder)),
        ..Handover::new(&spec.environment)
    };
    let warnings = plan.warnings.into_iter().chain(grant.warnings.clone()).collect();
    Ok(Launch { folder, talk, options, directory, handover, warnings })
}

/// The conversation of an agent that was started, had the server time to note it down.
pub(crate) fn conversation(
    engine: &Crew,
    agent: &Agent,
    run: &Run,
    options: &RunOptions,
    kind: &'static dyn Kind,
) -> Result<Box<dyn Conversation>, LaunchError> {
    let settings = engine.settings();
    let role = settings.role_of(&agent.role);
    let parts = Parts {
        inherited: &Variables::default(),
        unknown_servers: UnknownServers::Ignore,
        agent,
        run,
        options,
        role,
        kind,
    };
    let brief = brief(engine, &settings, parts)?;
    Ok(kind.conversation(&brief))
}

/// What becomes of an agent whose role names an MCP server that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnknownServers {
    /// It is not started
    Refuse,
    /// It was started before: it is followed to its end
    Ignore,
}

/// Inputs of a brief.
#[derive(Clone, Copy)]
struct Parts<'a> {
    /// Variables that were handed on to it
    inherited: &'a Variables,
    unknown_servers: UnknownServers,
    agent: &'a Agent,
    run: &'a Run,
    options: &'a RunOptions,
    role: Option<&'a Role>,
    kind: &'static dyn Kind,
}

fn brief(engine: &Crew, settings: &Settings, parts: Parts<'_>) -> Result<Brief, LaunchError> {
    let Parts { inherited, unknown_servers, agent, run, options, role, kind } = parts;
    let run = &engine.store.read(|tx| Ok::<_, ToolError>(tx.run_exact(agent.id, run.clone())?))?;
    let runner = settings.runners.get(kind.name()).cloned().unwrap_or_default();
    let caller = Caller { agent: Some(agent.clone()), by_operator: false };
    let servers = servers(engine, settings, &caller);
    let supports = kind.supports();
    let system = role.map(|role| role.prompt.trim()).filter(|prompt| !prompt.is_empty());
    let prompt = match (&run.conversation, &run.next_prompt) {
        // The conversation knows the rest already.
        (Some(_), Some(next)) => next.clone(),
        (Some(_), None) if run.ran_ms > 0 => GO_ON.to_owned(),
        (Some(_), None) => run.prompt.clone(),
        (None, _) => prompt(engine, settings, agent, run, options, system, kind)?,
    };
    let OwnTools { allowed: tools, denied, others: asks } =
        settings.own_tools_of(agent, options.tools.as_deref());
    let mut command = Vec::new();
    if let (Some(role), Some(key)) = (role, kind.role_key()) {
        command = role.program_of(kind).to_vec();
        if let Some(path) = command.first_mut().filter(|_| key.is_path) {
            *path = engine.options.project.join(&*path).display().to_string();
        }
    }
    let directory = directory_of(engine, agent);
    let variables = variables(engine, &runner, inherited);
    let lookup = |name: &str| {
        let found = variables.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    // A role that gives more servers than before does so for new agents.
    let bounded = role.map(|role| Role {
        mcp: settings.mcp_of(agent),
        disallowed_tools: denied.clone(),
        ..role.clone()
    });
    let chooser = McpChooser {
        settings,
        kind,
        role: bounded.as_ref(),
        tools: tools.as_deref(),
        directory: &directory,
        adjutant: &engine.options.adjutant,
        variable: &lookup,
    };
    let chosen = match (chooser.choose(), unknown_servers) {
        (Ok(chosen), _) => chosen,
        (Err(why), UnknownServers::Refuse) => return Err(LaunchError::Unfit(why)),
        (Err(_), UnknownServers::Ignore) => ChosenServers::default(),
    };
    Ok(Brief {
        agent: agent.id.to_string(),
        prompt,
        system_prompt: system.filter(|_| supports.system_prompt).map(str::to_owned),
        model: options.model.clone(),
        tools,
        disallowed_tools: denied,
        asks,
        servers,
        user_servers: chosen.given,
        own_servers: chosen.own,
        disabled_servers: chosen.disabled,
        variables,
        call_timeout_ms: CALL_TIMEOUT_MS,
        stream_timeout_ms: settings.stream_timeout_ms,
        schema: options.schema.clone(),
        resume: run.conversation.clone(),
        directory,
        run_folder: folder_of(engine, agent).path().to_owned(),
        runner: runner.launch,
        command,
        own_sandbox: None,
        adjutant: engine.options.adjutant.clone(),
    })
}

/// The variables that an agent gets beside those of its run.
fn variables(engine: &Crew, runner: &Runner, inherited: &Variables) -> Variables {
    let mut environment = engine.options.agent_environment.clone();
    for (name, value) in runner.environment.iter().chain(&inherited.0) {
        set_variable(&mut environment, name, value);
    }
    Variables(environment)
}

/// One MCP server for each toolset that has a tool for the agent.
fn servers(engine: &Crew, settings: &Settings, caller: &Caller) -> Vec<McpServer> {
    let tools = engine.tools_of(settings);
    TOOLSETS
        .iter()
        .filter(|set| is_mounted(caller, set))
        .filter(|set| {
            tools.iter().any(|tool| tool.toolset() == **set && caller.is_offered(settings, tool))
        })
        .map(|set| McpServer {
            name: (*set).to_owned(),
            url: format!("{}/mcp/{set}", engine.options.url),
        })
        .collect()
}

/// Returns whether an agent is given the MCP server of a toolset, should it have a tool there. One vocabulary for tasks is
/// enough: `session` in a loop, `task` elsewhere.
fn is_mounted(caller: &Caller, toolset: &str) -> bool {
    let in_loop = caller.agent.as_ref().is_some_and(|agent| agent.session.is_some());
    toolset != if in_loop { "task" } else { "session" }
}

/// The whole prompt: context first, the task last.
fn prompt(
    engine: &Crew,
    settings: &Settings,
    agent: &Agent,
    run: &Run,
    options: &RunOptions,
    system: Option<&str>,
    kind: &dyn Kind,
) -> Result<String, ToolError> {
    let supports = kind.supports();
    let caller = Caller { agent: Some(agent.clone()), by_operator: false };
    let project = if options.bare {
        String::new()
    } else {
        context::project_context(&engine.options.project, &settings.context, supports.reads)
    };
    let tools: Vec<&str> = engine
        .tools_of(settings)
        .into_iter()
        .filter(|tool| is_mounted(&caller, tool.toolset()) && caller.is_offered(settings, tool))
        .map(|tool| tool.name)
        .collect();
    let mail_tools = if tools.iter().any(|tool| tool.starts_with("mcp__mail__")) {
        MailTools::Offered
    } else {
        MailTools::Missing
    };
    let (history, mail) = engine.store.read(|tx| {
        let task = task_of(tx, agent.task)?.map(|task| tx.task_exact(task)).transpose()?;
        let history = task.map(|task| context::task_context(tx, &task)).transpose()?;
        let mail = context::unread_mail(tx, Recipient::Agent(agent.id), mail_tools)?;
        Ok::<_, ToolError>((history, mail))
    })?;
    let asked = match &run.next_prompt {
        Some(next) => format!("{}\n\n{next}", run.prompt.trim_end()),
        None => run.prompt.clone(),
    };
    Ok(context::compose(&PromptParts {
        role: system.unwrap_or_default(),
        has_system_prompt: supports.system_prompt,
        include_context: !options.bare,
        project: &project,
        task: history.as_deref().unwrap_or_default(),
        mail: &mail,
        tools: &tools,
        schema: options.schema.as_ref(),
        prompt: &asked,
    }))
}

/// Limits of a process.
#[derive(Clone, Copy)]
struct Bounds<'a> {
    agent: &'a Agent,
    run: &'a Run,
    options: &'a RunOptions,
    grant: &'a StartGrant,
    now: Timestamp,
}

fn spec(
    engine: &Crew,
    settings: &Settings,
    brief: &Brief,
    plan: Plan,
    bounds: Bounds<'_>,
) -> Result<Spec, LaunchError> {
    let Variables(mut environment) = brief.variables.clone();
    for (name, value) in &plan.environment {
        set_variable(&mut environment, name, value);
    }
    let task = engine
        .store
        .read(|tx| Ok::<_, ToolError>(task_of(tx, bounds.agent.task)?.map(|task| task.slug)))?;
    let mcp = brief.run_folder.join(MCP_CONFIG);
    for (name, value) in [
        ("ADJUTANT_URL", engine.options.url.clone()),
        ("ADJUTANT_TOKEN", bounds.grant.token.clone()),
        ("ADJUTANT_AGENT_ID", brief.agent.clone()),
        ("ADJUTANT_ATTEMPT", bounds.agent.attempt.to_string()),
        ("ADJUTANT_TASK", task.unwrap_or_default()),
        ("ADJUTANT_HOME", engine.options.home.display().to_string()),
        ("ADJUTANT_MCP_CONFIG", mcp.display().to_string()),
    ] {
        set_variable(&mut environment, name, &value);
    }
    if let Some((name, value)) = engine.port_variable(&brief.directory) {
        set_variable(&mut environment, &name, &value);
    }
    let path = variable(&environment, "PATH").unwrap_or_default().to_owned();
    engine.enter_virtual_env(&mut environment, &brief.directory, SetUp::None);
    let find = |name: &str| host::program::find(name, &path, &brief.directory);
    // A command that the role names is one of the project's. Every other program is the one that the person has, whatever
    // is in the worktree.
    let is_projects = brief.command.first() == Some(&plan.program);
    let own_path = variable(&environment, "PATH").filter(|_| is_projects);
    let own = own_path.and_then(|path| host::program::find(&plan.program, path, &brief.directory));
    let program = own.or_else(|| find(&plan.program)).ok_or_else(|| {
        LaunchError::Unfit(format!("`{}` is not there; {}", plan.program, plan.install))
    })?;
    let mut arguments = plan.arguments;
    let mut launched = program;
    if settings.sandbox_of(bounds.agent) == Sandbox::Bwrap {
        let wrapper = find("bwrap").ok_or_else(|| {
            LaunchError::Unfit("`bwrap` is not there; install the package `bubblewrap`".into())
        })?;
        arguments = sandboxed(engine, &launched, arguments);
        launched = wrapper;
    }
    Ok(Spec {
        program: launched,
        arguments,
        environment,
        directory: brief.directory.clone(),
        stdin: plan.stdin,
        time_limit_ms: time_limit(&bounds),
        grace_ms: settings.limits.grace_ms,
        max_output_bytes: settings.limits.max_output_bytes,
        lease: None,
    })
}

/// The arguments with which bubblewrap runs a program: it sees everything but the operator's secrets.
pub(crate) fn sandboxed(engine: &Core, program: &Path, arguments: Vec<String>) -> Vec<String> {
    let secrets = engine.options.secrets.display().to_string();
    let wrapped = ["--dev-bind", "/", "/", "--tmpfs", &secrets, "--unshare-pid", "--proc", "/proc"];
    let mut all: Vec<String> = wrapped.map(str::to_owned).into();
    let worktrees = engine.worktrees();
    if worktrees.starts_with(&engine.options.secrets) {
        // The user's folders for data and state may be one, and agents work in one of them.
        let worktrees = worktrees.display().to_string();
        all.extend(["--bind-try".to_owned(), worktrees.clone(), worktrees]);
    }
    all.extend(["--die-with-parent".into(), "--".into(), program.display().to_string()]);
    all.extend(arguments);
    all
}

/// Time limit: its own, and the rest until its deadline.
fn time_limit(bounds: &Bounds<'_>) -> Option<u64> {
    let given = bounds.options.timeout.map(|seconds| i64::from(seconds).saturating_mul(1000));
    let left = bounds.run.deadline_at.map(|deadline| deadline.millis_since(bounds.now).max(1));
    given.into_iter().chain(left).min().and_then(|millis| u64::try_from(millis).ok())
}

#[cfg(test)]
mod path_tests;
#[cfg(test)]
mod tests;
