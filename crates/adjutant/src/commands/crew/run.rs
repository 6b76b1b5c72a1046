//! `adjutant run`, `draft`, `resume`, `await` and `kill`: agents that Adjutant runs itself.

use std::time::Duration;

use engine::Code;
use futures_util::future::join_all;
use model::agent::AwaitStatus;
use model::review::ReviewRequired;
use model::task::TaskStateName;
use model::{AgentId, AgentStateName};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep};
use wire::agent_details::{AgentDetails, AgentTokens};
use wire::agents::{AgentResultView, AwaitedAgent, KilledAgent};
use wire::crew::{CrewQuestion, CrewRow, CrewRows};
use wire::runs::StartedRun;

use super::agents::elapsed;
use super::environment;
use super::logs;
use super::role;
use super::summary::Work;
use crate::app::{App, now};
use crate::cli::{AwaitArgs, BoundArgs, KillArgs, ResumeArgs, RunAndWaitArgs, RunArgs};
use crate::cli_error::CliError;
use crate::client::{Answer, Client};
use crate::commands::call::tool::text_or_stdin;
use crate::commands::progress::Progress;
use crate::commands::reconnect::Steady;
use crate::commands::server_process::reload::read_changes;
use crate::server_process::connect;
use crate::terminal::render::{
    Page, bad, bold, dim, dollars, good, is_terminal, line, name, odd, print_json, print_text,
    quoted, span, tokens,
};

/// Seconds that a request waits for an agent's end.
const WAIT_SECONDS: u64 = 60;
/// Pause after a request that was to wait and was answered at once: the server may be ending.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Exit code of an agent that did not succeed.
const NOT_SUCCEEDED: u8 = 1;
/// Exit code of a kill that found its agent ended.
const ALREADY_ENDED: u8 = 5;

/// Starts an agent and waits for its end.
pub(crate) async fn run(app: &App, args: RunAndWaitArgs) -> Result<(), CliError> {
    let RunAndWaitArgs { quiet, run: args } = args;
    let role = args.role.clone();
    let request = run_request(app, args)?;
    let steady = Steady::new(app).await?;
    read_changes(app, steady.client()).await?;
    let started = start(app, steady.client(), &request, role.as_deref()).await?;
    watch(app, steady, &started, if quiet { Watching::Quiet } else { Watching::Live }).await
}

/// Starts an agent.
pub(crate) async fn draft(app: &App, args: RunArgs) -> Result<(), CliError> {
    let role = args.role.clone();
    let request = run_request(app, args)?;
    let client = app.client().await?;
    read_changes(app, &client).await?;
    let started = start(app, &client, &request, role.as_deref()).await?;
    Ok(app.render.answer(&started, || started_text(&started))?)
}

/// Asks the server for an agent.
async fn start(
    app: &App,
    client: &Client,
    request: &Map<String, Value>,
    role: Option<&str>,
) -> Result<Answer<StartedRun>, CliError> {
    let request = environment::hand_on(app, client, request.clone()).await?;
    let started = client.post("/api/runs", &request).await;
    started.map_err(|error| role::explained(app, error.into(), role))
}

/// Resumes a conversation as a new agent.
pub(crate) async fn resume(app: &App, args: ResumeArgs) -> Result<(), CliError> {
    refuse_agents(app)?;
    let mut request = bounds(&args.bounds);
    request.insert("prompt".to_owned(), text_or_stdin(args.prompt)?.into());
    let mut steady = Steady::new(app).await?;
    let before = steady.agent(&args.agent).await?;
    request.insert("resume".to_owned(), before.to_string().into());
    read_changes(app, steady.client()).await?;
    let request = environment::hand_on(app, steady.client(), request).await?;
    let started = steady.client().post::<StartedRun>("/api/runs", &request).await?;
    if args.detach {
        return Ok(app.render.answer(&started, || started_text(&started))?);
    }
    watch(app, steady, &started, Watching::Live).await
}

/// Refuses callers that are agents: they start others with a tool, which records the parent.
fn refuse_agents(app: &App) -> Result<(), CliError> {
    if app.env.agent_id.is_none() {
        return Ok(());
    }
    Err(CliError::new(Code::PermissionDenied, "only the operator starts agents in this way")
        .hint("`adjutant tool draft_agent --role ROLE --prompt TEXT` starts one in your name"))
}

/// Body of the request for an agent.
fn run_request(app: &App, args: RunArgs) -> Result<Map<String, Value>, CliError> {
    refuse_agents(app)?;
    let mut request = bounds(&args.bounds);
    request.insert("prompt".to_owned(), text_or_stdin(args.prompt)?.into());
    let cwd = args.cwd.map(|cwd| absolute(app, &cwd)).transpose()?;
    let given = [("role", args.role), ("task", args.task), ("cwd", cwd), ("kind", args.kind)];
    for (name, value) in given {
        request.extend(value.map(|value| (name.to_owned(), value.into())));
    }
    if args.no_review {
        request.insert("review".to_owned(), json!(ReviewRequired::Never));
    }
    Ok(request)
}

/// Bounds of an agent, as fields of the request.
fn bounds(args: &BoundArgs) -> Map<String, Value> {
    let given = [
        ("model", args.model.clone().map(Value::from)),
        ("timeout", args.timeout.map(Value::from)),
        ("budget", args.budget.map(|usd| json!({ "usd": usd }))),
    ];
    given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Absolute path of a folder: the server has another working directory.
fn absolute(app: &App, cwd: &std::path::Path) -> Result<String, CliError> {
    let path = app.folder_of_server(cwd, "--cwd")?;
    if app.remote_server()?.is_some() {
        return Ok(path.display().to_string());
    }
    let path = path.canonicalize().map_err(|error| {
        CliError::usage(format!("`--cwd {}` cannot be used: {error}", cwd.display()))
    })?;
    Ok(path.display().to_string())
}

fn started_text(started: &StartedRun) -> String {
    let (agent, role, task) = (started.agent_id, line(&started.role), line(&started.task_slug));
    let note = note_text(started).map(|note| format!("\n{note}")).unwrap_or_default();
    format!(
        "{} is started as {role}, for the task {task}.{note}\nWait for it with {}",
        bold(agent),
        name(format!("adjutant await {agent}"))
    )
}

/// Warnings for the caller that started an agent.
fn note_text(started: &StartedRun) -> Option<String> {
    Some(odd(format!("{} {}", started.agent_id, line(started.note.as_ref()?))))
}

/// Outcome of a run, as `--json` prints it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RunOutcome<'a> {
    agent_id: AgentId,
    status: AwaitStatus,
    state: AgentStateName,
    result: &'a Option<AgentResultView>,
    cost_usd: Option<f64>,
    tokens: &'a AgentTokens,
    duration_ms: i64,
    task_state: Option<TaskStateName>,
    branch: Option<&'a str>,
}

/// What is told while an agent works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watching {
    /// At a terminal, what it says and does
    Live,
    /// Nothing
    Quiet,
}

/// Follows an agent that was just started to its end.
async fn watch(
    app: &App,
    mut steady: Steady<'_>,
    started: &StartedRun,
    watching: Watching,
) -> Result<(), CliError> {
    let (id, role, task) = (started.agent_id, line(&started.role), line(&started.task_slug));
    // Installed before the agent is announced, so that an early Ctrl-C is not lost.
    let mut interrupt = signal(SignalKind::interrupt())?;
    if watching == Watching::Live {
        app.render.aside(&dim(format!("{id} is started as {role}, for the task {task}")))?;
        if let Some(note) = note_text(started) {
            app.render.aside(&note)?;
        }
    }
    let mut details = tokio::select! {
        details = until_ended(app, &mut steady, id, watching) => details?,
        _ = interrupt.recv() => {
            return Err(CliError::interrupted(format!("stopped waiting; {id} keeps running"))
                .hint(format!("`adjutant logs -f {id}` shows what it does"))
                .hint(format!("`adjutant kill {id}` ends it")));
        }
    };
    // The note at its start has shown that.
    details.warnings.retain(|warning| started.note.as_ref() != Some(warning));
    let work = Work::of(&mut steady, started).await?;
    let outcome = RunOutcome {
        agent_id: details.agent.id,
        status: details.await_status,
        state: details.agent.state,
        result: &details.result,
        cost_usd: details.agent.cost_usd,
        tokens: &details.tokens,
        duration_ms: details.duration_ms,
        task_state: work.task_state(),
        branch: work.branch(),
    };
    app.render.answer(&outcome, || AgentOutcome::of(&details).text(Some(&work)))?;
    match details.agent.state {
        AgentStateName::Succeeded => Ok(()),
        _ => Err(CliError::reported(NOT_SUCCEEDED)),
    }
}

/// Waits for an agent's end. On a terminal its transcript is shown meanwhile.
async fn until_ended(
    app: &App,
    steady: &mut Steady<'_>,
    id: AgentId,
    watching: Watching,
) -> Result<AgentDetails, CliError> {
    let is_live = watching == Watching::Live;
    let progress = if is_live { Progress::waiting(app, &id.to_string()) } else { Progress::none() };
    let followed = async {
        if is_live && !app.render.is_json() && is_terminal() {
            logs::follow_briefly(steady, id, &progress).await?;
        }
        until_over(steady, id, None).await
    };
    with_progress(app, &progress, id, followed).await?;
    drop(progress);
    Ok(steady.fetch::<AgentDetails>(&format!("/api/agents/{id}")).await?.into_value())
}

/// Refresh interval of the progress line.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// Waits for something and shows meanwhile, on a terminal, what an agent does.
async fn with_progress<T>(
    app: &App,
    progress: &Progress,
    id: AgentId,
    work: impl Future<Output = T>,
) -> T {
    let refresh = async {
        let mut told = None;
        while progress.is_seen() {
            // A failed look is not reported: the work itself meets the same problem.
            if let Some(row) = row_of(app, id).await {
                progress.say(&row_text(&row));
                let question = row.asks.filter(|question| told != Some(question.mail_id));
                if let Some(question) = question {
                    told = Some(question.mail_id);
                    // A terminal that is gone is met by the work itself.
                    drop(progress.aside(|| app.render.aside(&question_text(&question))));
                }
            }
            sleep(REFRESH_INTERVAL).await;
        }
        std::future::pending().await
    };
    tokio::select! {
        biased;
        done = work => done,
        done = refresh => done,
    }
}

async fn row_of(app: &App, id: AgentId) -> Option<CrewRow> {
    let client = connect::locate(&app.place(&[]).ok()?).ok()??;
    let crew = client.get::<CrewRows>(&format!("/api/crew/rows?ids={id}")).await.ok()?;
    crew.into_value().rows.into_iter().next()
}

/// A question that an agent waits with, and how to answer it.
fn question_text(question: &CrewQuestion) -> String {
    let answer = format!("adjutant mail read {}", question.mail_id);
    format!("{} {}  {}", odd("?"), line(&question.subject), name(answer))
}

/// State and activity of an agent, one line.
fn row_text(row: &CrewRow) -> String {
    let time = elapsed(Some(row.started_at), row.finished_at, now());
    let mut facts = vec![format!("{} {}", row.id, row.state), time];
    facts.extend(row.cost_usd.map(dollars));
    facts.extend(row.doing.as_ref().map(|doing| doing.text.clone()));
    facts.join(", ")
}

/// Waits for an agent's end or the time limit.
async fn until_over(
    steady: &mut Steady<'_>,
    id: AgentId,
    deadline: Option<Instant>,
) -> Result<Answer<AwaitedAgent>, CliError> {
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let wait = left.map_or(WAIT_SECONDS, |left| left.as_secs().min(WAIT_SECONDS));
        let asked = Instant::now();
        let awaited = await_agent(steady, id, wait).await?;
        let time_is_up = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if awaited.status != AwaitStatus::Running || time_is_up {
            return Ok(awaited);
        }
        if asked.elapsed() < MIN_POLL_INTERVAL {
            sleep(MIN_POLL_INTERVAL.min(left.unwrap_or(MIN_POLL_INTERVAL))).await;
        }
    }
}

async fn await_agent(
    steady: &mut Steady<'_>,
    id: AgentId,
    wait_seconds: u64,
) -> Result<Answer<AwaitedAgent>, CliError> {
    let input = json!({ "agentId": id, "waitSeconds": wait_seconds });
    steady.call_tool("mcp__harness__await_agent", &input).await
}

/// The moment so many seconds from now; none where the clock cannot represent it.
fn deadline_in(seconds: u64) -> Option<Instant> {
    Instant::now().checked_add(Duration::from_secs(seconds))
}

/// An answer of `await_agent` with the agent's id, as `--json` prints it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AwaitOutcome<'a> {
    agent_id: AgentId,
    #[serde(flatten)]
    awaited: &'a Answer<AwaitedAgent>,
}

/// Waits for agents, one after the other: that takes as long as the longest.
pub(crate) async fn wait(app: &App, args: &AwaitArgs) -> Result<(), CliError> {
    let deadline = args.timeout.and_then(deadline_in);
    let mut steady = Steady::new(app).await?;
    let ids = steady.agents(&args.agents).await?;
    let mut failed = false;
    for id in ids {
        let progress = Progress::waiting(app, &id.to_string());
        let over = until_over(&mut steady, id, deadline);
        let awaited = with_progress(app, &progress, id, over).await?;
        drop(progress);
        failed |= awaited.state != AgentStateName::Succeeded;
        if app.render.is_json() {
            print_json(&AwaitOutcome { agent_id: id, awaited: &awaited })?;
        } else {
            print_text(&AgentOutcome::of_awaited(id, &awaited).text(None))?;
        }
    }
    if failed { Err(CliError::reported(NOT_SUCCEEDED)) } else { Ok(()) }
}

/// Facts about an agent that has ended, or was waited for.
#[derive(Debug)]
pub(crate) struct AgentOutcome {
    id: AgentId,
    state: AgentStateName,
    reason: Option<String>,
    duration_ms: i64,
    cost_usd: Option<f64>,
    tokens: AgentTokens,
    report: AgentReport,
    /// What went wrong without ending it
    warnings: Vec<String>,
}

/// The usual fields of an agent's result, as far as it has them.
#[derive(Debug, Default)]
struct AgentReport {
    summary: String,
    changes: Vec<String>,
    issues: Vec<String>,
    questions: Vec<String>,
}

impl From<&AgentResultView> for AgentReport {
    fn from(result: &AgentResultView) -> Self {
        Self {
            summary: result.summary.clone(),
            changes: result.changes.clone(),
            issues: result.issues.clone(),
            questions: result.questions.clone(),
        }
    }
}

impl AgentOutcome {
    /// Outcome of an agent, with time, money and tokens.
    pub(crate) fn of(details: &AgentDetails) -> Self {
        Self {
            id: details.agent.id,
            state: details.agent.state,
            reason: details.agent.reason.clone(),
            duration_ms: details.duration_ms,
            cost_usd: details.agent.cost_usd,
            tokens: details.tokens,
            report: details.result.as_ref().map(AgentReport::from).unwrap_or_default(),
            warnings: details.warnings.clone(),
        }
    }

    /// Outcome as `await_agent` answers it.
    fn of_awaited(id: AgentId, awaited: &AwaitedAgent) -> Self {
        Self {
            id,
            state: awaited.state,
            reason: awaited.reason.clone(),
            duration_ms: 0,
            cost_usd: None,
            tokens: AgentTokens { input: 0, output: 0 },
            report: awaited.result.as_ref().map(AgentReport::from).unwrap_or_default(),
            warnings: Vec::new(),
        }
    }

    /// State, time, money and tokens on a line.
    pub(crate) fn headline(&self) -> String {
        let state = match (self.state, self.state.awaited()) {
            (AgentStateName::Succeeded, _) => good(self.state),
            (_, AwaitStatus::Running) => odd(self.state),
            _ => bad(self.state),
        };
        let took = match self.duration_ms {
            ..=0 => String::new(),
            millis => format!(" in {}", span(millis)),
        };
        let mut facts = vec![format!("{} {state}{took}", bold(self.id))];
        facts.extend(self.cost_usd.map(dollars));
        let AgentTokens { input, output } = self.tokens;
        if input + output > 0 {
            facts.push(format!("{} tokens in, {} out", tokens(input), tokens(output)));
        }
        facts.join(&dim(", "))
    }

    /// The headline, the reason of a failure, the result, and the work where that is known.
    fn text(&self, work: Option<&Work>) -> String {
        let mut page = Page::default();
        page.line(self.headline());
        let reason = self.reason.as_ref().filter(|_| self.state != AgentStateName::Succeeded);
        if let Some(reason) = reason {
            page.text(&quoted(reason));
        }
        let report = &self.report;
        if reason != Some(&report.summary) {
            page.text(&quoted(&report.summary));
        }
        let lists = [
            ("Changes", &report.changes),
            ("Issues", &report.issues),
            ("Questions", &report.questions),
            ("Warnings", &self.warnings),
        ];
        for (title, items) in lists {
            // What is shown of the files is not listed twice.
            let is_shown =
                |work: &Work| title == "Changes" && items.iter().all(|one| work.shows(one));
            if items.is_empty() || work.is_some_and(is_shown) {
                continue;
            }
            page.line(bold(title));
            for item in items {
                page.line(format_args!("  - {}", line(item)));
            }
        }
        if let Some(work) = work {
            work.add_to(&mut page);
        }
        page.into_text()
    }
}

/// Ends agents, all at once.
pub(crate) async fn kill(app: &App, args: &KillArgs) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let ids = steady.agents(&args.agents).await?;
    let mut done = Ok(());
    for killed in kill_all(app, &ids, Progress::steps(app, "ending agents", many(&ids))).await {
        match killed {
            Ok(outcome) => {
                let text = line(&outcome.message);
                if app.render.is_json() {
                    print_json(&outcome)?;
                } else {
                    print_text(&if outcome.success { text } else { odd(text) })?;
                }
                if !outcome.success {
                    done = Err(CliError::reported(ALREADY_ENDED));
                }
            }
            // The others were ended all the same.
            Err(cli_error) => done = Err(cli_error),
        }
    }
    done
}

/// Outcome of a kill, as `--json` prints it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KillOutcome {
    agent_id: AgentId,
    /// True if the agent lived until the kill
    success: bool,
    pub(crate) message: String,
}

/// Ends agents and returns the outcome of each.
pub(crate) async fn kill_all(
    app: &App,
    ids: &[AgentId],
    progress: Progress,
) -> Vec<Result<KillOutcome, CliError>> {
    let one = async |id: &AgentId| {
        let killed = kill_one(app, *id).await;
        progress.step();
        killed
    };
    join_all(ids.iter().map(one)).await
}

/// Number of items.
pub(crate) fn many<T>(items: &[T]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

/// Ends an agent, however long that takes.
pub(crate) async fn kill_one(app: &App, id: AgentId) -> Result<KillOutcome, CliError> {
    let mut steady = Steady::new(app).await?;
    let mut has_lived = false;
    loop {
        let awaited = await_agent(&mut steady, id, 0).await?;
        let (state, reason) = (awaited.state, awaited.reason.as_deref().unwrap_or("-"));
        let reason = line(reason);
        match (awaited.status, has_lived) {
            (AwaitStatus::Running, _) => has_lived = true,
            (_, true) => {
                let message = format!("{state} {id} ({reason})");
                return Ok(KillOutcome { agent_id: id, success: true, message });
            }
            (_, false) => {
                let message = format!("agent {id} has already ended: {state}, {reason}");
                return Ok(KillOutcome { agent_id: id, success: false, message });
            }
        }
        // The tool waits until the agent has ended, within bounds; the next look tells.
        let input = json!({ "agentId": id });
        steady.call_tool::<KilledAgent>("mcp__harness__kill_agent", &input).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_beyond_the_clock_is_none() {
        assert!(deadline_in(u64::MAX).is_none());
        assert!(deadline_in(60).is_some());
    }
}
