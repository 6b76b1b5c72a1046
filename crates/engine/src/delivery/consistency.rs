//! Compares git with the record. Repairs nothing: a disagreement is a bug or
//! another hand.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use host::git::{Repo, going};
use model::agent::AgentState;
use model::review::{MergeState, WorktreeState};
use serde_json::json;
use store::{AgentPage, Merge, MergePage, Page, Review, ReviewPage, Tx, Worktree, WorktreePage};
use wire::worktrees::Disagreement;

use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::delivery::service::Delivery;
use crate::delivery::worktree_setup::BRANCHES;

/// Rows read at once.
const ROWS: u32 = 500;
/// Repeated looks when something changed meanwhile.
const MAX_PASSES: u32 = 5;

/// State according to the record.
#[derive(Debug, Default)]
struct Record {
    worktrees: Vec<Worktree>,
    reviews: Vec<Review>,
    merges: Vec<Merge>,
    feedback: Vec<store::Feedback>,
    /// Commits whose loss a person has accepted
    lost: HashSet<String>,
    /// Agents that have not ended, and whether they wait for a review
    live: BTreeMap<model::AgentId, bool>,
    /// Agents whose worktree is being made, merged or removed; they are not judged
    in_work: HashSet<model::AgentId>,
}

impl Delivery {
    /// Compares git and the record. Blocks.
    pub fn disagreements(&self) -> Result<Vec<Disagreement>, ToolError> {
        // The two cannot be read at the same moment, so what was found while the record moved is looked at again.
        let last = self.store.last_event();
        let mut looks = 1;
        loop {
            let before = *last.borrow();
            let found = self.differences()?;
            if found.is_empty() || looks == MAX_PASSES || *last.borrow() == before {
                return Ok(found);
            }
            looks += 1;
        }
    }

    /// Accepts that the commits which no branch reaches are gone, as after a `git reset` by the user. Changes nothing in
    /// git.
    pub async fn settle_lost_commits(&self) -> Result<Vec<String>, ToolError> {
        let compared = self.clone();
        let found = tokio::task::spawn_blocking(move || compared.disagreements()).await;
        let found = found.map_err(ToolError::internal)??;
        let lost = found.into_iter().filter(|one| one.can_settle).map(|one| one.about);
        let lost: Vec<String> = lost.collect();
        let output = json!({ "commits": lost });
        let row = self.operator_row("operator__settle", None, "{}".to_owned(), &output);
        let (commits, now) = (lost.clone(), self.now());
        self.store
            .write(move |tx| {
                for commit in &commits {
                    tx.lost_commit_settle(commit, now)?;
                }
                tx.audit_append(&row)?;
                Ok::<_, ToolError>(())
            })
            .await?;
        Ok(lost)
    }

    fn differences(&self) -> Result<Vec<Disagreement>, ToolError> {
        let record = self.store.read(Record::of)?;
        let mut found = record.reviews_in_order();
        let repo = match self.repo(&self.options.project) {
            Ok(repo) => repo,
            // Without a repository there is nothing to compare with.
            Err(_) if record.worktrees.is_empty() => return Ok(found),
            Err(error) => return Err(error.into()),
        };
        found.extend(record.worktrees_there(self, &repo)?);
        found.extend(record.branches_known(&repo)?);
        found.extend(record.commits_there(&repo)?);
        Ok(found)
    }
}

fn differs(about: &impl ToString, what: &str) -> Disagreement {
    Disagreement { about: about.to_string(), what: what.to_owned(), can_settle: false }
}

impl Record {
    fn of(tx: &Tx<'_>) -> Result<Self, ToolError> {
        let mut record = Self {
            worktrees: Page::all(|after| tx.worktree_page(WorktreePage::All, after, ROWS))?,
            reviews: Page::all(|after| tx.review_page(ReviewPage::All, after, ROWS))?,
            merges: Page::all(|after| tx.merge_page(MergePage::All, after, ROWS))?,
            lost: tx.lost_commits()?,
            ..Self::default()
        };
        for agent in Page::all(|after| tx.agent_page(AgentPage::Live, after, ROWS))? {
            record.live.insert(agent.id, agent.state == AgentState::WaitingReview);
        }
        record.in_work = tx.outbox_jobs_open()?.iter().filter_map(|job| job.agent).collect();
        for review in &record.reviews {
            record.feedback.extend(tx.feedback_by(review.reviewer)?);
        }
        Ok(record)
    }

    /// Checks that agents waiting for a review have one, and reviewed agents wait.
    fn reviews_in_order(&self) -> Vec<Disagreement> {
        let mut found = Vec::new();
        for review in self.reviews.iter().filter(|review| !review.state.is_over()) {
            if !self.live.contains_key(&review.reviewer) {
                found.push(differs(&review.reviewer, "its review is open and it has ended"));
            }
            if self.live.get(&review.coder) != Some(&true) {
                found
                    .push(differs(&review.coder, "it has an open review but does not wait for it"));
            }
        }
        for (agent, _) in self.live.iter().filter(|(_, waits)| **waits) {
            let open = self.reviews.iter().filter(|review| !review.state.is_over());
            if !open.map(|review| review.coder).any(|coder| coder == *agent) {
                found.push(differs(agent, "it waits for a review, but none is open"));
            }
        }
        found
    }

    /// Worktrees are where the record says, and nowhere else.
    fn worktrees_there(&self, engine: &Core, repo: &Repo) -> Result<Vec<Disagreement>, ToolError> {
        let mut found = Vec::new();
        let listed: HashSet<_> = repo.worktrees()?.into_iter().map(|entry| entry.path).collect();
        for worktree in self.worktrees.iter().filter(|tree| !self.in_work.contains(&tree.agent)) {
            let path = Path::new(&worktree.path);
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            let known = listed.contains(path) || listed.contains(&real);
            match worktree.state {
                WorktreeState::There if !(path.is_dir() && known) => {
                    found.push(differs(&worktree.agent, "its worktree is gone"));
                }
                WorktreeState::Gone if path.exists() || known => {
                    found.push(differs(
                        &worktree.agent,
                        "its worktree still exists, but should be removed",
                    ));
                }
                WorktreeState::There | WorktreeState::Gone | WorktreeState::Wanted => {}
            }
        }
        let paths = self.worktrees.iter().map(|tree| PathBuf::from(&tree.path));
        let being_removed = self.worktrees.iter().filter(|tree| self.in_work.contains(&tree.agent));
        let being_removed = being_removed.map(|tree| going(Path::new(&tree.path)));
        let names: HashSet<OsString> = paths
            .chain(being_removed)
            .filter_map(|path| path.file_name().map(OsStr::to_owned))
            .collect();
        let mut folders = Vec::new();
        for place in engine.worktree_folders() {
            folders.extend(host::files::list(&place).map_err(ToolError::internal)?);
        }
        for folder in folders {
            let is_scratch = folder.to_string_lossy().starts_with("merge-");
            if !is_scratch && !names.contains(&folder) {
                found.push(differs(&folder.to_string_lossy(), "a worktree without an agent"));
            }
        }
        Ok(found)
    }

    /// Every branch of ours belongs to an agent.
    fn branches_known(&self, repo: &Repo) -> Result<Vec<Disagreement>, ToolError> {
        let mut found = Vec::new();
        for (branch, _) in repo.branches(BRANCHES)? {
            let rest = branch.strip_prefix(BRANCHES).unwrap_or_default();
            let known = self.worktrees.iter().any(|tree| {
                tree.branch == branch
                    || tree.rescued.as_ref().is_some_and(|rescued| branch.starts_with(rescued))
            });
            if !known && !rest.starts_with("epic/") {
                found.push(differs(&branch, "a branch without an agent"));
            }
        }
        Ok(found)
    }

    /// Checks that commits recorded as merged or rescued are reachable, apart from those whose loss was accepted.
    fn commits_there(&self, repo: &Repo) -> Result<Vec<Disagreement>, ToolError> {
        let mut commits: BTreeMap<&str, String> = BTreeMap::new();
        for (commit, message) in
            self.feedback.iter().filter_map(|message| Some((message.commit.as_ref()?, message)))
        {
            commits.insert(commit, format!("it brought feedback to {}", message.coder));
        }
        for (head, tree) in
            self.worktrees.iter().filter_map(|tree| Some((tree.head.as_ref()?, tree)))
        {
            commits.insert(head, format!("it was the work of {}", tree.agent));
        }
        for merge in self.merges.iter().filter(|merge| merge.state == MergeState::Merged) {
            let (branch, target) = (&merge.branch, &merge.target);
            let about = format!("it merged `{branch}` into `{target}`");
            commits.insert(&merge.commit, about.clone());
            commits.extend(merge.merged.as_deref().map(|merged| (merged, about)));
        }
        let named: Vec<String> = commits.keys().map(|commit| (*commit).to_owned()).collect();
        let mut lost = repo.unreachable_from_branches(&named)?;
        lost.retain(|commit| !self.lost.contains(commit));
        let found = lost.iter().map(|commit| {
            let about = commits.get(commit.as_str()).map(String::as_str).unwrap_or_default();
            let what = format!("no branch contains it; {about}");
            Disagreement { can_settle: true, ..differs(commit, &what) }
        });
        Ok(found.collect())
    }
}
