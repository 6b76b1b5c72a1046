//! `adjutant mail`: the human's inbox, through the same tools that agents use.

use std::path::{Path, PathBuf};

use host::files::{self, Mode};
use model::AgentType;
use serde_json::{Value, json};
use wire::mail::{InboxAnswer, MailView, SentMail};
use wire::paging::PageCursor;

use crate::app::{App, call_tool, now};
use crate::cli::{MailArgs, MailVerb};
use crate::cli_error::CliError;
use crate::client::{Answer, Client};
use crate::commands::call::tool::text_or_stdin;
use crate::terminal::render::{age, bold, dim, elastic, good, line, name, odd, quoted, shown};

/// Page size.
const PAGE: usize = 500;

/// Lists, reads, answers or sends mail.
pub(crate) async fn run(app: &App, args: MailArgs) -> Result<(), CliError> {
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

/// Lists the inbox. With `--wait`, once there is unread mail that no list has shown, or the time is up.
async fn list(app: &App, args: &MailArgs) -> Result<(), CliError> {
    let client = app.client().await?;
    let shown_file = shown_file(app);
    if let Some(seconds) = args.wait {
        let newest = page(&client, json!({ "limit": 1 })).await?.end_cursor;
        let shown = shown_file.as_deref().and_then(read_shown);
        // A record that was restored may be older than the note.
        let from =
            shown.filter(|shown| newest.is_some_and(|newest| shown.number() <= newest.number()));
        let mut input = json!({ "limit": 1, "waitSeconds": seconds });
        if let (Some(from), Some(input)) = (from, input.as_object_mut()) {
            input.insert("cursor".to_owned(), json!(from));
        }
        page(&client, input).await?;
    }
    let mut mails: Vec<Answer<MailView>> = Vec::new();
    let mut input = json!({ "includeRead": args.all, "limit": PAGE });
    let (unread, end) = loop {
        let page = page(&client, input.clone()).await?;
        let (unread, end) = (page.unread_count, page.end_cursor);
        let (rows, next) = page.into_rows();
        mails.extend(rows);
        match (next, input.as_object_mut()) {
            (Some(next), Some(input)) => input.insert("cursor".to_owned(), json!(next)),
            _ => break (unread, end),
        };
    };
    if let (Some(file), Some(end)) = (shown_file, end) {
        // Without the note the next wait is over at once if there is unread mail; that is no reason to show none now.
        drop(files::write_quickly(&file, &end.to_string(), Mode::Private));
    }
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

async fn page(client: &Client, input: Value) -> Result<Answer<InboxAnswer>, CliError> {
    call_tool(client, "mcp__mail__list_inbox", &input).await
}

/// Where it is noted which mail was shown. Agents and users of a server without a home here have no such note.
fn shown_file(app: &App) -> Option<PathBuf> {
    let home = app.home().ok().filter(|_| app.env.agent_id.is_none())?;
    home.shown_mail_file(&app.env).ok()
}

/// The place after the newest mail that was shown, if that is known.
fn read_shown(file: &Path) -> Option<PageCursor> {
    let text = files::read(file).ok()??;
    serde_json::from_value(json!(text.trim())).ok()
}

/// The sender of a mail in a list.
fn sender(mail: &MailView) -> String {
    if mail.from_agent_type == AgentType::system() {
        return "Adjutant".to_owned();
    }
    mail.from_agent_id.map_or_else(|| "you".to_owned(), |agent| agent.to_string())
}

/// The sender with its type; of mail from Adjutant itself, the agent that it is about.
fn sender_in_full(mail: &MailView) -> String {
    match mail.from_agent_id {
        Some(about) if mail.from_agent_type == AgentType::system() => {
            format!("Adjutant itself, about {about}")
        }
        None if mail.from_agent_type == AgentType::system() => "Adjutant itself".to_owned(),
        _ => format!("{} ({})", sender(mail), shown(&mail.from_agent_type)),
    }
}

fn details(mail: &MailView) -> String {
    format!(
        "{}\n  from  {}\n  sent  {} ago\n\n{}{}",
        bold(line(&mail.subject)),
        sender_in_full(mail),
        age(mail.created_at, now()),
        quoted(&mail.body),
        answer_with(mail),
    )
}

/// Advice on answering a mail, if its author can still read the answer.
fn answer_with(mail: &MailView) -> String {
    if mail.from_agent_id.is_none() && mail.from_agent_type == AgentType::system() {
        return String::new();
    }
    let command = name(format!("adjutant mail reply {} TEXT", mail.id));
    format!("\n{} {command}", dim("Answer with"))
}

async fn send(app: &App, tool: &str, input: &Value) -> Result<(), CliError> {
    let sent: Answer<SentMail> = app.call_tool(tool, input).await?;
    Ok(app.render.answer(&sent, || {
        let note = sent.note.as_ref().map(|note| format!("\n{}", odd(line(note))));
        format!("{} {}{}", good("Sent"), sent.mail_id, note.unwrap_or_default())
    })?)
}
