//! Review queue: work waiting for approval or a merge, with details from git.

use std::collections::{BTreeSet, HashMap};

use host::git::{GitError, Repo};
use model::review::MergeState;
use model::task::TaskStateName;
use model::{EpicId, MergeId, TaskId};
use store::{Merge, MergePage, PullRequest, TaskFilter, Tx};
use wire::merges::{
    BranchOverlap, MergeView, Merges, ReviewQueueAnswer, ReviewedPullRequest, ReviewedTask,
};
use wire::paging::PageCursor;
use wire::tasks::TaskView;

use super::forecast::{self, Branch};
use super::{BranchHead, SubmittedWork};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::scope::ListScope;
use crate::delivery::merge_queue::view::merge_view;
use crate::delivery::service::Delivery;
use crate::tasks::view::task_view;

/// Open merges shown with the reviews.
const QUEUE: u32 = 500;
/// Uncommitted files listed.
const FILES: usize = 100;

/// Scope of a review query.
#[derive(Debug, Clone, Copy)]
pub struct ReviewScope {
    /// Only tasks of this epic
    pub epic: Option<EpicId>,
    /// Only tasks after this number
    pub after: i64,
    /// At most so many
    pub limit: u32,
}

impl Default for ReviewScope {
    fn default() -> Self {
        Self { epic: None, after: 0, limit: 50 }
    }
}

/// Recorded state of the waiting work.
#[derive(Debug)]
pub(crate) struct Waiting {
    reviewed: Vec<(SubmittedWork, TaskView, Option<PullRequest>)>,
    queue: Vec<(Merge, MergeView)>,
    next: Option<i64>,
}

/// Reads one page of tasks in review, and the queue.
pub(crate) fn look_at(tx: &Tx<'_>, scope: ReviewScope) -> Result<Waiting, ToolError> {
    let states = vec![TaskStateName::Review];
    let filter = TaskFilter { states, epic: scope.epic, session: None };
    let page = tx.task_page(&filter, scope.after, scope.limit)?;
    let mut reviewed = Vec::new();
    for task in page.items {
        let handed = SubmittedWork::of(tx, task.clone())?;
        let pull = handed.worker.as_ref().map(|worker| tx.pull_of(worker.id)).transpose()?;
        reviewed.push((handed, task_view(tx, task)?, pull.flatten()));
    }
    let queue = in_order(tx, tx.merge_page(MergePage::Open, 0, QUEUE)?.items)?;
    Ok(Waiting { reviewed, queue, next: page.next })
}

/// Merges with their places: those that wait for the same branch are counted.
fn in_order(tx: &Tx<'_>, merges: Vec<Merge>) -> Result<Vec<(Merge, MergeView)>, ToolError> {
    let mut ahead: HashMap<String, u32> = HashMap::new();
    let mut places: HashMap<MergeId, u32> = HashMap::new();
    for merge in tx.merge_page(MergePage::Open, 0, QUEUE)?.items {
        if matches!(merge.state, MergeState::Queued | MergeState::Merging) {
            let place = ahead.entry(merge.target).or_default();
            *place += 1;
            places.insert(merge.id, *place);
        }
    }
    let show = |merge: Merge| {
        let position = places.get(&merge.id).copied();
        Ok((merge.clone(), merge_view(tx, merge, position)?))
    };
    merges.into_iter().map(show).collect()
}

/// One merge with its place.
pub(super) fn one_view(tx: &Tx<'_>, merge: Merge) -> Result<MergeView, ToolError> {
    let id = merge.id;
    let view = in_order(tx, vec![merge])?.into_iter().next().map(|(_, view)| view);
    view.ok_or_else(|| ToolError::not_found(format!("there is no merge `{id}`")))
}

/// Waiting work, with details from git.
pub(super) struct InspectedQueue {
    /// The tasks, each with what the record knows of it and its branch where that can go somewhere
    pub(super) tasks: Vec<(ReviewedTask, SubmittedWork, Option<Branch>)>,
    pub(super) queue: Vec<MergeView>,
    pub(super) next_cursor: Option<PageCursor>,
}

impl Waiting {
    /// Looks at the branches. Blocks.
    pub(crate) fn ask_git(self, engine: &Core) -> Result<ReviewQueueAnswer, ToolError> {
        let InspectedQueue { tasks, queue, next_cursor } = self.look(engine)?;
        let tasks = tasks.into_iter().map(|(shown, ..)| shown).collect();
        Ok(ReviewQueueAnswer { tasks, queue, next_cursor })
    }

    /// The same, with what each was told of. Blocks.
    pub(super) fn look(self, engine: &Core) -> Result<InspectedQueue, ToolError> {
        let Self { reviewed, queue, next } = self;
        let repo = engine.repo(&engine.options.project);
        let mut tasks = Vec::new();
        for (handed, view, pull) in reviewed {
            let mut shown = reviewed_task(view, pull);
            let seen = match &repo {
                Ok(repo) => look_at_branch(&mut shown, engine, repo, &handed),
                Err(error) => Err(ToolError::conflict(error.to_string())),
            };
            let branch = seen.unwrap_or_else(|error| {
                shown.problem = Some(error.message);
                None
            });
            tasks.push((shown, handed, branch));
        }
        if let Ok(repo) = &repo {
            let mut branches: Vec<Branch> =
                tasks.iter().filter_map(|(_, _, branch)| branch.clone()).collect();
            branches.extend(approved(repo, &queue, &branches));
            let overlaps = forecast::foretell(repo, &branches)?;
            let of = branches.iter().map(|branch| branch.task).zip(overlaps);
            let mut of: HashMap<TaskId, Vec<BranchOverlap>> = of.collect();
            for (shown, handed, _) in &mut tasks {
                shown.overlaps = of.remove(&handed.task.id).unwrap_or_default();
            }
        }
        let queue = queue.into_iter().map(|(_, view)| view).collect();
        Ok(InspectedQueue { tasks, queue, next_cursor: next.map(PageCursor::from) })
    }
}

/// The branches in the queue that are not among those in review already. What git cannot say is left out.
fn approved(repo: &Repo, queue: &[(Merge, MergeView)], known: &[Branch]) -> Vec<Branch> {
    let look = |merge: &Merge, slug: &str| -> Result<Option<Branch>, GitError> {
        let Some(target_head) = repo.resolve(&format!("refs/heads/{}", merge.target))? else {
            return Ok(None);
        };
        let files = forecast::files(repo, &target_head, &merge.commit)?;
        Ok(Some(Branch {
            task: merge.task,
            slug: slug.to_owned(),
            commit: merge.commit.clone(),
            target: merge.target.clone(),
            target_head,
            files,
        }))
    };
    let new = |merge: &Merge| known.iter().all(|branch| branch.task != merge.task);
    queue
        .iter()
        .filter(|(merge, _)| new(merge))
        .filter_map(|(merge, view)| look(merge, &view.slug).ok().flatten())
        .collect()
}

/// Returns a task of which git has not been asked yet.
fn reviewed_task(task: TaskView, pull: Option<PullRequest>) -> ReviewedTask {
    let pull_request = pull.map(|pull| ReviewedPullRequest {
        number: pull.pull,
        url: pull.url,
        state: pull.state,
    });
    ReviewedTask {
        task,
        branch: None,
        commit: None,
        target: None,
        changed_files: 0,
        additions: 0,
        deletions: 0,
        uncommitted: Vec::new(),
        pull_request,
        overlaps: Vec::new(),
        merges_cleanly: None,
        conflicts: Vec::new(),
        problem: None,
    }
}

/// Looks at the branch of one task; none where it has none, or it cannot go anywhere.
fn look_at_branch(
    reviewed: &mut ReviewedTask,
    engine: &Core,
    repo: &Repo,
    handed: &SubmittedWork,
) -> Result<Option<Branch>, ToolError> {
    let Some(found) = handed.find(engine, repo)? else { return Ok(None) };
    let BranchHead { branch, head, target, target_head } = found;
    reviewed.branch = Some(branch);
    reviewed.commit = Some(head.clone());
    reviewed.target = Some(target.clone());
    if let Some(dir) = handed.place(engine) {
        let state = repo.state(&dir)?;
        let open = state.staged.into_iter().chain(state.unstaged).chain(state.untracked);
        let open: BTreeSet<String> = open.collect();
        reviewed.uncommitted = open.into_iter().take(FILES).collect();
    }
    let Some(target_head) = target_head else {
        return Err(ToolError::not_found(format!("the branch `{target}` does not exist any more")));
    };
    let diff = repo.diff(&target_head, &head, 0)?;
    reviewed.changed_files = u64::try_from(diff.files.len()).unwrap_or(u64::MAX);
    reviewed.additions = diff.files.iter().filter_map(|file| file.added).sum();
    reviewed.deletions = diff.files.iter().filter_map(|file| file.removed).sum();
    reviewed.conflicts = forecast::trial(repo, &target_head, &head)?;
    reviewed.merges_cleanly = Some(reviewed.conflicts.is_empty());
    let files = forecast::files(repo, &target_head, &head)?;
    let (task, slug) = (handed.task.id, handed.task.slug.clone());
    Ok(Some(Branch { task, slug, commit: head, target, target_head, files }))
}

impl Delivery {
    /// Approved work, oldest first: what is not over, or all there ever was.
    pub fn merge_queue(
        &self,
        scope: ListScope,
        after: i64,
        limit: u32,
    ) -> Result<Merges, ToolError> {
        self.store.read(|tx| {
            let page =
                tx.merge_page(scope.choose(MergePage::Open, MergePage::All), after, limit)?;
            let merges = in_order(tx, page.items)?.into_iter().map(|(_, view)| view).collect();
            Ok(Merges { merges, over: Vec::new(), next_cursor: page.next })
        })
    }
}
