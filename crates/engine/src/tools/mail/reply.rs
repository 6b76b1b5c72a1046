//! `mcp__mail__reply`.

use model::{MailId, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use wire::mail::SentMail;

use super::{deliver, mark_read, received};
use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::mail::outgoing::MailText;

/// Reply to a mail that you received
///
/// The reply goes to the author of the mail, with `Re: ` before its subject, and marks the mail as read. If the author
/// has ended, `note` says where the reply went.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Id of the mail to reply to
    original_mail_id: MailId,
    /// Text
    body: Text<100_000>,
}

pub(crate) struct Reply;

impl Tool for Reply {
    const NAME: &'static str = "mcp__mail__reply";
    type Args = Args;
    type Answer = SentMail;
}

impl Write for Reply {
    fn write(cx: &mut WriteCx<'_, '_>, args: Args) -> Result<SentMail, ToolError> {
        let id = args.original_mail_id;
        let original = received(cx.tx, cx.caller, id, "Can only reply to mail you received")?;
        if original.is_system && original.from.is_none() {
            return Err(ToolError::conflict(format!(
                "`{id}` is from Adjutant itself: nobody would read an answer"
            )));
        }
        let subject = if original.subject.starts_with("Re: ") {
            original.subject
        } else {
            format!("Re: {}", original.subject)
        };
        let word = MailText { subject, body: args.body.into_inner() };
        let sent = deliver(cx, original.from, word, Some(id))?;
        mark_read(cx, id)?;
        Ok(sent)
    }
}
