//! Texts with secrets: the record keeps them redacted, and the exact text beside it for the addressee.
//!
//! Invariant: an exact text is never older than [`KEPT_SECONDS`] once [`Tx::exact_sweep`] has run, and goes
//! earlier when its addressee ends. It stands in no view, event, audit row or file.

use std::borrow::Cow;

use model::redact::{REDACTION_MARK, scrub};
use model::{AgentId, Timestamp};
use rusqlite::{OptionalExtension as _, params};

use crate::core::error::StoreError;
use crate::core::tx::Tx;

/// Longest time that an exact text is kept.
pub(crate) const KEPT_SECONDS: i64 = 24 * 60 * 60;
/// Remembered answers that one sweep removes, so that no sweep holds up the writer.
const MAX_ANSWERS_SWEPT: i64 = 5_000;

/// Field of a record that holds text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    /// The subject of a mail
    Subject,
    /// The body of a mail or of a loop's message
    Body,
    /// The title of a task
    Title,
    /// The description of a task
    Description,
    /// Prompt of an agent
    Prompt,
    /// Prompt of the agent's next attempt
    NextPrompt,
    /// The text of a plan
    Text,
}

impl Field {
    const fn name(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Body => "body",
            Self::Title => "title",
            Self::Description => "description",
            Self::Prompt => "prompt",
            Self::NextPrompt => "next_prompt",
            Self::Text => "text",
        }
    }
}

/// The text as the record keeps it where nobody needs the exact one.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    scrub(text).map_or(Cow::Borrowed(text), Cow::Owned)
}

impl Tx<'_> {
    /// The text as the record keeps it. If that is not the text itself, the exact one is kept for its addressee.
    pub(crate) fn keep_exact<'t>(
        &mut self,
        subject: &str,
        field: Field,
        text: &'t str,
        now: Timestamp,
    ) -> Result<Cow<'t, str>, StoreError> {
        let Some(clean) = scrub(text) else {
            if text.contains(REDACTION_MARK) {
                // It quotes a redacted text: an earlier exact one must not be taken for it.
                self.execute(
                    "DELETE FROM exact_text WHERE subject = $1 AND field = $2",
                    params![subject, field.name()],
                )?;
            }
            return Ok(Cow::Borrowed(text));
        };
        self.execute(
            "INSERT INTO exact_text (subject, field, text, at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (subject, field) DO UPDATE SET text = excluded.text, at = excluded.at",
            params![subject, field.name(), text, now.as_millis()],
        )?;
        Ok(Cow::Owned(clean))
    }

    /// The exact text where it is still kept, else the text as it is.
    pub(crate) fn exact(
        &self,
        subject: &str,
        field: Field,
        text: String,
    ) -> Result<String, StoreError> {
        // Only a redacted text can have an exact one, so that most cost no look-up.
        if !text.contains(REDACTION_MARK) {
            return Ok(text);
        }
        let mut statement =
            self.statement("SELECT text FROM exact_text WHERE subject = $1 AND field = $2")?;
        let found = statement.query_row(params![subject, field.name()], |row| row.get(0));
        Ok(found.optional()?.unwrap_or(text))
    }

    /// The text of a loop's message as it was written, for the agent that is told.
    pub(crate) fn loop_message_exact(
        &self,
        number: i64,
        body: String,
    ) -> Result<String, StoreError> {
        self.exact(&format!("loop:{number}"), Field::Body, body)
    }

    /// The text of a plan as it was written, for its coordinator.
    pub(crate) fn plan_text_exact(&self, number: i64, text: String) -> Result<String, StoreError> {
        self.exact(&format!("plan:{number}"), Field::Text, text)
    }

    /// Forgets the exact text of one subject, because it was delivered.
    pub(crate) fn exact_forget(&mut self, subject: &str) -> Result<(), StoreError> {
        self.execute("DELETE FROM exact_text WHERE subject = $1", params![subject])?;
        Ok(())
    }

    /// Forgets the exact texts of an agent that has ended: what it was asked, and the mail in its inbox.
    pub fn exact_forget_agent(&mut self, agent: AgentId) -> Result<(), StoreError> {
        let id = agent.to_string();
        self.exact_forget(&id)?;
        self.execute(
            "DELETE FROM exact_text WHERE subject IN (SELECT id FROM mail WHERE recipient = $1)",
            params![id],
        )?;
        Ok(())
    }

    /// Removes exact texts and remembered answers that are older than a day. True if more of them remain.
    pub fn exact_sweep(&mut self, now: Timestamp) -> Result<bool, StoreError> {
        let before = now.after_seconds(-KEPT_SECONDS).as_millis();
        self.execute("DELETE FROM exact_text WHERE at < $1", params![before])?;
        let swept = self.execute(
            "DELETE FROM answered WHERE (principal, key) IN (
                SELECT principal, key FROM answered WHERE at < $1
                ORDER BY at, principal, key LIMIT $2)",
            params![before, MAX_ANSWERS_SWEPT],
        )?;
        Ok(i64::try_from(swept).is_ok_and(|swept| swept == MAX_ANSWERS_SWEPT))
    }
}
