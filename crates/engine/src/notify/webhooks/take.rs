//! From events to messages.

use model::DeliveryId;
use model::webhook::line;
use store::{Event, EventFilter, NewDelivery, Webhook};

use super::WebhookService;
use crate::call::cx::fresh;
use crate::core::error::ToolError;
use crate::core::settings::WebhookSettings;

/// Events read per step.
const BATCH: u32 = 256;
/// After so many batches others get their turn; the rest follows at once.
const BATCHES: u32 = 16;
/// Distance by which the cursor in memory may run ahead of the stored one.
const MAX_CURSOR_LEAD: i64 = 10_000;

impl WebhookService {
    /// Looks at the events that came since the last time, and makes messages of those that are wanted.
    pub(super) async fn take_in(
        &mut self,
        hook: &WebhookSettings,
        row: &Webhook,
    ) -> Result<(), ToolError> {
        let known = self.seen.get(&hook.name).copied().unwrap_or_default();
        let (mut seen, mut written) = (known.max(row.seen), row.seen);
        for _ in 0..BATCHES {
            let filter = EventFilter { after: seen, kind: None };
            let events = self.engine.store.read(|tx| tx.event_list(&filter, BATCH))?;
            let Some(newest) = events.last().map(|event| event.number) else { return Ok(()) };
            let is_last = events.len() < usize::try_from(BATCH).unwrap_or(usize::MAX);
            let wanted: Vec<Event> =
                events.into_iter().filter(|event| hook.kinds.contains(&event.kind)).collect();
            if !wanted.is_empty() || newest - written >= MAX_CURSOR_LEAD {
                self.write_down(hook, wanted, newest).await?;
                written = newest;
            }
            seen = newest;
            self.seen.insert(hook.name.clone(), seen);
            if is_last {
                return Ok(());
            }
        }
        self.engine.webhook_state.ring();
        Ok(())
    }

    async fn write_down(
        &self,
        hook: &WebhookSettings,
        wanted: Vec<Event>,
        newest: i64,
    ) -> Result<(), ToolError> {
        let (name, clock) = (hook.name.clone(), self.engine.clone());
        let written = self.engine.store.write(move |tx| {
            let now = clock.now();
            // It may have been moved on or deleted meanwhile.
            let Some(row) = tx.webhook_get(&name)? else { return Ok(()) };
            for event in wanted.iter().filter(|event| event.number > row.seen) {
                let new = NewDelivery {
                    id: fresh(DeliveryId::from_bits)?,
                    webhook: name.clone(),
                    event: event.number,
                    kind: event.kind,
                    line: line(event.kind, event.agent, event.task, event.number),
                };
                tx.delivery_insert(&new, now)?;
            }
            tx.webhook_seen(&name, newest.max(row.seen))?;
            Ok::<_, ToolError>(())
        });
        written.await
    }
}
