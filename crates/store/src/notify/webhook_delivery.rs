//! Messages to webhooks, in lines: only the first of a line that is pending has a time at which it is due.

use model::event::EventKind;
use model::webhook::DeliveryState;
use model::{DeliveryId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;
use crate::notify::webhook::DeliveryAttempt;

/// Prefix of the ordering keys of resent messages, which hold up no others.
pub const RESENT_LINE_PREFIX: &str = "again:";

/// A message to be.
#[derive(Debug, Clone)]
pub struct NewDelivery {
    /// Its id
    pub id: DeliveryId,
    /// To whom
    pub webhook: String,
    /// The number of the event that it tells of
    pub event: i64,
    /// Kind of that event
    pub kind: EventKind,
    /// Messages of one line are sent one after the other
    pub line: String,
}

/// A message to a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its place among all messages
    pub number: i64,
    /// Its id
    pub id: DeliveryId,
    /// To whom
    pub webhook: String,
    /// The number of the event that it tells of
    pub event: i64,
    /// Kind of that event
    pub kind: EventKind,
    /// Messages of one line are sent one after the other
    pub line: String,
    /// Current state
    pub state: DeliveryState,
    /// Number of attempts
    pub attempts: u32,
    /// When it is tried; none where it waits behind another
    pub due_at: Option<Timestamp>,
    /// HTTP status of the last attempt
    pub last_status: Option<u32>,
    /// Error of the last attempt
    pub last_error: Option<String>,
    /// When it was made
    pub created_at: Timestamp,
    /// When it was taken or given up
    pub ended_at: Option<Timestamp>,
}

const COLUMNS: &str = "number, id, webhook, event, kind, line, state, attempts, due_at, last_status, \
     last_error, created_at, ended_at";

fn read(row: &Row<'_>) -> Result<Delivery, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Delivery {
        number: cells.get()?,
        id: cells.parse()?,
        webhook: cells.get()?,
        event: cells.get()?,
        kind: cells.named(EventKind::parse)?,
        line: cells.get()?,
        state: cells.named(DeliveryState::parse)?,
        attempts: cells.count()?,
        due_at: cells.time_opt()?,
        last_status: cells.get()?,
        last_error: cells.get()?,
        created_at: cells.time()?,
        ended_at: cells.time_opt()?,
    })
}

impl Tx<'_> {
    /// Puts a message at the end of its line.
    pub fn delivery_insert(&mut self, new: &NewDelivery, now: Timestamp) -> Result<(), StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM delivery", [])?;
        let is_first = self.delivery_first(&new.webhook, &new.line)?.is_none();
        self.execute(
            "INSERT INTO delivery (number, id, webhook, event, kind, line, state, attempts, due_at,
                created_at)
             VALUES ($1, $2, $3, $4, $5, $6, 'pending', 0, $7, $8)",
            params![
                number,
                new.id.to_string(),
                new.webhook,
                new.event,
                new.kind.name(),
                new.line,
                is_first.then(|| now.as_millis()),
                now.as_millis()
            ],
        )?;
        Ok(())
    }

    /// The message of that id to that webhook.
    pub fn delivery_get(
        &self,
        webhook: &str,
        id: DeliveryId,
    ) -> Result<Option<Delivery>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM delivery WHERE id = $1 AND webhook = $2"),
            params![id.to_string(), webhook],
            read,
        )
    }

    /// The number of the first message in a line.
    fn delivery_first(&self, webhook: &str, line: &str) -> Result<Option<i64>, StoreError> {
        self.one(
            "SELECT number FROM delivery WHERE webhook = $1 AND line = $2 AND state = 'pending'
             ORDER BY number LIMIT 1",
            params![webhook, line],
            |row| RowReader::of(row).get(),
        )
    }

    /// Lists due messages, the longest due first; never two with the same ordering key.
    pub fn deliveries_due(
        &self,
        webhook: &str,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Delivery>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM delivery
                 WHERE webhook = $1 AND due_at IS NOT NULL AND due_at <= $2
                 ORDER BY due_at, number LIMIT $3"
            ),
            params![webhook, now.as_millis(), limit],
            read,
        )
    }

    /// When something is due after that time.
    pub fn delivery_next_due(
        &self,
        webhook: &str,
        after: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        self.one(
            "SELECT due_at FROM delivery WHERE webhook = $1 AND due_at IS NOT NULL AND due_at > $2
             ORDER BY due_at LIMIT 1",
            params![webhook, after.as_millis()],
            |row| RowReader::of(row).time(),
        )
    }

    /// Notes that a try failed, and when the next one is.
    pub fn delivery_reschedule(
        &mut self,
        id: DeliveryId,
        tried: &DeliveryAttempt,
        due: Timestamp,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE delivery SET attempts = attempts + 1, due_at = $2, last_status = $3,
                last_error = $4
             WHERE id = $1 AND state = 'pending'",
            params![id.to_string(), due.as_millis(), tried.status, tried.error],
        )?;
        Ok(())
    }

    /// Notes that a message was taken or given up, and lets the next of its line be sent.
    pub fn delivery_end(
        &mut self,
        delivery: &Delivery,
        state: DeliveryState,
        tried: &DeliveryAttempt,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let ended = self.execute(
            "UPDATE delivery SET state = $2, attempts = attempts + 1, due_at = NULL,
                last_status = $3, last_error = $4, ended_at = $5
             WHERE id = $1 AND state = 'pending'",
            params![
                delivery.id.to_string(),
                state.name(),
                tried.status,
                tried.error,
                now.as_millis()
            ],
        )?;
        if ended > 0
            && let Some(next) = self.delivery_first(&delivery.webhook, &delivery.line)?
        {
            self.delivery_due(next, now)?;
        }
        Ok(())
    }

    fn delivery_due(&mut self, number: i64, now: Timestamp) -> Result<(), StoreError> {
        self.execute(
            "UPDATE delivery SET due_at = $2 WHERE number = $1 AND due_at IS NULL",
            params![number, now.as_millis()],
        )?;
        Ok(())
    }

    /// Sends a message that was given up again, in a line beside its old one: it holds up nobody but those that are
    /// sent again with it.
    pub fn delivery_retry(
        &mut self,
        delivery: &Delivery,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let line = match delivery.line.strip_prefix(RESENT_LINE_PREFIX) {
            Some(_) => delivery.line.clone(),
            None => format!("{RESENT_LINE_PREFIX}{}", delivery.line),
        };
        let changed = self.execute(
            "UPDATE delivery SET state = 'pending', line = $2, due_at = NULL, ended_at = NULL
             WHERE id = $1 AND state = 'dead'",
            params![delivery.id.to_string(), line],
        )?;
        if changed > 0
            && let Some(first) = self.delivery_first(&delivery.webhook, &line)?
        {
            // It may have come before one that was the first until now.
            self.execute(
                "UPDATE delivery SET due_at = NULL
                 WHERE webhook = $1 AND line = $2 AND state = 'pending' AND number > $3",
                params![delivery.webhook, line, first],
            )?;
            self.delivery_due(first, now)?;
        }
        Ok(changed > 0)
    }

    /// Lists the messages to a webhook, newest first; `before` is the number of the last one seen.
    pub fn delivery_page(
        &self,
        webhook: &str,
        state: Option<DeliveryState>,
        before: i64,
        limit: u32,
    ) -> Result<Page<Delivery>, StoreError> {
        let mut rows = Vec::new();
        let states: &[DeliveryState] = match &state {
            Some(one) => std::slice::from_ref(one),
            None => &DeliveryState::ALL,
        };
        for one in states {
            rows.extend(self.all(
                &format!(
                    "SELECT {COLUMNS} FROM delivery
                     WHERE webhook = $1 AND state = $2 AND number < $3
                     ORDER BY number DESC LIMIT $4"
                ),
                params![webhook, one.name(), before, i64::from(limit) + 1],
                read,
            )?);
        }
        rows.sort_by_key(|delivery| std::cmp::Reverse(delivery.number));
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1));
        Ok(Page::cut(rows, limit, |delivery| delivery.number))
    }

    /// Counts messages to a webhook in a state.
    pub fn delivery_count(&self, webhook: &str, state: DeliveryState) -> Result<i64, StoreError> {
        self.number(
            "SELECT COUNT(*) FROM delivery WHERE webhook = $1 AND state = $2",
            params![webhook, state.name()],
        )
    }

    /// True if any message to a webhook was given up.
    pub fn delivery_any_dead(&self, webhook: &str) -> Result<bool, StoreError> {
        let any = "SELECT EXISTS (SELECT 1 FROM delivery WHERE webhook = $1 AND state = 'dead')";
        Ok(self.number(any, params![webhook])? > 0)
    }

    /// Forgets all but so many of the newest messages in a state.
    pub fn delivery_prune(
        &mut self,
        webhook: &str,
        state: DeliveryState,
        keep: u32,
    ) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM delivery WHERE webhook = $1 AND state = $2 AND number <= COALESCE(
                (SELECT number FROM delivery WHERE webhook = $1 AND state = $2
                 ORDER BY number DESC LIMIT 1 OFFSET $3), 0)",
            params![webhook, state.name(), keep],
        )?;
        Ok(())
    }
}
