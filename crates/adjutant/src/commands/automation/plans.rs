//! `adjutant plan`: documents that a coordinator runs step by step.

mod check;
mod follow;
mod show;

use model::PlanState;
use serde_json::{Map, Value, json};
use wire::plans::{PlanRow, PlanView, Plans};

use self::check::read_file;
use self::show::{ended, row, status};
use crate::app::{App, escaped, query};
use crate::cli::{PlanArgs, PlanRunArgs, PlanVerb};
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::commands::reconnect::Steady;
use crate::commands::server_process::reload::read_changes;
use crate::terminal::render::{bold, count, line, name, table};

/// Exit code of a plan that ended without being completed.
const NOT_COMPLETED: u8 = 1;
/// Page size.
const PAGE: u32 = 1000;

/// Runs, shows or ends plans.
pub(crate) async fn run(app: &App, args: PlanArgs) -> Result<(), CliError> {
    match args.verb {
        PlanVerb::Run(args) => begin(app, args).await,
        PlanVerb::Check { file } => check::run(app, &file),
        PlanVerb::Status { name: Some(name) } => one(app, &name).await,
        PlanVerb::Status { name: None } => current(app).await,
        PlanVerb::List => list(app).await,
        PlanVerb::Follow { name } => {
            let mut steady = Steady::new(app).await?;
            let name = match name {
                Some(name) => name,
                None => the_one(&mut steady).await?,
            };
            let plan = steady.fetch(&path_of(&name)).await?;
            watch(app, steady, plan).await
        }
        PlanVerb::Stop { name } => stop(app, &name).await,
        PlanVerb::Resume { name, budget, detach } => {
            let steady = Steady::new(app).await?;
            read_changes(app, steady.client()).await?;
            let path = format!("{}/resume", path_of(&name));
            let plan = steady.client().post(&path, &json!({ "budget": budget })).await?;
            begun(app, steady, plan, detach.into()).await
        }
    }
}

/// Whether to follow a plan after starting it.
enum FollowMode {
    Leave,
    Watch,
}

impl From<bool> for FollowMode {
    fn from(detach: bool) -> Self {
        if detach { Self::Leave } else { Self::Watch }
    }
}

fn path_of(name: &str) -> String {
    format!("/api/plans/{}", escaped(name))
}

/// Begins a plan, and sees it to its end.
async fn begin(app: &App, args: PlanRunArgs) -> Result<(), CliError> {
    let text = read_file(app, &args.file)?;
    // Told here with the line, before a server is needed.
    check::parse(&args.file, &text)?;
    let path = args.file.display().to_string();
    let mut request = Map::from_iter([
        ("path".to_owned(), path.into()),
        ("text".to_owned(), text.into()),
        ("again".to_owned(), args.again.into()),
    ]);
    let given = [
        ("name", args.name.map(Value::from)),
        ("role", args.role.map(Value::from)),
        ("kind", args.agent.map(Value::from)),
        ("budget", args.budget.map(Value::from)),
    ];
    request.extend(given.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    let steady = Steady::new(app).await?;
    read_changes(app, steady.client()).await?;
    let plan = steady.client().post("/api/plans", &request).await?;
    begun(app, steady, plan, args.detach.into()).await
}

/// A plan that runs now: seen to its end, or left alone.
async fn begun(
    app: &App,
    steady: Steady<'_>,
    plan: Answer<PlanView>,
    then: FollowMode,
) -> Result<(), CliError> {
    match then {
        FollowMode::Watch => watch(app, steady, plan).await,
        FollowMode::Leave => Ok(app.render.answer(&plan, || {
            let named = line(&plan.row.name);
            format!(
                "The plan {} is running: {}.\nFollow it with {}",
                bold(&named),
                count(plan.steps.len(), "step"),
                name(format!("adjutant plan follow {named}"))
            )
        })?),
    }
}

/// Shows how a plan goes until it ends. An interrupt ends the watching, not the plan.
async fn watch(app: &App, steady: Steady<'_>, plan: Answer<PlanView>) -> Result<(), CliError> {
    let named = line(&plan.row.name);
    let plan = tokio::select! {
        plan = follow::to_the_end(app, steady, plan) => plan?,
        asked = tokio::signal::ctrl_c() => {
            asked?;
            return Err(CliError::interrupted(format!("stopped waiting; the plan {named} keeps running"))
                .hint(format!("`adjutant plan follow {named}` follows it"))
                .hint(format!("`adjutant plan stop {named}` ends it")));
        }
    };
    app.render.answer(&plan, || ended(&plan))?;
    match plan.row.state {
        PlanState::Completed => Ok(()),
        _ => Err(CliError::reported(NOT_COMPLETED)),
    }
}

/// Ends a plan, and waits until all who work for it are gone.
async fn stop(app: &App, named: &str) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let path = format!("{}/stop", path_of(named));
    let plan = steady.client().post(&path, &json!({})).await?;
    let plan = follow::until_over(&mut steady, plan).await?;
    Ok(app.render.answer(&plan, || ended(&plan))?)
}

async fn one(app: &App, named: &str) -> Result<(), CliError> {
    let plan = app.client().await?.get::<PlanView>(&path_of(named)).await?;
    Ok(app.render.answer(&plan, || status(&plan))?)
}

/// The plan that runs, or the only one there ever was; else a list.
async fn current(app: &App) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let plans = every(&mut steady).await?;
    match (running(&plans).as_slice(), plans.as_slice()) {
        ([only], _) => one(app, only).await,
        (_, [only]) => one(app, &only.name).await,
        _ => listed(app, &plans),
    }
}

fn running(plans: &[Answer<PlanRow>]) -> Vec<String> {
    let runs = plans.iter().filter(|plan| plan.state == PlanState::Running);
    runs.map(|plan| plan.name.clone()).collect()
}

/// The name of the plan that runs.
async fn the_one(steady: &mut Steady<'_>) -> Result<String, CliError> {
    let mut running = running(&every(steady).await?);
    match (running.pop(), running.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(CliError::new(engine::Code::ResourceNotFound, "no plan runs")
            .hint("`adjutant plan list` lists those that have ended")),
        (Some(_), false) => Err(CliError::usage("more than one plan runs: name one")
            .hint("`adjutant plan list` lists them")),
    }
}

/// All plans, newest first.
async fn every(steady: &mut Steady<'_>) -> Result<Vec<Answer<PlanRow>>, CliError> {
    let path = |after| query("/api/plans", [("after", after), ("limit", Some(PAGE.to_string()))]);
    steady.fetch_all::<Plans>(path).await
}

async fn list(app: &App) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    listed(app, &every(&mut steady).await?)
}

fn listed(app: &App, plans: &[Answer<PlanRow>]) -> Result<(), CliError> {
    let answer = json!({ "plans": plans });
    Ok(app.render.answer(&answer, || {
        if plans.is_empty() {
            return format!("No plans.\nRun one with {}", name("adjutant plan run PLAN.md"));
        }
        table(["PLAN", "STATE", "STEPS", "SPENT", "SINCE", "TITLE"], plans.iter().map(row))
    })?)
}
