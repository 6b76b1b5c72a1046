//! Cleaning: removes what is over, old, and needed by nothing that is live.
//!
//! Rows go in small transactions, so that others are not kept from writing; files and branches go
//! outside of any. Every step can be repeated: what a killed server left half removed is removed by
//! the next cleaning. The audit chain is never just cut: its rows are in an archive on disk first.

mod archive;
mod branches;
mod folders;
mod periodic;

use model::{Age, Timestamp};
use store::{EventRetention, StoreError, Tx};
use wire::cleanup::{CleanPart, CleanReport, CleanedPart};

pub use self::periodic::Cleaner;
use crate::core::error::ToolError;
use crate::core::settings::RetentionSettings;
use crate::upkeep::service::Upkeep;

/// Rows removed by one transaction.
const ROWS_PER_COMMIT: u32 = 2_000;
/// A call with a key may come again for this long, so that its answer is kept at least so long.
const ANSWERS_KEPT: Age = Age::days(1);

/// The age after which the configuration removes a part.
const fn age_in(part: CleanPart, retention: &RetentionSettings) -> Option<Age> {
    match part {
        CleanPart::Runs => retention.runs,
        CleanPart::Output => retention.output,
        CleanPart::Branches => retention.branches,
        CleanPart::Deliveries => retention.deliveries,
        CleanPart::Answers => retention.answers,
        CleanPart::Events => retention.events,
        CleanPart::Audit => retention.audit,
    }
}

/// Mode of a cleaning: remove, or only count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Remove,
    Count,
}

/// Request to clean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanRequest {
    /// The parts, each with the age from which on it goes
    pub parts: Vec<(CleanPart, Age)>,
    /// Dry run: count, and remove nothing
    pub dry_run: bool,
    /// True if the operator asked for it, and not the configuration
    pub by_operator: bool,
}

impl CleanRequest {
    /// Retention from the configuration.
    pub fn from_settings(retention: &RetentionSettings) -> Self {
        let parts = CleanPart::ALL.into_iter();
        let parts = parts.filter_map(|part| Some((part, age_in(part, retention)?))).collect();
        Self { parts, dry_run: false, by_operator: false }
    }
}

impl Upkeep {
    /// Cleans, or counts what would go.
    pub async fn clean(&self, request: CleanRequest) -> Result<CleanReport, ToolError> {
        // It is never closed, so that there is nothing to fail.
        let _alone = self.cleaning.acquire().await;
        let mode = if request.dry_run { Mode::Count } else { Mode::Remove };
        let mut report = CleanReport { dry_run: request.dry_run, parts: Vec::new() };
        for (part, age) in &request.parts {
            let before = age.before(self.now());
            let done = match part {
                CleanPart::Runs | CleanPart::Output => {
                    let part = *part;
                    self.outside(move |engine| folders::clean(engine, part, before, mode)).await
                }
                CleanPart::Branches => {
                    self.outside(move |engine| branches::clean(engine, before, mode)).await
                }
                CleanPart::Audit => self.clean_audit(&request, before).await,
                CleanPart::Deliveries | CleanPart::Answers | CleanPart::Events => {
                    self.clean_rows(*part, before, mode).await
                }
            };
            report.parts.push(done?);
        }
        Ok(report)
    }

    async fn clean_rows(
        &self,
        part: CleanPart,
        before: Timestamp,
        mode: Mode,
    ) -> Result<CleanedPart, ToolError> {
        let mut done = CleanedPart::new(part);
        let before = match part {
            CleanPart::Answers => before.min(ANSWERS_KEPT.before(self.now())),
            _ => before,
        };
        let events =
            EventRetention { before, slack: self.slack_missing(&self.settings()).is_empty() };
        if part == CleanPart::Events {
            done.kept = self.store.read(|tx| pins_in_the_way(tx, events))?;
        }
        if mode == Mode::Count {
            let count = self.store.scan(move |tx| match part {
                CleanPart::Deliveries => tx.deliveries_delivered_count(before),
                CleanPart::Answers => tx.idempotency_count(before),
                _ => tx.events_removable_count(tx.event_removable(events)?),
            });
            done.removed = u64::try_from(count.await.map_err(ToolError::from)?).unwrap_or(0);
            return Ok(done);
        }
        loop {
            let removed = self.store.write(move |tx| match part {
                CleanPart::Deliveries => tx.deliveries_remove(before, ROWS_PER_COMMIT),
                CleanPart::Answers => tx.idempotency_remove(before, ROWS_PER_COMMIT),
                _ => tx.events_remove(events, ROWS_PER_COMMIT),
            });
            let removed = removed.await.map_err(ToolError::from)?;
            done.removed = done.removed.saturating_add(u64::try_from(removed).unwrap_or(0));
            if removed == 0 {
                return Ok(done);
            }
        }
    }
}

/// Lists the consumers that still need old events.
fn pins_in_the_way(tx: &Tx<'_>, which: EventRetention) -> Result<Vec<String>, StoreError> {
    let removable = tx.event_removable(which)?;
    let free = tx.event_removable_by_age(which.before)?;
    let pins = tx.event_pins(which)?.into_iter().filter(|pin| pin.after < free);
    let message = |pin: store::EventPin| format!("events after {} for {}", pin.after, pin.by);
    Ok(if removable < free { pins.map(message).collect() } else { Vec::new() })
}
