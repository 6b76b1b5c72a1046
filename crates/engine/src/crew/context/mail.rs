//! Unread mail of an agent, as part of its initial context.

use std::fmt::Write as _;

use store::{Mail, Recipient, Tx};

use super::{CUT, clip, quote};
use crate::core::error::ToolError;
use crate::mail::outgoing::sender_name;

/// The newest mails are told, the rest counted.
const NEWEST: u32 = 20;
/// Byte limit of all together…
const BUDGET: usize = 16 * 1024;
/// …and so much of each.
const LETTER: usize = 4 * 1024;

/// Availability of the mail tools to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MailTools {
    /// They are named to it
    Offered,
    /// Its role denies them
    Missing,
}

const TOOLS: &str = " `mcp__mail__reply` answers a letter, `mcp__mail__read` marks it as read.";
const LISTS_THEM: &str = "; `mcp__mail__list_inbox` lists them";

/// The unread mails of an inbox; nothing where there is none. The tools for mail are named to agents that have
/// them.
pub(crate) fn unread_mail(
    tx: &Tx<'_>,
    recipient: Recipient,
    tools: MailTools,
) -> Result<String, ToolError> {
    let count = tx.mail_unread_count(recipient)?;
    let newest = tx.mail_unread_newest(recipient, NEWEST)?;
    if count == 0 {
        return Ok(String::new());
    }
    let mut room = BUDGET;
    let newest = newest.into_iter().map(|mail| tx.mail_exact(mail));
    let newest = newest.collect::<Result<Vec<Mail>, _>>()?;
    let mut letters: Vec<String> = newest.iter().map(message).collect();
    let fitting = letters.iter().take_while(|message| {
        let fits = message.len() <= room;
        room = room.saturating_sub(message.len());
        fits
    });
    letters.truncate(fitting.count());
    let (tools, list) = match tools {
        MailTools::Offered => (TOOLS, LISTS_THEM),
        MailTools::Missing => ("", ""),
    };
    let mut text = format!("## Unread Mail\n\n{count} unread.{tools}\n");
    let left_out = count - i64::try_from(letters.len()).unwrap_or(count);
    if left_out > 0 {
        // Writing to a String cannot fail.
        _ = write!(text, "\n{CUT} {left_out} earlier{list}\n");
    }
    text.extend(letters.into_iter().rev());
    Ok(text)
}

fn message(mail: &Mail) -> String {
    let from = sender_name(mail);
    let output = format!("Subject: {}\n\n{}", mail.subject, clip(&mail.body, LETTER));
    format!(
        "\n`{}` from {from} ({}), {}:\n\n{}",
        mail.id,
        mail.from_type,
        mail.created_at,
        quote(&output)
    )
}
