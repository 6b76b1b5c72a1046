//! State shared by all requests.

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::activity::Count;
use crate::app::App;
use crate::counters::Counters;
use crate::guard::Guard;
use crate::mcp::sessions::Sessions;
use crate::mcp::subscriptions::Subscriptions;
use crate::tail::Tail;

/// State shared by all requests.
pub(crate) struct Shared {
    pub(crate) app: App,
    pub(crate) guard: Guard,
    pub(crate) counters: Counters,
    /// Requests that are not answered yet; a stream nobody asked a question on is not one of them
    pub(crate) answers: Count,
    pub(crate) sessions: Sessions,
    pub(crate) subscriptions: Subscriptions,
    /// The newest events, for all who follow
    pub(crate) tail: Tail,
    /// Ends the streams; cancelled a moment after the server was told to end, so that what waits can
    /// still be answered
    pub(crate) streams: CancellationToken,
    /// Owns what runs beside the requests
    pub(crate) tasks: TaskTracker,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("app", &self.app).finish_non_exhaustive()
    }
}
