//! When a receiver does not take what it is told: who waits, who hears of it, and how it goes on.

use engine::Resume;
use engine::settings::{Secret, WebhookKey};
use model::DeliveryId;
use model::event::EventKind;
use model::webhook::{DeliveryState, kinds_of};
use serde_json::json;
use store::{AuditFilter, Inbox, Recipient};
use testkit::Reaction;

use super::{ONE, OTHER, SECRET, Stage, hook, line, numbers};

/// What the human was written.
fn letters(stage: &Stage) -> Vec<(String, String)> {
    let read = stage.world.store.read(|tx| tx.mail_inbox(Recipient::Human, Inbox::All, 0, 100));
    read.unwrap().items.into_iter().map(|mail| (mail.subject, mail.body)).collect()
}

/// The rows of the record about one act.
fn rows(stage: &Stage, tool: &str) -> usize {
    let filter = AuditFilter { tool: Some(tool.to_owned()), ..AuditFilter::default() };
    stage.world.store.read(|tx| tx.audit_page(&filter, 100)).unwrap().items.len()
}

#[tokio::test]
async fn what_is_given_up_is_told_once_can_be_seen_and_sent_again() {
    // It wants everything, also what is told of itself.
    let stage = Stage::new(|hook| {
        hook.attempts = 1;
        hook.kinds = kinds_of("*");
    })
    .await;
    stage.receiver.react(|_| Reaction::With(500, Vec::new(), format!("no {SECRET} here")));
    for agent in 1..=5 {
        stage.note(agent).await;
    }
    // The five notes, the event about the first of them, and the mail about it.
    stage.counted(DeliveryState::Dead, 7).await;
    stage.counted(DeliveryState::Pending, 0).await;
    assert_eq!(stage.world.told(EventKind::WebhookDead).len(), 1, "it comes to rest");
    let letters = letters(&stage);
    assert_eq!(letters.len(), 1, "{letters:?}");
    let (subject, body) = &letters[0];
    assert_eq!(subject, "Webhook `it` did not take a message");
    assert!(body.contains("it answered with 500: no … here"), "{body}");
    assert!(body.contains("adjutant webhooks retry it --all"), "{body}");
    assert!(!body.contains("a-long-secret-path"), "{body}");

    let dead = stage.deliveries(Some(DeliveryState::Dead)).await;
    assert!(dead.iter().all(|one| one.attempts == 1 && one.last_status == Some(500)));
    assert!(dead.is_sorted_by_key(|one| -one.event_number), "newest first");
    // One more time, and it fails once more: nobody is written to, and nothing waits.
    stage.world.engine.webhook_retry("it", dead[0].id).await.unwrap();
    stage
        .until(|tx| {
            Ok(tx
                .delivery_get("it", dead[0].id)?
                .is_some_and(|one| one.attempts == 2 && one.ended_at.is_some()))
        })
        .await;
    assert_eq!(super::failures::letters(&stage).len(), 1);

    stage.receiver.react(|_| Reaction::Status(200));
    assert_eq!(stage.world.engine.webhook_retry_all("it").await.unwrap(), 7);
    stage.counted(DeliveryState::Dead, 0).await;
    stage.counted(DeliveryState::Delivered, 7).await;
    assert_eq!(rows(&stage, "operator__webhook_retry"), 2);
    // All is well, so the next one is told again.
    stage.receiver.react(|_| Reaction::Status(500));
    stage.note(ONE).await;
    stage.until(|tx| tx.delivery_any_dead("it")).await;
    assert_eq!(stage.world.told(EventKind::WebhookDead).len(), 2);
}

#[tokio::test]
async fn only_what_was_given_up_is_sent_again() {
    let stage = Stage::new(|_| {}).await;
    stage.note(ONE).await;
    stage.counted(DeliveryState::Delivered, 1).await;
    let engine = &stage.world.engine;
    let sent = stage.deliveries(None).await[0].id;
    let error = engine.webhook_retry("it", sent).await.unwrap_err();
    assert_eq!(error.message, format!("`{sent}` has not failed: it is delivered"));
    let unknown = DeliveryId::from_bits(1);
    let error = engine.webhook_retry("it", unknown).await.unwrap_err();
    assert_eq!(error.code.name(), "RESOURCE_NOT_FOUND");
    let error = engine.webhook_retry("its", sent).await.unwrap_err();
    assert_eq!(error.suggestions, ["did you mean `it`?"]);
}

#[tokio::test]
async fn who_is_gone_is_sent_nothing_more_until_somebody_says_so_and_misses_nothing() {
    let stage = Stage::new(|_| {}).await;
    stage.receiver.react(|_| Reaction::Status(410));
    let first = stage.note(ONE).await;
    stage.until(|tx| Ok(tx.webhook_get("it")?.unwrap().disabled_at.is_some())).await;
    let second = stage.note(OTHER).await;
    stage.pass(86_400);
    assert_eq!(stage.receiver.got().len(), 1);
    let view = serde_json::to_value(stage.view().await).unwrap();
    assert_eq!(view["state"], "disabled");
    assert!(view["problem"].as_str().unwrap().contains("410"), "{view}");
    assert_eq!(stage.world.told(EventKind::WebhookDisabled).len(), 1);
    assert_eq!(letters(&stage).len(), 1);
    assert_eq!(letters(&stage)[0].0, "Webhook `it` is disabled");
    let error = stage.world.engine.webhook_retry_all("it").await.unwrap_err();
    assert_eq!(error.message, "the webhook `it` is disabled");

    stage.receiver.react(|_| Reaction::Status(200));
    let view = stage.world.engine.webhook_enable("it", Resume::Missed).await.unwrap();
    assert_eq!(view.disabled_at, None);
    let got = stage.receiver.until(|got| got.len() == 3).await.unwrap();
    let mut told = numbers(&got[1..]);
    told.sort_unstable();
    assert_eq!(told, [first, second]);
    assert_eq!(rows(&stage, "operator__webhook_enable"), 1);
    let error = stage.world.engine.webhook_enable("it", Resume::Missed).await.unwrap_err();
    assert_eq!(error.message, "`it` is not disabled");
}

#[tokio::test]
async fn what_was_missed_can_be_skipped() {
    let stage = Stage::new(|_| {}).await;
    stage.receiver.react(|_| Reaction::Status(410));
    let first = stage.note(ONE).await;
    stage.until(|tx| Ok(tx.webhook_get("it")?.unwrap().disabled_at.is_some())).await;
    stage.note(OTHER).await;
    stage.receiver.react(|_| Reaction::Status(200));
    stage.world.engine.webhook_enable("it", Resume::Now).await.unwrap();
    let third = stage.note(OTHER).await;
    stage.counted(DeliveryState::Delivered, 2).await;
    let mut told = numbers(&stage.receiver.got()[1..]);
    told.sort_unstable();
    assert_eq!(told, [first, third]);
}

#[tokio::test]
async fn another_address_is_tried_although_the_old_one_is_gone() {
    let stage = Stage::new(|_| {}).await;
    stage.receiver.react(|got| Reaction::Status(if got.path == "/new" { 200 } else { 410 }));
    stage.note(ONE).await;
    stage.until(|tx| Ok(tx.webhook_get("it")?.unwrap().disabled_at.is_some())).await;
    let mut new = hook(&stage.receiver);
    new.url = stage.receiver.url("/new");
    stage.configure(vec![new]);
    stage.pass(1);
    stage.counted(DeliveryState::Delivered, 1).await;
    assert_eq!(stage.receiver.got().last().unwrap().path, "/new");
}

#[tokio::test]
async fn who_has_taken_nothing_for_five_days_is_sent_nothing_more() {
    let stage = Stage::new(|hook| hook.attempts = 1).await;
    stage.receiver.react(|_| Reaction::HangUp);
    stage.note(ONE).await;
    stage.counted(DeliveryState::Dead, 1).await;
    assert!(stage.view().await.disabled_at.is_none(), "not at once");
    stage.pass(5 * 86_400 + 1);
    stage.note(ONE).await;
    stage.until(|tx| Ok(tx.webhook_get("it")?.unwrap().disabled_at.is_some())).await;
    let subjects: Vec<String> = letters(&stage).into_iter().map(|(subject, _)| subject).collect();
    assert_eq!(subjects.len(), 2, "{subjects:?}");
    assert!(subjects.contains(&"Webhook `it` is disabled".to_owned()));
}

#[tokio::test]
async fn who_gets_too_much_is_left_alone_for_as_long_as_it_says() {
    let stage = Stage::new(|_| {}).await;
    let pause = vec![("retry-after", "600".to_owned())];
    stage.receiver.react(move |_| Reaction::With(429, pause.clone(), String::new()));
    stage.note(ONE).await;
    stage.until(|tx| Ok(tx.webhook_get("it")?.unwrap().last_failed_at.is_some())).await;
    // Neither that message nor any other is sent before.
    stage.until(|tx| Ok(tx.delivery_page("it", None, i64::MAX, 1)?.items[0].attempts == 1)).await;
    stage.receiver.react(|_| Reaction::Status(200));
    stage.pass(590);
    stage.note(OTHER).await;
    stage.counted(DeliveryState::Pending, 2).await;
    assert_eq!(stage.receiver.got().len(), 1);
    stage.pass(200);
    stage.counted(DeliveryState::Delivered, 2).await;
}

#[tokio::test]
async fn a_redirect_is_a_failure_that_says_what_to_do() {
    let stage = Stage::new(|hook| hook.attempts = 1).await;
    let to = stage.receiver.url("/another-secret-path");
    stage
        .receiver
        .react(move |_| Reaction::With(301, vec![("location", to.clone())], String::new()));
    stage.note(ONE).await;
    stage.counted(DeliveryState::Dead, 1).await;
    assert_eq!(stage.receiver.got().len(), 1, "it is not followed");
    let error = stage.deliveries(None).await[0].last_error.clone().unwrap();
    assert!(error.contains("redirects are not followed, so write the new address"), "{error}");
    assert!(!error.contains("another-secret-path"), "{error}");
}

#[tokio::test]
async fn without_its_key_nothing_is_sent_and_nothing_is_lost() {
    let stage = Stage::new(|hook| hook.key = WebhookKey::Missing("HOOK_KEY".to_owned())).await;
    let number = stage.note(ONE).await;
    let view = serde_json::to_value(stage.view().await).unwrap();
    assert_eq!(
        (&view["state"], &view["problem"]),
        (&json!("held"), &json!("the variable `HOOK_KEY` is not set"))
    );
    let error = stage.world.engine.webhook_test("it").await.unwrap_err();
    assert_eq!(error.code.name(), "CONFLICT");
    assert!(stage.receiver.got().is_empty());
    let mut mended = hook(&stage.receiver);
    mended.key = WebhookKey::Secret(Secret::new(SECRET.to_owned()));
    stage.configure(vec![mended]);
    stage.pass(1);
    let got = stage.receiver.until(|got| !got.is_empty()).await.unwrap();
    assert_eq!(numbers(&got), [number]);
}

#[tokio::test]
async fn one_can_be_tried_and_says_what_came_back() {
    let stage = Stage::new(|_| {}).await;
    let sent = stage.world.engine.webhook_test("it").await.unwrap();
    assert!(sent.ok && sent.status == Some(204) && sent.error.is_none(), "{sent:?}");
    let got = stage.receiver.got();
    assert_eq!((got.len(), got[0].kind().as_str()), (1, "webhook.test"));
    got[0].verify(SECRET).unwrap();
    stage.receiver.react(|_| Reaction::With(404, Vec::new(), "not registered".to_owned()));
    let sent = stage.world.engine.webhook_test("it").await.unwrap();
    assert_eq!(sent.error.as_deref(), Some("it answered with 404: not registered"));
    assert!(!sent.ok && stage.deliveries(None).await.is_empty(), "nothing is left of it");
    assert_eq!(rows(&stage, "operator__webhook_test"), 2);
}

#[tokio::test]
async fn no_secret_is_in_the_record() {
    let stage = Stage::new(|hook| hook.attempts = 1).await;
    stage.receiver.react(|got| {
        let echo = format!("{} {SECRET} a-long-secret-path", got.path);
        Reaction::With(500, Vec::new(), echo)
    });
    stage.note(ONE).await;
    stage.counted(DeliveryState::Dead, 1).await;
    stage.world.engine.webhook_test("it").await.unwrap();
    let shown = serde_json::to_value(stage.view().await).unwrap().to_string()
        + &json!(stage.deliveries(None).await).to_string();
    stage.world.store.close().await;
    let folder = stage.world.database();
    let folder = folder.parent().unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        let text = shown.clone() + &String::from_utf8_lossy(&bytes);
        for secret in [SECRET, "a-long-secret-path", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] {
            assert!(!text.contains(secret), "{secret}");
        }
    }
}

#[tokio::test]
async fn lists_come_in_pages_newest_first() {
    let stage = Stage::new(|hook| hook.attempts = 1).await;
    stage.receiver.react(|got| Reaction::Status(if line(got) == ONE { 400 } else { 200 }));
    for agent in [ONE, OTHER, ONE, OTHER, ONE] {
        stage.note(agent).await;
    }
    stage.counted(DeliveryState::Pending, 0).await;
    let (mut before, mut seen) = (None, Vec::new());
    loop {
        let which = engine::DeliveryQuery { state: None, before, limit: 2 };
        let page = stage.world.engine.webhook_deliveries("it", which).await.unwrap();
        seen.extend(page.items.iter().map(|one| one.event_number));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen.len(), 5);
    assert!(seen.is_sorted_by_key(|number| -number), "{seen:?}");
    let dead = stage.deliveries(Some(DeliveryState::Dead)).await;
    assert!(
        dead.len() == 3 && dead.iter().all(|one| one.body["data"]["details"]["iteration"] == ONE)
    );
}
