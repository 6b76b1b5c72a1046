//! Pages of lists: their size and where they begin.

use engine::ToolError;
use model::Cursor;
use schemars::JsonSchema;
use serde::Deserialize;

/// Items on a page unless the request says otherwise.
const PAGE: u32 = 100;
/// Upper bound on the items of a page.
pub(super) const MAX_PAGE: u32 = 1000;

/// Page of a list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ListQuery {
    /// Those that are over or gone, too
    #[serde(default)]
    pub(super) all: bool,
    /// Only those after this cursor
    #[serde(default)]
    pub(super) after: Cursor,
    /// Page size, at most 1000
    pub(super) limit: Option<u32>,
}

/// Page of a list, newest first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewestQuery {
    /// `nextCursor` of the page before
    pub(super) after: Option<Cursor>,
    /// Page size, at most 1000
    pub(super) limit: Option<u32>,
}

/// Page size, bounded.
pub(super) fn page_limit(asked: Option<u32>) -> Result<u32, ToolError> {
    match asked {
        None => Ok(PAGE),
        Some(limit @ 1..=MAX_PAGE) => Ok(limit),
        Some(_) => Err(ToolError::invalid(format!("`limit` must be from 1 to {MAX_PAGE}"))
            .detail("field", "limit")),
    }
}
