//! Worktrees as people and programs see them, and the wait for one that is taken away.

use std::path::Path;
use std::time::Duration;

use host::git::Repo;
use model::agent::AgentStateName;
use model::review::WorktreeState;
use model::{AgentId, ErrandId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Page, Tx, Worktree, WorktreePage};
use tokio::time::Instant;

use crate::call::cx::{find_agent, task_of};
use crate::core::engine::Engine;
use crate::core::error::ToolError;
use crate::delivery::outbox;
use crate::delivery::reviews::acts::occupied;

/// Commits are counted up to here.
const MOST_COMMITS: usize = 1000;
/// So many of the files that are not committed are named.
const MOST_FILES: usize = 100;

/// Where an agent works, and how its work stands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeView {
    /// Who works in it, or worked in it last
    pub agent_id: AgentId,
    /// Its role
    pub role: String,
    /// How the agent stands
    pub agent_state: AgentStateName,
    /// When the agent ended; only then can the worktree be taken away
    pub agent_ended_at: Option<Timestamp>,
    /// The slug of its task
    pub task_slug: Option<String>,
    /// Where it is
    pub path: String,
    /// Its branch
    pub branch: String,
    /// The commit it began from
    pub base: String,
    /// The branch its work is meant for
    pub target: Option<String>,
    /// Whether it is there
    pub state: WorktreeState,
    /// How git sees it; null where it is not there
    pub git: Option<GitView>,
    /// Where its branch stood when it was taken away
    pub head: Option<String>,
    /// The branch on which what was left uncommitted in it is
    pub rescued: Option<String>,
    /// When it was asked for
    pub created_at: Timestamp,
    /// When it was taken away
    pub gone_at: Option<Timestamp>,
}

/// A worktree as git sees it.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitView {
    /// The commit that is checked out
    pub head: Option<String>,
    /// How many commits it has that the target lacks, up to 1000; null where there is no target
    pub ahead: Option<usize>,
    /// How many commits the target has that it lacks, up to 1000; null where there is no target
    pub behind: Option<usize>,
    /// How many files are not committed
    pub uncommitted: usize,
    /// The first 100 of them
    pub files: Vec<String>,
    /// `merge`, `rebase` or what else waits for its end
    pub in_progress: Option<String>,
    /// Why git could not say more
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What became of a worktree that was to be taken away.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrunedView {
    /// Whose it was
    pub agent_id: AgentId,
    /// Whether it is over; if not, it goes on by itself
    pub done: bool,
    /// The branch with what was committed; null where the worktree was gone already
    pub branch: Option<String>,
    /// Where that branch stood
    pub head: Option<String>,
    /// The branch with what was not committed; null where everything was
    pub rescued: Option<String>,
}

/// What the errand says.
#[derive(Debug, Default, Deserialize)]
struct Tidied {
    branch: Option<String>,
    head: Option<String>,
    rescued: Option<String>,
    #[serde(default)]
    occupants: Vec<AgentId>,
}

impl WorktreeView {
    fn read(tx: &Tx<'_>, worktree: Worktree) -> Result<Self, ToolError> {
        let agent = find_agent(tx, worktree.agent)?;
        let task = task_of(tx, agent.task)?;
        Ok(Self {
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
            head: worktree.head,
            rescued: worktree.rescued,
            created_at: worktree.created_at,
            gone_at: worktree.gone_at,
            role: agent.role,
        })
    }
}

impl Engine {
    /// Lists worktrees, oldest first, and looks at those that are there.
    pub async fn worktree_views(
        &self,
        which: WorktreePage,
        after: i64,
        limit: u32,
    ) -> Result<Page<WorktreeView>, ToolError> {
        self.outside(move |engine| {
            let mut page = engine.store.read(|tx| {
                let page = tx.worktree_page(which, after, limit)?;
                let items = page.items.into_iter().map(|worktree| WorktreeView::read(tx, worktree));
                let items = items.collect::<Result<Vec<_>, ToolError>>()?;
                Ok::<_, ToolError>(Page { items, next: page.next })
            })?;
            let mut there = page
                .items
                .iter_mut()
                .filter(|worktree| worktree.state == WorktreeState::There)
                .peekable();
            if there.peek().is_some() {
                // Without a repository the record is all there is.
                let repo = engine.repo(&engine.options.project);
                for worktree in there {
                    worktree.git = Some(match &repo {
                        Ok(repo) => look(repo, worktree),
                        Err(error) => problem(error),
                    });
                }
            }
            Ok(page)
        })
        .await
    }

    /// What became of a worktree that was to be taken away, as far as that is known in time.
    pub async fn worktree_pruned(
        &self,
        (agent, errand): (AgentId, ErrandId),
        patience: Duration,
    ) -> Result<PrunedView, ToolError> {
        let deadline = Instant::now() + patience;
        let mut news = self.store.last_event();
        let done = loop {
            news.borrow_and_update();
            let done: Option<Tidied> = self.store.read(|tx| outbox::outcome(tx, errand))?;
            if done.is_some() {
                break done;
            }
            let over = tokio::select! {
                changed = news.changed() => changed.is_err(),
                () = tokio::time::sleep_until(deadline) => true,
            };
            if over {
                break None;
            }
        };
        let is_done = done.is_some();
        let Tidied { branch, head, rescued, occupants } = done.unwrap_or_default();
        if let Some(guest) = occupants.first() {
            return Err(occupied(*guest));
        }
        Ok(PrunedView { agent_id: agent, done: is_done, branch, head, rescued })
    }
}

/// Looks at one worktree. What git cannot say of it is no reason not to show the others.
fn look(repo: &Repo, worktree: &WorktreeView) -> GitView {
    let state = match repo.state(Path::new(&worktree.path)) {
        Ok(state) => state,
        Err(error) => return problem(&error),
    };
    let mut files = [state.staged, state.unstaged, state.untracked].concat();
    let mut view = GitView {
        uncommitted: files.len(),
        in_progress: state.in_progress,
        head: state.head,
        ..GitView::default()
    };
    files.truncate(MOST_FILES);
    view.files = files;
    if let (Some(target), Some(head)) = (&worktree.target, &view.head) {
        let target = format!("refs/heads/{target}");
        let counted = repo
            .log(&target, head, MOST_COMMITS)
            .and_then(|ahead| Ok((ahead.len(), repo.log(head, &target, MOST_COMMITS)?.len())));
        match counted {
            Ok((ahead, behind)) => (view.ahead, view.behind) = (Some(ahead), Some(behind)),
            Err(error) => view.problem = Some(error.to_string()),
        }
    }
    view
}

fn problem(error: &host::git::GitError) -> GitView {
    GitView { problem: Some(error.to_string()), ..GitView::default() }
}
