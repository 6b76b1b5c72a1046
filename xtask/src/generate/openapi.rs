//! `docs/reference/openapi.json`: the server's own description of its HTTP faces.

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::generate::Generated;

/// The document, laid out so that a difference can be read.
pub(super) fn document() -> Result<Generated> {
    let document: Value =
        serde_json::from_str(&server::openapi_document()).context("the OpenAPI document")?;
    let mut text = serde_json::to_string_pretty(&document).context("the OpenAPI document")?;
    text.push('\n');
    Ok(Generated::Text(text))
}
