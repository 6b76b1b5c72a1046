//! `mcp__mail__reply`.

use model::{MailId, Text};
use schemars::JsonSchema;
use serde::Deserialize;
use store::Recipient;
use wire::mail::SentMail;

use super::{addressee, deliver, received};
use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;

/// Reply to a mail that you received
///
/// The reply goes to the author of the mail. Its subject is the same, with `Re: ` before it.
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
        let to = match original.from {
            Some(agent) => addressee(cx.tx, agent)?,
            None => Recipient::Human,
        };
        let subject = if original.subject.starts_with("Re: ") {
            original.subject
        } else {
            format!("Re: {}", original.subject)
        };
        let body = args.body.into_inner();
        deliver(cx, to, (subject, body), Some(id))
    }
}
