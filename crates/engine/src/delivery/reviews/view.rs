//! Reviews as people and programs see them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use model::agent::AgentStateName;
use model::review::{
    FeedbackPriority, FeedbackType, InstanceStatus, PullState, ReviewLimits, ReviewState,
};
use model::{AgentId, FeedbackId, TaskRef, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use store::{Agent, AgentPage, Feedback, Page, PullRequest, Review, ReviewPage, Task, Tx};

use super::history;
use crate::call::cx::{find_agent, find_task, task_of};
use crate::core::engine::Engine;
use crate::core::error::ToolError;
use crate::core::settings::Settings;
use crate::delivery::outbox::review::limit_error;

/// So many agents are read at once.
const ROWS: u32 = 500;

/// A task in a few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub struct TaskInShort {
    /// Its number: `TAS-12`
    pub number: TaskRef,
    /// Its name for people
    pub slug: String,
    /// What is to be done
    pub title: String,
}

impl From<&Task> for TaskInShort {
    fn from(task: &Task) -> Self {
        let (slug, title) = (task.slug.clone(), task.title.clone());
        Self { number: TaskRef::Number(task.number), slug, title }
    }
}

/// What a reviewer told a coder.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackView {
    /// Its id
    pub id: FeedbackId,
    /// What it is
    #[serde(rename = "type")]
    pub kind: FeedbackType,
    /// How much it matters
    pub priority: Option<FeedbackPriority>,
    /// What it says
    pub body: String,
    /// What is to be done, one by one
    pub items: Vec<String>,
    /// The commit by which it came; null until it is merged
    pub commit: Option<String>,
    /// When it was said
    pub created_at: Timestamp,
}

impl From<Feedback> for FeedbackView {
    fn from(said: Feedback) -> Self {
        let Feedback { id, kind, priority, body, items, commit, created_at, .. } = said;
        Self { id, kind, priority, body, items, commit, created_at }
    }
}

/// A pull request in short.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PullView {
    /// `owner/name`
    pub repository: String,
    /// Its number there
    pub number: u64,
    /// Where it can be read
    pub url: String,
    /// How it stands
    pub state: PullState,
}

impl From<PullRequest> for PullView {
    fn from(pull: PullRequest) -> Self {
        let PullRequest { repository, pull: number, url, state, .. } = pull;
        Self { repository, number, url, state }
    }
}

/// One look at an agent's work.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewView {
    /// Whose work is looked at
    pub coder_id: AgentId,
    /// The coder's role
    pub coder_role: String,
    /// Who looks
    pub reviewer_id: AgentId,
    /// The reviewer's role
    pub reviewer_role: Option<String>,
    /// The slug of the coder's task
    pub task_slug: Option<String>,
    /// The coder's task
    pub task: Option<TaskInShort>,
    /// For which time
    pub iteration: u32,
    /// How often its work may be looked at
    pub max_iterations: u32,
    /// How it stands, or how it ended
    pub state: ReviewState,
    /// Whether it counts as a failed one
    pub failed: bool,
    /// Which branch
    pub branch: String,
    /// Which commit
    pub commit: String,
    /// What the coder says of it
    pub message: Option<String>,
    /// What the reviewer said
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<FeedbackView>,
    /// How the coder stands, in the words of the review's seed
    pub instance_status: InstanceStatus,
    /// The coder's pull request
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullView>,
    /// The tmux session that shows the reviewer
    pub tmux_session: Option<String>,
    /// When it was asked for
    pub created_at: Timestamp,
    /// When it was over
    pub ended_at: Option<Timestamp>,
}

/// How many reviews an agent had and may have.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CoderView {
    /// The agent
    pub coder_id: AgentId,
    /// Its role
    pub role: String,
    /// How it stands
    pub state: AgentStateName,
    /// The same in the words of the review's seed
    pub instance_status: InstanceStatus,
    /// The slug of its task
    pub task_slug: Option<String>,
    /// Its task
    pub task: Option<TaskInShort>,
    /// The branch its work is on; null where that is not on record
    pub branch: Option<String>,
    /// When its last review was over
    pub reviewed_at: Option<Timestamp>,
    /// How often its work was looked at
    pub iterations: u32,
    /// How often it may be
    pub max_iterations: u32,
    /// How many of these reviews failed
    pub failures: u32,
    /// After how many failures it is abandoned
    pub abandon_after: u32,
    /// What can be done where it has had all its reviews
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
}

/// All reviews of an agent's work, and of the work it goes on with.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoryView {
    /// Whose work
    #[serde(flatten)]
    pub coder: CoderView,
    /// Its pull request
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullView>,
    /// The reviews, first to last
    pub reviews: Vec<ReviewView>,
}

/// Whose reviews are asked for.
#[derive(Debug, Clone)]
pub enum Whose {
    /// Those of an agent's work, or of the work that it looks at
    Agent(AgentId),
    /// Those of the work on a task
    Task(TaskRef),
}

/// What is the same for all reviews of one coder, read once.
#[derive(Debug, Clone)]
struct Coder {
    agent: Agent,
    task: Option<Task>,
    pull: Option<PullRequest>,
    last: Option<Review>,
    iterations: u32,
    failures: u32,
    limits: ReviewLimits,
}

impl Coder {
    fn read(tx: &Tx<'_>, settings: &Settings, id: AgentId) -> Result<Self, ToolError> {
        let agent = find_agent(tx, id)?;
        let task = task_of(tx, agent.task)?;
        let (iterations, failures, limits) = history(tx, settings, id)?;
        let last = tx.reviews_of(id)?.pop();
        Ok(Self { task, pull: tx.pull_of(id)?, last, iterations, failures, limits, agent })
    }

    fn status(&self) -> InstanceStatus {
        let pull = self.pull.as_ref().map(|pull| pull.state);
        InstanceStatus::of(self.agent.state.name(), pull)
    }

    /// How often its work may be looked at.
    const fn most(&self) -> u32 {
        self.limits.max_iterations.saturating_add(self.limits.more)
    }

    fn task_slug(&self) -> Option<String> {
        self.task.as_ref().map(|task| task.slug.clone())
    }

    fn view(&self) -> CoderView {
        let id = self.agent.id;
        let suggestions = match self.limits.next(self.iterations) {
            Err(limit) if self.agent.ended_at().is_none() => {
                let mut suggestions = limit_error(id, limit).suggestions;
                suggestions.push(format!("Allow one more review: adjutant review allow-more {id}"));
                suggestions
            }
            _ => Vec::new(),
        };
        CoderView {
            coder_id: id,
            role: self.agent.role.clone(),
            state: self.agent.state.name(),
            instance_status: self.status(),
            task_slug: self.task_slug(),
            task: self.task.as_ref().map(TaskInShort::from),
            branch: self.last.as_ref().map(|review| review.branch.clone()),
            reviewed_at: self.last.as_ref().and_then(|review| review.ended_at),
            iterations: self.iterations,
            max_iterations: self.most(),
            failures: self.failures,
            abandon_after: self.limits.abandon_after,
            suggestions,
        }
    }

    fn review(&self, tx: &Tx<'_>, review: Review) -> Result<ReviewView, ToolError> {
        let reviewer = tx.agent_get(review.reviewer)?;
        Ok(ReviewView {
            feedback: tx.feedback_by(review.reviewer)?.map(FeedbackView::from),
            coder_id: review.coder,
            coder_role: self.agent.role.clone(),
            reviewer_id: review.reviewer,
            reviewer_role: reviewer.as_ref().map(|reviewer| reviewer.role.clone()),
            task_slug: self.task_slug(),
            task: self.task.as_ref().map(TaskInShort::from),
            iteration: review.iteration,
            max_iterations: self.most(),
            state: review.state,
            failed: review.failed,
            branch: review.branch,
            commit: review.commit,
            message: review.message,
            instance_status: self.status(),
            pull_request: self.pull.clone().map(PullView::from),
            tmux_session: reviewer.and_then(|reviewer| reviewer.tmux_session),
            created_at: review.created_at,
            ended_at: review.ended_at,
        })
    }
}

impl Engine {
    /// Lists reviews, oldest first.
    pub async fn reviews(
        &self,
        which: ReviewPage,
        after: i64,
        limit: u32,
    ) -> Result<Page<ReviewView>, ToolError> {
        let settings = self.settings();
        self.store
            .scan(move |tx| {
                let page = tx.review_page(which, after, limit)?;
                let mut coders: HashMap<AgentId, Coder> = HashMap::new();
                let mut items = Vec::new();
                for review in page.items {
                    let coder = match coders.entry(review.coder) {
                        Entry::Occupied(known) => known.into_mut(),
                        Entry::Vacant(new) => new.insert(Coder::read(tx, &settings, review.coder)?),
                    };
                    items.push(coder.review(tx, review)?);
                }
                Ok(Page { items, next: page.next })
            })
            .await
    }

    /// The agents that work, have had all their reviews, and have nothing to wait for.
    pub async fn coders_at_their_limit(&self) -> Result<Vec<CoderView>, ToolError> {
        let settings = self.settings();
        self.store
            .scan(move |tx| {
                let mut found = Vec::new();
                for agent in Page::all(|after| tx.agent_page(AgentPage::Live, after, ROWS))? {
                    if tx.reviews_of(agent.id)?.is_empty() {
                        continue;
                    }
                    let coder = Coder::read(tx, &settings, agent.id)?;
                    let stuck = coder.limits.next(coder.iterations).is_err();
                    if stuck && coder.status() == InstanceStatus::Started {
                        found.push(coder.view());
                    }
                }
                Ok(found)
            })
            .await
    }

    /// The whole story of the reviews of somebody's work.
    pub async fn review_story(&self, whose: Whose) -> Result<StoryView, ToolError> {
        let settings = self.settings();
        self.store
            .scan(move |tx| {
                let id = coder_of(tx, &whose)?;
                let coder = Coder::read(tx, &settings, id)?;
                let mut reviews = Vec::new();
                for id in lineage(tx, id)? {
                    for review in tx.reviews_of(id)? {
                        reviews.push(coder.review(tx, review)?);
                    }
                }
                let pull_request = coder.pull.clone().map(PullView::from);
                Ok(StoryView { coder: coder.view(), pull_request, reviews })
            })
            .await
    }
}

/// An agent after those that it goes on for, oldest first.
fn lineage(tx: &Tx<'_>, last: AgentId) -> Result<Vec<AgentId>, ToolError> {
    let (mut line, mut next) = (Vec::new(), Some(last));
    while let Some(id) = next {
        line.push(id);
        next = tx.run_get(id)?.and_then(|run| run.resumed_from);
    }
    line.reverse();
    Ok(line)
}

/// Who did the work that is meant.
fn coder_of(tx: &Tx<'_>, whose: &Whose) -> Result<AgentId, ToolError> {
    let name = match whose {
        Whose::Agent(id) => {
            let id = find_agent(tx, *id)?.id;
            return Ok(tx.review_by(id)?.map_or(id, |review| review.coder));
        }
        Whose::Task(name) => name,
    };
    let task = find_task(tx, name)?;
    let worktree = match &task.branch_name {
        Some(branch) => tx.worktree_by_branch(branch)?,
        None => None,
    };
    let holder = task.state.claim().map(|claim| claim.holder);
    let who = worktree.map(|worktree| worktree.agent).or(holder).or(task.assigned_agent);
    who.ok_or_else(|| {
        ToolError::not_found(format!("nobody has worked on the task `{}` yet", task.slug))
            .hint("`adjutant reviews --all` lists all reviews")
    })
}
