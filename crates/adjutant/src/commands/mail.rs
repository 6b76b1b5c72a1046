//! `adjutant mail`: the human's inbox, through the same tools that agents use.

use serde_json::{Map, Value, json};

use crate::app::{self, App, now};
use crate::cli::{MailArgs, MailVerb};
use crate::cli_error::Trouble;
use crate::commands::call::tool::text_or_stdin;
use crate::terminal::render::{ago, bold, dim, elastic, field, good, line, name, quoted};

/// Lists, reads, answers or sends mail.
pub(crate) async fn run(app: &App, args: MailArgs) -> Result<(), Trouble> {
    match args.verb {
        None => list(app, &args).await,
        Some(MailVerb::Read { id }) => {
            let mail = app.call("mcp__mail__read", json!({ "mailId": id })).await?;
            Ok(app.render.answer(&mail, || letter(&mail))?)
        }
        Some(MailVerb::Reply { id, body }) => {
            let body = text_or_stdin(body)?;
            sent(app, "mcp__mail__reply", json!({ "originalMailId": id, "body": body })).await
        }
        Some(MailVerb::Send { to, subject, body }) => {
            let body = text_or_stdin(body)?;
            let input = json!({ "toAgentId": to, "subject": subject, "body": body });
            sent(app, "mcp__mail__send", input).await
        }
    }
}

async fn list(app: &App, args: &MailArgs) -> Result<(), Trouble> {
    let client = app.client().await?;
    let mut mails: Vec<Value> = Vec::new();
    let mut cursor: Option<String> = None;
    let unread = loop {
        let mut input = Map::from_iter([
            ("includeRead".to_owned(), args.all.into()),
            ("limit".to_owned(), 500.into()),
        ]);
        input.extend(
            args.wait
                .filter(|_| cursor.is_none())
                .map(|wait| ("waitSeconds".to_owned(), wait.into())),
        );
        input.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor.into())));
        let mut page =
            app::call(&client, "mcp__mail__list_inbox", &Value::Object(input), None).await?;
        if let Value::Array(found) = page["mails"].take() {
            mails.extend(found);
        }
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break page["unreadCount"].clone();
        }
    };
    let value = json!({ "count": mails.len(), "unreadCount": unread, "mails": mails });
    Ok(app.render.answer(&value, || {
        if mails.is_empty() {
            let more = if args.all { "" } else { " `adjutant mail --all` also shows read mail." };
            return format!("No new mail.{more}");
        }
        let now = now();
        let row = |mail: &Value| {
            let new = if mail["isRead"] == true { "" } else { "new" };
            [
                field(mail, "id"),
                new.to_owned(),
                mail["fromAgentId"].as_str().map_or_else(|| "you".to_owned(), line),
                field(mail, "subject"),
                ago(&mail["createdAt"], now),
            ]
        };
        let headings = ["MAIL", "", "FROM", "SUBJECT", "AGE"];
        let list = elastic(headings, mails.iter().map(row), "SUBJECT");
        format!("{list}\nRead one with {}", name("adjutant mail read MAIL"))
    })?)
}

fn letter(mail: &Value) -> String {
    let from = mail["fromAgentId"].as_str().map_or_else(|| "you".to_owned(), line);
    format!(
        "{}\n  from  {from} ({})\n  sent  {} ago\n\n{}\n{} {}",
        bold(field(mail, "subject")),
        field(mail, "fromAgentType"),
        ago(&mail["createdAt"], now()),
        quoted(mail["body"].as_str().unwrap_or_default()),
        dim("Answer with"),
        name(format!("adjutant mail reply {} TEXT", field(mail, "id"))),
    )
}

async fn sent(app: &App, tool: &str, input: Value) -> Result<(), Trouble> {
    let answer = app.call(tool, input).await?;
    Ok(app.render.answer(&answer, || format!("{} {}", good("Sent"), field(&answer, "mailId")))?)
}
