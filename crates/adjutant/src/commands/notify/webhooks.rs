//! `adjutant webhooks`: the receivers of events, and failed messages.

use serde_json::json;
use wire::webhooks::{
    Deliveries, DeliveryView, EnableWebhookRequest, RetriedDeliveries, TestDelivery, WebhookStatus,
    WebhookView, Webhooks,
};

use crate::app::{App, escaped, now, query};
use crate::cli::{WebhooksArgs, WebhooksVerb};
use crate::cli_error::CliError;
use crate::client::Answer;
use crate::commands::delivery::merge_queue::under;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{Page, age, bad, bold, counted, dim, good, line, name, odd, shown};

/// Exit code if a test message was refused.
const NOT_TAKEN: u8 = 1;

/// Lists webhooks and failed messages, sends messages again, tests or enables a webhook.
pub(crate) async fn run(app: &App, args: WebhooksArgs) -> Result<(), CliError> {
    match args.verb {
        None | Some(WebhooksVerb::List) => list(app).await,
        Some(WebhooksVerb::Dead { name }) => dead(app, name).await,
        Some(WebhooksVerb::Retry { name, id: Some(id), .. }) => retry(app, &name, &id).await,
        Some(WebhooksVerb::Retry { name, .. }) => retry_all(app, &name).await,
        Some(WebhooksVerb::Test { name }) => test(app, &name).await,
        Some(WebhooksVerb::Enable { name, skip_missed }) => {
            enable(app, &name, &EnableWebhookRequest { skip_missed }).await
        }
    }
}

async fn list(app: &App) -> Result<(), CliError> {
    let answer: Answer<Webhooks> = app.client().await?.get("/api/webhooks").await?;
    Ok(app.render.answer(&answer, || {
        if answer.webhooks.is_empty() {
            return format!(
                "No webhooks.\nAdd one under {} in the configuration: {}",
                name("webhooks"),
                name("adjutant config path")
            );
        }
        answer.webhooks.iter().map(webhook_text).collect()
    })?)
}

/// A webhook with its state.
fn webhook_text(hook: &WebhookView) -> String {
    let mut page = Page::default();
    let state = match hook.state {
        WebhookStatus::Ok => good("ok"),
        WebhookStatus::New => dim("nothing sent yet"),
        WebhookStatus::Failing => odd("failing"),
        WebhookStatus::Held => bad("held"),
        WebhookStatus::Disabled => bad("disabled"),
    };
    let (title, form) = (bold(line(&hook.name)), dim(format!("({})", line(&hook.form))));
    page.line(format_args!("{title}  {state}  {} {form}", line(&hook.url)));
    let kinds: Vec<String> = hook.kinds.iter().map(|kind| line(kind)).collect();
    let mut facts = vec![kinds.join(" ")];
    if let Some(at) = hook.last_ok_at {
        facts.push(format!("last taken {} ago", age(at, now())));
    }
    facts.push(format!("{} waiting", hook.pending));
    page.line(format_args!("  {}", dim(facts.join(", "))));
    under(&mut page, hook.problem.as_deref().unwrap_or_default());
    if hook.state == WebhookStatus::Failing {
        under(&mut page, hook.last_error.as_deref().unwrap_or_default());
    }
    if hook.dead > 0 {
        let given_up = odd(format!("{} given up", counted(hook.dead, "message")));
        page.line(format_args!("  {given_up}: {}", name("adjutant webhooks dead")));
    }
    if hook.state == WebhookStatus::Disabled {
        let how = format!("adjutant webhooks enable {}", line(&hook.name));
        page.line(format_args!("  {} {}", dim("Resume it:"), name(how)));
    }
    page.into_text()
}

async fn dead(app: &App, only: Option<String>) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let names = if let Some(name) = only {
        vec![name]
    } else {
        let hooks: Answer<Webhooks> = steady.fetch("/api/webhooks").await?;
        hooks.into_value().webhooks.into_iter().map(|hook| hook.name).collect()
    };
    let mut all = Vec::new();
    for name in &names {
        let path = format!("/api/webhooks/{}/deliveries", escaped(name));
        let page = |after| query(&path, [("state", Some("dead".to_owned())), ("after", after)]);
        all.extend(steady.fetch_all::<Deliveries>(page).await?);
    }
    Ok(app.render.answer(&json!({ "deliveries": all }), || {
        if all.is_empty() {
            return "No failed messages.".to_owned();
        }
        all.iter().map(|delivery| given_up_text(delivery)).collect()
    })?)
}

/// A message that was given up.
fn given_up_text(delivery: &DeliveryView) -> String {
    let mut page = Page::default();
    let (hook, kind) = (line(&delivery.webhook), shown(&delivery.kind));
    let event = dim(format!("(event {})", delivery.event_number));
    page.line(format_args!("{}  {hook}  {kind} {event}", bold(delivery.id)));
    let tries = match delivery.attempts {
        1 => "one try".to_owned(),
        tries => format!("{tries} tries"),
    };
    let ended = delivery.ended_at.map_or_else(|| "-".to_owned(), |at| age(at, now()));
    page.line(format_args!("  {}", dim(format!("given up {ended} ago after {tries}"))));
    under(&mut page, delivery.last_error.as_deref().unwrap_or_default());
    page.into_text()
}

async fn retry(app: &App, hook: &str, id: &str) -> Result<(), CliError> {
    let path = format!("/api/webhooks/{}/deliveries/{}/retry", escaped(hook), escaped(id));
    let answer: Answer<DeliveryView> = app.client().await?.post(&path, &json!({})).await?;
    Ok(app.render.answer(&answer, || {
        let look = name("adjutant webhooks");
        format!("{} is queued again.\nCheck its state with {look}", bold(answer.id))
    })?)
}

async fn retry_all(app: &App, hook: &str) -> Result<(), CliError> {
    let path = format!("/api/webhooks/{}/retry", escaped(hook));
    let answer: Answer<RetriedDeliveries> = app.client().await?.post(&path, &json!({})).await?;
    Ok(app.render.answer(&answer, || match answer.retried {
        0 => "No failed messages.".to_owned(),
        retried => {
            let verb = if retried == 1 { "is" } else { "are" };
            format!("{} {verb} sent again.", counted(retried, "message"))
        }
    })?)
}

async fn test(app: &App, hook: &str) -> Result<(), CliError> {
    let path = format!("/api/webhooks/{}/test", escaped(hook));
    let answer: Answer<TestDelivery> = app.client().await?.post(&path, &json!({})).await?;
    app.render.answer(&answer, || {
        let (hook, took) = (bold(line(hook)), dim(format!("({} ms)", answer.millis)));
        if answer.ok {
            format!("{hook} took it: {} {took}", good(shown(&answer.status)))
        } else {
            let why = line(answer.error.as_deref().unwrap_or_default());
            format!("{hook} refused it: {} {took}", bad(why))
        }
    })?;
    if answer.ok { Ok(()) } else { Err(CliError::reported(NOT_TAKEN)) }
}

async fn enable(app: &App, hook: &str, body: &EnableWebhookRequest) -> Result<(), CliError> {
    let path = format!("/api/webhooks/{}/enable", escaped(hook));
    let answer: Answer<WebhookView> = app.client().await?.post(&path, body).await?;
    Ok(app.render.answer(&answer, || webhook_text(&answer))?)
}
