//! Questions of agents to a person, with the mails that carry them.

use model::{AgentId, MailId, Timestamp};
use rusqlite::params;

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A question of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Requesting agent
    pub agent: AgentId,
    /// By which it recognises the answer
    pub request: String,
    /// The tool it wants to use
    pub tool: String,
    /// The mail that asks
    pub mail: MailId,
    /// `allow`, or `deny` and why
    pub answer: Option<String>,
    /// The calls that the answer `always` covers
    pub pattern: Option<String>,
}

const COLUMNS: &str = "agent_id, request, tool, mail_id, answer, pattern";

fn read(row: &rusqlite::Row<'_>) -> Result<Question, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Question {
        agent: cells.parse()?,
        request: cells.get()?,
        tool: cells.get()?,
        mail: cells.parse()?,
        answer: cells.get()?,
        pattern: cells.get()?,
    })
}

impl Tx<'_> {
    /// Records a question; false if it was asked before.
    pub fn question_insert(
        &mut self,
        question: &Question,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let added = self.execute(
            "INSERT INTO question (agent_id, request, tool, mail_id, asked_at, pattern)
             VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (agent_id, request) DO NOTHING",
            params![
                question.agent.to_string(),
                question.request,
                question.tool,
                question.mail.to_string(),
                now.as_millis(),
                question.pattern
            ],
        )?;
        Ok(added > 0)
    }

    /// The question that a mail asks.
    pub fn question_by_mail(&self, mail: MailId) -> Result<Option<Question>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM question WHERE mail_id = $1"),
            params![mail.to_string()],
            read,
        )
    }

    /// The questions of an agent.
    pub fn questions_of(&self, agent: AgentId) -> Result<Vec<Question>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM question WHERE agent_id = $1 ORDER BY asked_at, request"
            ),
            params![agent.to_string()],
            read,
        )
    }

    /// Records the answer; false if there is one already.
    pub fn question_answer(
        &mut self,
        agent: AgentId,
        request: &str,
        answer: &str,
    ) -> Result<bool, StoreError> {
        let changed = self.execute(
            "UPDATE question SET answer = $3
             WHERE agent_id = $1 AND request = $2 AND answer IS NULL",
            params![agent.to_string(), request, answer],
        )?;
        Ok(changed > 0)
    }
}
