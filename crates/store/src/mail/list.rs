//! Mail as a list, newest first, and its threads.

use model::{AgentId, MailId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;
use crate::mail::message::{COLUMNS, Mail, Recipient, read};

/// As many of the human's newest mails are asked whether they wait for an answer.
const MAX_MAILS_SEARCHED: u32 = 1000;

/// Mailbox to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mailbox {
    /// All there are
    All,
    /// Those for the human
    Human,
    /// Those to an agent or from it
    Of(AgentId),
}

/// A mail in a list: what it says is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailLine {
    /// Its place among all mails
    pub number: i64,
    /// Its id
    pub id: MailId,
    /// Sender, or the agent that a mail of Adjutant itself is about; `None` for the human
    pub from: Option<AgentId>,
    /// True if Adjutant itself wrote it
    pub is_system: bool,
    /// To whom
    pub to: Recipient,
    /// Subject
    pub subject: String,
    /// The beginning of what it says
    pub head: String,
    /// The end of what it says, where the beginning is not all of it
    pub tail: String,
    /// Mail that it replies to
    pub reply_to: Option<MailId>,
    /// When it was written
    pub created_at: Timestamp,
    /// When it was read
    pub read_at: Option<Timestamp>,
    /// Number of replies
    pub replies: u64,
    /// True if the human replied
    pub answered: bool,
    /// The tool that it asks leave for
    pub permission: Option<String>,
}

/// Four thousand characters of each end are enough to see whether it asks something.
const MAIL_LINE_COLUMNS: &str =
    "m.number, m.id, m.from_agent_id, COALESCE(m.from_category, '') = ':system', m.recipient, m.subject, substr(m.body, 1, 4000),
    CASE WHEN length(m.body) > 4000 THEN substr(m.body, length(m.body) - 3999) ELSE '' END,
    m.reply_to, m.created_at, m.read_at,
    (SELECT COUNT(*) FROM mail AS r WHERE r.reply_to = m.id),
    (SELECT COUNT(*) FROM mail AS r WHERE r.reply_to = m.id AND r.from_agent_id IS NULL),
    (SELECT q.tool FROM question AS q WHERE q.mail_id = m.id)";

fn line(row: &Row<'_>) -> Result<MailLine, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(MailLine {
        number: cells.get()?,
        id: cells.parse()?,
        from: cells.parse_opt()?,
        is_system: cells.get()?,
        to: cells.named(Recipient::parse)?,
        subject: cells.get()?,
        head: cells.get()?,
        tail: cells.get()?,
        reply_to: cells.parse_opt()?,
        created_at: cells.time()?,
        read_at: cells.time_opt()?,
        replies: cells.large()?,
        answered: cells.count()? > 0,
        permission: cells.get()?,
    })
}

/// Two lists as one, each mail once.
fn newest_first(mut rows: Vec<MailLine>) -> Vec<MailLine> {
    rows.sort_by_key(|row| std::cmp::Reverse(row.number));
    rows.dedup_by_key(|row| row.number);
    rows
}

impl Tx<'_> {
    /// Lists mails before a number, newest first.
    pub fn mail_newest(
        &self,
        which: Mailbox,
        before: i64,
        limit: u32,
    ) -> Result<Page<MailLine>, StoreError> {
        let wanted = i64::from(limit) + 1;
        let order = "m.number < $1 ORDER BY m.number DESC LIMIT $2";
        let of = |column: &str, who: &str| {
            self.all(
                &format!(
                    "SELECT {MAIL_LINE_COLUMNS} FROM mail AS m WHERE m.{column} = $3 AND {order}"
                ),
                params![before, wanted, who],
                line,
            )
        };
        let rows = match which {
            Mailbox::All => self.all(
                &format!("SELECT {MAIL_LINE_COLUMNS} FROM mail AS m WHERE {order}"),
                params![before, wanted],
                line,
            )?,
            Mailbox::Human => of("recipient", &Recipient::Human.stored())?,
            Mailbox::Of(agent) => {
                let who = agent.to_string();
                let mut rows = of("recipient", &who)?;
                rows.extend(of("from_agent_id", &who)?);
                newest_first(rows)
            }
        };
        Ok(Page::cut(rows, limit, |row| row.number))
    }

    /// The mails to the human that nobody has answered and whose writers have not ended, newest first.
    /// Those that ask leave for a tool are among them however old they are.
    pub fn mail_unanswered(&self) -> Result<Vec<MailLine>, StoreError> {
        let mut rows = self.all(
            &format!(
                "SELECT {MAIL_LINE_COLUMNS} FROM (
                    SELECT * FROM mail WHERE recipient = 'human' ORDER BY number DESC LIMIT $1
                 ) AS m
                 JOIN agent AS a ON a.id = m.from_agent_id
                 WHERE a.ended_at IS NULL AND NOT EXISTS (
                    SELECT 1 FROM mail AS r WHERE r.reply_to = m.id AND r.from_agent_id IS NULL)
                 ORDER BY m.number DESC"
            ),
            params![MAX_MAILS_SEARCHED],
            line,
        )?;
        rows.extend(self.all(
            &format!(
                "SELECT {MAIL_LINE_COLUMNS} FROM agent AS a
                 JOIN question AS o ON o.agent_id = a.id
                 JOIN mail AS m ON m.id = o.mail_id
                 WHERE a.ended_at IS NULL AND a.state = 'waiting_input' AND o.answer IS NULL
                    AND NOT EXISTS (
                        SELECT 1 FROM mail AS r WHERE r.reply_to = m.id AND r.from_agent_id IS NULL)"
            ),
            [],
            line,
        )?);
        Ok(newest_first(rows))
    }

    /// Finds the mail that a mail replies to.
    pub fn mail_answers(&self, id: MailId) -> Result<Option<MailId>, StoreError> {
        let found =
            self.one("SELECT reply_to FROM mail WHERE id = $1", params![id.to_string()], |row| {
                RowReader::of(row).parse_opt()
            })?;
        Ok(found.flatten())
    }

    /// The mails that answer a mail, oldest first, each by its place and its id.
    pub fn mail_answered_by(
        &self,
        id: MailId,
        limit: u32,
    ) -> Result<Vec<(i64, MailId)>, StoreError> {
        self.all(
            "SELECT number, id FROM mail WHERE reply_to = $1 ORDER BY number LIMIT $2",
            params![id.to_string(), limit],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.get()?, cells.parse()?))
            },
        )
    }

    /// The human's first answer to a mail.
    pub fn mail_settled_by(&self, id: MailId) -> Result<Option<Mail>, StoreError> {
        self.one(
            &format!(
                "SELECT {COLUMNS} FROM mail WHERE reply_to = $1 AND from_agent_id IS NULL
                 ORDER BY number LIMIT 1"
            ),
            params![id.to_string()],
            read,
        )
    }

    /// The tasks that wait for a task and are not over, by number, with their titles.
    pub fn tasks_behind(&self, number: i64, limit: u32) -> Result<Vec<(i64, String)>, StoreError> {
        self.all(
            "SELECT t.number, t.title FROM task_dependency AS d
             JOIN task AS t ON t.number = d.task_number
             WHERE d.needs_number = $1 AND t.state NOT IN ('completed', 'cancelled', 'failed')
             ORDER BY t.number LIMIT $2",
            params![number, limit],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.get()?, cells.get()?))
            },
        )
    }
}
