//! The grammar of the commands about calls: their record, `mcp`, and `open`.

pub(crate) mod mcp;
pub(crate) mod open;
pub(crate) mod record;
