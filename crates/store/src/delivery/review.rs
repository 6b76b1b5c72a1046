//! Reviews: reviewer, coder, iteration and feedback.

use model::review::{FeedbackPriority, FeedbackType, ReviewState};
use model::{AgentId, FeedbackId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A review to be.
#[derive(Debug, Clone)]
pub struct NewReview {
    /// Author of the work
    pub coder: AgentId,
    /// Reviewing agent
    pub reviewer: AgentId,
    /// For which time
    pub iteration: u32,
    /// Reviewed branch
    pub branch: String,
    /// Reviewed commit
    pub commit: String,
    /// Message of the coder
    pub message: Option<String>,
}

/// A review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// Its place among all reviews
    pub number: i64,
    /// Author of the work
    pub coder: AgentId,
    /// Reviewing agent
    pub reviewer: AgentId,
    /// For which time
    pub iteration: u32,
    /// Reviewed branch
    pub branch: String,
    /// Reviewed commit
    pub commit: String,
    /// Message of the coder
    pub message: Option<String>,
    /// Current state
    pub state: ReviewState,
    /// True if it counts as a failed review
    pub failed: bool,
    /// When it was asked for
    pub created_at: Timestamp,
    /// When it was over
    pub ended_at: Option<Timestamp>,
}

/// Feedback of a reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// Its id
    pub id: FeedbackId,
    /// Author
    pub reviewer: AgentId,
    /// To whom
    pub coder: AgentId,
    /// Type
    pub kind: FeedbackType,
    /// Priority
    pub priority: Option<FeedbackPriority>,
    /// Decoded body
    pub body: String,
    /// Action items
    pub items: Vec<String>,
    /// The commit by which it came; none until it is merged
    pub commit: Option<String>,
    /// When it was written
    pub created_at: Timestamp,
}

/// New state of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewChange {
    /// State
    pub state: ReviewState,
    /// True if the review counts as failed
    pub failed: bool,
}

/// Page of reviews to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewPage {
    /// Those that are not over
    Open,
    /// All there ever were
    All,
}

const COLUMNS: &str = "number, coder_id, reviewer_id, iteration, branch, commit_hash, message, state, \
     failed, created_at, ended_at";
const FEEDBACK: &str =
    "id, reviewer_id, coder_id, kind, priority, body, items, commit_hash, created_at";

fn read(row: &Row<'_>) -> Result<Review, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Review {
        number: cells.get()?,
        coder: cells.parse()?,
        reviewer: cells.parse()?,
        iteration: cells.count()?,
        branch: cells.get()?,
        commit: cells.get()?,
        message: cells.get()?,
        state: cells.named(ReviewState::parse)?,
        failed: cells.get::<i64>()? != 0,
        created_at: cells.time()?,
        ended_at: cells.time_opt()?,
    })
}

fn read_feedback(row: &Row<'_>) -> Result<Feedback, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Feedback {
        id: cells.parse()?,
        reviewer: cells.parse()?,
        coder: cells.parse()?,
        kind: cells.named(FeedbackType::parse)?,
        priority: cells.named_opt(FeedbackPriority::parse)?,
        body: cells.get()?,
        items: {
            let items: String = cells.get()?;
            serde_json::from_str(&items).map_err(|error| cells.damaged(&error))?
        },
        commit: cells.get()?,
        created_at: cells.time()?,
    })
}

impl Tx<'_> {
    /// Records a review that begins.
    pub fn review_insert(&mut self, new: &NewReview, now: Timestamp) -> Result<(), StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM review", [])?;
        self.execute(
            "INSERT INTO review (number, coder_id, reviewer_id, iteration, branch, commit_hash,
                message, state, failed, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, 'open', 0, $8)",
            params![
                number,
                new.coder.to_string(),
                new.reviewer.to_string(),
                new.iteration,
                new.branch,
                new.commit,
                new.message,
                now.as_millis()
            ],
        )?;
        Ok(())
    }

    /// The review that an agent makes or made.
    pub fn review_by(&self, reviewer: AgentId) -> Result<Option<Review>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM review WHERE reviewer_id = $1"),
            params![reviewer.to_string()],
            read,
        )
    }

    /// The review of an agent's work that is not over, if there is one.
    pub fn review_open_of(&self, coder: AgentId) -> Result<Option<Review>, StoreError> {
        self.one(
            &format!(
                "SELECT {COLUMNS} FROM review WHERE coder_id = $1 AND ended_at IS NULL
                 ORDER BY number DESC LIMIT 1"
            ),
            params![coder.to_string()],
            read,
        )
    }

    /// All reviews of an agent's work, first to last.
    pub fn reviews_of(&self, coder: AgentId) -> Result<Vec<Review>, StoreError> {
        self.all(
            &format!("SELECT {COLUMNS} FROM review WHERE coder_id = $1 ORDER BY number"),
            params![coder.to_string()],
            read,
        )
    }

    /// Lists reviews, oldest first.
    pub fn review_page(
        &self,
        which: ReviewPage,
        after: i64,
        limit: u32,
    ) -> Result<Page<Review>, StoreError> {
        let only = match which {
            ReviewPage::Open => "ended_at IS NULL AND",
            ReviewPage::All => "",
        };
        let rows = self.all(
            &format!(
                "SELECT {COLUMNS} FROM review WHERE {only} number > $1 ORDER BY number LIMIT $2"
            ),
            params![after, i64::from(limit) + 1],
            read,
        )?;
        Ok(Page::cut(rows, limit, |review| review.number))
    }

    /// Moves a review into a state; an end has a time.
    pub fn review_set(
        &mut self,
        reviewer: AgentId,
        change: ReviewChange,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let ReviewChange { state, failed } = change;
        self.execute(
            "UPDATE review SET state = $2, failed = $3, ended_at = $4 WHERE reviewer_id = $1",
            params![
                reviewer.to_string(),
                state.name(),
                i64::from(failed),
                state.is_over().then(|| now.as_millis())
            ],
        )?;
        Ok(())
    }

    /// Reviewers that live on though their review is over, whom nobody asked to end yet, and since when
    /// it is over.
    pub fn reviewers_lingering(&self) -> Result<Vec<(AgentId, Timestamp)>, StoreError> {
        self.all(
            "SELECT r.reviewer_id, r.ended_at FROM agent AS a
             JOIN review AS r ON r.reviewer_id = a.id
             LEFT JOIN run AS u ON u.agent_id = a.id
             WHERE a.ended_at IS NULL AND r.ended_at IS NOT NULL AND u.stop_outcome IS NULL
             ORDER BY r.ended_at",
            [],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.parse()?, cells.time()?))
            },
        )
    }

    /// Records what a reviewer says.
    pub fn feedback_insert(&mut self, new: &Feedback) -> Result<(), StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM feedback", [])?;
        let items = serde_json::to_string(&new.items)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        self.execute(
            "INSERT INTO feedback (number, id, reviewer_id, coder_id, kind, priority, body, items,
                commit_hash, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            params![
                number,
                new.id.to_string(),
                new.reviewer.to_string(),
                new.coder.to_string(),
                new.kind.name(),
                new.priority.map(FeedbackPriority::name),
                new.body,
                items,
                new.commit,
                new.created_at.as_millis()
            ],
        )?;
        Ok(())
    }

    /// Finds a reviewer's feedback.
    pub fn feedback_by(&self, reviewer: AgentId) -> Result<Option<Feedback>, StoreError> {
        self.one(
            &format!(
                "SELECT {FEEDBACK} FROM feedback WHERE reviewer_id = $1 ORDER BY number DESC LIMIT 1"
            ),
            params![reviewer.to_string()],
            read_feedback,
        )
    }

    /// All feedback on an agent's work, first to last.
    pub fn feedback_of(&self, coder: AgentId) -> Result<Vec<Feedback>, StoreError> {
        self.all(
            &format!("SELECT {FEEDBACK} FROM feedback WHERE coder_id = $1 ORDER BY number"),
            params![coder.to_string()],
            read_feedback,
        )
    }

    /// Notes the commit by which feedback came.
    pub fn feedback_merged(&mut self, id: FeedbackId, commit: &str) -> Result<(), StoreError> {
        self.execute(
            "UPDATE feedback SET commit_hash = $2 WHERE id = $1",
            params![id.to_string(), commit],
        )?;
        Ok(())
    }

    /// Number of further reviews allowed to a coder by a person.
    pub fn review_allowance(&self, coder: AgentId) -> Result<u32, StoreError> {
        let more = self.number(
            "SELECT COALESCE(SUM(more), 0) FROM review_allowance WHERE coder_id = $1",
            params![coder.to_string()],
        )?;
        Ok(u32::try_from(more).unwrap_or(u32::MAX))
    }

    /// Allows a coder so many more reviews.
    pub fn review_allow(&mut self, coder: AgentId, more: u32) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO review_allowance (coder_id, more) VALUES ($1, $2)
             ON CONFLICT (coder_id) DO UPDATE SET more = review_allowance.more + excluded.more",
            params![coder.to_string(), more],
        )?;
        Ok(())
    }
}
