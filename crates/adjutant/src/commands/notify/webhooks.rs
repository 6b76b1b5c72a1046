//! `adjutant webhooks`: who is told of events, and what they did not take.

use serde_json::{Value, json};

use crate::app::{App, escaped, now, query};
use crate::cli::{WebhooksArgs, WebhooksVerb};
use crate::cli_error::Trouble;
use crate::commands::delivery::merge_queue::under;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{Page, ago, bad, bold, count, dim, field, good, line, name, odd};

/// The exit code where a message was not taken.
const NOT_TAKEN: u8 = 1;

/// Lists webhooks, or does something about one.
pub(crate) async fn run(app: &App, args: WebhooksArgs) -> Result<(), Trouble> {
    match args.verb {
        None | Some(WebhooksVerb::List) => list(app).await,
        Some(WebhooksVerb::Dead { name }) => dead(app, name).await,
        Some(WebhooksVerb::Retry { name, id: Some(id), .. }) => retry(app, &name, &id).await,
        Some(WebhooksVerb::Retry { name, .. }) => retry_all(app, &name).await,
        Some(WebhooksVerb::Test { name }) => test(app, &name).await,
        Some(WebhooksVerb::Enable { name, skip_missed }) => {
            enable(app, &name, &json!({ "skipMissed": skip_missed })).await
        }
    }
}

async fn list(app: &App) -> Result<(), Trouble> {
    let answer = app.client().await?.get_json("/api/webhooks").await?;
    Ok(app.render.answer(&answer, || {
        let hooks = answer["webhooks"].as_array().map(Vec::as_slice).unwrap_or_default();
        if hooks.is_empty() {
            return format!(
                "No webhooks.\nAdd one under {} in the configuration: {}",
                name("webhooks"),
                name("adjutant config path")
            );
        }
        hooks.iter().map(told).collect()
    })?)
}

/// A webhook, and how it does.
fn told(hook: &Value) -> String {
    let mut page = Page::default();
    let state = match hook["state"].as_str() {
        Some("ok") => good("ok"),
        Some("new") => dim("nothing sent yet"),
        Some("failing") => odd("failing"),
        Some("held") => bad("held"),
        _ => bad("disabled"),
    };
    let [title, url, form] = ["name", "url", "form"].map(|key| field(hook, key));
    page.line(format_args!("{}  {state}  {url} {}", bold(title), dim(format!("({form})"))));
    let number = |key: &str| usize::try_from(hook[key].as_u64().unwrap_or_default()).unwrap_or(0);
    let kinds: Vec<String> = hook["kinds"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|kind| line(kind.as_str().unwrap_or_default()))
        .collect();
    let mut facts = vec![kinds.join(" ")];
    if !hook["lastOkAt"].is_null() {
        facts.push(format!("last taken {} ago", ago(&hook["lastOkAt"], now())));
    }
    facts.push(format!("{} waiting", number("pending")));
    page.line(format_args!("  {}", dim(facts.join(", "))));
    under(&mut page, hook["problem"].as_str().unwrap_or_default());
    if hook["state"] == "failing" {
        under(&mut page, hook["lastError"].as_str().unwrap_or_default());
    }
    if number("dead") > 0 {
        let given_up = odd(format!("{} given up", count(number("dead"), "message")));
        page.line(format_args!("  {given_up}: {}", name("adjutant webhooks dead")));
    }
    if hook["state"] == "disabled" {
        let how = format!("adjutant webhooks enable {}", field(hook, "name"));
        page.line(format_args!("  {} {}", dim("Resume it:"), name(how)));
    }
    page.into_text()
}

async fn dead(app: &App, only: Option<String>) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let names = if let Some(name) = only {
        vec![name]
    } else {
        let hooks = steady.get("/api/webhooks").await?;
        let hooks = hooks["webhooks"].as_array().map(Vec::as_slice).unwrap_or_default();
        hooks.iter().map(|hook| hook["name"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let mut all = Vec::new();
    for name in &names {
        let (path, mut after) = (format!("/api/webhooks/{}/deliveries", escaped(name)), None);
        loop {
            let cursor = after.map(|after: i64| after.to_string());
            let path = query(&path, [("state", Some("dead".to_owned())), ("after", cursor)]);
            let mut page = steady.get(&path).await?;
            if let Value::Array(more) = page["deliveries"].take() {
                all.extend(more);
            }
            after = page["nextCursor"].as_i64();
            if after.is_none() {
                break;
            }
        }
    }
    let answer = json!({ "deliveries": all });
    Ok(app.render.answer(&answer, || {
        if all.is_empty() {
            return "No failed messages.".to_owned();
        }
        all.iter().map(given_up).collect()
    })?)
}

/// A message that was given up.
fn given_up(delivery: &Value) -> String {
    let mut page = Page::default();
    let [id, hook, kind] = ["id", "webhook", "kind"].map(|key| field(delivery, key));
    let event = field(delivery, "eventNumber");
    page.line(format_args!("{}  {hook}  {kind} {}", bold(id), dim(format!("(event {event})"))));
    let tries = usize::try_from(delivery["attempts"].as_u64().unwrap_or_default()).unwrap_or(0);
    let tries = if tries == 1 { "one try".to_owned() } else { format!("{tries} tries") };
    let ended = ago(&delivery["endedAt"], now());
    page.line(format_args!("  {}", dim(format!("given up {ended} ago after {tries}"))));
    under(&mut page, delivery["lastError"].as_str().unwrap_or_default());
    page.into_text()
}

async fn retry(app: &App, hook: &str, id: &str) -> Result<(), Trouble> {
    let path = format!("/api/webhooks/{}/deliveries/{}/retry", escaped(hook), escaped(id));
    let answer = app.client().await?.post_json(&path, &json!({})).await?;
    Ok(app.render.answer(&answer, || {
        format!(
            "{} is queued again.\nCheck its state with {}",
            bold(field(&answer, "id")),
            name("adjutant webhooks")
        )
    })?)
}

async fn retry_all(app: &App, hook: &str) -> Result<(), Trouble> {
    let path = format!("/api/webhooks/{}/retry", escaped(hook));
    let answer = app.client().await?.post_json(&path, &json!({})).await?;
    Ok(app.render.answer(&answer, || {
        let many = usize::try_from(answer["retried"].as_u64().unwrap_or_default()).unwrap_or(0);
        match many {
            0 => "No failed messages.".to_owned(),
            many => {
                let verb = if many == 1 { "is" } else { "are" };
                format!("{} {verb} sent again.", count(many, "message"))
            }
        }
    })?)
}

async fn test(app: &App, hook: &str) -> Result<(), Trouble> {
    let path = format!("/api/webhooks/{}/test", escaped(hook));
    let answer = app.client().await?.post_json(&path, &json!({})).await?;
    let is_ok = answer["ok"].as_bool() == Some(true);
    app.render.answer(&answer, || {
        let took = dim(format!("({} ms)", field(&answer, "millis")));
        if is_ok {
            format!("{} took it: {} {took}", bold(line(hook)), good(field(&answer, "status")))
        } else {
            let why = line(answer["error"].as_str().unwrap_or_default());
            format!("{} refused it: {} {took}", bold(line(hook)), bad(why))
        }
    })?;
    if is_ok { Ok(()) } else { Err(Trouble::said(NOT_TAKEN)) }
}

async fn enable(app: &App, hook: &str, body: &Value) -> Result<(), Trouble> {
    let path = format!("/api/webhooks/{}/enable", escaped(hook));
    let answer = app.client().await?.post_json(&path, body).await?;
    Ok(app.render.answer(&answer, || told(&answer))?)
}
