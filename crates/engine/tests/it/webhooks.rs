//! Webhooks against a real receiver, on a clock moved by hand: order, patience, what is given up, and who is told.

mod failures;

use std::sync::{Arc, Mutex};

use engine::settings::{Secret, Settings, WebhookForm, WebhookKey, WebhookSettings};
use engine::{DeliveryQuery, WebhookService};
use model::event::EventKind;
use model::webhook::{DeliveryState, kinds_of};
use model::{AgentId, NoteType, Timestamp};
use serde_json::json;
use store::{EventDraft, Tx};
use testkit::{Reaction, ReceivedMessage, Receiver, event_of};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wire::event::{EventData, MailRead, NoteAdded};
use wire::webhooks::{DeliveryView, WebhookView};

use crate::support::World;

pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// An agent, whose messages are one line, and another.
const ONE: u64 = 1;
const OTHER: u64 = 2;

/// An engine, its webhook, and who listens there.
struct Stage {
    world: World,
    receiver: Receiver,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// A webhook for notes of agents, which stand in as many lines as there are agents.
fn hook(receiver: &Receiver) -> WebhookSettings {
    WebhookSettings {
        name: "it".to_owned(),
        url: receiver.url("/a-long-secret-path"),
        form: WebhookForm::Standard,
        patterns: vec!["note.*".to_owned()],
        kinds: kinds_of("note.*"),
        key: WebhookKey::Secret(Secret::new(SECRET.to_owned())),
        attempts: 10,
    }
}

impl Stage {
    /// A stage on which everything is taken, and nothing has happened since the webhook was named.
    async fn new(change: impl FnOnce(&mut WebhookSettings)) -> Self {
        let (world, receiver) = (World::new(), Receiver::start().await.unwrap());
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let stage = Self { world, receiver, tasks, stop };
        stage.note(9).await;
        let mut hook = hook(&stage.receiver);
        change(&mut hook);
        stage.configure(vec![hook]);
        stage.start();
        stage.known().await;
        stage
    }

    fn configure(&self, webhooks: Vec<WebhookSettings>) {
        let settings = (*self.world.engine.settings()).clone();
        self.world.engine.set_settings(Settings { webhooks, ..settings });
    }

    /// Begins to tell, as a server does.
    fn start(&self) {
        let hooks = WebhookService::new(&self.world.engine, self.tasks.clone(), self.stop.clone());
        self.tasks.spawn(hooks.run());
    }

    /// Waits until the webhook is in the record.
    async fn known(&self) {
        self.until(|tx| Ok(tx.webhook_get("it")?.is_some_and(|row| row.gone_at.is_none()))).await;
    }

    /// Waits until the record says so.
    async fn until(&self, says: impl Fn(&Tx<'_>) -> Result<bool, store::StoreError>) {
        let waiting = async {
            while !self.world.store.read(|tx| says(tx)).unwrap() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(30), waiting).await.unwrap();
    }

    /// Something happens to the agent of that number.
    async fn note(&self, agent: u64) -> i64 {
        self.tell(Some(AgentId::from_bits(agent)), numbered(agent)).await
    }

    async fn tell(&self, agent: Option<AgentId>, data: EventData) -> i64 {
        let event = EventDraft { agent, task: None, data };
        let now = self.world.engine.now();
        let told = self.world.store.write(move |tx| tx.event_append(now, &event));
        told.await.unwrap()
    }

    /// Moves the clock, and makes everybody look at it.
    fn pass(&self, seconds: i64) {
        self.world.clock.advance_seconds(seconds);
        let settings = (*self.world.engine.settings()).clone();
        self.world.engine.set_settings(settings);
    }

    async fn view(&self) -> WebhookView {
        self.world.engine.webhooks().await.unwrap().pop().unwrap()
    }

    async fn deliveries(&self, state: Option<DeliveryState>) -> Vec<DeliveryView> {
        let which = DeliveryQuery { state, before: None, limit: 100 };
        self.world.engine.webhook_deliveries("it", which).await.unwrap().items
    }

    /// Waits until so many messages are in a state.
    async fn counted(&self, state: DeliveryState, count: i64) {
        self.until(|tx| Ok(tx.delivery_count("it", state)? == count)).await;
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The numbers of the events that were told of.
fn numbers(got: &[ReceivedMessage]) -> Vec<i64> {
    got.iter().map(|one| one.json()["data"]["number"].as_i64().unwrap()).collect()
}

/// Which of two lines a message is of.
fn line(got: &ReceivedMessage) -> u64 {
    got.json()["data"]["details"]["iteration"].as_u64().unwrap()
}

/// A note that carries a number.
fn numbered(number: u64) -> EventData {
    EventData::NoteAdded(NoteAdded {
        note_id: "NOT-1".to_owned(),
        kind: NoteType::Tip,
        session: "default".to_owned(),
        iteration: u32::try_from(number).unwrap(),
    })
}

#[tokio::test]
async fn a_new_webhook_is_told_of_what_is_wanted_from_now_on_and_signed() {
    let stage = Stage::new(|_| {}).await;
    stage.tell(None, event_of(EventKind::TaskUpdated)).await;
    let number = stage.note(ONE).await;
    let got = stage.receiver.until(|got| !got.is_empty()).await.unwrap();
    stage.counted(DeliveryState::Delivered, 1).await;
    assert_eq!(numbers(&got), [number], "neither what was before nor what is not wanted");
    got[0].verify(SECRET).unwrap();
    assert!(got[0].verify("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").is_err());
    let now = stage.world.engine.now();
    assert_eq!(got[0].header("webhook-timestamp"), (now.as_millis() / 1000).to_string());
    let body = got[0].json();
    assert_eq!((&body["type"], &body["timestamp"]), (&json!("note.added"), &json!(now)));
    assert_eq!(body["data"]["agentId"], json!(AgentId::from_bits(ONE)));
    let sent = stage.deliveries(None).await;
    assert_eq!((sent.len(), sent[0].attempts, sent[0].last_status), (1, 1, Some(204)));
    assert_eq!(
        (sent[0].id.to_string().as_str(), &sent[0].body),
        (got[0].header("webhook-id"), &body)
    );
    let view = serde_json::to_value(stage.view().await).unwrap();
    assert_eq!(
        (&view["state"], &view["pending"], &view["dead"]),
        (&json!("ok"), &json!(0), &json!(0))
    );
}

#[tokio::test]
async fn what_belongs_together_stays_in_order_and_a_dead_line_holds_no_other_up() {
    let stage = Stage::new(|hook| hook.attempts = 3).await;
    stage.receiver.react(|got| Reaction::Status(if line(got) == ONE { 500 } else { 200 }));
    let mut told = Vec::new();
    for _ in 0..20 {
        told.push((stage.note(ONE).await, stage.note(OTHER).await));
    }
    let (first, second): (Vec<i64>, Vec<i64>) = told.into_iter().unzip();
    stage.counted(DeliveryState::Delivered, 20).await;
    let of = |got: &[ReceivedMessage], wanted: u64| -> Vec<i64> {
        numbers(&got.iter().filter(|got| line(got) == wanted).cloned().collect::<Vec<_>>())
    };
    let got = stage.receiver.got();
    assert_eq!(of(&got, OTHER), second, "in order, while the other line stands");
    assert_eq!(of(&got, ONE), first[..1], "nothing overtakes what failed");
    // The line goes on where it stood, each message once, in order.
    stage.receiver.react(|_| Reaction::Status(200));
    stage.pass(10);
    stage.counted(DeliveryState::Delivered, 40).await;
    let ones = of(&stage.receiver.got(), ONE);
    assert_eq!(ones[1..], first, "the first one twice, and then all in order");
}

#[tokio::test]
async fn one_that_is_given_up_lets_the_next_of_its_line_go() {
    let stage = Stage::new(|hook| hook.attempts = 1).await;
    let (bad, good) = (stage.note(ONE).await, Arc::new(Mutex::new(0)));
    let decided = Arc::clone(&good);
    stage.receiver.react(move |got| {
        let is_bad = numbers(std::slice::from_ref(got)) == [bad];
        *decided.lock().unwrap() += 1;
        Reaction::Status(if is_bad { 400 } else { 200 })
    });
    stage.receiver.until(|got| !got.is_empty()).await.unwrap();
    let next = stage.note(ONE).await;
    let got = stage.receiver.until(|got| numbers(got).contains(&next)).await.unwrap();
    assert_eq!(numbers(&got).last(), Some(&next));
}

#[tokio::test]
async fn lines_go_side_by_side_but_not_too_many_at_once() {
    let stage = Stage::new(|_| {}).await;
    stage.receiver.react(|_| Reaction::Hang);
    for agent in 1..=20 {
        stage.note(agent).await;
    }
    stage.receiver.until(|got| got.len() == 8).await.unwrap();
    // Another turn does not make more of them.
    stage.pass(1);
    stage.until(|tx| Ok(tx.delivery_count("it", DeliveryState::Pending)? == 20)).await;
    assert_eq!(stage.receiver.got().len(), 8);
}

#[tokio::test]
async fn what_fails_is_tried_again_on_the_schedule_under_the_same_id() {
    let stage = Stage::new(|hook| hook.attempts = 4).await;
    stage.receiver.react(|_| Reaction::Status(503));
    stage.note(ONE).await;
    // Each wait is the schedule's, and up to a fifth more.
    for (tries, wait) in [(1, 5), (2, 300), (3, 1800)] {
        stage.receiver.until(|got| got.len() == tries).await.unwrap();
        stage
            .until(|tx| {
                Ok(tx.delivery_page("it", None, i64::MAX, 1)?.items[0].attempts
                    == u32::try_from(tries).unwrap())
            })
            .await;
        let waiting = stage.deliveries(Some(DeliveryState::Pending)).await;
        let due = waiting[0].next_try_at.unwrap().millis_since(stage.world.engine.now());
        assert!((wait * 1000..=wait * 1200).contains(&due), "{due} after {tries}");
        assert_eq!(waiting[0].last_error.as_deref(), Some("it answered with 503"));
        stage.pass(wait - 1);
        assert_eq!(stage.receiver.got().len(), tries, "not before its time");
        stage.pass(wait / 5 + 2);
    }
    let got = stage.receiver.until(|got| got.len() == 4).await.unwrap();
    stage.counted(DeliveryState::Dead, 1).await;
    let first = got[0].header("webhook-id");
    assert!(got.iter().all(|one| one.header("webhook-id") == first && one.verify(SECRET).is_ok()));
    let times: Vec<&str> = got.iter().map(|one| one.header("webhook-timestamp")).collect();
    assert!(times.is_sorted() && times[0] != times[3], "the time of each try: {times:?}");
}

#[tokio::test]
async fn a_server_that_ends_in_between_sends_it_again_and_loses_nothing() {
    let stage = Stage::new(|_| {}).await;
    stage.receiver.react(|_| Reaction::Hang);
    let first = stage.note(ONE).await;
    let got = stage.receiver.until(|got| got.len() == 1).await.unwrap();
    // The loop is dropped while the answer is awaited, and more happens while nobody listens.
    stage.stop.cancel();
    stage.tasks.close();
    stage.tasks.wait().await;
    let second = stage.note(ONE).await;
    stage.receiver.react(|_| Reaction::Status(200));
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let hooks = WebhookService::new(&stage.world.engine, tasks.clone(), stop.clone());
    tasks.spawn(hooks.run());
    let all = stage.receiver.until(|got| got.len() == 3).await.unwrap();
    assert_eq!(numbers(&all), [first, first, second]);
    assert_eq!(all[1].header("webhook-id"), got[0].header("webhook-id"));
    stop.cancel();
}

#[tokio::test]
async fn inngest_gets_events_as_it_takes_them() {
    let stage = Stage::new(|hook| {
        hook.form = WebhookForm::Inngest;
        hook.key = WebhookKey::Secret(Secret::new("event-key".to_owned()));
        hook.url = hook.url.replace("/a-long-secret-path", "");
    })
    .await;
    let number = stage.note(ONE).await;
    let got = stage.receiver.until(|got| !got.is_empty()).await.unwrap();
    let (body, now) = (got[0].json(), stage.world.engine.now());
    assert_eq!(got[0].path, "/e/event-key");
    assert_eq!(body.as_array().unwrap().len(), 1);
    assert_eq!(body[0]["name"], "note.added");
    assert_eq!(
        (&body[0]["ts"], &body[0]["data"]["number"]),
        (&json!(now.as_millis()), &json!(number))
    );
    assert_eq!(body[0]["id"], got[0].header("webhook-id"));
}

#[tokio::test]
async fn a_name_that_comes_back_is_told_from_then_on() {
    let stage = Stage::new(|_| {}).await;
    stage.configure(Vec::new());
    stage.pass(1);
    stage.until(|tx| Ok(tx.webhook_get("it")?.unwrap().gone_at.is_some())).await;
    stage.note(ONE).await;
    stage.configure(vec![hook(&stage.receiver)]);
    stage.pass(1);
    stage.known().await;
    let number = stage.note(ONE).await;
    stage.counted(DeliveryState::Delivered, 1).await;
    assert_eq!(numbers(&stage.receiver.got()), [number]);
    // One that is not named for a month is forgotten.
    stage.configure(Vec::new());
    stage.pass(1);
    stage.until(|tx| Ok(tx.webhook_get("it")?.unwrap().gone_at.is_some())).await;
    stage.configure(Vec::new());
    stage.pass(31 * 86_400);
    stage.until(|tx| Ok(tx.webhooks()?.is_empty())).await;
    stage.counted(DeliveryState::Delivered, 0).await;
}

#[tokio::test]
async fn what_was_missed_for_long_is_told_from_the_oldest_on() {
    let stage = Stage::new(|hook| hook.key = WebhookKey::Missing("KEY".to_owned())).await;
    let now = stage.world.engine.now();
    let made = stage.world.store.write(move |tx| {
        for number in 0..6000_u64 {
            // One in a hundred is wanted, and all of those belong together.
            let mail_id = model::MailId::from_bits(number);
            let read = EventData::MailRead(MailRead { mail_id });
            let data = if number % 100 == 0 { numbered(number) } else { read };
            let agent = Some(AgentId::from_bits(ONE));
            tx.event_append(now, &EventDraft { agent, task: None, data })?;
        }
        Ok::<_, store::StoreError>(())
    });
    made.await.unwrap();
    stage.configure(vec![hook(&stage.receiver)]);
    stage.pass(1);
    let got = stage.receiver.until(|got| got.len() == 60).await.unwrap();
    let told: Vec<u64> = got.iter().map(line).collect();
    assert_eq!(told, (0..6000).step_by(100).collect::<Vec<u64>>());
}

#[tokio::test]
async fn only_the_last_two_hundred_that_were_taken_are_remembered() {
    let stage = Stage::new(|_| {}).await;
    let now = Timestamp::from_millis(1000);
    let made = stage.world.store.write(move |tx| {
        for agent in 0..400_u64 {
            let agent = Some(AgentId::from_bits(agent));
            tx.event_append(now, &EventDraft { agent, task: None, data: numbered(1) })?;
        }
        Ok::<_, store::StoreError>(())
    });
    made.await.unwrap();
    stage.receiver.until(|got| got.len() == 400).await.unwrap();
    stage.counted(DeliveryState::Pending, 0).await;
    let left = stage.world.store.read(|tx| tx.delivery_count("it", DeliveryState::Delivered));
    let left = left.unwrap();
    assert!((200..=216).contains(&left), "{left}");
}
