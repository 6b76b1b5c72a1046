//! Where agents work: the project itself, or a worktree of their own on a branch of their own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use host::git::{Checkout, CommitIdentity, GitError};
use host::hooks;
use model::event::EventKind;
use model::review::{OutboxJobKind, WorktreeState};
use model::{AgentId, EventKinds, Timestamp};
use store::{Agent, AgentPage, EventDraft, NewWorktree, Run, Tx, Worktree};
use wire::event::{AgentWarned, EventData, WorktreeChanged};

use crate::call::cx::task_of;
use crate::core::error::{Code, ToolError};
use crate::core::follow;
use crate::core::handle::Core;
use crate::core::point::Point;
use crate::core::settings;
use crate::crew::run::{Claims, RunOptions};
use crate::delivery::worktree_provision;

/// The beginning of the names of all our branches.
pub(crate) const BRANCHES: &str = "adjutant/";
/// Live agents read at once.
const LIVE_PAGE: u32 = 500;

/// The branch of an agent that does a task.
pub(crate) fn branch_of(agent: AgentId) -> String {
    format!("{BRANCHES}{agent}")
}

/// The branch of an agent that looks at another's work.
pub(crate) fn review_branch_of(agent: AgentId) -> String {
    format!("{BRANCHES}review/{agent}")
}

/// The branch on which an agent's uncommitted work is kept.
pub(crate) fn rescue_branch_of(agent: AgentId) -> String {
    format!("{BRANCHES}rescue/{agent}")
}

/// The branch into which the tasks of an epic are merged.
pub(crate) fn epic_branch_of(epic: model::EpicId) -> String {
    format!("{BRANCHES}epic/{epic}")
}

/// Identity for Adjutant's own commits, with a fixed time so that they can be repeated.
pub(crate) fn ourselves(at: Timestamp) -> CommitIdentity {
    CommitIdentity { name: "Adjutant".to_owned(), email: "adjutant@localhost".to_owned(), at }
}

/// Working place of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WorktreeStart {
    /// A given folder, or the project
    Given,
    /// A worktree of its own; the project where there is no repository with a commit
    Fresh,
    /// Its parent's folder
    Parent,
}

fn place(settings: &settings::Settings, agent: &Agent) -> WorktreeStart {
    let Some(role) = settings.role_of(&agent.role) else { return WorktreeStart::Given };
    // A folder with an absolute path is used as it is, and not inside a worktree.
    let elsewhere = agent.cwd.as_ref().is_some_and(|cwd| Path::new(cwd).is_absolute());
    let usual = settings.worktrees.fresh.contains(&agent.category);
    match role.worktree {
        Some(settings::Worktree::Parent) => WorktreeStart::Parent,
        Some(settings::Worktree::Fresh) if !elsewhere => WorktreeStart::Fresh,
        None if usual && !elsewhere => WorktreeStart::Fresh,
        Some(settings::Worktree::None | settings::Worktree::Fresh) | None => WorktreeStart::Given,
    }
}

/// Makes the place ready in which an agent works, and gives the agent as it now stands. Doing it again
/// changes nothing.
pub(crate) async fn prepare(engine: &Core, agent: &Agent, run: &Run) -> Result<Agent, ToolError> {
    if let Some(found) = taken_over(engine, agent, run).await? {
        return make(engine, agent, found).await;
    }
    match place(&engine.settings(), agent) {
        WorktreeStart::Given => Ok(agent.clone()),
        WorktreeStart::Parent => in_parents(engine, agent).await,
        WorktreeStart::Fresh => {
            if let Some(why) = no_worktrees(engine).await? {
                if asks_for_worktree(&engine.settings(), agent) {
                    warn_in_project(engine, agent, &why).await?;
                }
                return Ok(agent.clone());
            }
            if let Some(before) = worked_before(engine, agent)? {
                settled(engine, before).await?;
            }
            let project = engine.options.project.clone();
            let (finder, options) = (agent.clone(), RunOptions::of(run)?);
            let origin =
                engine.outside(move |engine| origin(engine, &project, &finder, &options)).await?;
            let worktree = want(engine, agent, origin).await?;
            make(engine, agent, worktree).await
        }
    }
}

/// Why no worktree can be made of the project: it is not in a repository, or nothing is committed yet.
async fn no_worktrees(engine: &Core) -> Result<Option<String>, ToolError> {
    let look = |engine: &Core| {
        let project = &engine.options.project;
        if !host::git::is_around(project) {
            return Ok(Some("the project is not in a git repository".to_owned()));
        }
        if host::git::checked_out(project).is_some() {
            return Ok(None);
        }
        match engine.repo(project).and_then(|repo| repo.resolve("HEAD")) {
            Ok(Some(_)) => Ok(None),
            Ok(None) => Ok(Some("the repository has no commit yet".to_owned())),
            Err(error @ GitError::NotARepository { .. }) => Ok(Some(error.to_string())),
            Err(error) => Err(ToolError::from(error)),
        }
    };
    engine.outside(look).await
}

/// Returns whether an agent's role itself asks for a worktree, and not only its category.
fn asks_for_worktree(settings: &settings::Settings, agent: &Agent) -> bool {
    let role = settings.role_of(&agent.role);
    role.is_some_and(|role| role.worktree == Some(settings::Worktree::Fresh))
}

/// Tells that an agent works in the project itself although its role has worktrees, and why; once.
async fn warn_in_project(engine: &Core, agent: &Agent, why: &str) -> Result<(), ToolError> {
    if agent.attempt > 1 {
        return Ok(());
    }
    let warning = in_project(why);
    let data = EventData::AgentWarned(AgentWarned { warning });
    let event = EventDraft { agent: Some(agent.id), task: agent.task, data };
    let now = engine.now();
    engine
        .store
        .write(move |tx| {
            tx.event_append(now, &event)?;
            Ok(())
        })
        .await
}

fn in_project(why: &str) -> String {
    format!("works in the project itself, without a worktree or a review: {why}")
}

/// What to tell about an agent that will work in the project itself although its role has worktrees.
pub(crate) async fn in_project_note(
    engine: &Core,
    agent: &Agent,
) -> Result<Option<String>, ToolError> {
    let settings = engine.settings();
    if place(&settings, agent) != WorktreeStart::Fresh || !asks_for_worktree(&settings, agent) {
        return Ok(None);
    }
    Ok(no_worktrees(engine).await?.map(|why| in_project(&why)))
}

/// The worktree that an agent has already, or goes on in for another.
async fn taken_over(
    engine: &Core,
    agent: &Agent,
    run: &Run,
) -> Result<Option<Worktree>, ToolError> {
    let id = agent.id;
    if let Some(own) = engine.store.read(|tx| tx.worktree_of(id))? {
        return Ok(Some(own));
    }
    let Some(before) = run.resumed_from else { return Ok(None) };
    settled(engine, before).await?;
    let (now, events) = (engine.now(), agent.clone());
    engine
        .store
        .write(move |tx| {
            if !tx.worktree_hand_over(before, id)? {
                return Ok(None);
            }
            let cwd = tx.agent_get(before)?.and_then(|before| before.cwd);
            if let Some(cwd) = cwd {
                tx.agent_set_cwd(id, &cwd)?;
            }
            let worktree = tx.worktree_of(id)?;
            if let Some(worktree) = &worktree {
                tell(tx, &events, worktree, now)?;
            }
            Ok(worktree)
        })
        .await
}

/// The agent that worked on an agent's task last, in a worktree.
fn worked_before(engine: &Core, agent: &Agent) -> Result<Option<AgentId>, ToolError> {
    engine.store.read(|tx| {
        let branch = task_of(tx, agent.task)?.and_then(|task| task.branch_name);
        let before = branch.map(|branch| tx.worktree_by_branch(&branch)).transpose()?.flatten();
        Ok(before.map(|before| before.agent))
    })
}

/// Waits until the worktree of an ended agent is released: what was left there uncommitted is where the next
/// one begins. Who cannot wait any longer begins with what is committed.
pub(crate) async fn settled(engine: &Core, before: AgentId) -> Result<(), ToolError> {
    let patience = Duration::from_millis(engine.settings().limits.tool_timeout_ms);
    let ended = EventKinds::of(&[EventKind::ErrandEnded]);
    let looked = follow::find(&engine.store, ended, |tx| {
        let open = tx.outbox_job_open_of(OutboxJobKind::Tidy, before)?;
        Ok(open.is_none().then_some(()))
    });
    tokio::time::timeout(patience, looked).await.map_or(Ok(()), |looked| looked.map(drop))
}

/// Records that an agent works where its parent does, so that its directory is known while it lives.
async fn in_parents(engine: &Core, agent: &Agent) -> Result<Agent, ToolError> {
    let parent = agent.parent.map(|id| engine.store.read(|tx| tx.agent_get(id))).transpose()?;
    let cwd = parent.flatten().and_then(|parent| parent.cwd).or_else(|| agent.cwd.clone());
    if let Some(cwd) = cwd.clone().filter(|cwd| agent.cwd.as_ref() != Some(cwd)) {
        let id = agent.id;
        engine.store.write(move |tx| tx.agent_set_cwd(id, &cwd)).await?;
    }
    Ok(Agent { cwd, ..agent.clone() })
}

/// The directories of all live agents that do not simply work in the project, also of those that wait for their
/// start.
pub(crate) fn live_directories(
    tx: &Tx<'_>,
    settings: &settings::Settings,
    project: &Path,
) -> Result<Vec<(AgentId, PathBuf)>, ToolError> {
    let mut found = Vec::new();
    let mut after = 0;
    loop {
        let page = tx.agent_page(AgentPage::Live, after, LIVE_PAGE)?;
        for agent in page.items {
            let shared = match (place(settings, &agent), agent.parent) {
                (WorktreeStart::Parent, Some(parent)) => {
                    tx.agent_get(parent)?.and_then(|one| one.cwd)
                }
                _ => None,
            };
            // Once it was prepared both are the same.
            let own = [agent.cwd, shared].into_iter().flatten();
            found.extend(own.map(|cwd| (agent.id, project.join(cwd))));
        }
        match page.next {
            Some(next) => after = next,
            None => return Ok(found),
        }
    }
}

/// Where a worktree begins, and what its work is for.
#[derive(Debug, Clone)]
struct Origin {
    commit: String,
    target: Option<String>,
    /// The project's folder within the repository
    prefix: PathBuf,
}

/// Finds where an agent's work begins: where the work on its task stands, where its parent stands, where
/// its epic stands, or what is checked out in the project.
fn origin(
    engine: &Core,
    project: &Path,
    agent: &Agent,
    options: &RunOptions,
) -> Result<Origin, ToolError> {
    let repo = engine.repo(project)?;
    let top = repo.facts().top.clone().unwrap_or_else(|| project.to_owned());
    let prefix = project.strip_prefix(&top).map(Path::to_owned).unwrap_or_default();
    let (task, before, parent) = engine.store.read(|tx| {
        let task = task_of(tx, agent.task)?;
        let branch = task.as_ref().and_then(|task| task.branch_name.as_deref());
        let before = branch.map(|branch| tx.worktree_by_branch(branch)).transpose()?.flatten();
        let parent = agent.parent.map(|id| tx.worktree_of(id)).transpose()?.flatten();
        Ok::<_, ToolError>((task, before, parent))
    })?;
    let head = |branch: &str| repo.resolve(&format!("refs/heads/{branch}"));
    if let (Claims::Task, Some(branch)) =
        (options.claims, task.as_ref().and_then(|task| task.branch_name.as_deref()))
        && let Some(commit) = head(branch)?
    {
        let target = before.and_then(|before| before.target);
        return Ok(Origin { commit, target, prefix });
    }
    if let Some(parent) = parent
        && let Some(commit) = head(&parent.branch)?
    {
        return Ok(Origin { commit, target: Some(parent.branch), prefix });
    }
    let (target, commit) = if let Some((branch, commit)) = host::git::checked_out(project) {
        (Some(branch), commit)
    } else {
        let commit = repo.resolve("HEAD")?.ok_or(GitError::NoCommits)?;
        (repo.current_branch(project)?, commit)
    };
    let Some(epic) = agent.epic else { return Ok(Origin { commit, target, prefix }) };
    let branch = epic_branch_of(epic);
    let commit = match head(&branch)? {
        Some(commit) => commit,
        None => match repo.branch_create(&branch, &commit) {
            Ok(()) => commit,
            // Another process was first.
            Err(error) => head(&branch)?.ok_or(error)?,
        },
    };
    Ok(Origin { commit, target: Some(branch), prefix })
}

/// Remembers that an agent is to have a worktree.
async fn want(engine: &Core, agent: &Agent, origin: Origin) -> Result<Worktree, ToolError> {
    let path = engine.worktree_path(agent.id);
    let inside = path.join(&origin.prefix).join(agent.cwd.as_deref().unwrap_or_default());
    let new = NewWorktree {
        agent: agent.id,
        path: path.display().to_string(),
        branch: branch_of(agent.id),
        base: origin.commit,
        target: origin.target,
    };
    let (agent, cwd, now) = (agent.clone(), inside.display().to_string(), engine.now());
    let worktree = engine
        .store
        .write(move |tx| {
            tx.worktree_insert(&new, now)?;
            tx.agent_set_cwd(agent.id, &cwd)?;
            let task = task_of(tx, agent.task)?;
            let mine = |task: &store::Task| {
                task.state.claim().is_some_and(|claim| claim.holder == agent.id)
            };
            if let Some(task) = task.filter(mine) {
                tx.task_set_worktree(task.id, &new.path, &new.branch, now)?;
            }
            let worktree = tx.worktree_of(agent.id)?;
            worktree.ok_or_else(|| ToolError::not_found("its worktree is missing from the record"))
        })
        .await?;
    engine.point(Point::WorktreeWanted);
    Ok(worktree)
}

/// Makes a worktree that is on record, or finds it made.
async fn make(engine: &Core, agent: &Agent, worktree: Worktree) -> Result<Agent, ToolError> {
    let (project, wanted) = (engine.options.project.clone(), worktree.clone());
    let settings = engine.settings();
    let left = engine
        .outside(move |engine| {
            let repo = engine.repo(&project)?;
            let path = Path::new(&wanted.path);
            if path.starts_with(engine.worktrees()) {
                engine.make_worktrees_folder()?;
            }
            repo.worktree_add(path, &wanted.branch, &wanted.base)?;
            point_to_home(engine, path)?;
            if settings.worktrees.guard {
                guard(engine, path)?;
            }
            let submodules = settings.worktrees.submodules && repo.facts().has_submodules;
            let left = if submodules { repo.submodules_init(path)? } else { Vec::new() };
            worktree_provision::provide(engine, &repo, path)?;
            Ok::<_, ToolError>(left)
        })
        .await?;
    if !left.is_empty() {
        tracing::warn!(id = %agent.id, ?left, "submodules left empty: the project has no local copy");
    }
    worktree_provision::set_up(engine, agent, Path::new(&worktree.path)).await?;
    engine.point(Point::WorktreeMade);
    let (id, now, teller) = (agent.id, engine.now(), agent.clone());
    let was_there = worktree.state == WorktreeState::There;
    let found = engine
        .store
        .write(move |tx| {
            if !was_there {
                tx.worktree_set(id, WorktreeState::There)?;
                let worktree = Worktree { state: WorktreeState::There, ..worktree.clone() };
                tell(tx, &teller, &worktree, now)?;
            }
            tx.agent_get(id)
                .map_err(ToolError::from)?
                .ok_or_else(|| ToolError::not_found(format!("there is no agent `{id}`")))
        })
        .await?;
    Ok(found)
}

/// Notes beside a worktree whose it is, so that commands typed in it find this home.
pub(crate) fn point_to_home(engine: &Core, worktree: &Path) -> Result<(), ToolError> {
    match Checkout::around(worktree) {
        Some(checkout) => checkout.set_home(&engine.options.home).map_err(ToolError::internal),
        None => Ok(()),
    }
}

/// Has git check before a commit in a worktree that no other agent has reserved its files.
fn guard(engine: &Core, worktree: &Path) -> Result<(), ToolError> {
    let folder = engine.options.state.join("hooks");
    let environment = &engine.options.operator_environment;
    let refused = |error: hooks::HooksError| {
        ToolError::new(Code::ExternalError, format!("the guard cannot be installed: {error}"))
    };
    let original = hooks::original(worktree, &folder, environment).map_err(refused)?;
    hooks::install(&folder, &engine.options.adjutant, original.as_deref())
        .map_err(ToolError::internal)?;
    hooks::enable(worktree, &folder, environment).map_err(refused)
}

/// Tells that a worktree is there, or gone.
pub(crate) fn tell(
    tx: &mut Tx<'_>,
    agent: &Agent,
    worktree: &Worktree,
    now: Timestamp,
) -> Result<(), ToolError> {
    let data = EventData::WorktreeChanged(WorktreeChanged {
        state: worktree.state,
        branch: worktree.branch.clone(),
        path: worktree.path.clone(),
        rescued: worktree.rescued.clone(),
    });
    tx.event_append(now, &EventDraft { agent: Some(agent.id), task: agent.task, data })?;
    Ok(())
}

/// Where an agent's work is, and what it is for.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    /// The folder
    pub(crate) dir: PathBuf,
    /// The commit it began from, where Adjutant made the place
    pub(crate) base: Option<String>,
    /// Target branch, where that is known
    pub(crate) target: Option<String>,
}

/// Where an agent works: its worktree, or the folder of its own that it was given.
pub(crate) fn work_of(engine: &Core, agent: AgentId) -> Result<Work, ToolError> {
    let (found, worktree) = engine.store.read(|tx| {
        Ok::<_, ToolError>((crate::call::cx::find_agent(tx, agent)?, tx.worktree_of(agent)?))
    })?;
    match (worktree, &found.cwd) {
        (Some(worktree), _) => Ok(Work {
            dir: PathBuf::from(worktree.path),
            base: Some(worktree.base),
            target: worktree.target,
        }),
        (None, Some(cwd)) => {
            Ok(Work { dir: engine.options.project.join(cwd), base: None, target: None })
        }
        (None, None) => Err(no_place(agent)),
    }
}

/// That no branch is checked out where an agent works, and how one is.
pub(crate) fn no_branch() -> ToolError {
    ToolError::conflict("no branch is checked out where you work")
        .hint("check out your branch again: `git switch -`, or `git switch -c <name>`")
}

/// That an agent has no worktree, and how it would have one.
pub(crate) fn no_place(agent: AgentId) -> ToolError {
    ToolError::wrong_state(format!("agent `{agent}` has no worktree and no branch of its own"))
        .hint("a role with `worktree: fresh` gives its agents one, in a git repository")
        .hint("an enlisted agent has one with `adjutant enlist --cwd <its worktree>`")
}
