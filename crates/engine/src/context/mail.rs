//! The letters that wait for an agent, so that it has read them when it begins.

use std::collections::VecDeque;
use std::fmt::Write as _;

use store::{Inbox, Mail, Recipient, Tx};

use super::{CUT, clip, quote};
use crate::error::ToolError;

/// The newest letters are told, the rest counted.
const NEWEST: usize = 20;
/// So much of them, all together…
const BUDGET: usize = 16 * 1024;
/// …and so much of each.
const LETTER: usize = 4 * 1024;
/// How many are looked through at a time.
const PAGE: u32 = 200;

/// The unread letters of an inbox; nothing where there is none.
pub(crate) fn unread_mail(tx: &Tx<'_>, recipient: Recipient) -> Result<String, ToolError> {
    let mut newest = VecDeque::new();
    let (mut count, mut after) = (0_usize, 0);
    loop {
        let page = tx.mail_inbox(recipient, Inbox::Unread, after, PAGE)?;
        for mail in page.items {
            count += 1;
            newest.push_back(mail);
            if newest.len() > NEWEST {
                newest.pop_front();
            }
        }
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    if count == 0 {
        return Ok(String::new());
    }
    let mut room = BUDGET;
    let mut letters: Vec<String> = newest.iter().rev().map(letter).collect();
    let fitting = letters.iter().take_while(|letter| {
        let fits = letter.len() <= room;
        room = room.saturating_sub(letter.len());
        fits
    });
    letters.truncate(fitting.count());
    let mut text = format!(
        "## Unread Mail\n\n{count} unread. `mcp__mail__reply` answers a letter, `mcp__mail__read` marks it as read.\n"
    );
    let left_out = count - letters.len();
    if left_out > 0 {
        // Writing to a String cannot fail.
        _ = write!(text, "\n{CUT} {left_out} earlier; `mcp__mail__list_inbox` lists them\n");
    }
    text.extend(letters.into_iter().rev());
    Ok(text)
}

fn letter(mail: &Mail) -> String {
    let from = mail.from.map_or_else(|| "the human".to_owned(), |id| id.to_string());
    let said = format!("Subject: {}\n\n{}", mail.subject, clip(&mail.body, LETTER));
    format!(
        "\n`{}` from {from} ({}), {}:\n\n{}",
        mail.id,
        mail.from_type,
        mail.created_at,
        quote(&said)
    )
}
