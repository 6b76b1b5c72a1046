//! `adjutant mail`: the human's inbox, through the same tools that agents use.

use serde_json::{Map, Value, json};
use wire::mail::{InboxAnswer, MailView, SentMail};

use crate::app::{App, call_tool, now};
use crate::cli::{MailArgs, MailVerb};
use crate::cli_error::Trouble;
use crate::client::Answer;
use crate::commands::call::tool::text_or_stdin;
use crate::terminal::render::{age, bold, dim, elastic, good, line, name, quoted, shown};

/// Page size.
const PAGE: usize = 500;

/// Lists, reads, answers or sends mail.
pub(crate) async fn run(app: &App, args: MailArgs) -> Result<(), Trouble> {
    match args.verb {
        None => list(app, &args).await,
        Some(MailVerb::Read { id }) => {
            let mail: Answer<MailView> =
                app.call_tool("mcp__mail__read", &json!({ "mailId": id })).await?;
            Ok(app.render.answer(&mail, || details(&mail))?)
        }
        Some(MailVerb::Reply { id, body }) => {
            let body = text_or_stdin(body)?;
            send(app, "mcp__mail__reply", &json!({ "originalMailId": id, "body": body })).await
        }
        Some(MailVerb::Send { to, subject, body }) => {
            let body = text_or_stdin(body)?;
            let input = json!({ "toAgentId": to, "subject": subject, "body": body });
            send(app, "mcp__mail__send", &input).await
        }
    }
}

async fn list(app: &App, args: &MailArgs) -> Result<(), Trouble> {
    let client = app.client().await?;
    let mut mails: Vec<Answer<MailView>> = Vec::new();
    let mut cursor: Option<String> = None;
    let unread = loop {
        let mut input = Map::from_iter([
            ("includeRead".to_owned(), args.all.into()),
            ("limit".to_owned(), PAGE.into()),
        ]);
        // Only the first page waits for mail.
        let wait = args.wait.filter(|_| cursor.is_none());
        input.extend(wait.map(|wait| ("waitSeconds".to_owned(), wait.into())));
        input.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor.into())));
        let page: Answer<InboxAnswer> = call_tool(&client, "mcp__mail__list_inbox", &input).await?;
        let unread = page.unread_count;
        let (rows, next) = page.into_rows();
        mails.extend(rows);
        cursor = next;
        if cursor.is_none() {
            break unread;
        }
    };
    let value = json!({ "count": mails.len(), "unreadCount": unread, "mails": mails });
    Ok(app.render.answer(&value, || {
        if mails.is_empty() {
            let more = if args.all { "" } else { " `adjutant mail --all` also shows read mail." };
            return format!("No new mail.{more}");
        }
        let now = now();
        let row = |mail: &Answer<MailView>| {
            [
                shown(&mail.id),
                if mail.is_read { String::new() } else { "new".to_owned() },
                sender(mail),
                line(&mail.subject),
                age(mail.created_at, now),
            ]
        };
        let headings = ["MAIL", "", "FROM", "SUBJECT", "AGE"];
        let list = elastic(headings, mails.iter().map(row), "SUBJECT");
        format!("{list}\nRead one with {}", name("adjutant mail read MAIL"))
    })?)
}

fn sender(mail: &MailView) -> String {
    mail.from_agent_id.map_or_else(|| "you".to_owned(), |agent| agent.to_string())
}

fn details(mail: &MailView) -> String {
    format!(
        "{}\n  from  {} ({})\n  sent  {} ago\n\n{}\n{} {}",
        bold(line(&mail.subject)),
        sender(mail),
        shown(&mail.from_agent_type),
        age(mail.created_at, now()),
        quoted(&mail.body),
        dim("Answer with"),
        name(format!("adjutant mail reply {} TEXT", mail.id)),
    )
}

async fn send(app: &App, tool: &str, input: &Value) -> Result<(), Trouble> {
    let sent: Answer<SentMail> = app.call_tool(tool, input).await?;
    Ok(app.render.answer(&sent, || format!("{} {}", good("Sent"), sent.mail_id))?)
}
