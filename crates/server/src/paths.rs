//! Paths that the gate or the page treats unlike the others.

/// Health of the server; needs no token.
pub(crate) const HEALTH: &str = "/healthz";
/// Readiness of the server; needs no token.
pub(crate) const READY: &str = "/readyz";
/// GitHub's signed webhook; needs no token.
pub(crate) const GITHUB: &str = "/api/github/webhook";
/// Where a tab exchanges a link's code for a token; needs none.
pub(crate) const LOGIN: &str = "/api/login";
/// Where a tab gives its token back.
pub(crate) const LOGOUT: &str = "/api/logout";
/// Where events are told over a WebSocket.
pub(crate) const WS: &str = "/api/ws";
/// Where the server is asked to end.
pub(crate) const SHUTDOWN: &str = "/api/shutdown";
/// Route that every token may read beside `/api`.
pub(crate) const METRICS: &str = "/metrics";
