//! Pull requests and issues that were opened.

use model::review::PullState;
use model::{AgentId, EpicId, Timestamp};
use rusqlite::{Row, params};

use crate::core::amount::stored;
use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Owner of the branch
    pub agent: AgentId,
    /// Agent that opened it; `None` for the operator
    pub opened_by: Option<AgentId>,
    /// The epic it is for, if it is for one
    pub epic: Option<EpicId>,
    /// `owner/name`
    pub repository: String,
    /// Its number there
    pub pull: u64,
    /// Where it can be read
    pub url: String,
    /// The branch that is to be merged
    pub branch: String,
    /// Into which
    pub base: String,
    /// Title
    pub title: String,
    /// Current state
    pub state: PullState,
    /// When it was opened
    pub created_at: Timestamp,
    /// When it last changed
    pub updated_at: Timestamp,
}

/// An issue that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubIssue {
    /// Marker by which a repeated request finds it
    pub marker: String,
    /// Parent agent; `None` for the operator
    pub agent: Option<AgentId>,
    /// `owner/name`
    pub repository: String,
    /// Its number there
    pub issue: u64,
    /// Where it can be read
    pub url: String,
    /// Title
    pub title: String,
}

const COLUMNS: &str = "agent_id, opened_by, epic_id, repository, pull, url, branch, base, title, state, \
     created_at, updated_at";

fn read(row: &Row<'_>) -> Result<PullRequest, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(PullRequest {
        agent: cells.parse()?,
        opened_by: cells.parse_opt()?,
        epic: cells.parse_opt()?,
        repository: cells.get()?,
        pull: cells.large()?,
        url: cells.get()?,
        branch: cells.get()?,
        base: cells.get()?,
        title: cells.get()?,
        state: cells.named(PullState::parse)?,
        created_at: cells.time()?,
        updated_at: cells.time()?,
    })
}

impl Tx<'_> {
    /// Records a pull request; one that is on record already stays as it is.
    pub fn pull_insert(&mut self, pull: &PullRequest) -> Result<bool, StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM pull_request", [])?;
        let added = self.execute(
            "INSERT INTO pull_request (number, agent_id, opened_by, epic_id, repository, pull, url,
                branch, base, title, state, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)
             ON CONFLICT (repository, pull) DO NOTHING",
            params![
                number,
                pull.agent.to_string(),
                pull.opened_by.map(|id| id.to_string()),
                pull.epic.map(|id| id.to_string()),
                pull.repository,
                stored(pull.pull),
                pull.url,
                pull.branch,
                pull.base,
                pull.title,
                pull.state.name(),
                pull.created_at.as_millis()
            ],
        )?;
        Ok(added > 0)
    }

    /// The newest pull request of an agent's branch.
    pub fn pull_of(&self, agent: AgentId) -> Result<Option<PullRequest>, StoreError> {
        self.one(
            &format!(
                "SELECT {COLUMNS} FROM pull_request WHERE agent_id = $1
                 ORDER BY number DESC LIMIT 1"
            ),
            params![agent.to_string()],
            read,
        )
    }

    /// Those that are not merged or closed, oldest first.
    pub fn pulls_open(&self) -> Result<Vec<PullRequest>, StoreError> {
        self.all(
            &format!("SELECT {COLUMNS} FROM pull_request WHERE state = 'open' ORDER BY number"),
            [],
            read,
        )
    }

    /// The pull request of that number.
    pub fn pull_get(&self, repository: &str, pull: u64) -> Result<Option<PullRequest>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM pull_request WHERE repository = $1 AND pull = $2"),
            params![repository, stored(pull)],
            read,
        )
    }

    /// Says how a pull request stands; false if nothing changed.
    pub fn pull_set(
        &mut self,
        repository: &str,
        pull: u64,
        state: PullState,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let changed = self.execute(
            "UPDATE pull_request SET state = $3, updated_at = $4
             WHERE repository = $1 AND pull = $2 AND state <> $3",
            params![repository, stored(pull), state.name(), now.as_millis()],
        )?;
        Ok(changed > 0)
    }

    /// The issue that is recognised by a marker.
    pub fn issue_by_marker(&self, marker: &str) -> Result<Option<GithubIssue>, StoreError> {
        self.one(
            "SELECT marker, agent_id, repository, issue, url, title FROM github_issue
             WHERE marker = $1",
            params![marker],
            |row| {
                let mut cells = RowReader::of(row);
                Ok(GithubIssue {
                    marker: cells.get()?,
                    agent: cells.parse_opt()?,
                    repository: cells.get()?,
                    issue: cells.large()?,
                    url: cells.get()?,
                    title: cells.get()?,
                })
            },
        )
    }

    /// Records an issue; one that is on record already stays as it is.
    pub fn issue_insert(&mut self, issue: &GithubIssue, now: Timestamp) -> Result<(), StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM github_issue", [])?;
        self.execute(
            "INSERT INTO github_issue (number, marker, agent_id, repository, issue, url, title,
                created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
             ON CONFLICT (marker) DO NOTHING",
            params![
                number,
                issue.marker,
                issue.agent.map(|id| id.to_string()),
                issue.repository,
                stored(issue.issue),
                issue.url,
                issue.title,
                now.as_millis()
            ],
        )?;
        Ok(())
    }
}
