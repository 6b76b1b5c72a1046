//! Worktrees as people and programs see them, and the wait for one that is taken away.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::Duration;

use host::git::{GitError, Repo};
use model::event::EventKind;
use model::review::{OutboxJobKind, WorktreeState};
use model::{AgentId, EventKinds, OutboxJobId};
use serde::Deserialize;
use store::{Page, Tx, Worktree, WorktreePage};
use wire::worktrees::{PrunedWorktree, WorktreeGit, WorktreeView, Worktrees};

use crate::call::cx::{find_agent, task_of};
use crate::core::error::ToolError;
use crate::core::follow;
use crate::core::scope::ListScope;
use crate::delivery::outbox;
use crate::delivery::reviews::acts::occupied;
use crate::delivery::service::Delivery;
use crate::delivery::worktree_setup;

/// Commits are counted up to here.
const MAX_COMMITS: usize = 1000;
/// Worktrees that are looked at at the same time.
const CONCURRENT_LOOKUPS: usize = 8;
/// Uncommitted files listed.
const MAX_FILES: usize = 100;

/// Answer of the outbox job.
#[derive(Debug, Default, Deserialize)]
struct Tidied {
    branch: Option<String>,
    head: Option<String>,
    rescued: Option<String>,
    #[serde(default)]
    occupants: Vec<AgentId>,
}

fn worktree_view(tx: &Tx<'_>, worktree: Worktree) -> Result<WorktreeView, ToolError> {
    let agent = find_agent(tx, worktree.agent)?;
    let task = task_of(tx, agent.task)?;
    let tidying = tx.outbox_job_open_of(OutboxJobKind::Tidy, agent.id)?;
    Ok(WorktreeView {
        agent_id: agent.id,
        agent_state: agent.state.name(),
        agent_ended_at: agent.ended_at(),
        task_slug: task.map(|task| task.slug),
        path: worktree.path,
        branch: worktree.branch,
        base: worktree.base,
        target: worktree.target,
        state: worktree.state,
        git: None,
        is_being_tidied: tidying.is_some(),
        head: worktree.head,
        rescued: worktree.rescued,
        created_at: worktree.created_at,
        gone_at: worktree.gone_at,
        role: agent.role,
    })
}

impl Delivery {
    /// Note for who starts an agent that will work in the project itself although its role has worktrees.
    pub async fn in_project_note(&self, id: AgentId) -> Result<Option<String>, ToolError> {
        let agent = self.store.read(|tx| find_agent(tx, id))?;
        worktree_setup::in_project_note(self, &agent).await
    }

    /// Lists worktrees, oldest first, and looks at those that are there.
    pub async fn worktree_views(
        &self,
        scope: ListScope,
        after: i64,
        limit: u32,
    ) -> Result<Worktrees, ToolError> {
        self.outside(move |engine| {
            let mut page = engine.store.read(|tx| {
                let page = tx.worktree_page(
                    scope.choose(WorktreePage::There, WorktreePage::All),
                    after,
                    limit,
                )?;
                let items = page.items.into_iter().map(|worktree| worktree_view(tx, worktree));
                let items = items.collect::<Result<Vec<_>, ToolError>>()?;
                Ok::<_, ToolError>(Page { items, next: page.next })
            })?;
            let there = |worktree: &&mut WorktreeView| {
                worktree.state == WorktreeState::There && !worktree.is_being_tidied
            };
            let mut there: Vec<&mut WorktreeView> = page.items.iter_mut().filter(there).collect();
            if !there.is_empty() {
                // Without a repository the record is all there is.
                let repo = engine.repo(&engine.options.project);
                look_at_all(repo.as_ref(), &mut there);
            }
            Ok(Worktrees { worktrees: page.items, next_cursor: page.next })
        })
        .await
    }

    /// Waits for the removal of a worktree, up to a limit.
    pub async fn worktree_pruned(
        &self,
        agent: AgentId,
        job: OutboxJobId,
        patience: Duration,
    ) -> Result<PrunedWorktree, ToolError> {
        let ended = EventKinds::of(&[EventKind::ErrandEnded]);
        let done = follow::find(&self.store, ended, |tx| outbox::outcome(tx, job));
        let done: Option<Tidied> =
            tokio::time::timeout(patience, done).await.unwrap_or(Ok(None))?;
        let is_done = done.is_some();
        let Tidied { branch, head, rescued, occupants } = done.unwrap_or_default();
        if let Some(guest) = occupants.first() {
            return Err(occupied(*guest));
        }
        Ok(PrunedWorktree { agent_id: agent, done: is_done, branch, head, rescued })
    }
}

/// Looks at many worktrees, several at a time: each is a process, which waits for the disk.
fn look_at_all(repo: Result<&Repo, &GitError>, worktrees: &mut [&mut WorktreeView]) {
    let share = worktrees.len().div_ceil(CONCURRENT_LOOKUPS).max(1);
    thread::scope(|scope| {
        for part in worktrees.chunks_mut(share) {
            scope.spawn(move || {
                for worktree in part {
                    worktree.git = Some(match repo {
                        Ok(repo) => look(repo, worktree),
                        Err(error) => problem(error),
                    });
                }
            });
        }
    });
    if let Ok(repo) = repo {
        count_commits(repo, worktrees);
    }
}

/// Looks at one worktree. What git cannot say of it is no reason not to show the others.
fn look(repo: &Repo, worktree: &WorktreeView) -> WorktreeGit {
    let state = match repo.state(Path::new(&worktree.path)) {
        Ok(state) => state,
        Err(error) => return problem(&error),
    };
    let mut files = [state.staged, state.unstaged, state.untracked].concat();
    let uncommitted = files.len();
    files.truncate(MAX_FILES);
    let (in_progress, head) = (state.in_progress, state.head);
    WorktreeGit { uncommitted, in_progress, head, files, ..WorktreeGit::default() }
}

/// Counts the commits between worktrees and their targets, with one question for all that have the same.
fn count_commits(repo: &Repo, worktrees: &mut [&mut WorktreeView]) {
    let mut by_target: BTreeMap<String, Vec<(String, &mut WorktreeGit)>> = BTreeMap::new();
    for worktree in worktrees {
        if let (Some(target), Some(git)) = (&worktree.target, worktree.git.as_mut())
            && let Some(head) = git.head.clone()
        {
            by_target.entry(target.clone()).or_default().push((head, git));
        }
    }
    for (target, counted) in by_target {
        let (heads, views): (Vec<String>, Vec<&mut WorktreeGit>) = counted.into_iter().unzip();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let counts = repo.ahead_behind_all(&format!("refs/heads/{target}"), &heads);
        for (view, count) in views.into_iter().zip(counts) {
            match count {
                Ok((ahead, behind)) => {
                    view.ahead = Some(ahead.min(MAX_COMMITS));
                    view.behind = Some(behind.min(MAX_COMMITS));
                }
                Err(error) => view.problem = Some(error.to_string()),
            }
        }
    }
}

fn problem(error: &GitError) -> WorktreeGit {
    WorktreeGit { problem: Some(error.to_string()), ..WorktreeGit::default() }
}
