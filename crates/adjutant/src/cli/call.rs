//! The grammar of the commands about calls: their record, `mcp`, `open` and `tool`.

pub(crate) mod mcp;
pub(crate) mod open;
pub(crate) mod record;
pub(crate) mod tool;
