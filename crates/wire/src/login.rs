//! Ways into the page: links, and the sessions of tabs.

use model::{PassId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Code of a link, exchanged for a tab's token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Login")]
pub struct LoginRequest {
    /// The code in the link, behind `#login=`
    pub code: String,
}

/// Session of a tab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LoggedIn")]
pub struct TabSession {
    /// The tab's token, to be sent as `Authorization: Bearer`
    pub token: String,
    /// True for a read-only link
    pub read_only: bool,
    /// When it expires
    pub expires_at: Timestamp,
}

/// Request for a new link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "NewLink")]
pub struct LinkRequest {
    /// True for a link that only shows and can be used many times (default: a link for one tab that acts)
    #[serde(default)]
    pub read_only: bool,
    /// Days until a read-only link expires, at most 365 (default: 7)
    pub days: Option<u32>,
}

/// A new link. Its address is not shown again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MadeLink")]
pub struct CreatedLink {
    /// Its id
    pub id: PassId,
    /// Its address. The code follows `#`, which browsers do not send
    pub url: String,
    /// True for a read-only link
    pub read_only: bool,
    /// When it expires
    pub expires_at: Timestamp,
}

/// A page of links.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Links")]
pub struct LinkList {
    /// The links, oldest first
    pub links: Vec<LinkView>,
    /// Cursor of the next page, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<PassId>,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Link")]
pub struct LinkView {
    /// Its id
    pub id: PassId,
    /// True for a read-only link
    pub read_only: bool,
    /// Remaining uses; null is unlimited
    pub uses_left: Option<u32>,
    /// Number of open tabs
    pub tabs: u32,
    /// When it was created
    pub created_at: Timestamp,
    /// When it expires
    pub expires_at: Timestamp,
}

/// Outcome of revoking links.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Revoked")]
pub struct RevokedLinks {
    /// Number of tabs that were closed
    pub tabs: usize,
}
