//! Removal of exact texts and remembered answers that have expired.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::core::error::ToolError;
use crate::upkeep::service::Upkeep;

/// Interval at which expired texts are removed; so none is kept longer than a day and an hour.
const TEXT_SWEEP_INTERVAL: Duration = Duration::from_secs(60 * 60);

impl Upkeep {
    /// Removes exact texts and remembered answers that are older than a day.
    pub async fn forget_expired_texts(&self) -> Result<(), ToolError> {
        let now = self.now();
        while self.store.write(move |tx| Ok::<_, ToolError>(tx.exact_sweep(now)?)).await? {}
        Ok(())
    }

    /// Keeps removing them until `stop`.
    pub async fn forget_texts(self, stop: CancellationToken) {
        loop {
            if let Err(error) = self.forget_expired_texts().await {
                tracing::error!(
                    causes = error.causes(),
                    "failed to remove expired texts; retrying in an hour"
                );
            }
            if stop.run_until_cancelled(tokio::time::sleep(TEXT_SWEEP_INTERVAL)).await.is_none() {
                return;
            }
        }
    }
}
