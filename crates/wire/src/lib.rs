//! Shapes that cross a boundary: views, event payloads, request bodies and error bodies.
//!
//! Each JSON shape is declared here once, with `Serialize`, `Deserialize` and `JsonSchema`. The engine produces them;
//! the server, the command line, webhooks and the generated TypeScript consume them.
