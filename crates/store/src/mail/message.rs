//! Mail between agents, and between agents and the human.

use model::agent::AgentType;
use model::{AgentId, MailId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::exact::Field;
use crate::core::page::Page;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// Recipient of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Recipient {
    /// An agent
    Agent(AgentId),
    /// The human
    Human,
}

impl Recipient {
    pub(crate) fn stored(self) -> String {
        match self {
            Self::Agent(id) => id.to_string(),
            Self::Human => "human".to_owned(),
        }
    }

    pub(crate) fn parse(stored: &str) -> Option<Self> {
        match stored {
            "human" => Some(Self::Human),
            id => id.parse().ok().map(Self::Agent),
        }
    }

    /// The agent, if it is one.
    pub const fn agent(self) -> Option<AgentId> {
        match self {
            Self::Agent(id) => Some(id),
            Self::Human => None,
        }
    }
}

/// Author of a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sender {
    /// The human
    Human,
    /// An agent, with its category
    Agent(AgentId, String),
    /// Adjutant itself, about an agent if there is one; a reply goes to that agent
    System(Option<AgentId>),
}

/// Category by which mail of Adjutant itself is stored. No category has a colon.
const SYSTEM: &str = ":system";

impl Sender {
    /// The agent that wrote the mail, or that it is about.
    pub const fn agent(&self) -> Option<AgentId> {
        match self {
            Self::Agent(id, _) | Self::System(Some(id)) => Some(*id),
            Self::Human | Self::System(None) => None,
        }
    }

    fn category(&self) -> Option<&str> {
        match self {
            Self::Human => None,
            Self::Agent(_, category) => Some(category),
            Self::System(_) => Some(SYSTEM),
        }
    }
}

/// A mail to be.
#[derive(Debug, Clone)]
pub struct NewMail {
    /// Its id
    pub id: MailId,
    /// Sender
    pub from: Sender,
    /// To whom
    pub to: Recipient,
    /// Subject
    pub subject: String,
    /// Decoded body
    pub body: String,
    /// Mail that it replies to
    pub reply_to: Option<MailId>,
}

/// A mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// Its place among all mails
    pub number: i64,
    /// Its id
    pub id: MailId,
    /// Sender, or the agent that a mail of Adjutant itself is about; `None` for the human
    pub from: Option<AgentId>,
    /// Type of the sender
    pub from_type: AgentType,
    /// True if Adjutant itself wrote it
    pub is_system: bool,
    /// To whom
    pub to: Recipient,
    /// Subject
    pub subject: String,
    /// Decoded body
    pub body: String,
    /// Mail that it replies to
    pub reply_to: Option<MailId>,
    /// When it was written
    pub created_at: Timestamp,
    /// When it was read
    pub read_at: Option<Timestamp>,
}

/// Part of an inbox to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inbox {
    /// Those not read yet
    Unread,
    /// All
    All,
}

pub(crate) const COLUMNS: &str = "number, id, from_agent_id, from_category, recipient, subject, body, reply_to, \
     created_at, read_at";

pub(crate) fn read(row: &Row<'_>) -> Result<Mail, StoreError> {
    let mut cells = RowReader::of(row);
    let (number, id, from) = (cells.get()?, cells.parse()?, cells.parse_opt()?);
    let category: Option<String> = cells.get()?;
    let is_system = category.as_deref() == Some(SYSTEM);
    Ok(Mail {
        number,
        id,
        from,
        from_type: match category {
            Some(_) if is_system => AgentType::system(),
            Some(category) => AgentType::of_category(&category),
            None => AgentType::human(),
        },
        is_system,
        to: cells.named(Recipient::parse)?,
        subject: cells.get()?,
        body: cells.get()?,
        reply_to: cells.parse_opt()?,
        created_at: cells.time()?,
        read_at: cells.time_opt()?,
    })
}

impl Tx<'_> {
    /// A mail as it was written, for its recipient.
    pub fn mail_exact(&self, mut mail: Mail) -> Result<Mail, StoreError> {
        let id = mail.id.to_string();
        mail.subject = self.exact(&id, Field::Subject, mail.subject)?;
        mail.body = self.exact(&id, Field::Body, mail.body)?;
        Ok(mail)
    }

    /// Puts a mail into an inbox.
    pub fn mail_insert(&mut self, new: &NewMail, now: Timestamp) -> Result<(), StoreError> {
        let number = self.number("SELECT COALESCE(MAX(number), 0) + 1 FROM mail", [])?;
        let id = new.id.to_string();
        let subject = self.keep_exact(&id, Field::Subject, &new.subject, now)?;
        let body = self.keep_exact(&id, Field::Body, &new.body, now)?;
        self.execute(
            "INSERT INTO mail (number, id, from_agent_id, from_category, recipient, subject, body,
                reply_to, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            params![
                number,
                id,
                new.from.agent().map(|id| id.to_string()),
                new.from.category(),
                new.to.stored(),
                subject,
                body,
                new.reply_to.map(|id| id.to_string()),
                now.as_millis()
            ],
        )?;
        Ok(())
    }

    /// The mail of that id.
    pub fn mail_get(&self, id: MailId) -> Result<Option<Mail>, StoreError> {
        self.one(
            &format!("SELECT {COLUMNS} FROM mail WHERE id = $1"),
            params![id.to_string()],
            read,
        )
    }

    /// Notes that a mail was read; the first time counts.
    pub fn mail_mark_read(&mut self, id: MailId, now: Timestamp) -> Result<bool, StoreError> {
        let changed = self.execute(
            "UPDATE mail SET read_at = $2 WHERE id = $1 AND read_at IS NULL",
            params![id.to_string(), now.as_millis()],
        )?;
        Ok(changed > 0)
    }

    /// Lists an inbox, oldest first.
    pub fn mail_inbox(
        &self,
        of: Recipient,
        which: Inbox,
        after: i64,
        limit: u32,
    ) -> Result<Page<Mail>, StoreError> {
        let only = match which {
            Inbox::Unread => "read_at IS NULL AND",
            Inbox::All => "",
        };
        let rows = self.all(
            &format!(
                "SELECT {COLUMNS} FROM mail WHERE {only} recipient = $1 AND number > $2
                 ORDER BY number LIMIT $3"
            ),
            params![of.stored(), after, i64::from(limit) + 1],
            read,
        )?;
        Ok(Page::cut(rows, limit, |mail| mail.number))
    }

    /// The newest mails of an inbox that nobody has read, newest first.
    pub fn mail_unread_newest(&self, of: Recipient, limit: u32) -> Result<Vec<Mail>, StoreError> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM mail WHERE recipient = $1 AND read_at IS NULL
                 ORDER BY number DESC LIMIT $2"
            ),
            params![of.stored(), limit],
            read,
        )
    }

    /// Counts unread mails of an inbox.
    pub fn mail_unread_count(&self, of: Recipient) -> Result<i64, StoreError> {
        self.number(
            "SELECT COUNT(*) FROM mail WHERE recipient = $1 AND read_at IS NULL",
            params![of.stored()],
        )
    }

    /// The number of the newest mail of an inbox.
    pub fn mail_inbox_end(&self, of: Recipient) -> Result<Option<i64>, StoreError> {
        self.one(
            "SELECT number FROM mail WHERE recipient = $1 ORDER BY number DESC LIMIT 1",
            params![of.stored()],
            |row| RowReader::of(row).get(),
        )
    }

    /// Gives an unread mail to another reader, with a note above what it says.
    pub fn mail_forward(
        &mut self,
        id: MailId,
        to: Recipient,
        note: &str,
    ) -> Result<(), StoreError> {
        self.execute(
            "UPDATE mail SET recipient = $2, body = $3 || body WHERE id = $1 AND read_at IS NULL",
            params![id.to_string(), to.stored(), note],
        )?;
        self.execute(
            "UPDATE exact_text SET text = $2 || text WHERE subject = $1 AND field = 'body'",
            params![id.to_string(), note],
        )?;
        Ok(())
    }
}
