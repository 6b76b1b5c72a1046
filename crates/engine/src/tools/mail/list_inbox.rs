//! `mcp__mail__list_inbox`.

use schemars::JsonSchema;
use serde::Deserialize;
use store::Inbox;
use wire::mail::{InboxAnswer, MailView};
use wire::paging::PageCursor;

use super::inbox_of;
use crate::call::cx::ReadCx;
use crate::call::paging::{Limit, WaitSeconds};
use crate::call::tool::{Look, Tool, Wait};
use crate::core::error::ToolError;
use crate::core::topics::Topic;
use crate::tools::mail::mail_view;

/// List mail in your inbox
///
/// Oldest first. With `waitSeconds` the call waits until there is unread mail, or answers with what
/// there is when the time is up. To wait for mail that is newer than a page, pass its `endCursor` as `cursor`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Args {
    /// Also list mail that has been read (default false)
    include_read: Option<bool>,
    /// Seconds to wait for unread mail, up to 240 (default 0)
    wait_seconds: Option<WaitSeconds>,
    /// Maximum number of mails (default 50)
    limit: Option<Limit>,
    /// `nextCursor` of the previous page
    cursor: Option<PageCursor>,
}

pub(crate) struct ListInbox;

impl Tool for ListInbox {
    const NAME: &'static str = "mcp__mail__list_inbox";
    type Args = Args;
    type Answer = InboxAnswer;
}

impl Wait for ListInbox {
    fn wait_seconds(args: &Args) -> u32 {
        args.wait_seconds.map_or(0, WaitSeconds::seconds)
    }

    fn topics(cx: &ReadCx<'_>, _: &Args) -> Vec<Topic> {
        vec![Topic::Inbox(inbox_of(cx.caller))]
    }

    fn look(cx: &ReadCx<'_>, args: &Args) -> Result<Look<InboxAnswer>, ToolError> {
        let inbox = inbox_of(cx.caller);
        let which = if args.include_read == Some(true) { Inbox::All } else { Inbox::Unread };
        let after = args.cursor.map_or(0, PageCursor::number);
        let page = cx.tx.mail_inbox(inbox, which, after, Limit::or(args.limit, 50))?;
        let unread_count = cx.tx.mail_unread_count(inbox)?;
        let last = page.items.last().map(|mail| mail.number);
        let exact = page.items.into_iter().map(|mail| cx.tx.mail_exact(mail).map(mail_view));
        let mails = exact.collect::<Result<Vec<MailView>, _>>()?;
        let next_cursor = page.next.map(PageCursor::from);
        let end = if next_cursor.is_some() { last } else { cx.tx.mail_inbox_end(inbox)? };
        let end_cursor = Some(PageCursor::from(end.unwrap_or(after).max(after)));
        let answer =
            InboxAnswer { count: mails.len(), unread_count, mails, end_cursor, next_cursor };
        let is_there = !cx.tx.mail_inbox(inbox, Inbox::Unread, after, 1)?.items.is_empty();
        Ok(if is_there { Look::Settled(answer) } else { Look::NotYet(answer) })
    }
}
