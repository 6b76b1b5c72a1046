//! Ways into the page: a link's code becomes a tab's token, which the tab gives back. The operator makes
//! the links and takes them back.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use engine::store::Rights;
use engine::{LinkView, Opened, Tab, ToolError};
use http::StatusCode;
use model::{PassId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::page_limit;
use crate::answer::{Answer, Input, Params};
use crate::server::Shared;

/// Credentials of a tab.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Login {
    /// The code in the link, behind `#login=`
    code: String,
}

/// Session of a tab.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoggedIn {
    /// The tab's token, to be sent as `Authorization: Bearer`
    token: String,
    /// True for a read-only link
    read_only: bool,
    /// Until when it is good
    expires_at: Timestamp,
}

pub(crate) async fn log_in(
    State(shared): State<Arc<Shared>>,
    Input(login): Input<Login>,
) -> Answer<Json<LoggedIn>> {
    let entered = shared.app.engine.log_in(&login.code).await?;
    Ok(Json(LoggedIn {
        token: entered.token,
        read_only: entered.rights == Rights::Viewer,
        expires_at: entered.expires_at,
    }))
}

pub(crate) async fn log_out(
    State(shared): State<Arc<Shared>>,
    tab: Option<Extension<Tab>>,
) -> Answer<StatusCode> {
    let Some(Extension(tab)) = tab else {
        return Err(ToolError::invalid("this token is not that of a tab")
            .hint("only what `POST /api/login` gave can be given back")
            .into());
    };
    shared.app.engine.log_out(&tab).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Request for a new link.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewLink {
    /// One that only lets look, as often as wanted (default: one that lets act, once)
    #[serde(default)]
    read_only: bool,
    /// For how many days it lets look, at most 365 (default: 7)
    days: Option<u32>,
}

/// A link that was made. Nobody is told its address again.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MadeLink {
    /// Its id
    id: PassId,
    /// Its address. The code stands behind `#`, which browsers do not send
    url: String,
    /// True for a read-only link
    read_only: bool,
    /// Until when it can be used
    expires_at: Timestamp,
}

pub(crate) async fn make_link(
    State(shared): State<Arc<Shared>>,
    Input(new): Input<NewLink>,
) -> Answer<(StatusCode, Json<MadeLink>)> {
    let opened = match new {
        NewLink { read_only: true, days } => Opened::ToLook { days },
        NewLink { read_only: false, days: None } => Opened::ToAct,
        NewLink { .. } => {
            return Err(ToolError::invalid("`days` is for links that only let look")
                .detail("field", "days")
                .hint("add `readOnly`")
                .into());
        }
    };
    let made = shared.app.engine.link_make(opened).await?;
    let link = MadeLink {
        id: made.id,
        url: format!("{}/#login={}", reached_at(&shared.app.url), made.code),
        read_only: opened != Opened::ToAct,
        expires_at: made.expires_at,
    };
    Ok((StatusCode::CREATED, Json(link)))
}

/// Where a browser on this machine reaches the server: one that listens everywhere is not called so.
fn reached_at(url: &str) -> String {
    url.replacen("//0.0.0.0", "//127.0.0.1", 1).replacen("//[::]", "//[::1]", 1)
}

/// Query for links.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WhichLinks {
    /// `nextCursor` of the page before
    after: Option<PassId>,
    /// Page size, at most 1000
    limit: Option<u32>,
}

/// A page of links.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Links {
    /// The links, oldest first
    links: Vec<Link>,
    /// Where the next page begins, if there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<PassId>,
}

/// A link.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Link {
    /// Its id
    id: PassId,
    /// True for a read-only link
    read_only: bool,
    /// Remaining uses; null is unlimited
    uses_left: Option<u32>,
    /// Number of open tabs
    tabs: u32,
    /// When it was made
    created_at: Timestamp,
    /// Until when it can be used
    expires_at: Timestamp,
}

impl From<LinkView> for Link {
    fn from(link: LinkView) -> Self {
        let LinkView { id, read_only, uses_left, tabs, created_at, expires_at } = link;
        Self { id, read_only, uses_left, tabs, created_at, expires_at }
    }
}

pub(crate) async fn links(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<WhichLinks>,
) -> Answer<Json<Links>> {
    let (links, next_cursor) = shared.app.engine.links(asked.after, page_limit(asked.limit)?)?;
    Ok(Json(Links { links: links.into_iter().map(Link::from).collect(), next_cursor }))
}

/// A revoked link.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Revoked {
    /// Number of tabs that were closed
    tabs: usize,
}

pub(crate) async fn revoke_link(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
) -> Answer<Json<Revoked>> {
    let link = match id.as_str() {
        "all" => None,
        id => Some(id.parse::<PassId>().map_err(|error| ToolError::invalid(error.to_string()))?),
    };
    Ok(Json(Revoked { tabs: shared.app.engine.link_revoke(link).await? }))
}
