//! `mcp__mail__read`.

use model::MailId;
use schemars::JsonSchema;
use serde::Deserialize;
use wire::mail::MailView;

use super::{mark_read, received};
use crate::call::cx::WriteCx;
use crate::call::tool::{Tool, Write};
use crate::core::error::ToolError;
use crate::tools::mail::mail_view;

/// Read a mail and mark it as read
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Id of the mail
    mail_id: MailId,
}

pub(crate) struct Read;

impl Tool for Read {
    const NAME: &'static str = "mcp__mail__read";
    const IDEMPOTENT: bool = true;
    type Args = Args;
    type Answer = MailView;
}

impl Write for Read {
    fn write(cx: &mut WriteCx<'_, '_>, Args { mail_id }: Args) -> Result<MailView, ToolError> {
        let mut mail = received(cx.tx, cx.caller, mail_id, "this mail belongs to another agent")?;
        if mark_read(cx, mail_id)? {
            mail.read_at = Some(cx.now);
        }
        Ok(mail_view(mail))
    }
}
