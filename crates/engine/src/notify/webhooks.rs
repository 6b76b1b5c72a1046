//! Webhooks: others are told of events, at least once, and of what belongs together in order.
//!
//! It follows the events by their numbers like every follower. Each message that an endpoint wants becomes a row, in the
//! transaction that moves the place up to which the events were looked at; so nothing is lost and nothing is made twice.
//! Rows stand in lines (`model::webhook::line`). The first of each line is sent, lines side by side but not too many at
//! once, and what came of it is written down. A server that dies in between sends it again, under the same id.

mod acts;
mod message;
mod send;
mod take;
pub(crate) mod view;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use host::post::Poster;
use model::{EventKinds, Timestamp};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::call::identity::hash_token;
use crate::core::error::ToolError;
use crate::core::follow::{EventReaction, NextRun};
use crate::core::settings::{Settings, WebhookSettings};
use crate::notify::service::Notifications;

pub use acts::Resume;
pub use view::DeliveryQuery;

/// Concurrent deliveries per webhook.
const PARALLEL: u32 = 8;
/// Timeout of a delivery.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(15);
/// Delay before a retry after a store error.
const STORE_RETRY_DELAY: Duration = Duration::from_secs(1);
/// For so long is remembered what is no longer configured, in seconds.
const KEPT_SECONDS: i64 = 30 * 86_400;

/// State shared by the loop and the operator's actions.
#[derive(Debug, Default)]
pub(crate) struct WebhookState {
    bell: Notify,
    poster: OnceLock<Poster>,
}

impl WebhookState {
    /// Makes the loop look.
    fn ring(&self) {
        self.bell.notify_one();
    }

    /// The poster, which is made when it is first needed: to read whom the machine trusts takes a moment.
    fn poster(&self) -> &Poster {
        self.poster.get_or_init(|| Poster::new(DELIVERY_TIMEOUT))
    }
}

/// Deliveries under way, and paused receivers.
#[derive(Debug, Default)]
struct Traffic {
    /// By webhook, the numbers of the messages
    under_way: HashMap<String, HashSet<i64>>,
    /// By webhook, until when nothing is sent
    quiet: HashMap<String, Timestamp>,
}

/// Tells webhooks of events until it is told to end. What is not done then is done by the next server.
#[derive(Debug)]
pub struct WebhookService {
    engine: Notifications,
    tasks: TaskTracker,
    shutdown: CancellationToken,
    traffic: Arc<Mutex<Traffic>>,
    /// The settings that the rows agree with
    known: Option<Arc<Settings>>,
    /// Last event processed, by webhook; it may be ahead of the record where there was nothing to send
    seen: HashMap<String, i64>,
}

impl WebhookService {
    /// Creates the service that delivers an engine's events to webhooks.
    pub fn new(engine: &Notifications, tasks: TaskTracker, shutdown: CancellationToken) -> Self {
        let (traffic, known, seen) = Default::default();
        Self { engine: engine.clone(), tasks, shutdown, traffic, known, seen }
    }

    /// Tells.
    pub async fn run(mut self) {
        let (engine, shutdown) = (self.engine.clone(), self.shutdown.clone());
        engine.follow(&mut self, &shutdown).await;
    }

    /// Takes in what happened, begins what is due, and says when to look again if nothing happens.
    async fn turn(&mut self) -> Result<NextRun, ToolError> {
        let settings = self.engine.settings();
        if !self.known.as_ref().is_some_and(|known| Arc::ptr_eq(known, &settings)) {
            self.agree(&settings).await?;
            self.known = Some(Arc::clone(&settings));
        }
        if settings.webhooks.is_empty() {
            return Ok(NextRun::News);
        }
        let mut wake: Option<Timestamp> = None;
        let rows = self.engine.store.read(|tx| tx.webhooks())?;
        for hook in settings.webhooks.iter().filter(|hook| hook.problem().is_none()) {
            let row = rows.iter().find(|row| row.name == hook.name);
            let Some(row) = row.filter(|row| row.disabled_at.is_none()) else { continue };
            self.take_in(hook, row).await?;
            wake = wake.into_iter().chain(self.begin_due(hook)?).min();
        }
        Ok(NextRun::due(wake, self.engine.now()))
    }

    /// Makes the rows agree with the configuration. A new one, or one that is named again, is told of what happens from now on.
    async fn agree(&self, settings: &Settings) -> Result<(), ToolError> {
        let hooks: Vec<(String, String)> =
            settings.webhooks.iter().map(|hook| (hook.name.clone(), hash_of(hook))).collect();
        if hooks.is_empty() && self.engine.store.read(|tx| tx.webhooks())?.is_empty() {
            return Ok(());
        }
        let clock = self.engine.clone();
        let agreed = self.engine.store.write(move |tx| {
            let (now, rows) = (clock.now(), tx.webhooks()?);
            for row in &rows {
                let old = |gone: Timestamp| gone.after_seconds(KEPT_SECONDS) < now;
                match hooks.iter().find(|(name, _)| *name == row.name) {
                    None if row.gone_at.is_some_and(old) => tx.webhook_forget(&row.name)?,
                    None => tx.webhook_gone(&row.name, now)?,
                    Some((name, hash)) => {
                        if row.gone_at.is_some() {
                            tx.webhook_begin(name, now)?;
                        }
                        // Failures of another address mean nothing for this one.
                        if row.disabled_for.as_ref().is_some_and(|about| about != hash) {
                            tx.webhook_enable(name, now)?;
                        }
                    }
                }
            }
            for (name, _) in &hooks {
                if !rows.iter().any(|row| row.name == *name) {
                    tx.webhook_begin(name, now)?;
                }
            }
            Ok::<_, ToolError>(())
        });
        agreed.await
    }

    /// Begins what is due and not under way, as much as may be at once; says when more is due.
    fn begin_due(&self, hook: &WebhookSettings) -> Result<Option<Timestamp>, ToolError> {
        let now = self.engine.now();
        let mut traffic = self.traffic();
        if let Some(until) = traffic.quiet.get(&hook.name).copied() {
            if until > now {
                return Ok(Some(until));
            }
            traffic.quiet.remove(&hook.name);
        }
        let under_way = traffic.under_way.entry(hook.name.clone()).or_default();
        let (due, next) = self.engine.store.read(|tx| {
            // Those under way are still due in the record.
            let due = tx.deliveries_due(&hook.name, now, PARALLEL * 2)?;
            Ok::<_, ToolError>((due, tx.delivery_next_due(&hook.name, now)?))
        })?;
        let most = usize::try_from(PARALLEL).unwrap_or(usize::MAX);
        for delivery in due {
            if under_way.len() >= most {
                break;
            }
            if under_way.insert(delivery.number) {
                self.begin(hook.clone(), delivery);
            }
        }
        drop(traffic);
        Ok(next)
    }

    fn begin(&self, hook: WebhookSettings, delivery: store::Delivery) {
        let (engine, shutdown) = (self.engine.clone(), self.shutdown.clone());
        let traffic = Arc::clone(&self.traffic);
        self.tasks.spawn(async move {
            let (name, number) = (hook.name.clone(), delivery.number);
            let quiet = send::send(&engine, &hook, delivery, &shutdown).await;
            let mut traffic = traffic.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(under_way) = traffic.under_way.get_mut(&name) {
                under_way.remove(&number);
            }
            if let Some(until) = quiet {
                traffic.quiet.insert(name, until);
            }
            drop(traffic);
            engine.webhook_state.ring();
        });
    }

    fn traffic(&self) -> MutexGuard<'_, Traffic> {
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventReaction for WebhookService {
    fn name(&self) -> String {
        "webhooks".to_owned()
    }

    fn kinds(&self) -> EventKinds {
        let settings = self.engine.settings();
        let hooks = settings.webhooks.iter().filter(|hook| hook.problem().is_none());
        hooks.flat_map(|hook| hook.kinds.iter().copied()).collect()
    }

    async fn react(&mut self) -> Result<NextRun, ToolError> {
        self.turn().await
    }

    async fn rung(&mut self) {
        self.engine.webhook_state.bell.notified().await;
    }
}

/// Hash of an address, to compare addresses without storing them.
fn hash_of(hook: &WebhookSettings) -> String {
    hash_token(&hook.url)
}
