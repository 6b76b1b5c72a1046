//! Reviews as people and programs see them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use model::review::{InstanceStatus, ReviewLimits};
use model::task::TaskStateName;
use model::{AgentId, TaskRef};
use store::{Agent, AgentPage, Feedback, Page, PullRequest, Review, ReviewPage, Task, Tx};
use wire::reviews::{
    CoderView, FeedbackView, PullRequestView, ReviewStory, ReviewTask, ReviewView, Reviews,
};

use super::{history, limit_error};
use crate::call::cx::{find_agent, find_task, task_of};
use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::scope::ListScope;
use crate::core::settings::Settings;
use crate::delivery::check_environment;
use crate::delivery::service::Delivery;

/// Agents read at once.
const ROWS: u32 = 500;

fn review_task(task: &Task) -> ReviewTask {
    let (slug, title) = (task.slug.clone(), task.title.clone());
    ReviewTask { number: TaskRef::Number(task.number), slug, title }
}

fn feedback_view(text: Feedback) -> FeedbackView {
    let Feedback { id, kind, priority, body, items, commit, created_at, .. } = text;
    FeedbackView { id, kind, priority, body, items, commit, created_at }
}

/// Returns a pull request in short.
pub(crate) fn pull_request_view(pull: PullRequest) -> PullRequestView {
    let PullRequest { repository, pull: number, url, state, .. } = pull;
    PullRequestView { repository, number, url, state }
}

/// Selection of reviews.
#[derive(Debug, Clone)]
pub enum ReviewSelection {
    /// Those of an agent's work, or of the work that it looks at
    Agent(AgentId),
    /// Those of the work on a task
    Task(TaskRef),
}

/// Data shared by all reviews of one coder, read once.
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

    /// Maximum number of reviews.
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
            task: self.task.as_ref().map(review_task),
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
            feedback: tx.feedback_by(review.reviewer)?.map(feedback_view),
            coder_id: review.coder,
            coder_role: self.agent.role.clone(),
            reviewer_id: review.reviewer,
            reviewer_role: reviewer.as_ref().map(|reviewer| reviewer.role.clone()),
            task_slug: self.task_slug(),
            task: self.task.as_ref().map(review_task),
            iteration: review.iteration,
            max_iterations: self.most(),
            state: review.state,
            failed: review.failed,
            branch: review.branch,
            commit: review.commit,
            message: review.message,
            instance_status: self.status(),
            pull_request: self.pull.clone().map(pull_request_view),
            tmux_session: reviewer.and_then(|reviewer| reviewer.tmux_session),
            created_at: review.created_at,
            ended_at: review.ended_at,
        })
    }
}

impl Delivery {
    /// Lists reviews, oldest first. The first page also has the agents at their review limit.
    pub async fn reviews(
        &self,
        scope: ListScope,
        after: i64,
        limit: u32,
    ) -> Result<Reviews, ToolError> {
        let limited = if after == 0 { self.coders_at_their_limit().await? } else { Vec::new() };
        let settings = self.settings();
        self.store
            .scan(move |tx| {
                let page =
                    tx.review_page(scope.choose(ReviewPage::Open, ReviewPage::All), after, limit)?;
                let mut coders: HashMap<AgentId, Coder> = HashMap::new();
                let mut items = Vec::new();
                for review in page.items {
                    let coder = match coders.entry(review.coder) {
                        Entry::Occupied(known) => known.into_mut(),
                        Entry::Vacant(new) => new.insert(Coder::read(tx, &settings, review.coder)?),
                    };
                    items.push(coder.review(tx, review)?);
                }
                Ok(Reviews { limited, reviews: items, next_cursor: page.next })
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

    /// Every review of an agent's work, with its feedback.
    pub async fn review_story(&self, whose: ReviewSelection) -> Result<ReviewStory, ToolError> {
        let settings = self.settings();
        let core = Core::clone(self);
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
                let pull_request = coder.pull.clone().map(pull_request_view);
                let missing_variables = missing_variables(&core, &coder)?;
                Ok(ReviewStory { coder: coder.view(), pull_request, reviews, missing_variables })
            })
            .await
    }
}

/// Variables that the check of an agent's work would lack; none if it is not in review or there is no check.
fn missing_variables(engine: &Core, coder: &Coder) -> Result<Vec<String>, ToolError> {
    let is_in_review = |task: &&Task| task.state.name() == TaskStateName::Review;
    match coder.task.as_ref().filter(is_in_review) {
        Some(task) if engine.settings().check.is_some() => {
            check_environment::forecast(engine, Some(coder.agent.id), task.id)
        }
        _ => Ok(Vec::new()),
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

/// Finds the author of the selected work.
fn coder_of(tx: &Tx<'_>, whose: &ReviewSelection) -> Result<AgentId, ToolError> {
    let name = match whose {
        ReviewSelection::Agent(id) => {
            let id = find_agent(tx, *id)?.id;
            return Ok(tx.review_by(id)?.map_or(id, |review| review.coder));
        }
        ReviewSelection::Task(name) => name,
    };
    let task = find_task(tx, name)?;
    let worktree = match &task.branch_name {
        Some(branch) => tx.worktree_by_branch(branch)?,
        None => None,
    };
    let holder = task.state.claim().map(|claim| claim.holder);
    let who = worktree.map(|worktree| worktree.agent).or(holder).or(task.assigned_agent);
    who.ok_or_else(|| {
        ToolError::not_found(format!("no agent has worked on the task `{}` yet", task.slug))
            .hint("`adjutant reviews --all` lists all reviews")
    })
}
