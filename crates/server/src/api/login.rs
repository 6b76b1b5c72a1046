//! Ways into the page: a link's code becomes a tab's token, which the tab gives back. The operator makes
//! the links and takes them back.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use engine::{Opened, Tab, ToolError};
use http::StatusCode;
use model::PassId;
use schemars::JsonSchema;
use serde::Deserialize;

use wire::login::{CreatedLink, LinkList, LinkRequest, LoginRequest, RevokedLinks, TabSession};

use super::paging::page_limit;
use crate::answer::{Answer, Input, Params};
use crate::shared::Shared;

pub(crate) async fn log_in(
    State(shared): State<Arc<Shared>>,
    Input(login): Input<LoginRequest>,
) -> Answer<Json<TabSession>> {
    let entered = shared.app.engine.log_in(&login.code).await?;
    Ok(Json(TabSession {
        token: entered.token,
        read_only: entered.read_only,
        expires_at: entered.expires_at,
    }))
}

pub(crate) async fn log_out(
    State(shared): State<Arc<Shared>>,
    tab: Option<Extension<Tab>>,
) -> Answer<StatusCode> {
    let Some(Extension(tab)) = tab else {
        return Err(ToolError::invalid("this token does not belong to a tab")
            .hint("only what `POST /api/login` gave can be given back")
            .into());
    };
    shared.app.engine.log_out(&tab).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn make_link(
    State(shared): State<Arc<Shared>>,
    Input(new): Input<LinkRequest>,
) -> Answer<(StatusCode, Json<CreatedLink>)> {
    let opened = match new {
        LinkRequest { read_only: true, days } => Opened::ToLook { days },
        LinkRequest { read_only: false, days: None } => Opened::ToAct,
        LinkRequest { .. } => {
            return Err(ToolError::invalid("`days` applies to read-only links")
                .detail("field", "days")
                .hint("add `readOnly`")
                .into());
        }
    };
    let made = shared.app.engine.link_make(opened).await?;
    let link = CreatedLink {
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
pub(crate) struct LinksQuery {
    /// `nextCursor` of the page before
    after: Option<PassId>,
    /// Page size, at most 1000
    limit: Option<u32>,
}

pub(crate) async fn links(
    State(shared): State<Arc<Shared>>,
    Params(asked): Params<LinksQuery>,
) -> Answer<Json<LinkList>> {
    let (links, next_cursor) = shared.app.engine.links(asked.after, page_limit(asked.limit)?)?;
    Ok(Json(LinkList { links, next_cursor }))
}

pub(crate) async fn revoke_link(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
) -> Answer<Json<RevokedLinks>> {
    let link = match id.as_str() {
        "all" => None,
        id => Some(id.parse::<PassId>().map_err(|error| ToolError::invalid(error.to_string()))?),
    };
    Ok(Json(RevokedLinks { tabs: shared.app.engine.link_revoke(link).await? }))
}
