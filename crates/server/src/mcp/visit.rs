//! Origin of a request, carried from the endpoint past `rmcp` to the handler.

use engine::Principal;
use tokio_util::sync::CancellationToken;

use crate::registry::Mount;

/// Origin of a request, for the handler behind `rmcp`.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    pub(crate) principal: Principal,
    pub(crate) mount: Mount,
    /// Cancelled when the older era's client has left its stream, of which `rmcp` does not tell
    pub(crate) left: Option<CancellationToken>,
}
