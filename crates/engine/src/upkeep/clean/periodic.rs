//! Cleaning by itself, as the configuration asks for it.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::CleanRequest;
use crate::upkeep::service::Upkeep;

/// Time between two cleanings.
const CLEAN_INTERVAL: Duration = Duration::from_secs(3600);

/// Cleans what `retention` names, at the start of the server and then every hour.
#[derive(Debug)]
pub struct Cleaner {
    engine: Upkeep,
    shutdown: CancellationToken,
}

impl Cleaner {
    /// A cleaner of that engine.
    pub fn new(engine: &Upkeep, shutdown: CancellationToken) -> Self {
        Self { engine: engine.clone(), shutdown }
    }

    /// Cleans until the server ends. A cleaning under way is left where it is; the next one goes on.
    pub async fn run(self) {
        let shutdown = self.shutdown.clone();
        // Told to end.
        _ = shutdown.run_until_cancelled(self.clean_for_ever()).await;
    }

    async fn clean_for_ever(self) {
        let mut due = tokio::time::interval(CLEAN_INTERVAL);
        loop {
            due.tick().await;
            let request = CleanRequest::from_settings(&self.engine.settings().retention);
            match self.engine.clean(request).await {
                Err(error) => tracing::error!(
                    message = error.message,
                    causes = error.causes(),
                    "cleaning failed; retrying in an hour"
                ),
                Ok(report) => {
                    for part in report.parts.iter().filter(|part| part.removed > 0) {
                        let name = part.part.name();
                        tracing::info!(part = name, removed = part.removed, "removed old data");
                    }
                }
            }
        }
    }
}
