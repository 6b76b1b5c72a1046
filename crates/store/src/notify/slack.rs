//! Slack: received messages, threads, and the agents that work for them.

use model::{AgentId, TaskId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// A message to us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlackMessage {
    /// Its place among all
    pub number: i64,
    /// The channel
    pub channel: String,
    /// Slack's name of it
    pub ts: String,
    /// The message with which its thread begins
    pub thread: String,
    /// Author
    pub user: String,
    /// Plain text
    pub text: String,
}

/// A thread of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlackThread {
    /// Its place among all
    pub number: i64,
    /// The channel
    pub channel: String,
    /// The message with which it begins
    pub ts: String,
    /// Slack user who started it
    pub user: String,
    /// Its role, once that is known
    pub role: Option<String>,
    /// Its task
    pub task: Option<TaskId>,
    /// Where its agents work
    pub cwd: Option<String>,
    /// The order that waits for a role
    pub text: Option<String>,
    /// Replies up to this one were read
    pub seen: String,
    /// When it began
    pub created_at: Timestamp,
    /// When something last happened in it
    pub changed_at: Timestamp,
}

/// An agent that was requested in Slack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlackOrder {
    /// The agent
    pub agent: AgentId,
    /// The number of its thread
    pub thread: i64,
    /// The message that asked for it
    pub ts: String,
    /// Slack user id
    pub user: String,
    /// The reaction that the message carries
    pub mark: Option<String>,
}

const MESSAGE: &str = "number, channel, ts, thread, user_id, text";
const THREAD: &str =
    "number, channel, ts, user_id, role, task, cwd, text, seen, created_at, changed_at";
const ORDER: &str = "agent, thread, ts, user_id, mark";

fn message(row: &Row<'_>) -> Result<SlackMessage, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(SlackMessage {
        number: cells.get()?,
        channel: cells.get()?,
        ts: cells.get()?,
        thread: cells.get()?,
        user: cells.get()?,
        text: cells.get()?,
    })
}

fn thread(row: &Row<'_>) -> Result<SlackThread, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(SlackThread {
        number: cells.get()?,
        channel: cells.get()?,
        ts: cells.get()?,
        user: cells.get()?,
        role: cells.get()?,
        task: cells.parse_opt()?,
        cwd: cells.get()?,
        text: cells.get()?,
        seen: cells.get()?,
        created_at: cells.time()?,
        changed_at: cells.time()?,
    })
}

fn order(row: &Row<'_>) -> Result<SlackOrder, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(SlackOrder {
        agent: cells.parse()?,
        thread: cells.get()?,
        ts: cells.get()?,
        user: cells.get()?,
        mark: cells.get()?,
    })
}

impl Tx<'_> {
    /// Records a message, to be processed at that time. False if it was known.
    pub fn slack_message_insert(
        &mut self,
        new: &SlackMessage,
        due: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let added = self.execute(
            "INSERT INTO slack_message (channel, ts, thread, user_id, text, due_at, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (channel, ts) DO NOTHING",
            params![
                new.channel,
                new.ts,
                new.thread,
                new.user,
                new.text,
                due.as_millis(),
                now.as_millis()
            ],
        )?;
        Ok(added > 0)
    }

    /// True if a message is recorded.
    pub fn slack_message_known(&self, channel: &str, ts: &str) -> Result<bool, StoreError> {
        let any = "SELECT EXISTS (SELECT 1 FROM slack_message WHERE channel = $1 AND ts = $2)";
        Ok(self.number(any, params![channel, ts])? > 0)
    }

    /// Lists unprocessed messages of a thread, oldest first.
    pub fn slack_waiting(
        &self,
        channel: &str,
        thread: &str,
        user: &str,
    ) -> Result<Vec<SlackMessage>, StoreError> {
        self.all(
            &format!(
                "SELECT {MESSAGE} FROM slack_message
                 WHERE channel = $1 AND thread = $2 AND user_id = $3 AND due_at IS NOT NULL
                 ORDER BY ts, number LIMIT 100"
            ),
            params![channel, thread, user],
            message,
        )
    }

    /// The thread that a user's last message in a channel began, if it is not processed yet.
    pub fn slack_beginning(&self, channel: &str, user: &str) -> Result<Option<String>, StoreError> {
        self.one(
            "SELECT thread FROM slack_message
             WHERE channel = $1 AND user_id = $2 AND due_at IS NOT NULL AND thread = ts
             ORDER BY number DESC LIMIT 1",
            params![channel, user],
            |row| RowReader::of(row).get(),
        )
    }

    /// Postpones the messages of a thread until then.
    pub fn slack_wait(&mut self, of: &SlackMessage, due: Timestamp) -> Result<(), StoreError> {
        self.execute(
            "UPDATE slack_message SET due_at = $4
             WHERE channel = $1 AND thread = $2 AND user_id = $3 AND due_at IS NOT NULL",
            params![of.channel, of.thread, of.user, due.as_millis()],
        )?;
        Ok(())
    }

    /// The first message that is due; none of its thread and user is due later.
    pub fn slack_message_due(&self, now: Timestamp) -> Result<Option<SlackMessage>, StoreError> {
        self.one(
            &format!(
                "SELECT {MESSAGE} FROM slack_message WHERE due_at IS NOT NULL AND due_at <= $1
                 ORDER BY due_at, number LIMIT 1"
            ),
            params![now.as_millis()],
            message,
        )
    }

    /// When the next message is due.
    pub fn slack_message_next(&self) -> Result<Option<Timestamp>, StoreError> {
        self.one(
            "SELECT due_at FROM slack_message WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1",
            [],
            |row| RowReader::of(row).time(),
        )
    }

    /// Notes that a message was acted on. False if it was before.
    pub fn slack_message_taken(&mut self, number: i64) -> Result<bool, StoreError> {
        let sql = "UPDATE slack_message SET due_at = NULL WHERE number = $1 AND due_at IS NOT NULL";
        if self.execute(sql, params![number])? == 0 {
            return Ok(false);
        }
        // From here on it is a task or a mail, which are exact for their addressee: nobody needs it here.
        let text: Option<String> =
            self.one("SELECT text FROM slack_message WHERE number = $1", params![number], |row| {
                RowReader::of(row).get()
            })?;
        if let Some(text) = text.as_deref().and_then(model::redact::scrub) {
            let sql = "UPDATE slack_message SET text = $2 WHERE number = $1";
            self.execute(sql, params![number, text])?;
        }
        Ok(true)
    }

    /// The thread that begins with a message.
    pub fn slack_thread_at(
        &self,
        channel: &str,
        ts: &str,
    ) -> Result<Option<SlackThread>, StoreError> {
        self.one(
            &format!("SELECT {THREAD} FROM slack_thread WHERE channel = $1 AND ts = $2"),
            params![channel, ts],
            thread,
        )
    }

    /// The thread of that number.
    pub fn slack_thread_get(&self, number: i64) -> Result<Option<SlackThread>, StoreError> {
        let sql = format!("SELECT {THREAD} FROM slack_thread WHERE number = $1");
        self.one(&sql, params![number], thread)
    }

    /// The thread of a task.
    pub fn slack_thread_of(&self, task: TaskId) -> Result<Option<SlackThread>, StoreError> {
        let sql = format!("SELECT {THREAD} FROM slack_thread WHERE task = $1 LIMIT 1");
        self.one(&sql, params![task.to_string()], thread)
    }

    /// Makes a message the beginning of a thread of ours, if it is none yet.
    pub fn slack_thread_begin(
        &mut self,
        first: &SlackMessage,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO slack_thread (channel, ts, user_id, seen, created_at, changed_at)
             VALUES ($1, $2, $3, $2, $4, $4) ON CONFLICT (channel, ts) DO NOTHING",
            params![first.channel, first.thread, first.user, now.as_millis()],
        )?;
        self.execute(
            "INSERT INTO slack_channel (channel, seen) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            params![first.channel, first.ts],
        )?;
        Ok(())
    }

    /// Notes what has become of a thread.
    pub fn slack_thread_save(
        &mut self,
        thread: &SlackThread,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE slack_thread SET role = $2, task = $3, cwd = $4, text = $5, changed_at = $6
             WHERE number = $1",
            params![
                thread.number,
                thread.role,
                thread.task.map(|task| task.to_string()),
                thread.cwd,
                thread.text,
                now.as_millis()
            ],
        )?;
        Ok(())
    }

    /// Threads, those in which something happened last first; `before` is where the last page ended.
    pub fn slack_thread_page(
        &self,
        before: i64,
        limit: u32,
    ) -> Result<Page<SlackThread>, StoreError> {
        let rows = self.all(
            &format!(
                "SELECT {THREAD} FROM slack_thread WHERE number < $1 ORDER BY number DESC LIMIT $2"
            ),
            params![before, i64::from(limit) + 1],
            thread,
        )?;
        Ok(Page::cut(rows, limit, |thread| thread.number))
    }

    /// The threads in which something happened since then, the newest first.
    pub fn slack_threads_live(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<SlackThread>, StoreError> {
        self.all(
            &format!(
                "SELECT {THREAD} FROM slack_thread WHERE changed_at >= $1
                 ORDER BY changed_at DESC LIMIT $2"
            ),
            params![since.as_millis(), limit],
            thread,
        )
    }

    /// In how many threads something happened since then.
    pub fn slack_threads_count(&self, since: Timestamp) -> Result<i64, StoreError> {
        self.number(
            "SELECT COUNT(*) FROM slack_thread WHERE changed_at >= $1",
            params![since.as_millis()],
        )
    }

    /// Notes that replies up to this one were read.
    pub fn slack_thread_seen(&mut self, number: i64, ts: &str) -> Result<(), StoreError> {
        self.execute("UPDATE slack_thread SET seen = $2 WHERE number = $1", params![number, ts])?;
        Ok(())
    }

    /// Channels in which we were spoken to, and up to where each was read.
    pub fn slack_channels(&self, limit: u32) -> Result<Vec<(String, String)>, StoreError> {
        self.all(
            "SELECT channel, seen FROM slack_channel ORDER BY channel LIMIT $1",
            params![limit],
            |row| {
                let mut cells = RowReader::of(row);
                Ok((cells.get()?, cells.get()?))
            },
        )
    }

    /// Notes that a channel was read up to this message.
    pub fn slack_channel_seen(&mut self, channel: &str, ts: &str) -> Result<(), StoreError> {
        let sql = "UPDATE slack_channel SET seen = $2 WHERE channel = $1";
        self.execute(sql, params![channel, ts])?;
        Ok(())
    }

    /// Notes for whom an agent works.
    pub fn slack_order_insert(&mut self, new: &SlackOrder) -> Result<(), StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM slack_order", [])?;
        self.execute(
            "INSERT INTO slack_order (agent, thread, ts, user_id, mark, number)
             VALUES ($1, $2, $3, $4, $5, $6)",
            params![new.agent.to_string(), new.thread, new.ts, new.user, new.mark, number],
        )?;
        Ok(())
    }

    /// For whom an agent works.
    pub fn slack_order_of(&self, agent: AgentId) -> Result<Option<SlackOrder>, StoreError> {
        let sql = format!("SELECT {ORDER} FROM slack_order WHERE agent = $1");
        self.one(&sql, params![agent.to_string()], order)
    }

    /// The agents of a thread, the newest first.
    pub fn slack_orders(&self, thread: i64) -> Result<Vec<SlackOrder>, StoreError> {
        let sql = format!(
            "SELECT {ORDER} FROM slack_order WHERE thread = $1 ORDER BY number DESC LIMIT 100"
        );
        self.all(&sql, params![thread], order)
    }

    /// Notes which reaction the message carries that asked for an agent.
    pub fn slack_order_mark(
        &mut self,
        agent: AgentId,
        mark: Option<&str>,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE slack_order SET mark = $2 WHERE agent = $1",
            params![agent.to_string(), mark],
        )?;
        Ok(())
    }

    /// Number of the last event processed.
    pub fn slack_events(&self) -> Result<Option<i64>, StoreError> {
        self.one("SELECT events FROM slack_cursor WHERE id = 1", [], |row| RowReader::of(row).get())
    }

    /// Notes how far the events were looked at.
    pub fn slack_events_seen(&mut self, number: i64) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO slack_cursor (id, events) VALUES (1, $1)
             ON CONFLICT (id) DO UPDATE SET events = excluded.events",
            params![number],
        )?;
        Ok(())
    }
}
