//! Outgoing Slack messages, queued by thread: only the first pending one of a thread has a due time.

use model::{MailId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// Action in Slack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlackAct {
    /// A message is posted
    Post,
    /// A message gets a reaction
    Mark,
    /// A message loses one
    Unmark,
}

impl SlackAct {
    const ALL: [Self; 3] = [Self::Post, Self::Mark, Self::Unmark];

    const fn name(self) -> &'static str {
        match self {
            Self::Post => "post",
            Self::Mark => "mark",
            Self::Unmark => "unmark",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|act| act.name() == name)
    }
}

/// Message to be posted, or action to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSlackOut {
    /// Key by which it is found again in Slack
    pub id: String,
    /// The channel
    pub channel: String,
    /// The thread
    pub thread: String,
    /// Action
    pub act: SlackAct,
    /// The text, or the message that gets or loses a reaction
    pub body: String,
    /// In whose name, or which reaction
    pub name: Option<String>,
    /// The mail that it tells of
    pub mail: Option<MailId>,
}

/// Message or action that is done, or will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlackOut {
    /// Its place among all
    pub number: i64,
    /// Message
    pub what: NewSlackOut,
    /// Number of attempts
    pub attempts: u32,
    /// When a try began of which nobody knows how it ended
    pub begun_at: Option<Timestamp>,
    /// Error of the last attempt
    pub last_error: Option<String>,
    /// When it was made
    pub created_at: Timestamp,
}

const COLUMNS: &str = "number, id, channel, thread, kind, body, name, mail, attempts, begun_at, \
     last_error, created_at";

fn read(row: &Row<'_>) -> Result<SlackOut, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(SlackOut {
        number: cells.get()?,
        what: NewSlackOut {
            id: cells.get()?,
            channel: cells.get()?,
            thread: cells.get()?,
            act: cells.named(SlackAct::parse)?,
            body: cells.get()?,
            name: cells.get()?,
            mail: cells.parse_opt()?,
        },
        attempts: cells.count()?,
        begun_at: cells.time_opt()?,
        last_error: cells.get()?,
        created_at: cells.time()?,
    })
}

impl Tx<'_> {
    /// Puts something at the end of its thread's line.
    pub fn slack_out_insert(
        &mut self,
        new: &NewSlackOut,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let is_first = self.slack_out_first(&new.channel, &new.thread)?.is_none();
        self.execute(
            "INSERT INTO slack_out (id, channel, thread, kind, body, name, mail, state, attempts,
                due_at, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', 0, $8, $9)",
            params![
                new.id,
                new.channel,
                new.thread,
                new.act.name(),
                new.body,
                new.name,
                new.mail.map(|mail| mail.to_string()),
                is_first.then(|| now.as_millis()),
                now.as_millis()
            ],
        )?;
        Ok(())
    }

    fn slack_out_first(&self, channel: &str, thread: &str) -> Result<Option<i64>, StoreError> {
        self.one(
            "SELECT number FROM slack_out WHERE channel = $1 AND thread = $2 AND state = 'pending'
             ORDER BY number LIMIT 1",
            params![channel, thread],
            |row| RowReader::of(row).get(),
        )
    }

    /// Finds the message that has been due longest; never two of one thread.
    pub fn slack_out_due(&self, now: Timestamp) -> Result<Option<SlackOut>, StoreError> {
        self.one(
            &format!(
                "SELECT {COLUMNS} FROM slack_out WHERE due_at IS NOT NULL AND due_at <= $1
                 ORDER BY due_at, number LIMIT 1"
            ),
            params![now.as_millis()],
            read,
        )
    }

    /// When something is due.
    pub fn slack_out_next(&self) -> Result<Option<Timestamp>, StoreError> {
        self.one(
            "SELECT due_at FROM slack_out WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1",
            [],
            |row| RowReader::of(row).time(),
        )
    }

    /// Notes that a try begins, of which nobody may learn how it ends.
    pub fn slack_out_begin(&mut self, number: i64, now: Timestamp) -> Result<(), StoreError> {
        self.execute(
            "UPDATE slack_out SET begun_at = $2 WHERE number = $1 AND state = 'pending'",
            params![number, now.as_millis()],
        )?;
        Ok(())
    }

    /// Notes that a try failed and when the next one is. `begun` is when it began, where it may have been taken.
    pub fn slack_out_reschedule(
        &mut self,
        number: i64,
        error: &str,
        begun: Option<Timestamp>,
        due: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE slack_out SET attempts = attempts + 1, due_at = $2, last_error = $3, begun_at = $4
             WHERE number = $1 AND state = 'pending'",
            params![number, due.as_millis(), error, begun.map(Timestamp::as_millis)],
        )?;
        Ok(())
    }

    /// Notes that it was taken, or given up for this reason, and lets the next of its thread be sent.
    pub fn slack_out_end(
        &mut self,
        out: &SlackOut,
        error: Option<&str>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let state = if error.is_some() { "dead" } else { "sent" };
        let ended = self.execute(
            "UPDATE slack_out SET state = $2, attempts = attempts + 1, due_at = NULL, begun_at = NULL,
                last_error = $3, ended_at = $4
             WHERE number = $1 AND state = 'pending'",
            params![out.number, state, error, now.as_millis()],
        )?;
        if ended > 0 {
            self.slack_out_next_in_line(&out.what.channel, &out.what.thread, now)?;
        }
        Ok(())
    }

    fn slack_out_next_in_line(
        &mut self,
        channel: &str,
        thread: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if let Some(first) = self.slack_out_first(channel, thread)? {
            self.execute(
                "UPDATE slack_out SET due_at = NULL
                 WHERE channel = $1 AND thread = $2 AND state = 'pending' AND number > $3",
                params![channel, thread, first],
            )?;
            self.execute(
                "UPDATE slack_out SET due_at = $2 WHERE number = $1 AND due_at IS NULL",
                params![first, now.as_millis()],
            )?;
        }
        Ok(())
    }

    /// Lists messages that were given up, newest first.
    pub fn slack_out_dead(&self, limit: u32) -> Result<Vec<SlackOut>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM slack_out WHERE state = 'dead' ORDER BY number DESC LIMIT $1"
            ),
            params![limit],
            read,
        )
    }

    /// Counts messages in a state: `pending`, `sent` or `dead`.
    pub fn slack_out_count(&self, state: &str) -> Result<i64, StoreError> {
        self.number("SELECT COUNT(*) FROM slack_out WHERE state = $1", params![state])
    }

    /// Sends what was given up again, and says how much that is.
    pub fn slack_out_retry(&mut self, now: Timestamp) -> Result<u64, StoreError> {
        let lines = self.all(
            "SELECT DISTINCT channel, thread FROM slack_out WHERE state = 'dead'",
            [],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.get::<String>()?, cells.get::<String>()?))
            },
        )?;
        let changed = self.execute(
            "UPDATE slack_out SET state = 'pending', attempts = 0, ended_at = NULL WHERE state = 'dead'",
            &[],
        )?;
        for (channel, thread) in lines {
            self.slack_out_next_in_line(&channel, &thread, now)?;
        }
        Ok(u64::try_from(changed).unwrap_or_default())
    }

    /// Lets everything that waits be tried now.
    pub fn slack_out_hurry(&mut self, now: Timestamp) -> Result<(), StoreError> {
        self.execute(
            "UPDATE slack_out SET due_at = $1 WHERE due_at IS NOT NULL AND due_at > $1",
            params![now.as_millis()],
        )?;
        Ok(())
    }

    /// The mails that were shown in a thread, the newest first.
    pub fn slack_mails(&self, channel: &str, thread: &str) -> Result<Vec<MailId>, StoreError> {
        self.all(
            "SELECT mail FROM slack_out WHERE channel = $1 AND thread = $2 AND mail IS NOT NULL
             GROUP BY mail ORDER BY MAX(number) DESC LIMIT 50",
            params![channel, thread],
            |row| RowReader::of(row).parse(),
        )
    }

    /// Forgets all but so many of the newest that were taken.
    pub fn slack_out_prune(&mut self, keep: u32) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM slack_out WHERE state = 'sent' AND mail IS NULL AND number <= COALESCE(
                (SELECT number FROM slack_out WHERE state = 'sent'
                 ORDER BY number DESC LIMIT 1 OFFSET $1), 0)",
            params![keep],
        )?;
        Ok(())
    }
}
